# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mark of include/python/auger.py costs while nobody watches, each beside a floor: a function,
or a block, that does nothing. Nanoseconds, and quartiles of the rounds, which take turns."""

import os
import statistics
import sys
import tempfile
import timeit

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "include", "python"))
import auger  # noqa: E402

ROUNDS = 101
CALLS = 5_000


def nothing(number):
    pass


class Block:
    def __call__(self, number):
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        pass


def measure(statements, names):
    timers = [timeit.Timer(statement, globals=names) for statement in ["pass", *statements]]
    rounds = [[timer.timeit(CALLS) / CALLS * 1e9 for timer in timers] for _ in range(ROUNDS)]
    return {statement: [one[i + 1] - one[0] for one in rounds]
            for i, statement in enumerate(statements)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        auger._folders = lambda: iter([os.path.join(folder, "marks")])
        span, mark = auger.Span("checkout"), auger.Mark("cache_miss")
    if auger.problem:
        sys.exit(f"there are no marks here: {auger.problem}")
    names = {"nothing": nothing, "block": Block(), "span": span, "mark": mark,
             "decorated": span(nothing)}
    floors = {"span.begin(5)": "nothing(5)", "mark(5)": "nothing(5)", "decorated(5)": "nothing(5)",
              "with span(5): pass": "with block(5): pass"}
    costs = measure([*dict.fromkeys(floors.values()), *floors], names)
    print("\n### Marks in Python that nobody watches\n")
    print(f"Python {sys.version.split()[0]}, {ROUNDS} rounds of {CALLS:,} each.\n")
    print("| what | ns | quartiles | floor | ns | more |")
    print("|---|--:|--:|---|--:|--:|")
    for what, floor in floors.items():
        low, median, high = statistics.quantiles(costs[what], n=4)
        least = statistics.median(costs[floor])
        print(f"| `{what}` | {median:.1f} | {low:.1f}-{high:.1f} | `{floor}` | {least:.1f} | "
              f"{median - least:.1f} |")


main()
