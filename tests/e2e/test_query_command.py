"""`skua query`: it runs the queries of docs/queries.md by name."""

import csv
import io
import json
import re
import unittest

import filled
from harness import Database, EndToEnd
from test_documents import queries, variables

POST = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/3l6oveex3ii2l"
# A post of an account, which a reply and 60 likes refer to, and another account without records.
SMALL = """
insert into bsky.actors (id, did, handle, indexed_at) overriding system value
  select n, case n when 1 then 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' else 'did:plc:n' || n end, case n when 1 then 'a.test' else 'n' || n || '.test' end, now()
  from generate_series(1, 61) n;
insert into bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text)
  values (1, bsky.tid_number('3l6oveex3ii2l'), 1, now(), now(), sha256(''), 'first');
insert into bsky.likes (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor, subject_collection, subject_rkey)
  select n, n, 1, now(), now() - n * interval '1 second', sha256(''), 1, 1, bsky.tid_number('3l6oveex3ii2l') from generate_series(2, 61) n;
"""


def arguments_of(statement):
    return list(dict.fromkeys(re.findall(r":'(\w+)'", statement)))


def example_values():
    return {name: value.strip("'") for name, value in re.findall(r"^\\set (\w+) (.*)$", variables(), re.MULTILINE)}


class QueryCommand(EndToEnd):
    def query(self, database, *arguments, code=0):
        program = self.skua(database, "query", *arguments, code=code)
        return "\n".join(program.stdout if code == 0 else program.stderr)

    def rows(self, database, *arguments):
        return json.loads(self.query(database, *arguments, "--json"))["rows"]

    def small(self):
        database = self.database()
        database.run(SMALL)
        return database

    def test_the_list_has_each_query_with_its_arguments_and_title(self):
        listed = self.query(None)
        for name, statement in queries().items():
            line = re.escape(" ".join([name, *(argument.upper() for argument in arguments_of(statement))]))
            self.assertRegex(listed, rf"(?m)^  {line} {{2,}}[A-Z]\w+")
        self.assertEqual(len(re.findall(r"(?m)^[A-Z]", listed)), 6)

    def test_each_query_runs_with_the_values_of_the_document_and_its_help_names_its_columns(self):
        database = self.database()
        filled.fill(database, rows=300, accounts=20, known=200)
        values, with_rows = example_values(), 0
        for name, statement in queries().items():
            with self.subTest(name):
                arguments = [values[argument] for argument in arguments_of(statement)]
                # All rows: a limit may choose among rows that are equal in the order.
                rows = self.rows(database, name, *arguments, "--limit", "all")
                whole = re.sub(r"/\*limit\*/ \d+", "null", statement)
                psql = database.run(f"{variables()}select coalesce(json_agg(row_to_json(q)), '[]') from ({whole}) q;")
                self.assertEqual(rows, json.loads(psql))
                text = "\n".join(self.skua(None, "query", name, "--help").stdout)
                if rows:
                    with_rows += 1
                    self.assertIn(f"The columns are {', '.join(rows[0])}.", text)
                for argument in arguments_of(statement):
                    self.assertRegex(text, rf"(?m)^  {argument.upper()} REQUIRED +(?:A|The|Text)\w* ")
                for kind, need in re.findall(r"^-- needs (projection|index) (\w+);", statement, re.MULTILINE):
                    self.assertIn({"projection": f"`skua consumers add {need}`", "index": f"`skua index add {need}`"}[kind], text)
                example = re.search(rf"Example:\n  skua query ({name}.*)\n", text + "\n")[1]
                self.assertTrue(self.query(None, *re.sub("'", "", example).split(" ", len(arguments)), "--sql"))
        self.assertGreater(with_rows, 35)

    def test_the_help_of_a_query_is_also_that_of_skua_help(self):
        self.assertEqual(self.query(None, "likes", "--help"), "\n".join(self.skua(None, "help", "query", "likes").stdout))

    def test_a_table_csv_and_json(self):
        database = self.database()
        database.run("insert into bsky.actors (did, handle, indexed_at) values ('did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'a.test', now());"
                     "insert into bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text) select 1, 1, 1, now(), "
                     "'2026-01-02T03:04:05.678Z', sha256(''), E'\"one\", two\\nthree \\u202e' || repeat('\u00e9', 100)")
        lines = self.query(database, "latest").split("\n")
        self.assertRegex(lines[0], r"^sort_at +name +text +uri$")
        self.assertRegex(lines[1], '^2026-01-02 03:04:05  a.test  "one", two three \\?\u00e9{100}  at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/')
        self.assertEqual(lines[2], "(1 row)")
        row, = csv.DictReader(io.StringIO(self.query(database, "latest", "--csv")))
        self.assertEqual(row["text"], '"one", two\nthree \u202e' + "\u00e9" * 100)
        text = self.query(database, "latest", "--json")
        self.assertTrue(text.isascii())
        answer = json.loads(text)
        self.assertEqual(list(answer), ["rows", "more", "notes"])
        self.assertEqual(answer["rows"][0]["text"], row["text"])
        self.assertEqual(list(answer["rows"][0]), ["sort_at", "name", "text", "uri"])
        self.assertEqual({answer["rows"][0]["sort_at"], row["sort_at"]}, {"2026-01-02T03:04:05.678+00:00"})
        self.assertIn("(0 rows)", self.query(database, "tag", "none"))
        self.assertEqual(self.query(database, "record", self.rows(database, "latest")[0]["uri"]).split("\n")[0], "{")

    def test_an_argument_is_a_value_and_no_sql(self):
        database = self.database()
        self.assertEqual(self.rows(database, "search", "'; drop table bsky.posts; --"), [])
        self.assertEqual(database.value("select count(*) from bsky.posts"), 0)

    def test_more_rows_are_stated_and_limit_prints_them(self):
        database = self.small()
        more = "note: there are more rows than these 50: --limit NUMBER or --limit all prints them, and this command prints the next ones"
        for format_ in ((), ("--csv",), ("--json",)):
            program = self.skua(database, "query", "likes", POST, *format_)
            self.assertEqual(more in program.stderr, format_ != ("--json",))
        answer = json.loads("\n".join(program.stdout))
        self.assertEqual((len(answer["rows"]), answer["more"]), (50, True))
        self.assertIn(more.removeprefix("note: "), [note["text"] for note in answer["notes"]])
        for limit, rows, is_more in (("3", 3, True), ("59", 59, True), ("60", 60, False), ("all", 60, False)):
            answer = json.loads(self.query(database, "likes", POST, "--limit", limit, "--json"))
            self.assertEqual((len(answer["rows"]), answer["more"]), (rows, is_more), limit)
        self.assertEqual(answer["rows"][0]["name"], "n2.test")
        # A query without a limit of its own.
        answer = json.loads(self.query(database, "records", "n5.test", "--limit", "1", "--json"))
        self.assertEqual((len(answer["rows"]), answer["more"]), (1, False))
        database.run("insert into bsky.blocks (actor_id, rkey, rev, indexed_at, cid, subject_actor) values (5, 1, 1, now(), sha256(''), 6)")
        answer = json.loads(self.query(database, "records", "n5.test", "--limit", "1", "--json"))
        self.assertEqual((len(answer["rows"]), answer["more"]), (1, True))
        for wrong in ("0", "-1", "1.5", "many", "2000000000"):
            text = self.query(None, "likes", POST, f"--limit={wrong}", code=2)
            self.assertIn(f"--limit: '{wrong}' is not a whole number from 1 to 1000000000, and not `all`", text)

    def test_each_limit_of_a_query_is_one_that_the_option_replaces(self):
        for name, statement in queries().items():
            with self.subTest(name):
                marked = len(re.findall(r"/\*limit\*/ \d", statement))
                self.assertEqual(marked, "limit" in statement, "mark the limit of the rows")
                last = re.search(r"(?<!\*/ )\b\d+$", statement)
                self.assertIsNone(last and re.search(r"limit \d+$", statement))

    def test_the_statement_with_its_arguments_runs_in_psql(self):
        database = self.small()
        sql = self.query(None, "likes", POST, "--limit", "7", "--sql")
        self.assertEqual(database.run(sql).count("\n"), 6)
        self.assertEqual(database.run(self.query(None, "likes", POST, "--limit", "all", "--sql")).count("\n"), 59)
        self.assertIn("'it''s'", self.query(None, "search", "it's", "--sql"))
        database.run(self.query(None, "search", "it's", "--sql"))
        self.assertRegex(self.query(None, "counts", POST, "--limit", "3", "--sql"), r"\nlimit 3;$")
        # A database that does not answer.
        away = self.skua(Database("postgresql://127.0.0.1:1/x"), "query", "latest", "--sql")
        self.assertEqual("\n".join(away.stdout), self.query(None, "latest", "--sql"))
        self.assertTrue(away.says("note: the database cannot be asked whether it is a query database"), away.tail())

    def test_an_argument_without_the_form_is_refused(self):
        for name, argument, form in (
            ("timeline", "no account", "not an account: give a DID, a handle, or the bsky.app URL"),
            ("timeline", "https://example.com/profile/a.test", "not an account: give a DID, a handle, or the bsky.app URL"),
            ("post", "notauri", "not a post: give an AT-URI (at://ACCOUNT/app.bsky.feed.post/RKEY)"),
            ("post", "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.graph.list/3l6oveex3ii2l", "not a post: give an AT-URI (at://ACCOUNT/app.bsky.feed.post/RKEY)"),
            ("post", "https://bsky.app/profile/a.test", "or a bsky.app URL"),
            ("likes", "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post", "at://ACCOUNT/COLLECTION/RKEY"),
            ("likes", "https://bsky.app/profile/a.test/post/", "at://ACCOUNT/COLLECTION/RKEY"),
            ("backlinks", "no name", "a record or an account"),
            ("search", " - ", "not text to search for: give words"),
            ("tag", "#", "not a tag: give a word"),
            ("link", "bsky.social/about", "a URL with its scheme"),
            ("labelled", "two words", "not a label: give its value"),
        ):
            with self.subTest(name, argument=argument):
                text = self.query(None, name, argument, code=2)
                self.assertIn(f"skua query {name}: '{argument}' is not ", text)
                self.assertIn(form, text)
                self.assertIn(", such as ", text)
        self.query(None, "unhidden-posts", "a.test", "no account", code=2)

    def test_accounts_and_records_have_several_names(self):
        database = self.small()
        for post in (POST, "at://a.test/app.bsky.feed.post/3l6oveex3ii2l", "https://bsky.app/profile/A.test/post/3l6oveex3ii2l?ref=b#c",
                     "bsky.app/profile/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/post/3l6oveex3ii2l"):
            self.assertEqual(self.rows(database, "post", post)[0]["text"], "first", post)
        for account in ("a.test", "@A.test", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "https://bsky.app/profile/a.test", POST):
            self.assertEqual(len(self.rows(database, "timeline", account)), 1, account)

    def test_an_unknown_account_or_record_is_an_error_with_its_cure(self):
        database = self.small()
        unknown = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/3l6oveex3ii2m"
        for arguments, texts in (
            (("timeline", "none.test"), ("no account in the database has the handle none.test", "skua identity none.test", "skua backfill none.test")),
            (("counts", "at://none.test/app.bsky.feed.post/3l6oveex3ii2l"), ("the handle none.test", "skua backfill none.test")),
            (("account", "did:plc:nnnnnnnnnnnnnnnnnnnnnnnn"), ("the account did:plc:nnnnnnnnnnnnnnnnnnnnnnnn is not in the database", "skua backfill did:plc:nnnnnnnnnnnnnnnnnnnnnnnn")),
            (("counts", unknown), (f"the record {unknown} is not in the database", "skua backfill did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")),
            (("likes", "at://a.test/app.bsky.feed.generator/none"), ("is not in the database", "skua backfill a.test")),
            (("backlinks", "none.test"), ("skua backfill none.test",)),
            (("unhidden-posts", "a.test", "none.test"), ("skua backfill none.test",)),
        ):
            with self.subTest(arguments):
                error = self.query(database, *arguments, code=1)
                for text in texts:
                    self.assertIn(text, error)

    def test_what_is_not_stored_of_an_account_or_record_is_stated(self):
        database = self.small()
        database.run("insert into skua.repositories (did, state) values ('did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'complete'), ('did:plc:n2', 'partial');"
                     "update bsky.actors set active = false, status = 'takendown' where id = 3;"
                     "insert into bsky.posts (actor_id, rkey, rev, indexed_at, is_deleted) values "
                     "(1, bsky.tid_number('3l6oveex3ii2m'), 0, now(), false), (1, bsky.tid_number('3l6oveex3ii2n'), 0, now(), true);")

        def notes(*arguments):
            return [(note["text"], *note["commands"]) for note in json.loads(self.query(database, *arguments, "--json"))["notes"]]

        self.assertEqual(notes("timeline", "a.test"), [])
        (text, command), = notes("timeline", "n2.test")
        self.assertIn("the repository of n2.test is not complete", text)
        self.assertIn("/skua backfill n2.test", command)
        self.assertEqual(notes("timeline", "n3.test"), [("the account n3.test is takendown: its records are not shown",)])
        (text, command), = notes("likes", POST.replace("ii2l", "ii2m"))
        self.assertIn("is not stored, only records that refer to it", text)
        self.assertIn("backfill did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", command)
        self.assertEqual(notes("likes", POST.replace("ii2l", "ii2n"))[0], (f"the post {POST.replace('ii2l', 'ii2n')} was deleted",))
        # A record of a collection without stubs.
        database.run("update bsky.likes set subject_collection = 6")
        feed = POST.replace("feed.post", "feed.generator")
        self.assertIn("is not stored, only records", notes("likes", feed)[0][0])
        self.assertEqual(len(self.rows(database, "likes", feed)), 50)

    def test_wrong_usage_is_explained(self):
        for arguments, text in (
            (("likers",), "did you mean 'skua query likes'?"),
            (("likes",), "RECORD is required; `skua query likes --help` says more"),
            (("latest", "bsky.app"), "bsky.app; `skua query latest --help` says more"),
            (("latest", "--csv", "--json"), "--csv"),
            (("latest", "--sql", "--json"), "--sql"),
            (("latest", "--timeout", "soon"), "--timeout"),
        ):
            with self.subTest(arguments):
                self.assertIn(text, self.query(None, *arguments, code=2))
        # A word may be the name of another query.
        self.assertIn("'likes'", self.query(None, "search", "likes", "--sql"))

    def test_a_query_ends_at_its_time_limit(self):
        database = self.database()
        database.run("create or replace function bsky.search(words text, max_rows int4 default 50, before timestamptz default null, last_uri text default null) returns setof bsky.posts_view "
                     "language sql as 'select p.* from pg_sleep(60) s left join bsky.posts_view p on true'")
        self.assertIn("statement timeout", self.query(database, "search", "words", "--timeout", "1s", code=1))

    def test_a_query_cannot_write(self):
        database = self.database()
        database.run("create or replace function bsky.search(words text, max_rows int4 default 50, before timestamptz default null, last_uri text default null) returns setof bsky.posts_view "
                     "language plpgsql as $$ begin delete from bsky.posts; return; end $$")
        self.assertIn("read-only transaction", self.query(database, "search", "words", code=1))


if __name__ == "__main__":
    unittest.main()
