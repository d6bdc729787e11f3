# SPDX-License-Identifier: GPL-3.0-or-later
"""include/python/auger.py: profile(), and include/auger_client.h beside it, asked of a server that
answers as auger does, or as nothing should. What auger itself answers: tests/cli."""

import contextlib
import errno
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "include", "python"))
import auger  # noqa: E402

# The program tests/programs/own_profile.c, which says what auger_profile() does.
OWN_PROFILE = os.environ.get("AUGER_OWN_PROFILE")


def answer(status=200, body=b"profile", length=None, reason="Any"):
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    return (head + f"Content-Length:  {len(body) if length is None else length}\r\n\r\n").encode() + body


class Server:
    """Answers each connection by the same bytes, piece by piece, and keeps what it was asked."""

    def __init__(self, path, pieces):
        self.asked = []
        self._pieces = pieces
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection, contextlib.suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection):
        if self._pieces is None:  # as to other users
            self.asked.append(b"")
            return
        text = b""
        while not self._is_whole(text):
            more = connection.recv(65536)
            if not more:
                return
            text += more
        self.asked.append(text)
        for piece in self._pieces:
            connection.sendall(piece)

    @staticmethod
    def _is_whole(text):
        head, end, body = text.partition(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                return end and len(body) >= int(line.split(b":")[1])
        return bool(end)

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


class Asking(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = os.path.join(holder.name, "s")

    def serve(self, *pieces):
        server = Server(self.path, pieces)
        self.addCleanup(server.close)
        return server

    def request_line(self, server):
        return server.asked[-1].split(b"\r\n")[0].decode()


class InPython(Asking):
    def test_asks_for_its_own(self):
        server = self.serve(answer())
        for form, line in (
                ("pprof", "GET /debug/pprof/profile?seconds=2.500000&pid=self HTTP/1.1"),
                ("otlp", "GET /profile.otlp?seconds=2.500000&pid=self HTTP/1.1"),
                ("collapsed", "GET /profile.folded?seconds=2.500000&pid=self HTTP/1.1"),
                ("perf-script", "POST /sample HTTP/1.1")):
            for path in (self.path, "unix:" + self.path, self.path.encode()):
                self.assertEqual(auger.profile(path, 2.5, form), b"profile")
                self.assertEqual(self.request_line(server), line)
                self.assertIn(b"\r\nHost: localhost\r\n", server.asked[-1])
        self.assertTrue(server.asked[-1].endswith(
            b'\r\n\r\n{"numberOfSamples": 250, "timeInterval": "10 ms", "pid": "self"}'))
        self.assertEqual(auger.profile(self.path), b"profile")
        self.assertIn("/debug/pprof/profile?seconds=10.0", self.request_line(server))

    def test_what_is_wrong_is_said(self):
        for seconds in (0, -1, 601, float("nan")):
            with self.assertRaises(ValueError):
                auger.profile(self.path, seconds)
        with self.assertRaises(ValueError):
            auger.profile(self.path, 1, "svg")
        with self.assertRaises(FileNotFoundError):
            auger.profile(self.path, 1)
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(self.path)
        with self.assertRaises(ConnectionRefusedError):
            auger.profile(self.path, 1)

    def test_what_auger_says_is_passed_on(self):
        self.serve(answer(409, b"process 12 is not observed\n"))
        with self.assertRaisesRegex(auger.ProfileError, "^process 12 is not observed$") as caught:
            auger.profile(self.path, 1)
        self.assertEqual(caught.exception.status, 409)

    def test_half_an_answer_is_none(self):
        self.serve(answer(length=8))
        with self.assertRaises(ConnectionError):
            auger.profile(self.path, 1)

    def test_nor_is_nonsense(self):
        self.serve(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        with self.assertRaises(ConnectionError):
            auger.profile(self.path, 1)


@unittest.skipUnless(OWN_PROFILE, "AUGER_OWN_PROFILE names no program")
class InC(Asking):
    def ask(self, seconds="2.5", form="pprof", path=None):
        """The profile, or the name of the error and what is said of it."""
        done = subprocess.run([OWN_PROFILE, "ask", path or self.path, seconds, form],
                              capture_output=True, check=False, timeout=60)
        if done.returncode == 0:
            self.assertEqual(done.stderr, b"")
            return done.stdout
        number, why = done.stderr.decode().rstrip("\n").split(" ", 1)
        return errno.errorcode[int(number)], why

    def test_asks_for_its_own(self):
        server = self.serve(answer())
        for form, line in (
                ("pprof", "GET /debug/pprof/profile?seconds=2.500&pid=self HTTP/1.0"),
                ("otlp", "GET /profile.otlp?seconds=2.500&pid=self HTTP/1.0"),
                ("collapsed", "GET /profile.folded?seconds=2.500&pid=self HTTP/1.0"),
                ("perf-script", "POST /sample HTTP/1.0")):
            for path in (self.path, "unix:" + self.path):
                self.assertEqual(self.ask(form=form, path=path), b"profile")
                self.assertEqual(self.request_line(server), line)
                self.assertIn(b"\r\nHost: localhost\r\n", server.asked[-1])
        self.assertTrue(server.asked[-1].endswith(
            b'\r\n\r\n{"numberOfSamples":250,"timeInterval":"10 ms","pid":"self"}'))

    def test_answers_come_in_pieces(self):
        body = bytes(range(256)) * 1000
        whole = answer(body=body)
        self.serve(*(whole[i:i + 1] for i in range(200)), whole[200:70000], whole[70000:])
        self.assertEqual(self.ask(), body)

    def test_heads_may_be_long(self):
        head, _, body = answer().partition(b"\r\n\r\n")
        self.serve(head + b"\r\nX: " + b"x" * 100000 + b"\r\n\r\n" + body)
        self.assertEqual(self.ask(), b"profile")

    def test_statuses_are_errors(self):
        for status, name in ((400, "EINVAL"), (401, "EACCES"), (403, "EACCES"),
                             (404, "EOPNOTSUPP"), (405, "EOPNOTSUPP"), (409, "ESRCH"),
                             (503, "EAGAIN"), (500, "EIO"), (302, "EPROTO")):
            with self.subTest(status):
                server = Server(self.path, [answer(status, b"why it \x1b[1mis not\nsecond line\n")])
                try:
                    error, why = self.ask()
                finally:
                    server.close()
                    os.unlink(self.path)
                self.assertEqual(error, errno.errorcode[getattr(errno, name)])
                self.assertEqual(why, "why it ?[1mis not second line")

    def test_half_an_answer_is_none(self):
        whole = answer(length=8)
        for pieces in ([whole], [whole[:40]], [b""], [b"HTTP/1.1 200"]):
            with self.subTest(pieces):
                server = Server(self.path, pieces)
                try:
                    self.assertEqual(self.ask()[0], "ECONNRESET")
                finally:
                    server.close()
                    os.unlink(self.path)

    def test_nor_is_nonsense(self):
        other = "what answers is not auger"
        length = "the answer does not say how long it is"
        empty = b"\r\nContent-Length: 0\r\n\r\n"
        for text, why in (
                (b"SSH-2.0-OpenSSH_9.2" + empty, other), (b"\0" * 1000 + empty, other),
                (b"HTTP/1.1 2000 Any" + empty, other), (b"HTTP/1.1 20x Any" + empty, other),
                (b"HTTP/1.1  200 Any" + empty, other), (b"HTTP/1." + empty, other),
                (answer(length="x"), length), (answer(length="-1"), length),
                (answer(length="7x"), length), (answer(length="9" * 40), length),
                (b"HTTP/1.1 200 Any\r\n\r\nprofile", length),
                (b"HTTP/1.1 200 Any\r\n" + b"x" * (2 << 20), "the answer's head has no end")):
            with self.subTest(text[:40]):
                server = Server(self.path, [text])
                try:
                    self.assertEqual(self.ask(), ("EPROTO", why))
                finally:
                    server.close()
                    os.unlink(self.path)

    def test_no_more_than_the_answer_is_taken(self):
        self.serve(answer(length=4))
        self.assertEqual(self.ask(), b"prof")

    def test_other_users_are_closed_at_once(self):
        server = Server(self.path, None)
        self.addCleanup(server.close)
        error, why = self.ask()
        self.assertIn(error, ("ECONNRESET", "EPIPE"))
        self.assertIn("closed", why)

    def test_what_is_wrong_is_said(self):
        for seconds in ("0", "-1", "601", "nan"):
            self.assertEqual(self.ask(seconds=seconds)[0], "EINVAL")
        self.assertEqual(self.ask(form="svg")[0], "EINVAL")
        self.assertEqual(self.ask(path="x" * 200)[0], "ENAMETOOLONG")
        self.assertEqual(self.ask()[0], "ENOENT")
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(self.path)
        self.assertEqual(self.ask()[0], "ECONNREFUSED")


if __name__ == "__main__":
    unittest.main()
