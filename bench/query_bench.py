#!/usr/bin/env python3
"""query_bench.py [--quick] [--part queries|questions|nodes|popular|index|all] [--rows N] [--records N] [--posts N] [--rounds N]

Measures the README's queries with a million likes, the questions of docs/queries.md, questions about a post, an account and a
list with very many records, and the cost of the indexes on posts. For the README's queries live_bench.py loads the rows: likes, reposts, follows and posts in the network's
proportions, and a stub for each post that they name. For the questions people_data.py makes a small network.
bench/README.md explains the results. Needs a release build.

  --quick   few rows: it takes seconds and shows only that the benchmark works
  --rows    rows loaded for the queries; 72 % are likes (default 1400000)
  --records records of the network for the questions (default 1500000), of so many --accounts (default 100000)
  --node-records  records of the network that two nodes share (default 300000)
  --posts   posts written for the cost of each index (default 1000000)
  --popular records of the network with popular subjects (default 3000000), of so many --people (default 250000)
  --rounds  the number of measurements of each (default 5)

Example: bench/query_bench.py --part queries --rows 140000
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from live_bench import BIN, Server, load, migrated, people  # noqa: E402
from nodes_bench import join  # noqa: E402
from options import parse, parser_of  # noqa: E402
from report import Report  # noqa: E402

# live_bench adds the folder of the end-to-end tests to the path.
import divided_data  # noqa: E402
import people_data  # noqa: E402
import popular_data  # noqa: E402
from test_documents import queries as questions_of_the_document  # noqa: E402
from test_documents import queries_of_the_readme, variables  # noqa: E402
from test_query_command import arguments_of  # noqa: E402

SORT_AT = "(least(created_at, indexed_at)) where cid is not null"
# Candidates, in addition to the other indexes of bsky.posts.
INDEXES = {
    "no more": "",
    "btree on sort_at": f"create index i on measured {SORT_AT}",
    "BRIN on sort_at": f"create index i on measured using brin {SORT_AT}",
    "GIN on content": "create index i on measured using gin (mentions, all_tags, links, link_hosts) where mentions is "
                      "not null or all_tags is not null or links is not null or link_hosts is not null",
}
# As `skua run` and as `skua backfill` write them.
ORDERS = {"by time": "at", "by account": "actor, at"}
# The questions about popular subjects: before and after their optional index is added.
POPULAR = {
    "newest likes": ("newest-likes", "select name, sort_at from bsky.likes_of('{post}', 50)"),
    "newest reposts": ("newest-reposts", "select name, sort_at from bsky.reposts_of('{post}', 50)"),
    "newest followers": ("newest-followers", "select name, sort_at from bsky.followers_of('{account}', 50)"),
    "newest members": ("newest-members", "select name, sort_at from bsky.members_of('{list}', 50)"),
    "all likes, counted": (None, "select count(*) from bsky.likes_of('{post}')"),
    "all reposts, counted": (None, "select count(*) from bsky.reposts_of('{post}')"),
    "all followers, counted": (None, "select count(*) from bsky.followers_of('{account}')"),
    # Needs newest-reposts, too.
    "backlinks of the post": ("newest-likes", "select name, uri from bsky.backlinks('{post}', 50)"),
    "backlinks of the post, counted": (None, "select * from bsky.backlink_counts('{post}')"),
    "name": ("names", "select did from bsky.actors_view where name = 'n4711.test'"),
    "beginning of a name": ("names", "select name from bsky.actors_view where name like 'n4711%' limit 20"),
    "words of names": ("display-names", "select name from bsky.search_accounts('account 4711', 20)"),
    "created_at": ("created-at", "select text from bsky.posts_view where created_at > now() - interval '1 minute' limit 50"),
    "timeline of an importer": (None, "select * from bsky.timeline('{importer}', 50)"),
    "timeline": (None, "select * from bsky.timeline('{account}', 50)"),
    "feed of 4,000 accounts": (None, "select * from bsky.feed_of('bsky.app', 50)"),
    "replies with parents, all": (None, "select count(*) from bsky.replies_view"),
    "replies with parents, newest": (None, "select text, parent_text from bsky.replies_view order by sort_at desc limit 50"),
    "thread of 10,000, upper 500": (None, "select * from bsky.thread('{thread}')"),
    "thread of 10,000, upper 50": (None, "select * from bsky.thread('{thread}', max_posts => 50)"),
    "thread of 10,000, first page": (None, "select * from bsky.thread('{thread}', max_posts => 50, after_place => 0)"),
    "thread of 10,000, page after 5,000": (None, "select * from bsky.thread('{thread}', max_posts => 50, after_place => 5000, "
                                                 "last_uri => '{thread_post}')"),
    "thread of 10,000, page after 5,000 without last_uri": (None, "select * from bsky.thread('{thread}', max_posts => 50, after_place => 5000)"),
    "thread of 10,000 for a viewer, upper 500": (None, "select * from bsky.thread('{thread}', viewer => '{account}')"),
    "thread of 10,000 for a viewer, upper 50": (None, "select * from bsky.thread('{thread}', max_posts => 50, viewer => '{account}')"),
    "thread of 10,000 for a viewer, first page": (None, "select * from bsky.thread('{thread}', max_posts => 50, viewer => '{account}', "
                                                        "after_place => 0)"),
    "thread of 10,000 for a viewer, page after 5,000": (None, "select * from bsky.thread('{thread}', max_posts => 50, viewer => '{account}', "
                                                              "after_place => 5000, last_uri => '{thread_post}')"),
    "newest follows": (None, "select name, sort_at from bsky.follows_of('bsky.app', 50)"),
    "newest mutuals": (None, "select name, sort_at from bsky.mutuals_of('bsky.app', 50)"),
    "quotes with posts, all": (None, "select count(*) from bsky.quotes_view"),
}
PROJECTIONS = ("post_stats", "actor_stats", "notifications", "post_rules")
LATEST = ("select actor_id, text from measured where cid is not null "
          "order by least(created_at, indexed_at) desc limit 10")
LAST_HOUR = ("select count(*) from measured where cid is not null "
             "and least(created_at, indexed_at) > now() - interval '1 hour'")
# Posts of thirty days by 100,000 accounts. A seventh has a tag, a mention or a link.
POSTS = """
insert into {table} (rkey, rev, indexed_at, created_at, actor_id, cid, text, langs, all_tags, mentions, links, link_hosts)
select (i * 1000000) << 10, i, now(), at, actor, sha256(int8send(i)), repeat(md5(i::text), 3), 'en',
  case when i % 21 = 0 then array['tag' || i % 5000] end, case when i % 21 = 7 then array[(i % 9000)::int] end,
  case when i % 21 = 14 then array['https://n' || i || '.test'] end, case when i % 21 = 14 then array['n' || i || '.test'] end
from (select i, 1 + (random() * 99999)::int as actor, now() - random() * interval '30 days' as at
      from generate_series(1, {posts}::int8) i) s order by {order}
"""


def times_of(db, query, rounds, before=""):
    """The server's times in ms, as medians: planning and all on a new connection, and all when it is repeated."""
    explain = f"explain (analyze, timing off, format json) {query};\n"
    times = []
    for _ in range(rounds):
        texts = re.split(r"(?<=\n\])\n", db.run(f"{before}{explain}{explain}"))
        first, again = ([plan["Planning Time"], plan["Execution Time"]] for (plan,) in map(json.loads, texts))
        times.append((first[0], sum(first), sum(again)))
    return [statistics.median(of_kind) for of_kind in zip(*times)]


def print_times(name, times, report):
    planning, new, used = times
    print(f"  {report.figure(name, new, '7.2f')} ms on a new connection ({planning:6.2f} planning),"
          f" {report.figure(name + ', repeated', used, '7.2f')} ms repeated   {name}", flush=True)


def queries(server, rows, rounds, actors):
    db = migrated(server, "queries")
    load(db, rows, [], actors)
    with Report("likes", *queries_of_the_readme()) as report:
        print(f"  {report.figure('likes', db.value('select count(*) from bsky.likes'), 'd')} likes", flush=True)
        for query in queries_of_the_readme():
            print_times(query, times_of(db, query, rounds), report)


def skua(db, *command):
    subprocess.run([BIN / "skua", *command], check=True, env={**os.environ, "SKUA_DATABASE_URL": db.url}, stdout=subprocess.DEVNULL)


def arguments_for(post):
    """The arguments of the questions, as commands of psql."""
    return f"{variables()}\\set post {post}\n\\set words 'word7 word40'\n"


def questions(server, records, accounts, rounds):
    db = migrated(server, "questions")
    start = time.monotonic()
    post = people_data.fill(db, records, accounts)
    for command in (["index", "add", "search"], *(["consumers", "add", name] for name in PROJECTIONS),
                    ["consumers", "run-until-idle"]):
        skua(db, *command)
    with Report("records", *questions_of_the_document()) as report:
        print(f"  {report.figure('records', db.value('select count(*) from bsky.all_records'), 'd')} records,"
              f" made in {time.monotonic() - start:.0f} s", flush=True)
        for name, query in questions_of_the_document().items():
            print_times(name, times_of(db, query, rounds, arguments_for(post)), report)


def statement_of(db, name, query, arguments):
    """The question as `skua query` asks it in this database."""
    values = {name: value.strip("'") for name, value in re.findall(r"(?m)^\\set (\w+) (.*)$", arguments)}
    words = [values[argument] for argument in arguments_of(query)]
    return subprocess.run([BIN / "skua", "query", name, *words, "--sql", "--database", db.url], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.rstrip(";\n")


def nodes(server, records, accounts, rounds):
    """The questions in one database, and in a query database of two nodes with the same rows."""
    one = migrated(server, "one")
    post = people_data.fill(one, records, accounts)
    ask, *parts = join(server, 2)
    divided_data.divide(one, parts)
    for db in (one, ask):
        for name in PROJECTIONS:
            if db is one or name != "post_rules":
                skua(db, "consumers", "add", name)
    for db in (one, *parts):
        skua(db, "index", "add", "search")
        skua(db, "consumers", "run-until-idle")
        db.run("vacuum (analyze)")
    ask.run("select skua.refresh_collections()")
    arguments = arguments_for(post)
    ratios = []
    with Report("records", *questions_of_the_document()) as report:
        expected, found = (db.value("select count(*) from bsky.all_records") for db in (one, ask))
        print(f"  {report.figure('records', found, 'd')} records of two nodes", flush=True)
        if found != expected:
            raise SystemExit(f"one database has {expected} records")
        for name, query in questions_of_the_document().items():
            sent = statement_of(ask, name, query, arguments)
            rows = [len(db.run(f"{arguments}{text};").splitlines()) for db, text in ((one, query), (ask, sent))]
            _, _, alone = times_of(one, query, rounds, arguments)
            planning, new, used = times_of(ask, sent, rounds, arguments)
            ratios.append(used / alone)
            print(f"  {alone:8.2f} ms in one database, {report.figure(name, used, '8.2f')} ms in the query database"
                  f" ({new:8.2f} on a new connection, {planning:7.2f} planning), {rows[0]} and {rows[1]} rows   {name}", flush=True)
    print(f"  the query database by one database: median {statistics.median(ratios):.1f}", flush=True)


def popular(server, records, accounts, rounds):
    db = migrated(server, "popular")
    start = time.monotonic()
    subjects = popular_data.fill(db, records, accounts)
    with Report("posts", *POPULAR) as report:
        for table in ("posts", "likes", "follows"):
            print(f"  {report.figure(table, db.value(f'select count(*) from bsky.{table}'), 'd')} {table}", flush=True)
        print(f"  made in {time.monotonic() - start:.0f} s", flush=True)
        for name, (_, query) in POPULAR.items():
            print_times(name, times_of(db, query.format(**subjects), rounds), report)
        added = sorted({index for index, _ in POPULAR.values() if index})
        for index in added:
            done = subprocess.run([BIN / "skua", "index", "add", index], check=True, text=True, stdout=subprocess.PIPE,
                                  env={**os.environ, "SKUA_DATABASE_URL": db.url})
            print(f"  index {done.stdout.strip()}", flush=True)
        db.run("vacuum (analyze)")
        for name, (index, query) in POPULAR.items():
            if index:
                print_times(f"{name}, with the index", times_of(db, query.format(**subjects), rounds), report)
        own = db.rows("select relname as name, pg_relation_size(oid) as bytes from pg_class where relname like '%out_of_order'")
        for index in own:
            print(f"  index {index['name']}: {index['bytes']} bytes", flush=True)


def indexes(server, posts, rounds):
    with Report(*INDEXES) as report:
        for order, by in ORDERS.items():
            indexes_in_order(migrated(server, "indexes"), order, by, posts, rounds, report)


def indexes_in_order(db, order, by, posts, rounds, report):
    """The cost of each index if posts are written in this order."""
    db.run("create unlogged table source (like bsky.posts including defaults); "
           + POSTS.format(table="source", posts=posts, order=by))
    for name, index in INDEXES.items():
        seconds = []
        for _ in range(rounds):
            db.run("drop table if exists measured; create table measured (like bsky.posts including all); "
                   "drop index measured_least_idx, measured_mentions_all_tags_links_link_hosts_idx; "
                   f"{index}; checkpoint")
            start = time.monotonic()
            db.run("insert into measured select * from source")
            seconds.append(time.monotonic() - start)
        db.run("vacuum analyze measured")
        size = db.value("select coalesce(pg_relation_size(to_regclass('i')), 0)") / 1e6
        latest, last_hour = (times_of(db, query, rounds)[1] for query in (LATEST, LAST_HOUR))
        cost = statistics.median(seconds) / posts * 1e6
        print(f"  {order:10}  {name:16}  {report.figure(name, cost, '5.1f')} us a post,"
              f" {report.figure(name + ', size', size, '6.2f', positive=bool(index))} MB; the latest"
              f" {report.figure(name + ', latest', latest, '7.2f')} ms,"
              f" the last hour {report.figure(name + ', last hour', last_hour, '7.2f')} ms", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--part", choices=["queries", "questions", "nodes", "popular", "index", "all"], default="all")
    parser.add_argument("--rows", type=int, default=1_400_000)
    parser.add_argument("--records", type=int, default=1_500_000)
    parser.add_argument("--node-records", type=int, default=300_000)
    parser.add_argument("--accounts", type=int, default=100_000)
    parser.add_argument("--popular", type=int, default=3_000_000)
    parser.add_argument("--people", type=int, default=250_000)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parse(parser, rows=2_000, records=5_000, node_records=2_000, accounts=2_000, popular=5_000, people=2_000, posts=1_000,
                    rounds=1)
    server = Server(options.quick)
    try:
        if options.part in ("queries", "all"):
            queries(server, options.rows, options.rounds, people(options).actors)
        if options.part in ("questions", "all"):
            questions(server, options.records, options.accounts, options.rounds)
        if options.part in ("nodes", "all"):
            nodes(server, options.node_records, options.accounts, options.rounds)
        if options.part in ("popular", "all"):
            popular(server, options.popular, options.people, options.rounds)
        if options.part in ("index", "all"):
            indexes(server, options.posts, options.rounds)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
