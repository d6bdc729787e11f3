# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that knows its own chain of calls.

    python3 python_chains.py FILE [PYTHON]

Each stretch of time in which a thread's chain of Python frames stays as it is becomes a line of
JSON in FILE: phase, pid, tid, begin and end (CLOCK_MONOTONIC, ns), the chain, outermost first
([qualified name, file, line]), the lines that the innermost function has, and, where that one goes
on to call, `inner`: the names that may stand further in. It waits for a line on standard input
before it begins, creates FILE.done at the end, and waits for another line before it exits.
PYTHON: a child executes this, with python_chains_other.py, when it has created FILE.executes and
read a line.
"""

import asyncio
import contextlib
import ctypes
import functools
import gc
import itertools
import json
import os
import signal
import socket
import sys
import threading
import time

gc.disable()  # what it calls would stand within some stretch
sys.dont_write_bytecode = True
sys.setrecursionlimit(5000)  # up to 3.10 each call takes half a kilobyte of C's stack
import python_chains_other as other  # noqa: E402

BURN_NS = 40_000_000  # of CPU time
WAIT_S = 0.002
WAITS = 40

# Each stretch is written at once, by whatever process and thread.
output = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def chain_of(frame):
    chain = []
    while frame:
        code = frame.f_code
        chain.append([other.name_of(code), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    chain.reverse()
    return chain


def tell(phase, begin, end, chain, inner=()):
    lines = other.lines_of(sys._getframe(1).f_code)
    told = {"phase": phase, "pid": os.getpid(), "tid": threading.get_native_id(),
            "begin": begin, "end": end, "chain": chain,
            "lines": [min(lines), max(lines)], "inner": list(inner)}
    os.write(output, json.dumps(told).encode() + b"\n")


# The stretch lies between the two readings of the clock; no Python function is called in it.
def burn(phase):
    chain = chain_of(sys._getframe())
    enough = time.thread_time_ns() + BURN_NS
    begin = time.monotonic_ns()
    value = 0
    while time.thread_time_ns() < enough:
        for _ in range(1000):
            value = (value * 31 + 7) % 1_000_003
    end = time.monotonic_ns()
    tell(phase, begin, end, chain)
    return value


def sleep(phase):
    chain = chain_of(sys._getframe())
    begin = time.monotonic_ns()
    for _ in range(WAITS):
        time.sleep(WAIT_S)
    end = time.monotonic_ns()
    tell(phase, begin, end, chain)


def receive(phase, connection):
    chain = chain_of(sys._getframe())
    begin = time.monotonic_ns()
    for _ in range(WAITS):
        connection.recv(1)
    end = time.monotonic_ns()
    tell(phase, begin, end, chain)


def lock(phase, held):
    chain = chain_of(sys._getframe())
    begin = time.monotonic_ns()
    for _ in range(WAITS):
        held.acquire(timeout=WAIT_S)
    end = time.monotonic_ns()
    tell(phase, begin, end, chain)


def first_leaf(value):
    return second_leaf(value) + 1


def second_leaf(value):
    return value * 3 % 1_000_003


# Calls and returns all the time.
def call(phase):
    chain = chain_of(sys._getframe())
    enough = time.thread_time_ns() + 2 * BURN_NS
    begin = time.monotonic_ns()
    value = 0
    while time.thread_time_ns() < enough:
        for _ in range(1000):
            value = first_leaf(value)
    end = time.monotonic_ns()
    tell(phase, begin, end, chain, ["first_leaf", "second_leaf"])


# 40 functions, each with a name and a line of its own.
nested_source = "".join(
    f"def nested_{i}(phase):\n" + "\n" * (i % 7) + f"    return nested_{i + 1}(phase)\n"
    for i in range(40)) + "def nested_40(phase):\n    burn(phase)\n"
nested_names = {"burn": burn}
exec(compile(nested_source, "/made/up/nested file.py", "exec"), nested_names)


def nested():
    nested_names["nested_0"]("nested")


def recurse(phase, depth):
    if depth % 2:
        return recurse(phase, depth - 1)
    return burn(phase) if depth == 0 else recurse(phase, depth - 1)


def recursion():
    recurse("recursion", 200)


def deep_recursion():
    # Deeper than is looked for where a run of frames begins.
    recurse("deep recursion", 900 if sys.version_info < (3, 11) else 3000)


def sorted_key():
    sorted([1], key=lambda _: burn("sorted"))


def mapped():
    list(map(lambda _: burn("map"), [1]))


def reduced():
    functools.reduce(lambda a, b: burn("reduce"), [1, 2])


# From C to Python to C to Python.
def sorted_map_reduce():
    sorted([1], key=lambda _: list(map(
        lambda _: functools.reduce(lambda a, b: burn("nested C"), [1, 2]), [1])))


comparison = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def called_by_qsort():
    once = []

    def compare(a, b):
        if not once:
            once.append(1)
            burn("ctypes")
        return 0

    values = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(values, ctypes.c_size_t(2), ctypes.c_size_t(4), comparison(compare))


def produce(phase):
    burn(phase)
    yield 1


def delegate(phase, depth):
    if depth == 0:
        yield from produce(phase)
    else:
        yield from delegate(phase, depth - 1)


def generators():
    next(produce("generator"))
    sum(delegate("yield from", 5))
    sum(burn("generator expression") * 0 for _ in range(1))


async def innermost(phase):
    burn(phase)


async def middle(phase):
    await innermost(phase)


def coroutines():
    coroutine = middle("coroutine")
    with contextlib.suppress(StopIteration):
        coroutine.send(None)
    asyncio.run(middle("asyncio"))


def handled():
    try:
        raise ValueError("handled")
    except ValueError:
        burn("except")
    finally:
        burn("finally")


class Manager:
    def __enter__(self):
        burn("with")
        return self

    def __exit__(self, *exception):
        burn("exit")
        return True


def managed():
    with Manager():
        raise ValueError("in with")


class Same:
    """python_chains_other has one, too."""

    def method(self, phase):
        other.Same().method(phase, burn)

    @classmethod
    def of_class(cls, phase):
        cls().method(phase)

    @property
    def value(self):
        burn("property")
        return 0

    def __add__(self, _):
        burn("operator")
        return self

    def __getattr__(self, name):
        burn("getattr")
        return name

    def __del__(self):
        global deleted
        if not deleted:
            deleted = True
            burn("del")


deleted = True


def methods():
    global deleted
    same = Same()
    same.of_class("method")
    same.value
    same + same
    same.absent
    deleted = False
    del same


class Made:
    """Made often, so that its class calls __init__ in a way of its own (since 3.13)."""

    def __init__(self, phase):
        if phase:
            burn(phase)


def constructors():
    for phase in [None] * 500 + ["constructor"]:
        Made(phase)


def closures():
    captured = "closure"

    def inner():
        burn(captured)

    (lambda function: [function() for _ in range(1)])(inner)


# Code that is freed before its name is read has none, and how soon that is depends on the machine.
kept = []


def executed():
    kept.append(compile("\n\ndef made():\n    burn('exec')\n\nmade()\n", "<made \u00fcp>", "exec"))
    exec(kept[-1], {"burn": burn})
    kept.append(compile("burn('eval')", "<string>", "eval"))
    eval(kept[-1])


def signalled():
    def on_signal(number, frame):
        burn("signal")

    before = signal.signal(signal.SIGUSR1, on_signal)
    signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def calling():
    call("calls")


def waiting():
    sleep("sleep")


def threads():
    """Some hold the GIL or want it, others wait without it."""
    here, there = socket.socketpair()
    ended = threading.Event()
    held = threading.Lock()
    held.acquire()

    def feed():
        while not ended.is_set():
            there.send(b"x")
            time.sleep(WAIT_S)

    feeder = threading.Thread(target=feed)
    workers = [threading.Thread(target=burn, args=["thread burns"]),
               threading.Thread(target=recurse, args=["thread burns", 20]),
               threading.Thread(target=call, args=["thread calls"]),
               threading.Thread(target=sleep, args=["thread sleeps"]),
               threading.Thread(target=receive, args=["thread receives", here]),
               threading.Thread(target=lock, args=["thread locks", held])]
    for thread in [feeder, *workers]:
        thread.start()
    for thread in workers:
        thread.join()
    ended.set()
    feeder.join()


def short_threads():
    """Each is new when it is sampled."""
    for _ in itertools.repeat(None, 5):
        thread = threading.Thread(target=sleep, args=["short thread"])
        thread.start()
        thread.join()


def in_child(work):
    """Runs it in a child that stays until this process lets it go. The descriptor to close."""
    said, say = os.pipe()
    stays, stay = os.pipe()
    if os.fork() == 0:
        os.close(stay)
        os.close(said)
        work(say, stays)
        os._exit(0)
    os.close(say)
    os.close(stays)
    os.read(said, 1)
    os.close(said)
    return stay


def forked(say, stays):
    def of_child():
        burn("fork")
        recurse("fork", 10)

    of_child()
    os.write(say, b"x")
    os.read(stays, 1)


def executes(say, stays):
    # Its names are read before they are gone: it waits for a line.
    burn("before exec")
    os.close(os.open(sys.argv[1] + ".executes", os.O_WRONLY | os.O_CREAT, 0o600))
    os.read(0, 1)
    for descriptor in (say, stays, output):
        os.set_inheritable(descriptor, True)
    arguments = [os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "python_chains_other.py"), str(output), str(say), str(stays)]
    os.execv(sys.argv[2], [sys.argv[2], *arguments])


def main():
    print("ready", os.getpid(), flush=True)
    sys.stdin.readline()
    for work in (nested, recursion, deep_recursion, sorted_key, mapped, reduced, sorted_map_reduce,
                 called_by_qsort, generators, coroutines, handled, managed, methods, constructors, closures,
                 executed, signalled, calling, waiting, threads, short_threads):
        work()
    stay = [in_child(forked)]
    if len(sys.argv) > 2:
        stay.append(in_child(executes))
    os.close(os.open(sys.argv[1] + ".done", os.O_WRONLY | os.O_CREAT, 0o600))
    sys.stdin.readline()
    for descriptor in stay:
        os.close(descriptor)
    for _ in stay:
        os.wait()


main()
