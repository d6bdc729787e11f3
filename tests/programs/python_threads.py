# SPDX-License-Identifier: GPL-3.0-or-later
"""The oldest of very many threads works.

    python3 python_threads.py THREADS

It starts that many threads, which wait until the program ends, and prints "ready"; after a line on
standard input the main thread works for 2 s of its own CPU time, in `work`.
"""

import sys
import threading
import time


def work():
    end = time.thread_time() + 2
    while time.thread_time() < end:
        pass


def main():
    over = threading.Event()
    threading.stack_size(128 * 1024)
    for _ in range(int(sys.argv[1])):
        threading.Thread(target=over.wait).start()
    print("ready", flush=True)
    sys.stdin.readline()
    work()
    over.set()


main()
