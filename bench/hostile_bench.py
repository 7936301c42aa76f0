#!/usr/bin/env python3
"""hostile_bench.py [--quick] [--attack NAME]... [--seconds N]

Measures how long honest posts need from their commit to their row before, during and after attacks of accounts of the
same network. `skua run` verifies a simulated network in full, with all projections; the hostile commits have valid
signatures. bench/README.md explains the results.

  --quick      a second for each part, which shows only that the benchmark works
  --attack     values, bytes, small, identities or all; may be repeated (default: each of them)
  --seconds    the length of each part (default 20)

Example: bench/hostile_bench.py --attack values --seconds 10
"""

import contextlib
import http.client
import itertools
import json
import math
import statistics
import sys
import threading
import time

from live_bench import BIN, ROOT, Program, Server, migrated
from options import parse, parser_of
from projection_bench import PROJECTIONS, skua
from report import Report

sys.path.insert(0, str(ROOT / "tests/e2e"))

import atproto  # noqa: E402

ATTACKS = ("values", "bytes", "small", "identities", "all")
HONEST = 30
HOSTILE = 50
PAUSE = 0.1  # between two honest posts


POST = "app.bsky.feed.post"
NSID = "com.example.hostile"
# The collection and the value of the hostile records of an attack, and their number in a second: the accounts write
# several megabytes a second, more than the network permits.
RECORDS = {
    "values": (POST, {"$type": POST, "text": "x", "createdAt": "2026-11-01T00:00:00Z", "values": [1] * 900_000}, 8),
    "bytes": (POST, {"$type": POST, "text": "x", "createdAt": "2026-11-01T00:00:00Z", "texts": ["x" * 9_000] * 100}, 8),
    "small": (NSID, {"$type": NSID, "values": [1] * 15_000}, 100),
}


class Control:
    """The control server of the simulated network. One thread."""

    def __init__(self, url):
        host, _, port = url.removeprefix("http://").rstrip("/").rpartition(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=120)

    def post(self, path, **body):
        self.send(path, json.dumps(body))

    def send(self, path, body):
        self.connection.request("POST", path, body)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text[:200]}")


class Keys:
    """Record keys of the present, each newer than the last."""

    def __init__(self):
        self.last = 0

    def next(self):
        self.last = max(self.last + 1, int(time.time() * 1e6))
        return atproto.tid_text(self.last << 10)


class Probe(threading.Thread):
    """Writes honest posts, and waits for the row of each."""

    def __init__(self, installation, dids):
        super().__init__(daemon=True)
        self.control = Control(installation.ready["control"])
        self.db = installation.db
        self.dids = dids
        self.keys = Keys()
        self.written = {}  # when, by text
        self.lock = threading.Lock()
        self.delays = []  # (when written, seconds)
        self.ends = False

    def run(self):
        reader = threading.Thread(target=self.read, daemon=True)
        reader.start()
        number = 0
        while not self.ends:
            number += 1
            text = f"probe {number}"
            with self.lock:
                self.written[text] = time.monotonic()
            self.control.post("/record", did=self.dids[number % len(self.dids)], collection=POST,
                              rkey=self.keys.next(),
                              value={"$type": POST, "text": text, "createdAt": "2026-11-01T00:00:00Z"})
            time.sleep(PAUSE)
        reader.join()

    def read(self):
        while not self.ends or (self.written and time.monotonic() - self.ended_at < 120):
            with self.lock:
                waiting = list(self.written)
            if waiting:
                names = ", ".join(f"'{text}'" for text in waiting)
                found = self.db.rows(f"select text from bsky.posts where text in ({names})")
                now = time.monotonic()
                with self.lock:
                    for row in found:
                        began = self.written.pop(row["text"])
                        self.delays.append((began, now - began))
            time.sleep(0.02)

    def end(self):
        self.ended_at = time.monotonic()
        self.ends = True
        self.join()
        now = time.monotonic()
        # Posts without a row count with the time for which they were waited for.
        self.delays += [(began, now - began) for began in self.written.values()]


class Attack(threading.Thread):
    """Hostile accounts: they write, or announce."""

    def __init__(self, installation, name, dids):
        super().__init__(daemon=True)
        self.control = Control(installation.ready["control"])
        self.name = name
        self.dids = dids
        self.keys = Keys()
        self.ends = False
        self.count = 0

    def a_second(self, name, began):
        """The messages of a second, or fewer if the network is slower."""
        if name == "identities":
            for did in self.dids:
                self.control.post("/identity", did=did, count=40)
                self.count += 40
            return
        collection, value, number = RECORDS[name]
        text = json.dumps({"collection": collection, "did": self.dids[ATTACKS.index(name)], "value": value})[1:]
        for _ in range(number):
            if time.monotonic() > began + 1:
                return
            self.control.send("/record", f'{{"rkey": "{self.keys.next()}", {text}')
            self.count += 1

    def run(self):
        names = ATTACKS[:-1] if self.name == "all" else (self.name,)
        for name in itertools.cycle(names):
            if self.ends:
                return
            began = time.monotonic()
            self.a_second(name, began)
            if len(names) == 1:
                time.sleep(max(0.0, began + 1 - time.monotonic()))

    def end(self):
        self.ends = True
        self.join()


class Installation:
    def __init__(self, stack, options):
        self.server = Server(options.quick)
        stack.callback(self.server.destroy)
        self.db = migrated(self.server, "hostile")
        for projection in PROJECTIONS:
            skua(self.db, "consumers", "add", projection)
        self.network = self.start(stack, BIN / "skua-sim", "--accounts", 500, "--records", 5_000, "--even", "--rate", 50,
                                  "--plc-delay", 20, "--oddities", 0)
        self.ready = self.network.first_json(seconds=120)
        self.run = self.start(stack, BIN / "skua", "run", "--database", self.db.url, "--relay", self.ready["url"], "--plc",
                              self.ready["plc"], "--allow-private-hosts", "--handles", "claimed", "--verify", "full",
                              "--http", "127.0.0.1:0")

    @staticmethod
    def start(stack, *arguments):
        program = Program([str(one) for one in arguments])
        stack.callback(program.kill)
        return program


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def measure(options, name):
    with contextlib.ExitStack() as stack:
        installation = Installation(stack, options)
        deadline = time.monotonic() + 120
        dids = []
        while len(dids) < HONEST + HOSTILE:
            if time.monotonic() > deadline:
                raise SystemExit("the network has too few accounts")
            time.sleep(0.5)
            rows = installation.db.rows("select distinct did from skua.repositories where rev is not null order by did")
            dids = [row["did"] for row in rows]
        probe = Probe(installation, dids[:HONEST])
        probe.start()
        marks = [time.monotonic()]
        time.sleep(options.seconds)
        attack = Attack(installation, name, dids[HONEST:HONEST + HOSTILE])
        marks.append(time.monotonic())
        attack.start()
        time.sleep(options.seconds)
        attack.end()
        marks.append(time.monotonic())
        time.sleep(options.seconds)
        probe.end()
        if installation.run.process.poll() is not None:
            raise SystemExit(f"skua run has ended:\n{installation.run.tail()}")
        marks.append(math.inf)
        with Report(f"{name} before", f"{name} during", f"{name} after") as report:
            for part, since, until in zip(("before", "during", "after"), marks, marks[1:]):
                delays = [delay for began, delay in probe.delays if since <= began < until]
                print(f"{name:10} {part:6} {len(delays):5} posts, p50 "
                      f"{1000 * statistics.median(delays) if delays else math.nan:7.0f} ms, p99 "
                      f"{report.figure(f'{name} {part}', 1000 * quantile(delays, 0.99), '7.0f')} ms, longest "
                      f"{1000 * max(delays, default=math.nan):7.0f} ms")
        print(f"{name:10} hostile records and messages: {attack.count}")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--attack", action="append", choices=ATTACKS)
    parser.add_argument("--seconds", type=float, default=20)
    options = parse(parser, seconds=1, attack=["values"])
    for name in options.attack or ATTACKS:
        measure(options, name)


if __name__ == "__main__":
    main()
