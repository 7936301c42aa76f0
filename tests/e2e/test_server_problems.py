"""Failures of PostgreSQL that show as problems, as in test_problems: a full disk, and a full table of locks."""

import os
import signal
import subprocess
import unittest

from harness import Database, wait_for, with_database
from test_outage import OwnServer
from test_pages import Pages
from test_problems import PAGES
from test_sim import SimTest


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
