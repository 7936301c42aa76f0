"""`bsky.record_json` rebuilds each record from the columns of its table: its JSON encodes to the CID of the record. For a record
that JSON in the database cannot hold, the stored block does, and the JSON is the record without NUL characters."""

import collections
import unittest

import atproto
from harness import EndToEnd, need_shared
from made import Network
from random_network import RandomNetwork
from simulated_capture import SimulatedCapture
from test_backfill_shared import RECORDS
from test_replay import repositories

POST, PROFILE, GATE = "app.bsky.feed.post", "app.bsky.actor.profile", "app.bsky.feed.threadgate"
POSTGATE, LIKE, LIST = "app.bsky.feed.postgate", "app.bsky.feed.like", "app.bsky.graph.list"
TIME = "2026-07-04T14:38:08.085Z"
CID = atproto.cid_of(b"a version")
RAW = atproto.Link(bytes([1, 0x55]) + CID[2:])
BLOB = {"$type": "blob", "ref": RAW, "mimeType": "image/png", "size": 9}
RULE = "app.bsky.feed.threadgate#"
RESERVED = ("$link", "$bytes", "$cbor", "$avatar", "$banner")


class RecordJson(EndToEnd):
    def check(self, database, chosen):
        """Compares each record of {DID: {path: block}} with its row; returns how many rows have a block."""
        counted = collections.Counter()
        for did, records in chosen.items():
            keys = ", ".join("('{}', '{}', '{}')".format(*(part.replace("'", "''") for part in (path, *path.split("/", 1))))
                             for path in records)
            if not keys:
                continue
            rows = database.rows(f"""
                with k as (
                  select row_number() over () as place, v.path, a.id as actor_id, c.id as collection_id,
                         bsky.rkey_number(v.rkey) as rkey
                  from (values {keys}) as v(path, collection, rkey)
                  join bsky.actors a on a.did = '{did}' join bsky.collections c on c.nsid = v.collection)
                select k.path, bsky.cid_text(r.cid) as cid, r.record, encode(r.block, 'hex') as block
                from (select array_agg(actor_id order by place) a, array_agg(collection_id::int4 order by place) c,
                             array_agg(rkey order by place) r from k) as keys,
                     bsky.record_json(keys.a, keys.c, keys.r) as r join k using (place)""")
            self.assertEqual(len(rows), len({row["path"] for row in rows}), "a record has one row")
            found = {row["path"]: row for row in rows}
            for path, block in records.items():
                counted["records"] += 1
                self.assertIn(path, found, did)
                row = found[path]
                self.assertEqual(row["cid"], atproto.cid_of(block).text())
                if row["block"] is None:
                    self.assertEqual(atproto.encode(atproto.from_json(row["record"])), block, f"{did}/{path}")
                    self.assertFalse(cannot_be_json(block), f"{did}/{path}")
                else:
                    counted["blocks"] += 1
                    self.assertTrue(cannot_be_json(block), f"{did}/{path}")
                    self.assertEqual(row["block"], block.hex(), f"{did}/{path}")
        return counted

    def test_records_of_a_real_pds(self):
        database = self.database()
        self.skua(database, "replay", need_shared() / "pds/frames.bin")
        counted = self.check(database, blocks_of(repositories(need_shared())))
        self.assertEqual(dict(counted), {"records": 9529, "blocks": 18})

    def test_real_repositories(self):
        database = self.database()
        chosen = {}
        for file in sorted((need_shared() / "repos").glob("*.car")):
            if file.name.split(".car")[0] in RECORDS:
                repository = atproto.Repository(file.read_bytes())
                chosen[repository.did] = repository
                self.skua(database, "backfill", "--car", file)
        self.assertEqual(len(chosen), len(RECORDS))
        counted = self.check(database, blocks_of(chosen))
        self.assertEqual(counted["records"], sum(RECORDS.values()))

    def test_records_of_the_live_network(self):
        database = self.database()
        file = need_shared() / "frames/bsky-network-2026-07-04.frames"
        self.skua(database, "replay", file)
        chosen = current_records(atproto.read_capture(file.read_bytes()))
        counted = self.check(database, chosen)
        self.assertGreater(counted["records"], 60)

    def test_records_of_the_simulated_network(self):
        capture = SimulatedCapture(self, events=3000, accounts=40)
        database = self.database()
        self.skua(database, "replay", "--verify", "full", "--did-docs", capture.documents, capture.frames)
        counted = self.check(database, blocks_of(capture.repositories))
        self.assertGreater(counted["records"], 1500)

    def test_random_networks(self):
        for seed in (1, 2):
            random_network = RandomNetwork(seed)
            database, file = self.database(), self.folder / f"random{seed}"
            file.write_bytes(atproto.write_capture(random_network.frames))
            self.skua(database, "replay", file)
            chosen = current_records(random_network.frames)
            deleted = {row["did"] for row in database.rows("select did from bsky.actors where status = 'deleted'")}
            counted = self.check(database, {did: records for did, records in chosen.items() if did not in deleted})
            self.assertGreater(counted["records"], 100)

    def test_odd_records(self):
        network = Network()
        person = network.account("odd")
        other = network.account("other")
        post = f"at://{other.did}/{POST}/3l22222222222"
        ref = {"uri": post, "cid": CID.text()}

        def put(collection, record, rkey=None):
            person.put(collection, record, rkey)

        for text in ("2026-07-04T14:38:08Z", "2026-07-04T14:38:08.085+00:00", "2026-07-04T16:38:08.085+02:00",
                     "2026-07-04T14:38:08.085000Z", "2026-07-04T14:38:08.123456Z", "2026-07-04T14:38:08.123456789Z",
                     "0000-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z", "0999-12-31T23:59:59.999Z",
                     "9999-12-31T23:59:59.999Z", "2026-07-04t14:38:08z", "yesterday", "", 7, None):
            put(POST, {"text": "x", "createdAt": text})
            put(LIST, {"name": "x", "purpose": "app.bsky.graph.defs#curatelist", "createdAt": text})
        for fields in ({"langs": []}, {"tags": []}, {"facets": []}, {"labels": None}, {"langs": ["en", "ja"]},
                       {"labels": {"$type": "com.atproto.label.defs#selfLabels", "values": []}},
                       {"labels": {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "a"}, {"val": "a"}]}},
                       {"labels": {"$type": "com.atproto.label.defs#selfLabels",
                                   "values": [{"val": "a", "$type": "com.atproto.label.defs#selfLabel"}]}},
                       {"reply": {"root": ref, "parent": ref}}, {"reply": {"root": ref, "parent": {**ref, "x": 1}}},
                       {"reply": {"root": ref, "parent": {**ref, "cid": RAW.text()}}},
                       {"reply": {"$type": POST + "#replyRef", "root": ref, "parent": ref}},
                       {"reply": {"root": {**ref, "$type": "com.atproto.repo.strongRef"}, "parent": ref}},
                       {"reply": {"root": {**ref, "uri": f"at://other.test/{POST}/3l22222222222"}, "parent": ref}},
                       {"embed": {"$type": "app.bsky.embed.record", "record": ref}},
                       {"embed": {"$type": "app.bsky.embed.images", "images": [
                           {"image": {"cid": RAW.text(), "mimeType": "image/png"}, "alt": "old"},
                           {"image": BLOB, "alt": ""}]}},
                       {"embed": {"$type": "com.example.unknown", "a": [1, -1, 2**63 - 1, -2**63, 2**53 + 1]}},
                       {"unknown": None}, {"unknown": True}, {"unknown": [[], {}, [None]]}, {"": ""},
                       {"link": CID}, {"bytes": b"\0\1\2"}, {"bytes": b""}, {"bb": 1, "a": 2, "aaa": 3, "B": 4},
                       {"nul": "a\0b"}, {"n\0": 1}, {"$cbor": "AQI="}, {"$avatar": {"size": 3}}, {"$note": 1},
                       {"map": {"$link": "not a link"}}, {"map": {"$bytes": "!"}}, {"map": {"$link": CID.text(), "x": 1}},
                       {"map": {"$type": "x"}}, {"float": 1.5}, {"float": 1.0}, {"text": "a\0b"}, {"text": "\ud7ff\U0001f600"},
                       {"tags": ["a\0", "b"]}, {"text": "\\u0000 \" \n \t \x7f \u2028"}):
            put(POST, {"text": "x", "createdAt": TIME, **fields})
            put("com.example.note", {"createdAt": "2026-07-04T14:38:08Z", **fields})
        for fields in ({"avatar": BLOB}, {"banner": BLOB, "avatar": BLOB}, {"avatar": {**BLOB, "x": 1}},
                       {"avatar": {**BLOB, "size": 0, "mimeType": "image/jpeg"}}, {"avatar": {**BLOB, "mimeType": "image/p\0"}},
                       {"avatar": {"cid": RAW.text(), "mimeType": "image/png"}}, {"avatar": None}, {},
                       {"pinnedPost": ref}, {"pinnedPost": {**ref, "$type": "com.atproto.repo.strongRef"}},
                       {"displayName": "", "description": "", "createdAt": "2026-07-04T14:38:08Z"}, {"$avatar": 1}):
            network.account(f"profile{network.seq}").put(PROFILE, fields, "self")
            put(LIST, {"name": "x", "purpose": "app.bsky.graph.defs#curatelist", "createdAt": TIME, **fields})
        own = f"at://{person.did}/{POST}/"
        for rules in (None, [], ["mentionRule", "followingRule"], ["followerRule", "mentionRule"],
                      ["mentionRule", "mentionRule"], ["listRule", "listRule"], ["listRule", "followingRule"]):
            rkey = person.tid()
            allow = {} if rules is None else {"allow": [
                {"$type": RULE + rule, **({"list": f"at://{person.did}/{LIST}/{number}"} if rule == "listRule" else {})}
                for number, rule in enumerate(rules)]}
            put(GATE, {"post": own + rkey, "createdAt": TIME, **allow}, rkey)
            put(GATE, {"post": own + rkey, "createdAt": TIME, "hiddenReplies": [], **allow})
        disable = {"$type": POSTGATE + "#disableRule"}
        for fields in ({}, {"embeddingRules": []}, {"embeddingRules": [disable]}, {"embeddingRules": [disable, disable]},
                       {"detachedEmbeddingUris": []}, {"embeddingRules": [{**disable, "x": 1}]}):
            put(POSTGATE, {"post": post, "createdAt": TIME, **fields})
        for uri in (post, f"at://other.test/{POST}/3l22222222222", post + "#x", f"at://{other.did}", "at://x", "https://x.y"):
            put(LIKE, {"subject": {"uri": uri, "cid": CID.text()}, "createdAt": TIME})
        for rkey in ("self", "A-b_c:d~e.f", "k" * 512):
            put(LIKE, {"subject": {"uri": f"at://{other.did}/{POST}/{rkey}", "cid": CID.text()}, "createdAt": TIME}, rkey)
        # Without $type, and in a form that is not canonical: the keys are out of order, or a number is longer than needed.
        for block in (atproto.encode({"text": "x", "createdAt": TIME}),
                      b"\xa3" + atproto.encode("createdAt") + atproto.encode(TIME) + atproto.encode("text")
                      + atproto.encode("x") + atproto.encode("$type") + atproto.encode(POST),
                      b"\xa2" + atproto.encode("note") + b"\x18\x01" + atproto.encode("$type") + atproto.encode("com.example.note")):
            collection = "com.example.note" if b"com.example" in block else POST
            person.commit((f"{collection}/{person.tid()}", atproto.Raw(block)))

        database, file = self.database(), self.folder / "odd"
        file.write_bytes(network.capture())
        self.skua(database, "replay", file)
        chosen = current_records(network.frames)
        counted = self.check(database, chosen)
        self.assertGreater(counted["records"], 160)
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        # A record with a block is readable JSON, too.
        record = database.value(f"select bsky.record_json(t) from bsky.posts t where extra->>'$cbor' is not null and text = 'ab'")
        self.assertEqual(record, {"$type": POST, "text": "ab", "createdAt": TIME})

    def test_one_record_by_its_uri(self):
        capture = SimulatedCapture(self, events=300, accounts=5)
        database = self.database()
        self.skua(database, "replay", "--verify", "full", "--did-docs", capture.documents, capture.frames)
        uri = database.value("select uri from bsky.posts_view limit 1")
        record = database.value(f"select bsky.record_json('{uri}')")
        self.assertEqual(record["text"], database.value(f"select text from bsky.post('{uri}')"))
        self.assertIsNone(database.value(f"select bsky.record_json('{uri}x')"))


def blocks_of(chosen):
    return {did: {path: block for path, (_, block) in repository.records.items()} for did, repository in chosen.items()}


def current_records(frames):
    """{DID: {path: block}} after the commits of a capture. Accounts without a record at the end are left out."""
    chosen = {}
    for frame in frames:
        header, body = atproto.decode_frame(frame)
        if header.get("t") != "#commit":
            continue
        _, blocks = atproto.read_car(body["blocks"])
        for op in body["ops"]:
            records = chosen.setdefault(body["repo"], {})
            if op["cid"] is None:
                records.pop(op["path"], None)
            elif op["cid"] in blocks:
                records[op["path"]] = blocks[op["cid"]]
    return chosen


def cannot_be_json(block):
    """Whether JSON in the database cannot hold the record: it has NULs, floats, keys with a meaning in JSON or in `extra`, or
    another form than the canonical one."""
    def values(value):
        yield value
        if isinstance(value, dict):
            yield from value
            for item in value.values():
                yield from values(item)
        elif isinstance(value, list):
            for item in value:
                yield from values(item)

    record = atproto.decode(block)
    return atproto.encode(record) != block or any(
        isinstance(value, float) or isinstance(value, str) and ("\0" in value or value in RESERVED) for value in values(record))


if __name__ == "__main__":
    unittest.main()
