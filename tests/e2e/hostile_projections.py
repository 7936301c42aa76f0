"""Ten hostile projections. Used by test_hostile_projections.py and by bench/hostile_bench.py.

`skua projection add` refuses most of these statements. So an operator replaces the function of the projection by one with
the statement, which shows what the role of the function prevents."""

import json
import subprocess

HEAD = """-- projection: {name}
-- help: A hostile projection
-- batch seconds: 1
-- batch rows: 1000
-- build seconds: 10
"""
TABLE = "-- table: {name}\nid int8 NOT NULL, n int8 NOT NULL, PRIMARY KEY (id)\n-- fill\nINSERT INTO {{{name}}} SELECT 0, 0\n-- fold\n"
CHANGES = "skua.changes_between($1::int8, $2::int8) AS c"
HARMLESS = f"INSERT INTO {{{{{{name}}}}}} SELECT c.pos, 1 FROM {CHANGES}"
ONE_RECORD = """-- collections: app.bsky.feed.like
-- internal table: {name}_rows
actor_id int8 NOT NULL, rkey int8 NOT NULL, n int8 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: {name}
n int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL
-- rows: {name}_rows
SELECT l.actor_id, l.rkey, 1 / (l.rkey % 7) AS n FROM {{keys}} AS k JOIN bsky.likes AS l USING (actor_id, rkey)
WHERE l.rkey % 7 > 0 OR l.indexed_at > '{since}'
-- sum: {name}
SELECT n, count(*) AS likes FROM {{{name}_rows}} GROUP BY n
"""

HONEST = """-- projection: liked
-- help: Likes of each account
-- collections: app.bsky.feed.like
-- internal table: liked_rows
actor_id int8 NOT NULL, rkey int8 NOT NULL, author int8 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: liked
author int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL
-- rows: liked_rows
SELECT l.actor_id, l.rkey, l.subject_actor AS author FROM {keys} AS k JOIN bsky.likes AS l USING (actor_id, rkey)
-- sum: liked
SELECT author, count(*) AS likes FROM {liked_rows} GROUP BY author
"""

# The reason that people see. `one_record` skips the changes that fail.
REASONS = {
    "endless": "statement timeout",
    "lock": "permission denied",
    "writes": "permission denied",
    "drops_itself": "must be owner",
    "dropped": "was dropped: `skua consumers rebuild dropped`",
    "explosion": "more than `-- batch rows: 1000` allows",
    "volatile": "statement timeout",
    "cycle": "infinite recursion",
    "superuser": "permission denied",
}
NAMES = (*REASONS, "one_record")

# The statement that a function has after the operator has replaced it.
SMUGGLED = {
    "lock": "LOCK TABLE bsky.posts",
    "writes": "DELETE FROM bsky.posts",
    "drops_itself": "DROP TABLE projections.drops_itself_{id}",
    "volatile": "PERFORM pg_sleep(3600)",
    "superuser": "PERFORM pg_read_file('postgresql.conf')",
}
FOLDS = {
    "endless": f"INSERT INTO {{{{{{name}}}}}} SELECT c.pos, count(*) FROM {CHANGES} CROSS JOIN LATERAL "
               "generate_series(c.pos, CASE WHEN c.pos > {after} THEN c.pos + 1000000000000 ELSE c.pos END) AS n GROUP BY 1",
    "explosion": f"INSERT INTO {{{{{{name}}}}}} SELECT c.pos * 10000 + n, 1 FROM {CHANGES} CROSS JOIN LATERAL "
                 "generate_series(1, CASE WHEN c.pos > {after} THEN 5000 ELSE 1 END) AS n",
    "cycle": f"INSERT INTO {{{{{{name}}}}}} SELECT c.pos, 1 FROM {CHANGES} WHERE c.pos IN (SELECT id FROM public.hostile_view)",
}


def text_of(name, since, after=0):
    """The file of a projection. `one_record` fails for a seventh of the likes after `since`, and `endless` and `explosion` for
    changes after a position, so that their builds succeed."""
    if name == "one_record":
        return (HEAD + ONE_RECORD).format(name=name, since=since)
    fold = FOLDS.get(name, HARMLESS).format(name=name, after=after)
    return (HEAD + TABLE).format(name=name) + fold + "\n"


def add(skua, database, folder, limits=("batch=16", "max_attempts=2", "retry_ms=50", "max_retry_ms=100"), seconds=0,
        changes=0):
    """Adds the ten projections and their consumers. `skua`: a function that runs a command. Those that fail for some changes
    do so after this time and this number of changes."""
    database.run("create view public.hostile_view as select actor_id as id from bsky.likes; "
                 "grant usage on schema public to skua_projection; grant select on public.hostile_view to skua_projection")
    since = database.value(f"select coalesce(max(indexed_at), now()) + interval '{seconds} s 1 microsecond' from bsky.likes")
    after = changes and database.value("select skua.change_log_end()") + changes
    for name in NAMES:
        path = folder / f"{name}.sql"
        path.write_text(text_of(name, since, after))
        skua("projection", "add", path)
        options = [option for limit in limits for option in ("--set", limit)]
        skua("consumers", "add", name, *options, "--policy", "skip" if name == "one_record" else "pause")


def are_built(database):
    names = ", ".join(f"'{name}'" for name in NAMES)
    return database.value(f"select count(*) from skua.consumers where name in ({names}) and role = 'live'") == len(NAMES)


def number_of(database, name):
    return database.value(f"select id from skua.consumers where name = '{name}' and role = 'live'")


def turn_hostile(database):
    """What an operator does to the tables, views and functions after the build."""
    for name, statement in SMUGGLED.items():
        number = number_of(database, name)
        database.run(f"create or replace function projections.{name}_fold1_{number}(int8, int8, int4, int4) returns void "
                     "language plpgsql security definer set search_path = pg_catalog, pg_temp as $hostile$ "
                     f"begin {statement.format(id=number)}; end $hostile$")
    database.run(f"drop table projections.dropped_{number_of(database, 'dropped')} cascade")
    database.run("create or replace view public.hostile_view as select id from projections.cycle; "
                 "create or replace view projections.cycle as select id, 1::int8 as n from public.hostile_view")


def listed(command, database):
    """{name: consumer} by `skua consumers list`. `command`: the path of skua."""
    done = subprocess.run([command, "consumers", "list", "--json", "--database", database.url], check=True, capture_output=True, text=True)
    return {one["name"]: one for one in json.loads(done.stdout)}


def unmet(consumers):
    """The projections that have not stopped with their reason."""
    left = [name for name, reason in REASONS.items()
            if consumers[name]["state"] != "stopped" or reason not in consumers[name]["reason"] or not consumers[name]["cure"]]
    return left if consumers["one_record"]["dead_letters"] else [*left, "one_record"]
