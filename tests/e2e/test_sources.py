"""The same network through a relay, a Tap and both versions of Jetstream."""

import random
import unittest

import atproto
import comparison
import two_databases
from harness import wait_for
from test_sim import SimTest

LETTERS = "select count(*) from skua.dead_letter"


def of_accounts(differences, dids):
    return [difference for difference in differences if dids is None or any(did in difference for did in dids)]


class Sources(SimTest):
    def network_of(self, *arguments, accounts=20, records=0):
        """A network that only steps on demand, and whose commits name each path once: Tap folds others."""
        return self.still("--tap", "--jetstream", "--one-op-a-path", "--oddities", 0, "--hosts", 2, *arguments,
                          accounts=accounts, records=records)

    def begin(self, database, network, *source):
        return self.start([self.binary("skua"), "run", *source], {
            **self.environment(database), "SKUA_PLC_URL": network.ready["plc"], "SKUA_DNS": network.ready["dns"],
            "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_STATS_INTERVAL": "1", "SKUA_HANDLES": "claimed"})

    def differences(self, database, network):
        folder = self.folder / "oracle"
        repositories = {}
        for account in network.accounts(folder):
            if account["announced_status"] != "deleted":
                car = folder / f"{account['did']}.car"
                repositories[account["did"]] = atproto.Repository(car.read_bytes())
        return comparison.path_differences(database, repositories)

    def wait_until_equal(self, database, network, program, dids=None):
        """`dids`: the accounts that are compared; None: all."""
        found = []

        def is_equal():
            found[:] = of_accounts(self.differences(database, network), dids)
            return not found

        try:
            wait_for("equal tables", is_equal, seconds=60, every=0.3, alive=[program])
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), f"{len(found)} differences:", *found[:5],
                                            str(network.state())])) from None


class Equal(Sources):
    def test_every_source_leaves_the_same(self):
        network = self.network_of()
        seq = network.control("/step", count=900)["seq"]
        jetstream = network.ready["jetstream"]
        sources = {
            "relay": ["--relay", network.url, "--cursor", "oldest", "--verify", "none"],
            "tap": ["--tap", network.ready["tap"].replace("http", "ws")],
            "v1": ["--jetstream", jetstream, "--cursor", "oldest"],
            "v2": ["--jetstream", jetstream + "/xrpc/network.bsky.jetstream.subscribeEvents", "--cursor", "oldest"],
        }
        databases = {name: self.database() for name in sources}
        programs = {name: self.begin(databases[name], network, *arguments) for name, arguments in sources.items()}
        wait_for(f"cursor {seq}", lambda: programs["relay"].reached(seq), seconds=60,
                 alive=programs.values())
        for name in sources:
            self.wait_until_equal(databases[name], network, programs[name])
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[programs["tap"]])
        # Live, too: includes deletes and updates.
        network.control("/step", count=600)
        for name in sources:
            self.wait_until_equal(databases[name], network, programs[name])
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[programs["tap"]])
        for name, program in programs.items():
            with self.subTest(name):
                self.assertEqual(program.stop(), 0, program.tail())
                self.assertEqual(databases[name].value(LETTERS), 0)
                self.assertEqual(program.says("an unverified source"), name != "relay")
        capture = self.folder / "all.capture"
        recorder = self.start([self.binary("skua"), "record", network.url, capture, "--cursor", "oldest", "--frames",
                               network.state()["frames"]])
        self.assertEqual(recorder.wait(60), 0, recorder.tail())
        databases["replay"] = self.database()
        self.skua(databases["replay"], "replay", capture)
        self.assertEqual(self.differences(databases["replay"], network), [])
        active = {account["did"] for account in network.accounts(self.folder / "oracle")
                  if account["announced_status"] == "active"}
        contents = {name: two_databases.Content(database) for name, database in databases.items()}
        for name in ("tap", "v1", "v2", "replay"):
            with self.subTest(name):
                compared = two_databases.Comparison(contents["relay"], contents[name], active, active)
                self.assertEqual(compared.differences, [])
                self.assertGreater(compared.rows.total(), 500)


class Tap(Sources):
    def tap(self, network):
        return ["--tap", network.ready["tap"].replace("http", "ws")]

    def test_history_comes_in_bulk_and_a_password_is_given(self):
        network = self.network_of("--tap-password", "sesame", records=4000)
        secret = self.folder / "password"
        secret.write_text("sesame\n")
        database = self.database()
        refused = self.begin(database, network, *self.tap(network))
        wait_for("the refusal", lambda: refused.says("401"), alive=[refused])
        self.assertTrue(refused.says("is the password right?"), refused.tail())
        self.assertEqual(refused.stop(), 0)
        skua = self.begin(database, network, *self.tap(network), "--tap-password-file", secret)
        self.wait_until_equal(database, network, skua)
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_redelivery_restarts_cuts_and_kills(self):
        network = self.network_of("--tap-retry", 0.5, "--even", "--fault-rate", "tap-repeat=5", records=2000)
        database = self.database()
        chance = random.Random(1)

        def acked():
            return network.state()["tap"]["acked"]

        for number in range(10):
            skua = self.begin(database, network, *self.tap(network))
            network.control("/step", count=200)
            goal = acked() + chance.randrange(1, 150)
            wait_for("some acks", lambda goal=goal: acked() >= goal, alive=[skua], every=0.005)
            network.fault(("tap-crash", "tap-renumber", "cut")[number % 3])
            network.control("/step", count=50)
            if number % 2:
                goal = acked() + chance.randrange(1, 40)
                wait_for("some acks", lambda goal=goal: acked() >= goal, alive=[skua], every=0.005)
            skua.kill()
        skua = self.begin(database, network, *self.tap(network))
        self.wait_until_equal(database, network, skua)
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, seconds=60, alive=[skua])
        self.assertEqual(network.ask("control", "/tap/stalled", ms=2000).json()["accounts"], [])
        figures = network.state()["tap"]
        self.assertGreaterEqual(figures["restarts"], 6)
        self.assertGreater(figures["redelivered"], 20)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(database.value(LETTERS), 0)

    def test_poison_stalls_nobody(self):
        network = self.network_of(records=200)
        database = self.database()
        skua = self.begin(database, network, *self.tap(network))
        self.wait_until_equal(database, network, skua)
        for kind in ("tap-unknown", "tap-no-record", *["tap-poison"] * 5):
            network.fault(kind)
        network.control("/step", count=200)
        wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[skua])
        # One of the five, a record that is a list, becomes a row that violates its lexicon.
        differences = self.differences(database, network)
        self.assertEqual([difference.count("/app.bsky.feed.post/odd-") for difference in differences], [1])
        self.assertEqual(database.value(LETTERS), 5)
        self.assertEqual(skua.stop(), 0, skua.tail())


class Admin(Sources):
    def tap(self, network, *arguments, code=0):
        return "\n".join(
            self.skua(None, "tap", *arguments, "--tap", network.ready["tap"], code=code).output())

    def test_accounts_are_added_and_removed(self):
        network = self.network_of("--tap-repos", "added", accounts=5, records=20)
        dids = [account["did"] for account in network.accounts(self.folder / "oracle")]
        self.assertIn("does not follow", self.tap(network, "info", dids[0], code=1))
        some = self.folder / "dids"
        some.write_text("".join(did + "\n" for did in dids[1:]))
        self.assertIn("5 accounts added", self.tap(network, "add", dids[0], "--file", some))
        self.assertIn(dids[0], self.tap(network, "info", dids[0]))
        self.assertIn("5", self.tap(network, "stats"))
        self.assertIn("1 account removed", self.tap(network, "remove", dids[1]))
        self.assertIn("does not follow", self.tap(network, "info", dids[1], code=1))

    def test_what_is_no_tap_is_said(self):
        network = self.network_of("--tap-password", "sesame", accounts=2)
        self.assertIn("wants its admin password", self.tap(network, "stats", code=1))
        self.assertIn("is that a Tap?",
                      "\n".join(self.skua(None, "tap", "stats", "--tap", network.ready["plc"], code=1).output()))


class Jetstream(Sources):
    def test_it_goes_on_where_it_was(self):
        network = self.network_of()
        for path in ("", "/xrpc/network.bsky.jetstream.subscribeEvents"):
            with self.subTest(path):
                database = self.database()
                source = ["--jetstream", network.ready["jetstream"] + path]
                network.control("/step", count=200)
                skua = self.begin(database, network, *source, "--cursor", "oldest")
                self.wait_until_equal(database, network, skua)
                self.assertEqual(skua.stop(), 0, skua.tail())
                network.control("/step", count=200)
                skua = self.begin(database, network, *source)
                self.wait_until_equal(database, network, skua)
                skua.kill()
                network.control("/step", count=100)
                skua = self.begin(database, network, *source)
                self.wait_until_equal(database, network, skua)
                self.assertEqual(skua.stop(), 0, skua.tail())

    def test_a_replaced_repository_is_downloaded_again(self):
        network = self.network_of()
        network.control("/step", count=300)
        database = self.database()
        skua = self.begin(database, network, "--jetstream",
                          network.ready["jetstream"] + "/xrpc/network.bsky.jetstream.subscribeEvents", "--cursor", "oldest",
                          "--verify", "full")
        self.wait_until_equal(database, network, skua)
        # Now each account has a record that its repository does not contain, and lacks one. The record is older than the
        # newest commit: a download leaves rows of that revision and later ones, which come from the stream.
        database.run("update bsky.follows set rkey = rkey - 1, rev = rev - 1 where (actor_id, rkey) in "
                     "(select actor_id, min(rkey) from bsky.follows group by actor_id)")
        before = self.differences(database, network)
        for _ in range(5):
            network.control("/incident", kind="stand_still")
        network.control("/step", count=20)
        wait_for("the downloads", lambda: database.value(
            "select count(*) > 0 and count(*) filter (where state = 'desynchronized') = 0 from skua.repositories"),
            seconds=60, alive=[skua])
        dids = {row["did"] for row in database.rows("select did from skua.repositories")}
        self.assertTrue(of_accounts(before, dids))
        self.wait_until_equal(database, network, skua, dids)
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_filters_are_the_servers(self):
        network = self.network_of()
        network.control("/step", count=300)
        database = self.database()
        skua = self.begin(database, network, "--jetstream", network.ready["jetstream"], "--cursor", "oldest",
                          "--collection", "app.bsky.graph.*")
        wait_for("rows", lambda: database.value("select count(*) from bsky.follows"), alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(database.value("select count(*) from bsky.likes"), 0)


if __name__ == "__main__":
    unittest.main()
