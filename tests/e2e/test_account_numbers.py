"""The account numbers are exhausted: the indexer ends, prints the reason, and loses nothing."""

from harness import EndToEnd, wait_for
from test_sim import Network


class AccountNumbers(EndToEnd):
    def test_the_end_of_account_numbers_is_no_dead_letter(self):
        network = Network("--accounts", 5, "--records", 20, "--rate", "0.001", "--hosts", 1, "--oddities", 0)
        self.addCleanup(network.kill)
        network.control("/pause")
        database = self.database()
        arguments = ["run", "--relay", network.url, "--cursor", "oldest", "--plc", network.ready["plc"]]
        environment = {**self.environment(database), "SKUA_VERIFY": "full"}
        # All numbers were used. No row has the last one, because the sequence would otherwise be raised to it below.
        database.run("select setval('bsky.actors_id_seq', 2147483647)")
        network.steps(50)
        skua = self.start([self.binary("skua"), *arguments], environment)
        self.assertEqual(skua.wait(60), 1, skua.tail())
        self.assertTrue(skua.says("no numbers are left"), skua.tail())
        self.assertTrue(skua.says("100 % of all account numbers are used"), skua.tail())
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        status = self.skua(database, "status")
        self.assertTrue(status.says("2,147,483,647 account numbers used (100.00 % of all)"), status.tail())
        # With free numbers again, it continues at the cursor and stores the same records as another database.
        database.run("select setval('bsky.actors_id_seq', 1000)")
        self.assertEqual(self.indexed(database, arguments), self.indexed(self.database(), arguments))

    def indexed(self, database, arguments):
        """All records, after the whole stream was read."""
        skua = self.start([self.binary("skua"), *arguments], {**self.environment(database), "SKUA_VERIFY": "full"})
        wait_for("the end", lambda: skua.reached(50), alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        records = database.rows("select uri, cid from bsky.all_records order by 1")
        self.assertGreater(len(records), 0)
        return records
