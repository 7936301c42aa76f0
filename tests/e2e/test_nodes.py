"""A query database: two nodes and one place to ask give the answers of one database with everything."""

import collections
import json
import os
import re
import subprocess
import urllib.parse

import atproto
import random_network
import test_groups
from harness import BIN, Database, wait_for, with_database
from node_content import OF_NODES, OF_ONE, SUMMED, VIEWS, WAITING, numbered, shown, sums
from restricted_threads import restricted_thread
from simulated_capture import SimulatedCapture
from test_backfill import Backfill


class Nodes(Backfill):
    live_network, follow = test_groups.Groups.live_network, test_groups.Groups.follow

    def joined(self):
        """(query database, nodes), connected before anything is indexed."""
        ask = self.database()
        nodes = [self.database(migrated=False) for _ in test_groups.HALVES]
        for number, (node, groups) in enumerate(zip(nodes, test_groups.HALVES)):
            added = self.skua(ask, "nodes", "add", f"n{number}", "--node-url", node.url, "--groups", groups)
            self.assertEqual(added.says("no node owns the groups 32-63"), number == 0, added.tail())
        return ask, nodes

    def check_equal(self, found, expected):
        if isinstance(found, collections.Counter):
            found, expected = found - expected, expected - found
        self.assertEqual(sorted(found)[:2], sorted(expected)[:2])

    def answer(self, database, name, arguments):
        done = self.start([BIN / "skua", "query", name, *arguments, "--json", "--limit", "1000"], self.environment(database))
        code = done.wait(120)
        if code != 0:
            return code, done.stderr[-1:]
        rows = json.loads("\n".join(done.stdout))["rows"]
        own = {"sort_at", "indexed_at", "page_key", "actor_id", "rkey"}
        return code, collections.Counter(json.dumps({k: v for k, v in row.items() if k not in own}, sort_keys=True) for row in rows)

    def check_statement(self, one, ask, name, arguments):
        """The statement for psql sends its conditions to the nodes. Returns whether it differs from the one for another database."""
        plain, sent = ("\n".join(self.skua(database, "query", name, *arguments, "--sql").stdout) for database in (one, ask))
        self.assertEqual(self.slow_conditions(ask, sent), "")
        return sent != plain

    def slow_conditions(self, database, statement):
        return database.run(f"select condition from bsky.slow_conditions($q${statement.rstrip(';')}$q$) order by 1")

    def build(self, database):
        self.skua(database, "consumers", "run-until-idle")

    def check_projections(self, one, ask, nodes):
        """Builds the projections on all databases. Their sums over the nodes are those of one database."""
        for database in (one, *nodes):
            for name in OF_ONE if database is one else OF_NODES:
                self.skua(database, "consumers", "add", name)
        self.build(one)
        self.build(nodes[0])
        # One node has none yet: an answer would miss a part.
        self.assertEqual(ask.run("select count(*), bool_or(bsky.is_current('post_stats')) from bsky.post_stats"), "0|")
        self.assertTrue(self.skua(ask, "query", "most-liked").says("the projection post_stats is not built, or is more than a minute behind, on these nodes: n1."))
        self.build(nodes[1])
        # A reply is told to the nodes of three posts above it, one after the other.
        for node in (*nodes, *nodes, *nodes):
            self.build(node)
        rows = ask.run("select * from bsky.post_stats where likes > 1 limit 3").split("\n")
        self.assertEqual(len(rows), 3)
        for name in SUMMED:
            self.check_equal(sums(ask, name), sums(one, name))
        # A post is looked up by its key in each node.
        plan = ask.run("explain (verbose) select likes from bsky.posts_view where (actor_id, rkey) = (select actor_id, rkey from bsky.posts limit 1)")
        self.assertRegex(plan, r"node_ranges.post_stats WHERE .*actor_id = ")
        self.assertTrue(self.skua(nodes[0], "consumers", "add", "post_rules", code=1).says("the query database computes it, and you need not add it"))

    def test_one_place_to_ask(self):
        network = self.live_network()
        seq = network.steps(400)["seq"]
        one = self.database()
        ask, nodes = self.joined()
        runs = [self.follow(database, network, seq, "--cursor", "oldest") for database in (one, *nodes)]
        # Accounts and keys of other nodes that records mention have arrived there.
        wait_for("the references", lambda: not any(node.value(WAITING) for node in nodes), alive=runs)
        for run in runs:
            self.assertEqual(run.stop(), 0)
        self.check_projections(one, ask, nodes)
        rows = 0
        for view in one.run(VIEWS).split():
            with self.subTest(view):
                expected = shown(one, view)
                rows += expected.total()
                self.check_equal(shown(ask, view), expected)
        self.assertGreater(rows, 300)
        account, post = one.run("select p.did || ' ' || p.uri from bsky.posts_view p join bsky.like_pairs l on (l.subject_actor, l.subject_rkey) = "
                                "(p.actor_id, p.rkey) group by 1 order by count(*) desc, 1 limit 1").split()
        other = one.run(f"select did from bsky.actors where did <> '{account}' and active order by 1 limit 1")
        values = {"account": account, "other": other, "labeler": other, "post": post, "record": post, "target": post, "words": "the", "tag": "art",
                  "link": "https://bsky.social/about", "label": "spam", "lang": "en", "host": "bsky.social", "collection": "app.bsky.feed.post"}
        usage = {}
        for line in self.skua(one, "query").stdout:
            words = line.split("  ")
            if line.startswith("  "):
                usage[words[1].split()[0]] = [word.strip("[]").lower() for word in words[1].split()[1:]]
        self.assertGreater(len(usage), 40)
        answered = changed = 0
        for name, arguments in usage.items():
            with self.subTest(name):
                given = [values.get(argument, "art") for argument in arguments]
                expected = self.answer(one, name, given)
                answered += expected[0] == 0 and bool(expected[1])
                found = self.answer(ask, name, given)
                self.assertEqual(found[0], expected[0], found)
                self.check_equal(found[1], expected[1])
                changed += self.check_statement(one, ask, name, given)
        self.assertGreater(answered, 20)
        self.assertGreater(changed, 5)
        # Each account is asked for in one node only.
        plan = ask.run(f"explain select * from bsky.likes where actor_id = (select id from bsky.actors where did = '{account}')")
        self.assertIn("likes_0_31", plan)
        # Each node joins its posts with its accounts, and sends those of the last day only.
        plan = ask.run("explain (verbose) select count(*) from bsky.posts_view where sort_at > (select now() - interval '1 day')")
        self.assertEqual(len(re.findall(r"Remote SQL: .*posts_\d+_\d+ \w+ INNER JOIN node_ranges.actors_.*sort_at > ", plan)), 2, plan)
        for slow, fast, condition in (
                ("sort_at > now() - interval '1 day'", "sort_at > (select now() - interval '1 day')", "a comparison with now() - interval"),
                (f"actor_id = bsky.actor_id('{account}')", f"actor_id = (select bsky.actor_id('{account}'))", "a comparison with bsky.actor_id(...)"),
                ("least(created_at, indexed_at) > '2026-01-01'", "sort_at > '2026-01-01'", "least(created_at, indexed_at)")):
            posts = "select rkey from bsky.posts where"
            self.assertEqual([self.slow_conditions(ask, f"{posts} {one}") for one in (slow, fast)], [condition, ""])
            self.assertEqual(*[sorted(ask.run(f"{posts} {one}").split()) for one in (slow, fast)])
        for slow, fast, condition in (("active is not false", "active is distinct from false", "is not false"),
                                      (f"coalesce(handle, did) = '{account}'", f"handle_or_did = '{account}'", "coalesce(handle, did)")):
            accounts = "select did from bsky.actors where"
            self.assertEqual([self.slow_conditions(ask, f"{accounts} {one}") for one in (slow, fast)], [condition, ""])
            self.assertEqual(*[sorted(ask.run(f"{accounts} {one}").split()) for one in (slow, fast)])
        for command in (["run", "--relay", "ws://127.0.0.1:1"], ["retention", "apply"], ["verify"], ["dead-letters", "list"],
                        ["consumers", "run"], ["retention", "list"], ["source", "list"]):
            self.assertTrue(self.skua(ask, *command, code=1).says("this is a query database"))

    def test_setup(self):
        ask, (first, second) = self.joined()
        again = self.skua(ask, "nodes", "list").stdout
        self.assertEqual([line.split(",")[0] for line in again], ["n0: groups 0-31", "n1: groups 32-63"])
        self.assertTrue(self.skua(ask, "status").says("n1: groups 32-63, no event read"))
        self.assertEqual(ask.run("set role skua_reader; select name from skua.node_states() where problem is null order by 1").split("\n"),
                         ["n0", "n1"])
        report = json.loads("\n".join(self.finished(ask, "doctor", "--json").stdout))["findings"]
        self.assertLessEqual({("nodes", "ok"), ("sources", "skipped")}, {(finding["check"], finding["level"]) for finding in report})
        self.assertEqual({finding["code"] for finding in report} & {"index-missing", "tables-divided", "check-failed"}, set())
        empty = self.database(migrated=False)

        def refused(database, name, url, groups, reason):
            self.assertTrue((done := self.skua(database, "nodes", "add", name, "--node-url", url, "--groups", groups, code=1)).says(reason), done.tail())

        refused(ask, "n2", empty.url, "30-33", "the node n0 owns the groups 30-31 already")
        refused(ask, "n0", empty.url, "30-33", "there is a node n0 already")
        refused(first, "n2", empty.url, "0-63", "is a node of a network")
        for name, url, reason in (("n9", second.url, "there is no node n9"), ("n1", first.url, "its database owns the groups 0-31"),
                                  ("n1", empty.url, "has no tables"), ("n1", "postgresql://127.0.0.1:1/x", "cannot be reached")):
            self.assertTrue((done := self.skua(ask, "nodes", "set", name, "--node-url", url, code=1)).says(reason), done.tail())
        other = self.database()
        refused(other, "n0", ask.url, "0-63", "is a query database")
        refused(other, "n0", "postgresql://127.0.0.1:1/x", "0-63", "cannot be reached")
        self.assertEqual(other.run("select relkind from pg_class where oid = 'bsky.posts'::regclass"), "r", "nothing has changed")
        other.run("insert into bsky.actors (did, indexed_at) values ('did:plc:a', now())")
        refused(other, "n0", empty.url, "0-63", "has accounts, jobs or consumers of its own")
        self.assertTrue(self.skua(ask, "nodes", "remove", "n1").says("no node owns the groups 32-63"))
        self.assertTrue(self.skua(ask, "query", "latest").says("no node owns the groups 32-63: records of their accounts are missing"))
        refused(ask, "n2", other.url, "32-63", "index into a new database")
        # A password that the server of the node does not ask for.
        parts = urllib.parse.urlsplit(second.url)
        url = second.url if parts.password else f"{second.url}{'&' if parts.query else '?'}password=unused"
        self.skua(ask, "nodes", "add", "n2", "--node-url", url, "--groups", "32-63")
        self.assertEqual(ask.run("set role skua_reader; select count(*) from bsky.actors"), "0")
        names = "select string_agg(name, ' ' order by name) from skua.nodes"
        self.assertEqual([database.run(names) for database in (ask, first, second)], ["n0 n2"] * 3)

    def test_rules_and_notifications_of_a_random_network(self):
        for seed in (13, *range(200, 220 if os.environ.get("SKUA_LONG") == "1" else 200)):
            network = random_network.RandomNetwork(seed)
            threads = [restricted_thread(network.network, f"thread{mentions}x", mentions, by_handle)
                       for mentions, by_handle in ((3, False), (25, True))]
            self.assertEqual({test_groups.group(account.did) // 32 for account in network.accounts}, {0, 1})
            one = self.database()
            ask, nodes = self.joined()
            file = self.folder / "frames"
            file.write_bytes(atproto.write_capture(network.frames))
            for database in (one, *nodes):
                self.skua(database, "replay", file)
            for database in (one, *nodes):
                for name in OF_ONE if database is one else OF_NODES:
                    self.skua(database, "consumers", "add", name)
            # A reply is told to the nodes of three posts above it, one after the other.
            for database in (one, *nodes, *nodes, *nodes, *nodes):
                self.build(database)
            for thread, replies, all_replies in threads:
                self.assertEqual(ask.value(f"select sum(t.replies) from node_tables.post_stats t join bsky.resolve_uri('{thread}') u using (actor_id, rkey)"), all_replies)
                for database in (one, ask):
                    self.assertEqual(database.value(f"select replies from bsky.post('{thread}')"), replies)
                self.assertEqual(ask.run(f"set role skua_reader; select replies from bsky.post('{thread}')"), str(replies))
            self.check_equal(sums(ask, "post_stats"), sums(one, "post_stats"))
            for view, least in (("posts_view", 100), ("post_rules", 10), ("notifications_view", 50), ("replies_view", 20), ("quotes_view", 5)):
                with self.subTest(f"{seed}: {view}"):
                    expected = shown(one, view)
                    self.assertGreater(expected.total(), least)
                    self.check_equal(shown(ask, view), expected)

    def test_indexes_of_the_nodes(self):
        ask, nodes = self.joined()
        for number, node in enumerate(nodes):
            node.run(f"insert into bsky.actors (id, did, active, indexed_at) overriding system value values ({number * 32}::int8 << 57 | 7, 'did:web:n{number}.test', true, now()); "
                     "insert into bsky.posts (actor_id, rkey, rev, cid, created_at, indexed_at, text) select a.id, "
                     "bsky.tid_at(now() - g * interval '1 second'), 0, sha256(g::text::bytea), now() - g * interval '1 second', now(), "
                     "case when g = 5000 then 'an old word' else 'a new one' end from generate_series(1, 5000) g, bsky.actors a")
        missing = "the index search does not exist on these nodes: "
        for node in nodes:
            found = self.skua(ask, "query", "search", "word")
            self.assertTrue(found.says("(0 rows)") and found.says(missing), found.tail())
            self.skua(node, "index", "add", "search")
        found = self.skua(ask, "query", "search", "word")
        self.assertTrue(found.says("(2 rows)") and not found.says(missing), found.tail())
        for index in ("names", "display-names", "newest-likes"):
            for node in nodes:
                self.skua(node, "index", "add", index)
        plan = ask.run("explain (verbose) select uri from bsky.posts_view where name = 'did:web:n1.test'")
        self.assertRegex(plan, r"Remote SQL: SELECT .* FROM node_ranges.actors_32_63 WHERE .*handle_or_did = 'did:web:n1\.test'")
        self.assertEqual(ask.run("select did from bsky.search_accounts('did:web') order by 1").split(), ["did:web:n0.test", "did:web:n1.test"])
        for number, node in enumerate(nodes):
            # The statistics of the index make the node use it.
            node.run("insert into bsky.collections (id, nsid) values (1000, 'com.example.note'); "
                     "insert into bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record) "
                     f"select {number * 32}::int8 << 57 | 7, 1000, g, 1, now(), sha256(''), json_build_object('of', 'did:web:n' || g % 1000 || '.test') from generate_series(1, 3000) g")
            found = self.skua(ask, "query", "backlinks", "did:web:n1.test")
            self.assertTrue(found.says("(0 rows)") and found.says("the index backlinks does not exist on these nodes: "), found.tail())
            self.skua(node, "index", "add", "backlinks")
            node.run("analyze bsky.records")
        found = self.skua(ask, "query", "backlinks", "did:web:n1.test")
        self.assertTrue(found.says("(6 rows)") and not found.says("note: "), found.tail())
        plan = ask.run("explain (verbose) select * from bsky.links_to('did:web:n1.test')")
        sent = re.findall(r"Remote SQL: (SELECT .* FROM node_ranges.records_0_31 WHERE .*record_links @> .*)", plan)
        self.assertEqual(len(sent), 1, plan)
        self.assertIn("records_links", nodes[0].run(f"explain {re.sub(r'[$]1::text', chr(39) + 'did:web:n1.test' + chr(39), sent[0])}"))

    def finished(self, database, *arguments):
        program = self.start([BIN / "skua", *arguments], self.environment(database))
        program.wait(60)
        return program

    def test_upgrade_and_failure(self):
        ask, (first, second) = self.joined()
        for database in (first, second, ask):
            database.run("update skua.schema_files set checksum = 'old' where name = 'views/feed.sql'")
        self.assertTrue(self.skua(ask, "migrate", code=1).says("the node n0 has other views or functions than this program"))
        for database in (first, second, ask):
            self.assertTrue(self.skua(database, "migrate").says("applied 2 files: views/feed.sql, rights.sql"))
        self.skua(ask, "query", "latest")
        # A former version of Skua, whose nodes computed fewer columns.
        ask.run("alter table bsky.records drop column record_links; create or replace function skua.computed_column(table_name text) "
                "returns table (name text, type text, expression text, help text) language sql stable as 'select null, null, null, null where false'")
        for database in (first, second, ask):
            database.run("delete from skua.migrations where name = 'mentioned_accounts'; drop table skua.mentioned_accounts cascade")
            self.assertTrue(self.skua(database, "migrate").says("applied 1 migration: "))
        self.assertEqual(ask.run("select count(*), count(record_links) from bsky.records"), "0|0")
        second.run("drop schema node_ranges cascade")
        with self.assertRaisesRegex(AssertionError, "node_ranges.projections"):
            ask.run("select skua.each_node_has('post_stats')")
        failed = self.skua(ask, "query", "latest", code=1)
        self.assertTrue(failed.says("note: the node n1 cannot be read"), failed.tail())
        self.assertTrue(self.skua(ask, "status").says("cannot be read"))

    def test_restored_query_database(self):
        ask, (first, _) = self.joined()
        settings = "select concat_ws(' ', current_setting('enable_partitionwise_join'), current_setting('enable_partitionwise_aggregate'))"
        self.assertEqual(ask.run(settings), "on on")
        file = self.folder / "backup.dump"
        subprocess.run(["pg_dump", "-Fc", "-f", file, ask.url], check=True)
        restored = self.database(migrated=False)
        subprocess.run(["pg_restore", "--exit-on-error", "-d", restored.url, file], check=True)
        self.assertEqual(restored.run(settings), "off off")
        for command in (["sync"], ["set", "n0", "--node-url", first.url]):
            restored.run("do $$ begin execute format('alter database %I reset all', current_database()); end $$")
            self.skua(restored, "nodes", *command)
            self.assertEqual(restored.run(settings), "on on", command)
        self.skua(restored, "query", "latest")

    def check_references(self, nodes):
        halves = list(test_groups.HALVES.values())
        for table in ("actors", "rkeys"):
            for one, other, groups in ((*nodes, halves[1]), (*reversed(nodes), halves[0])):
                mentioned = numbered(one, groups, table)
                self.assertTrue(mentioned or table == "rkeys")
                self.assertEqual(mentioned - numbered(other, groups, table), set())

    def test_references_survive_kills_and_a_loss(self):
        network = self.live_network()
        seq = network.steps(300)["seq"]
        _, nodes = self.joined()
        for node in nodes:
            for point in ("after_stubs:1", "after_references:1"):
                environment = {**self.environment_at(node, network), "SKUA_CRASH_AT": point}
                killed = self.start([BIN / "skua", "run", "--cursor", "oldest"], environment)
                self.assertEqual(killed.wait(60), -9, point)
        runs = [self.follow(node, network, seq, "--cursor", "oldest") for node in nodes]

        def are_sent():
            return not any(node.value(WAITING) for node in nodes)

        wait_for("the references", are_sent, alive=runs)
        self.check_references(nodes)
        # The second node loses accounts that only the first one mentions, as after a restore of an older backup.
        for run in runs:
            self.assertEqual(run.stop(), 0)
        lost = nodes[1].run("with lost as (delete from bsky.actors a where (id >> 57) >= 32 and not exists (select from bsky.all_records r "
                            "where r.did = a.did) returning 1) select count(*) from lost")
        self.assertGreater(int(lost), 0)
        nodes[0].run("select skua.resend_references(array(select generate_series(32, 63)))")
        run = self.follow(nodes[0], network, seq)
        wait_for("the references", are_sent, alive=[run])
        self.assertEqual(run.stop(), 0)
        self.check_references(nodes)

    def test_replay_sends_references(self):
        capture = SimulatedCapture(self, events=300, accounts=24)
        ask, nodes = self.joined()
        # The second node is away.
        away = urllib.parse.urlsplit(nodes[1].url).path[1:]
        server = Database(with_database(nodes[1].url, "postgres"))
        server.run(f"alter database {away} rename to {away}_2")
        self.addCleanup(server.run, f"drop database if exists {away}_2 with (force)")
        replayed = self.skua(nodes[0], "replay", capture.frames)
        waiting = nodes[0].value("select count(*) from skua.waiting_references")
        self.assertGreater(waiting, 5)
        self.assertRegex("\n".join(replayed.stderr), f"skua: {waiting} references to accounts of the node n1 were not sent .*{re.escape(away)}.*: "
                                                     "`skua run` with this database sends them later")
        server.run(f"alter database {away}_2 rename to {away}")
        replayed = self.skua(nodes[0], "replay", capture.frames)
        self.assertTrue(replayed.says(f"references: {waiting} sent to other nodes"), replayed.tail())
        # A new node asks the other one for all references, which its next process sends.
        for node in reversed(nodes):
            self.skua(node, "replay", capture.frames)
        self.assertEqual([node.value(WAITING) for node in nodes], [False, False])
        self.check_references(nodes)
        # The query database says which node has references that wait, in both tables.
        has_waiting = "select string_agg(has_waiting::text, ' ' order by name) from skua.node_states()"
        self.assertEqual(ask.run(has_waiting), "false false")
        nodes[0].run("insert into skua.mentioned_accounts (dids) values ('{did:plc:a}')")
        self.assertEqual(ask.run(has_waiting), "true false")
        nodes[1].run("insert into skua.waiting_references (account_group, text) values (0, 'did:plc:a')")
        self.assertEqual(ask.run(has_waiting), "true true")
