"""The content of one database, divided over the nodes of a query database: for the part `nodes` of query_bench.py.

The rows are copied by SQL. Each node computes the number of an account from its DID, so the numbers of the one database are
replaced.
"""

# The accounts of all nodes. A node knows the handle of its own accounts only.
START = """
set synchronous_commit = off; set work_mem = '256MB';
create extension if not exists postgres_fdw;
create server one foreign data wrapper postgres_fdw options (host '{host}', port '{port}', dbname '{name}', fetch_size '20000');
create user mapping for current_user server one options (user '{role}');
create schema one;
import foreign schema bsky limit to (actors, collections, {tables}) from server one into one;
create table one.numbers as
select a.id as former, n.id, n.id >> g.group_shift = any (g.owned) as is_own, a.did, a.handle, a.active, a.indexed_at
from one.actors a, skua.account_groups g, lateral (select skua.new_account_number(a.did) as id) n;
create unique index on one.numbers (former);
analyze one.numbers;
insert into bsky.actors (id, did, handle, active, indexed_at) overriding system value
select id, did, case when is_own then handle end, active, indexed_at from one.numbers order by id;
insert into bsky.collections overriding system value select * from one.collections on conflict do nothing;
"""
END = """
drop schema one cascade; drop server one cascade; truncate skua.waiting_references, skua.mentioned_accounts;
"""
TABLES = """
select string_agg(relname, ',') from pg_class c where relnamespace = 'bsky'::regnamespace and relkind = 'r'
and (select count(*) from pg_attribute where attrelid = c.oid and attname in ('actor_id', 'indexed_at') and not attisdropped) = 2
"""
COLUMNS = """
select attname as name from pg_attribute where attrelid = 'bsky.{table}'::regclass and attnum > 0 and not attisdropped and attgenerated = ''
order by attnum
"""


def copy_of(db, table):
    """The statement that copies the rows of the own accounts of a node."""
    columns = [row["name"] for row in db.rows(COLUMNS.format(table=table))]
    accounts = [name for name in columns if name == "actor_id" or name.endswith("_actor")]
    values = [f"{name}_number.id" if name in accounts else f"t.{name}" for name in columns]
    joins = [f"{'' if name == 'actor_id' else 'left'} join one.numbers {name}_number on {name}_number.former = t.{name}" for name in accounts]
    return (f"insert into bsky.{table} ({', '.join(columns)}) select {', '.join(values)} from one.{table} t {' '.join(joins)} "
            "where actor_id_number.is_own order by actor_id_number.id;\n")


def divide(one, nodes):
    """Copies the rows of a database to empty nodes. The nodes are on its server."""
    name, role, host, port = one.run("select current_database(), current_user, current_setting('unix_socket_directories'), current_setting('port')").split("|")
    tables = [name for name in one.run(TABLES).split(",") if one.value(f"select exists (select from bsky.{name})")]
    for node in nodes:
        node.run(START.format(name=name, role=role, host=host, port=port, tables=", ".join(tables))
                 + "".join(copy_of(one, table) for table in tables) + END)
        node.run("vacuum (freeze, analyze)")
