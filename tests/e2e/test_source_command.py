"""`skua source`: lists the sources of a database, and forgets one."""

import json
import unittest

from harness import EndToEnd, wait_for
from made import Network


class SourceCommand(EndToEnd):
    def setUp(self):
        super().setUp()
        network = Network()
        account = network.account("writer")
        for number in range(5):
            account.post(f"post {number}")
        capture = self.folder / "some.capture"
        capture.write_bytes(network.capture())
        self.relay = self.sim(capture)
        self.name = "relay:" + self.relay.url.split("/")[2]
        self.db = self.database()

    def run_once(self, *arguments):
        """Indexes the relay up to its end; returns the running program."""
        skua = self.indexer(self.db, self.relay.url, *arguments)
        wait_for("the posts", lambda: self.db.value("select count(*) from bsky.posts") == 5, alive=[skua])
        return skua

    def sources(self):
        return json.loads("".join(self.skua(self.db, "source", "list", "--json").stdout))

    def test_list_and_forget(self):
        self.assertEqual(self.sources(), [])
        self.assertTrue(self.skua(self.db, "source", "list").says("no source has been read"))
        skua = self.run_once("--cursor", "oldest")
        with self.subTest("while it is read"):
            refused = self.skua(self.db, "source", "forget", self.name, code=1)
            self.assertTrue(refused.says(f"source {self.name} is already being indexed"), refused.tail())
        self.assertEqual(skua.stop(), 0)
        source, = self.sources()
        cursor = self.db.value("select cursor from skua.cursors")
        self.assertEqual((source["source"], source["kind"], source["cursor"]), (self.name, "relay", cursor))
        self.assertRegex(source["saved_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertGreater(source["cursor_age_seconds"], 0)
        # No process reads it: nobody knows whether events wait.
        self.assertIsNone(source["lag_seconds"])
        self.assertIsNone(source["holder"])
        self.assertNotIn("metrics", source)
        text = self.skua(self.db, "source", "list")
        self.assertTrue(any(self.name in line and str(cursor) in line for line in text.stdout), text.tail())

        self.db.run(f"insert into skua.tombstones (actor_id, collection_id, rkey, rev, seq, source) values "
                    f"(1, 1, 1, 1, 1, '{self.name}'), (1, 1, 2, 1, 1, 'relay:other.test')")
        forgot = self.skua(self.db, "source", "forget", self.name)
        self.assertTrue(forgot.says(f"forgot {self.name}: cursor {cursor}, 1 tombstone;"), forgot.tail())
        self.assertEqual(self.sources(), [])
        self.assertEqual(self.db.value("select count(*) from skua.metrics where source like '%:%'"), 0)
        self.assertEqual(self.db.value("select source from skua.tombstones"), "relay:other.test")
        self.assertEqual(self.db.value("select count(*) from bsky.posts"), 5)

        with self.subTest("a run begins as if there never had been one"):
            skua = self.indexer(self.db, self.relay.url)
            wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
            self.assertEqual(skua.stop(), 0)

    def test_a_name_that_is_none(self):
        refused = self.skua(self.db, "source", "forget", "relay:nowhere.test", code=1)
        self.assertTrue(refused.says("no source 'relay:nowhere.test'"), refused.tail())
        self.assertTrue(self.skua(self.db, "source", "forget", code=2).says("NAME"))


if __name__ == "__main__":
    unittest.main()
