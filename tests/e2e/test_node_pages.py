"""The pages of `skua serve` with a query database: the dashboard in Chromium, and `skua top`."""

import json
import unittest

import test_nodes
import test_serve
from test_backfill import Backfill
from test_dashboard import InBrowser
from test_pages import Pages


class NodePages(InBrowser, Backfill):
    joined, live_network, follow = test_nodes.Nodes.joined, test_nodes.Nodes.live_network, test_nodes.Nodes.follow
    serve = test_serve.ServeTest.serve

    def report(self, ask, program):
        return "\n".join(self.skua(ask, "top", "--once", "--http", Pages(program).address).output())

    def row(self, name):
        return self.row_with("#nodes", name)

    def test_nodes_are_shown_and_one_fails(self):
        network = self.live_network()
        ask, nodes = self.joined()
        nodes[0].run("insert into skua.retention (collection, keep) values ('app.bsky.feed.like', '90 days')")
        seq = network.steps(60)["seq"]
        self.assertEqual(self.follow(nodes[0], network, seq, "--cursor", "oldest").stop(), 0)
        server = self.serve(ask)
        self.open(server)
        self.shows("the state", lambda: self.title() == "ready · skua serve (nodes)")
        self.shows("the nodes", lambda: self.row("n1"))
        self.assertEqual([self.cell(self.row("n0"), label) for label in ("groups", "state")], ["0-31", "read"])
        self.assertEqual([self.cell(self.row("n1"), label) for label in ("groups", "state", "read up to (UTC)", "age")], ["32-63", "no event read", "-", "-"])
        self.assertRegex(self.cell(self.row("n0"), "age"), r"^[\d.,]+ (ms|s|min|h|d)$")
        self.assertIn("it keeps app.bsky.feed.like for 90 days", self.cell(self.row("n0"), "answers lack"))
        for absent in ("throughput", "consumers", "change-log", "letters", "posts", "sign-in", "consumer-lag"):
            self.assertEqual(self.count("#" + absent), 0, absent)
        self.shows("streams", lambda: self.tile("open streams") == "0")
        self.shows("a chart", lambda: any(value is not None for value in self.script(
            "(Chart.getChart('clients') || {data: {datasets: [{data: []}]}}).data.datasets[0].data")))
        self.check_phone("#nodes")
        text = self.report(ask, server)
        self.assertRegex(text, r"^skua top  ready  ")
        self.assertRegex(text, r"(?m)^nodes 2   cannot be read 0   oldest \d")
        self.assertRegex(text, r"(?m)^n1 +32-63 +- +- +read$")
        nodes[1].run("drop schema node_ranges cascade")
        self.shows("the failure", lambda: "cannot be read" in self.cell(self.row("n1"), "state"))
        self.shows("the warning", lambda: self.title() == "ready, 1 warning · skua serve (nodes)")
        self.assertIn("node-failed", self.text("#problem-list"))
        self.assertRegex(self.report(ask, server), r"(?m)^n1 +32-63 .* cannot be read: ")
        status, text = Pages(server).get("/history?metric=skua_feed_streams")
        self.assertEqual((status, list(json.loads(text)["metrics"])), (200, ["skua_feed_streams"]))
        self.assertEqual(self.browser.log(), [])


if __name__ == "__main__":
    unittest.main()
