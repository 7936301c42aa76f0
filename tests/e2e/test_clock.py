"""A wrong or jumping clock loses no data: skua runs under libfaketime, which shifts the time of day but not the steady
clock.
"""

import os
import unittest

from harness import BIN, wait_for
from shifted_clock import set_shift, shifted_environment
from test_sim import Network
from test_verification import VerifiedNetwork


class ShiftedClock(VerifiedNetwork):
    def shift(self, by):
        file = self.folder / f"shift-{len(list(self.folder.glob('shift-*')))}"
        return file, shifted_environment(file, by)

    def shifted_indexer(self, database, network, by):
        file, shifted = self.shift(by)
        environment = {**self.environment(database), "SKUA_VERIFY": "full", **shifted}
        skua = self.start([BIN / "skua", "run", "--relay", network.url, "--plc", network.ready["plc"],
                           "--dns", network.ready["dns"], "--allow-private-hosts", "--stats-interval", "1",
                           "--cursor", "oldest"], environment)
        return file, skua

    def check_rows(self, database, network):
        """Checks that exactly the records of all repositories are stored."""
        _, repositories = self.dump(network)
        expected = sorted((did, path) for did, repository in repositories.items() for path in repository.records)
        found = sorted((row["did"], row["path"]) for row in database.rows(
            "select did, collection || '/' || rkey as path from bsky.all_records"))
        self.assertEqual(found, expected)


class Clock(ShiftedClock):
    def check_stream(self, by, words):
        network = self.network()
        database = self.database()
        network.steps(200)
        _, skua = self.shifted_indexer(database, network, by)
        self.catch_up(skua, network.steps(200)["seq"])
        wait_for("its words about the clock", lambda: skua.says(words), alive=[skua])
        figures = self.stop(database, skua)
        self.assertNotIn("future_rev", figures["dropped"])
        self.check_rows(database, network)
        return figures

    def test_of_a_clock_ten_minutes_behind_the_stream_is_indexed(self):
        figures = self.check_stream("-10m", "10 min behind PostgreSQL's")
        self.assertAlmostEqual(figures["server_clock_ahead_seconds"], 600, delta=5)

    def test_of_a_clock_three_days_behind_the_stream_is_indexed(self):
        self.check_stream("-3d", "3 d 0 h behind PostgreSQL's")

    def test_of_a_clock_an_hour_ahead_the_stream_is_indexed(self):
        self.check_stream("+1h", "60 min ahead of PostgreSQL's")

    def test_what_is_stored_has_the_time_of_postgresql(self):
        network = self.network()
        database = self.database()
        _, skua = self.shifted_indexer(database, network, "+3h")
        self.catch_up(skua, network.steps(200)["seq"])
        self.stop(database, skua)
        self.assertTrue(database.value("select max(indexed_at) <= now() from bsky.posts"))
        # Otherwise look-ups of handles would wait for that time.
        self.assertTrue(database.value(
            "select max(handle_lookups_charged_to) < now() + interval '1 hour' from bsky.actors"))

    def test_documents_that_were_read_while_the_clock_was_ahead_are_read_again(self):
        network = self.network()
        database = self.database()
        file, skua = self.shifted_indexer(database, network, "+30m")
        self.catch_up(skua, network.steps(200)["seq"])
        set_shift(file, "+0")
        for _ in range(10):
            network.control("/incident", kind="change_handle")
        self.catch_up(skua, network.steps(1)["seq"])
        self.stop(database, skua)
        accounts, _ = self.dump(network)
        claims = database.rows("select did, handle_claim from bsky.actors where handle_claim is not null")
        self.assertEqual({row["did"]: row["handle_claim"] for row in claims},
                         {row["did"]: accounts[row["did"]]["handle"] for row in claims})

    def test_jumps_both_ways_cost_nothing(self):
        network = self.network()
        database = self.database()
        network.steps(100)
        file, skua = self.shifted_indexer(database, network, "+0")
        for by in ("-2h", "+3h", "-30d", "+0"):
            set_shift(file, by)
            self.catch_up(skua, network.steps(100)["seq"])
        figures = self.stop(database, skua)
        self.assertNotIn("future_rev", figures["dropped"])
        self.check_rows(database, network)

    def test_of_clocks_that_are_all_behind_nothing_is_dropped_and_the_cursor_waits(self):
        # The network's clock is ahead, which is equivalent to our clock and PostgreSQL's being behind.
        _, ahead = self.shift("+3h")
        before = dict(os.environ)
        os.environ.update(ahead)
        try:
            network = Network("--accounts", 20, "--rate", "0.001", "--one-op-a-path")
        finally:
            os.environ.clear()
            os.environ.update(before)
        self.addCleanup(network.kill)
        network.control("/pause")
        database = self.database()
        seq = network.steps(300)["seq"]
        file, skua = self.shifted_indexer(database, network, "+0")
        wait_for("its words about the clock", lambda: skua.says("Intake waits until it is correct"), alive=[skua])
        wait_for("its line about what it holds", lambda: skua.says("held by the clock"), alive=[skua])
        self.assertEqual(database.value("select count(*) from bsky.all_records"), 0)
        # Frames that are held back stay unread after a stop, and the next start reads them again.
        figures = self.stop(database, skua)
        self.assertGreater(figures["frames_held"], 5)
        # Before the first commit there are some messages without a revision.
        self.assertLess(figures["cursor"], 20)
        self.assertEqual(database.value("select max(cursor) from skua.cursors"), figures["cursor"])
        file, skua = self.shifted_indexer(database, network, "+0")
        wait_for("its line about what it holds", lambda: skua.says("held by the clock"), alive=[skua])
        set_shift(file, "+3h")
        self.catch_up(skua, seq)
        figures = self.stop(database, skua)
        self.assertNotIn("future_rev", figures["dropped"])
        self.assertEqual(figures["frames_held"], 0)
        self.check_rows(database, network)


if __name__ == "__main__":
    unittest.main()
