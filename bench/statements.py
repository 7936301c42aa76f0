"""The cost of the statements that a benchmark's program sends: pg_stat_statements by verb and table."""

import re

# Statements of the same verb on the same tables are one line. Time is in milliseconds, and is not CPU: sessions wait
# for each other on a machine with few cores. Blocks and bytes do not depend on the machine.
COSTS = """
select query, sum(calls)::int8 as calls, sum(total_exec_time) as ms, sum(rows)::int8 as rows,
  sum(shared_blks_hit + shared_blks_read)::int8 as blocks, sum(shared_blks_read)::int8 as reads,
  sum(shared_blks_dirtied)::int8 as dirtied, sum(wal_bytes)::int8 as wal
from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = current_database() group by query
"""
INDEXES = """
select coalesce(i.indexrelname, t.relname) as name, sum(coalesce(i.blocks, t.blocks))::int8 as blocks from (
  select relid, relname, heap_blks_hit + heap_blks_read as blocks from pg_statio_user_tables) t
full join (select null::oid as relid, indexrelname, idx_blks_hit + idx_blks_read as blocks from pg_statio_user_indexes) i
on i.relid = t.relid group by 1 order by 2 desc
"""
COLUMNS = ("calls", "ms", "rows", "blocks", "reads", "dirtied", "wal")


def prepare(server):
    """Makes the benchmark's own server count statements."""
    if not server.is_own:
        raise SystemExit("--statements restarts the server, so it needs a server of its own")
    server.admin().run("alter system set shared_preload_libraries = 'pg_stat_statements'")
    server.pg("stop")
    server.pg("start")
    server.admin().run("alter system set pg_stat_statements.max = 10000")


def reset(db):
    db.run("create extension if not exists pg_stat_statements; select pg_stat_statements_reset()")


def label(query):
    """The verb of a statement and its tables."""
    verb = re.match(r"\s*(?:--[^\n]*\n\s*)*(\w+)", query)[1].lower()
    changed = re.search(r"\b(INSERT INTO|UPDATE|DELETE FROM)\s+((?:bsky|skua|pg_temp)\.\w+)", query, re.IGNORECASE)
    if changed:
        return f"{changed[1].split()[0].lower()} {changed[2]}"
    tables = dict.fromkeys(re.findall(r"\b(?:bsky|skua|pg_temp)\.[a-z_]+", query))
    return f"{verb} {' '.join(list(tables)[:3])}".strip()


def costs(db):
    """The costs by label, most time first."""
    by_label = {}
    for row in db.rows(COSTS):
        cost = by_label.setdefault(label(row["query"]), dict.fromkeys(COLUMNS, 0))
        for column in COLUMNS:
            cost[column] += float(row[column])
    return sorted(by_label.items(), key=lambda item: -item[1]["ms"])


def say(db, events, report):
    """Prints the costs a thousand events."""
    print(f"    {'a thousand events':<44} {'calls':>6} {'ms':>7} {'rows':>6} {'blocks':>7} {'read':>6} {'dirty':>6} {'WAL kB':>7}")
    total = dict.fromkeys(COLUMNS, 0.0)
    for name, cost in costs(db):
        a_thousand = {column: cost[column] * 1000 / events for column in COLUMNS}
        for column in COLUMNS:
            total[column] += a_thousand[column]
        if a_thousand["ms"] >= 0.1 or a_thousand["blocks"] >= 10:
            line(name, a_thousand)
    line("all", total)
    report.figure("statements", total["ms"], ".1f")
    print("    blocks of tables and indexes a thousand events: "
          + ", ".join(f"{row['name']} {int(row['blocks']) * 1000 / events:.0f}" for row in db.rows(INDEXES)[:24]), flush=True)


def line(name, cost):
    print(f"    {name:<44} {cost['calls']:6.1f} {cost['ms']:7.1f} {cost['rows']:6.0f} {cost['blocks']:7.0f}"
          f" {cost['reads']:6.0f} {cost['dirtied']:6.0f} {cost['wal'] / 1000:7.1f}", flush=True)
