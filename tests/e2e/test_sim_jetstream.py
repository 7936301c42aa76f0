"""skua-sim's Jetstream, both versions: formats, cursors, filters, compression, refusals, faults."""

import json
import unittest
import urllib.parse

import atproto
import zstd
from harness import missing, wait_for
from test_sim import SimTest
from websocket import BINARY, TEXT, Closed, Websocket

V1 = "/subscribe"
V2 = "/xrpc/network.bsky.jetstream.subscribeEvents"
TYPE = "network.bsky.jetstream.subscribeEvents"


class Reader(Websocket):
    def __init__(self, url, path, headers=None, **query):
        super().__init__(url, path + "?" + urllib.parse.urlencode(query, doseq=True), headers, timeout=10)

    def text(self):
        opcode, content = self.receive()
        assert opcode == TEXT
        return content.decode()

    def message(self):
        return json.loads(self.text())

    def payload(self):
        """For v2."""
        frame = self.message()
        assert frame["$type"] == "message", frame
        return frame["payload"]


class JetstreamTest(SimTest):
    def jetstream(self, *arguments, **more):
        return self.still("--jetstream", *arguments, **more)

    def reader(self, network, path, headers=None, **query):
        reader = Reader(network.ready["jetstream"], path, headers, **query)
        self.addCleanup(reader.close)
        return reader

    def relay_messages(self, network):
        """The relay's messages so far: (type, body)."""
        last = network.state()["seq"]
        return [(header["t"], body) for header, body in self.subscribe(network.url, 0).until(last)]

    def expected(self, network):
        """In the format of v1, without the times; commits op by op."""
        events = []
        for kind, body in self.relay_messages(network):
            if kind == "#commit":
                _, blocks = atproto.read_car(body["blocks"])
                for op in body["ops"]:
                    collection, rkey = op["path"].split("/")
                    commit = {"rev": body["rev"], "operation": op["action"], "collection": collection, "rkey": rkey}
                    if op["cid"]:
                        record = atproto.to_json(atproto.decode(blocks[op["cid"]]))
                        commit |= {"record": record, "cid": op["cid"].text()}
                    events.append({"did": body["repo"], "kind": "commit", "commit": commit})
            elif kind in ("#identity", "#account"):
                name = kind[1:]
                events.append({"did": body["did"], "kind": name, name: dict(body)})
        return events

    def dictionary(self, number=zstd.DICTIONARY_ID):
        if zstd.library() is None:
            missing("libzstd", "SKUA_REQUIRE_ZSTD")
        samples = [json.dumps({"did": "did:plc:x", "time_us": n, "kind": "commit", "commit": {"rev": str(n)}}).encode()
                   for n in range(40)]
        content = zstd.make_dictionary(samples, number)
        path = self.folder / f"dictionary-{number}"
        path.write_bytes(content)
        return path, content


class First(JetstreamTest):
    def test_what_the_relay_said(self):
        network = self.jetstream("--oddities", "0", "--one-op-a-path")
        network.steps(120)
        expected = self.expected(network)
        reader = self.reader(network, V1, cursor=1)
        got = [reader.message() for _ in expected]
        times = [event.pop("time_us") for event in got]
        self.assertEqual(times, sorted(set(times)))
        for event in got + expected:
            # The seq is the one of the Jetstream's own upstream.
            event.get(event["kind"], {}).pop("seq", None)
        self.assertEqual(got, expected)

    def test_the_form(self):
        network = self.jetstream("--oddities", "0", accounts=1, records=0)
        network.steps(1)
        reader = self.reader(network, V1, cursor=1)
        identity = reader.text()
        event = json.loads(identity)
        inner = event["identity"]
        self.assertEqual(
            identity,
            f'{{"did":"{event["did"]}","time_us":{event["time_us"]},"kind":"identity","identity":{{"did":'
            f'"{event["did"]}","handle":"{inner["handle"]}","seq":{inner["seq"]},"time":"{inner["time"]}"}}}}',
        )
        account = reader.text()
        self.assertIn('"kind":"account","account":{"active":true,"did":', account)
        commit = reader.text()
        event = json.loads(commit)
        self.assertTrue(commit.startswith(
            f'{{"did":"{event["did"]}","time_us":{event["time_us"]},"kind":"commit","commit":{{"rev":'
            f'"{event["commit"]["rev"]}","operation":"create","collection":'))

    def test_cursors(self):
        network = self.jetstream()
        network.steps(60)
        first = self.reader(network, V1, cursor=0)
        events = [first.message() for _ in range(40)]
        at = events[20]["time_us"]
        self.assertEqual(self.reader(network, V1, cursor=at).message(), events[20])
        self.assertEqual(self.reader(network, V1, cursor=events[19]["time_us"] + 1).message(), events[20])
        live = [self.reader(network, V1), self.reader(network, V1, cursor=at + 10**15)]
        wait_for("the readers", lambda: len(network.events("connect")) == 5, alive=[network])
        network.steps(3)
        self.assertEqual(live[0].message(), live[1].message())
        self.assertEqual(self.reader(network, V1, cursor="soon").status, 400)

    def test_filters(self):
        network = self.jetstream("--oddities", "0")
        network.steps(150)
        everything = self.reader(network, V1, cursor=1)
        events = [everything.message() for _ in self.expected(network)]
        did = events[-1]["did"]

        def wanted(event, collections=(), dids=()):
            if dids and event["did"] not in dids:
                return False
            name = event.get("commit", {}).get("collection")
            return not collections or name is None or any(
                name == c or (c.endswith("*") and name.startswith(c[:-1])) for c in collections)

        for query in ({"wantedCollections": ["app.bsky.graph.*", "app.bsky.feed.like"]}, {"wantedDids": [did]},
                      {"wantedCollections": ["app.bsky.feed.*"], "wantedDids": [did]}):
            with self.subTest(query):
                expected = [e for e in events
                            if wanted(e, query.get("wantedCollections", ()), query.get("wantedDids", ()))]
                self.assertTrue(expected)
                reader = self.reader(network, V1, cursor=1, **query)
                self.assertEqual([reader.message() for _ in expected], expected)
                self.assertFalse(reader.has_more(0.1))
        small = self.reader(network, V1, cursor=1, maxMessageSizeBytes=400)
        texts = [small.text() for _ in range(20)]
        self.assertLessEqual(max(map(len, texts)), 400)
        for query in ({"wantedCollections": ["app.bsky.fo*"]}, {"wantedDids": ["alice"]},
                      {"wantedCollections": [f"app.bsky.x{n}" for n in range(101)]}, {"compress": "true"}):
            self.assertEqual(self.reader(network, V1, **query).status, 400)

    def test_options_update(self):
        network = self.jetstream("--oddities", "0", records=0)
        network.steps(40)
        reader = self.reader(network, V1, cursor=1, requireHello="true")
        self.assertFalse(reader.has_more(0.1))
        reader.send_json({"type": "hello"})
        self.assertFalse(reader.has_more(0.1))
        reader.send_json({"type": "options_update", "payload": {"wantedCollections": ["app.bsky.graph.follow"]}})
        for _ in range(3):
            event = reader.message()
            self.assertEqual(event.get("commit", {}).get("collection", "app.bsky.graph.follow"), "app.bsky.graph.follow")
        for bad, code in (("{", 1007), ('{"type":"options_update","payload":{"wantedDids":["x"]}}', 1008)):
            reader = self.reader(network, V1)
            reader.send(bad)
            with self.assertRaises(Closed) as closed:
                reader.receive()
            self.assertEqual(closed.exception.code, code)

    def test_compression(self):
        path, dictionary = self.dictionary()
        network = self.jetstream("--zstd-dictionary", path)
        network.steps(30)
        plain = self.reader(network, V1, cursor=1)
        packed = self.reader(network, V1, cursor=1, compress="true")
        for _ in range(30):
            opcode, frame = packed.receive()
            self.assertEqual(opcode, BINARY)
            self.assertEqual(zstd.frame_dictionary(frame), zstd.DICTIONARY_ID)
            self.assertEqual(zstd.decompress(frame, dictionary).decode(), plain.text())

    def test_what_is_not_said(self):
        """Hostile messages, #sync."""
        network = self.jetstream("--oddities", "4")
        network.steps(200)
        for kind in ("bad-signature", "bad-hash", "truncated-frame", "future-rev"):
            network.fault(kind)
        network.steps(5)
        v1 = self.reader(network, V1, cursor=1)
        kinds, revs = set(), {}
        while v1.has_more(0.2):
            event = v1.message()
            kinds.add(event["kind"])
            if event["kind"] == "commit":
                revs.setdefault(event["did"], []).append(event["commit"]["rev"])
        self.assertEqual(kinds, {"commit", "identity", "account"})
        for did, said in revs.items():
            self.assertEqual(said, sorted(said))

    def test_faults(self):
        network = self.jetstream("--fault", "cut@seq:10", "--fault", "corrupt@seq:12")
        network.steps(30)
        first = self.reader(network, V1, cursor=1)
        with self.assertRaises(Closed):
            while True:
                last = first.message()
        second = self.reader(network, V1, cursor=last["time_us"])
        self.assertEqual(second.message(), last)
        second.text()
        second.text()
        with self.assertRaises(ValueError):
            second.message()


class Second(JetstreamTest):
    def test_the_same_events(self):
        network = self.jetstream("--oddities", "0", "--one-op-a-path")
        network.steps(120)
        expected = self.expected(network)
        first = self.reader(network, V1, cursor=1)
        reader = self.reader(network, V2, {"Sec-WebSocket-Protocol": "xrpc.v9, xrpc.v1.json"}, cursor=1)
        self.assertEqual(reader.headers["sec-websocket-protocol"], "xrpc.v1.json")
        for number in range(1, len(expected) + 1):
            payload, other = reader.payload(), first.message()
            kind = other["kind"]
            self.assertEqual((payload.pop("$type"), payload.pop("seq")), (f"{TYPE}#{kind}", number))
            self.assertEqual(payload.pop("did"), other["did"])
            micros, _ = atproto.datetime_microseconds(payload.pop("time"))
            self.assertEqual(micros, other["time_us"])
            payload.pop("witnessedAt")
            self.assertEqual(payload, other["commit"] if kind == "commit" else {kind: other[kind]})

    def test_the_form(self):
        network = self.jetstream("--oddities", "0", accounts=1, records=0)
        network.steps(1)
        reader = self.reader(network, V2, cursor=1)
        self.assertNotIn("sec-websocket-protocol", reader.headers)
        text = reader.text()
        event = json.loads(text)["payload"]
        inner = event["identity"]
        self.assertEqual(
            text,
            f'{{"$type":"message","payload":{{"$type":"{TYPE}#identity","seq":1,"did":"{event["did"]}",'
            f'"time":"{event["time"]}","witnessedAt":"{event["time"]}","identity":{{"did":"{event["did"]}",'
            f'"handle":"{inner["handle"]}","seq":{inner["seq"]},"time":"{inner["time"]}"}}}}}}',
        )
        reader.text()
        commit = reader.payload()
        self.assertEqual(list(commit), ["$type", "seq", "did", "time", "witnessedAt", "rev", "operation", "collection",
                                        "rkey", "record", "cid"])

    def test_sync(self):
        network = self.jetstream("--oddities", "20", "--one-op-a-path")
        network.steps(300)
        said = [body for kind, body in self.relay_messages(network) if kind == "#sync"]
        self.assertTrue(said)
        reader = self.reader(network, V2, cursor=1, kinds="sync")
        for body in said:
            payload = reader.payload()
            self.assertEqual(payload["$type"], TYPE + "#sync")
            inner = payload["sync"]
            self.assertEqual({**inner, "seq": 0}, {**atproto.to_json(body), "seq": 0})

    def test_cursors(self):
        network = self.jetstream("--window-mb", "1", accounts=4, records=400)
        network.steps(30)
        self.assertEqual(self.reader(network, V2, cursor=0).payload()["seq"], 1)
        five = self.reader(network, V2, cursor=5).payload()
        self.assertEqual(five["seq"], 5)
        micros, _ = atproto.datetime_microseconds(five["time"])
        self.assertEqual(self.reader(network, V2, cursor=micros).payload(), five)
        future = self.reader(network, V2, cursor=10**6).payload()
        self.assertEqual((future["$type"], future["name"]), (TYPE + "#info", "FutureCursor"))
        network.steps(1500)
        refused = self.reader(network, V2, cursor=5)
        self.assertEqual((refused.status, json.loads(refused.body)["error"]), (400, "CursorTooOld"))
        old = self.reader(network, V2, cursor=micros)
        info = old.payload()
        self.assertEqual((info["$type"], info["name"]), (TYPE + "#info", "OutdatedCursor"))
        self.assertIn(str(old.payload()["seq"]), info["message"])

    def test_refusals(self):
        path, dictionary = self.dictionary(77)
        network = self.jetstream("--zstd-dictionary", path)
        for query, name, words in (
            ({"kinds": "likes"}, "InvalidRequest", 'unknown kind "likes"'),
            ({"kinds": "identity", "collections": "app.bsky.feed.like"}, "InvalidRequest", "never apply"),
            ({"wantedDids": "did:plc:x"}, "InvalidRequest", "use dids"),
            ({"wantedCollections": "app.bsky.feed.like"}, "InvalidRequest", "use collections"),
            ({"requireHello": "true"}, "InvalidRequest", "server-push only"),
            ({"compress": "true"}, "InvalidRequest", "zstdDictionary"),
            ({"zstdDictionary": "banana"}, "InvalidRequest", "positive integer"),
            ({"zstdDictionary": 78}, "UnknownZstdDictionary", "current dictionary id is 77"),
            ({"cursor": "x"}, "InvalidRequest", "cursor"),
        ):
            with self.subTest(query):
                refused = self.reader(network, V2, **query)
                body = json.loads(refused.body)
                self.assertEqual((refused.status, body["error"]), (400, name))
                self.assertIn(words, body["message"])
        url = network.ready["jetstream"]
        for query in ({}, {"id": 77}):
            answer = network.ask(url, "/xrpc/network.bsky.jetstream.getZstdDictionary", **query)
            self.assertEqual(answer.body, dictionary)
        answer = network.ask(url, "/xrpc/network.bsky.jetstream.getZstdDictionary", id=5)
        self.assertEqual(answer.json()["error"], "DictionaryNotFound")
        network.steps(5)
        _, frame = self.reader(network, V2, cursor=1, zstdDictionary=77).receive()
        self.assertEqual(zstd.decompress(frame, dictionary).decode(), self.reader(network, V2, cursor=1).text())

    def test_clients_do_not_speak(self):
        network = self.jetstream()
        reader = self.reader(network, V2)
        reader.send_json({"type": "options_update", "payload": {}})
        with self.assertRaises(Closed) as closed:
            reader.receive()
        self.assertEqual(closed.exception.code, 1008)

    def test_errors_and_notices_by_fault(self):
        network = self.jetstream("--fault", "error:ConsumerTooSlow@seq:5", "--fault", "info@seq:3")
        network.steps(20)
        reader = self.reader(network, V2, cursor=1)
        names = [reader.payload()["$type"].split("#")[1] for _ in range(5)]
        self.assertEqual(names[2], "info")
        self.assertEqual(reader.message(), {"$type": "error", "error": "ConsumerTooSlow",
                                            "message": "as skua-sim was told"})
        with self.assertRaises(Closed) as closed:
            reader.receive()
        self.assertEqual(closed.exception.code, 1008)


if __name__ == "__main__":
    unittest.main()
