#!/usr/bin/env python3
"""nodes_bench.py [--quick] [--part NAME]... [--events N] [--nodes N]... [--rounds N] [--statements] [--cache FOLDER]

Measures what several nodes cost, compared with one database: CPU seconds of `skua run` and PostgreSQL, with full
verification. In turns, one database and the nodes of a query database index the same capture. Each node reads the whole
stream, and the references to accounts of other nodes are sent before the measurement ends. All databases are on one
server, and the nodes run one after another, so that their CPU can be told apart. At the end the records of all nodes must
be those of the one database. bench/README.md explains the results. Needs a release build.

  --quick       a small workload, which takes seconds and shows only that the benchmark works
  --part        known: every database knows all accounts of the capture before, as after a long time;
                new: no database knows an account; may be repeated (default: both)
  --events      record operations in the capture (default 150000)
  --nodes       a number of nodes; may be repeated (default: 2 and 4)
  --rounds      (default 3)
  --statements  print the cost of each statement of one database and of the first node. Needs pg_stat_statements, which
                makes PostgreSQL slower
  --cache       the folder that keeps the capture for the next run (default: build/bench; with --quick none)

Example: bench/nodes_bench.py --part known --nodes 4
"""

import pathlib
import statistics
import subprocess

import statements
from live_bench import (BIN, CACHE, Server, capture, check_complete, cpu_of, dids_in, frame_count, head, index, migrated,
                        people)
from options import parse, parser_of
from report import Report

GROUPS = 64

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
    """`count` nodes without rows, of a new query database."""
    ask = migrated(server, "ask")
    nodes = []
    for number in range(count):
        node = migrated(server, f"node_{number}")
        groups = f"{number * GROUPS // count}-{(number + 1) * GROUPS // count - 1}"
        subprocess.run([BIN / "skua", "nodes", "add", f"n{number}", "--node-url", node.url, "--groups", groups, "--database", ask.url,
                        "--log-level", "warn"],
                       check=True, stdout=subprocess.DEVNULL)
        nodes.append(node)
    return nodes


class Workload:
    """A capture, and a second one with its first frame only, with which a start is measured."""

    def __init__(self, frames, folder):
        self.frames, self.messages = frames, frame_count(frames)
        self.first = folder / f"first-{frames.name}"
        head(frames, self.first, 1)
        frames_documents, first_documents = (path.with_suffix(".documents.json") for path in (frames, self.first))
        first_documents.write_bytes(frames_documents.read_bytes())


class Cost:
    """CPU seconds of one database, without those of the start, if it was measured."""

    def __init__(self, start, whole):
        self.skua = whole.skua_cpu - (start.skua_cpu if start else 0)
        self.postgres = whole.server_cpu - (start.server_cpu if start else 0)
        self.start = start.skua_cpu + start.server_cpu if start else 0
        self.figures = whole.figures
        self.sent_to = {}

    @property
    def all(self):
        return self.skua + self.postgres

    @property
    def foreign(self):
        return (self.figures["dropped"] or {}).get("foreign_account", 0)


def measure(server, db, workload, options, others=()):
    """Indexes the capture into a database. `others`: the other nodes of its network, which receive references meanwhile."""
    db.run("vacuum (freeze, analyze)")
    received = {}

    def is_settled(program, seq):
        if not program.reached(seq) or db.value("select exists (select from skua.waiting_references)"):
            return False
        for other in others:
            pids = server.admin().run(f"select pid from pg_stat_activity where datname = '{other.url.rpartition('/')[2]}'")
            received[other.url] = sum(cpu_of(pid)[0] for pid in pids.split())
        return True

    def run(frames):
        server.admin().run("checkpoint")
        return index(server, db, frames, verify="full", is_settled=is_settled)

    # A quick benchmark takes no longer than a start, and less than the steps of the clock.
    start = None if options.quick else run(workload.first)
    if options.statements:
        statements.reset(db)
    db.run("truncate skua.identities, skua.metrics, skua.cursors")
    cost = Cost(start, run(workload.frames))
    check_complete(cost)
    for other, cpu in received.items():
        cost.postgres -= cpu
        cost.sent_to[other] = cpu
    return cost


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
    print(f"  {what:<15} {text} s   (skua {cost.skua:.2f} s, PostgreSQL {cost.postgres:.2f} s; the start {cost.start:.2f} s;"
          f" {cost.figures['events']} events, {cost.foreign} messages dropped)", flush=True)


def nodes_round(server, count, one, workload, dids, options, report):
    """Indexes with `count` nodes. Returns (speedup by count, one database by the sum)."""
    nodes = join(server, count)
    for node in nodes:
        know_accounts(node, dids)
    costs = [measure(server, node, workload, options, [other for other in nodes if other is not node]) for node in nodes]
    for cost in costs:
        for node, receiver in zip(nodes, costs):
            receiver.postgres += cost.sent_to.get(node.url, 0)
    for number, cost in enumerate(costs):
        say(f"node {number + 1} of {count}", cost, report, "node")
    busiest, total = max(cost.all for cost in costs), sum(cost.all for cost in costs)
    print(f"  {count} nodes: speedup {report.figure(f'speedup of {count}', one.all / busiest, '.2f')},"
          f" by {count}: {report.figure(f'speedup of {count} by {count}', one.all / busiest / count, '.2f')};"
          f" one database by the sum of the nodes: {report.figure(f'one by {count} nodes', one.all / total, '.2f')};"
          f" {sum(cost.figures.get('references_sent', 0) for cost in costs)} references sent, received for"
          f" {sum(sum(cost.sent_to.values()) for cost in costs):.2f} s", flush=True)
    found, expected = records(nodes), records([server.database("one")])
    if found != expected:
        raise SystemExit(f"the records of {count} nodes are not those of one database:\n{found}\n{expected}")
    if sum(cost.figures["events"] for cost in costs) != one.figures["events"]:
        raise SystemExit("the nodes have not indexed each event once")
    if options.statements:
        statements.say(nodes[0], costs[0].figures["events"], report)
    return one.all / busiest / count, one.all / total


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
    indexed = one.all / workload.messages
    rest = cost.all - (workload.messages - cost.foreign) * indexed
    dropped = rest / cost.foreign
    print(f"  a message: {report.figure('indexed', indexed * 1e6, '.1f')} us indexed, {report.figure('dropped', dropped * 1e6, '.1f', not options.quick)} us"
          f" dropped, {report.figure('dropped by indexed', dropped / indexed, '.3f', not options.quick)} of it", flush=True)
    return dropped / indexed


def part(server, name, workload, dids, options):
    ratios = {}
    with Report("one database", "node", "one group", "indexed", "dropped", "dropped by indexed",
                *(figure for n in options.nodes for figure in (f"speedup of {n} by {n}", f"one by {n} nodes"))) as report:
        for number in range(options.rounds):
            print(f"accounts {name}, round {number + 1}: CPU seconds", flush=True)
            db = migrated(server, "one")
            know_accounts(db, dids)
            one = measure(server, db, workload, options)
            say("one database", one, report)
            if options.statements:
                statements.say(db, one.figures["events"], report)
            for count in options.nodes:
                by_busiest, by_sum = nodes_round(server, count, one, workload, dids, options, report)
                ratios.setdefault(f"speedup of {count} by {count}", []).append(by_busiest)
                ratios.setdefault(f"one by {count} nodes", []).append(by_sum)
            ratios.setdefault("dropped by indexed", []).append(dropped_round(server, one, workload, dids, report, options))
    for figure, values in ratios.items():
        print(f"  accounts {name}: {figure}: median {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", action="append", choices=["known", "new"])
    parser.add_argument("--events", type=int, default=150_000)
    parser.add_argument("--nodes", type=int, action="append", choices=[2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--statements", action="store_true")
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    options = parse(parser, part=["new"], nodes=[2], events=1_000, rounds=1)
    options.nodes = options.nodes or [2, 4]
    server = Server(options.quick)
    cache = server.cache(options)
    try:
        if options.statements:
            statements.prepare(server)
        # All accounts act equally often: otherwise the busiest accounts would determine which node is the busiest.
        frames = capture(cache, options.events, [*people(options).most_subjects_new(), "--even"], name="nodes")
        workload = Workload(frames, pathlib.Path(server.folder))
        dids = dids_in(frames)
        print(f"{frames.name}: {options.events / workload.messages:.2f} events a message, {len(dids)} accounts named", flush=True)
        for name in options.part or ["known", "new"]:
            part(server, name, workload, dids if name == "known" else [], options)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
