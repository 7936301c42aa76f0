"""Connections to PostgreSQL that end on one side only, and a server that fails while skua starts."""

import pathlib
import subprocess
import unittest

from database_proxy import DatabaseProxy
from harness import ROOT, Database, wait_for
from test_outage import BusyServer

STARTING = {b"M": "the database system is not yet accepting connections",
            b"D": "Consistent recovery state has not been yet reached."}


class HalfOpen(BusyServer):
    def setUp(self):
        super().setUp()
        done = subprocess.run([ROOT / "scripts/pg", "--dir", self.cluster.folder, "url", "--tcp"],
                              capture_output=True, text=True, check=True)
        self.tcp_url = done.stdout.strip()

    def proxy(self):
        proxy = DatabaseProxy(self.tcp_url)
        self.addCleanup(proxy.close)
        return proxy

    def run_through(self, url, rate=400):
        self.relay = self.sim(self.capture, "--rate", str(rate))
        return self.indexer(Database(url), self.relay.url, "--cursor", "oldest")

    def test_a_source_that_our_own_former_connection_holds_is_taken_back(self):
        proxy = self.proxy()
        program = self.run_through(proxy.url)
        wait_for("the first posts", lambda: self.posts() > 100, alive=[program])
        self.assertGreater(proxy.cut_clients_off(), 3)
        wait_for("its words", lambda: program.says("a former connection of this process still held the source"),
                 alive=[program])
        # Interrupted transactions keep their accounts locked for at most a minute.
        wait_for("the end of the capture", lambda: self.saved_cursor() == self.network.seq, seconds=150,
                 alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())
        self.check_end()

    def test_the_server_looks_whether_its_clients_are_there(self):
        program = self.run_through(self.tcp_url)
        wait_for("the first posts", lambda: self.posts() > 100, alive=[program])
        port = int((self.cluster.folder / "port").read_text())

        def timers():
            """Seconds until the server's side of each connection sends something by itself."""
            found = []
            for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
                _, local, _, state, _, timer, *_ = line.split()
                if int(local.split(":")[1], 16) == port and state == "01":
                    kind, ticks = timer.split(":")
                    found.append(int(ticks, 16) / 100 if kind == "02" else None)
            return found

        def all_are_watched():
            """PostgreSQL sets the timer of a connection a moment after it has accepted it."""
            found = timers()
            return any(time is not None for time in found) and all(time is None or time <= 31 for time in found)

        wait_for("connections that are all watched", all_are_watched, alive=[program])
        self.assertEqual(program.stop(), 0, program.tail())

    def test_a_server_that_fails_at_any_connection_of_the_start_is_waited_for(self):
        for failing in range(1, 9):
            with self.subTest(failing=failing):
                proxy = self.proxy()
                proxy.refused[failing] = STARTING
                program = self.run_through(proxy.url, rate=4_000)
                wait_for("its connections", lambda: proxy.connections > failing, alive=[program])
                wait_for("its work", lambda: program.says("connected to"), alive=[program])
                self.assertEqual(program.stop(), 0, program.tail())


if __name__ == "__main__":
    unittest.main()
