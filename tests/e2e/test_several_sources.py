"""Several sources in one process: relays with fail-over, and a relay together with a Tap and a Jetstream."""

import random
import unittest
import urllib.parse

from harness import wait_for
from test_sources import LETTERS, Sources


class Relays(Sources):
    """Two relays with the same messages and different numbers."""

    def both(self, *arguments):
        return self.network("--second-relay", "--one-op-a-path", "--oddities", 0, "--hosts", 2, "--accounts", 20,
                            "--rate", 60, *arguments)

    def names(self, network):
        urls = (network.url, network.ready["second_relay"])
        return ["relay:" + urllib.parse.urlsplit(url).netloc for url in urls]

    def skua_of(self, database, network, *arguments):
        return self.begin(database, network, "--relay", network.url, "--relay", network.ready["second_relay"],
                          "--verify", "full", "--resync", "all", "--failover-after", 2, "--failover-margin", 2,
                          "--failback-after", 5, *arguments)

    def relay(self, network, number, state):
        network.control("/relay", relay=number, state=state)

    def cursor(self, database, name):
        return database.value(f"select cursor from skua.cursors where source = '{name}'")

    def wait_for_cursor(self, database, name, program, above=0):
        wait_for(f"a cursor of {name}", lambda: (self.cursor(database, name) or 0) > above, seconds=60,
                 every=0.3, alive=[program])

    def takeovers(self, program, name):
        return sum(f"{name} takes over" in line for line in program.output())

    def wait_for_takeover(self, program, name, times=1):
        wait_for(f"{name}", lambda: self.takeovers(program, name) >= times, seconds=60, alive=[program])

    def check_equal(self, database, network, program):
        """While there is no activity, both relays soon have sent everything."""
        network.control("/pause")
        self.wait_until_equal(database, network, program)
        self.assertEqual(database.value("select coalesce(sum(breaks), 0) from skua.repositories"), 0)
        self.assertEqual(database.value(LETTERS), 0)
        network.control("/resume")

    def active(self, database):
        return [row["source"] for row in database.rows(
            "select source from skua.metrics where metrics->>'role' = 'active'")]


class FailOver(Relays):
    def test_gone_and_back_again(self):
        network = self.both()
        first, second = self.names(network)
        database = self.database()
        skua = self.skua_of(database, network, "--cursor", "oldest")
        self.wait_for_cursor(database, second, skua)
        self.assertTrue(skua.says("standing by: "), skua.tail())
        self.relay(network, 1, "down")
        self.wait_for_takeover(skua, second)
        self.check_equal(database, network, skua)
        wait_for("its line", lambda: skua.says(f"{second} active"), alive=[skua])
        self.relay(network, 1, "up")
        self.wait_for_takeover(skua, first)
        self.check_equal(database, network, skua)
        wait_for("figures", lambda: self.active(database) == [first], seconds=20, alive=[skua])
        status = self.skua(database, "status")
        self.assertTrue(status.says(first), status.tail())
        self.assertTrue(status.says(second), status.tail())
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_silent_but_there(self):
        network = self.both()
        _, second = self.names(network)
        database = self.database()
        skua = self.skua_of(database, network, "--cursor", "oldest")
        self.wait_for_cursor(database, second, skua)
        self.relay(network, 1, "silent")
        self.wait_for_takeover(skua, second)
        self.check_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_both_gone(self):
        network = self.both()
        first, second = self.names(network)
        database = self.database()
        skua = self.skua_of(database, network, "--cursor", "oldest")
        self.wait_for_cursor(database, second, skua)
        for number in (1, 2):
            self.relay(network, number, "down")
        wait_for("its noticing", lambda: skua.says("cannot reach"), alive=[skua])
        self.relay(network, 1, "up")
        self.check_equal(database, network, skua)
        self.assertEqual(self.takeovers(skua, first) + self.takeovers(skua, second), 0)
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_the_standby_is_never_ahead(self):
        """Whenever the process dies, all events before its saved cursor are in the tables: each life after a kill
        starts with the other relay alone, from its cursor."""
        network = self.both()
        first, second = self.names(network)
        database = self.database()
        chance = random.Random(1)
        cursor = 0
        for _ in range(4):
            skua = self.skua_of(database, network, *([] if cursor else ["--cursor", "oldest"]))
            self.wait_for_cursor(database, second, skua, above=cursor)
            wait_for("some more", lambda: chance.random() < 0.3, alive=[skua])
            skua.kill()
            cursor = self.cursor(database, second)
        self.assertGreater(self.cursor(database, first), 0)
        skua = self.begin(database, network, "--relay", network.ready["second_relay"], "--verify", "full", "--resync",
                          "all")
        self.check_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_killed_in_each_phase(self):
        network = self.both()
        first, second = self.names(network)
        database = self.database()
        skua = self.skua_of(database, network, "--cursor", "oldest")
        self.wait_for_cursor(database, second, skua)
        skua.kill()
        # While the first is unreachable, before the fail-over.
        self.relay(network, 1, "down")
        skua = self.skua_of(database, network)
        wait_for("its noticing", lambda: skua.says("cannot reach"), alive=[skua])
        skua.kill()
        skua = self.skua_of(database, network)
        self.wait_for_takeover(skua, second)
        # While the second is read.
        skua.kill()
        skua = self.skua_of(database, network)
        self.wait_for_takeover(skua, second)
        self.wait_for_cursor(database, second, skua, above=self.cursor(database, second))
        self.relay(network, 1, "up")
        # When the first takes over again.
        self.wait_for_takeover(skua, first)
        skua.kill()
        skua = self.skua_of(database, network)
        self.check_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())


class AtOnce(Sources):
    def test_a_relay_a_tap_and_a_jetstream(self):
        network = self.network_of("--tap-retry", 0.5)
        seq = network.control("/step", count=500)["seq"]
        database = self.database()
        sources = ["--relay", network.url, "--tap", network.ready["tap"].replace("http", "ws"), "--jetstream",
                   network.ready["jetstream"], "--cursor", "oldest", "--verify", "full"]
        skua = self.begin(database, network, *sources)
        self.wait_until_equal(database, network, skua)
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[skua])
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), alive=[skua])
        network.control("/step", count=200)
        skua.kill()
        network.control("/step", count=200)
        skua = self.begin(database, network, *sources)
        self.wait_until_equal(database, network, skua)
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[skua])
        self.assertEqual(database.value(LETTERS), 0)
        # One set of workers for any number of sources: a worker's connection is named after its lane.
        workers = database.value("select count(*) from pg_stat_activity where datname = current_database() and "
                                 "application_name ~ '(live|backfill) .* [0-2]$'")
        self.assertTrue(0 < workers <= 30, workers)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(database.value("select count(*) from skua.cursors"), 3)

    def test_what_makes_no_sense_is_said(self):
        relay = "ws://127.0.0.1:9"
        for words, arguments in {
            "named twice": ["--relay", relay, "--relay", relay],
            "a number belongs to one source": ["--relay", relay, "--relay", "ws://127.0.0.1:10", "--cursor", "5"],
        }.items():
            with self.subTest(words):
                self.assertIn(words, "\n".join(self.skua(None, "run", *arguments, code=2).output()))


if __name__ == "__main__":
    unittest.main()
