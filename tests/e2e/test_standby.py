"""Commands that read use a streaming standby; commands that write refuse it. Its lag is shown."""

import json

from harness import Database, wait_for
from made import busy_network
from standby import Standby
from test_http_records import HttpTest
from test_outage import OwnServer
from test_pages import Pages

READING = (["query", "latest", "--json"], ["query", "collections", "--json"], ["export", "posts_view"], ["filter", "show"],
           ["export", "bsky.follows", "--format", "jsonl"], ["retention", "list"], ["lexicon", "list"], ["projection", "list"],
           ["dead-letters", "list"], ["source", "list"], ["index", "list"], ["backfill", "status"], ["verify"],
           ["consumers", "wait", "post_stats"])
WRITING = (["retention", "apply"], ["filter", "prune"], ["index", "add", "search"],
           ["consumers", "add", "actor_stats"], ["consumers", "pause", "post_stats"], ["lexicon", "check"], ["dead-letters", "purge", "--older-than", "1d"],
           ["verify", "--resync"], ["consumers", "run-once"], ["run", "--relay", "ws://127.0.0.1:1"], ["serve", "--consumers"],
           ["backfill", "--network", "--relay", "http://127.0.0.1:1"])


class StandbyTest(OwnServer, HttpTest):
    def setUp(self):
        super().setUp()
        standby = Standby(self.cluster)
        self.addCleanup(standby.stop)
        self.copy = Database(standby.url)

    def wait_for_replay(self):
        end = self.db.value("select pg_current_wal_insert_lsn()")
        wait_for("the standby", lambda: self.copy.value(f"select pg_last_wal_replay_lsn() >= '{end}'"))

    def printed(self, database, command):
        return "".join(list(self.skua(database, *command).stdout))

    def test_reading_and_writing(self):
        network, person = busy_network(accounts=3, rounds=3)
        capture = self.folder / "capture"
        capture.write_bytes(network.capture())
        self.skua(self.db, "replay", capture)
        self.skua(self.db, "consumers", "add", "post_stats")
        self.skua(self.db, "consumers", "run-until-idle")
        self.wait_for_replay()
        for command in READING:
            with self.subTest(command):
                self.assertEqual(self.printed(self.copy, command), self.printed(self.db, command))
        self.copy.run("select pg_wal_replay_pause()")
        self.db.run("update bsky.actors set indexed_at = now()")
        for command in WRITING:
            with self.subTest(command):
                refused = self.skua(self.copy, *command, code=1)
                self.assertTrue(refused.says("the server is a read-only standby"), refused.tail())
        status = json.loads(self.printed(self.copy, ["status", "--json"]))
        self.assertIsNone(json.loads(self.printed(self.db, ["status", "--json"]))["standby"])
        self.assertGreater(status["standby"]["lag_seconds"], 0)
        self.assertTrue(self.skua(self.copy, "status").says("a standby, "))
        late = "this standby is "
        wait_for("a lag of ten seconds", lambda: json.loads(self.printed(self.copy, ["status", "--json"]))["standby"]["lag_seconds"] > 10, every=1)
        for command in (["query", "latest"], ["export", "posts_view"]):
            self.assertTrue(self.skua(self.copy, *command).says(late))
        self.copy.run("select pg_wal_replay_resume()")
        self.wait_for_replay()
        self.assertFalse(self.skua(self.copy, "query", "latest").says(late))

    def test_serve(self):
        network, _ = busy_network(accounts=2, rounds=1)
        capture = self.folder / "capture"
        capture.write_bytes(network.capture())
        server = self.serve(self.copy)
        wait_for("the line", lambda: server.says("webhooks and pull consumers are not served"), alive=[server])
        live = self.changes(server)
        self.skua(self.db, "replay", capture)
        self.wait_for_replay()
        live.read_to(self.db.value("select skua.change_log_end() - 1"))
        of_records = [event for event in live.events if event["kind"] == "record"]
        self.assertGreater(len(of_records), 3)
        primary = self.serve(self.db)
        for event in of_records:
            key = {"repo": event["did"], "collection": event["collection"], "rkey": event["rkey"]}
            self.assertEqual(self.xrpc(server, "getRecord", **key), self.xrpc(primary, "getRecord", **key))
        self.assertEqual(self.get(server, "/query/latest"), self.get(primary, "/query/latest"))
        pages = Pages(server)
        pages.wait_until_ready()
        self.assertRegex(pages.get("/metrics")[1], r"(?m)^skua_standby_lag_seconds [0-9.]+$")
        self.assertNotIn("skua_standby_lag_seconds", Pages(primary).get("/metrics")[1])
        self.assertGreaterEqual(json.loads(pages.get("/status")[1])["standby"]["lag_seconds"], 0)
