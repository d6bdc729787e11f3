# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions with names that python_chains.py has, too, in another file; and what a child of that
one executes: python3 python_chains_other.py OUTPUT SAY STAYS (descriptors)."""

import json
import os
import sys
import time


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)  # since 3.11


def lines_of(code):
    # Objects/lnotab_notes.txt of 3.9; since 3.10 there is co_lines().
    if hasattr(code, "co_lines"):
        return [line for _, _, line in code.co_lines() if line]
    line = code.co_firstlineno
    lines = [line]
    for step in code.co_lnotab[1::2]:
        line += step - 256 if step > 127 else step
        lines.append(line)
    return lines


class Same:
    def method(self, phase, burn):
        burn(phase)


def burn(phase):
    frame = sys._getframe()
    chain = []
    while frame:
        code = frame.f_code
        chain.append([name_of(code), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    chain.reverse()
    enough = time.thread_time_ns() + 100_000_000
    begin = time.monotonic_ns()
    while time.thread_time_ns() < enough:
        for _ in range(1000):
            pass
    end = time.monotonic_ns()
    lines = lines_of(sys._getframe().f_code)
    os.write(int(sys.argv[1]), json.dumps({
        "phase": phase, "pid": os.getpid(), "tid": os.getpid(), "begin": begin, "end": end,
        "chain": chain, "lines": [min(lines), max(lines)], "inner": []}).encode() + b"\n")


def executed_anew():
    Same().method("exec", burn)


if __name__ == "__main__":
    executed_anew()
    os.write(int(sys.argv[2]), b"x")
    os.read(int(sys.argv[3]), 1)
