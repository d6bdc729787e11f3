# SPDX-License-Identifier: GPL-3.0-or-later
"""What servers in Python have in common that know for which request they have taken CPU time, and
the clients that ask them. In each of several ways of serving CLIENTS clients ask at once, a request
after the other.

Every REQUESTS requests the work is another one: it goes on in one piece, in two between which the
server waits for a timer or only lets others run, or in two answers; or it is difficult. Behind an
answer the server takes some time that is for none.

A server prints `ready`, waits for a line on standard input, prints an account when all was answered,
and ends at another line. In the file that it is given each request is a line of JSON by then: its
kind and work, stretches of its CPU time (begin and end by CLOCK_MONOTONIC, ns), those behind its
answer, and two times between which its last send returned.
"""

import json
import os
import select
import signal
import socket
import sys
import time

CLIENTS, REQUESTS = 3, 60  # of each kind
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


def be_clients(ports, closing, go):
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

    for kind in ports:
        for client in range(CLIENTS):
            ask(kind, client * REQUESTS, None)
    while clients:
        for fd, _ in poll.poll():
            kind, number, connection = clients[fd]
            if not connection.recv(100).endswith(b"\n"):
                continue
            del clients[fd]
            is_last = (number + 1) % REQUESTS == 0
            if is_last or kind in closing:
                poll.unregister(fd)
                connection.close()
                connection = None
            if not is_last:
                ask(kind, number + 1, connection)
    os._exit(0)


def listen():
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", 0))
    sock.listen(100)
    return sock


def run(kinds, closing, serve_all):
    """serve_all() is given the listening sockets by kind, a descriptor to write a byte to when the
    clients may begin, and how many requests there will be. Of the kinds in `closing` clients make a
    connection for each request."""
    listening = {kind: listen() for kind in kinds}
    receive_go, send_go = os.pipe()
    clients = os.fork()
    if not clients:
        os.close(send_go)
        be_clients({kind: sock.getsockname()[1] for kind, sock in listening.items()}, closing,
                   receive_go)
    try:
        serve_all(listening, send_go, len(kinds) * CLIENTS * REQUESTS)
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
