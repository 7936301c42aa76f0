"""skua-sim's Tap: what it sends, which events wait for acks, which are sent again, and its admin routes."""

import collections
import contextlib
import json
import time
import unittest

import atproto
from harness import wait_for
from test_sim import SimTest
from websocket import Closed, TEXT, Websocket

BASIC = {"Authorization": "Basic YWRtaW46c2VzYW1l"}  # admin:sesame


class TapClient(Websocket):
    def __init__(self, url, **more):
        super().__init__(url, "/channel", **more)

    def message(self):
        opcode, content = self.receive()
        assert opcode == TEXT
        return json.loads(content)

    def ack(self, number):
        self.send_json({"type": "ack", "id": number})


class TapTest(SimTest):
    def tap(self, *arguments, **more):
        return self.still("--tap", *arguments, **more)

    def client(self, network, **more):
        client = TapClient(network.ready["tap"], **more)
        self.addCleanup(client.close)
        return client

    def figures(self, network):
        return network.state()["tap"]

    def drain(self, network, client, store, log=None):
        """Acks every event until the outbox is empty; merges the records into `store`."""
        while True:
            if not client.has_more(0.05):
                figures = self.figures(network)
                if figures["unacked"] == 0 and figures["resyncs"] == 0:
                    return
                continue
            message = client.message()
            if log is not None:
                log.append(message)
            self.fold(store, message)
            client.ack(message["id"])

    def fold(self, store, message):
        if message["type"] == "identity":
            identity = message["identity"]
            if identity["status"] == "deleted":
                for key in [key for key in store if key[0] == identity["did"]]:
                    del store[key]
        elif message["type"] == "record":
            record = message["record"]
            key = record["did"], record["collection"] + "/" + record["rkey"]
            if record["action"] == "delete":
                store.pop(key, None)
            elif "record" in record and not record["rkey"].startswith("odd-"):
                store[key] = record["cid"]

    def network_records(self, network):
        """The oracle's records of accounts that are not deleted."""
        records = {}
        for account in network.accounts(self.folder):
            if account["status"] == "deleted":
                continue
            repository = atproto.Repository((self.folder / f"{account['did']}.car").read_bytes())
            for path, (cid, _) in repository.records.items():
                records[account["did"], path] = cid.text()
        return records


class Channel(TapTest):
    def test_history_then_live(self):
        network = self.tap()
        client = self.client(network)
        log, store = [], {}
        self.drain(network, client, store, log)
        self.assertEqual([message["id"] for message in log], list(range(1, len(log) + 1)))
        self.assertEqual(collections.Counter(m["type"] for m in log)["identity"], 12)
        records = [m["record"] for m in log if m["type"] == "record"]
        self.assertEqual({r["live"] for r in records}, {False})
        self.assertEqual({r["action"] for r in records}, {"create"})
        self.assertEqual(store, self.network_records(network))

        log.clear()
        network.steps(150)
        self.drain(network, client, store, log)
        live = [m["record"] for m in log if m["type"] == "record" and m["record"]["live"]]
        self.assertGreater(len(live), 100)
        self.assertEqual({r["action"] for r in live}, {"create", "update", "delete"})
        self.assertEqual(store, self.network_records(network))

    def test_the_form_of_its_messages(self):
        network = self.tap("--oddities", "0", accounts=2, records=6)
        client = self.client(network)
        texts = []
        while len(texts) < 8:
            _, content = client.receive()
            texts.append(content.decode())
            client.ack(json.loads(content)["id"])
        account = network.accounts(self.folder)[0]
        did = account["did"]
        identity = next(text for text in texts if '"identity"' in text and did in text)
        number = json.loads(identity)["id"]
        self.assertEqual(
            identity,
            f'{{"id":{number},"type":"identity","identity":{{"did":"{did}","handle":"{account["handle"]}",'
            '"is_active":true,"status":"active"}}',
        )
        repository = atproto.Repository((self.folder / f"{did}.car").read_bytes())
        path, (cid, block) = next(iter(repository.records.items()))
        collection, rkey = path.split("/")
        text = next(text for text in texts if f'"rkey":"{rkey}"' in text and did in text)
        record = json.loads(text)["record"].pop("record")
        self.assertEqual(record, atproto.to_json(atproto.decode(block)))
        written = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
        self.assertEqual(
            text,
            f'{{"id":{json.loads(text)["id"]},"type":"record","record":{{"live":false,"did":"{did}",'
            f'"rev":"{repository.rev}","collection":"{collection}","rkey":"{rkey}","action":"create",'
            f'"record":{written},"cid":"{cid.text()}"}}}}',
        )

    def test_a_live_event_is_a_barrier(self):
        network = self.tap("--oddities", "0", accounts=1, records=30)
        client = self.client(network)
        network.steps(1)
        history = [client.message() for _ in range(31)]  # side by side, without an ack
        self.assertFalse(any(m.get("record", {}).get("live") for m in history))
        network.steps(6)
        for message in history[:-1]:
            client.ack(message["id"])
        wait_for("one in flight", lambda: self.figures(network)["in_flight"] == 1, alive=[network])
        self.assertEqual(self.figures(network)["sent"], 31)
        client.ack(history[-1]["id"])
        seen = 0
        while (figures := self.figures(network))["unacked"]:
            message = client.message()
            self.assertTrue(message["record"]["live"])
            self.assertEqual(self.figures(network)["in_flight"], 1)
            client.ack(message["id"])
            client.ack(message["id"])  # a second time
            client.ack(10**6)  # unknown
            seen += 1
            wait_for("the ack", lambda: self.figures(network)["unacked"] < figures["unacked"], alive=[network])
        self.assertGreaterEqual(seen, 6)
        self.assertEqual(self.figures(network)["acked_unsent"], 0)

    def test_what_is_unacked_comes_again(self):
        network = self.tap("--tap-retry", "0.2", accounts=3, records=20)
        first = self.client(network)
        seen = first.message()
        first.close()
        second = self.client(network)
        store, log = {}, []
        self.drain(network, second, store, log)
        self.assertIn(seen["id"], [message["id"] for message in log])
        self.assertEqual(store, self.network_records(network))
        self.assertGreater(self.figures(network)["redelivered"], 0)

    def test_stalled_accounts_are_told(self):
        network = self.tap("--oddities", "0", accounts=2, records=2)
        client = self.client(network)
        store = {}
        self.drain(network, client, store)
        network.steps(12)
        message = client.message()
        did = message["record"]["did"]
        stalled = network.ask("control", "/tap/stalled").json()["accounts"]
        self.assertIn(did, [account["did"] for account in stalled])
        account = next(account for account in stalled if account["did"] == did)
        self.assertEqual((account["id"], account["live"], account["deliveries"]), (message["id"], True, 1))
        self.assertEqual(network.ask("control", "/tap/stalled?ms=3600000").json()["accounts"], [])

    def test_several_clients_share_the_queue(self):
        network = self.tap("--tap-repos", "added", accounts=10, records=400)
        clients = [self.client(network) for _ in range(2)]
        wait_for("both", lambda: self.figures(network)["clients"] == 2, alive=[network])
        # The account that came first had nothing.
        dids = [account["did"] for account in network.accounts(self.folder)]
        network.ask("tap", "/repos/add", {"dids": dids})
        seen = [[client.message()["id"] for _ in range(50)] for client in clients]
        self.assertFalse(set(seen[0]) & set(seen[1]))


class Restarts(TapTest):
    def drained(self, *arguments, **more):
        network = self.tap(*arguments, **more)
        client = self.client(network)
        store = {}
        self.drain(network, client, store)
        return network, client, store

    def test_ids_begin_at_one_again(self):
        network, client, store = self.drained(accounts=3, records=20)
        network.fault("tap-restart")
        with self.assertRaises(Closed):
            client.message()
        network.steps(5)
        self.assertEqual(self.client(network).message()["id"], 1)

    def test_what_is_unacked_is_kept(self):
        for fault in ("tap-restart", "tap-crash", "tap-renumber"):
            with self.subTest(fault):
                network, client, store = self.drained("--oddities", "0", accounts=3, records=20)
                network.steps(10)
                before = client.message()
                left = self.figures(network)["unacked"]
                network.fault(fault)
                came_again = 23 if fault == "tap-crash" else 0
                self.assertEqual(self.figures(network)["unacked"], left + came_again)
                again = self.client(network)
                log = []
                self.drain(network, again, store, log)
                numbers = [message["id"] for message in log]
                self.assertEqual(len(set(numbers)), left + came_again)
                if fault == "tap-renumber":
                    self.assertEqual(sorted(numbers), list(range(1, left + 1)))
                else:
                    self.assertIn(before, log)
                self.assertEqual(store, self.network_records(network))

    def test_by_chance(self):
        network = self.tap("--tap-retry", "0.3", "--fault-rate", "tap-crash=2", "--fault-rate", "cut=3",
                           "--fault-rate", "tap-unknown=2", "--fault-rate", "tap-repeat=2", "--events", "400",
                           accounts=10, records=200)
        network.control("/resume")
        store = {}
        deadline = time.monotonic() + 60
        # At a rate of 0.001 per second it would take long: the test makes the steps.
        for _ in range(8):
            network.steps(50)
            while time.monotonic() < deadline:
                # A fault may also end a connection before its upgrade is answered.
                with contextlib.suppress(Closed), contextlib.closing(TapClient(network.ready["tap"])) as client:
                    self.drain(network, client, store)
                    break
        self.assertEqual(store, self.network_records(network))
        self.assertGreater(network.state()["faults"].get("tap-crash", 0), 0)


class OddEvents(TapTest):
    def test_lost_commits(self):
        network = self.tap("--oddities", "0", accounts=1, records=40)
        client = self.client(network)
        store, log = {}, []
        self.drain(network, client, store)
        # Some of so many commits are deletes.
        network.fault("tap-lose", arg=80)
        before = self.figures(network)["added"]
        while (figures := self.figures(network))["added"] == before and figures["resyncs"] == 0:
            network.steps(1)
        self.drain(network, client, store, log)
        self.assertFalse(any(m["record"]["live"] for m in log))
        actual = self.network_records(network)
        self.assertEqual(len(log), len(actual))
        # All existing records were sent, but no deletes.
        self.assertEqual({key: store[key] for key in actual}, actual)
        self.assertGreater(len(store), len(actual))

    def test_resync_on_demand(self):
        network = self.tap("--oddities", "0", accounts=2, records=20)
        client = self.client(network)
        self.drain(network, client, {})
        did = network.accounts(self.folder)[0]["did"]
        for everything in (True, False):
            log = []
            network.control("/tap/resync", did=did, all=everything)
            self.drain(network, client, {}, log)
            self.assertEqual(bool(log), everything)
            self.assertEqual({m["record"]["action"] for m in log}, {"update"} if everything else set())

    def test_unknown_poison_and_no_record(self):
        network = self.tap("--oddities", "0", accounts=2, records=4)
        client = self.client(network)
        self.drain(network, client, {})
        for kind in ("tap-unknown", "tap-no-record", *["tap-poison"] * 5):
            network.fault(kind)
        log = []
        self.drain(network, client, {}, log)
        self.assertEqual([m["type"] for m in log].count("label"), 1)
        records = [m["record"] for m in log if m["type"] == "record"]
        self.assertEqual(len(records), 6)
        self.assertEqual(sum("record" not in r for r in records), 1)
        self.assertTrue(all(r["action"] == "create" and "cid" in r for r in records))
        log.clear()
        network.steps(3)
        self.drain(network, client, {}, log)
        self.assertIn("zone", log[0])
        self.assertIn("shard", log[0]["record"])


class Routes(TapTest):
    def test_password(self):
        network = self.tap("--tap-password", "sesame", accounts=1, records=1)
        wrong = {"Authorization": "Basic YWRtaW46c2VzYW0="}
        for headers in ({}, wrong):
            for path in ("/health", "/stats/repo-count", "/nothing"):
                self.assertEqual(network.ask("tap", path, headers=headers).status, 401)
            self.assertEqual(self.client(network, headers=headers).status, 401)
        self.assertEqual(network.ask("tap", "/health", headers=BASIC).json(), {"status": "ok"})
        self.assertEqual(self.client(network, headers=BASIC).status, 101)

    def test_added_and_removed(self):
        # Without incidents: a repository of an inactive account cannot be read.
        network = self.tap("--tap-repos", "added", "--oddities", "0", accounts=4, records=40)
        client = self.client(network)
        network.steps(10)
        dids = [account["did"] for account in network.accounts(self.folder)][:2]
        self.assertEqual(network.ask("tap", "/stats/repo-count").body, b'{"repo_count":0}')
        answer = network.ask("tap", "/repos/add", {"dids": dids})
        self.assertEqual((answer.status, answer.body), (200, b""))
        store = {}
        self.drain(network, client, store)
        actual = self.network_records(network)
        self.assertEqual(store, {key: cid for key, cid in actual.items() if key[0] in dids})
        self.assertEqual(network.ask("tap", "/stats/repo-count").json(), {"repo_count": 2})
        self.assertEqual(network.ask("tap", "/stats/record-count").json(), {"record_count": len(store)})
        self.assertEqual(network.ask("tap", "/stats/outbox-buffer").json(), {"outbox_buffer": 0})
        self.assertEqual(network.ask("tap", "/stats/resync-buffer").json(), {"resync_buffer": 0})
        self.assertEqual(network.ask("tap", "/stats/cursors").json()["firehose"], network.state()["seq"])
        info = network.ask("tap", f"/info/{dids[0]}").json()
        self.assertEqual(list(info), ["did", "handle", "state", "rev", "error", "retries", "records"])
        self.assertEqual((info["did"], info["state"], info["error"], info["retries"]), (dids[0], "active", "", 0))
        self.assertEqual(info["records"], sum(key[0] == dids[0] for key in store))
        self.assertEqual(network.ask("tap", f"/resolve/{dids[0]}").json()["id"], dids[0])
        self.assertEqual(network.ask("tap", "/resolve/alice.test").status, 400)
        self.assertEqual(network.ask("tap", "/resolve/did:plc:nobody").status, 404)
        network.ask("tap", "/repos/remove", {"dids": dids[:1]})
        self.assertEqual(network.ask("tap", f"/info/{dids[0]}").status, 404)
        self.assertEqual(network.ask("tap", "/repos/add", {"did": "x"}).status, 400)


if __name__ == "__main__":
    unittest.main()
