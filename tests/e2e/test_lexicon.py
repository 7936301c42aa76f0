"""`skua lexicon`: lexicons of users, with typed views of their records and indexes of properties."""

import json
import unittest

from test_filter import Filter

NOTE = "test.margin.reading.note"
PLOT = "test.kitchen-garden.plot"


def document(nsid, properties, required=(), **definitions):
    return {"lexicon": 1, "id": nsid, "defs": {
        "main": {"type": "record", "key": "any", "description": "A record of a test.",
                 "record": {"type": "object", "required": list(required), "properties": properties}},
        **definitions}}


def note(**more):
    return document(NOTE, {
        "book": {"type": "ref", "ref": "#book"},
        "note": {"type": "string", "description": "It's the \"text\" of the note."},
        "finished": {"type": "boolean"},
        "createdAt": {"type": "string", "format": "datetime"},
        **more,
    }, ["note"], book={"type": "object", "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}}})


PLOT_DOCUMENT = document(PLOT, {
    "rows": {"type": "array", "items": {"type": "ref", "ref": "test.kitchen-garden.defs#row"}},
    "photo": {"type": "blob"},
    "createdAt": {"type": "ref", "ref": "test.kitchen-garden.defs#time"},
})
PLOT_PARTS = {"lexicon": 1, "id": "test.kitchen-garden.defs", "defs": {
    "row": {"type": "object", "properties": {"plant": {"type": "string"}, "depth": {"type": "integer"}}},
    "time": {"type": "string", "format": "datetime"}}}


class Lexicon(Filter):
    def lexicon(self, database, *arguments, code=0):
        return "\n".join(self.skua(database, "lexicon", *arguments, code=code).output())

    def file(self, content, name="lexicon.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def add(self, database, content, *arguments, code=0):
        return self.lexicon(database, "add", self.file(content), *arguments, code=code)

    def put(self, database, nsid, *records):
        """Rows as the indexer writes them."""
        database.run(f"""
            insert into bsky.collections (nsid) values ('{nsid}') on conflict do nothing;
            insert into bsky.actors (did, handle, active, indexed_at) values ('did:plc:reader', 'reader.test', true, now())""")
        for number, record in enumerate(records):
            text = json.dumps(record).replace("'", "''")
            database.run(f"""
                insert into bsky.records (rkey, rev, indexed_at, actor_id, collection_id, cid, record)
                select {number + 1}, 1, now(), a.id, c.id, sha256('{number}'), '{text}'
                from bsky.actors a, bsky.collections c where a.did = 'did:plc:reader' and c.nsid = '{nsid}'""")

    def columns(self, database, view):
        rows = database.rows("select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute "
                             f"where attrelid = 'lexicon.{view}'::regclass order by attnum")
        return {row["name"]: row["type"] for row in rows}

    def test_records_of_a_network_have_a_typed_view(self):
        network = self.network_of(accounts=10, records=30000)
        database = self.brought_in(network)
        self.assertIn("no lexicons were added", self.lexicon(database, "list"))
        self.assertIn(f"{NOTE}: stored, the view lexicon.test_margin_reading_note has 4 properties",
                      self.add(database, note(), "--index", "createdAt", "--index", "book", "--index", "note"))
        self.assertIn(f"{NOTE}: lexicon.test_margin_reading_note, 3 indexes", self.lexicon(database, "list"))
        self.assertEqual(self.columns(database, "test_margin_reading_note"), {
            "uri": "text", "did": "text", "handle": "text", "name": "text", "rkey_text": "text", "book": "jsonb",
            "created_at": "timestamp with time zone", "finished": "boolean", "note": "text",
            "indexed_at": "timestamp with time zone", "cid": "text", "rev": "text", "actor_id": "bigint", "rkey": "bigint"})
        same = """select count(*) from lexicon.test_margin_reading_note n join bsky.records_view r
            on r.uri = n.uri and r.cid = n.cid and r.rev = n.rev and n.note = r.record ->> 'note'
            and n.finished = (r.record -> 'finished')::boolean and n.book = r.record -> 'book'
            and n.created_at = (r.record ->> 'createdAt')::timestamptz and n.name = coalesce(r.handle, r.did)"""
        stored = database.value(f"select count(*) from bsky.records_view where collection = '{NOTE}'")
        self.assertGreater(stored, 3)
        self.assertEqual(database.value(same), stored)
        # The reader sees it, and each column has a comment.
        self.assertEqual(database.run("set role skua_reader; select count(*) from lexicon.test_margin_reading_note"), str(stored))
        self.assertEqual(database.value("select count(*) from pg_attribute where attrelid = 'lexicon.test_margin_reading_note'::regclass "
                                        "and col_description(attrelid, attnum) is null"), 0)
        self.assertEqual(database.value("select col_description('lexicon.test_margin_reading_note'::regclass, attnum) from pg_attribute "
                                        "where attrelid = 'lexicon.test_margin_reading_note'::regclass and attname = 'note'"),
                         'It\'s the "text" of the note.')
        for condition in ("created_at > now() - interval '1 day'", "note = 'x'", """book @> '{"title": "x"}'"""):
            plan = database.run("set enable_seqscan = off; set enable_indexscan = on; explain select * from "
                                f"lexicon.test_margin_reading_note where {condition}")
            self.assertRegex(plan, r"lexicon_\d+_(created_at|note|book)_", condition)
        # Another document with the same id replaces the view and drops the index of a property that changed.
        self.assertIn("nothing changed", self.add(database, note()))
        changed = self.add(database, note(createdAt={"type": "string"}, pages={"type": "integer"}))
        self.assertIn("1 index of changed properties removed", changed)
        self.assertEqual(self.columns(database, "test_margin_reading_note")["created_at"], "text")
        self.assertEqual(database.value("select count(pages) from lexicon.test_margin_reading_note"), 0)
        self.assertEqual(json.loads(self.lexicon(database, "show", NOTE))["id"], NOTE)
        self.assertIn(f"{NOTE}: removed, with 2 indexes", self.lexicon(database, "remove", NOTE))
        self.assertIn("was not added", self.lexicon(database, "remove", NOTE))
        self.assertIn("was not added", self.lexicon(database, "show", NOTE, code=2))
        self.assertEqual(database.value("select count(*) from pg_class where relnamespace = 'lexicon'::regnamespace"), 0)
        self.assertEqual(database.value("select count(*) from pg_class where relname ~ '^lexicon_[0-9]'"), 0)
        self.assertEqual(database.value(f"select count(*) from bsky.records_view where collection = '{NOTE}'"), stored)

    def test_records_are_checked_when_they_are_written_and_afterwards(self):
        """Both checks give the same rows. A check after the removal of the lexicon finds no violation."""
        network = self.network_of(accounts=10, records=30000)
        limits = note(note={"type": "string", "maxLength": 40})
        before, after = self.database(), self.database()
        self.add(before, limits)
        self.brought_in(network, database=before)
        self.brought_in(network, database=after)
        self.assertIn("bsky.records: ", self.lexicon(after, "check"))
        self.add(after, limits)
        violations = f"""select r.uri, r.cid, r.invalid_reason from bsky.records_view r
            where collection = '{NOTE}' and r.invalid_reason is not null order by 1"""
        self.assertEqual(after.rows(violations), [])
        self.crash(after, network, "before_recheck_commit", "lexicon", "check")
        self.assertEqual(after.rows(violations), [])
        checked = self.lexicon(after, "check").splitlines()
        found = after.rows(violations)
        self.assertEqual(len(checked), 1, checked)
        self.assertTrue(checked[0].endswith(f", {len(found)} changed"), checked)
        self.assertEqual({row["invalid_reason"] for row in found}, {"note: more than 40 bytes"})
        self.assertEqual(before.rows(violations), found)
        valid = after.value("select count(*) from lexicon.test_margin_reading_note")
        self.assertGreater(valid, 0)
        self.assertEqual(before.value("select count(*) from lexicon.test_margin_reading_note"), valid)
        self.assertIn("were checked against the present lexicons", self.lexicon(after, "check"))
        self.lexicon(after, "remove", NOTE)
        self.lexicon(after, "check")
        self.assertEqual(after.rows(violations), [])

    def test_documents_refer_to_each_other(self):
        database = self.database()
        self.assertIn("test.kitchen-garden.defs#", self.add(database, PLOT_DOCUMENT, code=2))
        self.assertEqual(database.value("select count(*) from skua.lexicons"), 0)
        self.assertEqual(database.value("select count(*) from bsky.collections where id >= 1000"), 0)
        parts = self.file(PLOT_PARTS, "parts.json")
        added = self.add(database, PLOT_DOCUMENT, parts)
        self.assertIn("test.kitchen-garden.defs: stored; it defines no record", added)
        self.assertEqual(self.columns(database, "test_kitchen_garden_plot")["created_at"], "timestamp with time zone")
        # A change of the other document changes the view.
        self.assertIn(f"{PLOT}: not given, the view", self.add(database, {
            **PLOT_PARTS, "defs": {**PLOT_PARTS["defs"], "time": {"type": "string"}}}))
        self.assertEqual(self.columns(database, "test_kitchen_garden_plot")["created_at"], "text")
        self.assertIn("another lexicon needs test.kitchen-garden.defs", self.lexicon(
            database, "remove", "test.kitchen-garden.defs", code=2))
        # A view whose name is taken gets another one.
        self.add(database, {**PLOT_DOCUMENT, "id": "test.kitchen.garden.plot"})
        names = database.rows("select view_name from skua.lexicons where view_name is not null order by 1")
        self.assertRegex(names[1]["view_name"], r"^test_kitchen_garden_plot_[0-9a-f]{8}$")
        self.lexicon(database, "remove", PLOT)
        self.assertIn("removed", self.lexicon(database, "remove", "test.kitchen.garden.plot"))
        self.assertIn("removed", self.lexicon(database, "remove", "test.kitchen-garden.defs"))

    def test_any_stored_record_can_be_read_and_indexed(self):
        database = self.database()
        properties = {"text": {"type": "string"}, "at": {"type": "string", "format": "datetime"}, "count": {"type": "integer"},
                      "flag": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "integer"}},
                      "did": {"type": "string", "format": "did"}, "it's \"quoted\"": {"type": "string"}}
        fields = [part for name in properties for part in ("--index", name)]
        self.assertIn("index of it_s_quoted_: built", self.add(database, document(NOTE, properties), *fields))
        odd = [{"text": 1, "at": "yesterday", "count": "x", "flag": 7, "list": {}},
               {"text": "x" * 900_000, "at": "0000-01-01T00:00:00Z", "count": 1.5, "list": [{"a": "y" * 100_000}]},
               {"text": None, "at": "9999-99-99T99:99:99Z", "count": 1e300, "flag": "true"},
               {"text": "t", "at": "2024-02-29T12:00:00.123+01:00", "count": 9007199254740993, "flag": True, "list": [1],
                "did": "did:plc:x", "it's \"quoted\"": "q"},
               [], "text", 7]
        self.put(database, NOTE, *odd)
        view = "lexicon.test_margin_reading_note"
        self.assertEqual(database.value(f"select count(*) from {view}"), 7)
        for column in ("at", "count", "flag"):
            self.assertEqual(database.value(f"select count({column}) from {view}"), 1)
        row = database.rows(f"""select *, at = '2024-02-29T11:00:00.123Z' as is_at from {view} where text = 't'""")[0]
        self.assertTrue(row["is_at"])
        self.assertEqual((row["did"], row["did_2"], row["count"], row["flag"], row["list"], row["it_s_quoted_"], row["name"]),
                         ("did:plc:reader", "did:plc:x", 9007199254740993, True, [1], "q", "reader.test"))
        # Records that are not valid, and those of inactive accounts, are hidden.
        database.run("update bsky.records set invalid_reason = 'text: too long' where rkey = 2")
        self.assertEqual(database.value(f"select count(*) from {view}"), 6)
        database.run("update bsky.actors set active = false")
        self.assertEqual(database.value(f"select count(*) from {view}"), 0)

    def test_wrong_documents_are_refused(self):
        database = self.database()
        for content, message in (
            ("{", "not JSON"),
            ({**note(), "id": "note"}, "id: must be an NSID"),
            ({**note(), "lexicon": 2}, "lexicon: must be 1"),
            ({**note(), "id": "app.bsky.feed.post"}, "app.bsky.feed.post is a built-in lexicon"),
            (note(rating={"type": "number"}), f"{NOTE}: defs.main.record.properties.rating.type: is not the name of a type"),
            (note(**{f"p{n}": {"type": "integer"} for n in range(500)}), "more than 500"),
            (" " * 1_000_001, "has more than 1000000 bytes"),
            ("[" * 100_000, "is nested too deeply"),
        ):
            self.assertIn(message, self.add(database, content, code=2))
        self.assertIn("has no property 'pages'", self.add(database, note(), "--index", "pages", code=2))
        self.assertIn("no document defines a record", self.add(database, PLOT_PARTS, "--index", "row", code=2))
        again = self.file(note(), "again.json")
        self.assertIn("is given twice", self.add(database, note(), again, code=2))
        self.assertEqual(database.value("select count(*) from skua.lexicons"), 0)
        self.assertEqual(database.value("select count(*) from pg_class where relnamespace = 'lexicon'::regnamespace"), 0)


if __name__ == "__main__":
    unittest.main()
