# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that wait in functions of many kinds, and what Python itself says of where they are.

    python3 python_waits.py [FILE]

Of each thread it writes a line of JSON: its case, its id (what pthread_self() returns), the number
that the kernel knows it by, and its frames, the innermost first, as triples of function, file and
line: those of sys._current_frames(). All of them sleep, in clock_nanosleep().

Without FILE it writes to standard output, and then "ready". With FILE it writes "ready" first, waits
for a line before its threads begin, and creates FILE.done when the lines are in FILE. When a line, or
the end, has come on standard input it exits.
"""

import functools
import json
import os
import sys
import threading
import time

sys.dont_write_bytecode = True


def leaf():
    time.sleep(3600)


def plain():
    leaf()


def recursive(depth=200):
    return leaf() if depth == 0 else recursive(depth - 1)


# From here on C code calls functions of Python.
def key(unused):
    leaf()


def through_sort():
    sorted([1], key=key)


def through_nested_calls(depth=12):
    functools.reduce(lambda one, other: through_nested_calls(depth - 1) if depth else leaf(), [1, 2])


class Sized:
    def __len__(self):
        self.measure()
        return 0

    def measure(self):
        leaf()


def through_slot():
    len(Sized())


def items():
    leaf()
    yield 1


def through_generator():
    for unused in items():
        pass


def through_generator_in_c():
    list(item for item in items())


def größe_mit_umlaut():
    leaf()


def through_comprehension():
    return [leaf() for unused in [1]]


def through_exec():
    exec(compile("leaf()", "a text", "exec"), {"leaf": leaf})


cases = [
    plain,
    recursive,
    through_sort,
    through_nested_calls,
    through_slot,
    through_generator,
    through_generator_in_c,
    größe_mit_umlaut,
    through_comprehension,
    through_exec,
]


def sleeps(thread):
    with open(f"/proc/self/task/{thread.native_id}/syscall") as file:
        number = file.read().split()[0]
    return number == "230"  # clock_nanosleep


def frames_of(thread):
    frame = sys._current_frames()[thread.ident]
    frames = []
    while frame:
        code = frame.f_code
        frames.append([code.co_qualname, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return frames


def main():
    into_file = len(sys.argv) > 1
    told = open(sys.argv[1], "w") if into_file else sys.stdout
    if into_file:
        print("ready", os.getpid(), flush=True)
        sys.stdin.readline()
    sys.setrecursionlimit(5000)
    threads = [threading.Thread(target=case, name=case.__name__, daemon=True) for case in cases]
    for thread in threads:
        thread.start()
    while not all(sleeps(thread) for thread in threads):
        time.sleep(0.01)
    for thread in threads:
        line = {
            "case": thread.name,
            "thread": thread.ident,
            "tid": thread.native_id,
            "frames": frames_of(thread),
        }
        print(json.dumps(line), file=told, flush=True)
    if into_file:
        told.close()
        open(sys.argv[1] + ".done", "w").close()
    else:
        print("ready", flush=True)
    sys.stdin.readline()
    os._exit(0)


main()
