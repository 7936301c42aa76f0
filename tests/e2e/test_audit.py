"""An audit finds commits that the stream missed, for accounts that do not write again: hosts list a newer revision
than the stored one.
"""

import unittest

import comparison
from harness import wait_for
from shifted_clock import set_shift, shifted_environment
from test_backfill import Backfill
from test_sim import Network

AUDITED = "select count(*) from skua.backfill_hosts where what = 'audit:repos' and state = 'listed'"


class Audit(Backfill):
    def past_network(self):
        """A network whose clock is twenty minutes behind, and a function that corrects it."""
        file = self.folder / "shift"
        network = Network("--accounts", 8, "--rate", "0.001", "--one-op-a-path", "--oddities", 0, "--hosts", 2,
                          environment=shifted_environment(file, "-20m"))
        self.addCleanup(network.kill)
        network.control("/pause")
        return network, lambda: set_shift(file, "+0")

    def run_until(self, database, network, seq, *arguments):
        skua = self.begin(database, network, "run", "--relay", network.url, *arguments)
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), seconds=60, alive=[skua])
        return skua

    def make_due(self, database):
        """Sets the time of the last audit to yesterday."""
        self.assertEqual(database.value("select count(*) from skua.backfill_hosts where what = 'audit:hosts'"), 1)
        database.run("update skua.backfill_hosts set begun_at = now() - interval '1 day' where what = 'audit:hosts'")

    def behind(self, database, network):
        """DIDs whose rows differ from their repository."""
        return {line.split("/")[2] for line in comparison.path_differences(database, self.repositories(network))}

    def test_quiet_accounts_of_which_something_was_missed_are_repaired(self):
        network, set_clock_right = self.past_network()
        database = self.database()
        skua = self.run_until(database, network, network.control("/step", count=300)["seq"], "--cursor", "oldest")
        self.assertEqual(skua.stop(), 0)
        network.control("/step", count=40)  # No process reads the stream.
        set_clock_right()

        # The stream must continue: only this shows that it will not send the missed commits.
        skua = self.begin(database, network, "run", "--relay", network.url, "--cursor", "live")
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        seq = network.control("/step", count=1)["seq"]
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), alive=[skua])
        self.assertEqual(skua.stop(), 0)
        missed = self.behind(database, network)
        self.assertTrue(missed)
        self.make_due(database)
        skua = self.begin(database, network, "run", "--relay", network.url)
        wait_for("the audit", lambda: skua.says("audit: "), seconds=60, alive=[skua])
        wait_for("the resyncs", lambda: not self.behind(database, network), seconds=60, alive=[skua])
        wait_for("the end of the audit", lambda: database.value(AUDITED) == 2, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        status = self.run_at(database, network, "status")
        self.assertTrue(status.says("audit: the lists of 2 hosts read, 0 waiting, 0 abandoned, 8 entries"), status.tail())
        jobs = {row["did"] for row in database.rows("select did from skua.backfill_jobs")}
        self.assertTrue(jobs <= missed, "an account was downloaded that was not behind")

    def test_off_makes_no_list(self):
        network = self.network(accounts=8, records=0)
        database = self.database()
        skua = self.run_until(database, network, network.control("/step", count=20)["seq"], "--cursor", "oldest",
                              "--audit-every", "off")
        self.assertEqual(skua.stop(), 0)
        self.assertEqual(database.value("select count(*) from skua.backfill_hosts"), 0)


if __name__ == "__main__":
    unittest.main()
