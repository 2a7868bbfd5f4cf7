"""What is to go wrong, and when: the rules of one front.

A rule is an object:
    {"fault": NAME, "chance": 0.2, "methods": ["PUT"], "path": REGEX, "skip": 0, "times": 3, …}
All but `fault` may be missing. `path` is searched for in the target as it is sent, `skip` lets so many matching requests
pass first, `times` ends the rule. The first rule that matches and whose chance falls decides; the first five faults let
the rules after them decide, too.

fault           what the client meets                                                  more
delay           the request waits                                                      seconds
meet            the request waits, not longer, for one of another front that has its   seconds
                target, which goes on as long after the first was answered
strip           the request arrives without its conditions
private-locks   locks are granted without asking the server: others do not see them
date            the answer's Date is so many seconds off                               seconds
silence         no answer, for ever; nothing is passed on
silent-body     … half of the request's body is
silent-answer   … the server does what was asked and answers
reset-request   the connection is reset before anything was passed on
reset-body      … after half of the request's body
reset-answer    … after the server did what was asked and answered
cut-answer      … after half of the answer's body
short-answer    the connection is closed in good order after half of the answer's body
status          an answer that the server knows nothing of                             status, retry_after, seconds
lost            the server does it, the answer is another status                       status
etag            an entity tag that is not the server's
flip            one byte of the answer's body is another
flip-body       … of the request's body
garbage         the answer's body is none that was meant
endless         a listing that never ends
"""
import collections
import random
import re

THROUGH = ("delay", "meet", "strip", "private-locks", "date")


class Rules:
    def __init__(self, seed=0):
        self.chance = random.Random(seed)
        self.counts = collections.Counter()
        self.set([])

    def set(self, rules):
        self.rules = [dict(rule, met=0, used=0) for rule in rules]
        for rule in self.rules:
            rule["path"] = re.compile(rule.get("path", ""))

    def decide(self, request):
        """The rules that apply to a request; the last is the one that ends it, if any."""
        chosen = []
        for rule in self.rules:
            if not self.applies(rule, request):
                continue
            rule["used"] += 1
            self.counts[rule["fault"]] += 1
            chosen.append(rule)
            if rule["fault"] not in THROUGH:
                break
        return chosen

    def applies(self, rule, request):
        if rule["used"] >= rule.get("times", 1 << 60):
            return False
        if request.method not in rule.get("methods", [request.method]) or not rule["path"].search(request.target):
            return False
        if self.chance.random() >= rule.get("chance", 1):
            return False
        rule["met"] += 1
        return rule["met"] > rule.get("skip", 0)
