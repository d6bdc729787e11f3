# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of tasks that knows which one runs.

    python3 python_tasks.py FILE

Each stretch of time in which a thread runs one task, or none, becomes a line of JSON in FILE: phase,
pid, tid, begin and end (CLOCK_MONOTONIC, ns), cpu (that the thread took, ns), and the task: the
address of its outermost coroutine (0: none runs), as the event loop says, the coroutine's name, and
the name of the task, where it is one of asyncio's that are not written in Python. It waits for a line on standard input before it begins, creates FILE.done at the end, and
waits for another line before it exits.

Phases whose names begin with "share" are of tasks that take CPU time in known parts. Each task of
"request" is ROUNDS requests: it begins one by a call of sched_get_priority_max(), lets the others
run meanwhile, sleeps in it without letting them run, and ends it by sched_get_priority_min(). Both
are called once before, while no task runs.
"""

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
import types

sys.dont_write_bytecode = True

BURN_NS = 40_000_000  # of CPU time
SHARES = {"share-1": 1, "share-2": 2, "share-3": 3, "share-4": 4}
SHARE_ROUNDS = 20
SHARE_NS = 6_000_000
REQUESTS, ROUNDS = 16, 4

output = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
kept = []  # coroutines: so that no two of them have one address


def running(coroutine=None):
    task_name = ""
    if coroutine is None:
        with contextlib.suppress(RuntimeError):
            task = asyncio.current_task()
            coroutine = task and task.get_coro()
            if isinstance(task, asyncio.Task):
                task_name = task.get_name()
    if coroutine is None:
        return 0, "", ""
    kept.append(coroutine)
    return id(coroutine), coroutine.cr_code.co_qualname, task_name


def tell(phase, begin, end, cpu, coroutine):
    address, name, task_name = running(coroutine)
    told = {"phase": phase, "pid": os.getpid(), "tid": threading.get_native_id(), "begin": begin,
            "end": end, "cpu": cpu, "task": address, "name": name, "task_name": task_name}
    os.write(output, json.dumps(told).encode() + b"\n")


# `coroutine`: where no event loop knows of it.
def burn(phase, coroutine=None, cpu=BURN_NS):
    first = time.thread_time_ns()
    begin = time.monotonic_ns()
    value = 0
    while time.thread_time_ns() < first + cpu:
        for _ in range(1000):
            value = (value * 31 + 7) % 1_000_003
    end = time.monotonic_ns()
    tell(phase, begin, end, time.thread_time_ns() - first, coroutine)


def no_task(phase):
    assert running() == (0, "", "")
    burn(phase)


async def inner(phase):
    burn(phase)


class Awaitable:
    def __init__(self, phase):
        self.phase = phase

    def __await__(self):
        burn(self.phase + " before")
        yield from inner(self.phase).__await__()


@types.coroutine
def of_types(phase):
    burn(phase + " before")
    yield from inner(phase)


def generator(phase):
    burn(phase)
    yield


@contextlib.contextmanager
def context(phase):
    burn(phase)
    yield


async def asynchronous_generator(phase):
    burn(phase)
    yield
    await asyncio.sleep(0)
    burn(phase + " after sleep")
    yield


async def by_hand(phase, me):
    burn(phase, me and me[0])


def resume(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        return True
    return False


def drive(phase):
    me = []
    me.append(by_hand(phase, me))
    resume(me[0])


@types.coroutine
def pause():
    yield


async def of_own_loop(phase, me):
    for _ in range(2):
        burn(phase, me[0])
        await pause()


# Loops that are not asyncio's: a function, and a generator, as trio's.
def own_tasks(phase):
    tasks = []
    for _ in range(2):
        me = []
        me.append(of_own_loop(phase, me))
        tasks.append(me[0])
    return tasks


def loop_of_function(phase):
    tasks = own_tasks(phase)
    while tasks:
        tasks = [task for task in tasks if not resume(task)]


def loop_of_generator(phase):
    tasks = own_tasks(phase)
    while tasks:
        for task in list(tasks):
            try:
                task.send(None)
            except StopIteration:
                tasks.remove(task)
        yield


def loop_in_generator(phase):
    asyncio.run(inner(phase))
    yield


async def phases():
    burn("leaf")
    await inner("awaited")
    await asyncio.sleep(0.001)
    await inner("after sleep")
    await Awaitable("__await__")
    await of_types("types.coroutine")
    list(generator("generator"))
    with context("context manager"):
        burn("in context manager")
    async for _ in asynchronous_generator("asynchronous generator"):
        burn("asynchronous for")
    await asyncio.gather(inner("gathered"), inner("gathered"))
    await asyncio.create_task(inner("task"))
    await by_hand("by hand, awaited", None)
    drive("by hand")
    loop = asyncio.get_running_loop()
    loop.call_soon(no_task, "callback")
    await asyncio.sleep(0)
    await asyncio.to_thread(no_task, "thread")
    await asyncio.to_thread(asyncio.run, inner("loop of thread"))
    loop.set_task_factory(lambda loop, coro, **rest: asyncio.tasks._PyTask(coro, loop=loop, **rest))
    me = []
    me.append(by_hand("task of Python", me))  # since 3.14 current_task() does not tell of it
    await asyncio.create_task(me[0])
    if sys.version_info >= (3, 12):
        loop.set_task_factory(asyncio.eager_task_factory)
        await asyncio.create_task(inner("eager"))
    loop.set_task_factory(None)


async def share(phase, parts):
    for _ in range(SHARE_ROUNDS):
        burn(phase, cpu=parts * SHARE_NS // len(SHARES))
        await asyncio.sleep(0)


async def shares():
    await asyncio.gather(*(share(*each) for each in SHARES.items()))


async def requests(number):
    for _ in range(ROUNDS):
        begin, cpu = time.monotonic_ns(), time.thread_time_ns()
        os.sched_get_priority_max(0)
        for _ in range(3):
            await asyncio.sleep(0.001)
        time.sleep(0.002 * (1 + number % 4))
        os.sched_get_priority_min(0)
        tell("request", begin, time.monotonic_ns(), time.thread_time_ns() - cpu, None)


async def all_requests():
    await asyncio.gather(*(requests(number) for number in range(REQUESTS)))


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    no_task("no loop")
    asyncio.run(phases())
    loop_of_function("loop of a function")
    list(loop_of_generator("loop of a generator"))
    list(loop_in_generator("loop in a generator"))
    asyncio.run(shares())
    os.sched_get_priority_max(0)
    os.sched_get_priority_min(0)
    asyncio.run(all_requests())
    open(sys.argv[1] + ".done", "w").close()
    sys.stdin.readline()


main()
