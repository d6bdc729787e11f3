# SPDX-License-Identifier: GPL-3.0-or-later
"""include/python/auger.py: what marks say, to whom, and the libraries that hold them, which readelf
reads, that is not ours."""

import asyncio
import contextlib
import ctypes
import itertools
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "include", "python"))
import auger  # noqa: E402

_numbers = itertools.count()
_folders = auger._folders


def fresh_name():
    return f"mark{next(_numbers)}"


class Folder(unittest.TestCase):
    """Libraries go to a folder of the test's."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = os.path.join(holder.name, "marks")
        self.use([self.folder])

    def use(self, folders):
        patch = mock.patch.object(auger, "_folders", lambda: iter(folders))
        patch.start()
        self.addCleanup(patch.stop)


class Watched(Folder):
    """Points whose semaphore the test sets, and that tell it when they are reached."""

    def setUp(self):
        super().setUp()
        self.said = []
        self.watchers = {}
        self.forms = {}

        def loaded(library, name, forms):
            del library
            self.forms[name] = forms
            self.watchers[name] = memoryview(bytearray(2)).cast("H")
            return self.watchers[name], lambda *given: self.said.append((name, *given))

        patch = mock.patch.object(auger, "_loaded_point", loaded)
        patch.start()
        self.addCleanup(patch.stop)
        self.name = fresh_name()
        self.span = auger.Span(self.name)

    def watch(self, on=1):
        for watchers in self.watchers.values():
            watchers[0] = on

    def points(self):
        return auger._known["span", self.name, ("8",)]

    def roles(self):
        """What was said of the span, without its name."""
        return [(name.rsplit("__", 1)[1], *given) for name, *given in self.said]


class Spans(Watched):
    def test_nobody_hears_of_them_until_somebody_watches(self):
        self.span.begin(1)
        with self.span(2) as open_span:
            open_span.park()
            open_span.resume()
        self.span(3).end()
        self.assertFalse(self.span.watched)
        self.assertEqual(self.said, [])

    def test_each_point_is_watched_by_itself(self):
        self.watchers[f"{self.name}__end"][0] = 1
        for point in (self.span.begin, self.span.park, self.span.resume, self.span.end):
            point(5)
        self.assertEqual(self.roles(), [("end", 5)])
        self.assertFalse(self.span.watched)
        self.watch()
        self.assertTrue(self.span.watched)

    def test_by_hand(self):
        self.watch()
        for point in (self.span.begin, self.span.park, self.span.resume, self.span.end):
            point(7)
        self.assertEqual(self.roles(), [("begin", 7), ("park", 7), ("resume", 7), ("end", 7)])

    def test_a_block_ends_its_span_however_it_is_left(self):
        self.watch()
        with self.span(1):
            pass
        with self.assertRaises(KeyError), self.span(2):
            raise KeyError
        with self.span(3) as open_span:
            open_span.end()
            open_span.park()
        self.assertEqual(self.roles(), [("begin", 1), ("end", 1), ("begin", 2), ("end", 2),
                                        ("begin", 3), ("end", 3)])

    def test_ids_are_numbers_or_what_is_the_same_again(self):
        self.watch()
        ids = ["order-17", ("a", 1), 2.5]
        for one in ids:
            self.span.begin(one)
            self.span.end(type(one)(one))
        self.assertEqual(self.roles(), [(role, hash(one)) for one in ids
                                        for role in ("begin", "end")])
        self.said.clear()
        without_hash = []
        self.span.begin(without_hash)
        self.span.end(without_hash)
        self.assertEqual(self.roles(), [("begin", id(without_hash)), ("end", id(without_hash))])

        class Odd:
            def __hash__(self):
                raise RuntimeError("a profiler is no reason to fail")

        self.span.begin(Odd())

    def test_without_an_id_each_has_its_own(self):
        self.watch()
        with self.span() as one, self.span() as other:
            self.assertNotEqual(one.id, other.id)
        self.assertEqual(self.roles(), [("begin", one.id), ("begin", other.id), ("end", other.id),
                                        ("end", one.id)])

    def test_from_thread_to_thread(self):
        self.watch()
        threads = []

        def point(name):
            def reached(*given):
                self.said.append((name, *given))
                threads.append(threading.get_ident())
            return reached

        for role in ("begin", "park", "resume", "end"):
            self.points()[role] = (self.watchers[f"{self.name}__{role}"],
                                   point(f"{self.name}__{role}"))
        open_span = auger.Span(self.name)(4)
        open_span.park()

        def take_up():
            open_span.resume()
            open_span.end()

        worker = threading.Thread(target=take_up)
        worker.start()
        worker.join()
        self.assertEqual(self.roles(), [("begin", 4), ("park", 4), ("resume", 4), ("end", 4)])
        self.assertEqual(threads[0], threads[1])
        self.assertEqual(threads[2], threads[3])
        self.assertNotEqual(threads[1], threads[2])

    def test_one_that_began_unwatched_is_not_ended_for_who_comes_later(self):
        open_span = self.span(1)
        self.watch()
        open_span.park()
        open_span.resume()
        open_span.end()
        self.assertEqual(self.said, [])

    def test_the_same_name_has_the_same_points(self):
        points = self.points()
        auger.Span(self.name)
        self.assertIs(self.points(), points)
        self.assertEqual(set(self.forms.values()), {("8",)})


class Decorated(Watched):
    def test_each_call_is_a_span(self):
        @self.span
        def twice(number, *, fails=False):
            "Doubles."
            if fails:
                raise KeyError
            return 2 * number

        self.assertEqual(twice(4), 8)
        self.assertEqual(self.said, [])
        self.watch()
        self.assertEqual(twice(4), 8)
        with self.assertRaises(KeyError):
            twice(4, fails=True)
        roles = self.roles()
        self.assertEqual([role for role, _ in roles], ["begin", "end"] * 2)
        self.assertEqual(roles[0][1], roles[1][1])
        self.assertNotEqual(roles[0][1], roles[2][1])
        self.assertEqual((twice.__name__, twice.__doc__), ("twice", "Doubles."))

    def test_methods(self):
        class Shop:
            @self.span
            def name(self):
                return "shop"

        self.watch()
        self.assertEqual(Shop().name(), "shop")
        self.assertEqual(len(self.said), 2)

    def test_generators_are_refused(self):
        def numbers():
            yield 1

        async def later():
            yield 1

        for function in (numbers, later):
            with self.assertRaises(TypeError):
                self.span(function)

    # While it waits, the thread works for others.
    def test_what_is_awaited_is_parked(self):
        turn = []

        @self.span
        async def handle(name):
            turn.append(name)
            await asyncio.sleep(0)
            turn.append(name)
            return name

        async def both():
            return await asyncio.gather(handle("a"), handle("b"))

        self.assertEqual(asyncio.run(both()), ["a", "b"])
        self.assertEqual(self.said, [])
        self.watch()
        turn.clear()
        self.assertEqual(asyncio.run(both()), ["a", "b"])
        self.assertEqual(turn, ["a", "b", "a", "b"])
        roles = self.roles()
        first, second = roles[0][1], roles[2][1]
        self.assertNotEqual(first, second)
        self.assertEqual(roles, [("begin", first), ("park", first), ("begin", second),
                                 ("park", second), ("resume", first), ("end", first),
                                 ("resume", second), ("end", second)])

    def test_cancelled_tasks_end_their_span(self):
        caught = []

        @self.span
        async def handle():
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                caught.append(True)
                raise

        async def cancel():
            task = asyncio.ensure_future(handle())
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        self.watch()
        asyncio.run(cancel())
        self.assertEqual(caught, [True])
        self.assertEqual([role for role, _ in self.roles()], ["begin", "park", "resume", "end"])

    # By who waits with it, as an event loop does.
    def test_values_and_errors_come_back(self):
        @self.span
        async def handle():
            try:
                await Wait()
            except KeyError:
                return await Wait()

        self.watch()
        coroutine = handle()
        self.assertEqual(coroutine.send(None), "waits")
        self.assertEqual(coroutine.throw(KeyError()), "waits")
        with self.assertRaises(StopIteration) as end:
            coroutine.send("value")
        self.assertEqual(end.exception.value, "value")
        self.assertEqual([role for role, _ in self.roles()],
                         ["begin", "park", "resume", "park", "resume", "end"])

    def test_coroutines_that_are_given_up_end_their_span(self):
        @self.span
        async def handle():
            try:
                await Wait()
            finally:
                self.said.append(("x__finally", 0))

        self.watch()
        coroutine = handle()
        coroutine.send(None)
        coroutine.close()
        self.assertEqual([role for role, _ in self.roles()],
                         ["begin", "park", "resume", "finally", "end"])


class Wait:
    def __await__(self):
        return (yield "waits")


class Events(Watched):
    def test_have_up_to_six_values(self):
        name = fresh_name()
        mark = auger.Mark(name)
        mark(1)
        self.assertEqual(self.said, [])
        self.watch()
        mark()
        mark(-1, "Käse", b"bytes", bytearray(b"more"), None, 2.9)
        mark(*range(9))
        self.assertEqual(self.said, [
            (name, None, None, None, None, None, None),
            (name, -1, "Käse".encode(), b"bytes", b"more", None, 2),
            (name, 0, 1, 2, 3, 4, 5)])
        self.assertEqual(mark.__name__, name)

    # By their signs, which notes have, text and numbers are told apart.
    def test_may_say_what_their_values_are(self):
        name, other = fresh_name(), fresh_name()
        mark, single = auger.Mark(name, int, str, bytes), auger.Mark(other, str)
        self.assertEqual(self.forms[name], ("-8", "8", "8"))
        self.assertEqual(self.forms[other], ("8",))
        self.watch()
        mark(1, "a")
        mark(1, "a", b"b", 4)
        single("a")
        self.assertEqual(self.said, [(name, 1, b"a", None), (name, 1, b"a", b"b"), (other, b"a")])
        # The same name, otherwise, is another point.
        again = auger.Mark(name, str)
        self.watch()
        again("z")
        self.assertEqual(self.said[-1], (name, b"z"))
        mark(2)
        self.assertEqual(self.said[-1], (name, 2, None, None))
        for kinds in ([float], [int] * 7, ["int"]):
            with self.assertRaises(TypeError):
                auger.Mark(fresh_name(), *kinds)

    def test_take_whatever_comes(self):
        class Odd:
            def __int__(self):
                raise RuntimeError("a profiler is no reason to fail")

        mark = auger.Mark(fresh_name())
        self.watch()
        odd = Odd()
        mark(odd, float("nan"), float("inf"), "\ud800", object)
        self.assertEqual(self.said[0][1], hash(odd))
        self.assertTrue(all(isinstance(value, (int, bytes, type(None)))
                            for value in self.said[0][1:]))

    def test_names_are_identifiers(self):
        for wrong in ("", "a b", "1a", "käse", "a" * 65, "a\n", None, "a:b", "../a"):
            with self.assertRaises(ValueError):
                auger.Mark(wrong)
            with self.assertRaises(ValueError):
                auger.Span(wrong)


class Libraries(Folder):
    def notes(self, path):
        text = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(text.stderr, "")
        pattern = re.compile(r"stapsdt.*Provider: auger\s+Name: (\S+)\s+Location: (\S+), "
                             r"Base: (\S+), Semaphore: (\S+)\s+Arguments:(.*)")
        return {name: (int(site, 0), int(base, 0), int(semaphore, 0), arguments.strip())
                for name, site, base, semaphore, arguments in pattern.findall(text.stdout)}

    def sections(self, path):
        text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True)
        self.assertEqual(text.stderr, "")
        rows = re.findall(r"\[ *\d+\] (\.\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)",
                          text.stdout)
        return {name: tuple(int(number, 16) for number in numbers) for name, *numbers in rows}

    def test_hold_the_notes_of_their_points(self):
        nops = {"x86_64": b"\x90\xc3", "aarch64": b"\x1f\x20\x03\xd5"}
        first = {"x86_64": "8@%rdi", "aarch64": "8@x0"}
        six = {"x86_64": "-8@%rdi 8@%rsi -8@%rdx -8@%rcx -8@%r8 8@%r9",
               "aarch64": "-8@x0 8@x1 -8@x2 -8@x3 -8@x4 8@x5"}
        for machine in ("x86_64", "aarch64"):
            for operands, forms, names in (
                    (first, ("8",), ["a__begin", "a__end", "a__park", "a__resume"]),
                    (six, ("-8", "8", "-8", "-8", "-8", "8"), ["b"])):
                with self.subTest(machine=machine, names=names):
                    content = auger._library(auger._MACHINES[machine], names, forms)
                    os.makedirs(self.folder, exist_ok=True)
                    path = os.path.join(self.folder, f"{machine}{len(names)}.so")
                    with open(path, "wb") as file:
                        file.write(content)
                    notes, sections = self.notes(path), self.sections(path)
                    self.assertEqual(sorted(notes), sorted(names))
                    probes, _, size = sections[".probes"]
                    for site, base, semaphore, arguments in notes.values():
                        self.assertEqual(arguments, operands[machine])
                        self.assertEqual(base, sections[".stapsdt.base"][0])
                        self.assertLessEqual(probes, semaphore)
                        self.assertLess(semaphore, probes + size)
                        self.assertEqual(semaphore % 2, 0)
                        # Code lies in the file where it is loaded.
                        self.assertTrue(content[site:].startswith(nops[machine]))
                    for which in range(3):
                        distinct = {note[which] for note in notes.values()}
                        self.assertEqual(len(distinct), 1 if which == 1 else len(names))
                    for option in ("-aW", "--debug-dump=frames"):
                        text = subprocess.run(["readelf", option, path], capture_output=True,
                                              text=True, check=True)
                        self.assertEqual(text.stderr, "")
                    stack = subprocess.run(["readelf", "-lW", path], capture_output=True,
                                           text=True, check=True).stdout
                    self.assertRegex(stack, r"GNU_STACK.* RW ")

    # As the kernel does when somebody attaches and detaches.
    def test_are_loaded_and_reached(self):
        name = fresh_name()
        span, mark = auger.Span(name), auger.Mark(name)
        self.assertIsNone(auger.problem)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         [f"mark-{name}-nnnnnn.so", f"span-{name}-p.so"])
        points = [point for key, points in auger._known.items() if key[1] == name
                  for point in points.values()]
        self.assertEqual(len({ctypes.addressof(function) for _, function in points}), 5)
        # Else a number is passed as an int.
        self.assertEqual([function.argtypes for _, function in points],
                         [[ctypes.c_void_p]] * 4 + [[ctypes.c_void_p] * 6])
        for on in (1, 0, 3):
            for watchers, _ in points:
                self.assertEqual(len(watchers), 1)
                watchers[0] = on
            self.assertEqual(span.watched, on != 0)
            span.begin(1 << 70)
            span.end(-1)
            mark(1, "text", None)
        # The semaphore is the one of the library that is loaded, by the name that it has there.
        library = ctypes.CDLL(os.path.join(self.folder, f"span-{name}-p.so"))
        self.assertEqual(ctypes.c_uint16.in_dll(library, f"auger_{name}__begin_semaphore").value, 3)
        ctypes.c_uint16.in_dll(library, f"auger_{name}__begin_semaphore").value = 0
        self.assertFalse(span.watched)

    def test_are_the_same_file_in_every_process(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1]); import auger; "
                   "auger._folders = lambda: iter([sys.argv[2]]); auger.Span('shared'); "
                   "sys.exit(auger.problem)")
        inodes = set()
        for _ in range(2):
            subprocess.run([sys.executable, "-c", program, os.path.dirname(auger.__file__),
                            self.folder], check=True)
            status = os.stat(os.path.join(self.folder, "span-shared-p.so"))
            inodes.add(status.st_ino)
            # Who may read all of it may attach; nobody may change it.
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o444)
        self.assertEqual(len(inodes), 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), 0o700)
        self.assertEqual(os.listdir(self.folder), ["span-shared-p.so"])

    def test_nobody_elses_file_is_loaded(self):
        name = fresh_name()
        os.makedirs(self.folder, 0o700)
        elsewhere = os.path.join(os.path.dirname(self.folder), "elsewhere")
        # Right as it is now, but who may write there may change it.
        roles = [f"{name}__{role}" for role in ("begin", "end", "park", "resume")]
        right = auger._library(auger._MACHINES[os.uname().machine], roles, ("8",))
        with open(elsewhere, "wb") as file:
            file.write(right)
        paths = [os.path.join(self.folder, f"{file}.so")
                 for file in (f"span-{name}-p", f"mark-{name}-n")]
        os.symlink(elsewhere, paths[0])
        with open(paths[1], "wb") as file:
            file.write(bytes(len(auger._library(auger._MACHINES[os.uname().machine], [name],
                                                ("-8",)))))
        auger.Span(name)
        auger.Mark(name, int)
        self.assertIsNone(auger.problem)
        self.assertEqual(open_bytes(elsewhere), right)
        for path in paths:
            self.assertFalse(os.path.islink(path))
            self.assertIn(f"auger_{name}".encode(), open_bytes(path))

    def test_folders_that_others_may_write_are_none(self):
        open_folder = os.path.join(os.path.dirname(self.folder), "open")
        os.mkdir(open_folder)
        os.chmod(open_folder, 0o777)
        link = os.path.join(os.path.dirname(self.folder), "link")
        os.mkdir(self.folder, 0o700)
        os.symlink(self.folder, link)
        self.use([open_folder, link, "/proc/none"])
        mark = auger.Mark(fresh_name())
        self.assertIn("/proc/none", auger.problem)
        mark(1)
        self.assertEqual(os.listdir(open_folder) + os.listdir(self.folder), [])
        # The next one will do.
        self.use([open_folder, self.folder])
        auger.Mark(fresh_name())
        self.assertIsNone(auger.problem)
        self.assertEqual(len(os.listdir(self.folder)), 1)

    def test_where_there_is_no_folder_marks_are_nothing(self):
        self.assertEqual(len(list(_folders())), 2)
        with mock.patch("tempfile.gettempdir", side_effect=FileNotFoundError), \
                mock.patch("pwd.getpwuid", side_effect=KeyError):
            self.assertEqual(list(_folders()), [])
        self.use([])
        auger.Mark(fresh_name())(1)
        self.assertIn("no folder", auger.problem)

    def test_elsewhere_marks_are_nothing(self):
        ways = {"x86-64 and aarch64": mock.patch("platform.machine", lambda: "riscv64"),
                "for Linux": mock.patch.object(sys, "platform", "darwin"),
                "AUGER_DISABLED": mock.patch.dict(os.environ, AUGER_DISABLED="1")}
        for why, way in ways.items():
            with self.subTest(why), way:
                span, mark = auger.Span(fresh_name()), auger.Mark(fresh_name())
                self.assertIn(why, auger.problem)
                with span(1):
                    mark(1)
                self.assertFalse(span.watched)
        self.assertFalse(os.path.exists(self.folder))


def open_bytes(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    unittest.main()
