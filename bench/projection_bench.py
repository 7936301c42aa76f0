#!/usr/bin/env python3
"""projection_bench.py [--events N] [--loaded N] [--rounds N] [--flush-ms N] [--cache FOLDER]

Measures what the change log and the projections cost beside `skua run`: CPU seconds of skua and of PostgreSQL with an
append that does nothing, with the change log, and with the change log and all projections, in turns; bytes of WAL of
a change; and how far behind the projections are at the last frame. bench/README.md explains the results.

  --events    record operations in the capture (default 200000)
  --loaded    rows loaded before the measurement (default 1000000)
  --rounds    repetitions of each (default 3)
  --flush-ms  delays each flush of the WAL by so many milliseconds: the server's commit_delay (default 0)
  --cache     the folder that keeps the capture for the next run (default: build/bench)

Example: bench/projection_bench.py --events 100000 --rounds 1
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import live_bench
from live_bench import BIN, ROOT, Server, check_complete, dids_in, index, load, migrated

PROJECTIONS = ("actor_stats", "notifications", "post_stats", "tag_trends")
# The signature of the migration; the transaction then appends nothing.
NO_APPEND = """do $$ begin execute (select format('create or replace function skua.append_changes(%s) returns int8 language sql
as ''select 0::int8''', pg_get_function_arguments(oid)) from pg_proc where proname = 'append_changes'); end $$"""
WAL = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8"


def skua(db, *arguments):
    subprocess.run([BIN / "skua", *arguments, "--database", db.url], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def measure(server, template, frames, kind):
    db = server.create("measured", template)
    if kind == "without the log":
        db.run(NO_APPEND)
    if kind == "projections":
        for name in PROJECTIONS:
            skua(db, "consumers", "add", name)
        skua(db, "consumers", "run-until-idle")
    server.admin().run("checkpoint")
    wal = int(db.run(WAL))
    measured = index(server, db, frames)
    check_complete(measured)
    measured.behind = int(db.run("select coalesce(max(skua.change_log_end() - pos), 0) from skua.consumer_lanes"))
    before, start = server.cpu(), time.monotonic()
    if kind == "projections":
        skua(db, "consumers", "run-until-idle")
        for name in PROJECTIONS:
            skua(db, "consumers", "verify", name, "--rows", "1000")
    measured.rest = server.cpu() - before, time.monotonic() - start
    measured.wal = int(db.run(WAL)) - wal
    measured.changes = int(db.run("select skua.change_log_end() - 1"))
    measured.cpu = measured.skua_cpu + measured.server_cpu
    print(f"  {kind:16} {measured.rate:8.0f} events/s   CPU: skua {measured.skua_cpu:5.1f} s, PostgreSQL"
          f" {measured.server_cpu:5.1f} s; WAL {measured.wal / 1e6:.0f} MB, {measured.changes} changes,"
          f" {measured.behind} behind at the end ({measured.rest[1]:.1f} s to apply and check)", flush=True)
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--loaded", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flush-ms", type=int, default=0)
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/bench")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    frames = live_bench.capture(options.cache, options.events)
    kinds = ("without the log", "log", "projections")
    results = {kind: [] for kind in kinds}
    server = Server()
    try:
        if options.flush_ms:
            server.admin().run(f"alter system set commit_delay = {options.flush_ms * 1000}; "
                               "alter system set commit_siblings = 0; select pg_reload_conf()")
        db = migrated(server, "template_loaded")
        load(server, db, options.loaded, dids_in(frames))
        for number in range(options.rounds):
            for kind in kinds if number % 2 == 0 else reversed(kinds):
                results[kind].append(measure(server, "template_loaded", frames, kind))
    finally:
        server.destroy()
    base = [measured.cpu for measured in results["without the log"]]
    for kind in kinds[1:]:
        ratios = [measured.cpu / without for measured, without in zip(results[kind], base)]
        print(f"  CPU of '{kind}' by 'without the log': {statistics.median(ratios):.2f}"
              f"   ({min(ratios):.2f} to {max(ratios):.2f})")
    extra = [(log.wal - without.wal) / log.changes
             for log, without in zip(results["log"], results["without the log"])]
    print(f"  WAL of a change in the log: {statistics.median(extra):.0f} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
