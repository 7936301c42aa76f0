"""The size of the log is bounded, whatever a relay sends."""

import re
import unittest

from harness import EndToEnd, wait_for
from made import BAD_UTF8, Network

FRAMES = 2_000
# Ten lines of a kind and one with the count of the rest; a run that takes longer than a minute starts again.
KINDS = 2
MOST = KINDS * (10 + 1)


class HostileRelay(EndToEnd):
    def setUp(self):
        super().setUp()
        self.db = self.database()

    def run_through(self, network):
        """The log lines about messages that all became dead letters; the last line counts the rest."""
        capture = self.folder / "bad.capture"
        capture.write_bytes(network.capture())
        relay = self.sim(capture)
        program = self.indexer(self.db, relay.url, "--cursor", "oldest")
        wait_for("the dead letters", lambda: self.db.value("select count(*) from skua.dead_letter") == FRAMES,
                 seconds=60, alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())
        self.assertEqual([line for line in program.metrics() if len(line) > 80], [])
        self.assertTrue(all(len(line) < 1_100 for line in program.stderr))
        return [line for line in program.stderr if "intake: " in line or "writer: " in line]

    def counted(self, lines):
        """The number of messages that the lines represent."""
        left_out = [re.search(r"\((\d+) more like this in \d+ s\)$", line) for line in lines]
        return sum(int(match[1]) if match else 1 for match in left_out)

    def test_a_relay_whose_every_frame_is_bad_does_not_flood_the_log(self):
        network = Network()
        for number in range(FRAMES):
            # Each in the name of another account, with a name that would control a terminal.
            network.send("#commit", repo=f"did:plc:{number:024}", rev="\x1b[2J" + "x" * 5_000, blocks=b"no CAR", ops=[],
                         since=None, commit=None, blobs=[], rebase=False, tooBig=False)
        lines = self.run_through(network)
        self.assertLessEqual(len(lines), MOST, "\n".join(lines[:50]))
        self.assertEqual(self.counted(lines), FRAMES)
        self.assertNotIn("\x1b", "".join(lines))

    def test_accounts_whose_every_record_is_bad_do_not_flood_the_log(self):
        network = Network()
        accounts = [network.account(f"bad{number}") for number in range(200)]
        for number in range(FRAMES):
            accounts[number % 200].commit((f"app.bsky.feed.post/{number % 7}x{number}", BAD_UTF8))
        lines = self.run_through(network)
        self.assertLessEqual(len(lines), MOST, "\n".join(lines[:50]))
        self.assertEqual(self.counted(lines), FRAMES)


if __name__ == "__main__":
    unittest.main()
