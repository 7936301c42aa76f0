"""`skua query`: it runs the queries of docs/queries.md by name."""

import csv
import io
import json
import re
import unittest

import filled
from harness import EndToEnd
from test_documents import queries, variables


class QueryCommand(EndToEnd):
    def query(self, database, *arguments, code=0):
        program = self.skua(database, "query", *arguments, code=code)
        return "\n".join(program.stdout if code == 0 else program.stderr)

    def test_the_list_has_each_query_with_its_arguments_and_title(self):
        listed = self.query(None)
        for name, statement in queries().items():
            arguments = list(dict.fromkeys(re.findall(r":'(\w+)'", statement)))
            line = re.escape(" ".join([name, *(argument.upper() for argument in arguments)]))
            self.assertRegex(listed, rf"(?m)^  {line} {{2,}}[A-Z]\w+")
        self.assertEqual(len(re.findall(r"(?m)^[A-Z]", listed)), 6)

    def test_each_query_runs_with_the_values_of_the_document(self):
        database = self.database()
        filled.fill(database, rows=300, accounts=20, known=200)
        values = {name: value.strip("'") for name, value in re.findall(r"^\\set (\w+) (.*)$", variables(), re.MULTILINE)}
        for name, statement in queries().items():
            with self.subTest(name):
                arguments = [values[argument] for argument in dict.fromkeys(re.findall(r":'(\w+)'", statement))]
                rows = json.loads(self.query(database, name, *arguments, "--json"))
                psql = database.run(f"{variables()}select coalesce(json_agg(row_to_json(q)), '[]') from ({statement}) q;")
                self.assertEqual(rows, json.loads(psql))

    def test_a_table_csv_and_json(self):
        database = self.database()
        database.run("insert into bsky.actors (did, handle, indexed_at) values ('did:plc:a', 'a.test', now());"
                     "insert into bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text) select 1, 1, 1, now(), '2026-01-02Z', "
                     "sha256(''), E'\"one\", two\\nthree \\u202e' || repeat('\u00e9', 100)")
        lines = self.query(database, "latest").split("\n")
        self.assertRegex(lines[0], r"^sort_at +name +text +uri$")
        self.assertRegex(lines[1], '^2026-01-02 00:00:00\\+00  a.test  "one", two three \\?\u00e9+ {2,}at://did:plc:a/app.bsky.feed.post/')
        self.assertLess(lines[1].count("\u00e9"), 80)
        self.assertEqual(lines[2], "(1 row)")
        row, = csv.DictReader(io.StringIO(self.query(database, "latest", "--csv")))
        self.assertEqual(row["text"], '"one", two\nthree \u202e' + "\u00e9" * 100)
        text = self.query(database, "latest", "--json")
        self.assertTrue(text.isascii())
        self.assertEqual(json.loads(text)[0]["text"], row["text"])
        self.assertEqual(list(json.loads(text)[0]), ["sort_at", "name", "text", "uri"])
        self.assertIn("(0 rows)", self.query(database, "timeline", "unknown.test"))

    def test_an_argument_is_a_value_and_no_sql(self):
        database = self.database()
        self.assertEqual(json.loads(self.query(database, "search", "'; drop table bsky.posts; --", "--json")), [])
        self.assertEqual(database.value("select count(*) from bsky.posts"), 0)

    def test_wrong_usage_is_explained(self):
        for arguments, text in (
            (("likers",), "there is no query 'likers'; `skua query` lists the queries"),
            (("likes",), "the query needs 1 argument: skua query likes POST"),
            (("latest", "bsky.app"), "the query needs 0 arguments: skua query latest"),
            (("latest", "--csv", "--json"), "--csv"),
            (("latest", "--timeout", "soon"), "--timeout"),
        ):
            with self.subTest(arguments):
                self.assertIn(text, self.query(None, *arguments, code=2))

    def test_a_query_ends_at_its_time_limit(self):
        database = self.database()
        database.run("create or replace function bsky.search(words text, max_rows int4 default 50) returns setof bsky.posts_view "
                     "language sql as 'select p.* from pg_sleep(60) s left join bsky.posts_view p on true'")
        self.assertIn("statement timeout", self.query(database, "search", "words", "--timeout", "1s", code=1))

    def test_a_query_cannot_write(self):
        database = self.database()
        database.run("create or replace function bsky.search(words text, max_rows int4 default 50) returns setof bsky.posts_view "
                     "language plpgsql as $$ begin delete from bsky.posts; return; end $$")
        self.assertIn("read-only transaction", self.query(database, "search", "words", code=1))


if __name__ == "__main__":
    unittest.main()
