#!/usr/bin/env python3
"""tap_bench.py [--quick] [--events N] [--accounts N] [--loaded N] [--rounds N]

Measures events per second from a Tap to durable, acknowledged rows, with PostgreSQL on the same machine. Tap sends an
account's next live event only after the previous one is acknowledged, so the rate depends on many accounts in flight
and on early acks. All accounts act equally often here: otherwise the sequential commits of the busiest account would
determine the result. In the same run it measures the same events from a relay, which waits for nothing.
bench/README.md explains the results. Needs a release build.

  --quick     a small workload, which takes seconds and shows only that the benchmark works
  --events    live events (default 80000)
  --accounts  active accounts (default 2000)
  --loaded    rows loaded before the measurement (default 1000000)

Example: bench/tap_bench.py --rounds 1
"""

import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from live_bench import BIN, Server, cpu_of, load, migrated, peak_memory, people  # noqa: E402
from options import parse, parser_of  # noqa: E402
from report import Report  # noqa: E402

# live_bench adds the folder of the end-to-end tests to the path.
from harness import Program, wait_for  # noqa: E402
from test_sim import Network  # noqa: E402

STEPS_AT_ONCE = 5_000


class Source:
    """A simulated network whose events wait to be read, from a Tap and from a relay."""

    def __init__(self, events, accounts, outsiders):
        # Long enough that no event is sent again during the measurement.
        self.network = Network("--tap", "--tap-retry", 3600, "--accounts", accounts, "--records", 0, "--rate", "0.001",
                               "--oddities", 0, "--one-op-a-path", "--even", "--window-mb", 4096, "--outsiders", outsiders,
                               "--outside-share", "0.8")
        self.network.control("/pause")
        while (state := self.network.state())["events"] < events:
            self.network.control("/step", count=min(STEPS_AT_ONCE, events - state["events"] + 1))
        self.events = state["events"]

    def unacked(self):
        return self.network.state()["tap"]["unacked"]

    def arguments(self, kind):
        if kind == "tap":
            return ["--tap", self.network.ready["tap"].replace("http", "ws")]
        return ["--relay", self.network.url, "--cursor", "oldest", "--verify", "none"]

    def is_read(self, kind, program):
        if kind == "tap":
            return self.unacked() == 0
        return program.reached(self.network.state()['seq'])


def measure(server, template, source, kind, report):
    db = server.create("measured", template)
    server.admin().run("checkpoint")
    server_before = server.cpu()
    before = cpu_of(source.network.process.pid)[0]
    start = time.monotonic()
    program = Program([BIN / "skua", "run", *source.arguments(kind), "--database", db.url, "--stats-interval", "1",
                       "--log-level", "warn", "--handles", "claimed"])
    try:
        wait_for("the end", lambda: source.is_read(kind, program), seconds=600, alive=[program], every=0.1)
        seconds = time.monotonic() - start
        skua, memory = cpu_of(program.process.pid)[0], peak_memory(program.process.pid)
        if program.stop(seconds=60) != 0:
            raise SystemExit(program.tail())
    finally:
        program.kill()
    figures = json.loads(db.run("select metrics from skua.metrics where source <> 'backfill'"))
    if figures["dead_letters"] or figures["in_flight"]:
        raise SystemExit(f"not all became rows: {figures}")
    rate = figures["events"] / seconds
    print(f"  {kind:<6} {report.figure(kind, rate, '8.0f')} events/s   ({figures['events']} in {seconds:.1f} s; CPU: skua {skua:.1f} s, PostgreSQL"
          f" {server.cpu() - server_before:.1f} s, the network {cpu_of(source.network.process.pid)[0] - before:.1f} s;"
          f" from message to commit p50 {figures['commit_ms_p50']:.0f} ms; RSS {memory:.0f} MB)", flush=True)
    return rate


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=int, default=80_000)
    parser.add_argument("--accounts", type=int, default=2_000)
    parser.add_argument("--loaded", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parse(parser, events=1_000, accounts=50, loaded=1_000, rounds=1)
    server = Server(options.quick)
    actors = people(options).actors
    try:
        load(migrated(server, "loaded"), options.loaded, [], actors)
        with Report("tap", "relay", "ratio") as report:
            for _ in range(options.rounds):
                source = Source(options.events, options.accounts, actors)
                try:
                    print(f"{source.events} events of {options.accounts} accounts, {options.loaded} rows loaded", flush=True)
                    # A Tap sends its events once.
                    tap = measure(server, "loaded", source, "tap", report)
                    relay = measure(server, "loaded", source, "relay", report)
                    print(f"  ratio  {report.figure('ratio', tap / relay, '8.2f')}", flush=True)
                finally:
                    source.network.kill()
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
