# SPDX-License-Identifier: GPL-3.0-or-later
"""A program in Python that asks auger for its own profile, as own_profile.c does in C.

    python3 own_profile.py SOCKET SECONDS

A thread of it works in `knead`. For each line FORMAT FILE on standard input it writes the profile to
that file, and says "done"; an empty one ends it.
"""

import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "include", "python"))
import auger  # noqa: E402


def knead():
    total = 0
    for number in range(10_000):
        total += number * number
    return total


def work():
    while True:
        knead()


def main(path, seconds):
    threading.Thread(target=work, daemon=True).start()
    print("ready", os.getpid(), flush=True)
    while words := sys.stdin.readline().split():
        form, file = words
        try:
            content = auger.profile(path, float(seconds), form)
        except (OSError, auger.ProfileError) as error:
            print("failed:", error, flush=True)
        else:
            with open(file, "xb") as out:
                out.write(content)
            print("done", flush=True)


main(*sys.argv[1:])
