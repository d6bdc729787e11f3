# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of asyncio's that knows for which request it has taken CPU time, and clients that ask it.

    python3 asyncio_exchanges.py FILE

One thread serves all. Of each way in which programs do that CLIENTS clients ask at once, a request
after the other:

    streams   a task for each connection, which is kept
    close     a connection, and so a task, for each request
    callback  the request is received by a protocol, which makes a task for it
    at-once   a protocol answers where the request is received, without a task

Every REQUESTS requests the work is another one: it goes on in one piece, in two between which the
task waits for a timer or only lets others run, or in two answers; or it is difficult. Behind an
answer the server takes some time that is for none.

It prints `ready`, waits for a line on standard input, prints an account when all was answered, and
ends at another line. In FILE each request is a line of JSON by then: its kind and work, stretches of
its CPU time (begin and end by CLOCK_MONOTONIC, ns), those behind its answer, and two times between
which its last send returned. LOOP is a module with another event loop's policy (uvloop).
"""

import asyncio
import json
import os
import select
import signal
import socket
import sys
import time

CLIENTS, REQUESTS = 3, 60  # of each kind
KINDS = ("streams", "close", "callback", "at-once")
WORK = ("one", "timer", "one", "turn", "one", "two", "difficult", "one", "timer", "two")
PLAIN_NS, AFTER_NS, DIFFICULT_NS = 1_500_000, 300_000, 15_000_000  # of CPU time

requests = []
account = {"served": 0}


def burn(stretches, ns):
    first = time.thread_time_ns()
    begin = time.monotonic_ns()
    value = 0
    while time.thread_time_ns() < first + ns:
        for _ in range(200):
            value = (value * 31 + 7) % 1_000_003
    stretches.append([begin, time.monotonic_ns()])


def look(request):
    burn(request["own"], PLAIN_NS)


def reconcile(request):
    burn(request["own"], DIFFICULT_NS)


def clean_up(request):
    burn(request["behind"], AFTER_NS)


def take_up(kind, line):
    request = {"kind": kind, "work": WORK[int(line) % len(WORK)], "own": [], "behind": [],
               "sent": []}
    requests.append(request)
    return request


def answer(request, write, text):
    request["sent"] = [time.monotonic_ns()]
    write(text)
    request["sent"].append(time.monotonic_ns())


def finish(request, write):
    answer(request, write, b"ok\n")
    account["served"] += 1
    clean_up(request)


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


def be_clients(ports, go):
    """All in one thread, so that several have always asked."""
    if not os.read(go, 1):
        os._exit(1)
    poll, clients = select.poll(), {}

    def ask(kind, number, connection):
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", ports[kind]))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            poll.register(connection.fileno(), select.POLLIN)
        connection.sendall(b"%d\n" % number)
        clients[connection.fileno()] = kind, number, connection

    for kind in KINDS:
        for client in range(CLIENTS):
            ask(kind, client * REQUESTS, None)
    while clients:
        for fd, _ in poll.poll():
            kind, number, connection = clients[fd]
            if not connection.recv(100).endswith(b"\n"):
                continue
            del clients[fd]
            is_last = (number + 1) % REQUESTS == 0
            if is_last or kind == "close":
                poll.unregister(fd)
                connection.close()
                connection = None
            if not is_last:
                ask(kind, number + 1, connection)
    os._exit(0)


async def serve_all(listening, go):
    loop = asyncio.get_running_loop()
    streams, close, callback, at_once = (listening[kind] for kind in KINDS)
    servers = [await asyncio.start_server(serve_stream, sock=streams),
               await asyncio.start_server(serve_one, sock=close),
               await loop.create_server(Callback, sock=callback),
               await loop.create_server(AtOnce, sock=at_once)]
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    os.write(go, b"g")
    while account["served"] < len(KINDS) * CLIENTS * REQUESTS:
        await asyncio.sleep(0.05)
    for server in servers:
        server.close()


def listen():
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", 0))
    sock.listen(100)
    return sock


def main():
    listening = {kind: listen() for kind in KINDS}
    receive_go, send_go = os.pipe()
    clients = os.fork()
    if not clients:
        os.close(send_go)
        be_clients({kind: sock.getsockname()[1] for kind, sock in listening.items()}, receive_go)
    try:
        asyncio.run(serve_all(listening, send_go))
        os.waitpid(clients, 0)
        clients = 0
    finally:
        if clients:
            os.kill(clients, signal.SIGKILL)
    with open(sys.argv[1], "w", encoding="ascii") as file:
        for request in requests:
            file.write(json.dumps(request) + "\n")
    account["ok"] = True
    print(json.dumps(account), flush=True)
    sys.stdin.readline()


main()
