"""Conditions that read whole tables, and questions about subjects with very many records: Skua names them, and the form or the
index that is fast."""

import json
import os
import re
import subprocess
import unittest

import filled
from harness import BIN, ROOT, EndToEnd
from test_query_command import POST, SMALL

TABLE = "| slow | fast |"
# More likes than a popular subject needs.
MANY = """
insert into bsky.actors (id, did, indexed_at) overriding system value select n, 'did:plc:n' || n, now() from generate_series(100, 20099) n;
insert into bsky.likes (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor, subject_collection, subject_rkey)
  select n, n, 1, now(), now(), sha256(''), 1, 1, bsky.tid_number('3l6oveex3ii2l') from generate_series(100, 20099) n;
insert into bsky.reposts (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor, subject_collection, subject_rkey)
  select actor_id, rkey, 1, now(), now(), cid, 1, 1, subject_rkey from bsky.likes;
insert into bsky.follows (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor)
  select actor_id, rkey, 1, now(), now(), cid, 1 from bsky.likes;
"""


def documented():
    """(slow condition, fast condition) of docs/queries.md."""
    text = (ROOT / "docs/queries.md").read_text().split(TABLE)[1].split("\n\n")[0]
    return re.findall(r"(?m)^\| `([^`]+)` \| `([^`]+)`", text)


class SlowConditions(EndToEnd):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        filled.fill(self.db, rows=2000, accounts=50, known=300)
        self.db.run("update bsky.posts set all_tags = array['art'] where actor_id = 3 and cid is not null; analyze")
        (self.post,) = self.db.rows("select uri from bsky.posts_view order by actor_id, rkey limit 1")

    def statement(self, condition):
        return f"select uri from bsky.posts_view where {condition.replace('at://...', self.post['uri'])}"

    def named(self, query):
        return self.db.rows(f"select condition, fast_form from bsky.slow_conditions($q${query}$q$)")

    def test_the_documented_conditions_are_named_and_their_fast_forms_are_not(self):
        conditions = documented()
        self.assertGreaterEqual(len(conditions), 6)
        for slow, fast in conditions:
            with self.subTest(slow=slow, fast=fast):
                self.assertEqual(len(self.named(self.statement(slow))), 1)
                self.assertEqual(self.named(self.statement(fast)), [])
                self.assertEqual(self.db.rows(f"select * from ({self.statement(slow)}) q order by uri"),
                                 self.db.rows(f"select * from ({self.statement(fast)}) q order by uri"))
                # PostgreSQL may prefer to read a small table: this shows that it can use an index.
                plan = self.db.run(f"set enable_seqscan = off; set enable_indexscan = on; explain {self.statement(fast)}")
                self.assertNotIn("Seq Scan on posts", plan)

    def test_joins_and_names_by_their_beginning(self):
        for query in ("select count(*) from bsky.posts_view p join bsky.posts_view q on p.parent_uri = q.uri",
                      "select did from bsky.actors_view where name like 'bsky.%'",
                      "select name from bsky.likes_view where subject_uri = 'at://a.test/app.bsky.feed.post/a'"):
            self.assertEqual(len(self.named(query)), 1, query)
        for query in ("select count(*) from bsky.replies_view", "select * from bsky.timeline('a.test')",
                      f"select * from bsky.post('{self.post['uri']}')", f"select * from bsky.thread('{self.post['uri']}')"):
            self.assertEqual(self.named(query), [], query)

    def test_no_query_runs(self):
        for query in ("analyze delete from bsky.likes", "(analyze) delete from bsky.likes", "select 1; delete from bsky.likes"):
            with self.subTest(query), self.assertRaises(AssertionError):
                self.named(query)
        self.assertEqual(self.named("delete from bsky.likes"), [])
        self.assertGreater(self.db.value("select count(*) from bsky.likes"), 0)

    def export(self, sql):
        done = subprocess.run([BIN / "skua", "export", "--sql", sql], capture_output=True, text=True, timeout=60, check=True,
                              env={**os.environ, **self.environment(self.db)}, cwd=self.folder)
        return done.stdout, done.stderr

    def test_an_export_prints_them_and_its_rows(self):
        slow, fast = documented()[0]
        rows, notes = self.export(self.statement(slow))
        self.assertIn("note: a comparison of uri, or of another AT-URI such as subject_uri reads the whole table. The fast form: ", notes)
        self.assertIn(self.post["uri"], rows)
        fast_rows, notes = self.export(self.statement(fast))
        self.assertEqual(fast_rows, rows)
        self.assertNotIn("reads the whole table", notes)


class PopularSubjects(EndToEnd):
    def notes(self, *arguments):
        answer = json.loads("\n".join(self.skua(self.db, "query", *arguments, "--json").stdout))
        return [note for note in answer["notes"] if "newest-" in note["text"]]

    def test_a_question_names_the_index_for_a_popular_subject(self):
        self.db = self.database()
        self.db.run(SMALL)
        questions = {"likes": POST, "reposts": POST, "followers": "a.test"}
        for name, subject in questions.items():
            self.assertEqual(self.notes(name, subject), [], "few records")
        self.db.run(MANY)
        for name, subject in questions.items():
            with self.subTest(name):
                (note,) = self.notes(name, subject)
                self.assertIn(f"has more than 20,000 records, and the index newest-{name} does not exist: the answer takes longer", note["text"])
                subprocess.run(note["commands"][0], shell=True, check=True, capture_output=True, timeout=60, env={
                    **os.environ, **self.environment(self.db)})
                self.assertEqual(self.notes(name, subject), [])


if __name__ == "__main__":
    unittest.main()
