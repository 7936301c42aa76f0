"""A consumer that does not advance says so, with the reason and the cure, wherever its state is shown."""

import json
import unittest

from harness import BIN, wait_for
from made import busy_network
from test_leased import LeasedTest, Receiver
from test_pages import Pages

SEARCH = ("search", "--webhook")


class ConsumerHealth(LeasedTest):
    def status(self, database, name="search"):
        return json.loads("".join(self.skua(database, "consumers", "status", name, "--json").output()))[0]

    def listed(self, database):
        return "\n".join(self.skua(database, "consumers", "list").output())

    def finding(self, database, name):
        """What `skua doctor` finds about a consumer."""
        report = json.loads("".join(self.skua(database, "doctor", "--json").stdout))
        found, = [finding for finding in report["findings"] if finding["check"] == f"consumer {name}"]
        return found

    def metric(self, pages, name):
        values = dict(line.rsplit(" ", 1) for line in pages.get("/metrics")[1].splitlines() if line[0] != "#")
        return float(values[f'skua_consumer_{name}{{consumer="search"}}'])

    def test_a_webhook_whose_deliveries_fail(self):
        database = self.indexed(accounts=2, rounds=3)
        receiver = Receiver("")
        self.add(database, *SEARCH, f"http://127.0.0.1:{receiver.port}/skua", "--from", "oldest")
        server = self.serve(database)
        pages = Pages(server)

        def failures():
            return self.status(database)["failures"] or {"cause": None, "error": "", "count": 0}

        wait_for("a refused connection", lambda: failures()["cause"] == "unreachable", alive=[server])
        self.assertIn("connection refused", failures()["error"])
        receiver.behave = lambda changes: (401, b"who is that?")
        receiver.start()
        self.addCleanup(receiver.close)
        wait_for("HTTP 401", lambda: failures()["cause"] == "refused", alive=[server])
        with self.subTest("a receiver that restarts does not alarm"):
            self.assertEqual((self.status(database)["state"], pages.codes()), ("running", []))
            self.assertIn("deliveries fail: ", self.listed(database))
            self.assertEqual(self.finding(database, "search")["level"], "ok")

        database.run("update skua.consumer_lanes set failing_since = failing_since - interval '29 minutes'")
        pages.wait_for_reason("consumer-stuck")
        consumer = self.status(database)
        self.assertEqual((consumer["state"], consumer["code"]), ("failing", "consumer-stuck"))
        self.assertRegex(consumer["reason"], r"^deliveries fail: HTTP 401: who is that\? \(\d+ failures since \S+Z, 29 min\)$")
        self.assertIn("secret", consumer["cure"])
        self.assertIn("`skua consumers set search --new-secret`", consumer["cure"])
        for text in (self.listed(database), "\n".join(self.skua(database, "consumers", "status", "search").output())):
            self.assertRegex(text, r"search +failing")
            self.assertIn("HTTP 401", text)
            self.assertIn(consumer["cure"], text)
        reason, = pages.ready()[1]["reasons"]
        self.assertEqual((reason["subject"], reason["cure"]), ("search", consumer["cure"]))
        self.assertIn("HTTP 401", reason["detail"])
        self.assertTrue(pages.problem_metric("consumer-stuck"))
        self.assertEqual(self.metric(pages, "running"), 0)
        self.assertGreater(self.metric(pages, "failing_seconds"), 1700)
        self.assertGreater(self.metric(pages, "failures_in_a_row"), 1)
        wait_for("the log", alive=[server], condition=lambda: any(
            "search: deliveries fail" in line and line.endswith("[consumer-stuck]") for line in list(server.stderr)))
        finding = self.finding(database, "search")
        self.assertEqual((finding["level"], finding["code"], finding["cure"]),
                         ("warning", "consumer-stuck", consumer["cure"]))
        self.assertIn("HTTP 401", finding["detail"])
        top = "\n".join(self.skua(database, "top", "--once", "--every", "1s", "--http", pages.address, code=1).output())
        self.assertRegex(top, r"(?m)^search +(webhook +)?failing .*deliveries fail: HTTP")

        with self.subTest("the changes that wait can be skipped"):
            self.assertIn("`skua consumers reset search --from live`", consumer["cure"])
            self.skua(database, "consumers", "reset", "search", "--from", "live")
            pages.wait_until_ready()
            self.assertEqual(self.status(database)["failures"], None)
            wait_for("the end", lambda: server.says("ended: a consumer does not advance: search"), alive=[server])

    def test_a_webhook_continues_at_its_position_with_another_url(self):
        database = self.indexed(accounts=2, rounds=3)
        receiver = Receiver("")
        self.addCleanup(lambda: receiver.server and receiver.close())
        receiver.secret = self.add(database, *SEARCH, "http://127.0.0.1:1/wrong", "--from", "oldest")
        server = self.serve(database)
        wait_for("a failure", lambda: self.status(database)["failures"], alive=[server])
        command = next(one for one in self.status(database)["cure"].split("`") if " set " in one).split()[1:]
        receiver.start()
        self.skua(database, *[f"http://127.0.0.1:{receiver.port}/" if word == "URL" else word for word in command])
        wait_for("all changes", lambda: self.is_done(database), alive=[server])
        self.assertEqual(receiver.faults, [])
        self.assertGreater(len(receiver.processed), 0)
        self.assertEqual((self.status(database)["state"], self.status(database)["reason"]), ("running", ""))

    def test_consumers_that_no_process_serves(self):
        database = self.database()
        long_name = "a_webhook_with_a_name_of_forty_character"
        self.add(database, long_name, "--webhook", "http://127.0.0.1:1/")
        self.add(database, "archive", "--pull")
        self.skua(database, "consumers", "add", "post_stats")
        text = self.listed(database)
        for name in (long_name, "archive", "post_stats"):
            self.assertRegex(text, rf"(?m)^{name}  +not served  ")
        self.assertIn("Start `skua serve`", text)
        self.assertIn("Start `skua consumers run`", text)
        self.assertEqual(self.finding(database, "archive")["code"], "consumer-stuck")

        server = self.serve(database)
        wait_for("the sender", lambda: self.status(database, long_name)["state"] == "running", alive=[server])
        self.assertEqual([self.status(database, name)["state"] for name in ("archive", "post_stats")],
                         ["running", "not served"])
        pages = Pages(server)
        pages.wait_until_ready()
        # The build has waited for longer than a restart takes.
        database.run("update skua.consumers set created_at = created_at - interval '10 minutes' where kind = 'projection'")
        pages.wait_for_reason("consumer-stuck")
        reason, = pages.ready()[1]["reasons"]
        self.assertEqual(reason["detail"], "post_stats: no process keeps projections up to date")
        self.assertIn("--consumer-threads", reason["cure"])
        self.assertEqual(server.stop(), 0)
        wait_for("the end of the sender", lambda: self.status(database, long_name)["state"] == "not served")

    def test_skua_run_without_threads_for_consumers(self):
        database = self.database()
        self.skua(database, "consumers", "add", "post_stats")
        database.run("update skua.consumers set created_at = created_at - interval '10 minutes'")
        relay = self.sim(self.capture_of_one_network())
        idle = self.start([BIN / "skua", "run", "--relay", relay.url, "--consumer-threads", "0", "--http", "127.0.0.1:0"],
                          self.environment(database))
        pages = Pages(idle)
        pages.wait_for_reason("consumer-stuck")
        self.assertIn("no process keeps projections up to date", pages.check_shown("consumer-stuck", cure="skua run"))
        projections = self.start([BIN / "skua", "consumers", "run", "--http", "off"], self.environment(database))
        pages.wait_until_ready()
        self.assertEqual(projections.stop(), 0)

    def capture_of_one_network(self):
        capture = self.folder / "network.capture"
        capture.write_bytes(busy_network(accounts=1, rounds=1)[0].capture())
        return capture


if __name__ == "__main__":
    unittest.main()
