#!/usr/bin/env python3
"""nodes_bench.py [--quick] [--part NAME]... [--events N] [--nodes N]... [--rounds N] [--statements] [--cache FOLDER]

Measures what several nodes cost, compared with one database: CPU seconds of `skua run` and PostgreSQL, with full
verification. In turns, one database and the nodes of a query database index the same capture. The nodes are compared with
the mean of the one database before and after them. Each node reads the whole stream, and the references to accounts of
other nodes are sent before the measurement ends. All databases are on one server, and the nodes run one after another, so
that their CPU can be told apart. At the end the records of all nodes must be those of the one database. bench/README.md
explains the results. Needs a release build.

  --quick       a small workload, which takes seconds and shows only that the benchmark works
  --part        known: every database knows all accounts of the capture before, as after a long time, and no
                references wait;
                new: no database knows an account; may be repeated (default: both)
  --events      record operations in the capture (default 300000)
  --nodes       a number of nodes; may be repeated (default: 2 and 4)
  --rounds      (default 2)
  --statements  print the cost of each statement of one database and of the last node,
                with the warm-up. Needs pg_stat_statements, which
                makes PostgreSQL slower
  --cache       the folder that keeps the capture for the next run (default: build/bench; with --quick none)

Example: bench/nodes_bench.py --part known --nodes 4
"""

import dataclasses
import pathlib
import re
import signal
import statistics
import subprocess
from urllib.parse import urlsplit

import statements
from live_bench import (BIN, CACHE, Server, capture, check_complete, cpu_of, dids_in, frame_count, index, migrated,
                        people, wait_for)
from node_content import WAITING
from options import parse, parser_of
from report import Report

GROUPS = 64

# Seconds in which the relay is silent after the warm-up. In them it is stopped until the reading is made.
PAUSE = 3

# All records of the accounts that the database owns, without the values that belong to one database.
RECORDS = """
select r.collection, count(*), sum(hashtextextended(r.uri || r.cid, 0)::numeric)
from bsky.all_records r, skua.account_groups g where r.actor_id >> g.group_shift = any(g.owned) group by 1
"""

# Makes accounts known, with numbers as `skua run` gives them.
KNOWN = """
insert into bsky.actors (id, did, indexed_at) overriding system value
select skua.new_account_number(did), did, '2025-06-15' from known order by did;
drop table known;
"""


def know_accounts(db, dids):
    db.run("create table known (did text); copy known from stdin;\n" + "".join(f"{did}\n" for did in dids) + "\\.\n" + KNOWN)


def join(server, count):
    """A new query database, and its `count` nodes without rows."""
    ask = migrated(server, "ask")
    nodes = []
    for number in range(count):
        node = migrated(server, f"node_{number}")
        groups = f"{number * GROUPS // count}-{(number + 1) * GROUPS // count - 1}"
        subprocess.run([BIN / "skua", "nodes", "add", f"n{number}", "--node-url", node.url, "--groups", groups, "--database", ask.url,
                        "--log-level", "warn"],
                       check=True, stdout=subprocess.DEVNULL)
        nodes.append(node)
    return ask, *nodes


@dataclasses.dataclass
class Workload:
    frames: pathlib.Path
    messages: int
    # Messages before the measurement: meanwhile connections are opened, and caches filled. 0: the whole process is measured.
    warm_up: int


@dataclasses.dataclass
class Reading:
    """CPU seconds until a moment. `others`: of the connections to other nodes."""

    skua: float
    server: float
    others: dict


class Cost:
    """CPU seconds between two readings, and the metrics of the whole process."""

    def __init__(self, start, before, after, figures):
        self.warm_up = before.skua + before.server - start.server
        # A connection of the autovacuum may have ended.
        self.others = {url: max(0, cpu - before.others.get(url, 0)) for url, cpu in after.others.items()}
        self.skua = after.skua - before.skua
        self.postgres = after.server - before.server - sum(self.others.values())
        self.events, self.foreign = figures["events"], (figures["dropped"] or {}).get("foreign_account", 0)
        self.sent = figures.get("references_sent", 0)

    @property
    def all(self):
        return self.skua + self.postgres


class Meter:
    """Reads the CPU of `skua run` and of the server as soon as a number of messages are rows and their references are sent. `others`:
    the other nodes of the network, which receive references meanwhile."""

    def __init__(self, server, db, others):
        self.server, self.db, self.others = server, db, others
        self.readings = [Reading(0, server.cpu(), {})]

    def read_at(self, seq, event):
        """A milestone (live_bench.index). The messages of a capture are numbered from 1. `event`: what the relay logs after it."""
        def milestone(program, relay):
            wait_for(event, lambda: relay.events(event), seconds=3600, alive=[program], every=0.02)
            relay.signal(signal.SIGSTOP)
            wait_for(f"message {seq}", lambda: self.is_done(program, seq), seconds=3600, alive=[program], every=0.2)
            self.readings.append(Reading(
                cpu_of(program.process.pid)[0], self.server.cpu(), {other.url: self.cpu_in(other) for other in self.others}))
            relay.signal(signal.SIGCONT)
        return milestone

    def is_done(self, program, seq):
        last = max((int(number) for line in program.output() for number in re.findall(r"cursor (\d+)", line)), default=0)
        if last > seq:
            raise SystemExit(f"the relay went on after its pause of {PAUSE} s")
        return last == seq and not self.db.value(WAITING)

    def cpu_in(self, other):
        """CPU seconds of the connections to a database."""
        pids = self.server.admin().run(f"select pid from pg_stat_activity where datname = '{urlsplit(other.url).path[1:]}'")
        return sum(cpu_of(pid)[0] for pid in pids.split())


def measure(server, db, workload, options, others=()):
    """Indexes the capture into a database."""
    db.run("vacuum (freeze, analyze)")
    server.admin().run("checkpoint")
    if options.statements:
        statements.reset(db)
    meter = Meter(server, db, others)
    milestones, pause = [meter.read_at(workload.messages, "caught_up")], []
    if workload.warm_up:
        milestones.insert(0, meter.read_at(workload.warm_up, "fault"))
        pause = ["--stall-at", f"{workload.warm_up + 1}:{PAUSE}"]
    measured = index(server, db, workload.frames, *pause, verify="full", milestones=milestones)
    check_complete(measured)
    return Cost(meter.readings[0], *meter.readings[-2:], measured.figures)


def records(databases):
    """The records of the databases together: (number, sum of hashes), by collection."""
    found = {}
    for db in databases:
        for line in db.run(RECORDS).splitlines():
            collection, rows, hashes = line.split("|")
            before = found.get(collection, (0, 0))
            found[collection] = (before[0] + int(rows), before[1] + int(hashes))
    return found


def say(what, cost, report, name=None):
    text = report.figure(name or what, cost.all, "8.2f")
    print(f"  {what:<15} {text} s   (skua {cost.skua:.2f} s, PostgreSQL {cost.postgres:.2f} s; {cost.events} events,"
          f" {cost.foreign} messages dropped; before, {cost.warm_up:.2f} s of warm-up)", flush=True)


def one_round(server, workload, dids, options, report):
    """Indexes with one database."""
    db = migrated(server, "one")
    know_accounts(db, dids)
    cost = measure(server, db, workload, options)
    say("one database", cost, report)
    if options.statements:
        statements.say(db, cost.events, report)
    return cost


def nodes_round(server, count, workload, dids, options, report):
    """Indexes with `count` nodes. Returns the cost of each."""
    _, *nodes = join(server, count)
    for node in nodes:
        know_accounts(node, dids)
        if dids:
            # The first process of a node asks the others for all references to its accounts. Here each node has them.
            node.run("select skua.check_change_log_timeline(); delete from skua.waiting_references")
    costs = [measure(server, node, workload, options, [other for other in nodes if other is not node]) for node in nodes]
    received = [sum(cost.others.get(node.url, 0) for cost in costs) for node in nodes]
    for cost, cpu in zip(costs, received):
        cost.postgres += cpu
    for number, cost in enumerate(costs):
        say(f"node {number + 1} of {count}", cost, report, "node")
    print(f"  {sum(cost.sent for cost in costs)} references, received for {sum(received):.2f} s", flush=True)
    if options.statements:
        statements.say(nodes[-1], costs[-1].events, report)
    found, expected = records(nodes), records([server.database("one")])
    if found != expected:
        raise SystemExit(f"the records of {count} nodes are not those of one database:\n{found}\n{expected}")
    return costs


def compare(count, one, costs, report):
    """Compares the nodes with the CPU seconds of one database. Returns (speedup by count, one database by the sum)."""
    busiest, total = max(cost.all for cost in costs), sum(cost.all for cost in costs)
    print(f"  {count} nodes: speedup {report.figure(f'speedup of {count}', one / busiest, '.2f')},"
          f" by {count}: {report.figure(f'speedup of {count} by {count}', one / busiest / count, '.2f')};"
          f" one database by the sum of the nodes: {report.figure(f'one by {count} nodes', one / total, '.2f')}", flush=True)
    return one / busiest / count, one / total


def dropped_round(server, one, workload, dids, report, options):
    """The cost of a dropped message, from a database with the group that has the fewest records."""
    group = server.database("one").run(
        "select g from generate_series(0, 63) g left join (select actor_id >> group_shift as g, count(*) as n from bsky.all_records, "
        "skua.account_groups group by 1) s using (g) order by coalesce(n, 0), g limit 1")
    db = migrated(server, "dropping")
    db.run(f"update skua.account_groups set owned = array[{group}]")
    know_accounts(db, dids)
    cost = measure(server, db, workload, options)
    say("one group", cost, report)
    # All accounts act equally often, so the share of foreign messages is the same in the warm-up. PostgreSQL does
    # nothing for them.
    messages = workload.messages - workload.warm_up
    foreign = messages * cost.foreign / workload.messages
    indexed = one.all / messages
    dropped = (cost.skua - (messages - foreign) * one.skua / messages) / foreign
    print(f"  a message: {report.figure('indexed', indexed * 1e6, '.1f')} us indexed, {report.figure('dropped', dropped * 1e6, '.1f', not options.quick)} us"
          f" of skua dropped, {report.figure('dropped by indexed', dropped / indexed, '.3f', not options.quick)} of it", flush=True)
    return dropped / indexed


def part(server, name, workload, dids, options):
    ratios = {}
    with Report("one database", "node", "one group", "indexed", "dropped", "dropped by indexed",
                *(figure for n in options.nodes for figure in (f"speedup of {n} by {n}", f"one by {n} nodes"))) as report:
        for number in range(options.rounds):
            print(f"accounts {name}, round {number + 1}: CPU seconds", flush=True)
            one = one_round(server, workload, dids, options, report)
            for count in options.nodes:
                costs = nodes_round(server, count, workload, dids, options, report)
                before, one = one, one_round(server, workload, dids, options, report)
                by_busiest, by_sum = compare(count, (before.all + one.all) / 2, costs, report)
                ratios.setdefault(f"speedup of {count} by {count}", []).append(by_busiest)
                ratios.setdefault(f"one by {count} nodes", []).append(by_sum)
            ratios.setdefault("dropped by indexed", []).append(dropped_round(server, one, workload, dids, report, options))
    for figure, values in ratios.items():
        print(f"  accounts {name}: {figure}: median {statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=["known", "new"])
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--nodes", type=int, action="append", choices=[2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--statements", action="store_true")
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    options = parse(parser, part=["new"], nodes=[2], events=1_000, rounds=1)
    options.nodes = options.nodes or [2, 4]
    server = Server(options.quick)
    cache = server.cache(options)
    try:
        if options.statements:
            statements.prepare(server)
        # The autovacuum would vacuum a database while a later one is measured. Its work follows the rows, which are as many on all nodes
        # together as in one database.
        server.admin().run("alter system set autovacuum = off; select pg_reload_conf()")
        # All accounts act equally often: otherwise the busiest accounts would determine which node is the busiest.
        frames = capture(cache, options.events, [*people(options).most_subjects_new(), "--even"], name="nodes")
        messages = frame_count(frames)
        workload = Workload(frames, messages, 0 if options.quick else messages // 5)
        dids = dids_in(frames)
        print(f"{frames.name}: {options.events / workload.messages:.2f} events a message, {len(dids)} accounts named", flush=True)
        for name in options.part or ["known", "new"]:
            part(server, name, workload, dids if name == "known" else [], options)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
