"""Another database at the same address, or an older state of it; and servers that skua refuses to use."""

import pathlib
import shutil
import stat
import subprocess
import time
import unittest
import urllib.parse

from database_proxy import TransactionPooler
from harness import Database, EndToEnd, free_port, wait_for
from made import Network
from standby import Standby
from test_backfill import DONE, QUEUED, Backfill
from test_outage import OwnServer

RATE = 40


def growing_network(accounts=130):
    """Accounts that join one after the other; each posts when it joins, and again while the next ones join."""
    network = Network()
    people = []
    for number in range(accounts):
        person = network.account(f"person{number}")
        person.post(f"the first post of person {number}")
        for other in people[-4:]:
            other.post(f"person {number} is new")
        people.append(person)
    return network, people


class OtherDatabase(OwnServer):
    def setUp(self):
        super().setUp()
        self.network, self.people = growing_network()
        capture = self.folder / "growing.capture"
        capture.write_bytes(self.network.capture())
        self.relay = self.sim(capture, "--port", str(free_port()), "--rate", str(RATE))

    def number(self, query):
        try:
            return self.db.value(query) or 0
        except AssertionError:
            return -1  # The server is unreachable.

    def posts(self):
        return self.number("select count(*) from bsky.posts where cid is not null")

    def cursor(self):
        return self.number("select max(cursor) from skua.cursors")

    def accounts(self):
        return self.number("select count(*) from bsky.actors")

    def wait_for_more(self, program, accounts):
        """Waits until `count` more accounts have rows, and the cursor has passed some of them."""
        reached, cursor = self.accounts(), self.cursor()
        wait_for("more accounts", lambda: self.accounts() >= reached + accounts, alive=[program])
        wait_for("a saved cursor", lambda: self.cursor() > max(cursor, 0) + 100, alive=[program])

    def check_end(self, program):
        wait_for("the end of the capture", lambda: self.cursor() == self.network.seq, seconds=120, alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())
        expected = sorted((person.did, path, cid.text())
                          for person in self.people for path, cid in person.records.items())
        rows = self.db.rows("select did, collection, rkey, cid from bsky.all_records")
        found = sorted((row["did"], f"{row['collection']}/{row['rkey']}", row["cid"]) for row in rows)
        self.assertEqual(len(set(expected) - set(found)), 0, "records are missing")
        self.assertEqual(found, expected)
        self.assertEqual(self.db.value("select count(*) from bsky.actors"), len(self.people))
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)
        self.assertTrue(program.says("the database has changed"), program.tail())

    def test_a_standby_that_lacks_the_last_commits_takes_over(self):
        standby = Standby(self.cluster)
        self.addCleanup(standby.stop)
        program = self.indexer(self.db, self.relay.url, "--cursor", "oldest")
        wait_for("the first accounts", lambda: self.accounts() > 8, alive=[program])
        reached = self.accounts()
        copy = Database(standby.url)
        wait_for("the standby", lambda: copy.value("select count(*) from bsky.actors") >= reached)
        standby.stop()
        self.wait_for_more(program, 25)
        self.cluster.pg("stop", "immediate")
        standby.take_the_place()
        time.sleep(2)  # It accepts connections for a while before it is a primary.
        standby.promote()
        self.assertLess(self.accounts(), reached + 20, "the standby had it all")
        self.check_end(program)

    def copy(self):
        self.cluster.pg("stop")
        subprocess.run(["cp", "-a", self.cluster.folder / "data", self.cluster.folder / "copy"], check=True)
        self.cluster.pg("start")

    def put_copy_in_place(self):
        self.cluster.pg("stop", "immediate")
        shutil.rmtree(self.cluster.folder / "data")
        (self.cluster.folder / "copy").rename(self.cluster.folder / "data")
        self.cluster.pg("start")

    def test_an_older_copy_of_the_same_cluster_is_put_in_its_place(self):
        self.copy()
        program = self.indexer(self.db, self.relay.url, "--cursor", "oldest")
        self.wait_for_more(program, 25)
        self.put_copy_in_place()
        self.check_end(program)

    def test_a_copy_lacks_the_cursor_that_a_process_went_on_from(self):
        self.copy()
        program = self.indexer(self.db, self.relay.url, "--cursor", "oldest")
        self.wait_for_more(program, 15)
        self.assertEqual(program.stop(), 0, program.tail())
        program = self.indexer(self.db, self.relay.url)
        self.wait_for_more(program, 10)
        self.put_copy_in_place()
        self.check_end(program)

    def test_the_database_is_made_anew(self):
        program = self.indexer(self.db, self.relay.url, "--cursor", "oldest")
        self.wait_for_more(program, 25)
        name = urllib.parse.urlsplit(self.db.url).path[1:]
        server = Database(self.db.url.replace("/" + name + "?", "/postgres?"))
        server.run("create database anew")
        self.skua(Database(self.db.url.replace("/" + name + "?", "/anew?")), "migrate")
        server.run(f"drop database {name} with (force)")
        server.run(f"alter database anew rename to {name}")
        self.check_end(program)

    def test_live_without_a_saved_cursor_goes_on_where_it_began(self):
        program = self.indexer(self.db, self.relay.url, "--cursor", "live")
        self.wait_for_more(program, 15)
        first = self.number("select count(*) from bsky.posts where cid is not null")
        self.db.run("delete from skua.cursors; delete from bsky.posts; delete from bsky.actors; "
                    "update skua.database_token set token = gen_random_uuid()")
        self.db.run("select pg_terminate_backend(pid) from pg_stat_activity "
                    "where datname = current_database() and application_name like 'skua %'")
        wait_for("its words", lambda: program.says("the database has changed"), alive=[program])
        wait_for("the posts from before", lambda: self.posts() >= first, alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())


class VerifiedWithHistory(Backfill):
    # As in a fail-over: new connections reach another database.
    CHANGE = ("update skua.database_token set token = gen_random_uuid(); "
              "select pg_terminate_backend(pid) from pg_stat_activity "
              "where datname = current_database() and application_name like 'skua %'")

    def slow_network(self):
        """A backfill that takes at least two seconds, with two requests per host."""
        return self.network(accounts=60, records=600, arguments=("--pds-delay", 150))

    def test_a_backfill_ends_and_the_next_one_goes_on(self):
        network, database = self.slow_network(), self.database()
        program = self.begin(database, network, "backfill", "--network", "--per-host", "2")
        wait_for("some repositories", lambda: database.value(DONE) >= 3, every=0.02, alive=[program])
        database.run(self.CHANGE)
        self.assertEqual(program.wait(60), 1, program.tail())
        self.assertTrue(program.says("the database is not the one that this began with"), program.tail())
        self.run_at(database, network, "backfill")
        self.check(database, self.repositories(network))

    def test_history_that_was_under_way_is_begun_anew(self):
        network, database = self.slow_network(), self.database()
        program = self.begin(database, network, "run", "--cursor", "oldest", "--backfill-network", "--per-host", "2")
        wait_for("some repositories", lambda: database.value(DONE) >= 3, every=0.02, alive=[program])
        # Jobs of this process are running, and stay so unless they are reclaimed.
        database.run(self.CHANGE)
        wait_for("its words", lambda: program.says("the database has changed"), alive=[program])
        wait_for("all repositories", lambda: database.value(QUEUED) == 0 and database.value(DONE) == 60, seconds=120,
                 alive=[program])
        self.check(database, self.repositories(network))
        self.assertEqual(program.stop(), 0, program.tail())


class Refused(EndToEnd):
    def setUp(self):
        super().setUp()
        capture = self.folder / "one.capture"
        network = Network()
        network.account("only").post("once")
        capture.write_bytes(network.capture())
        self.relay = self.sim(capture)

    def test_a_server_without_fsync_unless_it_is_allowed(self):
        database = self.database()
        if database.run("show fsync") == "on":
            self.skipTest("the tests' server has fsync on")
        program = self.start([self.binary("skua"), "run", "--relay", self.relay.url],
                             {**self.environment(database), "SKUA_ALLOW_UNSAFE_DATABASE": ""})
        self.assertEqual(program.wait(30), 1, program.tail())
        self.assertTrue(program.says("fsync is off"), program.tail())
        self.assertTrue(program.says("--allow-unsafe-database"), program.tail())
        program = self.start([self.binary("skua"), "run", "--relay", self.relay.url, "--allow-unsafe-database"],
                             {**self.environment(database), "SKUA_ALLOW_UNSAFE_DATABASE": ""})
        wait_for("its connection", lambda: program.says("connected to"), alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())
        self.skua(database, "status")

    def test_a_pooler_in_transaction_mode(self):
        database = self.database()
        parts = urllib.parse.urlsplit(database.url)
        query = urllib.parse.parse_qs(parts.query)
        path = pathlib.Path(query["host"][0]) / f".s.PGSQL.{query['port'][0]}"
        if not stat.S_ISSOCK(path.stat().st_mode):
            self.skipTest("the server has no socket")
        pooler = TransactionPooler(path, parts.username, parts.path[1:])
        self.addCleanup(pooler.close)
        self.assertEqual(Database(pooler.url).value("select 1"), 1)
        program = self.indexer(Database(pooler.url), self.relay.url)
        self.assertEqual(program.wait(30), 1, program.tail())
        self.assertTrue(program.says("pool_mode"), program.tail())


if __name__ == "__main__":
    unittest.main()
