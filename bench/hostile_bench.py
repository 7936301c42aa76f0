#!/usr/bin/env python3
"""hostile_bench.py [--quick] [--part NAME]... [--attack NAME]... [--seconds N] [--rate N]

Measures how much hostile accounts, hostile projections and hostile clients disturb others. `skua run` verifies a simulated network in full,
with all projections. The accounts part: how long honest posts need from their commit to their row, their notification, the
judgement of their threadgate and their event of /changes before, during and after attacks of accounts of the same network;
the hostile commits have valid signatures. The projections part: events a second, CPU, the lag of other consumers and the
latency of a reader without and with ten hostile projections. The http part: the latency of a client of `skua serve` without and
with another client that always has 200 slow queries. bench/README.md explains the results.

  --quick      a second for each measurement, which shows only that the benchmark works
  --part       accounts, projections or http; may be repeated (default: all)
  --attack     values, bytes, small, letters, gates, identities or all; may be repeated (default: each of them)
  --seconds    the length of each measurement (default 20)
  --rate       events a second of the projections part (default 300)

Example: bench/hostile_bench.py --part accounts --attack values --seconds 10
"""

import collections
import contextlib
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from live_bench import BIN, ROOT, Program, Server, cpu_of, migrated, wait_for
from options import parse, parser_of
from projection_bench import PROJECTIONS, skua
from report import Report
from served_data import ServedData

sys.path.insert(0, str(ROOT / "tests/e2e"))

import hostile_projections  # noqa: E402
from changes import served_url  # noqa: E402
from hostile_accounts import ATTACKS, HONEST, HOSTILE, Attack, Probe, quantile  # noqa: E402


PARTS = ["accounts", "projections", "http"]


class Installation:
    def __init__(self, stack, options, rate=50):
        self.server = Server(options.quick)
        stack.callback(self.server.destroy)
        self.db = migrated(self.server, "hostile")
        for projection in PROJECTIONS:
            skua(self.db, "consumers", "add", projection)
        self.network = self.start(stack, BIN / "skua-sim", "--accounts", 500, "--records", 5_000, "--even", "--rate", rate,
                                  "--plc-delay", 20, "--oddities", 0)
        self.ready = self.network.first_json(seconds=120)
        self.run = self.start(stack, BIN / "skua", "run", "--database", self.db.url, "--relay", self.ready["url"], "--plc",
                              self.ready["plc"], "--allow-private-hosts", "--handles", "claimed", "--verify", "full",
                              "--http", "127.0.0.1:0")

        self.serve = self.start(stack, BIN / "skua", "serve", "--database", self.db.url, "--listen", "127.0.0.1:0")

    def served(self):
        """The URL of the change feed."""
        return wait_for("the server of changes", lambda: served_url(self.serve), seconds=60)

    @staticmethod
    def start(stack, *arguments):
        program = Program([str(one) for one in arguments])
        stack.callback(program.kill)
        return program


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
        probe = Probe(installation.ready["control"], installation.db, dids[:HONEST], installation.served())
        probe.start()
        marks = [time.monotonic()]
        time.sleep(options.seconds)
        attack = Attack(installation.ready["control"], name, dids[HONEST:HONEST + HOSTILE])
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
        parts = dict(zip(("before", "during", "after"), zip(marks, marks[1:])))
        with Report(*(f"{name} {kind} {part}" for kind in probe.delays for part in parts)) as report:
            for kind, all_delays in probe.delays.items():
                for part, (since, until) in parts.items():
                    delays = [delay for began, delay in all_delays if since <= began < until]
                    print(f"{name:10} {kind:12} {part:6} {len(delays):5}, p50 "
                          f"{1000 * statistics.median(delays) if delays else math.nan:7.0f} ms, p99 "
                          f"{report.figure(f'{name} {kind} {part}', 1000 * quantile(delays, 0.99), '7.0f')} ms, longest "
                          f"{1000 * max(delays, default=math.nan):7.0f} ms")
        print(f"{name:10} hostile records and messages: {attack.count}")


# --- hostile projections

READER = """select p.rkey, p.text, s.likes from bsky.posts p left join bsky.post_stats s using (actor_id, rkey)
where p.actor_id = 1 + {number} % (select max(id) from bsky.actors) and p.cid is not null order by p.rkey desc limit 20;
"""
# The time in which the tables of the hostile projections are built.
BUILD_SECONDS = 40
# The projections that the figures of the lag concern.
OTHERS = f"""select coalesce(max(skua.change_log_end() - l.pos), 0) from skua.consumer_lanes l join skua.consumers c on c.id = l.consumer_id
where c.role = 'live' and c.name <> all ('{{{", ".join(hostile_projections.NAMES)}}}'::text[])"""
# The work of a session by its name. The sessions of projections of users are "skua own" and "skua slow".
SESSIONS = """select pid, case when application_name ~ '^skua (own|slow) ' then 'users'
  when application_name ~ '^skua (consumers|projections)' then 'built-in' else 'ingest' end as work
from pg_stat_activity where datname = current_database() and application_name ~ '^skua '"""


class Samples(threading.Thread):
    """Reads ten times a second: the delays of a reader's query and the lag of other consumers."""

    def __init__(self, db):
        super().__init__(daemon=True)
        self.db, self.ended = db, threading.Event()
        self.delays, self.lags = [], []

    def run(self):
        with subprocess.Popen(["psql", "-XAtq", self.db.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            number = 0
            while not self.ended.wait(0.1):
                number += 7
                began = time.monotonic()
                self.ask(reader, READER.format(number=number))
                self.delays.append(time.monotonic() - began)
                self.lags.append(int(self.ask(reader, OTHERS + ";\n")[0]))
            reader.stdin.close()

    @staticmethod
    def ask(reader, query):
        reader.stdin.write(query + "\\echo the end\n")
        reader.stdin.flush()
        return list(iter(lambda: reader.stdout.readline().rstrip("\n"), "the end"))

    def end(self):
        self.ended.set()
        self.join()


def cpu_by_work(installation):
    """CPU seconds of `skua run`, and of its sessions by their work."""
    cpu = {"skua run": cpu_of(installation.run.process.pid)[0], "ingest": 0.0, "built-in": 0.0, "users": 0.0}
    for row in installation.db.rows(SESSIONS):
        cpu[row["work"]] += cpu_of(row["pid"])[0]
    return cpu


def measure_beside(installation, name, seconds, report):
    """A line of figures of `seconds`."""
    db = installation.db
    changes = "select skua.change_log_end()"
    samples = Samples(db)
    before, first, began = cpu_by_work(installation), db.value(changes), time.monotonic()
    samples.start()
    time.sleep(seconds)
    samples.end()
    took, last, after = time.monotonic() - began, db.value(changes), cpu_by_work(installation)
    # A session that has ended takes its CPU seconds with it.
    cpu = {work: max(0.0, after[work] - before[work]) / took for work in before}
    print(f"  {name:8} {report.figure(f'changes {name}', (last - first) / took, '6.1f')} changes/s;"
          f" CPU: skua run {report.figure(f'CPU {name}', cpu['skua run'], '.2f')}, PostgreSQL for ingest {cpu['ingest']:.2f},"
          f" built-in projections {cpu['built-in']:.2f}, projections of users {cpu['users']:.2f};"
          f" lag of others p50 {statistics.median(samples.lags):.0f},"
          f" at most {report.figure(f'lag {name}', max(samples.lags), 'd', positive=False)} changes;"
          f" reader p50 {report.figure(f'reader p50 {name}', 1000 * statistics.median(samples.delays), '.2f')} ms,"
          f" p99 {report.figure(f'reader p99 {name}', 1000 * quantile(samples.delays, 0.99), '.2f')} ms", flush=True)


def beside_projections(options):
    names = ("without", "with", "after")
    with contextlib.ExitStack() as stack:
        installation = Installation(stack, options, options.rate)
        db = installation.db
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        honest = folder / "liked.sql"
        honest.write_text(hostile_projections.HONEST)
        skua(db, "projection", "add", honest)
        skua(db, "consumers", "add", "liked")
        wait_for("the first changes", lambda: db.value("select skua.change_log_end() > 1"), seconds=120, alive=[installation.run])
        skua(db, "consumers", "wait", "liked")
        report = stack.enter_context(Report(*(f"{figure} {name}" for name in names for figure in
                                              ("changes", "CPU", "lag", "reader p50", "reader p99"))))
        measure_beside(installation, "without", options.seconds, report)
        # They do not stop during the measurement.
        hostile_projections.add(lambda *arguments: skua(db, *arguments), db, folder,
                                ("batch=16", "max_attempts=1000000", "retry_ms=50", "max_retry_ms=100"), BUILD_SECONDS,
                                BUILD_SECONDS * options.rate)
        end = db.value("select skua.change_log_end()") + BUILD_SECONDS * options.rate
        wait_for("the builds", lambda: hostile_projections.are_built(db), seconds=300, alive=[installation.run])
        hostile_projections.turn_hostile(db)
        wait_for("their attacks", lambda: db.value("select skua.change_log_end()") > end, seconds=600, alive=[installation.run])
        measure_beside(installation, "with", options.seconds, report)
        for name in hostile_projections.NAMES:
            skua(db, "consumers", "set", name, "--set", "max_attempts=2")
        wait_for("their ends", lambda: not hostile_projections.unmet(hostile_projections.listed(BIN / "skua", db)), seconds=600,
                 alive=[installation.run], every=1)
        measure_beside(installation, "after", options.seconds, report)
        for name, consumer in hostile_projections.listed(BIN / "skua", db).items():
            if name in hostile_projections.NAMES:
                print(f"    {name:12} {consumer['state']:8} {consumer['dead_letters']} letters  {consumer['reason'][:110]}")


# --- hostile clients

SLOW = ("/query/most-liked", "/query/most-followed", "/query/engagement?account=bsky.app")
# The connections of the hostile client.
HOSTILE_REQUESTS = 200


class Flood:
    """A client with an address of its own, which asks the next slow question as soon as one is answered."""

    def __init__(self, data, requests):
        self.data, self.ended, self.answers = data, threading.Event(), collections.Counter()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(requests)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def run(self, number):
        while not self.ended.is_set():
            try:
                status, _, _ = self.data.get(SLOW[number % len(SLOW)], "127.0.0.2")
            except OSError:  # the server has too many connections
                status = 0
            self.answers[status] += 1
            if status != 200:
                self.ended.wait(1)

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def delays_of_client(data, seconds):
    """{name: seconds of each answer}"""
    did, _, rkey = data.post.removeprefix("at://").split("/")
    asked = {"getRecord": ("/xrpc/com.atproto.repo.getRecord", {"repo": did, "collection": "app.bsky.feed.post", "rkey": rkey}),
             "query": ("/query/timeline", {"account": data.account})}
    delays, deadline = {name: [] for name in asked}, time.monotonic() + seconds
    while time.monotonic() < deadline:
        for name, (path, parameters) in asked.items():
            status, took, body = data.get(path, "127.0.0.1", **parameters)
            if status != 200:
                raise SystemExit(f"{path}: {status} {body}")
            delays[name].append(took)
        time.sleep(0.05)
    return delays


def beside_clients(options):
    parts = ("without", "with", "after")
    records, accounts = (20_000, 2_000) if options.quick else (1_000_000, 60_000)
    with contextlib.ExitStack() as stack:
        data = ServedData(stack, options.quick, records, accounts)
        report = stack.enter_context(Report(*(f"{name} {part}" for name in ("getRecord", "query") for part in parts)))
        for part in parts:
            flood = Flood(data, HOSTILE_REQUESTS if part == "with" else 0)
            flood.start()
            delays = delays_of_client(data, options.seconds)
            flood.end()
            for name, of_name in delays.items():
                print(f"  {part:8} {name:10} {len(of_name):5}, p50 {1000 * statistics.median(of_name):7.2f} ms, p99 "
                      f"{report.figure(f'{name} {part}', 1000 * quantile(of_name, 0.99), '7.2f')} ms, longest "
                      f"{1000 * max(of_name):7.2f} ms", flush=True)
            if flood.answers:
                print(f"  the hostile client: {flood.answers[200]} answers, {flood.answers[429]} times 429, {flood.answers[503]} "
                      f"times 503", flush=True)
        slow = [data.get(path, "127.0.0.2")[1] for path in SLOW]
        print("  its questions take alone: " + ", ".join(f"{1000 * seconds:.0f} ms" for seconds in slow))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--attack", action="append", choices=ATTACKS)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=int, default=300)
    options = parse(parser, seconds=1, attack=["values"], rate=50)
    parts = options.part or PARTS
    if "accounts" in parts:
        for name in options.attack or ATTACKS:
            measure(options, name)
    if "projections" in parts:
        beside_projections(options)
    if "http" in parts:
        beside_clients(options)


if __name__ == "__main__":
    main()
