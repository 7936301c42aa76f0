"""Records that no one should send: each is stored where the documentation says, and its neighbours are not
affected.
"""

import unittest

import atproto
import oracle
from harness import EndToEnd
from made import BAD_UTF8, Network

LONG_RKEY = "k" * 512
HIGH_TID = "c222222222222"


class OddRecords(EndToEnd):
    def setUp(self):
        super().setUp()
        self.network = Network()
        self.person = self.network.account("odd")
        self.expected_posts = []

    def neighbour(self, text):
        uri, _ = self.person.post(text)
        self.expected_posts.append(text)
        return uri

    def replayed(self):
        capture = self.folder / "odd.capture"
        capture.write_bytes(self.network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        return database

    def check_neighbours(self, database):
        for text in self.expected_posts:
            quoted = text.replace("'", "''")
            count = database.value(f"select count(*) from bsky.posts where text = '{quoted}'")
            self.assertEqual(count, 1, text)

    def test_nul_is_removed_from_text_and_the_cid_stays(self):
        self.neighbour("before")
        _, cid = self.person.post("a\0b", tags=["x\0y"], extraText="p\0q")
        self.neighbour("after")
        database = self.replayed()
        row = database.rows(
            "select text, tags, extra - '$cbor' as extra, encode(cid, 'hex') cid from bsky.posts where text = 'ab'"
        )[0]
        self.assertEqual(row["tags"], ["xy"])
        self.assertEqual(row["extra"], {"extraText": "pq"})
        self.assertEqual(row["cid"], oracle.digest_hex(cid))
        self.check_neighbours(database)

    def test_any_rkey_is_kept(self):
        self.neighbour("before")
        for rkey in (LONG_RKEY, HIGH_TID, "self", "a:b~c.d-e_f"):
            record = {"text": f"key {rkey[:20]}", "createdAt": self.network.time()}
            self.person.put("app.bsky.feed.post", record, rkey)
            self.person.put("com.example.note", {"note": rkey[:20]}, rkey)
        self.neighbour("after")
        database = self.replayed()
        rows = database.rows("select collection, rkey, uri from bsky.all_records where rkey !~ '^3'")
        found = {(row["collection"], row["rkey"]) for row in rows}
        for rkey in (LONG_RKEY, HIGH_TID, "self", "a:b~c.d-e_f"):
            self.assertIn(("app.bsky.feed.post", rkey), found)
            self.assertIn(("com.example.note", rkey), found)
        for row in rows:
            self.assertEqual(row["uri"], f"at://{self.person.did}/{row['collection']}/{row['rkey']}")
        number = database.value("select rkey from bsky.posts where text = 'key " + HIGH_TID + "'")
        self.assertEqual(number, atproto.rkey_number(HIGH_TID))
        self.check_neighbours(database)

    def test_a_key_that_is_not_self_makes_a_singleton_invalid(self):
        self.person.put("app.bsky.actor.profile", {"displayName": "me"}, "self")
        self.person.put("app.bsky.actor.profile", {"displayName": "not me"}, "other")
        database = self.replayed()
        self.assertEqual(database.rows("select display_name from bsky.profiles"), [{"display_name": "me"}])
        row = database.rows("select record, invalid_reason from bsky.records")[0]
        self.assertEqual(row["record"]["displayName"], "not me")
        self.assertIn("rkey", row["invalid_reason"])

    def test_dates_of_all_kinds(self):
        self.neighbour("before")
        for text in (
            "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2026-01-01T00:00:00.123456789+05:30",
        ):
            self.person.post(f"made {text}", createdAt=text)
        self.neighbour("after")
        database = self.replayed()
        rows = database.rows(
            "select text, extra, (extract(epoch from created_at) * 1000000)::int8 at "
            "from bsky.posts where text like 'made %'"
        )
        self.assertEqual(len(rows), 3)
        for row in rows:
            written = row["text"][len("made "):]
            micros, _ = atproto.datetime_microseconds(written)
            nearest = oracle.stored_time(micros)
            self.assertEqual(row["at"], nearest, written)
            is_exact = micros == nearest and atproto.is_usual_datetime(written)
            self.assertEqual(row["extra"], None if is_exact else {"createdAt": written})
        self.check_neighbours(database)

    def test_what_breaks_its_lexicon_is_kept_and_leaves_its_table(self):
        uri = self.neighbour("becomes invalid, then valid again")
        self.expected_posts.clear()
        path = uri.split("/", 3)[3]
        collection, rkey = path.split("/")
        self.person.commit((path, {"$type": collection, "text": "no date"}))
        missing, _ = self.person.put(collection, {"text": "never had a date"})
        self.person.put(collection, {"text": "yesterday's", "createdAt": "yesterday"})
        self.neighbour("after")
        database = self.replayed()
        reasons = {
            row["record"]["text"]: row["invalid_reason"]
            for row in database.rows("select record, invalid_reason from bsky.records")
        }
        self.assertEqual(set(reasons), {"no date", "never had a date", "yesterday's"})
        for reason in reasons.values():
            self.assertTrue(reason.startswith("createdAt"), reason)
        number = atproto.rkey_number(rkey)
        left = database.value(f"select count(*) from bsky.posts where rkey = {number} and cid is not null")
        self.assertEqual(left, 0)
        self.check_neighbours(database)

        self.person.commit((path, {"$type": collection, "text": "dated", "createdAt": self.network.time()}))
        self.person.delete(missing)
        capture = self.folder / "more.capture"
        capture.write_bytes(self.network.capture())
        self.skua(database, "replay", capture)
        texts = {row["t"] for row in database.rows("select record->>'text' t from bsky.records")}
        self.assertEqual(texts, {"yesterday's"})
        self.assertEqual(database.value(f"select text from bsky.posts where rkey = {number}"), "dated")

    def test_what_is_beyond_a_limit_of_its_lexicon_is_kept_with_the_reason(self):
        flags, family = "\U0001f1e8\U0001f1ed", "\U0001f468\u200d\U0001f469\u200d\U0001f467"
        self.neighbour(flags * 300)
        self.person.post(flags * 301)
        # 18 bytes each: the limit of bytes is lower than that of grapheme clusters.
        self.neighbour(family * (3000 // len(family.encode())))
        self.person.post(family * (3000 // len(family.encode()) + 1))
        self.person.post("languages", langs=["en", "JA"])
        self.neighbour("after")
        database = self.replayed()
        rows = database.rows("select record->>'text' as text, invalid_reason from bsky.records")
        self.assertEqual({row["text"][:9]: row["invalid_reason"] for row in rows}, {
            (flags * 5)[:9]: "text: more than 300 graphemes",
            (family * 5)[:9]: "text: more than 3000 bytes",
            "languages": "langs[1]: not a language tag",
        })
        self.check_neighbours(database)

    def test_a_block_that_is_no_dag_cbor_goes_to_the_dead_letters_alone(self):
        good = {"$type": "app.bsky.feed.post", "text": "sibling", "createdAt": self.network.time()}
        first = self.person.tid()
        self.person.commit(
            (f"app.bsky.feed.post/{first}", good),
            (f"app.bsky.feed.post/{first[:-1]}3", BAD_UTF8),
        )
        self.expected_posts.append("sibling")
        self.neighbour("after")
        database = self.replayed()
        self.check_neighbours(database)
        letters = database.rows(
            "select consumer, key, error, encode(payload, 'hex') payload, status from skua.dead_letter"
        )
        self.assertEqual(len(letters), 1, letters)
        self.assertEqual(letters[0]["consumer"], "indexer")
        self.assertEqual(letters[0]["payload"], bytes(BAD_UTF8).hex())
        self.assertIn("UTF-8", letters[0]["error"])

    def test_a_frame_that_is_damaged_is_kept_and_passed(self):
        self.neighbour("before")
        self.person.post("damaged")
        frame = bytearray(self.network.frames[-1])
        at = frame.index(b"damaged")
        frame[at] ^= 1
        self.network.frames[-1] = bytes(frame)
        self.neighbour("after")
        database = self.replayed()
        self.check_neighbours(database)
        self.assertEqual(database.value("select count(*) from bsky.posts where cid is not null"), 2)
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 1)


if __name__ == "__main__":
    unittest.main()
