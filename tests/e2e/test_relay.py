"""Faults of relays: they drop connections, stall, send late, send damaged frames, and present wrong certificates."""

import signal
import unittest

import atproto
from harness import EndToEnd, free_port, wait_for
from made import busy_network

STALLED_AT = 300


class Relay(EndToEnd):
    def setUp(self):
        super().setUp()
        self.network, self.people = busy_network(accounts=8, rounds=40)
        self.capture = self.folder / "relay.capture"
        self.capture.write_bytes(self.network.capture())
        self.db = self.database()

    def cursor(self):
        return self.db.value("select max(cursor) from skua.cursors")

    def check_all_there(self):
        expected = sorted(
            (person.did, path, cid.text()) for person in self.people for path, cid in person.records.items()
        )
        rows = self.db.rows("select did, collection, rkey, cid from bsky.all_records")
        found = sorted((row["did"], f"{row['collection']}/{row['rkey']}", row["cid"]) for row in rows)
        self.assertEqual(found, expected)

    def finish(self, program, relay, seconds=30):
        """Waits until all is durable, stops the indexer, checks the saved cursor."""
        wait_for("the end of the capture", lambda: relay.events("caught_up"), seconds=seconds, alive=[program])
        # Frames that the relay has sent may still be in transmission.
        wait_for("the last cursor", lambda: program.reached(self.network.seq), alive=[program])
        self.assertEqual(program.stop(), 0)
        self.assertEqual(self.cursor(), self.network.seq)

    def test_cut_and_slow(self):
        half = self.network.seq // 2
        relay = self.sim(
            self.capture, "--cut-at", "100", "--cut-at", "101", f"--cut-at=seq:{half}", f"--slow-at=seq:{half + 50}:1"
        )
        program = self.indexer(self.db, relay.url, "--cursor", "oldest")
        self.finish(program, relay)
        # Each connection continues after the last complete frame.
        self.assertEqual(relay.cursors(), [0, 99, 100, half - 1])
        self.assertEqual(len(relay.events("fault")), 4)
        self.assertTrue(program.says("retrying in"))
        self.check_all_there()

    def test_a_ctrl_c_that_comes_twice_in_a_moment_is_one(self):
        relay = self.sim(self.capture)
        program = self.indexer(self.db, relay.url, "--cursor", "oldest")
        wait_for("the last cursor", lambda: program.reached(self.network.seq), alive=[program])
        # A terminal sends it to every process, and a script forwards it.
        program.signal(signal.SIGINT)
        program.signal(signal.SIGTERM)
        self.assertEqual(program.wait(), 0, program.tail())
        self.assertFalse(program.says("stopped at once"))
        self.assertEqual(self.cursor(), self.network.seq)

    def test_an_error_frame_ends_the_connection_with_its_words(self):
        relay = self.sim(self.capture, "--error-at", "50:ConsumerTooSlow")
        program = self.indexer(self.db, relay.url, "--cursor", "oldest")
        self.finish(program, relay)
        self.assertTrue(program.says("ConsumerTooSlow"))
        self.assertEqual(relay.cursors(), [0, 49])
        self.check_all_there()

    def test_a_relay_that_was_rebuilt_is_read_from_its_oldest_frame(self):
        beyond = self.network.seq + 1_000
        relay = self.sim(self.capture, "--future-cursor", "error")
        program = self.indexer(self.db, relay.url, "--cursor", str(beyond))
        wait_for("its words", lambda: program.says("FutureCursor"), alive=[program])
        self.finish(program, relay)
        self.assertEqual(relay.cursors(), [beyond, 0])
        self.check_all_there()

    def test_a_relay_that_goes_silent_is_left(self):
        relay = self.sim(self.capture, "--stall-at", str(STALLED_AT))
        program = self.indexer(self.db, relay.url, "--cursor", "oldest")
        # The indexer waits 60 seconds for a silent relay.
        self.finish(program, relay, seconds=90)
        self.assertEqual(relay.cursors(), [0, STALLED_AT - 1])
        self.check_all_there()

    def test_a_damaged_frame_is_set_aside(self):
        number = next(
            index for index, frame in enumerate(self.network.frames, 1)
            if index > 60 and atproto.decode_frame(frame)[0]["t"] == "#commit"
        )
        relay = self.sim(self.capture, "--corrupt-at", str(number))
        program = self.indexer(self.db, relay.url, "--cursor", "oldest")
        self.finish(program, relay)
        self.assertEqual(relay.cursors(), [0], "one bad frame is no reason to reconnect")
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 1)

    def test_wss(self):
        relay = self.sim(self.capture, "--tls")
        self.assertTrue(relay.url.startswith("wss://"))
        program = self.indexer(self.db, relay.url, "--cursor", "oldest", "--ca-file", relay.ready["ca_file"])
        self.finish(program, relay)
        self.check_all_there()

    def refused(self, relay, *arguments):
        program = self.indexer(self.db, relay.url, *arguments)
        wait_for("a refusal", lambda: program.says("cannot reach"), alive=[program])
        self.assertEqual(program.stop(), 0)
        self.assertEqual(relay.events("connect"), [])
        self.assertEqual(self.db.value("select count(*) from bsky.actors"), 0)
        return "\n".join(program.output())

    def test_wss_with_a_wrong_name_is_refused(self):
        relay = self.sim(self.capture, "--tls", "--host", "other.example")
        words = self.refused(relay, "--ca-file", relay.ready["ca_file"])
        self.assertRegex(words, "(?i)certificate.*(name|localhost)|(name|host).*certificate")

    def test_wss_without_the_authority_is_refused(self):
        relay = self.sim(self.capture, "--tls")
        words = self.refused(relay)
        self.assertRegex(words, "(?i)certificate")

    def test_live_begins_now_and_a_saved_cursor_is_continued(self):
        port = str(free_port())
        relay = self.sim(self.capture, "--port", port, "--live-from", "end")
        program = self.indexer(self.db, relay.url)
        wait_for("the connection", lambda: relay.events("caught_up"), alive=[program])
        self.assertEqual(program.stop(), 0)
        self.assertEqual(relay.cursors(), [None])
        self.assertIsNone(self.cursor())
        relay.stop()

        relay = self.sim(self.capture, "--port", port)
        program = self.indexer(self.db, relay.url, "--cursor", "200")
        self.finish(program, relay)
        program = self.indexer(self.db, relay.url)
        wait_for("the second connection", lambda: len(relay.cursors()) == 2, alive=[program])
        self.assertEqual(relay.cursors(), [200, self.network.seq])
        self.assertEqual(program.stop(), 0)


if __name__ == "__main__":
    unittest.main()
