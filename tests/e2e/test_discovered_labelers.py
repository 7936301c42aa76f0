"""Labelers that `skua run --discover-labelers` finds in the stream: subscriptions begin and end with their records."""

import socket
import unittest

from harness import closed_port, wait_for
from test_labels import POST, LabelTest

SERVICE = "app.bsky.labeler.service"


class Discovered(LabelTest):
    def begin(self, database, network, *arguments, allows_private="true"):
        return self.start([self.binary("skua"), "run", "--relay", network.url, "--discover-labelers", *arguments], {
            **self.environment(database), "SKUA_VERIFY": "full", "SKUA_PLC_URL": network.ready["plc"],
            "SKUA_DNS": network.ready["dns"], "SKUA_ALLOW_PRIVATE_HOSTS": allows_private, "SKUA_STATS_INTERVAL": "1"})

    def values(self, database):
        return set(database.value("select coalesce(json_agg(val), '[]') from bsky.labels"))

    def figures(self, database):
        return database.value("select metrics from skua.metrics where source = 'labeler:discovered'")

    def is_read(self, network):
        return any(one["server"] == "labeler" for one in network.state()["connections"])

    def publish(self, network, did, url=None):
        if url:
            network.control("/labeler-service", did=did, url=url)
        network.control("/record", did=did, collection=SERVICE)

    def asked(self, network):
        """The cursor of each connection to the labeler so far."""
        return [int(event["cursor"]) for event in network.events("connect") if event["server"] == "labeler"]

    def test_a_subscription_begins_and_ends_with_the_record(self):
        network = self.labeled()
        labeler = network.state()["labeler"]["did"]
        others = [one["did"] for one in network.accounts(self.folder / "before") if one["did"] != labeler]
        database = self.database()
        # One labeler accepts connections and never answers, one is not there, one account has no address.
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        skua = self.begin(database, network, "--cursor", "oldest")
        self.publish(network, others[0], f"http://127.0.0.1:{silent.getsockname()[1]}")
        self.publish(network, others[1], f"http://127.0.0.1:{closed_port()}")
        self.publish(network, others[2])
        # Forged and broken labels are counted, and make no dead letters.
        network.control("/label", labels=[{"uri": POST, "val": "forged", "broken": "signature"},
                                          {"uri": POST, "val": "broken", "broken": "ver"}])
        network.control("/label", uri=POST, val="first")
        self.publish(network, labeler)
        wait_for("the first label", lambda: self.values(database) == {"first"}, alive=[skua])
        network.control("/label", uri=POST, val="second")
        wait_for("the second label", lambda: self.values(database) == {"first", "second"}, alive=[skua])
        dropped = {"wrong_signature": 1, "label_malformed": 1}
        wait_for("the counts", lambda: self.figures(database)["dropped"] == dropped, alive=[skua])
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)

        network.control("/record", did=labeler, collection=SERVICE, delete=True)
        wait_for("the end of the subscription", lambda: not self.is_read(network), alive=[skua])
        network.control("/label", uri=POST, val="third")
        name = "labeler:" + network.ready["labeler"].removeprefix("ws://")
        cursor = f"select count(*) from skua.cursors where source = '{name}'"
        wait_for("no cursor", lambda: database.value(cursor) == 0, alive=[skua])
        # The stored labels stay, and the relay goes on.
        self.assertEqual(self.values(database), {"first", "second"})
        self.publish(network, labeler)
        wait_for("the third label", lambda: "third" in self.values(database), alive=[skua])
        # Without its session it takes its locks again, and no subscription ends.
        self.assertTrue(database.value("select bool_and(pg_terminate_backend(pid)) from pg_stat_activity "
                                       "where application_name like 'skua labelers%' and datname = current_database()"))
        wait_for("the cursor", lambda: database.value(cursor) == 1, alive=[skua])
        numbers = lambda: [self.figures(database)[name] for name in (  # noqa: E731
            "discovered_labelers", "subscribed_labelers", "connected_labelers", "left_out_labelers")]
        wait_for("the metrics", lambda: numbers() == [4, 3, 1, {"no_service": 1}], alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertFalse(any("no connection to" in line or "cannot reach" in line for line in skua.output()))

        skua = self.begin(database, network)
        network.control("/label", uri=POST, val="fourth")
        wait_for("the fourth label", lambda: "fourth" in self.values(database), alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(self.asked(network), [0, 0, 4])

    def test_limits_named_labelers_and_private_hosts(self):
        network = self.labeled()
        labeler = network.state()["labeler"]["did"]
        database = self.database()
        network.control("/label", uri=POST, val="spam")
        self.publish(network, labeler)
        left_out = lambda: (self.figures(database) or {}).get("left_out_labelers")  # noqa: E731
        skua = self.begin(database, network, "--cursor", "oldest", allows_private="false")
        wait_for("no private address", lambda: left_out() in ({"insecure": 1}, {"unanswered": 1}), alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertFalse(self.asked(network))
        skua = self.begin(database, network, "--labeler", network.ready["labeler"])
        wait_for("the label", lambda: self.values(database) == {"spam"}, alive=[skua])
        wait_for("the named labeler", lambda: left_out() == {"named": 1}, alive=[skua])
        self.assertEqual(self.asked(network), [0])
        self.assertEqual(skua.stop(), 0, skua.tail())


if __name__ == "__main__":
    unittest.main()
