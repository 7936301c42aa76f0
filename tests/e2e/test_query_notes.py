"""`skua query` states what is missing from an answer: projections, indexes, labels, and records that the database leaves out."""

import json
import re
import subprocess
import unittest

import filled
import projections
from harness import EndToEnd, wait_for
from made import busy_network
from test_documents import queries, variables

# Statements after which a need is missing, for a transaction. A projection without tables shows no rows.
WITHOUT = {
    **{f"projection {name}": f"delete from skua.consumers where name = '{name}';" for name in projections.NAMES},
    "index search": "drop index bsky.posts_search;",
    "index backlinks": "drop index bsky.records_links;",
    "labels": "delete from bsky.labels;",
}
# The views without rows, if they are others than the one with the name of the projection.
VIEWS = {"tag_trends": ["post_tags", "tag_trends"]}
# In the made rows no rule is broken, no list of records links to a record, and no label hides a post.
NOT_SEEN = {("quotes", "projection post_rules"), ("counts", "projection post_rules"), ("engagement", "projection post_rules"),
            ("backlinks", "index backlinks"), ("backlink-counts", "index backlinks"), ("unhidden-posts", "labels")}


class QueryNotes(EndToEnd):
    def answer(self, database, *arguments):
        return json.loads("\n".join(self.skua(database, "query", *arguments, "--json").stdout))

    def notes(self, database, *arguments):
        return [note["text"] for note in self.answer(database, *arguments)["notes"]]

    def shell(self, command):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def declared(self):
        return {(name, need) for name, statement in queries().items()
                for need in re.findall(r"^-- needs ([a-z_ ]+); ", statement, re.MULTILINE)}

    def test_each_query_declares_what_it_needs_and_nothing_else(self):
        database = self.database()
        filled.fill(database, rows=300, accounts=20, known=200)
        projections.add(database.url)
        self.assertEqual(projections.differences(database.url), [])
        for index in ("search", "backlinks"):
            self.skua(database, "index", "add", index)
        # The search without its index reads 5,000 posts, which are all: it must find another number of them.
        database.run("do $$ begin execute replace(pg_get_functiondef('bsky.search'::regproc), 'LIMIT 5000', 'LIMIT 1'); end $$")
        results = "".join(f"select '{name}', coalesce(json_agg(row_to_json(q)), '[]') from (\n{statement}\n) q;"
                          for name, statement in queries().items())

        def answers(change):
            lines = database.run(f"{variables()}\\set words text\nbegin; {change} {results} rollback;").splitlines()
            return dict(line.split("|", 1) for line in lines if "|" in line)

        complete = answers("")
        self.assertEqual(set(complete), set(queries()))
        differ = set()
        for need, change in WITHOUT.items():
            kind, _, name = need.rpartition(" ")
            hide = "".join(f"select skua.show_projection('{view}', null);" for view in VIEWS.get(name, [name])) if kind == "projection" else ""
            without = answers(change + hide)
            differ |= {(name, need) for name, answer in without.items() if answer != complete[name]}
        self.assertEqual(differ - self.declared(), set(), "a query whose answer is another one without what it does not declare")
        self.assertEqual(self.declared() - differ, NOT_SEEN & self.declared())

    def test_a_projection_that_does_not_exist_and_the_commands_that_build_it(self):
        database = self.database()
        filled.fill(database, rows=300, accounts=20, known=200)
        flag = ("--database", database.url)
        program = self.skua(None, "query", "most-liked", *flag)
        self.assertEqual(program.stdout[-1], "(0 rows)")
        self.assertRegex("\n".join(program.stderr), r"(?m)^note: the projection post_stats does not exist: there are no rows\. ")
        answer = self.answer(None, "most-liked", *flag)
        (note,) = answer["notes"]
        self.assertEqual(["\n".join(program.stderr).count(command) for command in note["commands"]], [1, 1])
        self.shell(note["commands"][0])
        (text,) = self.notes(database, "most-liked")
        self.assertIn("post_stats is being built: until then, there are no rows", text)
        self.shell(note["commands"][1])
        answer = self.answer(None, "most-liked", "--limit", "all", *flag)
        self.assertEqual((answer["notes"], answer["more"]), ([], False))
        self.assertGreater(len(answer["rows"]), 0)
        # Without the flag, the command does not have it; with --quiet there is no note.
        command = self.answer(database, "notifications", filled.HANDLE)["notes"][0]["commands"][0]
        self.assertTrue(command.endswith("/skua consumers add notifications"), command)
        self.assertEqual(self.skua(database, "query", "notifications", filled.HANDLE, "--quiet").stderr, [])

    def test_a_projection_that_does_not_follow_the_log(self):
        network, _ = busy_network(accounts=3, rounds=3)
        capture = self.folder / "log.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        self.skua(database, "consumers", "add", "post_stats")
        self.skua(database, "consumers", "run-until-idle")
        self.skua(database, "consumers", "pause", "post_stats")
        self.assertEqual(self.notes(database, "most-liked"), [], "it has read all changes")
        state = "update skua.consumers set state = '{}', error = 'broken', paused = {};"
        behind = ("update skua.consumer_lanes set pos = 1, is_blocked = {}; update skua.change_log set at = clock_timestamp() - interval '10 minutes';")
        for change, text, command in (
            (state.format("stopped", "false"), "is stopped by an error: ", "consumers reset post_stats"),
            (state.format("lagged out", "false"), "is lagged out: ", "consumers rebuild post_stats"),
            (state.format("running", "false") + behind.format("false"), r"is [\d,]+ changes behind \(10 min\)", "run-until-idle post_stats"),
            (state.format("running", "true"), r"is paused and [\d,]+ changes \(10 min\) behind: its part", "consumers resume post_stats"),
            (behind.format("true"), r"is stopped by an error and [\d,]+ changes \(10 min\) behind: ", "consumers reset post_stats"),
            ("update skua.consumers set role = 'next'", "the build of the projection post_stats failed: broken", "rebuild post_stats"),
        ):
            with self.subTest(text):
                database.run(change)
                (note,) = self.answer(database, "most-liked")["notes"]
                self.assertRegex(note["text"], text)
                self.assertTrue(any(command in each for each in note["commands"]), note)

    def test_an_index_that_is_missing_or_incomplete(self):
        database = self.database()
        database.run("insert into bsky.actors (did, indexed_at) values ('did:plc:a', now());")
        (note,) = self.answer(database, "search", "text", "--database", database.url)["notes"]
        self.assertEqual(note["text"], "the index search does not exist: only the newest 5,000 posts are searched")
        self.shell(note["commands"][0])
        self.assertEqual(self.notes(database, "search", "text"), [])
        database.run("update pg_index set indisvalid = false where indexrelid = 'bsky.posts_search'::regclass")
        (note,) = self.answer(database, "search", "text", "--database", database.url)["notes"]
        self.assertIn("the build of the index search was interrupted", note["text"])
        self.shell(note["commands"][0])
        self.assertEqual(self.notes(database, "search", "text"), [])

    def test_an_index_that_is_being_built(self):
        database = self.database()
        # A concurrent build waits for the transactions that write to the table.
        writer = self.start(["psql", "-XAtq", database.url, "-c", "begin; lock table bsky.posts in row exclusive mode; select pg_sleep(600)"])
        waits = "select count(*) from pg_locks where relation = 'bsky.posts'::regclass and mode = 'RowExclusiveLock'"
        self.wait(database, waits + " and granted")
        build = self.start([self.binary("skua"), "index", "add", "search"], self.environment(database))
        self.wait(database, "select count(*) from pg_index where indexrelid = to_regclass('bsky.posts_search')")
        self.assertIn("the index search is being built", self.notes(database, "search", "text")[0])
        self.assertRegex("\n".join(self.skua(database, "index", "list").stdout), r"search +being built")
        self.assertIn("is being built by another process", "\n".join(self.skua(database, "index", "add", "search", code=1).stderr))
        database.run("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%pg_sleep(600)%' and pid <> pg_backend_pid()")
        writer.wait(30)
        self.assertEqual(build.wait(60), 0, build.tail())

    def wait(self, database, count):
        wait_for(count, lambda: database.value(count) > 0)

    def test_a_database_without_labels(self):
        database = self.database()
        (text,) = self.notes(database, "labelled", "spam")
        self.assertIn("the database has no labels: there are no rows", text)
        filled.fill(database, rows=10, accounts=5, known=10)
        self.assertEqual(self.notes(database, "labelled", "spam"), [])

    def test_records_that_the_database_leaves_out(self):
        database = self.database()
        database.run("insert into bsky.actors (did, indexed_at) values ('did:plc:a', now());")
        self.assertEqual(self.notes(database, "latest"), [])
        self.skua(database, "filter", "add", "--collection", "app.bsky.feed.like")
        text = "the filter leaves out app.bsky.feed.post: their records are missing"
        self.assertEqual(self.notes(database, "latest"), [text])
        self.assertEqual(self.notes(database, "collections"), [])
        self.skua(database, "filter", "set", "--collection", "app.bsky.feed.post")
        # The counts of a projection are those of the records that it is computed from.
        missing = self.notes(database, "most-liked")
        self.assertTrue(any("leaves out app.bsky.feed.like, app.bsky.feed.repost" in note for note in missing), missing)
        self.skua(database, "filter", "set", "--did", "did:plc:ar7c4by46qjdydhdevvrndac")
        self.assertEqual(self.notes(database, "latest"), ["the filter lets only 1 account through: records of others are missing"])
        self.skua(database, "filter", "clear")
        self.skua(database, "retention", "set", "app.bsky.feed.post", "30d")
        self.assertEqual(self.notes(database, "latest"), ["records are kept for a limited time: app.bsky.feed.post for 30 d 0 h"])
        database.run("insert into skua.dropped_indexes (name, relation, definition) values ('posts_sort_at', 'bsky.posts', '')")
        self.assertIn("a bootstrap has not ended, and 1 index is missing", self.notes(database, "latest")[0])

    def test_sources_that_are_not_read(self):
        database = self.database()
        database.run("insert into skua.cursors (source, cursor, event_time, saved_at) values ('relay:a', 1, now() - interval '3 hours', now())")
        (text,) = self.notes(database, "latest")
        self.assertRegex(text, r"the sources are read up to [\d: -]+ UTC, 3 h 0 min ago: later records are missing")
        database.run("insert into skua.cursors (source, cursor, event_time, saved_at) values ('relay:b', 1, now(), now())")
        self.assertEqual(self.notes(database, "latest"), [])

    def test_a_query_that_fails_prints_what_is_missing(self):
        database = self.database()
        database.run("create or replace function bsky.search(words text, max_rows int4 default 50, before timestamptz default null, last_uri text default null) returns setof bsky.posts_view "
                     "language sql as 'select p.* from pg_sleep(60) s left join bsky.posts_view p on true'")
        program = self.skua(database, "query", "search", "word", "--timeout", "1s", code=1)
        self.assertRegex("\n".join(program.stderr), r"(?s)note: the index search does not exist.*statement timeout")
        # The look-up of the arguments has the same limit.
        database.run("insert into bsky.actors (did, indexed_at) values ('did:plc:a', now());"
                     "create or replace function bsky.actor_id(account text) returns int8 language sql as 'select 1 from pg_sleep(60)'")
        program = self.skua(database, "query", "notifications", "a.test", "--timeout", "1s", code=1)
        self.assertRegex("\n".join(program.stderr), r"(?s)note: the projection notifications does not exist.*statement timeout")


if __name__ == "__main__":
    unittest.main()
