#!/usr/bin/env python3
"""projection_bench.py [--quick] [--part NAME]... [--verify LEVEL] [--events N] [--loaded N] [--rounds N] [--rate N]...
                    [--flush-ms N] [--cache FOLDER]

Measures what the change log and the projections cost beside `skua run`. The cost part: CPU seconds of skua and of
PostgreSQL with an append that does nothing, with the change log, and with the change log and all projections, in
turns; the CPU seconds of plain INSERTs of the rows that the projections wrote; and bytes of WAL of a change. The lag
part: how old the changes are that the projections have not applied, at a fixed rate. bench/README.md explains the
results.

  --quick     a small workload, which takes seconds and shows only that the benchmark works
  --part      cost or lag; may be repeated (default: both)
  --verify    full, signature or none (default full); the keys are known before the measurement
  --events    record operations in the capture (default 200000)
  --loaded    rows loaded before the measurement (default 1000000)
  --rounds    repetitions of the cost part (default 3)
  --rate      record operations a second of the lag part; may be repeated: the first rate with a lag below a second is
              the last (default 10000, 5000 and 2500)
  --seconds   of each rate (default 30)
  --flush-ms  delays each flush of the WAL by so many milliseconds: the server's commit_delay (default 0)
  --cache     the folder that keeps the capture for the next run (default: build/bench; with --quick none)

Example: bench/projection_bench.py --part cost --events 100000 --rounds 1
"""

import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import threading
import time

import live_bench
from live_bench import BIN, CACHE, Server, check_complete, dids_in, frame_count, head, index, load, migrated, people
from options import parse, parser_of
from report import Report

PROJECTIONS = ("actor_stats", "notifications", "post_rules", "post_stats", "tag_trends")
TABLES = (*PROJECTIONS, "counted_tags")
# The signature of the migration; the transaction then appends nothing.
NO_APPEND = """do $$ begin execute (select format('create or replace function skua.append_changes(%s) returns int8 language sql
as ''select 0::int8''', pg_get_function_arguments(oid)) from pg_proc where proname = 'append_changes'); end $$"""
WAL = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8"
BEHIND = "select coalesce(max(skua.change_log_end() - pos), 0) from skua.consumer_lanes"


def skua(db, *arguments):
    subprocess.run([BIN / "skua", *arguments, "--database", db.url], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def built(server, name, template):
    """A copy of a database, with all projections."""
    db = server.create(name, template)
    for projection in PROJECTIONS:
        skua(db, "consumers", "add", projection)
    skua(db, "consumers", "run-until-idle")
    db.run("vacuum (freeze, analyze)")


# --- the cost

def tables_of(db):
    """The table of each projection, its key, and its other columns."""
    names = ", ".join(f"'{name}'" for name in TABLES)
    return db.rows(
        "select c.relname as name, string_agg(quote_ident(a.attname), ', ') filter (where a.attnum = any (i.indkey)) as key, "
        "string_agg(quote_ident(a.attname), ', ') filter (where not a.attnum = any (i.indkey)) as rest "
        "from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary join pg_attribute a on a.attrelid = c.oid "
        f"and a.attnum > 0 where c.relnamespace = 'skua'::regnamespace and substring(c.relname from '^(.*)_[0-9]+$') in ({names}) "
        "group by 1 order by 1")


def plain_writes(server, db):
    """CPU seconds of the server for plain statements that write the rows by which the tables of `db` differ from the
    beginning, sorted by key. The first figure: INSERTs of new rows into empty tables. The second one: INSERTs into the
    tables of the beginning, and UPDATEs of their rows that changed."""
    limit = server.create("plain", "template_built")
    tables = tables_of(limit)
    into_empty, into_loaded = "", ""
    for table in tables:
        name, key, rest = table["name"], table["key"], table["rest"]
        limit.run(f"create unlogged table skua.{name}_end (like skua.{name})")
        source = subprocess.Popen(["psql", "-XAtqc", f"copy skua.{name} to stdout", db.url], stdout=subprocess.PIPE)
        subprocess.run(["psql", "-XAtqc", f"copy skua.{name}_end from stdin", limit.url], check=True, stdin=source.stdout)
        source.stdout.close()
        if source.wait() != 0:
            raise SystemExit(f"{name} was not copied")
        limit.run(f"create table skua.{name}_new as select e.* from skua.{name}_end e left join skua.{name} b "
                  f"using ({key}) where b is null order by {key}; "
                  f"create table skua.{name}_empty (like skua.{name} including all) with (fillfactor = 80)")
        into_empty += f"insert into skua.{name}_empty select * from skua.{name}_new;\n"
        into_loaded += f"insert into skua.{name} select * from skua.{name}_new;\n"
        if rest:
            limit.run(f"create table skua.{name}_changed as select * from (table skua.{name}_end except table skua.{name}) e "
                      f"where exists (select from skua.{name} b where row({key}) = "
                      f"row({', '.join('e.' + column for column in key.split(', '))})) order by {key}")
            both = " and ".join(f"t.{column} = c.{column}" for column in key.split(", "))
            values = ", ".join(f"{column} = c.{column}" for column in rest.split(", "))
            into_loaded += f"update skua.{name} t set {values} from skua.{name}_changed c where {both};\n"
    limit.run("vacuum (freeze, analyze); checkpoint")
    result = []
    for sql in (into_empty, into_loaded):
        before = server.cpu()
        limit.run("set synchronous_commit = off; set enable_seqscan = on;\n" + sql)
        result.append(server.cpu() - before)
    return result


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(server, frames, kind, verify, report):
    db = server.create("measured", "template_built" if kind == "projections" else "template_loaded")
    if kind == "without the log":
        db.run(NO_APPEND)
    server.admin().run("checkpoint")
    wal = int(db.run(WAL))
    measured = index(server, db, frames, verify=verify)
    check_complete(measured)
    measured.behind = int(db.run(BEHIND))
    before, own, start = server.cpu(), children_cpu(), time.monotonic()
    if kind == "projections":
        skua(db, "consumers", "run-until-idle")
    rest = server.cpu() - before, children_cpu() - own, time.monotonic() - start
    measured.wal = int(db.run(WAL)) - wal
    measured.changes = int(db.run("select skua.change_log_end() - 1"))
    measured.cpu = measured.skua_cpu + measured.server_cpu + rest[0] + rest[1]
    changes = report.figure(f"changes {kind}", measured.changes, "d", positive=kind != "without the log")
    print(f"  {kind:16} {report.figure(kind, measured.rate, '8.0f')} events/s   CPU: skua {measured.skua_cpu:5.1f} s, PostgreSQL"
          f" {measured.server_cpu:5.1f} s; WAL {measured.wal / 1e6:.0f} MB, {changes} changes", flush=True)
    if kind == "projections":
        print(f"    {measured.behind} behind at the last frame: {rest[2]:.1f} s more, CPU: skua {rest[1]:.1f} s, PostgreSQL"
              f" {rest[0]:.1f} s", flush=True)
        for name in PROJECTIONS:
            skua(db, "consumers", "verify", name, "--rows", "1000")
        measured.empty, measured.limit = plain_writes(server, db)
        print(f"    plain INSERTs of the rows: PostgreSQL {measured.empty:.1f} s into empty tables; into those of the"
              f" beginning, with UPDATEs, {measured.limit:.1f} s", flush=True)
    return measured


def say_ratio(what, ratios, report):
    print(f"  {what}: {report.figure(what, statistics.median(ratios), '.2f')}   ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


def cost(server, frames, rounds, verify):
    kinds = ("without the log", "log", "projections")
    with Report(*kinds, "WAL of a change in the log") as report:
        measure_cost(server, frames, rounds, verify, kinds, report)


def measure_cost(server, frames, rounds, verify, kinds, report):
    results = {kind: [] for kind in kinds}
    for number in range(rounds):
        for kind in kinds if number % 2 == 0 else reversed(kinds):
            results[kind].append(measure(server, frames, kind, verify, report))
    base = [measured.cpu for measured in results["without the log"]]
    for kind in kinds[1:]:
        say_ratio(f"CPU of '{kind}' by 'without the log'",
                  [measured.cpu / without for measured, without in zip(results[kind], base)], report)
    for name, what in (("empty", "empty tables"), ("limit", "the tables of the beginning")):
        seconds = [getattr(measured, name) for measured in results["projections"]]
        say_ratio(f"limit, with plain writes into {what} and no log",
                  [(without + limit) / without for without, limit in zip(base, seconds)], report)
        say_ratio(f"limit, with plain writes into {what} and the log",
                  [(log.cpu + limit) / without for log, without, limit in zip(results["log"], base, seconds)], report)
    extra = [(log.wal - without.wal) / log.changes
             for log, without in zip(results["log"], results["without the log"])]
    # A difference of two runs: of a small workload it may be negative.
    name = "WAL of a change in the log"
    print(f"  {name}: {report.figure(name, statistics.median(extra), '.0f', positive=False)} bytes")


# --- the lag

class Samples:
    """Samples the lag of each projection, once a second."""

    def __init__(self, db):
        self.db, self.seconds, self.ended = db, {name: [] for name in PROJECTIONS}, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ended.wait(1):
            names = ", ".join(f"'{name}'" for name in PROJECTIONS)
            for row in self.db.rows(f"select n as name, extract(epoch from p.lag)::float8 as lag from unnest(array[{names}]) n, "
                                    "skua.consumer_progress(n) p"):
                self.seconds[row["name"]].append(row["lag"])

    def stop(self):
        self.ended.set()
        self.thread.join()


def busy():
    """CPU seconds of the whole machine so far."""
    user, nice, system, _, _, *interrupts = map(int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def lag(server, frames, rate, seconds, verify):
    """Returns whether skua and the projections kept up with `rate` record operations a second."""
    events_a_frame = capture_events(frames) / frame_count(frames)
    db = server.create("lag", "template_built")
    part = frames.with_suffix(".lag")
    head(frames, part, int(rate * seconds / events_a_frame))
    planned = frame_count(part) * events_a_frame / rate
    samples, before, start = Samples(db), busy(), time.monotonic()
    try:
        measured = index(server, db, part, "--rate", str(rate / events_a_frame), verify=verify)
        all_cores = (busy() - before) / (time.monotonic() - start)
    finally:
        samples.stop()
        part.unlink()
    check_complete(measured)
    figures = measured.figures
    report = Report()
    # A second for the connection and the end of the process.
    keeps_up = measured.seconds < planned * 1.05 + 1
    cores = os.cpu_count()
    print(f"  {rate} events/s asked: {report.figure('events a second', measured.rate, '.0f')}/s in {measured.seconds:.1f} s of"
          f" {planned:.1f} s; from frame to commit p50 {report.figure('p50', figures['commit_ms_p50'], '.0f')} ms,"
          f" p99 {report.figure('p99', figures['commit_ms_p99'], '.0f')} ms: skua {'keeps up' if keeps_up else 'does not keep up'}", flush=True)
    print(f"    CPU: skua {measured.skua_cpu / measured.seconds:.2f}, PostgreSQL {measured.server_cpu / measured.seconds:.2f},"
          f" the sender {measured.relay_cpu / measured.seconds:.2f} of a core; the whole machine {all_cores:.2f} of {cores}",
          flush=True)
    if all_cores > 0.9 * cores:
        own = (measured.skua_cpu + measured.server_cpu + measured.relay_cpu) / measured.seconds
        print(f"    the machine is full: sender, skua and PostgreSQL use {own:.2f}, other programs {all_cores - own:.2f}", flush=True)
    for name, lags in samples.seconds.items():
        lags = lags or [math.nan]
        print(f"    {name:14} lag: median {report.figure(name, statistics.median(lags), '.2f', positive=False)} s,"
              f" at most {report.figure(name, max(lags), '.2f', positive=False)} s", flush=True)
    return keeps_up and max(map(max, samples.seconds.values())) < 1


def capture_events(frames):
    """live_bench.capture puts the number of record operations into the name."""
    return int(frames.stem.split("-")[1])


def lag_by_rate(server, frames, rates, seconds, verify):
    for rate in rates:
        if lag(server, frames, rate, seconds, verify):
            print(f"  the highest rate with a lag below a second: {rate} events/s", flush=True)
            return
    print("  no rate with a lag below a second", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=["cost", "lag"])
    parser.add_argument("--verify", choices=["full", "signature", "none"], default="full")
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--loaded", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, action="append")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--flush-ms", type=int, default=0)
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    options = parse(parser, events=1_500, loaded=2_000, rounds=1, seconds=2)
    parts = options.part or ["cost", "lag"]
    rates = options.rate or ([500] if options.quick else [10_000, 5_000, 2_500])
    server = Server(options.quick)
    try:
        frames = live_bench.capture(server.cache(options), options.events, people(options).most_subjects_new())
        load(migrated(server, "template_loaded"), options.loaded, dids_in(frames), people(options).actors)
        built(server, "template_built", "template_loaded")
        if options.flush_ms:
            server.admin().run(f"alter system set commit_delay = {options.flush_ms * 1000}; "
                               "alter system set commit_siblings = 0; select pg_reload_conf()")
        if "cost" in parts:
            print(f"cost, verify {options.verify}, {options.loaded} rows loaded", flush=True)
            cost(server, frames, options.rounds, options.verify)
        if "lag" in parts:
            print(f"lag, verify {options.verify}, {options.loaded} rows loaded", flush=True)
            lag_by_rate(server, frames, rates, options.seconds, options.verify)
    finally:
        server.destroy()
    return 0


if __name__ == "__main__":
    sys.exit(main())
