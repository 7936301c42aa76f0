"""`skua serve` with a query database: one stream has the changes of all nodes."""

import json
import urllib.error
import urllib.request

import test_nodes
import test_serve
from harness import wait_for
from test_backfill import Backfill


def place(text):
    """{node: number} of a position such as n0:1-4,n1:1-9."""
    return {part.split(":")[0]: int(part.rpartition("-")[2]) for part in text.split(",")}


def key(event):
    """What every client sees of a change. Positions differ with the order in which the nodes are read, and other content is the present one."""
    return json.dumps([event.get(name) for name in ("time", "kind", "op", "did", "collection", "rkey", "rev", "cid", "references")])


class NodeFeed(Backfill):
    joined, live_network, follow = test_nodes.Nodes.joined, test_nodes.Nodes.live_network, test_nodes.Nodes.follow
    serve, changes, websocket = test_serve.ServeTest.serve, test_serve.ServeTest.changes, test_serve.ServeTest.websocket

    def read_to(self, client, ends):
        """Reads until the client has the last change of each node."""
        while client.pos is None or place(client.pos) != ends:
            kind, data = client.receive()
            self.assertIn(kind, ("message", "heartbeat"), data)
            if kind == "message":
                client.events.append(data)
        return client.events

    def ends(self, nodes):
        return {f"n{number}": node.value("select skua.change_log_end() - 1") for number, node in enumerate(nodes)}

    def refusal(self, server, target, last=None):
        request = urllib.request.Request(server.url + target, headers={"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        return refused.exception.code, json.loads(refused.exception.read())

    def test_one_stream_has_the_changes_of_all_nodes(self):
        network = self.live_network()
        ask, nodes = self.joined()
        server = self.serve(ask)
        live = self.changes(server)
        self.assertEqual(live.receive(), ("heartbeat", {"pos": "n0:1-0,n1:1-0", "kind": "heartbeat"}))
        seq = network.steps(200)["seq"]
        runs = [self.follow(node, network, seq, "--cursor", "oldest") for node in nodes]
        for run in runs:
            self.assertEqual(run.stop(), 0)
        ends = self.ends(nodes)
        self.assertGreater(min(ends.values()), 30)
        seen = self.read_to(live, ends)
        # Each change of each node, once and in the order of its log.
        for number, node in enumerate(nodes):
            own = self.read_to_end_of(self.serve(node), node)
            name = f"n{number}"
            before, found = 0, []
            for event in seen:
                now = place(event["pos"])[name]
                if now != before:
                    found.append(key(event))
                before = now
            self.assertEqual(found, [key(event) for event in own])
        self.assertEqual(len(seen), sum(ends.values()))
        # A client that reconnects at any change gets the others exactly.
        for at in (0, len(seen) // 3, len(seen) - 2):
            rest = self.changes(server, last_event_id=seen[at]["pos"])
            self.assertEqual(self.sorted(self.read_to(rest, ends)), self.sorted(seen[at + 1:]), at)
        # A node without a position in the cursor is new: the client gets all of it.
        only = self.changes(server, f"?cursor=n1:1-{ends['n1']}")
        self.assertEqual(len(self.read_to(only, ends)), ends["n0"])
        # A filter, and the websocket.
        posts = self.changes(server, "?cursor=oldest&collection=app.bsky.feed.post&kind=record")
        wanted = [event for event in seen if event.get("collection") == "app.bsky.feed.post" and event["kind"] == "record"]
        self.assertEqual(self.sorted(self.read_to(posts, ends)), self.sorted(wanted))
        socket = self.websocket(server, "/changes?cursor=oldest")
        received = []
        while len(received) < len(seen):
            message = json.loads(socket.receive()[1])
            if message["kind"] != "heartbeat":
                received.append(message)
        self.assertEqual(self.sorted(received), self.sorted(seen))
        # Refusals.
        self.assertEqual(self.refusal(server, "/changes", "n0:1-1,n9:1-1")[1]["error"], "NodeRemoved")
        self.assertEqual(self.refusal(server, "/changes?cursor=1-5")[0], 400)
        self.assertEqual(self.refusal(server, "/changes", "n0:2-1")[1]["error"], "TimelineChanged")
        self.assertEqual(self.refusal(server, f"/changes?cursor=n0:1-{ends['n0'] + 1}")[1],
                         {"error": "CursorInFuture", "message": f"the node n0: the newest change is 1-{ends['n0']}"})
        self.assertIn("read /changes", self.refusal(server, "/subscribe?cursor=0")[1]["message"])
        refused = self.skua(ask, "serve", "--consumers", "--listen", "127.0.0.1:0", code=1)
        self.assertTrue(refused.says("run `skua serve --consumers` with the database of the node"), refused.tail())
        # Records and queries of all nodes.
        with urllib.request.urlopen(server.url + "/query/latest", timeout=60) as answer:
            self.assertGreater(len(json.load(answer)["rows"]), 3)
        record = next(event for event in reversed(seen) if event.get("record"))
        target = f"/xrpc/com.atproto.repo.getRecord?repo={record['did']}&collection={record['collection']}&rkey={record['rkey']}"
        with urllib.request.urlopen(server.url + target, timeout=60) as answer:
            self.assertEqual(json.load(answer)["cid"], record["cid"])
        with urllib.request.urlopen(server.url + "/metrics", timeout=60) as answer:
            text = answer.read().decode()
            self.assertIn('skua_feed_errors_total{error="NodeRemoved"} 1', text)
            self.assertIn('skua_node_up{node="n1"} 1', text)
        with urllib.request.urlopen(server.url + "/status", timeout=60) as answer:
            self.assertEqual([node["groups"] for node in json.load(answer)["nodes"]], ["0-31", "32-63"])
        with urllib.request.urlopen(server.url + "/health/ready", timeout=60) as answer:
            self.assertEqual(json.load(answer), {"status": "ready", "reasons": [], "warnings": []})

    def sorted(self, events):
        return sorted(key(event) for event in events)

    def read_to_end_of(self, server, node):
        return self.changes(server, "?cursor=oldest").read_to(node.value("select skua.change_log_end() - 1")).events

    def test_a_node_that_fails_delays_no_other_and_a_new_list_of_nodes_ends_the_server(self):
        network = self.live_network()
        ask, nodes = self.joined()
        server = self.serve(ask)
        live = self.changes(server)
        live.receive()
        # No session of the second node works.
        nodes[1].run("alter table skua.change_log_state rename to away")
        seq = network.steps(60)["seq"]
        self.assertEqual(self.follow(nodes[0], network, seq, "--cursor", "oldest").stop(), 0)
        self.read_to(live, {**self.ends(nodes[:1]), "n1": 0})
        code, error = self.refusal(server, "/changes")
        self.assertEqual((code, error["error"]), (503, "DatabaseUnavailable"))
        self.assertIn("the node n1", error["message"])
        nodes[1].run("alter table skua.away rename to change_log_state")
        self.assertEqual(self.follow(nodes[1], network, seq, "--cursor", "oldest").stop(), 0)
        self.read_to(live, self.ends(nodes))
        nodes[1].run("drop view node_ranges.state")
        wait_for("the warning", lambda: ["node-failed"] == [warning["code"] for warning in json.load(
            urllib.request.urlopen(server.url + "/health/ready", timeout=30))["warnings"]], seconds=30)
        self.skua(ask, "nodes", "remove", "n1")
        self.assertEqual(server.wait(60), 1)
        wait_for("the reason", lambda: any("the list of nodes has changed" in line for line in server.stderr))


del Backfill
