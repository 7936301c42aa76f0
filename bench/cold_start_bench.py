#!/usr/bin/env python3
"""cold_start_bench.py [--quick] [--part NAME]... [--rounds N]

Measures the delays of a start without any known keys: the keys of new accounts, from a PLC directory that takes some
milliseconds to answer; and the repositories of one large host, compared with those of three hosts. Everything is on
loopback, with PostgreSQL on the same machine. bench/README.md explains the results. Needs a release build.

  --quick        a small workload, which takes seconds and shows only that the benchmark works
  --part         keys or hosts; may be repeated (default: both)
  --accounts     unknown accounts that write (keys; default 2000)
  --plc-delay    the directory's response time in milliseconds (keys; default 10)
  --rate         events a second (keys; default 2000)
  --records      records of all repositories (hosts; default 300000), in so many --repositories (default 300)
  --rounds       of each part (default 3)

Example: bench/cold_start_bench.py --part keys --rounds 1
"""

import json
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests/e2e"))

from harness import BIN, Program, wait_for  # noqa: E402
from live_bench import Server, cpu_of, migrated  # noqa: E402
from options import parse, parser_of  # noqa: E402
from report import Report  # noqa: E402
from test_sim import Network  # noqa: E402


def key_count(db):
    return int(db.run("select count(*) from skua.identities"))


def keys(server, options, report):
    """A relay that sends all its accounts' frames at once, and continues at the live rate until all keys are known."""
    network = Network("--accounts", options.accounts, "--even", "--oddities", 0, "--one-op-a-path", "--rate",
                      options.rate, "--plc-delay", options.plc_delay)
    try:
        # Every account has written something before the first frame is read.
        wait_for("all accounts", seconds=600,
                 condition=lambda: network.state()["events"] >= 5 * options.accounts)
        db = migrated(server, "keys")
        wanted = len(network.repos("relay"))
        program = Program(
            [BIN / "skua", "run", "--relay", network.url, "--plc", network.ready["plc"], "--allow-private-hosts",
             "--database", db.url, "--cursor", "oldest", "--verify", "full", "--handles", "claimed",
             "--log-level", "warn"])
        try:
            wait_for("the first request", lambda: network.state()["plc"]["requests"], every=0.01, alive=[program])
            start = time.monotonic()
            # Keys of accounts that have not written yet are not requested.
            wait_for("all keys", lambda: key_count(db) >= 0.999 * wanted, seconds=600, every=0.05, alive=[program])
            seconds = time.monotonic() - start
            load = network.state()["plc"]
            network.control("/pause")
            code = program.stop(seconds=60)
            if code != 0:
                raise SystemExit(f"skua ended with {code}:\n{program.tail()}")
        finally:
            program.kill()
        figures = json.loads(db.run("select metrics from skua.metrics where source <> 'backfill'"))
        print(f"  all keys           {report.figure('all keys', seconds, '8.1f')} s   ({load['requests']} requests: {load['most_in_a_second']} in one"
              f" second and {load['most_at_once']} at once, at most)", flush=True)
        print(f"  frame to commit    {report.figure('p99', figures['commit_ms_p99'], '8.0f')} ms p99,"
              f" {report.figure('p50', figures['commit_ms_p50'], '.0f')} ms p50   ({figures['events']} events, {figures['in_flight']} frames left in flight)", flush=True)
    finally:
        network.kill()


def bring_in(server, hosts, options, report):
    """`skua backfill` of a whole network with this number of hosts. Returns records per second of the whole
    process."""
    network = Network("--accounts", options.repositories, "--records", options.records, "--even", "--oddities", 0, "--rate", "0.001",
                      "--one-op-a-path", "--hosts", hosts)
    try:
        network.control("/pause")
        db = migrated(server, "hosts")
        server.admin().run("checkpoint")
        server_before, start = server.cpu(), time.monotonic()
        program = Program(
            [BIN / "skua", "backfill", "--network", "--relay", network.ready["relay"], "--plc", network.ready["plc"],
             "--allow-private-hosts", "--database", db.url, "--log-level", "warn"])
        skua_cpu = 0.0
        while program.process.poll() is None:
            skua_cpu = max(skua_cpu, cpu_of(program.process.pid)[0])
            time.sleep(0.02)
        seconds = time.monotonic() - start
        if program.wait() != 0:
            raise SystemExit(program.tail())
        sim_cpu = cpu_of(network.process.pid)[0]
        done = int(db.run("select coalesce(sum(records), 0) from skua.backfill_jobs where state = 'done'"))
        bad = db.run("select count(*) from skua.backfill_jobs where state <> 'done'")
        if bad != "0" or done < options.records:
            raise SystemExit(f"{done} records came, {bad} repositories were not done:\n{program.tail()}")
        name = f"{hosts} host" + ("s" if hosts > 1 else "")
        print(f"  {name:<18} {report.figure(name, done / seconds, '8.0f')} records/s   ({done} records in"
              f" {seconds:.1f} s; CPU: skua {skua_cpu:.1f} s, PostgreSQL {server.cpu() - server_before:.1f} s,"
              f" the hosts {sim_cpu:.1f} s with their preparation)", flush=True)
        return done / seconds
    finally:
        network.kill()


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=["keys", "hosts"])
    parser.add_argument("--accounts", type=int, default=2_000)
    parser.add_argument("--plc-delay", type=int, default=10)
    parser.add_argument("--rate", type=int, default=2_000)
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--repositories", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parse(parser, accounts=50, rate=500, records=2_000, repositories=20, rounds=1)
    parts = options.part or ["keys", "hosts"]
    server = Server(options.quick)
    try:
        if "keys" in parts:
            print(f"{options.accounts} unknown accounts, a directory that takes {options.plc_delay} ms,"
                  f" {options.rate} events/s", flush=True)
            with Report("all keys", "p99", "p50") as report:
                for _ in range(options.rounds):
                    keys(server, options, report)
        if "hosts" in parts:
            print(f"{options.records} records of {options.repositories} accounts", flush=True)
            with Report("3 hosts", "1 host", "ratio") as report:
                ratios = []
                for _ in range(options.rounds):
                    three = bring_in(server, 3, options, report)
                    one = bring_in(server, 1, options, report)
                    ratios.append(one / three)
                    print(f"  ratio              {report.figure('ratio', ratios[-1], '8.2f')}", flush=True)
            print(f"  median ratio       {statistics.median(ratios):8.2f}", flush=True)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
