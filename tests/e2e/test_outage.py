"""PostgreSQL fails under load: nothing is lost or duplicated, and skua resumes by itself."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from harness import ROOT, Database, EndToEnd, free_port, wait_for, with_database
from made import busy_network
from test_sim import SimTest


class Cluster:
    """A PostgreSQL of the test's own, to be stopped and started."""

    def __init__(self, folder):
        self.folder = folder
        self.pg("start")
        done = subprocess.run(
            [ROOT / "scripts/pg", "--dir", folder, "url"], capture_output=True, text=True, check=True
        )
        self.url = done.stdout.strip()

    def pg(self, *arguments):
        subprocess.run(
            [ROOT / "scripts/pg", "--dir", self.folder, *arguments], check=True, timeout=120,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )


    def freeze(self):
        """Makes it neither answer nor disconnect, as on a machine whose disk hangs. Returns a function that ends
        this."""
        main = (self.folder / "data/postmaster.pid").read_text().split()[0]
        everyone = [main, *pathlib.Path(f"/proc/{main}/task/{main}/children").read_text().split()]
        for pid in everyone:
            os.kill(int(pid), signal.SIGSTOP)

        def thaw():
            for pid in everyone:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGCONT)

        return thaw


class OwnServer(EndToEnd):
    """With a PostgreSQL that a test may stop."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.cluster = Cluster(self.folder / "pg")
        self.addCleanup(self.cluster.pg, "destroy")
        self.db = Database(self.cluster.url)
        self.skua(self.db, "migrate")


class BusyServer(OwnServer):
    """With a busy network at a given rate, and its expected rows."""

    def setUp(self):
        super().setUp()
        self.network, self.people = busy_network()
        self.capture = self.folder / "busy.capture"
        self.capture.write_bytes(self.network.capture())

    def serve(self, rate):
        self.relay = self.sim(self.capture, "--port", str(free_port()), "--rate", str(rate))
        return self.indexer(self.db, self.relay.url, "--cursor", "oldest")

    def posts(self):
        return self.db.value("select count(*) from bsky.posts where cid is not null")

    def check_end(self):
        expected = sorted(
            (person.did, path, cid.text()) for person in self.people for path, cid in person.records.items()
        )
        rows = self.db.rows("select did, collection, rkey, cid from bsky.all_records")
        found = sorted((row["did"], f"{row['collection']}/{row['rkey']}", row["cid"]) for row in rows)
        self.assertEqual(len(found), len(expected))
        self.assertEqual(found, expected)
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)
        # Ids: one per account, and every reference leads to the right account.
        self.assertEqual(self.db.value("select count(*) from bsky.actors"), len(self.people))
        self.assertEqual(
            self.db.value("select count(*) from bsky.likes l left join bsky.actors a on a.id = l.subject_actor where a.id is null"), 0
        )
        self.assertEqual(
            self.db.value(
                "select count(*) from bsky.follows f join bsky.actors a on a.id = f.actor_id "
                "join bsky.actors s on s.id = f.subject_actor where a.did = s.did"
            ), 0,
        )

    def saved_cursor(self):
        return self.db.value("select max(cursor) from skua.cursors")


class Outage(BusyServer):
    def test_stopped_at_once_and_a_backend_killed(self):
        program = self.serve(rate=400)
        wait_for("the first posts", lambda: self.posts() > 100, alive=[program])

        self.cluster.pg("stop", "immediate")
        wait_for("its words about the database", lambda: program.says("the database is down"), alive=[program])
        self.cluster.pg("start")
        reached = self.posts()
        wait_for("new posts after the outage", lambda: self.posts() > reached + 50, alive=[program])

        # SIGKILL of a backend makes the server end all connections and recover.
        backend = self.db.value("select min(pid) from pg_stat_activity where application_name like 'skua live%'")
        self.assertIsNotNone(backend)
        os.kill(backend, signal.SIGKILL)

        def answering():
            try:
                return self.posts() is not None
            except AssertionError:
                return False

        wait_for("the server's recovery", answering, alive=[program])
        wait_for("the end of the capture", lambda: self.saved_cursor() == self.network.seq, seconds=60, alive=[program])
        self.assertEqual(program.stop(), 0)
        self.check_end()

    def test_a_database_that_is_not_up_yet_is_waited_for(self):
        self.cluster.pg("stop")
        program = self.serve(rate=2_000)
        wait_for("its words about the database", lambda: program.says("the database is down"), alive=[program])
        self.cluster.pg("start")
        wait_for("the end of the capture", lambda: self.saved_cursor() == self.network.seq, seconds=60, alive=[program])
        self.assertEqual(program.stop(), 0)
        self.check_end()

    def test_a_database_that_is_not_up_yet_is_said_once(self):
        self.cluster.pg("stop")
        program = self.serve(rate=2_000)
        wait_for("its words about the database", lambda: program.says("the database is down"), alive=[program])
        time.sleep(5)  # Some more attempts.
        self.assertEqual(len(program.stderr), 1, program.tail())
        self.assertIn("is it up, and is the address right?", program.stderr[0])
        self.cluster.pg("start")
        wait_for("its connection", lambda: program.says("connected to"), alive=[program])
        self.assertIn("the database is back after", program.stderr[1])

    def test_a_database_that_is_not_there_is_an_error(self):
        nowhere = Database(with_database(self.cluster.url, "no_such_database"))
        program = self.skua(nowhere, "run", "--relay", "ws://127.0.0.1:1", code=1, seconds=20)
        self.assertTrue(program.says("no_such_database"))

    def test_a_stop_while_the_database_is_down_ends_in_time(self):
        program = self.serve(rate=400)
        wait_for("the first posts", lambda: self.posts() > 50, alive=[program])
        self.cluster.pg("stop", "immediate")
        wait_for("its words about the database", lambda: program.says("the database is down"), alive=[program])
        started = time.monotonic()
        code = program.stop(seconds=40)
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(code, 1, program.tail())

        self.cluster.pg("start")
        saved = self.saved_cursor()
        self.assertIsNone(saved, "no ten seconds had passed, and the stop could not save")
        program = self.indexer(self.db, self.relay.url, "--cursor", "oldest")
        wait_for("the end of the capture", lambda: self.saved_cursor() == self.network.seq, seconds=60, alive=[program])
        self.assertEqual(program.stop(), 0)
        self.check_end()


class WhatIsSaid(OwnServer, SimTest):
    """All users of the database see the outage at the same time: workers, cursor, filter, handles, keys, backfill."""

    def test_an_outage_is_said_in_four_lines_of_the_log_at_most_and_in_every_line_of_metrics(self):
        network = self.network("--accounts", 40, "--records", 2_000, "--rate", 60, "--oddities", 0)
        program = self.start(
            [self.binary("skua"), "run", "--relay", network.url, "--cursor", "oldest", "--backfill-network"],
            {"SKUA_DATABASE_URL": self.db.url, "SKUA_PLC_URL": network.ready["plc"],
             "SKUA_DNS": network.ready["dns"], "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_STATS_INTERVAL": "1"})
        wait_for("rows", lambda: (self.db.value("select count(*) from bsky.posts") or 0) > 100, alive=[program])
        wait_for("a cursor", lambda: any(re.search(r"  cursor \d", line) for line in program.metrics()), alive=[program])
        logged = len(program.stderr)

        self.cluster.pg("stop", "immediate")
        wait_for("an outage of 12 s", lambda: program.says("(12 s)  lag "), alive=[program])
        down = [line for line in program.stdout if "database down since" in line]
        self.cluster.pg("start")
        wait_for("its words", lambda: program.says("the database is back after"), alive=[program])
        reached = self.db.value("select count(*) from bsky.posts")
        wait_for("new rows", lambda: self.db.value("select count(*) from bsky.posts") > reached, alive=[program])
        back = len(program.stdout)
        wait_for("more lines of metrics", lambda: len(program.stdout) > back + 2, alive=[program])
        lines = program.stderr[logged:]
        self.assertLessEqual(len(lines), 4, "\n".join(lines))
        self.assertEqual(sum("the database is down, retrying: " in line for line in lines), 1, lines)
        self.assertEqual(sum("the database is back after" in line for line in lines), 1, lines)

        # Each line has the start of the outage, and the lag.
        self.assertEqual(len({re.search(r"down since (\S+)", line)[1] for line in down}), 1, down)
        told = [re.fullmatch(r"[\d:]{8}  database down since [\d:]{8} \((\d+) s\)  lag ([\d.]+) s  cursor \d+.*", line)
                for line in down]
        self.assertNotIn(None, told, down)
        seconds = [int(match[1]) for match in told]
        self.assertEqual(seconds, sorted(seconds))
        # Events are waiting from the first moment on.
        self.assertGreater(float(told[-1][2]), seconds[-1] - 5, down)
        self.assertNotIn("database down", program.stdout[-1])
        self.assertEqual([line for line in program.metrics() if len(line) > 80], [])
        self.assertEqual(program.stop(), 0, program.tail())

    def test_a_server_that_hangs_is_said_too(self):
        network = self.network("--accounts", 10, "--rate", 60, "--oddities", 0)
        program = self.start(
            [self.binary("skua"), "run", "--relay", network.url, "--cursor", "oldest", "--verify", "none"],
            {"SKUA_DATABASE_URL": self.db.url, "SKUA_STATS_INTERVAL": "1"})
        wait_for("rows", lambda: (self.db.value("select count(*) from bsky.posts") or 0) > 10, alive=[program])
        thaw = self.cluster.freeze()
        self.addCleanup(thaw)
        wait_for("its words", lambda: program.says("database down since"), alive=[program])
        thaw()
        said = len(program.stdout)
        wait_for("its work", lambda: any("events/s" in line for line in program.stdout[said:]), alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())


if __name__ == "__main__":
    unittest.main()
