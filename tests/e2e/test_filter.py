"""A filter that changes while skua runs: by command, by file, by SQL; with every kind of source."""

import json
import signal
import unittest

import atproto
import comparison
from harness import wait_for
from test_sources import Sources

POST = "app.bsky.feed.post"
LIKE = "app.bsky.feed.like"
GRAPH = "app.bsky.graph.*"
COMPLETE = "select count(*) from skua.repositories where state = 'complete'"


def below(*patterns):
    """Whether a path's collection is one of these."""
    names = {pattern + "/" for pattern in patterns if not pattern.endswith("*")}
    prefixes = tuple(names) + tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))
    return lambda path: path.startswith(prefixes)


class Filter(Sources):
    def environment_at(self, database, network):
        return {**self.environment(database), "SKUA_VERIFY": "full", "SKUA_PLC_URL": network.ready["plc"],
                "SKUA_DNS": network.ready["dns"], "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_STATS_INTERVAL": "1",
                "SKUA_HANDLES": "claimed"}

    def begin(self, database, network, *arguments):
        return self.start([self.binary("skua"), "run", *arguments], self.environment_at(database, network))

    def filter(self, database, *arguments, code=0):
        return "\n".join(self.skua(database, "filter", *arguments, code=code).output())

    def brought_in(self, network, *filter_arguments, database=None):
        """A database that was backfilled through a filter."""
        database = database or self.database()
        if filter_arguments:
            self.filter(database, "set", *filter_arguments)
        program = self.start([self.binary("skua"), "backfill", "--network", "--relay", network.ready["relay"]],
                             self.environment_at(database, network))
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertEqual(database.value(COMPLETE), len(network.accounts(self.folder / "oracle")))
        return database

    def crash(self, database, network, point, *arguments):
        program = self.start([self.binary("skua"), *arguments], {**self.environment_at(database, network), "SKUA_CRASH_AT": f"{point}:1"})
        self.assertEqual(program.wait(60), -signal.SIGKILL, program.tail())

    def repositories(self, network):
        """The repositories of all accounts that are not deleted, by DID."""
        folder = self.folder / "oracle"
        return {account["did"]: atproto.Repository((folder / f"{account['did']}.car").read_bytes())
                for account in network.accounts(folder) if account["announced_status"] != "deleted"}

    def differences(self, database, network, passes=None):
        return comparison.path_differences(database, self.repositories(network), passes)

    def wait_until_equal(self, database, network, program, passes=None):
        wait_for("equal tables", lambda: not self.differences(database, network, passes), seconds=90, every=0.5,
                 alive=[program])

    def sources(self, network):
        """Name and arguments of each source."""
        jetstream = network.ready["jetstream"]
        return {"relay": ["--relay", network.url],
                "tap": ["--tap", network.ready["tap"].replace("http", "ws")],
                "v1": ["--jetstream", jetstream],
                "v2": ["--jetstream", jetstream + "/xrpc/network.bsky.jetstream.subscribeEvents"]}

    def others(self, database, *patterns):
        """Stored collections other than these."""
        stored = database.rows("select distinct collection || '/' as name from bsky.all_records")
        return [row["name"] for row in stored if not below(*patterns)(row["name"])]


class Collections(Filter):
    def follow(self, name):
        """A filter that is widened by command and by SQL, and then removed, with a kill in between."""
        network = self.network_of("--tap-retry", 0.5, accounts=10, records=300)
        database = self.brought_in(network, "--collection", POST)
        source = self.sources(network)[name]
        skua = self.begin(database, network, *source)
        wait_for("its connection", lambda: skua.says("connected to "), alive=[skua])
        network.control("/step", count=150)
        self.wait_until_equal(database, network, skua, below(POST))
        self.assertEqual(self.others(database, POST), [])
        self.assertIn("the resync of 10 repositories whose history was brought in",
                      self.filter(database, "add", "--collection", LIKE))
        network.control("/step", count=150)
        self.wait_until_equal(database, network, skua, below(POST, LIKE))
        self.assertEqual(self.others(database, POST, LIKE), [])
        database.run(f"insert into skua.filter values ('collection', '{GRAPH}')")
        network.control("/step", count=50)
        skua.kill()
        network.control("/step", count=100)
        skua = self.begin(database, network, *source)
        self.wait_until_equal(database, network, skua, below(POST, LIKE, GRAPH))
        self.assertEqual(self.others(database, POST, LIKE, GRAPH), [])
        self.filter(database, "clear")
        self.wait_until_equal(database, network, skua)
        wait_for("all complete", lambda: database.value(COMPLETE) == 10, seconds=60, alive=[skua])
        if name == "tap":
            wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, seconds=60, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        figures = database.value("select metrics from skua.metrics where source <> 'backfill'")
        self.assertIn("filtered", figures)

    def test_a_relay_follows(self):
        self.follow("relay")

    def test_a_tap_follows(self):
        self.follow("tap")

    def test_the_first_jetstream_follows(self):
        self.follow("v1")

    def test_the_second_jetstream_follows(self):
        self.follow("v2")

    def test_what_was_left_out_for_a_while_comes_back_right(self):
        network = self.network_of(accounts=8, records=300)
        database = self.brought_in(network)
        skua = self.begin(database, network, "--relay", network.url, "--collection", POST)
        wait_for("its connection", lambda: skua.says("connected to "), alive=[skua])
        network.control("/step", count=300)
        self.wait_until_equal(database, network, skua, below(POST))
        self.assertNotEqual(self.differences(database, network), [])
        self.assertEqual(database.value(COMPLETE), 8)
        skua.kill()
        self.filter(database, "clear")
        self.assertEqual(database.value(COMPLETE), 0)
        skua = self.begin(database, network, "--relay", network.url)
        self.wait_until_equal(database, network, skua)
        wait_for("all complete", lambda: database.value(COMPLETE) == 8, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())


class Accounts(Filter):
    def test_who_was_left_out_and_is_back_is_resynced(self):
        network = self.network_of(accounts=8, records=200)
        database = self.brought_in(network)
        dids = sorted(account["did"] for account in network.accounts(self.folder / "oracle"))
        kept = set(dids[:4])
        skua = self.begin(database, network, "--relay", network.url,
                          *(word for did in sorted(kept) for word in ("--did", did)))
        wait_for("its connection", lambda: skua.says("connected to "), alive=[skua])
        before = {row["did"]: row["rev"] for row in database.rows("select did, rev from skua.repositories")}
        network.control("/step", count=200)

        def of_kept():
            everyone = self.repositories(network)
            found = comparison.path_differences(database, everyone)
            return not [line for line in found if any(did in line for did in kept)]

        wait_for("those that pass", of_kept, seconds=60, every=0.5, alive=[skua])
        self.assertNotEqual(self.differences(database, network), [])
        after = {row["did"]: row["rev"] for row in database.rows("select did, rev from skua.repositories")}
        self.assertEqual({did: after[did] for did in dids[4:]}, {did: before[did] for did in dids[4:]})
        self.filter(database, "clear")
        wait_for("the filter", lambda: skua.says("stored from now on: all records of all accounts"), alive=[skua])
        self.assertEqual(database.value(COMPLETE), 8)
        network.control("/step", count=400)
        self.wait_until_equal(database, network, skua)
        wait_for("all complete", lambda: database.value(COMPLETE) == 8, seconds=60, alive=[skua])
        gaps = {row["did"] for row in database.rows("select did from skua.repositories where breaks > 0")}
        self.assertTrue(gaps)
        self.assertEqual(gaps & kept, set())
        self.assertEqual(skua.stop(), 0, skua.tail())


class Lists(Filter):
    def test_the_accounts_on_a_list_pass_and_the_rows_of_others_go(self):
        network = self.network_of(accounts=10, records=400)
        database = self.brought_in(network)
        owner, member, other = sorted(account["did"] for account in network.accounts(self.folder / "oracle"))[:3]
        uri = f"at://{owner}/app.bsky.graph.list/3kabcdefghijk"
        # The second item is not the owner's.
        database.run(f"insert into bsky.list_items (actor_id, rkey, rev, indexed_at, cid, subject_actor, list_actor, "
                     f"list_rkey) select bsky.actor_id(v.author), 7, 1, now(), '\\x01', bsky.actor_id(v.subject), "
                     f"l.actor_id, l.rkey from bsky.resolve_uri('{uri}') as l, (values ('{owner}', '{member}'), "
                     f"('{other}', '{other}')) as v(author, subject)")
        kept = {owner, member}
        self.assertIn("the accounts on 1 list", self.filter(database, "set", "--list", uri))
        shown = json.loads(self.filter(database, "show", "--json"))
        self.assertEqual(shown["lists"], [uri])
        self.assertEqual(set(shown["accounts"]), kept)
        database.run("delete from bsky.list_items where cid = '\\x01'")
        self.assertIn("removed", self.filter(database, "prune"))
        stored = {row["did"] for row in database.rows("select distinct did from bsky.all_records")}
        self.assertEqual(stored, kept)
        self.assertEqual([line for line in self.differences(database, network) if line.split("/")[2] in kept], [])


class File(Filter):
    def test_it_is_followed_and_a_broken_one_is_not(self):
        network = self.network_of(accounts=6, records=200)
        database = self.brought_in(network, "--collection", POST)
        file = self.folder / "filter.txt"
        file.write_text(f"# what we keep\n{POST}\nposts\n")
        refused = self.begin(database, network, "--relay", network.url, "--filter-file", file)
        self.assertEqual(refused.wait(), 2)
        self.assertTrue(refused.says("filter.txt:3:"), refused.tail())
        file.write_text(f"# what we keep\n{POST}\n")
        skua = self.begin(database, network, "--relay", network.url, "--filter-file", file)
        wait_for("its connection", lambda: skua.says("connected to "), alive=[skua])
        file.write_text(f"{POST}\nposts\n")
        wait_for("the warning", lambda: skua.says("filter.txt:2:"), alive=[skua])
        self.assertEqual(database.value("select count(*) from skua.filter"), 1)
        file.write_text(f"{POST}\n{LIKE}  # too\n")
        wait_for("the change", lambda: database.value("select count(*) from skua.filter") == 2, alive=[skua])
        network.control("/step", count=100)
        self.wait_until_equal(database, network, skua, below(POST, LIKE))
        self.assertEqual(self.others(database, POST, LIKE), [])
        self.assertEqual(skua.stop(), 0, skua.tail())


class Command(Filter):
    def test_it_says_what_it_changes_and_what_follows(self):
        database = self.database()
        self.assertIn("all records of all accounts", self.filter(database, "show"))
        self.assertIn("+ app.bsky.feed.post", self.filter(database, "set", "--collection", POST))
        self.assertIn("nothing changed", self.filter(database, "add", "--collection", POST))
        said = self.filter(database, "add", "--did", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "--collection", GRAPH)
        self.assertIn("+ app.bsky.graph.*, + did:plc:", said)
        self.assertIn("not read from now on", said)
        shown = json.loads(self.filter(database, "show", "--json"))
        self.assertEqual(shown["collections"], [POST, GRAPH])
        self.assertEqual(shown["dids"], ["did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"])
        self.assertIn("- app.bsky.feed.post", self.filter(database, "remove", "--collection", POST))
        self.assertIn("all records of all accounts", self.filter(database, "clear"))
        for arguments, words in ((["set"], "name collections"), (["set", "--collection", "posts"], "'posts'"),
                                 (["add", "--did", "alice"], "'alice'"),
                                 (["set", "--file", self.folder / "none"], "cannot be read")):
            with self.subTest(words):
                self.assertIn(words, self.filter(database, *arguments, code=2))


if __name__ == "__main__":
    unittest.main()
