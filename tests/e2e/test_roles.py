"""A member of skua_writer runs Skua, and cannot change the schema."""

import json
import unittest
import urllib.parse
import uuid

from harness import Database, wait_for
from test_sim import SimTest

PASSWORD = "only-of-this-test"
REFUSED = (
    "drop table bsky.posts",
    "alter table bsky.posts add extra text",
    "create index on bsky.posts (text)",
    "create table skua.extra (id int4)",
    "create function bsky.extra() returns int4 language sql as 'select 1'",
    "insert into skua.migrations (version, name, checksum) values (9999, 'made', 'made')",
    "insert into skua.reader_tables values ('consumer_secrets')",
    "delete from skua.schema_files",
    "select skua.grant_writer()",
)


class Roles(SimTest):
    def login(self, database, group):
        """The database as seen by a new role in a group."""
        role = "roles_" + uuid.uuid4().hex[:12]
        database.run(f"create role {role} login password '{PASSWORD}' in role {group}")
        self.addCleanup(database.run, f"drop role {role}")
        parts = urllib.parse.urlsplit(database.url)
        place = parts.netloc.rpartition("@")[2]
        return Database(urllib.parse.urlunsplit(parts._replace(netloc=f"{role}:{PASSWORD}@{place}")))

    def setUp(self):
        super().setUp()
        self.owner = self.database()
        self.writer = self.login(self.owner, "skua_writer")

    def counts(self):
        return self.owner.value("select coalesce(sum(likes), 0) from bsky.post_stats")

    def test_a_writer_runs_skua(self):
        network = self.network("--accounts", "30", "--records", "600", "--rate", "50")
        directory = ("--plc", network.ready["plc"], "--allow-private-hosts")
        self.skua(self.owner, "consumers", "add", "post_stats")
        program = self.indexer(self.writer, network.url, "--verify", "full", *directory)
        wait_for("records", lambda: self.owner.value("select count(*) from bsky.all_records") > 50, alive=[program])
        # Tables of projections belong to the owner.
        wait_for("the reason", lambda: "as that role" in (self.owner.value("select error from skua.consumers") or ""),
                 alive=[program])
        self.skua(self.owner, "consumers", "run-until-idle")
        before = self.counts()
        wait_for("new likes in the projection", lambda: self.counts() > before, alive=[program])
        did = self.owner.value("select min(did) from bsky.actors where did like 'did:plc:%'")
        self.skua(self.writer, "backfill", did, *directory)
        self.skua(self.writer, "filter", "add", "--collection", "app.bsky.feed.post")
        self.skua(self.writer, "consumers", "pause", "post_stats")
        self.skua(self.writer, "retention", "set", "app.bsky.feed.like", "30d")
        examined = self.skua(self.writer, "doctor", "--json", "--relay", network.url)
        (role,) = [one for one in json.loads("\n".join(examined.stdout))["findings"] if one["check"] == "role"]
        self.assertEqual(role["level"], "ok")
        self.assertIn("does not own them", role["detail"])
        self.assertEqual(program.stop(), 0, program.tail())
        self.assertFalse(program.says("permission denied"), program.tail())

    def test_a_writer_cannot_change_the_schema(self):
        for sql in REFUSED:
            with self.subTest(sql), self.assertRaisesRegex(AssertionError, "permission denied|must be owner"):
                self.writer.run(sql)
        # The next partition of the change log, and the end of an old one.
        partitions = "select count(*) from pg_class where relname = 'change_log_7'"
        self.writer.run("select skua.make_change_log_partition(7)")
        self.assertEqual(self.owner.value(partitions), 1)
        self.writer.run("insert into skua.change_log_7 select * from skua.change_log")
        self.writer.run("select skua.drop_change_log_partition(7)")
        self.assertEqual(self.owner.value(partitions), 0)

    def test_a_reader_writes_nothing(self):
        reader = self.login(self.owner, "skua_reader")
        for sql in ("insert into bsky.actors (did) values ('did:web:a.example')", "delete from skua.cursors",
                    "select skua.make_change_log_partition(7)", "select skua.drop_change_log_partition(0)"):
            with self.subTest(sql), self.assertRaisesRegex(AssertionError, "permission denied"):
                reader.run(sql)

    def test_a_reader_sees_what_is_missing_from_an_answer(self):
        reader = self.login(self.owner, "skua_reader")
        for arguments, text in ((("most-liked",), "post_stats does not exist"), (("search", "word"), "index search does not exist"),
                                (("labelled", "spam"), "no labels")):
            answer = json.loads("\n".join(self.skua(None, "query", *arguments, "--json", "--database", reader.url).stdout))
            (note,) = answer["notes"]
            self.assertIn(text, note["text"])
            # A password does not go to the terminal or into a log.
            self.assertNotIn(PASSWORD, "".join(note["commands"]))


if __name__ == "__main__":
    unittest.main()
