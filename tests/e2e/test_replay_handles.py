"""`skua replay --handles`: the handles of a capture are looked up only on request."""

import re
import unittest

from harness import EndToEnd
from test_sim import Network

HANDLES = "select did, handle, handle_claim, handle_valid from bsky.actors where handle_claim is not null"


class ReplayHandles(EndToEnd):
    def recorded(self):
        """A network, and a capture of all frames of its relay."""
        network = Network("--accounts", 12, "--rate", "0.001", "--oddities", "0", "--one-op-a-path")
        self.addCleanup(network.kill)
        network.control("/pause")
        network.control("/step", count=150)
        for _ in range(3):
            network.control("/incident", kind="take_handle")
            network.control("/step", count=20)
        capture = self.folder / "all.frames"
        recorder = self.start([self.binary("skua"), "record", network.url, capture, "--cursor", "oldest", "--frames",
                               network.state()["frames"]])
        self.assertEqual(recorder.wait(60), 0, recorder.tail())
        return network, capture

    def replay(self, network, capture, *arguments):
        """A new database with the capture's rows, and the output of the replay."""
        database = self.database()
        program = self.start(
            [self.binary("skua"), "replay", capture, "--plc", network.ready["plc"], "--dns", network.ready["dns"],
             "--allow-private-hosts", *arguments],
            {**self.environment(database), "SKUA_VERIFY": "full"})
        self.assertEqual(program.wait(120), 0, program.tail())
        return database, program

    def test_checked_and_claimed(self):
        network, capture = self.recorded()
        with self.subTest("claimed: nothing is looked up"):
            for arguments in ([], ["--handles", "claimed"]):
                database, program = self.replay(network, capture, *arguments)
                self.assertFalse(program.says("handles: "), program.tail())
                rows = database.rows(HANDLES)
                self.assertTrue(rows)
                self.assertTrue(all(row["handle_valid"] is None for row in rows), rows)
        with self.subTest("checked: when it ends, each claim whose name leads back has been confirmed"):
            database, program = self.replay(network, capture, "--handles", "checked")
            rows = {row["did"]: row for row in database.rows(HANDLES)}
            network.control("/dump", dir=str(self.folder / "oracle"))
            valid = [account for account in network.accounts(self.folder / "oracle")
                     if account["handle_valid"] and account["did"] in rows]
            self.assertTrue(valid)
            for account in valid:
                row = rows[account["did"]]
                self.assertEqual((row["handle"], row["handle_valid"]), (account["handle"], True), account)
            self.assertEqual({did for did, row in rows.items() if row["handle_valid"]}, {account["did"] for account in valid})
            # An account that claims a handle again is looked up again.
            confirmed = next(int(match[1]) for line in program.output() if (match := re.match(r"handles: (\d+) confirmed, ", line)))
            self.assertGreaterEqual(confirmed, len(valid), program.tail())

    def test_checked_needs_the_network(self):
        _, capture = self.recorded()
        database = self.database()
        for arguments in (["--handles", "checked"], ["--handles", "checked", "--plc", "http://127.0.0.1:1",
                                                     "--verify", "none"]):
            program = self.start([self.binary("skua"), "replay", capture, *arguments], self.environment(database))
            self.assertEqual(program.wait(30), 2, program.tail())
            self.assertTrue(program.says("--handles checked: it needs --plc"), program.tail())
        program = self.start([self.binary("skua"), "replay", capture, "--handles", "maybe"], self.environment(database))
        self.assertEqual(program.wait(30), 2, program.tail())


if __name__ == "__main__":
    unittest.main()
