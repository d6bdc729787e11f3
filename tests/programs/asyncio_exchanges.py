# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of asyncio's that knows for which request it has taken CPU time, and clients that ask it
(served_work.py).

    python3 asyncio_exchanges.py FILE

One thread serves all, in these ways:

    streams   a task for each connection, which is kept
    close     a connection, and so a task, for each request
    callback  the request is received by a protocol, which makes a task for it
    at-once   a protocol answers where the request is received, without a task
"""

import asyncio
import os
import sys

from served_work import account, answer, finish, look, reconcile, run, take_up

KINDS = ("streams", "close", "callback", "at-once")


async def serve(request, write):
    work = request["work"]
    look(request)
    if work == "timer":
        await asyncio.sleep(0.002)
        look(request)
    elif work == "turn":
        await asyncio.sleep(0)
        look(request)
    elif work == "two":
        answer(request, write, b"so ")
        look(request)
    elif work == "difficult":
        reconcile(request)
    finish(request, write)


def serve_at_once(request, write):
    look(request)
    if request["work"] == "difficult":
        reconcile(request)
    finish(request, write)


async def serve_stream(reader, writer):
    while line := await reader.readline():
        await serve(take_up("streams", line), writer.write)
    writer.close()


async def serve_one(reader, writer):
    await serve(take_up("close", await reader.readline()), writer.write)
    writer.close()


class Protocol(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.tasks = set()


class Callback(Protocol):
    def data_received(self, data):
        task = asyncio.get_running_loop().create_task(
            serve(take_up("callback", data), self.transport.write))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


class AtOnce(Protocol):
    def data_received(self, data):
        serve_at_once(take_up("at-once", data), self.transport.write)


async def serve_all(listening, go, expected):
    loop = asyncio.get_running_loop()
    streams, close, callback, at_once = (listening[kind] for kind in KINDS)
    servers = [await asyncio.start_server(serve_stream, sock=streams),
               await asyncio.start_server(serve_one, sock=close),
               await loop.create_server(Callback, sock=callback),
               await loop.create_server(AtOnce, sock=at_once)]
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    os.write(go, b"g")
    while account["served"] < expected:
        await asyncio.sleep(0.05)
    for server in servers:
        server.close()


run(KINDS, ("close",), lambda *arguments: asyncio.run(serve_all(*arguments)))
