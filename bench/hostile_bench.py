#!/usr/bin/env python3
"""hostile_bench.py [--quick] [--attack NAME]... [--seconds N]

Measures how long honest posts need from their commit to their row, their notification, the judgement of their threadgate
and their event of /changes before, during and after attacks of accounts of the same network. `skua run` verifies a
simulated network in full, with all projections; the hostile commits have valid signatures. bench/README.md explains the
results.

  --quick      a second for each part, which shows only that the benchmark works
  --attack     values, bytes, small, letters, gates, identities or all; may be repeated (default: each of them)
  --seconds    the length of each part (default 20)

Example: bench/hostile_bench.py --attack values --seconds 10
"""

import contextlib
import math
import statistics
import sys
import time

from live_bench import BIN, ROOT, Program, Server, migrated, wait_for
from options import parse, parser_of
from projection_bench import PROJECTIONS, skua
from report import Report

sys.path.insert(0, str(ROOT / "tests/e2e"))

from changes import served_url  # noqa: E402
from hostile_accounts import ATTACKS, HONEST, HOSTILE, Attack, Probe, quantile  # noqa: E402


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


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--attack", action="append", choices=ATTACKS)
    parser.add_argument("--seconds", type=float, default=20)
    options = parse(parser, seconds=1, attack=["values"])
    for name in options.attack or ATTACKS:
        measure(options, name)


if __name__ == "__main__":
    main()
