#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# slow_link.py MILLISECONDS: stands between a client at stdin and stdout, and port 22. What either of
# them says arrives so much later; and one in 20 pieces 200 ms after that, with all that is behind it,
# as when TCP sends again what was lost (its least time-out). 0: at once, and nothing is lost.
import os
import queue
import random
import socket
import sys
import threading
import time

delay = int(sys.argv[1]) / 1000
connection = socket.create_connection(("127.0.0.1", 22))


def take(read, pieces):
    while True:
        piece = read(65536)
        lost = 0.2 if delay and random.random() < 0.05 else 0
        pieces.put((time.monotonic() + delay + lost, piece))
        if not piece:
            return


def bring(pieces, write):
    while True:
        due, piece = pieces.get()
        time.sleep(max(due - time.monotonic(), 0))
        if not piece:
            return
        write(piece)


def write_all(piece):
    while piece:
        piece = piece[os.write(1, piece):]


def carry(read, write):
    pieces = queue.Queue()
    threading.Thread(target=take, args=(read, pieces), daemon=True).start()
    bring(pieces, write)


def upwards():
    carry(lambda size: os.read(0, size), connection.sendall)
    connection.shutdown(socket.SHUT_WR)


random.seed(1)
threading.Thread(target=upwards, daemon=True).start()
carry(connection.recv, write_all)
