#!/usr/bin/env python3
"""live_bench.py [--quick] [--part NAME]... [--verify LEVEL] [--events N] [--loaded N] [--cache FOLDER]

Measures indexing from a relay on loopback to durable rows, with PostgreSQL on the same machine: events per second,
compared with PostgreSQL alone with the same statements in the same run; the latency from frame to commit; bytes per
record; and the change of all these as tables grow. bench/README.md explains the results. Needs a release build, and
about ten GB of disk.

  --quick    a small workload, which takes seconds and shows only that the benchmark works
  --part     throughput, latency, disk or sweep; may be repeated (default: all but sweep)
  --verify   full, signature or none (default none); the keys are known before the measurement
  --events   record operations in the capture (default 400000)
  --loaded   rows loaded before the measurement (default 5000000; sweep: a fifth, all and four times as many)
  --rate     events a second of the latency part (default 2000), for --seconds (default 40)
  --cache    the folder that keeps the capture for the next run (default: build/bench; with --quick none)
  --recent-posts  subjects are mostly recent posts, as on the network: half of them are less than nine hours old (default:
             all ages up to 200 days are equally frequent)
  --statements  print the cost of each statement of `skua run` in the throughput part: time, blocks and bytes of WAL
             a thousand events. Needs pg_stat_statements, which makes PostgreSQL slower

Example: bench/live_bench.py --part latency
"""

import dataclasses
import json
import mmap
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))

from harness import BIN, Database, Program, Sim, wait_for, with_database  # noqa: E402
import statements  # noqa: E402
from options import parse, parser_of  # noqa: E402
from report import Report  # noqa: E402

CACHE = ROOT / "build/bench"
MIX = {"likes": 72, "posts": 10, "reposts": 10, "follows": 8}


# --- the workload

@dataclasses.dataclass(frozen=True)
class People:
    """Accounts that write, the records of each before the first event, and all accounts that are mentioned."""

    accounts: int = 5_000
    records: int = 1_000
    actors: int = 1_000_000

    def most_subjects_new(self, recent=False):
        """80 % of the references name subjects that were never seen before."""
        return ["--accounts", self.accounts, "--records", self.accounts * self.records, "--oddities", "0",
                "--outsiders", self.actors, "--outside-share", "0.8", *(["--recent-posts"] if recent else [])]

    def as_simulated(self):
        return ["--accounts", self.accounts]


FEW = People(accounts=50, records=20, actors=2_000)


def people(options):
    return FEW if options.quick else People()


def documents_of(frames):
    """The DID documents of a capture's accounts."""
    return frames.with_suffix(".documents.json")


def know_keys(db, documents):
    """As after `skua identity import`: no keys are requested."""
    lines = []
    for document in json.loads(documents.read_text()):
        key = document["verificationMethod"][0]["publicKeyMultibase"]
        pds = document["service"][0]["serviceEndpoint"]
        lines.append(f"{document['id']}\t{key}\t{pds}\tnow\n")
    db.run("copy skua.identities (did, signing_key, pds, fetched_at) from stdin;\n" + "".join(lines) + "\\.\n")


def capture(folder, events, network, seed=1, name="live"):
    """A prepared capture with the network's mix and frame sizes. `network`: arguments of skua-sim."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{events}-{seed}.frames"
    if path.exists() and documents_of(path).exists():
        return path
    path.unlink(missing_ok=True)
    print(f"preparing {path.name}", flush=True)
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    done = subprocess.run(
        [BIN / "skua-sim", "--write-capture", unfinished, "--events", str(events), "--seed", str(seed),
         "--did-docs", documents_of(path), "--one-op-a-path", *map(str, network)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    print(f"  {done.stdout.strip().splitlines()[-1]}", flush=True)
    unfinished.rename(path)
    return path


def dids_in(path):
    """All DIDs that a capture names, authors and subjects."""
    found = set()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for match in re.finditer(rb"did:plc:[a-z2-7]{24}", data):
            found.add(match.group())
    return sorted(did.decode() for did in found)


def frame_count(path):
    count, at = 0, 0
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while at < len(data):
            at += 4 + int.from_bytes(data[at:at + 4], "little")
            count += 1
    return count


# --- the database

# The loaded rows end before the first event of a capture (write_capture.hpp). All times are in microseconds. The ages of their
# subjects are those of skua-sim: all ages up to 200 days are equally frequent, or with --recent-posts all orders of magnitude
# from a minute on. In that case the rows are a sample of 200 days; otherwise they are those of a thousand events a second.
END_OF_LOADED = 1_779_900_000_000_000
HISTORY = 200 * 86_400_000_000
ANY_AGE = f"(random() * {HISTORY})::int8"
RECENT_AGE = f"(60e6 * power({HISTORY} / 60e6, random()))::int8"

LOAD = """
-- Rows in the order in which time would have brought them, of accounts at random.
set synchronous_commit = off;
create temp table made as
select i, r % 100 as kind, (at << 10) + (i % 1000) as rkey,
  1 + (random() * ({actors} - 1))::int as actor, 1 + (random() * ({actors} - 1))::int as other,
  ((at - {age}) << 10) + (i % 1000) as other_rkey, timestamptz 'epoch' + at * interval '1 us' as at
from (select i, {start} + (i - {loaded}) * {step} as at, (random() * 99.999)::int as r from generate_series({first}::int8, {last}::int8) as i) s;
insert into bsky.likes (rkey, rev, indexed_at, created_at, subject_rkey, actor_id, subject_actor,
  subject_collection, cid, subject_cid)
select rkey, rkey, at, at, other_rkey, actor, other, 1, sha256(int8send(rkey)), sha256(int8send(other_rkey))
from made where kind < 72;
insert into bsky.posts (actor_id, rkey, rev, indexed_at)
select other, other_rkey, 0, at from made where kind < 72;
insert into bsky.posts (rkey, rev, indexed_at, created_at, actor_id, cid, text, langs, parent_actor,
  parent_rkey, parent_cid, root_actor, root_rkey, root_cid)
select rkey, rkey, at, at, actor, sha256(int8send(rkey)), repeat(md5(i::text), 3), 'en',
  p, case when p is not null then other_rkey end, case when p is not null then sha256(int8send(other_rkey)) end,
  p, case when p is not null then other_rkey end, case when p is not null then sha256(int8send(other_rkey)) end
from (select *, case when i % 5 < 2 then other end as p from made where kind between 72 and 81) s;
insert into bsky.reposts (rkey, rev, indexed_at, created_at, subject_rkey, actor_id, subject_actor,
  subject_collection, cid, subject_cid)
select rkey, rkey, at, at, other_rkey, actor, other, 1, sha256(int8send(rkey)), sha256(int8send(other_rkey))
from made where kind between 82 and 91;
insert into bsky.follows (rkey, rev, indexed_at, created_at, actor_id, subject_actor, cid)
select rkey, rkey, at, at, actor, other, sha256(int8send(rkey)) from made where kind > 91;
drop table made;
"""


def indexes_of(db, tables):
    """Statements that drop the indexes of tables, and statements that create them again."""
    names = ", ".join(f"'{table}'" for table in tables)
    rows = db.rows(
        "select c.relname as table, i.relname as name, pg_get_indexdef(x.indexrelid) as definition, "
        "x.indisprimary as primary, pg_get_constraintdef(k.oid) as key "
        "from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid "
        "join pg_namespace n on n.oid = c.relnamespace left join pg_constraint k on k.conindid = i.oid "
        f"where n.nspname = 'bsky' and c.relname in ({names})")
    drop, make = [], []
    for row in rows:
        if row["primary"]:
            drop.append(f"alter table bsky.{row['table']} drop constraint {row['name']};")
            make.append(f"alter table bsky.{row['table']} add constraint {row['name']} {row['key']};")
        else:
            drop.append(f"drop index bsky.{row['name']};")
            make.append(row["definition"] + ";")
    return "\n".join(drop), "\n".join(make)


class Server:
    """The benchmark's own PostgreSQL, with fsync on, and tuned as in scripts/run. A quick benchmark uses the server of
    SKUA_TEST_DATABASE_URL, if there is one: it measures nothing that depends on the server."""

    def __init__(self, quick=False):
        self.folder = tempfile.mkdtemp(prefix="skua-bench-")
        os.chmod(self.folder, 0o755)
        self.databases = set()
        self.url = os.environ.get("SKUA_TEST_DATABASE_URL") if quick else None
        self.is_own = not self.url
        if self.is_own:
            self.pg("start")
            self.url = self.pg("url").strip()

    def cache(self, options):
        """The folder for prepared data. Of a quick benchmark nothing is kept."""
        return pathlib.Path(self.folder) if options.quick else options.cache

    def pg(self, *arguments):
        done = subprocess.run(
            [ROOT / "scripts/pg", "--dir", f"{self.folder}/pg", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout

    def destroy(self):
        if self.is_own:
            self.pg("destroy")
        else:
            for name in sorted(self.databases):
                self.drop(name)
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def admin(self):
        return LongDatabase(with_database(self.url, "postgres"))

    def database(self, name):
        return LongDatabase(with_database(self.url, self.name_of(name)))

    @staticmethod
    def name_of(name):
        """The name on the server, which may have databases of others."""
        return f"bench_{os.getpid()}_{name}"

    def create(self, name, template=None):
        """A new database in place of the former one of this name; a copy of another one, or empty."""
        self.drop(name)
        self.databases.add(name)
        origin = self.name_of(template) if template else "template1"
        self.admin().run(f"create database {self.name_of(name)} template {origin} strategy file_copy")
        return self.database(name)

    def drop(self, name):
        self.admin().run(f"drop database if exists {self.name_of(name)} with (force)")

    def main_pid(self):
        return int(self.admin().run("select pg_read_file('postmaster.pid')").splitlines()[0])

    def cpu(self):
        """CPU seconds of all server processes so far."""
        main = self.main_pid()
        total = sum(cpu_of(main))
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and parent_of(entry.name) == main:
                total += cpu_of(entry.name)[0]
        return total


class LongDatabase(Database):
    def run(self, sql):
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.url],
                              input=sql, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout.rstrip("\n")


def stat_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def parent_of(pid):
    fields = stat_of(pid)
    return int(fields[1]) if fields else 0


def cpu_of(pid):
    """CPU seconds of a process and of its ended children."""
    fields = stat_of(pid)
    if not fields:
        return 0.0, 0.0
    ticks = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / ticks, (int(fields[13]) + int(fields[14])) / ticks


def peak_memory(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024


def migrated(server, name):
    """A database without rows: a copy of the one that the first call makes."""
    if "migrated" not in server.databases:
        url = server.create("migrated").url
        # Rows that are loaded later count as checked. `skua run` would check them again beside the measured events.
        for command in (["migrate"], ["lexicon", "check"]):
            subprocess.run([BIN / "skua", *command, "--database", url], check=True, stdout=subprocess.DEVNULL)
    return server.create(name, "migrated")


def load(db, rows, dids, actors=People.actors, loaded=0, recent=False):
    """Fills a database from `loaded` to `rows` rows, without the cost of live indexing."""
    if rows <= loaded:
        return
    start = time.monotonic()
    if loaded == 0:
        names = list(dids)
        names += [f"did:plc:{number:024x}".translate(str.maketrans("0189", "wxyz"))
                  for number in range(max(0, actors - len(names)))]
        random.Random(1).shuffle(names)
        copy = "copy bsky.actors (did, indexed_at) from stdin;\n"
        db.run(copy + "".join(f"{name}\t2025-06-15\n" for name in names) + "\\.\n")
    drop, make = indexes_of(db, MIX)
    db.run(drop)
    step = HISTORY // (rows - loaded) if recent else 1000
    for first in range(loaded, rows, 1_000_000):
        db.run(LOAD.format(actors=actors, first=first, last=min(first + 1_000_000, rows) - 1, loaded=loaded,
                           start=END_OF_LOADED - step * (rows - loaded) + loaded % 997, step=step,
                           age=RECENT_AGE if recent else ANY_AGE))
    db.run(f"set maintenance_work_mem = '1GB'; {make}")
    db.run("vacuum (freeze, analyze)")
    db.run("checkpoint")
    print(f"  loaded {rows} rows in {time.monotonic() - start:.0f} s", flush=True)


# --- measuring

class Measured:
    pass


def index(server, db, frames, *sim_arguments, verify="none", milestones=()):
    """Runs skua on a relay that serves the capture, from its first frame to its last commit. `milestones`: functions of the running
    program and the relay that are called one after another, before the program is stopped."""
    measured = Measured()
    if verify != "none":
        know_keys(db, documents_of(frames))
    relay = Sim([BIN / "skua-sim", "--serve", str(frames), *sim_arguments])
    try:
        server_before = server.cpu()
        program = Program([BIN / "skua", "run", "--relay", relay.url, "--database", db.url, "--cursor", "oldest",
                           "--stats-interval", "1", "--log-level", "warn", "--verify", verify, "--handles", "claimed"])
        try:
            wait_for("a connection", lambda: relay.events("connect"), alive=[program], every=0.01)
            start = time.monotonic()
            for milestone in milestones:
                milestone(program, relay)
            wait_for("the end", lambda: relay.events("caught_up"), seconds=3600, alive=[program], every=0.02)
            measured.skua_cpu = cpu_of(program.process.pid)[0]
            measured.memory = peak_memory(program.process.pid)
            measured.relay_cpu = cpu_of(relay.process.pid)[0]
            code = program.stop(seconds=60)
            measured.seconds = time.monotonic() - start
            if code != 0:
                raise SystemExit(f"skua ended with {code}:\n{program.tail()}")
        finally:
            program.kill()
        measured.server_cpu = server.cpu() - server_before
    finally:
        relay.kill()
    measured.figures = json.loads(db.run("select metrics from skua.metrics where source <> 'backfill'"))
    measured.rate = measured.figures["events"] / measured.seconds
    return measured


def write_alone(db, frames):
    """The time of PostgreSQL alone if decoded batches always wait for it."""
    done = subprocess.run([BIN / "write_bench", str(frames), db.url], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def throughput(server, frames, template, options):
    with Report("statements alone", "skua run", "ratio", "skua run without the sender") as report:
        rates = [throughput_round(server, frames, template, options, report) for _ in range(options.rounds)]
    return sorted(rates)[len(rates) // 2]


def throughput_round(server, frames, template, options, report):
    """Prints a round; returns the events a second of `skua run`."""
    db = server.create("alone", template)
    server.admin().run("checkpoint")
    server_before = server.cpu()
    figures = write_alone(db, frames)
    alone = figures["events_per_second"]
    print(f"  statements alone   {report.figure('statements alone', alone, '8.0f')} events/s"
          f"   ({figures['transactions']} transactions; CPU: client {figures['client_cpu_seconds']:.1f} s,"
          f" PostgreSQL {server.cpu() - server_before:.1f} s in {figures['seconds']:.1f} s)", flush=True)
    db = server.create("whole", template)
    if options.statements:
        statements.reset(db)
    server.admin().run("checkpoint")
    measured = index(server, db, frames, verify=options.verify)
    own = measured.skua_cpu + measured.server_cpu
    without_sender = 2 * measured.figures["events"] / own
    print(f"  skua run           {report.figure('skua run', measured.rate, '8.0f')} events/s"
          f"   ({measured.figures['transactions']} transactions; CPU: skua {measured.skua_cpu:.1f} s, PostgreSQL"
          f" {measured.server_cpu:.1f} s, the sender {measured.relay_cpu:.1f} s in {measured.seconds:.1f} s;"
          f" RSS at most {measured.memory:.0f} MB)", flush=True)
    print(f"  ratio              {report.figure('ratio', measured.rate / alone, '8.2f')}   (without the sender's CPU, two cores"
          f" would do {report.figure('skua run without the sender', without_sender, '.0f')} events/s)", flush=True)
    check_complete(measured)
    if options.statements:
        statements.say(db, measured.figures["events"], report)
    if options.verify != "none":
        say_verified(measured, options, report)
    return measured.rate


def say_verified(measured, options, report):
    figures = measured.figures
    print(f"  verified           {report.figure('verified', figures['verified'], '8')} commits ({options.verify}),"
          f" {figures['broke']} after a gap, dropped {figures['dropped'] or 'none'}", flush=True)
    # The current cost of the signatures alone on these cores.
    size = "--quick" if options.quick else "4000"
    printed = subprocess.run([BIN / "verify_bench", size], check=True, capture_output=True, text=True).stdout
    rate = float(re.search(r"signature only +(\d+)", printed)[1])
    print(f"  signatures alone   {report.figure('signatures alone', rate, '8.0f')} commits/s on one core:"
          f" {figures['verified'] / rate:.1f} s of these CPU seconds", flush=True)


def check_complete(measured):
    if measured.figures["dead_letters"] or measured.figures["in_flight"]:
        raise SystemExit(f"not all became rows: {measured.figures}")


def latency(server, frames, template, options):
    events_a_frame = options.events / frame_count(frames)
    db = server.create("latency", template)
    part = frames.with_suffix(".latency")
    head(frames, part, int(options.rate * options.seconds / events_a_frame))
    measured = index(server, db, part, "--rate", str(options.rate / events_a_frame))
    part.unlink()
    say_latency(measured)


def say_latency(measured):
    figures = measured.figures
    with Report() as report:
        print(f"  {report.figure('events a second', measured.rate, '.0f')} events/s: from frame to commit p50"
              f" {report.figure('p50', figures['commit_ms_p50'], '.1f')} ms,"
              f" p99 {report.figure('p99', figures['commit_ms_p99'], '.1f')} ms"
              f"   (CPU: skua {measured.skua_cpu / measured.seconds:.2f},"
              f" PostgreSQL {measured.server_cpu / measured.seconds:.2f} of a core)", flush=True)


def head(source, target, frames):
    with open(source, "rb") as reader, open(target, "wb") as writer:
        for _ in range(frames):
            length = reader.read(4)
            if len(length) < 4:
                break
            writer.write(length + reader.read(int.from_bytes(length, "little")))


def disk(server, cache, options):
    for network, name, what in (
        (people(options).as_simulated(), "simulated", "the simulated network by its defaults"),
        (people(options).most_subjects_new(), "live", f"80 % of subjects never seen, of {people(options).actors} accounts"),
    ):
        frames = capture(cache, options.disk_events, network, seed=2, name=name)
        db = migrated(server, "disk")
        index(server, db, frames)
        db.run("vacuum")
        size = int(db.run("select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n "
                          "on n.oid = c.relnamespace where n.nspname = 'bsky' and c.relkind = 'r'"))
        records, stubs, actors = (int(db.run(f"select count(*) from bsky.{rows}"))
                                  for rows in ("all_records", "posts where cid is null", "actors"))
        with Report() as report:
            print(f"  {report.figure('bytes a record', size / records, '.0f')} bytes a record ({what}): {size / 1e6:.0f} MB in"
                  f" schema bsky, {records} records, {report.figure('stubs', stubs / records, '.2f')} stubs and"
                  f" {report.figure('accounts', actors / records, '.2f')} accounts a record", flush=True)
        for line in db.run("select relname, pg_total_relation_size(relid), pg_relation_size(relid) "
                           "from pg_statio_user_tables where schemaname = 'bsky' order by 2 desc limit 5").splitlines():
            table, total, rows = line.split("|")
            print(f"    {table}: {int(total) / 1e6:.0f} MB, of these {int(rows) / 1e6:.0f} MB rows", flush=True)


def sweep(server, frames, dids, options):
    db = migrated(server, "loaded")
    rates, before = {}, 0
    for rows in (options.loaded // 5, options.loaded, options.loaded * 4):
        load(db, rows, dids, people(options).actors, before, options.recent_posts)
        before = rows
        print(f"throughput, {rows} rows loaded", flush=True)
        rates[rows] = throughput(server, frames, "loaded", options)
    few, *_, many = rates
    print("  " + ", ".join(f"{rows} rows: {rate:.0f}/s" for rows, rate in rates.items())
          + f"; from {few} to {many} rows x {rates[many] / rates[few]:.2f}", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=["throughput", "latency", "disk", "sweep"])
    parser.add_argument("--verify", choices=["full", "signature", "none"], default="none")
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--loaded", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=2_000)
    parser.add_argument("--seconds", type=int, default=40)
    parser.add_argument("--disk-events", type=int, default=1_400_000)
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    parser.add_argument("--statements", action="store_true")
    parser.add_argument("--recent-posts", action="store_true")
    options = parse(parser, verify="full", events=1_000, loaded=2_000, rounds=1, rate=500, seconds=1, disk_events=1_000)
    parts = options.part or ["throughput", "latency", "disk"]
    server = Server(options.quick)
    cache = server.cache(options)
    try:
        if options.statements:
            statements.prepare(server)
        if set(parts) & {"throughput", "latency", "sweep"}:
            frames = capture(cache, options.events, people(options).most_subjects_new(options.recent_posts),
                             name="recent" if options.recent_posts else "live")
            dids = dids_in(frames)
            print(f"{frames.name}: {frames.stat().st_size / frame_count(frames):.0f} bytes a frame,"
                  f" {options.events / frame_count(frames):.2f} events a frame, {len(dids)} accounts named", flush=True)
        if set(parts) & {"throughput", "latency"}:
            load(migrated(server, "loaded"), options.loaded, dids, people(options).actors, recent=options.recent_posts)
        if "throughput" in parts:
            print(f"throughput, {options.loaded} rows loaded", flush=True)
            throughput(server, frames, "loaded", options)
        if "latency" in parts:
            print(f"latency at {options.rate} events/s, {options.loaded} rows loaded", flush=True)
            latency(server, frames, "loaded", options)
        if "sweep" in parts:
            sweep(server, frames, dids, options)
        if "disk" in parts:
            print(f"disk, {options.disk_events} events into an empty database", flush=True)
            disk(server, cache, options)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
