# SPDX-License-Identifier: GPL-3.0-or-later
"""databases.py AUGER [ROUNDS]: the throughput of MariaDB (sysbench) and PostgreSQL (pgbench) while a
function that every statement goes through is timed, by the way in which its end is seen, each beside
the same load in the same round with nothing timed; and beside bpftrace where that is installed. As
root. Exits with 4 when an aim was missed."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15
SECONDS = 2  # of load in each round, for each way
AIM = 0.98   # of the throughput without probes: what users get without asking for anything
OWNER = "nobody"
PATIENCE_S = 60


class Missing(Exception):
    """What it takes is not installed: with its package."""


def need(program, package, *folders):
    path = shutil.which(program, path=os.pathsep.join([os.environ["PATH"], *folders]))
    if not path:
        raise Missing(f"{program} is missing (package {package})")
    return path


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what} did not come to pass in {PATIENCE_S} s")
        time.sleep(0.05)


class Server:
    """In a folder that is its owner's, with no network. Subclasses start it and load it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="auger-bench-")
        shutil.chown(self.folder, OWNER)
        self.process = None

    def start(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class MariaDb(Server):
    NAME, FUNCTION, AIM = "MariaDB, sysbench oltp_read_only", "dispatch_command", AIM

    def __init__(self):
        self.binary = need("mariadbd", "mariadb-server-core", "/usr/sbin")
        self.client = need("mariadb", "mariadb-client-core")
        self.sysbench = need("sysbench", "sysbench")
        super().__init__()

    def open(self):
        self.socket = os.path.join(self.folder, "socket")
        self.start(self.binary, "--no-defaults", f"--user={OWNER}", f"--datadir={self.folder}",
                   f"--socket={self.socket}", "--skip-networking", "--skip-grant-tables",
                   "--innodb-buffer-pool-size=64M", f"--log-error={self.folder}/errors")
        ask = [self.client, "--no-defaults", f"--socket={self.socket}", "-e"]
        wait_until(lambda: subprocess.run([*ask, "select 1"], capture_output=True).returncode == 0,
                   "MariaDB's start")
        run(*ask, "create database sbtest")
        run(*self.command("prepare"))

    def command(self, what):
        return [self.sysbench, "oltp_read_only", f"--mysql-socket={self.socket}",
                "--mysql-user=root", "--tables=1", "--table-size=10000", "--threads=2",
                f"--time={SECONDS}", what]

    def throughput(self):
        return float(re.search(r"transactions:.*\(([\d.]+) per sec", run(*self.command("run")))[1])


class Postgres(Server):
    NAME, FUNCTION, AIM = "PostgreSQL, pgbench -S", "PortalRun", None

    def __init__(self):
        versions = "/usr/lib/postgresql"
        folders = [os.path.join(versions, version, "bin")
                   for version in sorted(os.listdir(versions) if os.path.isdir(versions) else [])]
        self.binary = need("postgres", "postgresql", *folders)
        if os.path.islink(self.binary):
            self.binary = os.path.realpath(self.binary)
        beside = os.path.dirname(self.binary)
        self.initdb = need("initdb", "postgresql", beside)
        self.pgbench = need("pgbench", "postgresql", beside)
        super().__init__()

    def open(self):
        self.as_owner = ["setpriv", f"--reuid={OWNER}", "--regid=nogroup", "--clear-groups"]
        data = os.path.join(self.folder, "data")
        run(*self.as_owner, self.initdb, "-D", data, "-U", OWNER, "-A", "trust", "--no-sync")
        self.start(*self.as_owner, self.binary, "-D", data, "-k", self.folder,
                   "-c", "listen_addresses=", "-c", "fsync=off")
        prepare = [*self.as_owner, self.pgbench, "-h", self.folder, "-i", "-q", "-s", "1", "postgres"]
        wait_until(lambda: subprocess.run(prepare, capture_output=True).returncode == 0,
                   "PostgreSQL's start")

    def throughput(self):
        said = run(*self.as_owner, self.pgbench, "-h", self.folder, "-n", "-S", "-c", "2",
                   "-T", str(SECONDS), "postgres")
        return float(re.search(r"tps = ([\d.]+)", said)[1])


class Auger:
    """A console that is fed with commands, and its answers in JSON."""

    def __init__(self, auger, pid):
        self.process = subprocess.Popen([auger, "--batch", "--json", "--keep-going", "-p", str(pid),
                                         "-f", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, line):
        print(line, "echo end of answers", sep="\n", file=self.process.stdin, flush=True)
        answers = []
        for text in self.process.stdout:
            answer = json.loads(text)
            if answer.get("message") == "end of answers":
                return answers
            if "error" in answer:
                sys.exit(f"auger: {line}: {answer['error']}")
            answers.append(answer)
        sys.exit(f"auger ended at `{line}`")

    def returns(self, function):
        return self.ask(f"hist {function}")[-1]["count"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


def with_auger(auger, way, server):
    auger.ask(f"exit {way}")
    auger.ask(f"time {server.FUNCTION}")
    try:
        result = server.throughput()
        if not auger.returns(server.FUNCTION):
            sys.exit(f"{server.NAME}: no call of {server.FUNCTION} was counted with exit {way}")
        return result
    finally:
        auger.ask(f"delete {server.FUNCTION}")


def with_bpftrace(bpftrace, server):
    at = f"{server.binary}:{full_symbol(server)}"
    program = (f'BEGIN {{ printf("attached\\n"); }} uprobe:{at} {{ @start[tid] = nsecs; }} '
               f'uretprobe:{at} /@start[tid]/ {{ @ns = hist(nsecs - @start[tid]); '
               "delete(@start[tid]); }")
    with subprocess.Popen([bpftrace, "-e", program], stdout=subprocess.PIPE, text=True) as peer:
        for line in peer.stdout:
            if "attached" in line:
                break
        result = server.throughput()
        peer.terminate()
        if "@ns" not in peer.stdout.read():
            sys.exit(f"bpftrace counted no call of {server.FUNCTION}")
    return result


def full_symbol(server):
    """C++ names are mangled in the symbol table."""
    names = re.findall(rf"\bT (\w*{server.FUNCTION}\w*)", run("nm", "-D", server.binary))
    if len(names) != 1:
        sys.exit(f"{server.binary} has {len(names)} symbols for {server.FUNCTION}")
    return names[0]


def quartiles(values):
    return statistics.quantiles(values, n=4)


def measure(auger_binary, server, rounds):
    bpftrace = shutil.which("bpftrace")
    ways = ["auto", "cheap", "ret", "trampoline"]
    results = {way: [] for way in ["untimed", *ways, *(["bpftrace"] if bpftrace else [])]}
    auger = Auger(auger_binary, server.process.pid)
    try:
        server.throughput()  # the first statements find cold caches
        for _ in range(rounds):
            results["untimed"].append(server.throughput())
            for way in ways:
                results[way].append(with_auger(auger, way, server))
            if bpftrace:
                results["bpftrace"].append(with_bpftrace(bpftrace, server))
    finally:
        auger.close()
    met = True
    for way, values in results.items():
        ratios = [value / untimed for value, untimed in zip(values, results["untimed"])]
        low, median, high = quartiles(ratios)
        aim = ""
        if way == "auto" and server.AIM:
            met = median >= server.AIM
            aim = f"at least {server.AIM}: {'met' if met else 'missed'}"
        what = way if way in ("untimed", "bpftrace") else f"exit {way}"
        print(f"| {server.NAME} | {what} | {statistics.median(values):,.0f} | {median:.3f} | "
              f"{low:.3f}-{high:.3f} | {aim} |")
    if not bpftrace:
        print(f"| {server.NAME} | bpftrace | skipped: not installed | | | |")
    return met


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    print("\n### Throughput of databases with a function timed\n")
    print(f"`dispatch_command` and `PortalRun`; transactions a second, medians of {rounds} rounds of "
          f"{SECONDS} s each, in which the ways take turns.\n")
    print("| load | way | per second | of untimed | quartiles | aim |")
    print("|---|---|--:|--:|--:|---|")
    met = True
    for kind in (MariaDb, Postgres):
        try:
            server = kind()
        except Missing as missing:
            print(f"| {kind.NAME} | | skipped: {missing} | | | |")
            continue
        try:
            server.open()
            met = measure(sys.argv[1], server, rounds) and met
        finally:
            server.close()
    sys.exit(0 if met else 4)


main()
