"""Two processes for one source and database: the second is refused, and the message names the first."""

import unittest

from harness import EndToEnd, wait_for
from made import Network


class OneProcess(EndToEnd):
    def test_the_second_process_exits_1_and_names_the_first(self):
        network = Network()
        network.account("only").post("once")
        capture = self.folder / "one.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        relay = self.sim(capture)
        first = self.indexer(database, relay.url, "--cursor", "oldest")
        wait_for("the post", lambda: database.value("select count(*) from bsky.posts") == 1, alive=[first])

        second = self.indexer(database, relay.url)
        self.assertEqual(second.wait(20), 1, second.tail())
        words = "\n".join(second.stderr)
        self.assertIn("already", words)
        self.assertIn(str(first.process.pid), words)
        self.assertIsNone(first.process.poll(), "the first goes on")

        # Another source on the same database is allowed, and so is the same one after the first process has ended.
        other = self.sim(capture)
        third = self.indexer(database, other.url, "--cursor", "oldest")
        wait_for("a second source", lambda: third.says("connected to"), alive=[third])
        self.assertEqual(third.stop(), 0)
        self.assertEqual(first.stop(), 0)
        again = self.indexer(database, relay.url)
        wait_for("the next process", lambda: again.says("connected to"), alive=[again])
        self.assertEqual(again.stop(), 0)


if __name__ == "__main__":
    unittest.main()
