"""A node loses its newest rows: a standby that lags replaces it, or a backup. The other node and the query database continue, and in the
end they have together what one database has."""

import os
import signal
import subprocess
import unittest
import urllib.parse

import comparison
import test_node_feed
import test_nodes
import test_serve
from changes import folded
from harness import Database, wait_for
from node_content import OF_NODES, OF_ONE, SUMMED, VIEWS, WAITING, numbered, shown, sums
from standby import Standby
from test_backfill import Backfill
from test_groups import HALVES, group
from test_node_feed import place
from test_outage import Cluster

LOST = "all references to its accounts are sent again"


class NodeLoss(Backfill):
    live_network, check_equal = test_nodes.Nodes.live_network, test_nodes.Nodes.check_equal
    serve, changes = test_serve.ServeTest.serve, test_serve.ServeTest.changes
    read_to, refusal, ends = test_node_feed.NodeFeed.read_to, test_node_feed.NodeFeed.refusal, test_node_feed.NodeFeed.ends

    def joined(self, *urls):
        """Adds the nodes n0, n1 to a new query database, and all projections to each."""
        self.one, self.ask = self.database(), self.database()
        for number, (url, groups) in enumerate(zip(urls, HALVES)):
            self.skua(self.ask, "nodes", "add", f"n{number}", "--node-url", url, "--groups", groups)
        for database in (self.one, *map(Database, urls)):
            self.add_projections(database)

    def add_projections(self, database):
        for name in OF_ONE if database is self.one else OF_NODES:
            self.skua(database, "consumers", "add", name)

    def begin_all(self, databases, network, *arguments):
        """`skua run` with each database."""
        return [self.begin(database, network, "run", *arguments) for database in databases]

    def proceed(self, network, steps, runs):
        """Lets all processes read more of the stream."""
        seq = network.steps(steps)["seq"]
        wait_for(f"cursor {seq}", lambda: all(run.reached(seq) for run in runs), seconds=60, alive=runs)

    def stop_all(self, runs):
        for run in runs:
            run.signal(signal.SIGTERM)
        for run in runs:
            self.assertEqual(run.wait(), 0, run.tail())

    def missing(self, nodes):
        """The accounts of the second node that only the first one has, with their numbers."""
        groups = list(HALVES.values())[1]
        first, second = (numbered(node, groups, "actors") for node in nodes)
        return first - second

    def wait_for_references(self, nodes, runs):
        wait_for("the references", lambda: not any(node.value(WAITING) for node in nodes), seconds=60, alive=runs)

    def check_content(self, nodes):
        # A reply is told to the nodes of three posts above it, one after the other.
        for node in (*nodes, *nodes, *nodes, *nodes):
            self.skua(node, "consumers", "run-until-idle")
        for database in (self.one, *nodes):
            self.skua(database, "consumers", "run-until-idle")
            for name in OF_NODES:
                self.skua(database, "consumers", "verify", name)
            self.assertEqual(comparison.change_log_differences(database), [])
            self.assertEqual(database.run("select error from skua.dead_letter"), "")
        self.ask.run("select skua.refresh_collections()")
        rows = 0
        for view in self.one.run(VIEWS).split():
            with self.subTest(view):
                expected = shown(self.one, view)
                rows += expected.total()
                self.check_equal(shown(self.ask, view), expected)
        self.assertGreater(rows, 300)
        for name in SUMMED:
            with self.subTest(name):
                self.check_equal(sums(self.ask, name), sums(self.one, name))
        for owned, owner, other in zip(HALVES.values(), nodes, reversed(nodes)):
            for table in ("actors", "rkeys"):
                self.assertEqual(numbered(other, owned, table) - numbered(owner, owned, table), set())
        for database in (self.ask, *nodes):
            for column in ("did", "id"):
                self.assertEqual(database.run(f"select {column} from bsky.actors group by 1 having count(*) > 1"), "")
        # The query database has the accounts of the one database.
        accounts = "select did from bsky.actors order by 1"
        self.assertEqual(self.ask.run(accounts), self.one.run(accounts))

    def test_a_standby_that_lags_replaces_a_node(self):
        os.chmod(self.folder, 0o755)
        cluster = Cluster(self.folder / "pg")
        self.addCleanup(cluster.pg, "destroy")
        standby = Standby(cluster)
        self.addCleanup(standby.stop)
        # One URL with both servers, as docs/nodes.md says.
        parts = urllib.parse.urlsplit(cluster.url)
        hosts = [urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in (cluster.url, standby.url)]
        url = urllib.parse.urlunsplit(parts._replace(query=urllib.parse.urlencode(
            {name: ",".join(host[name][0] for host in hosts) for name in ("host", "port")} | {"target_session_attrs": "read-write"}, safe="/,")))
        nodes = [self.database(migrated=False), Database(url)]
        self.joined(*(node.url for node in nodes))
        network = self.live_network()
        server = self.serve(self.ask)
        live = self.changes(server)
        runs = self.begin_all((self.one, *nodes), network, "--cursor", "oldest")
        self.proceed(network, 100, runs)
        self.wait_for_references(nodes, runs)
        copy = Database(standby.url)
        end = nodes[1].value("select pg_current_wal_insert_lsn()")
        wait_for("the standby", lambda: copy.value(f"select pg_last_wal_replay_lsn() >= '{end}'"))
        copy.run("alter system set primary_conninfo = ''")
        copy.run("select pg_reload_conf()")
        wait_for("the end of the replication", lambda: copy.value("select count(*) from pg_stat_wal_receiver") == 0)
        self.proceed(network, 200, runs)
        self.wait_for_references(nodes, runs)
        self.assertEqual(self.missing(nodes), set())
        self.assertNotEqual(self.missing([nodes[0], copy]), set())
        ends = self.ends(nodes)
        self.read_to(live, ends)
        self.assertGreater(ends["n1"], copy.value("select skua.change_log_end() - 1"))

        cluster.pg("stop", "immediate")
        standby.promote()
        wait_for("the second node", lambda: runs[2].says("the database has changed"), seconds=60, alive=runs)
        self.proceed(network, 100, runs)
        wait_for("the first node", lambda: runs[1].says(LOST), seconds=60, alive=runs)
        self.wait_for_references(nodes, runs)
        self.stop_all(runs)
        self.check_content(nodes)
        self.check_feed(server, live, nodes)

    def restored(self, database, during):
        """A dump of a database, restored into a new one after `during` has run."""
        file = self.folder / "node.dump"
        subprocess.run(["pg_dump", "-Fc", "-f", file, database.url], check=True)
        during()
        target = self.database(migrated=False)
        subprocess.run(["pg_restore", "--exit-on-error", "-d", target.url, file], check=True)
        return target

    def test_a_node_is_restored_from_a_backup(self):
        nodes = [self.database(migrated=False) for _ in HALVES]
        self.joined(*(node.url for node in nodes))
        network = self.live_network()
        runs = self.begin_all((self.one, *nodes), network, "--cursor", "oldest")
        self.proceed(network, 100, runs)
        self.wait_for_references(nodes, runs)
        # The end of a process saves its cursor.
        self.stop_all(runs)
        runs = self.begin_all((self.one, *nodes), network)

        def lose():
            self.proceed(network, 200, runs)
            self.wait_for_references(nodes, runs)
            self.assertEqual(self.missing(nodes), set())
            self.assertEqual(runs.pop().stop(), 0)
        lost, nodes[1] = nodes[1], self.restored(nodes[1], lose)
        server = self.serve(self.ask)
        last = "n0:1-1,n1:1-" + str(lost.value("select skua.change_log_end() - 1"))
        lost.drop()
        self.assertNotEqual(self.missing(nodes), set())
        # The first node continues, and so does the query database.
        self.proceed(network, 20, runs)
        self.assertTrue(self.skua(self.ask, "query", "latest", code=1).says("note: the node n1 cannot be read"))
        self.skua(self.ask, "nodes", "set", "n1", "--node-url", nodes[1].url)
        self.skua(self.ask, "query", "latest")
        self.assertEqual(server.wait(60), 1)
        server = self.serve(self.ask)
        # The log of the restored database is an older state, until `skua run` writes there.
        self.assertEqual(self.refusal(server, "/changes", last)[1]["error"], "CursorInFuture")
        runs += self.begin_all(nodes[1:], network)
        self.proceed(network, 20, runs)
        self.assertEqual(self.refusal(server, "/changes", last)[1]["error"], "TimelineChanged")
        self.wait_for_references(nodes, runs)
        self.stop_all(runs)
        self.check_content(nodes)

    def test_a_node_without_a_backup_is_made_anew(self):
        nodes = [self.database(migrated=False) for _ in HALVES]
        self.joined(*(node.url for node in nodes))
        network = self.live_network()
        runs = self.begin_all((self.one, *nodes), network, "--cursor", "oldest")
        self.proceed(network, 200, runs)
        self.wait_for_references(nodes, runs)
        self.assertEqual(runs.pop().stop(), 0)
        nodes[1].drop()
        nodes[1] = self.database(migrated=False)
        self.skua(self.ask, "nodes", "remove", "n1")
        self.skua(self.ask, "nodes", "add", "n2", "--node-url", nodes[1].url, "--groups", "32-63")
        self.add_projections(nodes[1])
        runs += self.begin_all(nodes[1:], network, "--cursor", "oldest")
        self.proceed(network, 20, runs)
        self.wait_for_references(nodes, runs)
        self.stop_all(runs)
        self.check_content(nodes)

    def check_feed(self, server, live, nodes):
        """A client whose position the second node does not have any more."""
        while (message := live.receive()) and message[0] != "error":
            if message[0] == "message":
                live.events.append(message[1])
        self.assertEqual(message[1]["error"], "TimelineChanged")
        self.assertIn("the node n1: ", message[1]["message"])
        code, error = self.refusal(server, "/changes", live.pos)
        self.assertEqual((code, error["error"]), (410, "TimelineChanged"))
        self.assertIn("the node n1: the database was restored or failed over: its timeline is 2 now", error["message"])
        # Without the part of the node, the position continues with all changes of the node.
        own, _ = live.pos.split(",")
        rest = self.changes(server, f"?cursor={own}")
        self.read_to(rest, self.ends(nodes))
        kept = [event for event in live.events if group(event["did"]) < 32]
        seen = folded([*kept, *rest.events])
        self.assertEqual({uri: cid for uri, (cid, _) in seen.items()},
                         dict(line.split("|") for line in self.ask.run("select uri, cid from bsky.all_records").split("\n")))
        self.assertEqual(place(rest.pos), self.ends(nodes))


del Backfill

if __name__ == "__main__":
    unittest.main()
