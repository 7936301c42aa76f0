"""The shared captures in two nodes with a query database: tables, projections and the stream of changes are those of one database. There are
three PostgreSQL clusters: one for each node, and one for the query database and the one database."""

import collections
import os
from concurrent.futures import ThreadPoolExecutor

import test_node_feed
import test_nodes
import test_serve
from harness import Database, EndToEnd, need_shared
from node_content import OF_NODES, SUMMED, VIEWS, WAITING, shown, sums
from test_groups import HALVES
from test_outage import Cluster

# A query database reads what it shows of each notification from the nodes, so the notifications of some accounts must do. All of them are in the
# view notifications.
SLOW = "notifications_view"
# What a change says of itself, and not of what it leaves.
OF_CHANGE = {"pos", "time", "op", "rev", "references", "superseded"}


class Told:
    """What a client knows that has read a stream from its beginning, where the changes of an account and collection come in the order of their
    revisions. It does not depend on the batches in which the indexer wrote: a batch has one change of a record or account, and none if
    everything is as before. `stored`: what each account has, by kind and key; `sums`: the sums of the references to each target, for each
    account and role."""

    def __init__(self, test, events):
        self.changes = len(events)
        self.stored, self.sums = {}, collections.Counter()
        revisions = {}
        for event in events:
            if event["kind"] == "rules":
                # A query database computes the rules when it is asked.
                continue
            place = event["did"], event["kind"], event.get("collection")
            if event["kind"] == "record":
                test.assertGreaterEqual(event["rev"], revisions.get(place, ""), event)
                revisions[place] = event["rev"]
            for reference in event.get("references", ()):
                self.sums[event["did"], reference["role"], reference.get("uri") or reference["did"]] += reference["delta"]
            key = *place, *(event.get(name) for name in ("rkey", "uri", "val"))
            self.stored[key] = None if event["op"] == "delete" else {name: value for name, value in event.items() if name not in OF_CHANGE}
            # As without a change.
            if (event["kind"] == "account" and event["active"]) or (event["kind"] == "handle" and event.get("handle") is None):
                self.stored[key] = None
        self.stored = {key: value for key, value in self.stored.items() if value}
        self.sums = collections.Counter({key: number for key, number in self.sums.items() if number})


class NodeCaptures(EndToEnd):
    check_equal, check_references = test_nodes.Nodes.check_equal, test_nodes.Nodes.check_references
    serve, changes = test_serve.ServeTest.serve, test_serve.ServeTest.changes
    read_to, ends = test_node_feed.NodeFeed.read_to, test_node_feed.NodeFeed.ends

    def cluster(self, name):
        cluster = Cluster(self.folder / name)
        self.addCleanup(cluster.pg, "destroy")
        return Database(cluster.url)

    def in_all(self, databases, *arguments, code=0):
        """Runs a command with each database at the same time."""
        programs = [self.start([self.binary("skua"), *arguments], self.environment(database)) for database in databases]
        for program in programs:
            self.assertEqual(program.wait(120), code, f"{arguments}\n{program.tail()}")

    def test_captures(self):
        data = need_shared()
        os.chmod(self.folder, 0o755)
        with ThreadPoolExecutor() as pool:
            nodes = list(pool.map(self.cluster, ("west", "east")))
            one, ask = self.database(), self.database()
        for number, (node, groups) in enumerate(zip(nodes, HALVES)):
            self.skua(ask, "nodes", "add", f"n{number}", "--node-url", node.url, "--groups", groups)
        everywhere = one, *nodes
        self.skua(one, "consumers", "add", "post_rules")
        for name in OF_NODES:
            self.in_all(everywhere, "consumers", "add", name)
        captures = [data / "pds/frames.bin", *sorted(data.glob("frames/*.frames")), *sorted(data.glob("reports/*.frames"))]
        for capture in captures:
            self.in_all(everywhere, "replay", capture)
        # Some files of this folder are no repositories.
        self.in_all(everywhere, "backfill", "--car-dir", data / "repos", code=1)
        # Nothing waits, although there was no `skua run`.
        self.assertEqual([node.value(WAITING) for node in nodes], [False, False])
        self.check_references(nodes)
        self.in_all(everywhere, "consumers", "run-until-idle")
        # A reply is told to the nodes of three posts above it, one after the other.
        for _ in range(5):
            self.in_all(nodes, "consumers", "run-until-idle")
        ask.run("select skua.refresh_collections()")
        self.check_content(one, ask)
        letters = "select key, error from skua.dead_letter"
        self.assertEqual(sorted("\n".join(node.run(letters) for node in nodes).splitlines()), sorted(one.run(letters).splitlines()))
        self.check_stream(one, ask, nodes)

    def check_content(self, one, ask):
        contents = [(shown, view) for view in one.run(VIEWS).split() if view != SLOW] + [(sums, name) for name in SUMMED]
        contents.append((shown, SLOW, "recipient = any(array(select id from bsky.actors where did ~ '^did:plc:[a-d]'))"))
        rows = 0
        with ThreadPoolExecutor(2) as pool:
            both = pool.map(lambda content: [content[0](database, *content[1:]) for database in (ask, one)], contents)
            for content, (found, expected) in zip(contents, both):
                with self.subTest(content[1]):
                    self.check_equal(found, expected)
                rows += expected.total()
        self.assertGreater(rows, 30000)

    def check_stream(self, one, ask, nodes):
        client = self.changes(self.serve(one), "?cursor=oldest")
        expected = Told(self, client.read_to(one.value("select skua.change_log_end() - 1")).events)
        found = Told(self, self.read_to(self.changes(self.serve(ask), "?cursor=oldest"), self.ends(nodes)))
        for name in ("stored", "sums"):
            both = [getattr(told, name) for told in (found, expected)]
            self.assertEqual(*({key: part.get(key) for key in list(both[0].keys() ^ both[1].keys())[:3]} for part in both), name)
            self.assertEqual(*([(key, value) for key, value in part.items() if value != both[1][key]][:3] for part in both), name)
        self.assertGreater(min(expected.changes, found.changes), 11000)
        self.assertGreater(len(expected.stored), 9000)
        self.assertGreater(len(expected.sums), 4000)
