# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of asyncio that wait nearly all the time, and know for how long.

    python3 python_parked.py

It prints "ready"; after a line on standard input 20 tasks wait in `parked`, again and again, for 20
to 40 ms, and between for 5 to 15 ms in `rest`, behind 0.2 ms of work. Each wait in `parked` begins behind a call of
sched_get_priority_max() and ends before one of sched_get_priority_min(). After another line no
further one begins, and it prints its account when all have ended: how many waits there were, how
long they took in all, and the whole, from the first task's beginning to the last one's end, in ns;
after another line it exits.
"""

import asyncio
import json
import os
import random
import sys
import time

TASKS = 20

account = {"waits": 0, "waited_ns": 0, "whole_ns": 0, "tasks": TASKS}
stop = False


async def parked(seconds):
    await asyncio.sleep(seconds)


async def rest(seconds):
    await asyncio.sleep(seconds)


def work():
    end = time.monotonic_ns() + 200_000
    while time.monotonic_ns() < end:
        pass


async def take_turns(number):
    numbers = random.Random(number)
    while not stop:
        os.sched_get_priority_max(0)
        begin = time.monotonic_ns()
        await parked(0.02 + 0.02 * numbers.random())
        account["waited_ns"] += time.monotonic_ns() - begin
        account["waits"] += 1
        os.sched_get_priority_min(0)
        work()
        await rest(0.005 + 0.01 * numbers.random())


async def main():
    global stop
    loop = asyncio.get_running_loop()

    def line():
        return loop.run_in_executor(None, sys.stdin.readline)

    await line()
    begin = time.monotonic_ns()
    tasks = [asyncio.create_task(take_turns(number)) for number in range(TASKS)]
    await line()
    stop = True
    await asyncio.gather(*tasks)
    account["whole_ns"] = time.monotonic_ns() - begin
    print(json.dumps(account), flush=True)
    await line()


print("ready", flush=True)
asyncio.run(main())
