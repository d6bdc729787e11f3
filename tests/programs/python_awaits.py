# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of tasks that wait, and knows what for.

    python3 python_awaits.py [FILE]

Of each task that waits it writes a line of JSON: its case, the task's name, its coroutine's address,
and the chain of what it waits in: a list of tasks, each awaiting the next, by name, how many others
are awaited beside it, and its frames, the outermost first, as pairs of function and line. They are
the interpreter's own words: cr_await, cr_frame, Task.get_name(). Then a line says the pid, and the
coroutine and the name of the task that writes. That task goes on to run: it waits for a line on
standard input, and when that has come lets all of them end.

Without FILE it writes to standard output, and then "ready". With FILE it writes "ready" first, waits
for a line before its tasks begin, and creates FILE.done when the lines are in FILE; then each task
that waits begins by a call of sched_get_priority_max() and ends by one of sched_get_priority_min().
"""

import asyncio
import contextlib
import gc
import json
import os
import sys
import types

sys.dont_write_bytecode = True

marked = len(sys.argv) > 1
told = open(sys.argv[1], "w") if marked else sys.stdout


def tell(**what):
    print(json.dumps(what), file=told, flush=True)


def span(function):
    async def marked_case(*arguments):
        os.sched_get_priority_max(0)
        try:
            return await function(*arguments)
        finally:
            os.sched_get_priority_min(0)

    return marked_case if marked else function


async def wait_for_event(event):
    await event.wait()


async def nested(event):
    await wait_for_event(event)


class Awaitable:
    def __init__(self, event):
        self.event = event

    def __await__(self):
        yield from nested(self.event).__await__()


class OfCoroutine:
    def __init__(self, event):
        self.event = event

    def __await__(self):
        return nested(self.event).__await__()


@types.coroutine
def of_types(event):
    yield from nested(event)


async def generator(event):
    await nested(event)
    yield 1


async def loop_over(event):
    async for _ in generator(event):
        pass


async def next_of(event):
    await anext(generator(event), None)


async def by_object(event):
    await Awaitable(event)


async def by_coroutine_of_object(event):
    await OfCoroutine(event)


async def by_types(event):
    await of_types(event)


async def in_context(event):
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(nested, event)


async def future(waiting):
    await waiting


async def of_task(task):
    await task


async def gathers(*tasks):
    await asyncio.gather(*tasks)


async def gathers_coroutines(event):
    await asyncio.gather(nested(event), nested(event), asyncio.sleep(0))


async def groups(event):
    async with asyncio.TaskGroup() as group:
        group.create_task(nested(event), name="in a group 1")
        group.create_task(nested(event), name="in a group 2")


async def waits(*tasks):
    await asyncio.wait(tasks)


async def waits_for(event):
    await asyncio.wait_for(nested(event), 1000)


async def shields(task):
    await asyncio.shield(task)


async def sleeps():
    await asyncio.sleep(1000)


async def locals_of_many(a, b, c, d, e, event):
    f, g, h = a + b, c + d, [e]
    for i in [1]:
        await nested(event)
    return f, g, h, i


async def with_cell(event):
    def inner():
        return event
    await nested(inner())


def recursion(depth):
    async def down(event, depth):
        if depth:
            await down(event, depth - 1)
        else:
            await event.wait()
    return down, depth


class OwnTask(asyncio.Task):
    pass


def frames_of(coroutine):
    frames = []
    while True:
        if hasattr(coroutine, "cr_frame"):
            frame, awaited = coroutine.cr_frame, coroutine.cr_await
        elif hasattr(coroutine, "gi_frame"):
            frame, awaited = coroutine.gi_frame, coroutine.gi_yieldfrom
        elif hasattr(coroutine, "ag_frame"):
            frame, awaited = coroutine.ag_frame, coroutine.ag_await
        else:
            return frames, coroutine
        frames.append([frame.f_code.co_qualname, frame.f_lineno])
        if awaited is None:
            return frames, None
        coroutine = beyond(awaited)


# What hides from Python what it goes to.
def beyond(awaited):
    if type(awaited).__name__ in ("coroutine_wrapper", "async_generator_asend", "anext_awaitable"):
        for inner in gc.get_referents(awaited):
            if type(inner).__name__ in ("coroutine", "async_generator", "async_generator_asend"):
                return beyond(inner)
    return awaited


# `further`: for each further task of the chain all that the one before it awaits, of which the one
# is followed whose name is the least.
def chain_of(task, further):
    frames, _ = frames_of(task.get_coro())
    chain = [{"task": task.get_name(), "others": 0, "frames": frames}]
    if further:
        pending = [one for one in further[0] if not one.done()]
        pending.sort(key=lambda one: (len(one.get_name()), one.get_name()))
        rest = chain_of(pending[0], further[1:])
        rest[0]["others"] = len(pending) - 1
        chain += rest
    return chain


# Until nobody can go on.
async def let_others_run():
    for _ in range(50):
        await asyncio.sleep(0)


async def main():
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    waiting = loop.create_future()
    tasks, further = {}, {}

    def case(name, coroutine, task_name=None, awaits=None):
        task = loop.create_task(coroutine, name=task_name)
        tasks[name] = task
        further[name] = awaits or (lambda: [])
        return task

    simple = case("simple", span(nested)(event))
    named = case("named", span(nested)(event), "a name, with [more] of \u03bb")
    case("set name", span(nested)(event)).set_name("set later")
    case("long name", span(nested)(event), "x" * 500)
    case("future", span(future)(waiting))
    case("__await__", span(by_object)(event))
    case("coroutine of __await__", span(by_coroutine_of_object)(event))
    case("types.coroutine", span(by_types)(event))
    case("async for", span(loop_over)(event))
    case("anext", span(next_of)(event))
    case("AsyncExitStack", span(in_context)(event))
    case("sleep", span(sleeps)())
    case("locals", span(locals_of_many)(1, 2, 3, 4, 5, event))
    case("cell", span(with_cell)(event))
    down, depth = recursion(20)
    case("recursion", span(down)(event, depth))
    of = case("of task", span(of_task)(simple), None, lambda: [[simple]])
    case("of task of task", span(of_task)(of), None, lambda: [[of], [simple]])
    case("gather", span(gathers)(simple, named, of), None, lambda: [[simple, named, of]])
    case("wait", span(waits)(named, simple), None, lambda: [[named, simple]])
    case("shield", span(shields)(simple))
    loop.set_task_factory(lambda loop, coro, **rest: OwnTask(coro, loop=loop, **rest))
    own = case("own class", span(nested)(event), "of a class")
    case("of own class", span(of_task)(own), None, lambda: [[own]])
    loop.set_task_factory(lambda loop, coro, **rest: asyncio.tasks._PyTask(coro, loop=loop, **rest))
    case("task of Python", span(nested)(event), "of Python")
    loop.set_task_factory(None)

    for name, function in (("gather of coroutines", gathers_coroutines), ("task group", groups),
                           ("wait_for", waits_for)):
        before = set(asyncio.all_tasks())
        task = case(name, span(function)(event))
        await let_others_run()
        made = [one for one in asyncio.all_tasks() if one not in before and one is not task]
        further[name] = (lambda made: lambda: [made] if made else [])(made)
    await let_others_run()
    for name, task in tasks.items():
        chain = chain_of(task, further[name]())
        tell(case=name, task=task.get_name(), coroutine=id(task.get_coro()), object=id(task),
             python=isinstance(task, asyncio.tasks._PyTask), chain=chain)
    me = asyncio.current_task()
    tell(pid=os.getpid(), main=id(me.get_coro()), main_task=me.get_name())
    if marked:
        open(sys.argv[1] + ".done", "w").close()
    else:
        print("ready", flush=True)
    sys.stdin.readline()
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)


if marked:
    print("ready", flush=True)
    sys.stdin.readline()
asyncio.run(main())
