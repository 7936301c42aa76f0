"""Only data that passes verification is stored: a simulated network, whose hosts lie, move and leave."""

import base64
import json
import unittest

import atproto
import comparison
from harness import EndToEnd, need_shared, wait_for
from test_sim import Network


class VerifiedNetwork(EndToEnd):
    """A simulated network, and a skua that verifies its messages."""

    def network(self, *arguments, accounts=20):
        """A network that only steps on demand."""
        network = Network("--accounts", accounts, "--rate", "0.001", "--one-op-a-path", *arguments)
        self.addCleanup(network.kill)
        network.control("/pause")
        return network

    def indexer(self, database, network, *arguments, plc=None):
        environment = {**self.environment(database), "SKUA_VERIFY": "full"}
        return self.start([self.binary("skua"), "run", "--relay", network.url, "--plc", plc or network.ready["plc"],
                           "--dns", network.ready["dns"], "--allow-private-hosts", "--stats-interval", "1",
                           *arguments], environment)

    def catch_up(self, skua, seq):
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), seconds=60, alive=[skua])

    def stop(self, database, skua):
        """Stops it; returns its own counts."""
        self.assertEqual(skua.stop(), 0, skua.tail())
        return database.value("select metrics from skua.metrics where source <> 'backfill'")

    def dump(self, network):
        """Accounts by DID, and the repositories of those that exist."""
        folder = self.folder / "oracle"
        network.control("/dump", dir=str(folder))
        accounts = {account["did"]: account for account in json.loads((folder / "accounts.json").read_text())}
        repositories = {}
        for did, account in accounts.items():
            car = folder / f"{did}.car"
            if car.exists() and account["status"] != "deleted":
                repositories[did] = atproto.Repository(car.read_bytes())
        return accounts, repositories

    def check_heads(self, database, accounts):
        """Checks that the stored head of each repository equals the network's."""
        stored = {row["did"]: row["rev"] for row in
                  database.rows("select did, bsky.tid_text(rev) as rev from skua.repositories where rev is not null")}
        for did, account in accounts.items():
            if did in stored:
                self.assertEqual(stored[did], account["rev"], did)
        self.assertTrue(stored)


class Verification(VerifiedNetwork):
    def test_what_lies_is_dropped_with_its_reason_and_honest_commits_go_on(self):
        network = self.network()
        database = self.database()
        network.control("/step", count=300)
        skua = self.indexer(database, network, "--cursor", "oldest")
        lies = {"bad-signature": 4, "wrong-prev-data": 5, "replayed-rev": 6, "future-rev": 7, "bad-hash": 3}
        for kind, count in lies.items():
            for _ in range(count):
                network.control("/fault", kind=kind)
                network.control("/step", count=10)
        seq = network.control("/step", count=100)["seq"]
        self.catch_up(skua, seq)
        figures = self.stop(database, skua)
        dropped = figures["dropped"]
        self.assertTrue(figures["is_verified"])
        self.assertEqual(dropped.get("wrong_signature"), 4, dropped)
        self.assertEqual(dropped["wrong_prev_data"], 5)
        self.assertEqual(dropped["future_rev"], 7)
        self.assertGreaterEqual(dropped["old_rev"], 6)
        self.assertEqual(dropped.keys() - {"inactive_account"},
                         {"wrong_signature", "wrong_prev_data", "future_rev", "old_rev"})
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 3)
        self.assertEqual(figures["broke"], 0)
        accounts, repositories = self.dump(network)
        self.assertEqual(comparison.path_differences(database, repositories), [])
        self.check_heads(database, accounts)

    def test_a_start_after_a_kill_finds_the_chain_where_the_rows_are(self):
        network = self.network()
        database = self.database()
        for round_ in range(4):
            seq = network.control("/step", count=150)["seq"]
            is_saved = database.value("select count(*) from skua.cursors") > 0
            skua = self.indexer(database, network, *([] if is_saved else ["--cursor", "oldest"]))
            self.catch_up(skua, seq)
            if round_ % 2 == 0:
                skua.kill()
            else:
                self.assertEqual(self.stop(database, skua)["broke"], 0)
        accounts, repositories = self.dump(network)
        self.assertEqual(comparison.path_differences(database, repositories), [])
        self.check_heads(database, accounts)
        self.assertEqual(database.value("select count(*) from skua.repositories where breaks > 0"), 0)

    def test_what_was_missed_is_noticed(self):
        """test_backfill.py tests the downloads."""
        network = self.network("--records", 80, accounts=8)
        database = self.database()
        seq = network.control("/step", count=200)["seq"]
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, seq)
        self.stop(database, skua)
        network.control("/step", count=100)  # No process reads the stream.
        skua = self.indexer(database, network, "--cursor", "live")
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        self.catch_up(skua, network.control("/step", count=100)["seq"])
        figures = self.stop(database, skua)
        self.assertGreater(figures["broke"], 0)
        broken = database.rows("select state, next_attempt is not null as due, reason from skua.repositories where breaks > 0")
        self.assertIn(None, [row["reason"] for row in broken])
        for row in broken:
            # The message that an account is active again may be missed, too. Then a commit of the account is not applied.
            expected = ("partial", False) if row["reason"] is None else ("desynchronized", True)
            self.assertEqual((row["state"], row["due"]), expected)

    def test_keys_hosts_handles_and_lives_that_end(self):
        network = self.network("--oddities", "0", accounts=30)
        database = self.database()
        network.control("/step", count=300)
        skua = self.indexer(database, network, "--cursor", "oldest")
        # Events of the leaving accounts are still in every lane when the message arrives.
        for kind in ("rotate_key", "move", "take_handle", "leave_for_good", "deactivate", "suspend") * 4:
            network.control("/incident", kind=kind)
            network.control("/step", count=40)
        self.catch_up(skua, network.control("/step", count=500)["seq"])
        accounts, repositories = self.dump(network)
        wait_for("the handles to be looked up",
                 lambda: comparison.unchecked_handles(database, accounts.values()) == 0, seconds=60, alive=[skua])
        figures = self.stop(database, skua)
        self.assertEqual(comparison.path_differences(database, repositories), [])
        self.check_heads(database, accounts)
        self.assertEqual(figures["broke"], 0)
        with self.subTest("the hosting status of a former host is dropped"):
            self.assertGreater(figures["stale_accounts"], 0)
        rows = {row["did"]: row for row in database.rows(
            "select did, handle, handle_claim, handle_valid, active, status from bsky.actors")}
        deleted = [did for did, account in accounts.items() if account["status"] == "deleted"]
        self.assertTrue(deleted)
        for did, account in accounts.items():
            if account["announced_status"] is None:
                continue
            with self.subTest(did):
                active = account["status"] == "active"
                self.assertEqual(rows[did]["active"], active)
                self.assertEqual(rows[did]["status"], None if active else account["status"])
        with self.subTest("a handle has one owner"):
            self.assertEqual(database.rows("select handle from bsky.actors where handle is not null "
                                           "group by 1 having count(*) > 1"), [])
        claimed = {did: rows[did] for did in rows if rows[did]["handle_claim"] is not None}
        lead_somewhere = {account["handle"] for account in accounts.values() if account["handle_valid"]}
        self.assertGreater(figures["handles_valid"], 0)
        self.assertGreater(sum(not accounts[did]["handle_valid"] for did in claimed), 0, "no handle was taken")
        for did, row in claimed.items():
            with self.subTest("has its handle exactly if the name leads back", did=did):
                self.assertEqual(row["handle_claim"], accounts[did]["handle"])
                if accounts[did]["handle_valid"]:
                    self.assertEqual((row["handle"], row["handle_valid"]), (row["handle_claim"], True))
                elif accounts[did]["handle"] in lead_somewhere:
                    self.assertIsNone(row["handle"])
        with self.subTest("who is hidden is not in the views"):
            hidden = [did for did, account in accounts.items() if rows.get(did, {}).get("active") is False]
            self.assertTrue(hidden)
            shown = {row["did"] for row in database.rows(
                "select did from bsky.posts_view union select did from bsky.likes_view "
                "union select did from bsky.follows_view union select did from bsky.profiles_view")}
            self.assertEqual(shown & set(hidden), set())

    def test_a_lost_message_does_not_hide_an_account_for_ever(self):
        network = self.network("--oddities", 0, accounts=4)
        database = self.database()
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, network.control("/step", count=60)["seq"])
        self.assertEqual(skua.stop(), 0)
        dids = [row["did"] for row in database.rows("select did from skua.repositories where rev is not null order by did")]
        for did, status in zip(dids, ("takendown", "deactivated")):
            database.run(f"update bsky.actors set active = false, status = '{status}', status_time = now() where did = '{did}'")
        database.run(f"update skua.repositories set active = false where did = '{dids[0]}'")
        skua = self.indexer(database, network)
        for did in dids[:2]:
            network.control("/record", did=did, collection="app.bsky.feed.post")
        wait_for("the accounts to be active again",
                 lambda: database.value("select count(*) from bsky.actors where not active") == 0, alive=[skua])
        self.assertTrue(skua.says("its host says that the hidden account is active"))
        self.assertEqual(skua.stop(), 0)
        self.assertEqual(database.value("select count(*) from skua.repositories where not active"), 0)

    def test_keys_that_change_again_within_seconds(self):
        network = self.network("--oddities", "0", accounts=3)
        database = self.database()
        network.control("/step", count=30)
        for _ in range(15):
            network.control("/incident", kind="rotate_key")
            network.control("/step", count=4)
        seq = network.control("/step", count=30)["seq"]
        # The documents have the last keys only.
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, seq)
        figures = self.stop(database, skua)
        self.assertEqual(comparison.path_differences(database, self.dump(network)[1]), [])
        self.assertGreater(figures["former_keys"], 0)
        self.assertNotIn("wrong_signature", figures["dropped"])
        self.assertEqual(figures["broke"], 0)

    def test_nothing_is_lost_while_the_directory_is_away(self):
        network = self.network()
        database = self.database()
        network.control("/fault", kind="429", arg=1, count=20)
        seq = network.control("/step", count=100)["seq"]
        skua = self.indexer(database, network, "--cursor", "oldest")
        self.catch_up(skua, seq)
        self.stop(database, skua)
        self.assertEqual(comparison.path_differences(database, self.dump(network)[1]), [])


class Captures(EndToEnd):
    def test_a_real_capture_verifies_with_its_documents(self):
        data = need_shared()
        database = self.database()
        environment = {**self.environment(database), "SKUA_VERIFY": "full"}
        program = self.start([self.binary("skua"), "replay", data / "pds/frames.bin", "--did-docs",
                              data / "pds/did-docs.json"], environment)
        self.assertEqual(program.wait(120), 0, program.tail())
        self.assertTrue(program.says("verified: 10967 commits, #syncs included, 0 of them after a gap"), program.tail())
        self.assertTrue(program.says("dropped: 103 old_rev"), program.tail())
        self.assertEqual(sum(line.startswith("dropped") for line in program.stdout), 1)

    def test_the_relay_scenarios(self):
        """Commits that a relay must drop are dropped, whatever their numbers: of two equal commits the second is
        outdated."""
        data = need_shared()
        for name, verified, old in (("post_lifecycle", 6, 0), ("account_lifecycle", 1, 0), ("legacy", 1, 0),
                                    ("seq_ordering", 1, 1)):
            with self.subTest(name):
                scenario = json.loads((data / f"relay-scenarios/{name}.json").read_text())
                folder = self.folder / name
                folder.mkdir()
                frames = [atproto.encode_frame(message["frame"]["header"]["t"], from_json(message["frame"]["body"]))
                          for message in scenario["messages"]]
                (folder / "frames").write_bytes(atproto.write_capture(frames))
                (folder / "documents.json").write_text(json.dumps([document(account["identity"])
                                                                   for account in scenario["accounts"]]))
                database = self.database()
                environment = {**self.environment(database), "SKUA_VERIFY": "full"}
                program = self.start([self.binary("skua"), "replay", folder / "frames", "--did-docs",
                                      folder / "documents.json"], environment)
                self.assertEqual(program.wait(60), 0, program.tail())
                self.assertTrue(program.says(f"verified: {verified} commit{'s' if verified != 1 else ''}, "),
                                program.tail())
                dropped = [line for line in program.stdout if line.startswith("dropped")]
                self.assertEqual(dropped, [f"dropped: {old} old_rev"] if old else [], program.tail())


def from_json(value):
    """A record's JSON in the data model."""
    if isinstance(value, dict):
        if value.keys() == {"$bytes"}:
            text = value["$bytes"]
            return base64.b64decode(text + "=" * (-len(text) % 4))
        if value.keys() == {"$link"}:
            return atproto.Link(atproto.cid_bytes(value["$link"]))
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value


def document(identity):
    return {
        "id": identity["did"],
        "alsoKnownAs": identity["alsoKnownAs"],
        "verificationMethod": [{"id": identity["did"] + "#atproto", "controller": identity["did"],
                                "type": key["type"], "publicKeyMultibase": key["publicKeyMultibase"]}
                               for name, key in identity["keys"].items() if name == "atproto"],
        "service": [{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer",
                     "serviceEndpoint": identity["services"]["atproto_pds"]["url"]}],
    }


if __name__ == "__main__":
    unittest.main()
