# SPDX-License-Identifier: GPL-3.0-or-later
"""A shop in Python that says by auger.py what it works for, as marks.cpp does by auger.h.

    python3 marks.py FOLDER

A checkout begins on the main thread, is handed over to a clerk, parked while it waits, and ended
there; `handing` is the same again, as an object. Every twentieth is difficult: its step takes 5 ms
of CPU time at least. A step ends however it is left, by exceptions too. Then the event loop handles
requests, all at once, which wait in their middle. The program counts all of them. Libraries with
marks go to FOLDER. It waits for a line on standard input before it begins, prints its account, and
waits for another line before it exits.
"""

import asyncio
import json
import os
import queue
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "include", "python"))
import auger  # noqa: E402

auger._folders = lambda: iter(sys.argv[1:])

CHECKOUTS = 400
REQUESTS = 50

checkout = auger.Span("checkout")
handing = auger.Span("handing")
step = auger.Span("step")
handle = auger.Span("handle")
touch = auger.Mark("touch", int, int, str)

account = {"checkouts": 0, "steps": 0, "difficult": 0, "thrown": 0, "handled": 0, "negatives": 0,
           "longest_around_ns": 0, "problem": auger.problem}


def is_difficult(number):
    return number % 20 == 19


def think():
    spin(20_000)


def think_hard():
    spin(5_000_000)


def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass


def take_step(number):
    with step(number):
        account["steps"] += 1
        if is_difficult(number):
            account["difficult"] += 1
            think_hard()
        else:
            think()
        if number % 7 == 0:
            raise ValueError


def serve(number, before, handed):
    checkout.resume(number)
    handed.resume()
    try:
        take_step(number)
    except ValueError:
        account["thrown"] += 1
    handed.end()
    checkout.end(number)
    account["checkouts"] += 1
    account["longest_around_ns"] = max(account["longest_around_ns"],
                                       time.monotonic_ns() - before)
    value = number - 5
    account["negatives"] += value < 0
    touch(number, value, "convert")


def clerk(orders):
    while (order := orders.get()) is not None:
        serve(*order)


@handle
async def handle_request():
    think()
    await asyncio.sleep(0.001)
    think()
    account["handled"] += 1


async def handle_all():
    await asyncio.gather(*(handle_request() for _ in range(REQUESTS)))


def sell():
    orders = queue.Queue()
    worker = threading.Thread(target=clerk, args=(orders,))
    worker.start()
    for number in range(CHECKOUTS):
        before = time.monotonic_ns()
        checkout.begin(number)
        handed = handing(number)
        handed.park()
        checkout.park(number)
        orders.put((number, before, handed))
        time.sleep(0.0002)
    orders.put(None)
    worker.join()


print("ready", os.getpid(), flush=True)
sys.stdin.readline()
sell()
asyncio.run(handle_all())
print(json.dumps(account), flush=True)
sys.stdin.readline()
