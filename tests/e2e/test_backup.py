"""pg_dump of a database that is indexed, and the restored database as the successor of the first."""

import json
import subprocess
import unittest
import urllib.parse

from harness import BIN, wait_for
from test_sim import SimTest

RECORDS = "select uri, cid, rev from bsky.all_records order by 1"
# Each database gives its own numbers to accounts that came after the dump. No row is the same as a row of zeros.
COUNTS = ("select a.did, s.rkey, s.likes, s.reposts, s.replies, s.quotes from bsky.post_stats s join bsky.actors a on a.id = "
          "s.actor_id where s.likes + s.reposts + s.replies + s.quotes > 0 order by 1, 2")


class Backup(SimTest):
    def setUp(self):
        super().setUp()
        self.sim_network = self.network("--accounts", "20", "--rate", "60")

    def run_on(self, database):
        return self.indexer(database, self.sim_network.url)

    def records(self, database):
        return database.value("select count(*) from bsky.all_records")

    def copy(self, source):
        """The dump of a database, restored into a new one."""
        file = self.folder / "backup.dump"
        subprocess.run(["pg_dump", "-Fc", "-f", file, source.url], check=True)
        target = self.database(migrated=False)
        subprocess.run(["pg_restore", "--exit-on-error", "-d", target.url, file], check=True)
        return target

    def test_a_dump_of_a_running_index_continues_where_it_was_made(self):
        first = self.database()
        self.skua(first, "consumers", "add", "post_stats")
        program = self.run_on(first)
        wait_for("a cursor", lambda: self.records(first) > 150 and first.value("select max(cursor) from skua.cursors"),
                 alive=[program])
        second = self.copy(first)
        cursor = second.value("select max(cursor) from skua.cursors")
        self.assertGreater(cursor, 0)
        followed = self.run_on(second)
        wait_for("a connection at the cursor", self.asked_cursors, alive=[program, followed])
        self.assertIn(cursor, self.asked_cursors())
        self.sim_network.control("/pause")
        for database, running in ((first, program), (second, followed)):
            wait_for("the last event", lambda database=database, running=running: running.reached(self.sim_network.state()["seq"]),
                     alive=[running])
            wait_for("the projection", lambda database=database: database.value(
                "select coalesce(max(skua.change_log_end() - pos), 0) from skua.consumer_lanes") == 0, alive=[running])
            self.assertEqual(running.stop(), 0)
        self.assertEqual(second.rows(RECORDS), first.rows(RECORDS))
        self.assertEqual(second.rows(COUNTS), first.rows(COUNTS))
        timelines = [database.value("select timeline from skua.change_log_state") for database in (first, second)]
        self.assertEqual(timelines, [1, 2])
        found = json.loads("\n".join(self.skua(second, "doctor", "--json").stdout))
        self.assertEqual([one for one in found["findings"] if one["level"] == "error"], [])

    def asked_cursors(self):
        return [int(event["cursor"]) for event in self.sim_network.events("connect") if event["cursor"] is not None]


if __name__ == "__main__":
    unittest.main()
