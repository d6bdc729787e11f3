# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server with a slow request now and then, in Python's asyncio: one thread serves all.

    python3 slow_awaits.py

Requests are served in `look`, for half a millisecond, and wait in `ask` for 2 ms; those whose path
ends with a 7 wait in `reconcile`, too, for 60 ms, while others are served. It prints `ready`, and
the port of 127.0.0.1 that it listens on; after a line on standard input its account, with the
requests that it has served, how often it was in `reconcile`, and how long that waited in all by the
loop's clock, in ns; and it exits after another line.
"""

import asyncio
import json
import sys
import time

account = {"served": 0, "planted": 0, "waited_ns": 0}


def look():
    end = time.monotonic_ns() + 500_000
    while time.monotonic_ns() < end:
        pass


async def backend(seconds):
    await asyncio.sleep(seconds)


async def ask():
    await backend(0.002)


async def reconcile():
    begin = time.monotonic_ns()
    await asyncio.create_task(backend(0.06))
    account["planted"] += 1
    account["waited_ns"] += time.monotonic_ns() - begin


async def serve(reader, writer):
    path = (await reader.readline()).split()[1].decode()
    while (await reader.readline()).strip():
        pass
    look()
    await ask()
    if path.endswith("7"):
        await reconcile()
    account["served"] += 1
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n")
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(f"ready\n{server.sockets[0].getsockname()[1]}", flush=True)
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.readline)
    print(json.dumps(account), flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)


asyncio.run(main())
