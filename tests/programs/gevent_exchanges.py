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

    def serve_stream(connection, _):
        while line := connection.recv(100):
            serve(take_up("streams", line), connection.sendall)

    def serve_one(connection, _):
        serve(take_up("close", connection.recv(100)), connection.sendall)
        connection.close()

    def serve_apart(connection, _):
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
    while account["served"] < expected:
        gevent.sleep(0.05)
    for server in servers:
        server.stop()


run(KINDS, ("close",), serve_all)
