"""Failures of the environment show in /health/ready with the cure, in /metrics, in the lines of metrics and in the log.
test_server_problems has those of the server. test_pages has those of a database that stops or becomes a standby, of a relay that
stops or is behind, of a quiet collection, a stuck consumer, a newer schema, and an account that is cut off.
"""

import unittest

from harness import BIN, closed_port, wait_for
from made import Network as Made
from test_clock import ShiftedClock
from test_pages import Pages
from test_verification import VerifiedNetwork

PAGES = ("--http", "127.0.0.1:0")


class OfHosts(VerifiedNetwork):
    """`skua run` can be ready before it is connected: with `--cursor oldest` it misses no message."""

    def test_a_relay_that_no_longer_has_the_events_after_the_cursor(self):
        network = self.network()
        pages = Pages(self.indexer(self.database(), network, "--cursor", "oldest", *PAGES))
        pages.wait_until_ready()
        network.fault("info")
        network.steps(5)
        pages.wait_for_reason("cursor-outdated")
        self.assertRegex(pages.check_shown("cursor-outdated", cure="backfill"), r"^relay:127\.0\.0\.1:\d+: \d+ s ago$")

    def test_a_relay_that_is_silent(self):
        network = self.network()
        program = self.indexer(self.database(), network, "--cursor", "oldest", *PAGES)
        pages = Pages(program)
        pages.wait_until_ready()
        self.catch_up(program, network.steps(5)["seq"])
        # The connection stays open, and answers pings.
        pages.wait_for_reason("source-silent", seconds=90)
        pages.check_shown("source-silent")
        network.steps(5)
        wait_for("messages", lambda: "source-silent" not in pages.codes(), seconds=90, alive=[program])

    def test_a_directory_that_is_down(self):
        network = self.network()
        pages = Pages(self.indexer(self.database(), network, "--cursor", "oldest", *PAGES,
                                   plc=f"http://127.0.0.1:{closed_port()}"))
        pages.wait_until_ready()
        network.steps(20)
        pages.wait_for_reason("plc-down", seconds=60)
        pages.check_shown("plc-down")

    def test_a_certificate_that_is_not_trusted(self):
        capture = self.folder / "a.capture"
        capture.write_bytes(Made().capture())
        program = self.start([BIN / "skua", "run", "--relay", self.sim(capture, "--tls").url, "--stats-interval", "1", *PAGES],
                             self.environment(self.database()))
        pages = Pages(program)
        pages.wait_for_reason("source-tls")
        self.assertIn("is not trusted", pages.check_shown("source-tls", cure="certificate"))


class OfTheClock(ShiftedClock):
    def test_a_clock_that_is_wrong(self):
        network = self.network()
        _, shifted = self.shift("-10m")
        program = self.start([BIN / "skua", "run", "--relay", network.url, "--stats-interval", "1", *PAGES],
                             {**self.environment(self.database()), **shifted})
        pages = Pages(program)
        pages.wait_for_reason("clock-wrong")
        self.assertEqual(pages.check_shown("clock-wrong", cure="NTP"), "the clock of this machine is 10 min behind PostgreSQL's")


if __name__ == "__main__":
    unittest.main()
