# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of gevent's that knows for which request it has taken CPU time, and clients that ask it
(served_work.py).

    python3 gevent_exchanges.py FILE

One thread serves all, in these ways:

    streams  a greenlet for each connection, which is kept
    close    a connection, and so a greenlet, for each request
    spawn    a connection's greenlet receives the request, and makes another one that answers
"""

import os
import sys

from served_work import account, answer, finish, look, reconcile, run, take_up

KINDS = ("streams", "close", "spawn")


def serve_all(listening, go, expected):
    # Behind the fork of the clients.
    import gevent
    from gevent.server import StreamServer

    def serve(request, write):
        work = request["work"]
        look(request)
        if work == "timer":
            gevent.sleep(0.002)
            look(request)
        elif work == "turn":
            gevent.sleep(0)
            look(request)
        elif work == "two":
            answer(request, write, b"so ")
            look(request)
        elif work == "difficult":
            reconcile(request)
        finish(request, write)

    connections = set()

    # The last ones are closed by a client that may take its time.
    def until_closed(handle):
        def handle_one(connection, _):
            connections.add(connection)
            handle(connection)
            connections.remove(connection)
        return handle_one

    @until_closed
    def serve_stream(connection):
        while line := connection.recv(100):
            serve(take_up("streams", line), connection.sendall)

    @until_closed
    def serve_one(connection):
        serve(take_up("close", connection.recv(100)), connection.sendall)
        connection.close()

    @until_closed
    def serve_apart(connection):
        while line := connection.recv(100):
            gevent.spawn(serve, take_up("spawn", line), connection.sendall)

    servers = [StreamServer(listening[kind], handle)
               for kind, handle in zip(KINDS, (serve_stream, serve_one, serve_apart))]
    for sock, server in zip(listening.values(), servers):
        sock.setblocking(False)
        server.start()
    print("ready", flush=True)
    gevent.get_hub().threadpool.apply(sys.stdin.readline)
    os.write(go, b"g")
    while account["served"] < expected or connections:
        gevent.sleep(0.05)
    for server in servers:
        server.stop()


run(KINDS, ("close",), serve_all)
