"""`skua verify` finds each stored record that does not encode to its CID, and a resync replaces it."""

import unittest

import atproto
from harness import EndToEnd, need_shared
from made import Network
from random_network import RandomNetwork


class Verify(EndToEnd):
    def replayed(self, frames):
        database, file = self.database(), self.folder / "frames"
        file.write_bytes(atproto.write_capture(frames))
        self.skua(database, "replay", file)
        return database

    def says(self, database, *arguments, code=0):
        """The output of the command."""
        return "\n".join(self.skua(database, "verify", *arguments, code=code).output())

    def faults(self, database, *arguments):
        """{URI: reason} of the records that the command names."""
        lines = [line for line in self.says(database, *arguments, code=1).splitlines() if line.startswith("at://")]
        return {uri: reason for uri, _, reason in (line.partition(": ") for line in lines)}

    def test_a_sound_database(self):
        network = RandomNetwork(7)
        database = self.replayed(network.frames)
        rows = database.value("select count(*) from bsky.all_records")
        self.assertGreater(rows, 200)
        self.assertIn(f"{rows} records checked, 0 do not encode", self.says(database))
        self.assertIn("20 records checked", self.says(database, "--sample", "20"))
        # A sample that is larger than the tables has each row once.
        posts = database.value("select count(*) from bsky.posts where cid is not null")
        invalid = database.value("select count(*) from bsky.records r where collection_id = 1")
        self.assertIn(f"{posts + invalid} records checked", self.says(database, "--collection", "app.bsky.feed.post"))
        did = database.value("select did from bsky.all_records group by did order by count(*) desc limit 1")
        own = database.value(f"select count(*) from bsky.all_records where did = '{did}'")
        self.assertIn(f"{own} records checked", self.says(database, "--account", did))
        self.assertIn("5 records checked", self.says(database, "--account", did, "--sample", "5"))
        self.skua(database, "verify", "--account", "did:plc:nobody", code=2)
        self.skua(database, "verify", "--collection", "com.example.none", code=2)

    def test_captures_of_others(self):
        database = self.database()
        self.skua(database, "replay", need_shared() / "pds/frames.bin")
        self.assertIn("9529 records checked, 0 do not", self.says(database))

    def test_each_changed_byte_is_found_and_replaced(self):
        network = Network()
        person = network.account("person")
        other = network.account("other")
        blob = {"$type": "blob", "ref": atproto.Link(bytes([1, 0x55]) + atproto.cid_of(b"b")[2:]), "mimeType": "image/png",
                "size": 9}
        post, cid = person.post("hello", langs=["en"])
        quiet, _ = other.post("untouched")
        like, _ = person.like(post, cid)
        old, _ = person.post("old time", createdAt="2026-07-04T14:38:08Z")
        odd, _ = person.post("nul\0")
        note, _ = person.put("com.example.note", {"a": [1, 2], "float": 1.5})
        whole, _ = person.put("com.example.note", {"a": [1, 2]})
        profile, _ = person.put("app.bsky.actor.profile", {"displayName": "P", "avatar": blob}, "self")
        follow, _ = person.put("app.bsky.graph.follow", {"subject": other.did, "createdAt": network.time()})
        database = self.replayed(network.frames)
        self.assertIn("0 do not", self.says(database))
        before = database.rows("select uri, cid from bsky.all_records order by uri")
        row = "actor_id = (select actor_id from bsky.resolve_uri('{0}')) and rkey = (select rkey from bsky.resolve_uri('{0}'))"
        changes = {
            post: "update bsky.posts set text = 'hallo'",
            like: "update bsky.likes set created_at = created_at + interval '1 microsecond'",
            old: "update bsky.posts set extra = null",
            odd: "update bsky.posts set extra = jsonb_set(extra, '{$cbor}', to_jsonb(translate(extra->>'$cbor', 'b', 'c')))",
            note: "update bsky.records set block = set_byte(block, 20, 255)",
            whole: "update bsky.records set record = record || '{\"a\": [2, 1]}'",
            profile: "update bsky.profiles set extra = jsonb_set(extra, '{$avatar,size}', '10')",
            follow: "update bsky.follows set subject_actor = actor_id",
        }
        for uri, change in changes.items():
            database.run(f"{change} where {row.format(uri)}")
        self.assertEqual(self.faults(database).keys(), changes.keys())
        self.assertEqual(self.faults(database, "--account", person.did).keys(), changes.keys())
        self.assertEqual(self.faults(database, "--sample", "1000").keys(), changes.keys())
        self.assertEqual(self.faults(database, "--collection", "app.bsky.feed.post").keys(), {post, old, odd})
        self.assertIn("encodes to", self.faults(database)[post])
        self.assertEqual(database.value("select count(*) from skua.backfill_jobs"), 0)

        self.assertEqual(self.faults(database, "--resync").keys(), changes.keys())
        self.assertEqual(database.rows("select did from skua.backfill_jobs"), [{"did": person.did}])
        car = self.folder / "person.car"
        car.write_bytes(person.car())
        # The host of this account does not exist: the repository comes from a file.
        self.skua(database, "backfill", "cancel", person.did)
        self.skua(database, "backfill", "--car", car)
        self.assertIn("0 do not", self.says(database))
        self.assertEqual(database.rows("select uri, cid from bsky.all_records order by uri"), before)
        # Consumers get the replaced records as updates.
        updates = database.value("select count(*) from skua.change_log, unnest(kind, op) as c(kind, op)"
                                 " where skua.change_kind(c.kind) = 'record' and c.op = 2")
        self.assertEqual(updates, len(changes))
        self.assertNotIn(quiet, changes)


if __name__ == "__main__":
    unittest.main()
