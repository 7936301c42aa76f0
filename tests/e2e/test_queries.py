"""The queries of README.md and docs/queries.md, on tables with many rows: which of them use indexes, and how much the
others read.

Nothing is timed. A query that names an account, a record, a tag or a label reads a small part of a table, by an index,
also in the functions that it calls. The other queries read the rows of a table about once, and compute texts only for
their results.
"""

import json
import re

import filled
import projections
from executed_query import NAMED, ExecutedQuery
from harness import EndToEnd
from test_documents import queries, queries_of_the_readme


class Queries(EndToEnd):
    def test_each_reads_no_more_than_it_must(self):
        database = self.database()
        large = [*filled.fill(database), "actors"]
        self.skua(database, "index", "add", "search")
        projections.add(database.url)
        self.assertEqual(projections.differences(database.url), [])
        sizes = {table: database.value(f"select count(*) from bsky.{table}") for table in large}
        self.assertGreater(min(sizes.values()), 5000)
        statements = [*queries_of_the_readme(), *queries().values()]
        named = [statement for statement in statements if NAMED.search(statement)]
        self.assertGreater(len(named), 15)
        self.assertGreater(len(statements) - len(named), 8)
        for statement in statements:
            with self.subTest(statement):
                run = ExecutedQuery(database, statement)
                self.assertGreater(run.rows, 0, run.text)
                self.assertEqual(run.reads_more_than(0.1 if statement in named else 1.5, sizes), set(), run.text)
                if statement in named:
                    self.assertEqual(run.read_whole & sizes.keys(), set(), run.text)
                elif "_facets_view" not in statement:
                    self.assertLessEqual(run.calls, 2 * run.rows, run.text)
                if re.search(r"order by sort_at desc limit|sort_at > now\(\) - interval '1 ", statement):
                    self.assertEqual(run.reads_more_than(0.2, {"posts": sizes["posts"]}), set(), run.text)
        with self.subTest("the planner knows how many posts an hour has"):
            plan = database.run("explain (format json) select from bsky.posts "
                                "where least(created_at, indexed_at) > now() - interval '1 hour' and cid is not null")
            self.assertLess(json.loads(plan)[0]["Plan"]["Plan Rows"], 300)
        with self.subTest("a comparison of a URI's text, which the documents advise against, is seen"):
            run = ExecutedQuery(database, "select count(*) from bsky.likes_view where subject_uri = "
                                f"'at://{filled.ACCOUNT}/app.bsky.feed.post/{filled.FIRST_POST}'")
            self.assertIn("likes", run.reads_more_than(0.1, sizes))
            self.assertGreater(run.calls, 1000)

    def test_a_join_with_a_view_or_a_function_reads_no_whole_table(self):
        # PostgreSQL plans a join of more tables than join_collapse_limit in parts, which read whole tables. A merge join, which
        # ends at the last key, suits small tables only.
        database = self.database()
        filled.fill(database)
        database.run("do $$ begin execute format('alter database %I set enable_mergejoin = off', current_database()); end $$")
        sizes = {table: database.value(f"select count(*) from bsky.{table}") for table in ("posts", "actors", "likes", "reposts")}
        author, post = database.run("select a.did || ' ' || bsky.uri(actor_id, 1, rkey) from bsky.posts p join bsky.actors a on a.id = p.actor_id "
                                    "where actor_id = 400 order by rkey limit 1").split()
        join = ("select p.text, p.parent_uri, p.likes, c.nsid from (select * from bsky.posts where actor_id = 400 limit 20) k "
                "join bsky.posts_view p using (actor_id, rkey) join bsky.actors a on a.id = k.actor_id join bsky.collections c on c.id = 1")
        functions = [f"select f.uri from (select uri from bsky.posts_view where actor_id = 400 limit 20) k, lateral bsky.{name}(k.uri) f"
                     for name in ("likes_of", "reposts_of", "replies_of", "quotes_of")]
        statements = [join, *functions, *(queries()[name].replace(":'post'", f"'{post}'").replace(":'account'", f"'{author}'")
                              for name in ("thread", "best-posts", "replies", "post"))]
        for built in (False, True):
            if built:
                projections.add(database.url)
                self.assertEqual(projections.differences(database.url), [])
            for statement in statements:
                with self.subTest(statement, built=built):
                    run = ExecutedQuery(database, statement)
                    self.assertEqual(run.read_whole & sizes.keys(), set(), run.text)
                    self.assertEqual(run.reads_more_than(0.1, sizes), set(), run.text)

    def test_each_key_is_that_of_the_uri_beside_it(self):
        database = self.database()
        filled.fill(database, rows=300, accounts=20)
        projections.add(database.url)
        self.assertEqual(projections.differences(database.url), [])
        uris = database.rows(
            "select c.relname as view, substr(a.attname, 1, length(a.attname) - 4) as name, exists (select from "
            "pg_attribute k where k.attrelid = c.oid and k.attname = replace(a.attname, '_uri', '_collection')) "
            "as varies "
            "from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname like '%\\_uri' "
            "where c.relkind = 'v' and c.relnamespace = 'bsky'::regnamespace")
        self.assertGreater(len(uris), 15)
        for uri in uris:
            with self.subTest(f"{uri['view']}.{uri['name']}_uri"):
                collection = f"v.{uri['name']}_collection" if uri["varies"] else "k.collection_id"
                found = database.rows(
                    f"select count(*), count(*) filter (where (k.actor_id, k.collection_id, k.rkey) = "
                    f"(v.{uri['name']}_actor, {collection}, v.{uri['name']}_rkey)) as equal "
                    f"from bsky.{uri['view']} v join bsky.resolve_uri(v.{uri['name']}_uri) k on true")[0]
                self.assertGreater(found["count"], 50)
                self.assertEqual(found["equal"], found["count"])
