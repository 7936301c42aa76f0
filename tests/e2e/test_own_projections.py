"""`skua projection`: the examples of docs/projections.md, and the commands."""

import json
import re
import unittest

from harness import ROOT, EndToEnd
from simulated_capture import SimulatedCapture
from test_lexicon import NOTE, note

# The view of each example, and a recount that is written in another way.
RECOUNTS = {
    "lang_days": """select (least(created_at, indexed_at) at time zone 'UTC')::date as day, lang, count(distinct (actor_id, rkey)) as posts
        from bsky.posts, string_to_table(langs, ' ') lang where cid is not null group by 1, 2""",
    "follow_days": """select account, day, sum(a) as follows, sum(b) as followers from (
        select actor_id as account, (least(created_at, indexed_at) at time zone 'UTC')::date as day, 1 as a, 0 as b from bsky.follows
        union all
        select subject_actor, (least(created_at, indexed_at) at time zone 'UTC')::date, 0, 1 from bsky.follows
        where subject_actor is not null) f group by 1, 2""",
    "engagement": """select author, sum(l)::int8 as likes, sum(r)::int8 as reposts, sum(l + 3 * r)::int8 as score from (
        select subject_actor as author, 1 as l, 0 as r from bsky.likes where subject_collection = 1
        union all select subject_actor, 0, 1 from bsky.reposts where subject_collection = 1) e group by 1""",
    "note_states": f"""select coalesce(record ->> 'finished', '') as finished, count(*) as notes from bsky.records
        where collection_id = (select id from bsky.collections where nsid = '{NOTE}') group by 1""",
}
NOTE_STATES = f"""-- projection: note_states
-- help: Notes by state
-- collections: {NOTE}
-- internal table: note_rows
actor_id int8 NOT NULL, rkey int8 NOT NULL, finished text NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: note_states
finished text NOT NULL PRIMARY KEY, notes int8 NOT NULL
-- rows: note_rows
SELECT r.actor_id, r.rkey, coalesce(r.record ->> 'finished', '') AS finished
FROM {{keys}} AS k JOIN bsky.records AS r USING (actor_id, rkey, collection_id)
-- sum: note_states
SELECT finished, count(*) AS notes FROM {{note_rows}} GROUP BY finished
"""


def examples():
    """The files in the document by name."""
    text = (ROOT / "docs/projections.md").read_text()
    blocks = re.findall(r"```sql\n(-- projection: (\w+)\n.*?)```", text, re.DOTALL)
    return {name: block for block, name in blocks}


class OwnProjections(EndToEnd):
    def file(self, name, text):
        path = self.folder / f"{name}.sql"
        path.write_text(text)
        return path

    def projection(self, database, *arguments, code=0):
        return "\n".join(self.skua(database, "projection", *arguments, code=code).output())

    def add(self, database, name, text, *options):
        self.projection(database, "add", self.file(name, text))
        self.skua(database, "consumers", "add", name, "--set", "batch=100", *options)

    def assert_recount(self, database, names):
        for name in names:
            columns = "array(select to_jsonb(q) from ({}) q order by to_jsonb(q)::text)"
            shown = database.value(f"select to_json({columns.format(f'select * from projections.{name}')})")
            expected = database.value(f"select to_json({columns.format(RECOUNTS[name])})")
            self.assertEqual(shown, expected, name)
            self.assertGreater(len(shown), 1, name)
            self.skua(database, "consumers", "verify", name)
            self.skua(database, "consumers", "verify", name, "--rows", "20")

    def test_the_examples_equal_recounts(self):
        files = examples()
        self.assertEqual(set(files), {"lang_days", "follow_days", "engagement"})
        simulated = SimulatedCapture(self, events=6000, accounts=60)
        followed, built = self.database(), self.database()
        for name, text in files.items():
            self.add(followed, name, text, *(("--lanes", "2") if name == "lang_days" else ()))
        self.skua(followed, "consumers", "run-until-idle")
        self.skua(followed, "replay", simulated.frames)
        self.skua(followed, "consumers", "run-until-idle")
        self.assert_recount(followed, files)

        self.skua(built, "replay", simulated.frames)
        self.skua(built, "lexicon", "add", self.file("note", json.dumps(note())))
        files["note_states"] = NOTE_STATES
        for name, text in files.items():
            said = self.projection(built, "check", self.file(name, text), "--records", "500")
            self.assertIn("the fold equals the fill", said)
            self.assertRegex(said, r"fold +\d+ ms, plan cost \d+")
            self.add(built, name, text)
        self.skua(built, "consumers", "run-until-idle")
        self.assert_recount(built, files)
        # All changes of the log again, as a rebuild beside the tables and an exchange.
        self.skua(built, "consumers", "rebuild", "engagement")
        self.skua(built, "consumers", "run-until-idle")
        self.assert_recount(built, files)

    def test_a_killed_process_loses_nothing(self):
        simulated = SimulatedCapture(self, events=3000, accounts=40)
        database = self.database()
        name, text = "engagement", examples()["engagement"]
        self.add(database, name, text)
        environment = self.environment(database)
        for point in ("before_build_commit:1", "after_build_commit:1", "before_exchange_commit:1"):
            killed = self.start([self.binary("skua"), "consumers", "run-until-idle"], {**environment, "SKUA_CRASH_AT": point})
            self.assertEqual(killed.wait(60), -9, point)
        self.skua(database, "consumers", "run-until-idle")
        self.skua(database, "replay", simulated.frames)
        for point in ("before_fold_commit:2", "after_fold_commit:2", "before_fold_commit:1"):
            killed = self.start([self.binary("skua"), "consumers", "run-until-idle"], {**environment, "SKUA_CRASH_AT": point})
            self.assertEqual(killed.wait(60), -9, point)
        self.skua(database, "consumers", "run-until-idle")
        self.assert_recount(database, [name])

    def test_commands(self):
        database = self.database()
        text = examples()["lang_days"]
        self.assertIn("nothing changed", self.add_twice(database, text))
        self.assertRegex(self.projection(database, "list"), r"lang_days +added +version 1, no consumer")
        self.skua(database, "consumers", "add", "lang_days", "--lanes", "2")
        self.skua(database, "consumers", "run-until-idle")
        self.assertRegex(self.projection(database, "list"), r"lang_days +added +version 1, version 1 running")
        listed = json.loads(self.projection(database, "list", "--json"))
        self.assertIn(("post_stats", True), {(one["name"], one["is_built_in"]) for one in listed})
        said = self.projection(database, "show", "lang_days")
        self.assertIn("consumers: live, running", said)
        self.assertIn("-- sum: lang_days", said)
        self.assertIn("-- projection: post_stats", self.projection(database, "show", "post_stats"))
        self.assertIn("skua consumers remove lang_days", self.projection(database, "remove", "lang_days", code=1))
        self.assertIn("Posts by language and day", "\n".join(self.skua(database, "consumers", "status", "lang_days").output()))

        # Another version with other columns.
        other = text.replace("version: 1", "version: 2").replace("posts int8", "number int8").replace("AS posts", "AS number")
        self.assertIn("-- version: 2", self.projection(database, "add", self.file("other", other.replace("version: 2", "version: 1")), code=1))
        self.assertIn("has version 2", self.projection(database, "add", self.file("other", other)))
        self.skua(database, "consumers", "run-until-idle")
        self.assertEqual(database.value("select count(number) from projections.lang_days"), 0)

        self.skua(database, "consumers", "remove", "lang_days")
        self.assertIn("removed lang_days", self.projection(database, "remove", "lang_days"))
        self.skua(database, "consumers", "run-until-idle")
        self.assertEqual(database.value("select count(*) from pg_class where relnamespace = 'projections'::regnamespace"), 0)
        self.skua(database, "consumers", "add", "lang_days", code=2)

    def add_twice(self, database, text):
        self.assertIn("added lang_days", self.projection(database, "add", self.file("lang_days", text)))
        return self.projection(database, "add", self.file("lang_days", text))

    def test_check_of_own_statements(self):
        database = self.database()
        self.skua(database, "replay", SimulatedCapture(self, events=1000, accounts=20).frames)
        text = """-- projection: likers
-- help: Likes by account
-- lanes: several
-- table: likers
actor_id int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL
-- fill
INSERT INTO {likers} SELECT actor_id, count(*) FROM bsky.likes GROUP BY 1
-- fold
INSERT INTO {likers} AS t SELECT c.actor_id, sum(CASE c.op WHEN 1 THEN 1 WHEN 3 THEN -1 ELSE 0 END)
FROM skua.changes_between($1::int8, $2::int8) AS c
WHERE c.collection_id = 2 AND c.actor_id & ($4::int4 - 1) = $3::int4 GROUP BY 1
ON CONFLICT (actor_id) DO UPDATE SET likes = t.likes + EXCLUDED.likes
"""
        said = self.projection(database, "check", self.file("likers", text), "--plan")
        self.assertRegex(said, r"fill +\d+ ms, plan cost [1-9]\d*\n    Insert on likers")
        self.assertRegex(said, r"compare +\d+ ms")
        self.assertRegex(said, r"fold +\d+ ms, plan cost [1-9]\d*, [1-9]\d* changes\n    Insert on")
        self.assertRegex(said, r"likers: [1-9]\d* rows")
        self.assertIn("skua consumers verify likers", said)
        self.assertNotIn("Insert on", self.projection(database, "check", self.file("likers", text)))
        self.assertEqual(database.value("select count(*) from skua.projections"), 0)
        slow = text.replace("FROM bsky.likes GROUP", "FROM bsky.likes, generate_series(1, 1e12) AS n GROUP")
        said = self.projection(database, "check", self.file("slow", slow), "--timeout", "1s", code=1)
        self.assertRegex(said, r"fill, plan cost [1-9]\d*: .*statement timeout.*`--timeout`")

    def test_files_that_are_refused(self):
        database = self.database()
        text = examples()["lang_days"]
        wrong = self.file("wrong", text.replace("-- version: 1", "-- version: one"))
        self.assertIn("line 2: the version is a number", self.projection(database, "add", wrong, code=2))
        wrong = self.file("wrong", text.replace("bsky.posts", "bsky.post"))
        self.assertIn('"bsky.post" does not exist', self.projection(database, "add", wrong, code=1))
        self.assertIn('"bsky.post" does not exist', self.projection(database, "check", wrong, code=1))
        wrong = self.file("wrong", text.replace("p.cid IS NOT NULL", "random() < 1"))
        self.assertIn("volatile", self.projection(database, "check", wrong, code=1))
        self.projection(database, "check", self.folder / "missing.sql", code=2)
        self.assertEqual(database.value("select count(*) from skua.projections"), 0)


if __name__ == "__main__":
    unittest.main()
