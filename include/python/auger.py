# SPDX-License-Identifier: 0BSD
"""Marks in a Python program: what it works for, told to auger (and to other tracers of USDT probes).

    import auger

    checkout = auger.Span("checkout")           # once: the spans of one name
    cache_miss = auger.Mark("cache_miss", int, str, int)

    with checkout(request.id):                  # this thread works for it until the end of the block
        ...
    @checkout                                   # each call is one; of `async def`, too
    def handle(request): ...

    checkout.begin(request.id)                  # or by hand: this thread works for it from here on ...
    checkout.park(request.id)                   # ... no longer: it waits, or is handed over ...
    checkout.resume(request.id)                 # ... and again, on this thread or another
    checkout.end(request.id)                    # on any thread

    job.span = checkout(job.id)                 # the same as an object: park(), resume(), end()
    cache_miss(key, "sessions", size)           # something happened: up to six values

In auger `span auto` makes a span of each name; a mark is the probe usdt:auger:cache_miss. They are
the points of auger.h, with the same names, in a small library that is written for each name once and
kept (in ~/.cache/auger-marks, or where temporary files are): Python has none to hold them. A point
that nobody watches costs a call of a function that reads a number.

An id tells the spans of one name apart that are open at once: a number, or anything else that is the
same at each point (by its hash; what has none, by its identity). Without one each has its own.
Values are whole numbers, or text, which is str(arg1) in auger. None of it fails, nor does anything
where marks are not possible: `problem` says why not, and is None where they are. Where
AUGER_DISABLED is set they are off.

A program may also ask a running auger for its own samples: profile().

One file, which needs nothing but the standard library: CPython 3.8 and later, Linux on x86-64 and
aarch64. Elsewhere all marks are nothing.
"""

import ctypes
import functools
import itertools
import os
import platform
import re
import stat
import struct
import sys
import tempfile
import types

__all__ = ["Mark", "OpenSpan", "ProfileError", "Span", "problem", "profile"]

# Why marks do nothing; None: they work, or there are none yet.
problem = None


class Span:
    """The spans of one name.

    begin(id), park(id), resume(id) and end(id) are its points. Called with an id it begins a span
    and returns it; called with a function it decorates that one.
    """

    __slots__ = ("name", "begin", "end", "park", "resume", "_watchers")

    def __init__(self, name):
        points = _points("span", _checked(name), ("begin", "end", "park", "resume"), ("8",))
        self.name = name
        self._watchers = points["begin"][0]
        for role, (watchers, function) in points.items():
            setattr(self, role, _point_of_span(watchers, function))

    def __call__(self, id=None):
        if callable(id):
            return self._around(id)
        if not self._watchers[0]:
            return _NOT_WATCHED
        return OpenSpan(self, next(_ids) if id is None else id)

    @property
    def watched(self):
        """Whether somebody is attached to its beginnings."""
        return self._watchers[0] != 0

    def _around(self, function):
        import inspect  # which takes longer than all the rest

        watchers = self._watchers
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def around(*arguments, **named):
                if not watchers[0]:
                    return await function(*arguments, **named)
                return await _in_steps(self, next(_ids), function(*arguments, **named))
        elif inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function!r} is a generator, whose calls end before it runs")
        else:
            @functools.wraps(function)
            def around(*arguments, **named):
                if not watchers[0]:
                    return function(*arguments, **named)
                with OpenSpan(self, next(_ids)):
                    return function(*arguments, **named)
        return around


class OpenSpan:
    """A span from its construction to end(), which the end of its `with` block calls."""

    __slots__ = ("id", "_span", "_open")

    def __init__(self, span, id):
        self.id = id
        self._span = span
        self._open = True
        span.begin(id)

    def park(self):
        """This thread no longer works for it: it waits, or another thread will resume it."""
        if self._open:
            self._span.park(self.id)

    def resume(self):
        if self._open:
            self._span.resume(self.id)

    def end(self):
        if self._open:
            self._open = False
            self._span.end(self.id)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.end()


class _NotWatched:
    """A span that began while nobody watched: nobody has to hear of its end."""

    __slots__ = ()
    id = None

    def park(self):
        pass

    def resume(self):
        pass

    def end(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        pass


_NOT_WATCHED = _NotWatched()


def Mark(name, *kinds):
    """A function to be called, with values, when something of that name happens.

    `kinds` says what these are, up to six: int, str or bytes. Without any they are six numbers, of
    which one that is text is str((char *)arg0) in auger.
    """
    if len(kinds) > 6 or not all(kind in (int, str, bytes) for kind in kinds):
        raise TypeError("the values of a mark are up to six, each of int, str or bytes")
    # With a sign it is a number; without, it may be where text is.
    forms = tuple("-8" if kind is int else "8" for kind in kinds or [int] * 6)
    watchers, function = _points("mark", _checked(name), ("",), forms)[""]
    most = len(forms)
    none = (None,) * most

    def mark(*values):
        if watchers[0]:
            function(*map(_value, values[:most]), *none[len(values):])

    mark.__name__ = mark.__qualname__ = name
    return mark


# Numbers that no program has for its own.
_ids = itertools.count(1 << 62)


@types.coroutine
def _in_steps(span, id, coroutine):
    """`coroutine` as a span for which the thread works while it runs, and not while it waits."""
    with OpenSpan(span, id) as open_span:
        send, value = coroutine.send, None
        while True:
            try:
                waited_for = send(value)
            except StopIteration as end:
                return end.value
            open_span.park()
            try:
                send, value = coroutine.send, (yield waited_for)
            except GeneratorExit:
                open_span.resume()
                coroutine.close()
                raise
            except BaseException as error:  # of who waits with it: CancelledError
                send, value = coroutine.throw, error
            open_span.resume()


# Points

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def _checked(name):
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a mark: it is an identifier, in ASCII, of at "
                         "most 64 characters")
    return name


_address = id


# What a program does does not depend on who watches it: nothing is raised here. ctypes takes the low
# 64 bits of a number.
def _number(id):
    if isinstance(id, int):
        return id
    try:
        return hash(id)
    except Exception:
        return _address(id)


def _value(value):
    if value is None or isinstance(value, (int, bytes)):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        return bytes(value) if isinstance(value, bytearray) else int(value)
    except Exception:
        return _number(value)



def _point_of_span(watchers, function):
    def point(id):
        if watchers[0]:
            function(_number(id))

    return point


# By kind, name and the forms of values: the same points for who asks again.
_known = {}


def _points(kind, name, roles, forms):
    """Of each role: what its semaphore says, in [0], and the function that is its site.

    `forms` are those of its arguments in the note: the size in bytes, negative with a sign.
    """
    key = kind, name, forms
    if key not in _known:
        library = _library_of(kind, name, roles, forms)
        _known[key] = {
            role: _loaded_point(library, _point_name(name, role), forms) if library
            else (memoryview(b"\0\0").cast("H"), None)
            for role in roles}
    return _known[key]


def _point_name(name, role):
    return f"{name}__{role}" if role else name


def _loaded_point(library, name, forms):
    semaphore = (ctypes.c_uint16 * 1).in_dll(library, f"auger_{name}_semaphore")
    function = library[f"auger_{name}"]
    function.restype = None
    # A pointer may be a number, or where bytes are; and that of None is 0.
    function.argtypes = [ctypes.c_void_p] * len(forms)
    return memoryview(semaphore).cast("B").cast("H"), function


def _library_of(kind, name, roles, forms):
    """The loaded library; None: there is none, and `problem` says why."""
    global problem
    machine = _MACHINES.get(platform.machine())
    if os.environ.get("AUGER_DISABLED"):
        problem = "AUGER_DISABLED is set"
    elif sys.platform != "linux" or machine is None or sys.maxsize < 1 << 32:
        problem = "marks are for Linux on x86-64 and aarch64"
    else:
        content = _library(machine, [_point_name(name, role) for role in roles], forms)
        file = "-".join((kind, name, "".join("n" if form == "-8" else "p" for form in forms)))
        problem = "there is no folder for marks"
        for folder in _folders():
            try:
                path = _kept_file(folder, f"{file}.so", content)
                # The interpreter lock is kept: to hand it over would be more than the mark.
                library = ctypes.PyDLL(path)
            except OSError as error:  # nothing may be written or executed there
                problem = f"{folder}: {error}"
            else:
                problem = None
                return library
    return None


def _folders():
    # Not by the environment: under sudo it is another user's.
    try:
        import pwd
        yield os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".cache", "auger-marks")
    except (ImportError, KeyError):
        pass
    try:
        yield os.path.join(tempfile.gettempdir(), f"auger-marks-{os.geteuid()}")
    except OSError:  # nothing can be written anywhere
        pass


def _kept_file(folder, name, content):
    """The path of a file of that content, which nobody but this user can have written.

    It stays there: so it is the same file in all of a service's processes, to which a tracer
    attaches once.
    """
    os.makedirs(folder, 0o700, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError("it is not this user's alone")
    path = os.path.join(folder, name)
    if _has_content(path, content):
        return path
    fd, temporary = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            os.fchmod(fd, 0o444)
        try:
            os.link(temporary, path)
        except OSError:
            # Another process may just have written it, or there are no links in that file system.
            if not _has_content(path, content):
                os.replace(temporary, path)
                return path
    except OSError:
        os.unlink(temporary)
        raise
    os.unlink(temporary)
    return path


def _has_content(path, content):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        return (stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
                and status.st_size == len(content) and file.read() == content)


# The library: what a compiler and a linker make of auger.h, for a point a function, whose arguments
# are the point's.

class _Machine:
    def __init__(self, number, code, registers, frames):
        self.number = number        # in ELF
        self.code = code            # of a function: a place to jump to, the site, back; no code
        self.registers = registers  # of arguments, as notes name them
        self.frames = frames        # of .eh_frame: how code and data count, where one returns to,
                                    # and that it lies there from the first instruction to the last


_MACHINES = {
    "x86_64": _Machine(62, bytes.fromhex("f30f1efa 90 c3") + 10 * b"\xcc",  # endbr64; nop; ret
                       ["%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"],
                       bytes.fromhex("01 78 10 01 1b 0c 07 08 90 01 00 00")),
    "aarch64": _Machine(183, bytes.fromhex("5f2403d5 1f2003d5 c0035fd6 00000000"),  # bti c; nop; ret
                        [f"x{i}" for i in range(6)],
                        bytes.fromhex("04 78 1e 01 1b 0c 1f 00 00 00 00 00")),
}
_SITE = 4  # in a function
_FUNCTION_SIZE = 16  # with what is no code
_LARGEST_PAGE = 0x10000


def _aligned(size, to):
    return (size + to - 1) // to * to


class _Sections:
    """What lies one after the other in a file, of which it has been said at first where."""

    def __init__(self, begin):
        self.rows = [("", 0, 0, 0, 0, b"", 0, 0, 0, 1)]
        self.end = begin

    def add(self, name, kind, flags, content, align, shift=0, link=0, info=0, entry=0):
        offset = _aligned(self.end, align)
        self.rows.append((name, kind, flags, offset + shift if flags & 2 else 0, offset, content,
                          link, info, entry, align))
        self.end = offset + len(content)
        return offset + shift

    def number(self, name):
        return [row[0] for row in self.rows].index(name)


def _library(machine, names, forms):
    # Twice: the first time tells where everything is.
    places = {}
    for _ in range(2):
        content = _library_at(machine, names, forms, places)
    return content


def _library_at(machine, names, forms, places):
    at = places.get
    code = machine.code * len(names)
    strings = b"\0"
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    notes = b""
    for i, name in enumerate(names):
        function = at(".text", 0) + i * _FUNCTION_SIZE
        semaphore = at(".probes", 0) + i * 2
        for symbol, kind, section, value, size in (
                (f"auger_{name}", 0x12, ".text", function, _FUNCTION_SIZE),
                (f"auger_{name}_semaphore", 0x11, ".probes", semaphore, 2)):
            symbols += struct.pack("<IBBHQQ", len(strings), kind, 0, at("numbers", {}).get(section, 0),
                                   value, size)
            strings += symbol.encode() + b"\0"
        operands = " ".join(map("@".join, zip(forms, machine.registers)))
        description = struct.pack("<QQQ", function + _SITE, at(".stapsdt.base", 0), semaphore)
        description += f"auger\0{name}\0{operands}\0".encode()
        notes += struct.pack("<III8s", 8, len(description), 3, b"stapsdt\0")
        notes += description.ljust(_aligned(len(description), 4), b"\0")
    count = len(symbols) // 24
    # One chain, which holds all.
    hashes = struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0)
    begin_of_frames = at(".eh_frame", 0)
    cie = struct.pack("<II", 20, 0) + b"\1zR\0" + machine.frames
    fde = struct.pack("<IIiIBBBB", 20, len(cie) + 4,
                      at(".text", 0) - (begin_of_frames + len(cie) + 8), len(code), 0, 0, 0, 0)
    fde += bytes(4)
    header = at(".eh_frame_hdr", 0)
    frame_header = struct.pack("<BBBBiIii", 1, 0x1b, 0x03, 0x3b, begin_of_frames - (header + 4), 1,
                               at(".text", 0) - header, begin_of_frames + len(cie) - header)

    sections = _Sections(64 + 5 * 56)
    add = sections.add
    places[".hash"] = add(".hash", 5, 2, hashes, 8, link=2, entry=4)
    places[".dynsym"] = add(".dynsym", 11, 2, symbols, 8, link=3, info=1, entry=24)
    places[".dynstr"] = add(".dynstr", 3, 2, strings, 1)
    places[".stapsdt.base"] = add(".stapsdt.base", 1, 2, b"\0", 1)
    places[".eh_frame_hdr"] = add(".eh_frame_hdr", 1, 2, frame_header, 4)
    places[".eh_frame"] = add(".eh_frame", 1, 2, cie + fde + bytes(4), 8)
    places[".text"] = add(".text", 1, 6, code, 16)
    end_of_code = sections.end
    # Data is on a page of its own.
    dynamic = b"".join(struct.pack("<QQ", tag, value) for tag, value in (
        (4, at(".hash", 0)), (5, at(".dynstr", 0)), (6, at(".dynsym", 0)), (10, len(strings)),
        (11, 24), (0, 0)))
    data = _aligned(end_of_code, 8)
    places[".dynamic"] = add(".dynamic", 6, 3, dynamic, 8, _LARGEST_PAGE, link=3, entry=16)
    places[".probes"] = add(".probes", 1, 3, bytes(2 * len(names)), 2, _LARGEST_PAGE)
    end_of_data = sections.end
    add(".note.stapsdt", 7, 0, notes, 4)
    names_of_sections = b"\0" + b"".join(
        row[0].encode() + b"\0" for row in sections.rows[1:]) + b".shstrtab\0"
    add(".shstrtab", 3, 0, names_of_sections, 1)
    places["numbers"] = {name: sections.number(name) for name in (".text", ".probes")}

    table = _aligned(sections.end, 8)
    content = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 3, machine.number, 1, 0, 64,
                          table, 0, 64, 56, 5, 64, len(sections.rows), len(sections.rows) - 1)
    for kind, flags, offset, shift, size, align in (
            (1, 5, 0, 0, end_of_code, _LARGEST_PAGE),
            (1, 6, data, _LARGEST_PAGE, end_of_data - data, _LARGEST_PAGE),
            (2, 6, data, _LARGEST_PAGE, len(dynamic), 8),
            (0x6474e550, 4, places[".eh_frame_hdr"], 0, len(frame_header), 4),
            (0x6474e551, 6, 0, 0, 0, 16)):  # stacks need no code
        content += struct.pack("<IIQQQQQQ", kind, flags, offset, offset + shift, offset + shift, size,
                               size, align)
    for row in sections.rows[1:]:
        content = content.ljust(row[4], b"\0") + row[5]
    content = content.ljust(table, b"\0")
    for name, kind, flags, address, offset, bytes_of, link, info, entry, align in sections.rows:
        content += struct.pack("<IIQQQQIIQQ", names_of_sections.index(name.encode() + b"\0"), kind,
                               flags, address, offset, len(bytes_of), link, info, align, entry)
    return content


# Profiles

class ProfileError(Exception):
    """auger has answered, and it is no profile: what it says, and the status of HTTP."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def profile(socket_path, seconds=10, format="pprof"):
    """What this process does for so many seconds from now on: its samples, as bytes.

    `socket_path` is where a running auger serves (`serve unix:PATH`) that observes this process; it
    answers root, the user that it runs as, and who called sudo. `format` is "pprof" (gzipped
    profile.proto), "otlp" (OpenTelemetry's ProfilesData), "collapsed" (stacks as text, a line each,
    with a count), or "perf-script" (wall-clock time, as the text of perf script). Threads other than
    the caller's go on meanwhile.

    Raises OSError where nobody listens or answers, ValueError, and ProfileError.
    """
    import http.client
    import json
    import socket

    if not 0 < seconds <= 600:
        raise ValueError("seconds is a number above 0, up to 600")
    socket_path = os.fsdecode(socket_path)
    if socket_path.startswith("unix:"):  # as `serve` says it
        socket_path = socket_path[len("unix:"):]
    query = f"?seconds={seconds:.6f}&pid=self"
    resources = {"pprof": "/debug/pprof/profile" + query, "otlp": "/profile.otlp" + query,
                 "collapsed": "/profile.folded" + query, "perf-script": "/sample"}
    if format not in resources:
        raise ValueError(f"format is one of {', '.join(resources)}")
    body = None
    if format == "perf-script":
        body = json.dumps({"numberOfSamples": max(1, round(seconds * 100)), "timeInterval": "10 ms",
                           "pid": "self"})

    class Connection(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(socket_path)

    # It waits for names, and for its turn to be written, once the time is over.
    connection = Connection("localhost", timeout=seconds + 75)
    try:
        connection.request("GET" if body is None else "POST", resources[format], body)
        answer = connection.getresponse()
        content = answer.read()
    except http.client.HTTPException as error:
        if isinstance(error, OSError):
            raise
        raise ConnectionError(f"no answer of auger's: {error!r}") from error
    finally:
        connection.close()
    if answer.status != 200:
        raise ProfileError(answer.status, content.decode("utf-8", "replace").strip())
    return content
