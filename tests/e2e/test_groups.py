"""Groups of accounts: two databases that own one half of the groups each have together what one database has."""

import collections
import hashlib
import re
import string
import unittest

import two_databases
from harness import wait_for
from test_backfill import Backfill
from test_sim import Network

HALVES = {"0-31": range(32), "32-63": range(32, 64)}
OWN = two_databases.OWN_IN_TABLES


def group(did):
    return hashlib.sha256(did.encode()).digest()[0] >> 2


class Groups(Backfill):
    def live_network(self):
        network = Network("--accounts", 24, "--rate", "0.001", "--one-op-a-path", "--oddities", 0, "--hosts", 2)
        self.addCleanup(network.kill)
        network.control("/pause")
        return network

    def follow(self, database, network, seq, *arguments):
        """`skua run` up to a number of the stream."""
        skua = self.begin(database, network, "run", *arguments)
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), seconds=60, alive=[skua])
        return skua

    def counts(self, database):
        """What the process of the database has counted: (messages, messages of foreign accounts)."""
        metrics = database.value("select metrics from skua.metrics where source like 'relay:%'")
        return metrics["frames"], metrics.get("dropped", {}).get("foreign_account", 0)

    def rows(self, database):
        """The current records, by table and text key, without the values that belong to one database."""
        tables = two_databases.Content(database).current
        return collections.Counter(
            repr((table, key, sorted((name, str(value)) for name, value in row.items() if name not in OWN)))
            for table, rows in tables.items() for key, row in rows.items())

    def json_of(self, database):
        """The records as JSON, and their CIDs, by URI."""
        return collections.Counter(database.run("""
            with r as (select a.uri, a.cid, a.actor_id, c.id as collection_id, bsky.rkey_number(a.rkey) as rkey, row_number() over () as place
                       from bsky.all_records a join bsky.collections c on c.nsid = a.collection)
            select concat_ws(' ', r.uri, r.cid, j.record)
            from (select array_agg(actor_id order by place) a, array_agg(collection_id order by place) c, array_agg(rkey order by place) k from r) s,
                 bsky.record_json(s.a, s.c, s.k) j join r using (place)""").split("\n"))

    def check_halves(self, one, halves, contents=("rows", "json_of")):
        for content in (getattr(self, name) for name in contents):
            whole, parts = content(one), [content(database) for database in halves]
            self.assertGreater(min(len(part) for part in parts), 50)
            self.assertEqual(parts[0] + parts[1], whole)
        for database, owned in zip(halves, HALVES.values()):
            with_rows = database.run("select distinct bsky.account_group(did) from bsky.all_records").split()
            self.assertLessEqual({int(number) for number in with_rows}, set(owned))
            # Accounts of other groups have numbers, because records refer to them. All numbers carry the group.
            self.assertTrue(database.value("select bool_and(id >> 46 = bsky.account_group(did)) from bsky.actors"))
            self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
            self.assertLessEqual({group(did) for did in database.run("select did from skua.repositories").split()}, set(owned))

    def test_the_stream(self):
        network = self.live_network()
        seq = network.steps(400)["seq"]
        one, *halves = (self.database() for _ in range(3))
        for database, options in zip((one, *halves), ([], *(["--groups", text] for text in HALVES))):
            self.assertEqual(self.follow(database, network, seq, "--cursor", "oldest", *options).stop(), 0)
        self.check_halves(one, halves)
        (messages, none), *dropped = map(self.counts, (one, *halves))
        self.assertEqual((none, [read for read, _ in dropped]), (0, [messages, messages]))
        self.assertEqual(sum(foreign for _, foreign in dropped), messages)

        # The option is not needed again. A kill repeats some messages.
        seq = network.steps(100)["seq"]
        for database in (one, *halves):
            self.follow(database, network, seq).kill()
        seq = network.steps(20)["seq"]
        for database in (one, *halves):
            self.assertEqual(self.follow(database, network, seq).stop(), 0)
        self.check_halves(one, halves, ["rows"])

        with self.subTest("other groups are refused"):
            for database, owned, stated in ((halves[0], "the groups 0-31", "32-63"), (one, "all groups of accounts", "0-31")):
                refused = self.run_at(database, network, "run", "--groups", stated, code=1)
                self.assertTrue(refused.says(f"--groups {stated}: the database owns {owned}, and the groups of a database do not change"),
                                refused.tail())
                self.assertTrue(refused.says("index into a new database"))
            self.assertEqual(self.follow(halves[0], network, seq, "--groups", "0-15,16-31").stop(), 0)
        with self.subTest("status shows them"):
            self.assertTrue(self.skua(halves[1], "status").says("groups of accounts 32-63"))
            self.assertFalse(self.skua(one, "status").says("groups of accounts"))

    def test_backfills(self):
        network = self.network(accounts=30, records=600)
        one, *halves = (self.database() for _ in range(3))
        self.run_at(one, network, "backfill", "--network")
        cars = self.folder / "cars"
        network.control("/dump", dir=str(cars))
        dids = [path.stem for path in cars.glob("*.car")]
        program = self.run_at(halves[0], network, "backfill", "--network", "--groups", "0-31")
        foreign = [did for did in dids if group(did) > 31]
        self.assertTrue(program.says(f"{len(foreign)} accounts left out: of groups that this database does not own"), program.tail())
        program = self.run_at(halves[1], network, "backfill", "--car-dir", cars, "--groups", "32-63")
        own = len(dids) - len(foreign)
        self.assertTrue(program.says(f"{own} repositories left out: of groups that this database does not own"), program.tail())
        self.check_halves(one, halves)
        for database, owned in zip(halves, HALVES.values()):
            self.assertEqual(self.states(database), {"done": sum(group(did) in owned for did in dids)})

        file = self.folder / "all.txt"
        file.write_text("\n".join(dids))
        program = self.run_at(halves[0], network, "backfill", "--file", file)
        self.assertTrue(program.says(f"{own} repositories queued"), program.tail())
        reason = f"{foreign[0]}: the account is of group {group(foreign[0])}, which this database does not own"
        for command in (["backfill", foreign[0]], ["repo", "resync", foreign[0]], ["run", "--backfill", foreign[0]]):
            with self.subTest(command):
                refused = self.run_at(halves[0], network, *command, code=1)
                self.assertTrue(refused.says(reason), refused.tail())
        with self.subTest("nothing is said of records that are elsewhere"):
            # Records of this database refer to some of these accounts.
            known = halves[0].value(f"select min(did) from bsky.actors where did = any('{{{','.join(foreign)}}}')")
            unknown = next(did for did in (f"did:plc:{letter * 24}" for letter in string.ascii_lowercase) if group(did) > 31)
            for did in (known, unknown):
                info = self.run_at(halves[0], network, "repo", "info", did, code=0 if did == known else 1)
                self.assertTrue(info.says(f"{did}: group {group(did)}, which this database does not own: its records are not stored here"), info.tail())
            refused = self.run_at(halves[0], network, "verify", "--account", known, code=2)
            self.assertTrue(refused.says(f"the account {known}: group {group(known)}, which this database does not own"), refused.tail())
        with self.subTest("a job that SQL has queued"):
            halves[0].run(f"insert into skua.backfill_jobs (did, created_at, next_attempt) values ('{foreign[0]}', now(), now())")
            self.run_at(halves[0], network, "backfill", code=1)
            error = halves[0].value(f"select error from skua.backfill_jobs where did = '{foreign[0]}' and state = 'failed'")
            self.assertRegex(error, re.escape(reason.split(": ")[1]))
        with self.subTest("a running process has read the groups"):
            database = self.database()
            skua = self.follow(database, network, network.steps(1)["seq"], "--cursor", "oldest")
            self.assertEqual(skua.stop(), 0)
            refused = self.run_at(database, network, "backfill", "--groups", "0-31", code=1)
            self.assertTrue(refused.says("--groups 0-31: the database owns all groups of accounts"), refused.tail())

    def test_what_is_no_set_of_groups(self):
        for text in ("64", "3-2", "a", "1,"):
            command = [self.binary("skua"), "run", "--groups", text, "--relay", "ws://127.0.0.1:1", "--database", "postgresql://127.0.0.1:1/x"]
            refused = self.start(command, self.environment(None))
            self.assertEqual(refused.wait(), 2, refused.tail())
            self.assertTrue(refused.says(f"--groups: '{text}' are no groups: name numbers from 0 to 63"), refused.tail())


if __name__ == "__main__":
    unittest.main()
