"""The base of the end-to-end tests: databases, the real programs, and waiting for conditions.

Settings come from the environment: SKUA_TEST_DATABASE_URL (a server on which the tests may create and drop databases),
SKUA_BIN_DIR (the folder with skua and skua-sim), SKUA_TEST_MIGRATED_TEMPLATE (set by run.py), SKUA_SHARED (default ../shared), SKUA_REQUIRE_SHARED=1 and
SKUA_REQUIRE_POSTGRES=1 (tests fail without it instead of being skipped).
"""

import json
import os
import pathlib
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = pathlib.Path(os.environ.get("SKUA_BIN_DIR") or ROOT / "build/release/bin")
# The stress suite uses another build of skua than of skua-sim.
SIM = pathlib.Path(os.environ.get("SKUA_SIM") or BIN / "skua-sim")
SHARED = pathlib.Path(os.environ.get("SKUA_SHARED") or ROOT.parent / "shared")
# Debian's psql is a script that looks for clusters, which takes five times as long as the program.
PSQL = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"), key=lambda path: int(path.parts[4]), default="psql")
# Names a database with the schema on the tests' server. New databases are copies of it, which takes half the time of
# `skua migrate`.
MIGRATED_TEMPLATE = "SKUA_TEST_MIGRATED_TEMPLATE"
# Tests run beside each other, and only one process has the default port of the pages.
os.environ["SKUA_HTTP"] = "off"


def missing(what, required):
    """Skips the test, or fails it if the environment requires that nothing is missing."""
    if os.environ.get(required) == "1":
        raise AssertionError(f"needs {what}, and {required}=1 says that it must be there")
    raise unittest.SkipTest(f"needs {what}")


def need_shared():
    if not (SHARED / "data").is_dir():
        missing("../shared", "SKUA_REQUIRE_SHARED")
    return SHARED / "data"


def need_npm(folder, *packages):
    """(node, folder) with these packages of npm installed in it. Skips the test if npm or its registry cannot be used."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        raise unittest.SkipTest("needs npm (scripts/setup --with-e2e)")
    (folder / "package.json").write_text('{"private": true}')
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", *packages]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest("needs npm's registry, which cannot be reached")
    return node, folder


def need_python(folder, *packages):
    """A Python that can import these packages: this one, or a new one in `folder` with the packages of PyPI. Skips the test if
    PyPI cannot be used."""
    if subprocess.run([sys.executable, "-c", f"import {', '.join(packages)}"], capture_output=True, check=False).returncode == 0:
        return sys.executable
    python = folder / "bin/python"
    for command in ([sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "--quiet", "--retries=1", *packages]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest(f"needs the Python packages {', '.join(packages)}, and PyPI cannot be used")
    return str(python)


def server_url():
    url = os.environ.get("SKUA_TEST_DATABASE_URL")
    if not url:
        missing("SKUA_TEST_DATABASE_URL", "SKUA_REQUIRE_POSTGRES")
    return url


def with_database(url, name):
    return urllib.parse.urlunsplit(urllib.parse.urlsplit(url)._replace(path="/" + name))


def free_port():
    """A port that is unused at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


_closed = []


def closed_port():
    """A port that refuses connections as long as this process runs: no other process gets it."""
    _closed.append(socket.socket())
    _closed[-1].bind(("127.0.0.1", 0))
    return _closed[-1].getsockname()[1]


class Database:
    """SQL on one database, through the psql client."""

    # How long a call may take.
    seconds = 120

    def __init__(self, url):
        self.url = url

    def run(self, sql):
        """The output of SQL text, unaligned; raises when it fails."""
        done = subprocess.run(
            [PSQL, "-XAtq", "-v", "ON_ERROR_STOP=1", self.url],
            input=sql, capture_output=True, text=True, timeout=self.seconds, check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"psql: {done.stderr.strip()}\n{sql[:500]}")
        return done.stdout.rstrip("\n")

    def rows(self, query):
        """The rows of a query, as dictionaries."""
        text = self.run(f"select coalesce(json_agg(to_json(q)), '[]') from ({query}) q")
        return json.loads(text)

    def value(self, query):
        return json.loads(self.run(f"select to_json(({query}))") or "null")

    def drop(self):
        name = urllib.parse.urlsplit(self.url).path[1:]
        Database(with_database(self.url, "postgres")).run(f'drop database if exists "{name}" with (force)')


def wait_for(what, condition, seconds=30, every=None, alive=()):
    """Waits until the condition returns something true, and returns that. Fails at the deadline, or as soon as one of
    the programs in `alive` has ended. `every` is the pause in seconds between two looks. Without it the pause grows from
    0.05 to 0.25: a look is often a process and a session of the server, which other tests wait for."""
    start = time.monotonic()
    deadline = start + seconds
    while True:
        result = condition()
        if result:
            return result
        for program in alive:
            if program.process.poll() is not None:
                raise AssertionError(f"{program} ended while waiting for {what}:\n{program.tail()}")
        if time.monotonic() > deadline:
            tails = "\n".join(f"{program}:\n{program.tail()}" for program in alive)
            raise AssertionError(f"waited {seconds} s in vain for {what}\n{tails}")
        time.sleep(min(max(0.05, (time.monotonic() - start) / 20), 0.25) if every is None else every)


class Program:
    """A running program whose output is collected line by line."""

    def __init__(self, arguments, environment=None, cwd=None):
        self.name = pathlib.Path(str(arguments[0])).name
        self.stdout, self.stderr = [], []
        self.process = subprocess.Popen(
            [str(argument) for argument in arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            env={**os.environ, **(environment or {})}, cwd=cwd,
        )
        self._lines = queue.Queue()
        self._threads = [
            threading.Thread(target=self._collect, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.stdout), (self.process.stderr, self.stderr))
        ]
        for thread in self._threads:
            thread.start()

    def _collect(self, stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))
            if lines is self.stdout:
                self._lines.put(line)
        if lines is self.stdout:
            self._lines.put(None)

    def __str__(self):
        return f"{self.name} ({self.process.pid})"

    def output(self):
        return self.stdout + self.stderr

    def tail(self):
        return "\n".join(self.stdout[-15:] + self.stderr[-30:])

    def first_json(self, seconds=30):
        """The first line of stdout that is a JSON object."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{self} said nothing within {seconds} s:\n{self.tail()}") from None
            if line is None:
                raise AssertionError(f"{self} ended with {self.process.wait()}:\n{self.tail()}")
            if line.startswith("{"):
                return json.loads(line)

    def says(self, text):
        return any(text in line for line in self.output())

    def metrics(self):
        """Its lines of metrics: each begins with a time of day, or is indented and continues the previous one."""
        return [line for line in list(self.stdout) if re.match(r"\d\d:\d\d:\d\d  | {10}", line)]

    def reached(self, seq):
        """Whether its lines of metrics have shown this cursor."""
        return any(re.search(rf"cursor {seq}\b", line) for line in self.output())

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=30):
        """The exit code."""
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self} did not end within {seconds} s:\n{self.tail()}") from None
        for thread in self._threads:
            thread.join(timeout=5)
        return code

    def stop(self, seconds=30):
        """Requests a stop (SIGTERM); returns the exit code."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
        return self.wait()


class Sim(Program):
    """A running skua-sim. Its log has one JSON line per event, on stderr."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.ready = self.first_json()
        self.url = self.ready.get("url") or self.ready["relay"]

    def events(self, kind):
        """Its log entries of one kind: connect, fault, caught_up, disconnect, tls_refused..."""
        lines = [json.loads(line) for line in list(self.stderr) if line.startswith("{")]
        return [line for line in lines if line["event"] == kind]

    def cursors(self):
        """The cursor of each connection so far: a number, or None for live."""
        asked = [event["cursor"] for event in self.events("connect")]
        return [None if cursor is None else int(cursor) for cursor in asked]


class EndToEnd(unittest.TestCase):
    """A test with the real programs and its own databases; all of it is removed afterwards."""

    maxDiff = 4000

    def setUp(self):
        for name in ("skua", "skua-sim"):
            if not (BIN / name).exists():
                self.fail(f"no {name} in SKUA_BIN_DIR ({BIN}): scripts/build makes it")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="skua-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def binary(self, name):
        return BIN / name

    def database(self, migrated=True, server=None, template="template1"):
        """A new database, dropped at the end of the test."""
        copied = os.environ.get(MIGRATED_TEMPLATE) if migrated and not server else None
        server = server or server_url()
        name = "e2e_" + uuid.uuid4().hex[:16]
        Database(with_database(server, "postgres")).run(f"create database {name} template {copied or template}")
        database = Database(with_database(server, name))
        self.addCleanup(database.drop)
        if copied:
            database.run("update skua.database_token set token = gen_random_uuid()")
        elif migrated:
            self.skua(database, "migrate")
        return database

    def start(self, arguments, environment=None, cwd=None):
        """A program that is killed at the end of the test if it is still running."""
        program = Program(arguments, environment, cwd)
        self.addCleanup(program.kill)
        return program

    def environment(self, database):
        # Most tests have no directory for keys; tests of verification name one.
        environment = {"SKUA_VERIFY": "none"}
        if database:
            environment["SKUA_DATABASE_URL"] = database.url
        for name in ("SKUA_RELAY", "SKUA_CONFIG"):
            if name in os.environ:
                environment[name] = ""
        return environment

    def skua(self, database, *arguments, code=0, seconds=300):
        """Runs skua to its end; checks the exit code; returns the finished program."""
        program = self.start([BIN / "skua", *arguments], self.environment(database))
        got = program.wait(seconds)
        self.assertEqual(got, code, f"skua {' '.join(map(str, arguments))}:\n{program.tail()}")
        return program

    def indexer(self, database, relay, *arguments):
        """A running `skua run`."""
        command = [BIN / "skua", "run", "--relay", relay, "--stats-interval", "1", *arguments]
        return self.start(command, self.environment(database))

    def sim(self, capture, *arguments):
        """A running skua-sim that serves a capture."""
        program = Sim([BIN / "skua-sim", "--serve", capture, *arguments])
        self.addCleanup(program.kill)
        return program
