# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that knows how often it calls which functions written in C.

    python3 python_natives.py

It says "ready" and waits for a line; calls them in four threads; imports a module that was not there
before, says "imported", and waits for a line; calls two functions of that; and prints its account, a
line of JSON: of each function how often it was called, and of the calls of time.sleep() when each
began and ended (CLOCK_MONOTONIC, ns).
"""

import json
import math
import socket
import sys
import threading
import time
import zlib

THREADS, ROUNDS = 4, 50
SLEEP_S = 0.002
LATE_CALLS = 30

calls = {"zlib.compress": 0, "math.factorial": 0, "str.swapcase": 0, "bytes.fromhex": 0,
         "socket.socket.recv": 0, "time.sleep": 0}
sleeps = []
lock = threading.Lock()


def call(name, function, *arguments):
    result = function(*arguments)
    with lock:
        calls[name] += 1
    return result


def work():
    one, other = socket.socketpair()
    data = bytes(range(256)) * 4
    for _ in range(ROUNDS):
        call("zlib.compress", zlib.compress, data)
        call("math.factorial", math.factorial, 100)
        call("str.swapcase", "a B c".swapcase)
        call("bytes.fromhex", bytes.fromhex, "00ff")
        one.send(b"1")
        call("socket.socket.recv", other.recv, 1)
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        call("time.sleep", time.sleep, SLEEP_S)
        sleeps.append((begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))


print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

import unicodedata  # noqa: E402

print("imported", flush=True)
sys.stdin.readline()
for _ in range(LATE_CALLS):
    unicodedata.normalize("NFD", "\u00e4\u00f6")
    unicodedata.category("a")
print(json.dumps({"calls": calls, "sleeps": sleeps, "late": LATE_CALLS}), flush=True)
