"""`bsky.record_json` rebuilds each record from the columns of its table, except for the documented differences
(docs/schema.md), which are counted: of real records, and of the simulated network."""

import collections
import unittest

import atproto
import oracle
from harness import EndToEnd, need_shared
from simulated_capture import SimulatedCapture
from test_backfill_shared import RECORDS
from test_replay import repositories

STRONG_REFS = ("subject", "via", "pinnedPost", "joinedViaStarterPack")
BLOBS = ("avatar", "banner")


def known_difference(collection, field, wanted, got):
    """The name of the documented difference between two values of a field, or None."""
    if field == "createdAt" and got and atproto.datetime_microseconds(wanted) == atproto.datetime_microseconds(got):
        return "the text of createdAt"
    if field in BLOBS and got and got["$type"] == "blob" and oracle_cid(wanted) == got["ref"]["$link"]:
        return "type and size of a blob"
    if without_types(wanted) == got and (field in STRONG_REFS or field == "reply"):
        return "$type of a reference"
    if collection == "app.bsky.feed.threadgate" and field == "allow":
        return "the order of the rules" if same_rules(wanted, got) else None
    if collection == "app.bsky.feed.postgate" and field == "embeddingRules" and wanted == []:
        return "an empty list of rules"
    return None


def oracle_cid(blob):
    return blob["ref"]["$link"] if "ref" in blob else blob["cid"]


def without_types(value):
    if isinstance(value, dict):
        return {key: without_types(item) for key, item in value.items() if key != "$type"}
    return value


def same_rules(wanted, got):
    def rules(value):
        return {tuple(sorted(rule.items())) for rule in value or []}
    return got is not None and rules(wanted) == rules(got)


class RecordJson(EndToEnd):
    def differences(self, database, chosen):
        """Compares each record of the repositories; counts the documented differences."""
        counted = collections.Counter()
        for did, repository in chosen.items():
            values = ", ".join(
                "('{}', '{}', '{}')".format(*(part.replace("'", "''") for part in (path, *path.split("/", 1))))
                for path in repository.records)
            if not values:
                continue
            rows = database.rows(f"""
                with k as (
                  select row_number() over () as place, v.path, a.id as actor_id, c.id as collection_id,
                         bsky.rkey_number(v.rkey) as rkey
                  from (values {values}) as v(path, collection, rkey)
                  join bsky.actors a on a.did = '{did}' join bsky.collections c on c.nsid = v.collection)
                select k.path, bsky.cid_text(r.cid) as cid, r.record
                from (select array_agg(actor_id order by place) a, array_agg(collection_id::int4 order by place) c,
                             array_agg(rkey order by place) r from k) as keys,
                     bsky.record_json(keys.a, keys.c, keys.r) as r join k using (place)""")
            self.assertEqual(len(rows), len({row["path"] for row in rows}), "a record has one row")
            found = {row["path"]: row for row in rows}
            for path, (cid, block) in repository.records.items():
                counted["records"] += 1
                self.assertIn(path, found, did)
                self.assertEqual(found[path]["cid"], cid.text())
                wanted = oracle.without_nul(atproto.to_json(atproto.decode(block)))
                counted.update(self.compare(f"{did}/{path}", wanted, found[path]["record"]))
        return counted

    def compare(self, path, wanted, got):
        collection = path.split("/")[1]
        for field in sorted(wanted.keys() | got.keys()):
            if wanted.get(field, self) == got.get(field, self):
                continue
            if field == "$type" and field not in wanted:
                yield "$type added"
                continue
            name = known_difference(collection, field, wanted.get(field), got.get(field))
            if name is None:
                self.fail(f"{path}: {field} was {wanted.get(field)!r} and is {got.get(field)!r}")
            yield name

    def test_records_of_a_real_pds(self):
        database = self.database()
        self.skua(database, "replay", need_shared() / "pds/frames.bin")
        counted = self.differences(database, repositories(need_shared()))
        self.assertEqual(dict(counted), {"records": 9529, "the text of createdAt": 427, "type and size of a blob": 67,
                                         "an empty list of rules": 45})

    def test_real_repositories(self):
        database = self.database()
        chosen = {}
        for file in sorted((need_shared() / "repos").glob("*.car")):
            if file.name.split(".car")[0] in RECORDS:
                repository = atproto.Repository(file.read_bytes())
                chosen[repository.did] = repository
                self.skua(database, "backfill", "--car", file)
        self.assertEqual(len(chosen), len(RECORDS))
        counted = self.differences(database, chosen)
        self.assertEqual(dict(counted), {"records": sum(RECORDS.values()), "type and size of a blob": 7,
                                         "the text of createdAt": 2})

    def test_records_of_the_simulated_network(self):
        capture = SimulatedCapture(self, events=3000, accounts=40)
        database = self.database()
        self.skua(database, "replay", "--verify", "full", "--did-docs", capture.documents, capture.frames)
        counted = self.differences(database, capture.repositories)
        self.assertGreater(counted.pop("records"), 1500)
        self.assertLessEqual(counted.keys(), {"type and size of a blob", "the text of createdAt", "an empty list of rules"})

    def test_one_record_by_its_uri(self):
        capture = SimulatedCapture(self, events=300, accounts=5)
        database = self.database()
        self.skua(database, "replay", "--verify", "full", "--did-docs", capture.documents, capture.frames)
        uri = database.value("select uri from bsky.posts_view limit 1")
        record = database.value(f"select bsky.record_json('{uri}')")
        self.assertEqual(record["text"], database.value(f"select text from bsky.post('{uri}')"))
        self.assertIsNone(database.value(f"select bsky.record_json('{uri}x')"))


if __name__ == "__main__":
    unittest.main()
