"""Pull consumers and webhooks of a query database: `skua serve` delivers the changes of all nodes, those of an account in order."""

import json
import threading
import urllib.error
import urllib.request

import test_node_feed
import test_node_move
import test_nodes
import test_serve
from harness import BIN, wait_for
from test_backfill import Backfill
from test_leased import QUICK, Receiver

key = test_node_feed.key


class NodeConsumers(Backfill):
    joined, live_network, follow = test_nodes.Nodes.joined, test_nodes.Nodes.live_network, test_nodes.Nodes.follow
    serve, changes, ends, read_to_end_of = (test_serve.ServeTest.serve, test_serve.ServeTest.changes, test_node_feed.NodeFeed.ends,
                                            test_node_feed.NodeFeed.read_to_end_of)
    move, moved, reach = test_node_move.NodeMove.move, test_node_move.NodeMove.moved, test_node_move.NodeMove.reach

    def add(self, database, name, *options):
        """Returns the secret or token."""
        return self.skua(database, "consumers", "add", name, "--from", "oldest", *options).stdout[-1]

    def webhook(self, database, name, *options):
        receiver = Receiver("")
        receiver.secret = self.add(database, name, "--webhook", f"http://127.0.0.1:{receiver.port}/", *QUICK, *options)
        return receiver

    def opened(self, receiver):
        receiver.start()
        self.addCleanup(receiver.close)
        return receiver

    def call(self, server, action, token, status=200, **body):
        request = urllib.request.Request(f"{server.url}/pull/{action}", json.dumps({"consumer": "archive", **body}).encode(),
                                         {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                code, result = answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            code, result = error.code, json.load(error)
        self.assertEqual(code, status, result)
        return result

    def drained(self, server, token, most=100):
        """All changes of the pull consumer that exist now."""
        received = []
        while (batch := self.call(server, "fetch", token, max=most))["changes"] or batch.get("more"):
            if not batch["changes"]:
                continue
            node = batch["batch"].split(":")[0]
            self.assertEqual({change["pos"].split(":")[0] for change in batch["changes"]}, {node}, "a batch is of one node")
            received += batch["changes"]
            self.call(server, "ack", token, batch=batch["batch"], through=batch["changes"][-1]["pos"])
        return received

    def of_nodes(self, nodes):
        """{position: change} of the logs of the nodes."""
        return {f"n{number}:{event['pos']}": key(event) for number, node in enumerate(nodes)
                for event in self.read_to_end_of(self.serve(node), node)}

    def check_each_once(self, received, nodes):
        found = {change["pos"]: key(change) for change in received}
        self.assertEqual(len(found), len(received))
        expected = self.of_nodes(nodes)
        self.assertEqual(sorted(found.items()), sorted(expected.items()))

    def check_order(self, received):
        """The changes of a collection of an account come in the order of their revisions."""
        revisions = {}
        for change in received:
            if change["kind"] == "record":
                collection = change["did"], change["collection"]
                self.assertGreaterEqual(change["rev"], revisions.get(collection, ""), change)
                revisions[collection] = change["rev"]

    def test_consumers_have_the_changes_of_all_nodes(self):
        network = self.live_network()
        ask, nodes = self.joined()
        token = self.add(ask, "archive", "--pull", "--lanes", "2", *QUICK)
        hook = self.opened(self.webhook(ask, "hook"))
        secrets = [node.run("select string_agg(secret, ' ' order by secret) from skua.consumer_secrets") for node in nodes]
        self.assertEqual(secrets[0], secrets[1])
        again = self.skua(ask, "consumers", "add", "hook", "--pull", code=1)
        self.assertTrue(again.says("the node n0: the consumer 'hook' exists already"), again.tail())
        # The second node has a pull consumer of its own, too.
        own = self.add(nodes[1], "own", "--pull", *QUICK)
        seq = network.steps(200)["seq"]
        for node in nodes:
            self.assertEqual(self.follow(node, network, seq, "--cursor", "oldest").stop(), 0)
        server = self.serve(ask)
        received = self.drained(server, token, most=7)
        self.assertGreater(len(received), 100)
        self.check_each_once(received, nodes)
        self.check_order(received)
        wait_for("the changes of the webhook", lambda: len({change["pos"] for change in hook.processed}) >= len(received), alive=[server])
        self.check_each_once(hook.processed, nodes)
        self.assertEqual(hook.faults, [])
        identifiers = [identifier for identifier, _ in hook.requests]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        self.assertTrue(identifiers[0].startswith("hook:n"), identifiers[0])
        # Each serves its own consumers.
        self.assertEqual(self.call(server, "fetch", own, 409, consumer="own"),
                         {"error": "OtherDatabase", "message": "this consumer was added with the database of a node: ask the `skua serve` of that database"})
        server_of_node = self.serve(nodes[1])
        self.assertEqual(self.call(server_of_node, "fetch", token, 409),
                         {"error": "OtherDatabase", "message": "this consumer was added with the query database: ask the `skua serve` of that database"})
        self.assertEqual(self.call(server_of_node, "fetch", own, 401)["error"], "Unauthorized")
        self.assertGreater(len(self.call(server_of_node, "fetch", own, consumer="own")["changes"]), 5)
        # Refusals, and changes that come while a fetch waits.
        self.assertEqual(self.call(server, "fetch", "other", 401)["error"], "Unauthorized")
        for batch in ("0-1-9-x", "n7:0-1-9-x"):
            self.assertEqual(self.call(server, "ack", token, 400, batch=batch)["message"], "batch is not the batch of an answer to fetch")
        self.assertEqual(self.call(server, "ack", token, 400, batch="n1:0-1-9-x", through="n0:1-5")["message"],
                         "through is a position such as n1:1-4711")
        self.assertEqual(self.call(server, "ack", token, 409, batch="n1:0-1-9-x")["error"], "LeaseLost")
        later = []
        thread = threading.Thread(target=lambda: later.append(self.call(server, "fetch", token, wait_seconds=20)))
        thread.start()
        seq = network.steps(20)["seq"]
        for node in nodes:
            self.assertEqual(self.follow(node, network, seq).stop(), 0)
        thread.join()
        self.assertTrue(later[0]["changes"])
        # The commands concern all nodes.
        for name in ("pause", "resume"):
            self.skua(ask, "consumers", name, "hook")
            self.assertEqual([node.run("select paused from skua.consumers where name = 'hook'") for node in nodes],
                             ["t" if name == "pause" else "f"] * 2)
        listed = json.loads("".join(self.skua(ask, "consumers", "list", "--json").output()))
        self.assertEqual(sorted((one["node"], one["name"]) for one in listed),
                         [("n0", "archive"), ("n0", "hook"), ("n1", "archive"), ("n1", "hook"), ("n1", "own")])
        for options in (("reset", "hook", "--from", "7"), ("reset", "hook", "--skip", "7"), ("wait", "hook", "--position", "7")):
            refused = self.skua(ask, "consumers", *options, code=2)
            self.assertTrue(refused.says("each node has its own positions"), refused.tail())
        self.skua(ask, "consumers", "wait", "hook")
        token = self.skua(ask, "consumers", "set", "archive", "--new-secret").stdout[-1]
        self.assertEqual(self.call(server, "fetch", token)["batch"].split(":")[0][0], "n")
        # A node that lacks a consumer gets it.
        nodes[1].run("delete from skua.consumers where name = 'hook'")
        self.assertTrue(self.skua(ask, "consumers", "list").says("the node n1 lacks hook: `skua nodes sync` adds it"))
        self.skua(ask, "nodes", "sync")
        self.assertEqual(nodes[1].run("select count(*) from skua.consumers where name = 'hook' and of_network"), "1")
        self.skua(ask, "consumers", "remove", "hook")
        self.assertFalse(self.skua(ask, "consumers", "list").says("hook"))
        self.assertEqual(server.stop(), 0)

    def test_a_node_that_fails_delays_no_other(self):
        network = self.live_network()
        ask, nodes = self.joined()
        token = self.add(ask, "archive", "--pull", *QUICK)
        seq = network.steps(60)["seq"]
        for node in nodes:
            self.assertEqual(self.follow(node, network, seq, "--cursor", "oldest").stop(), 0)
        # No session of the second node can read consumers.
        nodes[1].run("alter table skua.consumer_lanes rename to away")
        server = self.serve(ask)
        end = nodes[0].value("select skua.change_log_end() - 1")
        received = []
        while not received or int(received[-1]["pos"].rpartition("-")[2]) < end:
            batch = self.call(server, "fetch", token, wait_seconds=1)
            received += batch["changes"]
            self.call(server, "ack", token, batch=batch["batch"])
        refused = self.call(server, "fetch", token, 503)
        self.assertEqual(refused, {"error": "DatabaseUnavailable", "message": "the node n1 does not answer: try again later"})
        nodes[1].run("alter table skua.away rename to consumer_lanes")

        def rest():
            try:
                received.extend(self.drained(server, token))
            except AssertionError:
                return False
            return True
        wait_for("the other node", rest)
        self.check_each_once(received, nodes)
        self.assertEqual(server.stop(), 0)

    def test_the_status_names_the_node_whose_changes_come_first(self):
        network = self.live_network()
        ask, nodes = self.joined()
        # Named twice, the later value of max_attempts is the valid one.
        hook = self.webhook(ask, "hook", "--policy", "block_lane", "--set", "max_attempts=1")
        seq = network.steps(100)["seq"]
        for node in nodes:
            self.assertEqual(self.follow(node, network, seq, "--cursor", "oldest").stop(), 0)
        hook.behave = lambda changes: 400 if changes[0]["pos"].startswith("n0:") else 204
        self.opened(hook)
        server = self.serve(ask)
        wait_for("the blocked lane", lambda: nodes[0].value("select bool_or(is_blocked) from skua.consumer_lanes"), alive=[server])
        waits = "its changes since the arrival of groups from the node n0 wait: it must first have the earlier ones of the node n0, where it is blocked"
        self.assertFalse(self.skua(ask, "consumers", "status", "hook").says("its changes since the arrival"))
        move = self.move(ask, "n1", "28-31")
        wait_for("the consumer", lambda: move.says("waits until hook has the changes of the node n0"), alive=[move])
        status = self.skua(ask, "consumers", "status", "hook")
        self.assertEqual([line.strip() for line in status.stdout].count(waits), 1, status.tail())
        self.assertTrue(status.says("then run `skua consumers reset hook`"), status.tail())
        self.assertEqual([one["waits_for"] for one in json.loads("".join(self.skua(ask, "consumers", "status", "hook", "--json").output()))],
                         [[], [{"node": "n0", "state": "blocked"}]])
        hook.behave = lambda changes: 204
        self.assertTrue(self.skua(ask, "consumers", "reset", "hook").says("hook continues"))
        self.assertTrue(self.skua(ask, "consumers", "reset", "hook", code=1).says("the consumer 'hook' is not stopped"))
        server.wait(60)
        server = self.serve(ask)
        self.assertEqual(move.wait(120), 0, move.tail())
        wait_for("no wait", lambda: not self.skua(ask, "consumers", "status", "hook").says("its changes since the arrival"), alive=[server])
        self.assertEqual(server.stop(), 0)

    def test_changes_of_an_account_that_moves_keep_their_order(self):
        network = self.live_network()
        ask, nodes = self.joined()
        hook = self.webhook(ask, "hook", "--kind", "record")
        token = self.add(ask, "archive", "--pull", "--kind", "record", *QUICK)
        seq = network.steps(100)["seq"]
        for node in nodes:
            self.assertEqual(self.follow(node, network, seq, "--cursor", "oldest").stop(), 0)
        runs = [self.begin(node, network, "run") for node in nodes]
        self.reach(network, runs, 20)
        groups = sorted(map(int, nodes[0].run("select distinct bsky.account_group(did) from bsky.all_records").split()))
        self.groups_moved = f"{groups[len(groups) // 2]}-31"
        # The receiver is down: each change waits. The move waits for it with the removal of the rows.
        server = self.serve(ask)
        move = self.move(ask, "n1")
        wait_for("the consumers", lambda: move.says("waits until") and move.says("has the changes of the node n0"), alive=[move])
        self.reach(network, runs, 200)
        server.wait(60)
        server = self.serve(ask)
        moved = f"bsky.account_group(did) between {groups[len(groups) // 2]} and 31"
        self.assertGreater(int(nodes[1].run(f"select count(*) from skua.changes_between(1, skua.change_log_end()) c join bsky.actors a on a.id = "
                                            f"c.actor_id where {moved}")), 10)
        # The pull consumer asks both nodes before the first one is read.
        received = self.drained(server, token, most=5)
        self.opened(hook)
        self.assertEqual(move.wait(120), 0, move.tail())
        counts = [node.value("select count(*) from skua.changes_between(1, skua.change_log_end()) where kind = 1") for node in nodes]
        wait_for("the changes", lambda: len({change["pos"] for change in hook.processed}) == sum(counts), seconds=60, alive=[server])
        received += self.drained(server, token)
        self.assertEqual(len({change["pos"] for change in received}), sum(counts))
        for changes in (received, hook.processed):
            self.check_order(changes)
            self.assertGreater(len({change["did"] for change in changes if change["pos"].startswith("n1")}
                                   & {change["did"] for change in changes if change["pos"].startswith("n0")}), 1)
            # The records were there until the consumer had their changes.
            self.assertEqual([change for change in changes if change["op"] != "delete" and "record" not in change and not change.get("superseded")], [])
        self.assertEqual([run.stop() for run in runs], [0] * 2)
        self.assertEqual(server.stop(), 0)


del Backfill
