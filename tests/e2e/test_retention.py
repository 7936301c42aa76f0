"""`skua retention` and `skua filter exclude`: rows that go while skua runs, and records that are not stored."""

import json
import signal
import unittest

import comparison
import projections
from harness import wait_for
from test_filter import COMPLETE, LIKE, POST, Filter

AGE = "least(created_at, indexed_at)"


class Retention(Filter):
    def retention(self, database, *arguments, code=0):
        return "\n".join(self.skua(database, "retention", *arguments, code=code).output())

    def assert_consistent(self, database):
        self.assertEqual(comparison.change_log_differences(database), [])
        self.assertEqual(projections.differences(database.url), [])

    def test_old_records_are_neither_stored_nor_kept(self):
        network = self.network_of(accounts=8, records=300)
        database = self.database()
        self.assertIn("all records are kept", self.retention(database, "list"))
        self.assertIn("kept for 60 d 0 h", self.retention(database, "set", LIKE, "60d"))
        projections.add(database.url)
        program = self.start([self.binary("skua"), "backfill", "--network", "--relay", network.ready["relay"]],
                             self.environment_at(database, network))
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertEqual(database.value(COMPLETE), 8)
        old = f"select count(*) from bsky.likes where {AGE} < now() - interval '60 days'"
        self.assertEqual(database.value(old), 0)
        self.assertGreater(database.value("select count(*) from bsky.likes"), 0)
        self.retention(database, "set", POST, "60d")
        self.assertGreater(database.value(f"select count(*) from bsky.posts where {AGE} < now() - interval '60 days'"), 0)
        skua = self.begin(database, network, "--relay", network.url)
        wait_for("old posts to go", lambda: not database.value(
            f"select count(*) from bsky.posts where {AGE} < now() - interval '60 days'"), seconds=60, alive=[skua])
        network.control("/step", count=100)
        wait_for("the messages", lambda: database.value("select count(*) from bsky.posts where "
                                                        "indexed_at > now() - interval '1 minute' and cid is not null"),
                 alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        rule = {rule["collection"]: rule for rule in json.loads(self.retention(database, "list", "--json"))}[POST]
        self.assertEqual(rule["keep_seconds"], 60 * 86400)
        self.assertGreater(rule["removed_rows"], 0)
        self.assertIsNotNone(rule["pass_at"])
        self.assert_consistent(database)
        # What the retention removed comes back with a backfill once it is kept.
        self.assertIn("are kept from now on", self.retention(database, "remove", LIKE))
        self.assertIn("nothing changed", self.retention(database, "remove", LIKE))

    def test_a_removal_that_a_crash_interrupts_is_done_by_the_next(self):
        network = self.network_of(accounts=8, records=300)
        database = self.brought_in(network)
        projections.add(database.url)
        self.retention(database, "set", POST, "60d")
        old = f"select count(*) from bsky.posts where {AGE} < now() - interval '60 days'"
        had = database.value(old)
        self.assertGreater(had, 0)
        self.crash(database, network, "before_expiry_commit", "retention", "apply")
        self.assertEqual(database.value(old), had)
        did = database.value("select a.did from bsky.actors a join bsky.likes l on l.actor_id = a.id limit 1")
        self.filter(database, "exclude", "--did", did)
        self.crash(database, network, "excluded_removed", "retention", "apply")
        self.assertEqual(database.value(f"select count(*) from bsky.all_records where did = '{did}'"), 0)
        self.assertEqual(database.value("select count(*) from skua.excluded_accounts where removed_at is not null"), 0)
        self.assertIn("of 1 excluded account", self.retention(database, "apply"))
        self.assertEqual(database.value(old), 0)
        self.assertEqual(database.value("select count(*) from skua.excluded_accounts where removed_at is not null"), 1)
        self.assert_consistent(database)

    def test_the_purge_of_a_large_account_survives_a_crash(self):
        network = self.network_of(accounts=6, records=100)
        database = self.brought_in(network)
        # Every account has 20,000 more likes.
        database.run("insert into bsky.likes select (jsonb_populate_record(l, jsonb_build_object('rkey', l.rkey + n))).* "
                     "from bsky.likes as l, generate_series(1, 20000) as n "
                     "where l.rkey = (select min(rkey) from bsky.likes as o where o.actor_id = l.actor_id)")
        environment = {**self.environment_at(database, network), "SKUA_CRASH_AT": "before_purge_commit:1"}
        skua = self.start([self.binary("skua"), "run", "--relay", network.url, "--cursor", "oldest"], environment)
        wait_for("its connection", lambda: skua.says("connected to "), alive=[skua])
        network.control("/incident", kind="leave_for_good")
        self.assertEqual(skua.wait(60), -signal.SIGKILL, skua.tail())
        [gone] = [row["did"] for row in database.rows("select did from skua.purges")]
        rows = f"select count(*) from bsky.all_records where did = '{gone}'"
        self.assertGreater(database.value(rows), 20_000)

        skua = self.begin(database, network, "--relay", network.url, "--cursor", "oldest")
        wait_for("the purge", lambda: not database.value("select count(*) from skua.purges"), seconds=60, alive=[skua])
        self.assertEqual(database.value(rows), 0)
        self.assertEqual(skua.stop(), 0, skua.tail())
        metrics = database.value("select metrics from skua.metrics where source <> 'backfill'")
        self.assertGreater(metrics["purged_rows"], 10_000, "the worker deletes the first 5,000 only")

    def test_an_excluded_account_leaves_and_returns(self):
        network = self.network_of(accounts=6, records=200)
        database = self.brought_in(network)
        projections.add(database.url)
        did = database.value("select a.did from bsky.actors a join bsky.posts p on p.actor_id = a.id "
                             "where p.cid is not null group by 1 order by count(*) desc limit 1")
        rows = f"select count(*) from bsky.all_records where did = '{did}'"
        had = database.value(rows)
        self.assertGreater(had, 0)
        skua = self.begin(database, network, "--relay", network.url)
        wait_for("its connection", lambda: skua.says("connected to "), alive=[skua])
        self.assertIn("1 account excluded", self.filter(database, "exclude", "--did", did))
        self.assertIn(did, self.filter(database, "show"))
        wait_for("the exclusion", lambda: skua.says("stored from now on"), alive=[skua])
        network.control("/step", count=200)
        said = self.retention(database, "apply")
        self.assertIn("of 1 excluded account", said)
        self.assertEqual(database.value(rows), 0)

        def of_others():
            return [line for line in self.differences(database, network) if did not in line]

        wait_for("the others", lambda: not of_others(), seconds=60, every=0.5, alive=[skua])
        self.assertEqual(database.value(rows), 0)
        # A backfill does not bring it in either.
        refused = self.start([self.binary("skua"), "backfill", did], self.environment_at(database, network))
        refused.wait(60)
        self.assertEqual(database.value(rows), 0)
        self.assertEqual(database.value(f"select error from skua.backfill_jobs where did = '{did}'"),
                         "the account is excluded (skua filter)")
        self.assertIn("1 account no longer excluded", self.filter(database, "include", "--did", did))
        database.run("update skua.repositories set next_attempt = now() where state = 'desynchronized'")
        self.wait_until_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assert_consistent(database)

    def test_what_is_wrong_is_said(self):
        database = self.database()
        for arguments, words in ((["set", "likes", "30d"], "'likes' is not a collection"),
                                 (["set", LIKE, "30"], "DURATION"), (["set", LIKE, "5m"], "DURATION"),
                                 (["remove", "likes"], "'likes' is not a collection")):
            with self.subTest(words):
                self.assertIn(words, self.retention(database, *arguments, code=2))
        self.assertIn("name accounts", self.filter(database, "exclude", code=2))
        self.assertIn("0 accounts no longer excluded",
                      self.filter(database, "include", "--did", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"))


if __name__ == "__main__":
    unittest.main()
