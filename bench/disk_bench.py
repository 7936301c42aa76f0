#!/usr/bin/env python3
"""disk_bench.py [--quick] [--cars FOLDER]... [--frames FILE]... [--program FILE] [--events N] [--records N]
              [--bootstrap]

Prints the bytes a record of sets of repositories and captures, by table: rows, indexes, TOAST, and the pages of tables
without rows. Then it builds all projections and prints the same for their tables. bench/README.md explains the results. Needs a release build.

  --quick      a small simulated network, and small repositories with --bootstrap
  --cars       a folder of CAR files, one repository each (default of all sets: the shared test data)
  --frames     a capture of a relay
  --program    another skua, to compare (default: that of the release build)
  --events     a set of its own: so many operations of a simulated network
  --records    a set of its own: simulated repositories with so many records, 500 each. All their subjects are in the set
  --bootstrap  load the repositories with `skua backfill --bootstrap`; for sets of one folder
  --cache      the folder that keeps captures and repositories for the next run (default: build/bench; with --quick none)

Example: bench/disk_bench.py --records 300000 --bootstrap
"""

import collections
import os
import pathlib
import subprocess
import sys

from backfill_bench import repositories
from live_bench import BIN, CACHE, Server, capture, people
from options import parse, parser_of
from report import Report

# live_bench makes the modules of tests/e2e importable.
from harness import SHARED  # noqa: E402

SIZES = """
select c.relname as table,
  case when s.is_empty then 0 else pg_total_relation_size(c.oid) - pg_indexes_size(c.oid) - s.toast end as rows,
  case when s.is_empty then 0 else pg_indexes_size(c.oid) end as indexes,
  case when s.is_empty then 0 else s.toast end as toast,
  case when s.is_empty then pg_total_relation_size(c.oid) else 0 end as empty
from pg_class c join pg_namespace n on n.oid = c.relnamespace
cross join lateral (
  select coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) as toast,
    pg_relation_size(c.oid) = 0 as is_empty) s
where n.nspname = 'bsky' and c.relkind = 'r'
order by pg_total_relation_size(c.oid) desc
"""
PROJECTIONS = ("post_stats", "actor_stats", "post_rules", "notifications", "tag_trends")
PARTS = ("rows", "indexes", "toast", "empty")


def print_sizes(db, most=None):
    """Prints the bytes a record of all tables of `bsky`, and of each of the largest `most` tables. Run vacuum before."""
    records = int(db.run("select count(*) from bsky.all_records"))
    sizes = db.rows(SIZES)
    total = collections.Counter({part: sum(size[part] for size in sizes) for part in PARTS})
    with Report() as report:
        print(f"    {report.figure('bytes a record', sum(total.values()) / records, '.1f')} bytes a record, {records} records:"
              f" {total['rows'] / records:.1f} in rows, {total['indexes'] / records:.1f} in indexes,"
              f" {total['toast'] / records:.1f} in TOAST, {total['empty'] / records:.1f} in tables without rows", flush=True)
    print(f"    {'bytes a record':24}{'all':>8}{'rows':>8}{'indexes':>8}{'TOAST':>8}{'number':>9}")
    for size in sizes[:most]:
        if size["empty"]:
            continue
        number = int(db.run(f"select count(*) from bsky.{size['table']}"))
        parts = [size[part] / records for part in PARTS[:3]]
        print(f"    {size['table']:24}{sum(parts):8.1f}" + "".join(f"{part:8.1f}" for part in parts) + f"{number:9}")


def print_packed_size(db):
    """Prints the bytes a record when the indexes have no free space, as after REINDEX or `skua backfill --bootstrap`."""
    db.run("reindex schema bsky")
    size = int(db.run("select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relnamespace = 'bsky'::regnamespace"
                      " and c.relkind = 'r'"))
    records = int(db.run("select count(*) from bsky.all_records"))
    with Report() as report:
        print(f"    {report.figure('packed bytes a record', size / records, '.1f')} bytes a record after REINDEX", flush=True)


PROJECTION_SIZES = """
select p.name, c.relname as table, greatest(c.reltuples, 0)::int8 as rows, pg_indexes_size(c.oid) as indexes,
  pg_total_relation_size(c.oid) - pg_indexes_size(c.oid) as content
from skua.consumers p join pg_class c on c.relnamespace = 'skua'::regnamespace and c.relkind = 'r'
  and c.relname ~ ('^' || p.name || '(_[a-z]+)?_' || p.id || '$')
where p.kind = 'projection' order by pg_total_relation_size(c.oid) desc
"""


def print_projections(program, db):
    """Builds all projections and prints the bytes a record of their tables."""
    skua = command_of(program, db.url)
    for name in PROJECTIONS:
        skua("consumers", "add", name)
    skua("consumers", "run-until-idle")
    db.run("vacuum analyze")
    records = int(db.run("select count(*) from bsky.all_records"))
    sizes = db.rows(PROJECTION_SIZES)
    total = sum(size["content"] + size["indexes"] for size in sizes)
    with Report() as report:
        print(f"    {report.figure('projections', total / records, '.1f')} bytes a record in projections", flush=True)
    print(f"    {'bytes a record':24}{'all':>8}{'rows':>8}{'indexes':>8}{'number':>9}")
    for size in sizes:
        content, indexes = size["content"] / records, size["indexes"] / records
        print(f"    {size['table']:24}{content + indexes:8.1f}{content:8.1f}{indexes:8.1f}{size['rows']:9}")


def sets(options, server):
    """(name of a database, folders of repositories, captures)"""
    if options.cars or options.frames:
        yield "given", options.cars, options.frames
    if options.events:
        yield "simulated", [], [capture(server.cache(options), options.events, people(options).as_simulated(), name="disk")]
    if options.records:
        folder = repositories(server.cache(options), options.records, options.records // 500, outside_share=0)
        yield "stored", [folder / "cars"], []
    if not any((options.cars, options.frames, options.events, options.records)):
        data = SHARED / "data"
        if not data.is_dir():
            raise SystemExit("no shared test data: name repositories with --cars, or use --quick")
        yield "shared", [data / "repos", data / "pds/repos"], sorted(data.glob("frames/*.frames"))


def command_of(program, url):
    """A function that runs a command of the program."""
    environment = {**os.environ, "SKUA_DATABASE_URL": url, "SKUA_ALLOW_UNSAFE_DATABASE": "true"}

    def skua(*arguments, codes=(0,)):
        done = subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            raise SystemExit(done.stderr)

    return skua


def load(program, url, cars, captures, *arguments):
    """Every repository that can be read, with these arguments of `skua backfill`, then the captures. Nothing is verified."""
    skua = command_of(program, url)
    skua("migrate")
    for folder in cars:
        # A folder may have files that are no repositories.
        skua("backfill", "--car-dir", folder, "--verify", "none", "--handles", "claimed", "--plc", "http://127.0.0.1:9",
             *arguments, codes=(0, 1))
    for frames in captures:
        skua("replay", frames, "--verify", "none", codes=(0, 1))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--cars", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--frames", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--program", type=pathlib.Path, default=BIN / "skua")
    parser.add_argument("--events", type=int)
    parser.add_argument("--records", type=int)
    parser.add_argument("--bootstrap", action="store_true")
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    options = parse(parser, events=2_000, records=2_000, bootstrap=True)
    server = Server(options.quick)
    try:
        for name, cars, captures in sets(options, server):
            if options.bootstrap and len(cars) > 1:
                raise SystemExit("--bootstrap needs an empty database, so it loads one folder only: name it with --cars, or use --records")
            db = server.create(name)
            load(options.program, db.url, cars, captures, *(["--bootstrap"] if options.bootstrap else []))
            db.run("vacuum")
            print_sizes(db)
            print_packed_size(db)
            print_projections(options.program, db)
    finally:
        server.destroy()


if __name__ == "__main__":
    sys.exit(main())
