# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions with names that python_chains.py has, too, in another file; and what a child of that
one executes: python3 python_chains_other.py OUTPUT SAY STAYS (descriptors)."""

import json
import os
import sys
import time


class Same:
    def method(self, phase, burn):
        burn(phase)


def burn(phase):
    frame = sys._getframe()
    chain = []
    while frame:
        chain.append([frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    chain.reverse()
    enough = time.thread_time_ns() + 100_000_000
    begin = time.monotonic_ns()
    while time.thread_time_ns() < enough:
        for _ in range(1000):
            pass
    end = time.monotonic_ns()
    lines = [line for _, _, line in sys._getframe().f_code.co_lines() if line]
    os.write(int(sys.argv[1]), json.dumps({
        "phase": phase, "pid": os.getpid(), "tid": os.getpid(), "begin": begin, "end": end,
        "chain": chain, "lines": [min(lines), max(lines)], "inner": []}).encode() + b"\n")


def executed_anew():
    Same().method("exec", burn)


if __name__ == "__main__":
    executed_anew()
    os.write(int(sys.argv[2]), b"x")
    os.read(int(sys.argv[3]), 1)
