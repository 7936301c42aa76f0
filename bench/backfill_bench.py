#!/usr/bin/env python3
"""backfill_bench.py [--quick] [--part NAME]... [--records N] [--accounts N] [--loaded N] [--rounds N]
                  [--cache FOLDER]

Measures backfills from repositories on disk to durable rows, with PostgreSQL on the same machine: records per
second, with each repository checked completely (hashes, tree, signature), compared with plain COPY of the same rows
into the same tables in the same run; bytes per record; the memory for a repository of a million records; and the
delay of live events during a backfill. bench/README.md explains the results. Needs a release build, and about ten GB
of disk.

  --quick     a small workload, which takes seconds and shows only that the benchmark works
  --part      loaded: a database with rows and all its indexes; bootstrap: an empty one, with --bootstrap; large: one
              repository of --large records (default 1000000); beside: the stream at 2,000 events/s and a backfill in one process,
              both verified (default: all)
  --records   in all repositories together (default 1000000)
  --accounts  repositories (default 2000: 500 records each, as in the network)
  --loaded    rows loaded before the measurement (default 5000000)
  --rate      events a second of the stream (default 2000), for --seconds (default 40)
  --statements  print the cost of each statement of the parts loaded and bootstrap: time, blocks and bytes of WAL a thousand
              records. Needs pg_stat_statements, which makes PostgreSQL slower
  --cache     the folder that keeps the repositories for the next run (default: build/bench; with --quick none)

Example: bench/backfill_bench.py --part loaded --rounds 1
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import statements  # noqa: E402
from live_bench import (  # noqa: E402
    BIN, CACHE, People, Server, capture, check_complete, cpu_of, dids_in, frame_count, index, know_keys, load, migrated,
    peak_memory, people, say_latency)
from options import parse, parser_of  # noqa: E402
from report import Report  # noqa: E402


def repositories(folder, records, accounts, outsiders=People.actors, seed=1, outside_share=0.8):
    """CARs with the network's mix. `outside_share` of their references name subjects of no repository."""
    path = folder / f"cars-{records}-{accounts}-{seed}{'' if outside_share else '-stored'}"
    if path.exists():
        return path
    print(f"preparing {path.name}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = pathlib.Path(tempfile.mkdtemp(prefix=path.name, dir=folder))
    done = subprocess.run(
        [BIN / "skua-sim", "--write-capture", unfinished / "frames", "--events", "1", "--dump", unfinished / "cars",
         "--did-docs", unfinished / "documents.json", "--records", str(records), "--accounts", str(accounts),
         "--seed", str(seed), "--oddities", "0", "--outsiders", str(outsiders), "--outside-share", str(outside_share)],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    unfinished.rename(path)
    return path


def dids_named(cars):
    """All accounts that the repositories name."""
    found = set()
    for car in sorted((cars / "cars").glob("*.car")):
        found.update(re.findall(rb"did:plc:[a-z2-7]{24}", car.read_bytes()))
    return sorted(did.decode() for did in found)


class Measured:
    pass


def backfill(server, db, cars, *arguments):
    """Runs `skua backfill` on the repositories, until all is durable."""
    measured = Measured()
    server_before = server.cpu()
    start = time.monotonic()
    process = subprocess.Popen(
        [BIN / "skua", "backfill", "--car-dir", cars / "cars", "--did-docs", cars / "documents.json", "--database",
         db.url, "--log-level", "warn", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    measured.memory = measured.skua_cpu = 0
    while process.poll() is None:
        try:
            measured.memory = max(measured.memory, peak_memory(process.pid))
            measured.skua_cpu = max(measured.skua_cpu, cpu_of(process.pid)[0])
        except (OSError, AttributeError):
            pass
        time.sleep(0.02)
    measured.seconds = time.monotonic() - start
    measured.output = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(measured.output)
    measured.server_cpu = server.cpu() - server_before
    measured.records = int(db.run("select sum(records) from skua.backfill_jobs where state = 'done'"))
    bad = db.run("select count(*) from skua.backfill_jobs where state <> 'done'")
    letters = db.run("select count(*) from skua.dead_letter")
    if bad != "0" or letters != "0":
        raise SystemExit(f"{bad} repositories were not done, {letters} dead letters:\n{measured.output}")
    measured.rate = measured.records / measured.seconds
    return measured


def export_rows(db, since, folder):
    """Writes the rows that were indexed since then to files, two for each table. Returns the statements that load each
    half."""
    folder.chmod(0o777)
    loads = ["", ""]
    tables = db.run("select relname from pg_class where relnamespace = 'bsky'::regnamespace and relkind = 'r' "
                    "and relname <> 'collections'").split()
    for table in tables:
        by = "id" if table == "actors" else "actor_id"
        new = "true" if table == "rkeys" else f"indexed_at >= '{since}'"
        for half in (0, 1):
            file = folder / f"{table}.{half}"
            db.run(f"copy (select * from bsky.{table} where {new} and {by} % 2 = {half} order by ctid) "
                   f"to '{file}' (format binary)")
            if file.stat().st_size > 21:
                loads[half] += f"copy bsky.{table} from '{file}' (format binary);\n"
    return loads


def copy_alone(server, loads, template):
    """Plain COPY of those rows over two connections."""
    db = server.create("copied", template)
    server.admin().run("checkpoint")
    server_before = server.cpu()
    start = time.monotonic()
    halves = [subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", db.url], stdin=subprocess.PIPE, text=True)
              for _ in loads]
    for half, sql in zip(halves, loads):
        half.stdin.write(sql)
        half.stdin.close()
    if any(half.wait() != 0 for half in halves):
        raise SystemExit("the rows could not be copied")
    return time.monotonic() - start, server.cpu() - server_before


def say(what, measured, report):
    print(f"  {what:<18} {report.figure(what, measured.rate, '8.0f')} records/s   ({measured.records} records in {measured.seconds:.1f} s; CPU: skua"
          f" {measured.skua_cpu:.1f} s, PostgreSQL {measured.server_cpu:.1f} s; RSS at most {measured.memory:.0f} MB)",
          flush=True)


def say_size(db, before, records, report):
    size = bsky_bytes(db) - before
    print(f"  on disk            {report.figure('on disk', size / records, '8.0f')} bytes a record, tables and indexes, stubs and accounts included",
          flush=True)


def bsky_bytes(db):
    return int(db.run("select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n "
                      "on n.oid = c.relnamespace where n.nspname = 'bsky' and c.relkind = 'r'"))


def part(server, cars, template, rounds, *arguments, with_statements=False):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="skua-bench-rows-"))
    try:
        with Report("skua backfill", "on disk", "plain COPY", "ratio") as report:
            for _ in range(rounds):
                part_round(server, cars, template, scratch, report, *arguments, with_statements=with_statements)
    finally:
        shutil.rmtree(scratch)


def part_round(server, cars, template, scratch, report, *arguments, with_statements):
    db = server.create("whole", template)
    before = bsky_bytes(db)
    server.admin().run("checkpoint")
    since = db.run("select clock_timestamp()")
    if with_statements:
        statements.reset(db)
    measured = backfill(server, db, cars, *arguments)
    say("skua backfill", measured, report)
    if with_statements:
        statements.say(db, measured.records, report)
    say_size(db, before, measured.records, report)
    loads = export_rows(db, since, scratch)
    seconds, cpu = copy_alone(server, loads, template)
    copied = server.database("copied")
    for table in ("likes", "posts", "actors"):
        # A backfill deletes loaded rows that are not in the account's repository.
        count = f"select count(*) from bsky.{table} where indexed_at >= '{since}'"
        if copied.run(count) != db.run(count):
            raise SystemExit(f"bsky.{table}: {copied.run(count)} of {db.run(count)} rows were copied")
    copy = measured.records / seconds
    print(f"  plain COPY         {report.figure('plain COPY', copy, '8.0f')} records/s   (the same rows, into the same indexes,"
          f" two connections; CPU: PostgreSQL {cpu:.1f} s)", flush=True)
    print(f"  ratio              {report.figure('ratio', measured.rate / copy, '8.2f')}", flush=True)


def beside(server, frames, cars, template, rate, seconds):
    """The stream, with the repositories queued as after a `skua backfill` that was stopped."""
    db = server.create("beside", template)
    know_keys(db, cars / "documents.json")
    files = "".join(f"{car.stem}\t{car}\n" for car in sorted((cars / "cars").glob("*.car")))
    db.run("create temp table given (did text, file text);\n"
           "copy given from stdin;\n" + files + "\\.\n"
           "insert into skua.backfill_jobs (did, file, created_at, next_attempt) select did, file, now(), now() from given")
    events_a_frame = rate * seconds / frame_count(frames)
    measured = index(server, db, frames, "--rate", str(rate / events_a_frame), verify="full")
    check_complete(measured)
    say_latency(measured)
    records = int(db.run("select coalesce(sum(records), 0) from skua.backfill_jobs where state = 'done'"))
    bad = db.run("select count(*) from skua.backfill_jobs where state not in ('done', 'queued')")
    if bad != "0" or records == 0:
        raise SystemExit(f"{records} records of history were brought in, {bad} repositories were not done")
    with Report() as report:
        print(f"  beside them          {report.figure('beside them', records / measured.seconds, '8.0f')} records/s of history"
              f"   ({records} records in {measured.seconds:.1f} s)", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=["loaded", "bootstrap", "large", "beside"])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--accounts", type=int, default=2_000)
    parser.add_argument("--loaded", type=int, default=5_000_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=2_000)
    parser.add_argument("--seconds", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    parser.add_argument("--statements", action="store_true")
    options = parse(parser, records=2_000, accounts=20, loaded=2_000, large=2_000, rate=500, seconds=1, rounds=1)
    parts = options.part or ["loaded", "bootstrap", "large", "beside"]
    actors = people(options).actors
    server = Server(options.quick)
    cache = server.cache(options)
    try:
        if options.statements:
            statements.prepare(server)
        cars = repositories(cache, options.records, options.accounts, actors)
        if "loaded" in parts:
            print(f"{options.records} records of {options.accounts} accounts, {options.loaded} rows loaded", flush=True)
            db = migrated(server, "loaded")
            load(db, options.loaded, dids_named(cars), actors)
            part(server, cars, "loaded", options.rounds, with_statements=options.statements)
        if "bootstrap" in parts:
            print(f"{options.records} records of {options.accounts} accounts into an empty database, --bootstrap",
                  flush=True)
            migrated(server, "empty")
            part(server, cars, "empty", options.rounds, "--bootstrap", with_statements=options.statements)
        if "large" in parts:
            print(f"one repository of {options.large} records", flush=True)
            large = repositories(cache, options.large, 1, actors)
            measured = backfill(server, migrated(server, "large"), large)
            with Report() as report:
                say("skua backfill", measured, report)
        if "beside" in parts:
            # With another seed: other accounts.
            frames = capture(cache, options.rate * options.seconds, people(options).most_subjects_new(), seed=2)
            print(f"{options.rate} events/s and history at once, {options.loaded} rows loaded", flush=True)
            db = migrated(server, "mixed")
            load(db, options.loaded, sorted(set(dids_in(frames)) | set(dids_named(cars))), actors)
            beside(server, frames, cars, "mixed", options.rate, options.seconds)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
