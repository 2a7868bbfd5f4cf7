"""Several programs write, append to and truncate the same few files, each in every way.

usage: times.py SEED ROUNDS DIRECTORY

Whoever looks at the times afterwards, on the drive and in its store, must find the same ones.
"""
import os
import random
import sys

FILES, PROCESSES, OPERATIONS = 2, 4, 60


def work(chance, paths):
    for _ in range(OPERATIONS):
        path = chance.choice(paths)
        way = chance.randrange(4)
        if way == 0:
            os.truncate(path, 0)
            continue
        handle = os.open(path, os.O_WRONLY | (os.O_TRUNC if way == 1 else os.O_APPEND if way == 2 else 0))
        os.write(handle, b"x" * 64)
        if way == 3:
            os.ftruncate(handle, 0)
        os.close(handle)


def main():
    seed, rounds, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    for number in range(rounds):
        paths = [f"{directory}/{number}.{file}" for file in range(FILES)]
        for path in paths:
            open(path, "w").close()
        children = []
        for process in range(PROCESSES):
            child = os.fork()
            if child == 0:
                work(random.Random(f"{seed} {number} {process}"), paths)
                os._exit(0)
            children.append(child)
        for child in children:
            if os.waitpid(child, 0)[1] != 0:
                sys.exit(f"round {number}: a program failed")


main()
