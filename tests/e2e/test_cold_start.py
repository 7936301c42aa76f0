"""A start without any known keys: the requests to the PLC directory, and a stop while some keys are missing."""

import socket
import unittest

import comparison
from harness import wait_for
from test_verification import VerifiedNetwork

# The bounds of transport::requests_per_second.
FIRST_AT_ONCE, MOST_AT_ONCE = 13, 64
FIRST_PER_SECOND, MOST_PER_SECOND = 50, 500


class ColdStart(VerifiedNetwork):
    def keys(self, database):
        return database.value("select count(*) from skua.identities")

    def differences(self, database, repositories, without=frozenset()):
        """The differences between the database and the repositories, without the excluded accounts."""
        return [difference for difference in comparison.path_differences(database, repositories)
                if difference.split("/")[2] not in without]

    def test_a_directory_that_answers_quickly_is_asked_more_often(self):
        network = self.network("--even", "--oddities", 0, "--plc-delay", 100, accounts=700)
        seq = network.control("/step", count=4000)["seq"]
        database = self.database()
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, seq)
        load = network.state()["plc"]
        # A rate and its burst start in the same second.
        self.assertGreater(load["most_in_a_second"], 2 * FIRST_PER_SECOND)
        self.assertLessEqual(load["most_in_a_second"], 2 * MOST_PER_SECOND)
        self.assertGreater(load["most_at_once"], FIRST_AT_ONCE)
        self.assertLessEqual(load["most_at_once"], MOST_AT_ONCE)
        self.assertEqual(load["requests"], self.keys(database), "each account is asked for once")
        self.stop(database, skua)
        self.assertEqual(comparison.path_differences(database, self.dump(network)[1]), [])

    def test_a_directory_that_refuses_is_asked_less_often(self):
        network = self.network("--even", "--oddities", 0, accounts=300)
        seq = network.control("/step", count=2000)["seq"]
        network.control("/fault", kind="429", arg=1, count=5)
        database = self.database()
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, seq)
        load = network.state()["plc"]
        # Without a refusal there would be some hundreds; from half of the initial rate it grows by ten each second.
        self.assertLessEqual(load["most_in_a_second"], 2 * FIRST_PER_SECOND)
        self.assertLessEqual(load["most_at_once"], FIRST_AT_ONCE)
        self.assertGreaterEqual(load["requests"], self.keys(database) + 5)
        self.stop(database, skua)
        self.assertEqual(comparison.path_differences(database, self.dump(network)[1]), [])

    def test_a_stop_drains_what_needs_no_key(self):
        network = self.network("--even", "--oddities", 0)
        database = self.database()
        # An #identity event requires the current document: all these events come before.
        before = network.control("/step", count=400)["seq"]
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, before)
        self.stop(database, skua)
        accounts = self.keys(database)
        dids = sorted(self.dump(network)[1])
        self.assertEqual(accounts, len(dids))
        unknown = dids[::2]
        database.run(f"delete from skua.identities where did in ({', '.join(repr(did) for did in unknown)})")
        seq = network.control("/step", count=400)["seq"]
        repositories = self.dump(network)[1]

        # A directory that accepts requests and never answers.
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        skua = self.indexer(database, network, plc=f"http://127.0.0.1:{silent.getsockname()[1]}")
        wait_for("the rows of the accounts whose keys are known", alive=[skua], seconds=60,
                 condition=lambda: not self.differences(database, repositories, set(unknown)))
        # 0: all frames were drained, except those that wait for a key.
        self.stop(database, skua)
        self.assertEqual(self.differences(database, repositories, set(unknown)), [])
        self.assertNotEqual(self.differences(database, repositories), [])
        cursor = database.value("select cursor from skua.cursors")
        self.assertTrue(before <= cursor < seq, f"{before} <= {cursor} < {seq}")

        skua = self.indexer(database, network)
        self.catch_up(skua, seq)
        self.stop(database, skua)
        self.assertEqual(self.differences(database, repositories), [])
        self.assertEqual(self.keys(database), accounts)

    def test_downloads_of_one_large_host_grow_in_number(self):
        network = self.network("--even", "--oddities", 0, "--hosts", 1, "--records", 1200, "--pds-delay", 100,
                               accounts=120)
        # In this order, because the counts cover the whole time. One more request reads the host's list.
        for arguments, least, most in ((["--per-host", 3], 3, 4), ([], 8, 17)):
            with self.subTest(arguments):
                database = self.database()
                self.skua(database, "backfill", "--network", "--relay", network.ready["relay"], "--allow-private-hosts",
                          *arguments)
                (load,) = network.state()["hosts"]
                self.assertGreaterEqual(load["most_at_once"], least)
                self.assertLessEqual(load["most_at_once"], most)
                self.assertEqual(comparison.path_differences(database, self.dump(network)[1]), [])


if __name__ == "__main__":
    unittest.main()
