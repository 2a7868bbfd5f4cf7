"""Several programs read, rename and read again documents whose content is taken away all the time.

usage: evict_race.py QUIRE HOME SECONDS DIRECTORY
Whoever opens a document by a name it has gets its content: also when it comes for another program at that moment, and when
the document is renamed while the content is on its way.
"""
import os
import random
import subprocess
import sys
import threading
import time

COUNT, SIZE = 6, 3000


def body(number):
    return random.Random(number).randbytes(SIZE + number)


def main():
    quire, home, seconds, directory = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    os.makedirs(directory)
    for number in range(COUNT):
        with open(f"{directory}/steady{number}", "wb") as file:
            file.write(body(number))
    # The same document under changing names: one process renames, and knows that one of two names is there.
    with open(f"{directory}/moving-a", "wb") as file:
        file.write(body(100))
    subprocess.run([quire, "--home", home, "sync", "--timeout", "45"], check=True)
    end, problems, counts = time.monotonic() + seconds, [], {"read": 0, "found by its other name": 0}

    def read(name, number):
        with open(f"{directory}/{name}", "rb") as file:
            if file.read() != body(number):
                raise OSError(f"{name} has another content")
        counts["read"] += 1

    def reader(seed):
        source = random.Random(seed)
        while time.monotonic() < end and not problems:
            try:
                number = source.randrange(COUNT)
                read(f"steady{number}", number)
            except OSError as error:
                problems.append(f"steady: {error}")
            descriptor = None
            for name in ("moving-a", "moving-b", "moving-a", "moving-b"):
                try:
                    descriptor = os.open(f"{directory}/{name}", os.O_RDONLY)
                    break
                except FileNotFoundError:
                    counts["found by its other name"] += 1
                except OSError as error:
                    problems.append(f"moving: {error}")
            if descriptor is not None:
                with open(descriptor, "rb") as file:
                    if file.read() != body(100):
                        problems.append("moving: another content")

    def renamer():
        names = ["moving-a", "moving-b"]
        while time.monotonic() < end and not problems:
            os.rename(f"{directory}/{names[0]}", f"{directory}/{names[1]}")
            names.reverse()
            time.sleep(0.02)

    def evicter():
        names = [f"{directory}/steady{number}" for number in range(COUNT)] + [f"{directory}/moving-a"]
        while time.monotonic() < end and not problems:
            for name in names:
                # What is not yet uploaded, open, or elsewhere just now is refused.
                subprocess.run([quire, "--home", home, "evict", name], capture_output=True, timeout=60)

    threads = [threading.Thread(target=reader, args=(seed,)) for seed in range(4)]
    threads += [threading.Thread(target=work) for work in (renamer, evicter)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(counts)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
