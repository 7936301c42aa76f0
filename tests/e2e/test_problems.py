"""Failures of the environment show in /health/ready with the cure, in /metrics, in the lines of metrics and in the log.
test_pages has those of a database that stops or becomes a standby, of a relay that stops or is behind, of a quiet
collection, a stuck consumer, a newer schema, and an account that is cut off.
"""

import os
import signal
import subprocess
import unittest

from harness import BIN, Database, closed_port, wait_for, with_database
from made import Network as Made
from test_clock import ShiftedClock
from test_outage import OwnServer
from test_pages import Pages
from test_sim import SimTest
from test_verification import VerifiedNetwork

PAGES = ("--http", "127.0.0.1:0")


class OfHosts(VerifiedNetwork):
    """`skua run` can be ready before it is connected: with `--cursor oldest` it misses no message."""

    def test_a_relay_that_no_longer_has_the_events_after_the_cursor(self):
        network = self.network()
        pages = Pages(self.indexer(self.database(), network, "--cursor", "oldest", *PAGES))
        pages.wait_until_ready()
        network.fault("info")
        network.steps(5)
        pages.wait_for_reason("cursor-outdated")
        self.assertRegex(pages.check_shown("cursor-outdated", cure="backfill"), r"^relay:127\.0\.0\.1:\d+: \d+ s ago$")

    def test_a_relay_that_is_silent(self):
        network = self.network()
        program = self.indexer(self.database(), network, "--cursor", "oldest", *PAGES)
        pages = Pages(program)
        pages.wait_until_ready()
        self.catch_up(program, network.steps(5)["seq"])
        # The connection stays open, and answers pings.
        pages.wait_for_reason("source-silent", seconds=90)
        pages.check_shown("source-silent")
        network.steps(5)
        wait_for("messages", lambda: "source-silent" not in pages.codes(), seconds=90, alive=[program])

    def test_a_directory_that_is_down(self):
        network = self.network()
        pages = Pages(self.indexer(self.database(), network, "--cursor", "oldest", *PAGES,
                                   plc=f"http://127.0.0.1:{closed_port()}"))
        pages.wait_until_ready()
        network.steps(20)
        pages.wait_for_reason("plc-down", seconds=60)
        pages.check_shown("plc-down")

    def test_a_certificate_that_is_not_trusted(self):
        capture = self.folder / "a.capture"
        capture.write_bytes(Made().capture())
        program = self.start([BIN / "skua", "run", "--relay", self.sim(capture, "--tls").url, "--stats-interval", "1", *PAGES],
                             self.environment(self.database()))
        pages = Pages(program)
        pages.wait_for_reason("source-tls")
        self.assertIn("is not trusted", pages.check_shown("source-tls", cure="certificate"))


class OfTheClock(ShiftedClock):
    def test_a_clock_that_is_wrong(self):
        network = self.network()
        _, shifted = self.shift("-10m")
        program = self.start([BIN / "skua", "run", "--relay", network.url, "--stats-interval", "1", *PAGES],
                             {**self.environment(self.database()), **shifted})
        pages = Pages(program)
        pages.wait_for_reason("clock-wrong")
        self.assertEqual(pages.check_shown("clock-wrong", cure="NTP"), "the clock of this machine is 10 min behind PostgreSQL's")


class OfTheServer(OwnServer, SimTest):
    def run_skua(self, database):
        program = self.indexer(database, self.network("--accounts", "50", "--rate", "100").url, *PAGES)
        pages = Pages(program)
        pages.wait_until_ready()
        wait_for("rows", lambda: database.value("select count(*) from bsky.all_records") > 100, alive=[program])
        return program, pages

    def check_writes(self, program, database):
        count = database.value("select count(*) from bsky.all_records")
        wait_for("rows", lambda: database.value("select count(*) from bsky.all_records") > count, alive=[program])

    def small_disk(self):
        """The folder of a file system of 48 MB that the server may use."""
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", disk], check=False,
                                               stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("needs the right to mount a file system")
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=True)
        owner = os.stat(self.cluster.folder / "data")
        os.chown(disk, owner.st_uid, owner.st_gid)
        return disk

    def test_a_full_disk(self):
        disk = self.small_disk()
        # Only the tables: a server whose WAL has no space left stops.
        self.db.run(f"create tablespace small location '{disk}'")
        self.db.run("create database small tablespace small")
        database = Database(with_database(self.cluster.url, "small"))
        self.skua(database, "migrate")
        program, pages = self.run_skua(database)
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        pages.wait_for_reason("disk-full", seconds=60)
        self.assertIn("No space left on device", pages.check_shown("disk-full", cure="Free space"))
        self.assertEqual(pages.get("/health/live")[0], 200)
        filler.unlink()
        wait_for("space", lambda: "disk-full" not in pages.codes(), seconds=90, alive=[program])
        self.check_writes(program, database)

    def test_a_full_lock_table(self):
        program, pages = self.run_skua(self.db)
        # Locks of a session stay when the statement fails.
        holder = self.start(["psql", "-XAtq", "-c", "select pg_backend_pid()", "-c",
                             "select count(pg_advisory_lock(i)) from generate_series(1, 10000000) i", "-c",
                             "select pg_sleep(600)", self.db.url])
        backend = int(wait_for("its process", lambda: holder.stdout)[0])
        pages.wait_for_reason("lock-table-full", seconds=120)
        pages.check_shown("lock-table-full", cure="max_locks_per_transaction")
        # New sessions are refused, too.
        os.kill(backend, signal.SIGTERM)
        wait_for("the end", lambda: holder.process.poll() is not None)
        self.check_writes(program, self.db)


if __name__ == "__main__":
    unittest.main()
