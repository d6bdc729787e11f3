#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Chains of Python functions, and what they are by the interpreter's own word (sys._getframe):
# episodes in which a thread stays in one, [start, end] of CLOCK_MONOTONIC, outermost function
# first. They are written to the file that is named. Python itself does the work, so that the innermost frame is always work().
import ctypes
import functools
import json
import sys
import threading
import time

now = time.monotonic_ns
episodes = []
EPISODE_NS = 300_000_000


def work(name, waits=False):
    frame, chain = sys._getframe(), []
    while frame:
        chain.append([frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    begin = now()
    end = begin + EPISODE_NS
    while now() < end:
        if waits:
            time.sleep(0.003)
    last = now()
    episodes.append({"name": name, "tid": threading.get_native_id(), "begin": begin, "end": last,
                     "chain": chain[::-1]})
    return 0


def nested(depth, name):
    if depth:
        return nested(depth - 1, name)
    return work(name)


def by_key(_):
    return work("sorted")


def by_reduce(a, _):
    return work("reduce")


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def by_c(_):
    return work("ctypes")


def inner():
    yield work("generator")


def outer():
    yield from inner()


async def awaited():
    return work("coroutine")


async def awaiting():
    return await awaited()


class Service:
    def method(self):
        def closure():
            return (lambda: work("closure"))()
        return closure()


def failing():
    try:
        raise ValueError
    except ValueError:
        return work("exception")


def waiting():
    return work("wait", waits=True)


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    other = threading.Thread(target=nested, args=(10, "thread"))
    waiter = threading.Thread(target=waiting)
    nested(40, "nested")
    nested(200, "recursion")
    sorted([1], key=by_key)
    functools.reduce(by_reduce, [1, 2])
    list(map(by_key, [1]))
    by_c(1)
    next(outer())
    try:
        awaiting().send(None)
    except StopIteration:
        pass
    Service().method()
    failing()
    [work("comprehension") for _ in range(1)]
    exec(compile("def made():\n    return work('exec')\nmade()", "/made/here.py", "exec"), globals())
    waiting()
    other.start()
    waiter.start()
    other.join()
    waiter.join()
    with open(sys.argv[1], "w") as account:
        json.dump(episodes, account)


main()
