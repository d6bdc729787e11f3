# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server with a slow request now and then, in Python; a thread serves each connection.

    python3 slow_requests.py

Requests are served in `look`, for half a millisecond; those whose path ends with a 7 in
`reconcile`, too, for 60 ms. It prints `ready`, and the port of 127.0.0.1 that it listens on; after
a line on standard input its account, with the requests that it has served, and how often it was in
`reconcile`; and it exits after another line.
"""

import http.server
import json
import sys
import threading
import time

account = {"served": 0, "planted": 0}
lock = threading.Lock()


def spin(ns):
    end = time.monotonic_ns() + ns
    while time.monotonic_ns() < end:
        pass


def look():
    spin(500_000)


def reconcile():
    with lock:
        account["planted"] += 1
    spin(60_000_000)


def serve(path):
    look()
    if path.endswith("7"):
        reconcile()
    with lock:
        account["served"] += 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        serve(self.path)
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"ready\n{server.server_address[1]}", flush=True)
    sys.stdin.readline()
    print(json.dumps(account), flush=True)
    sys.stdin.readline()


main()
