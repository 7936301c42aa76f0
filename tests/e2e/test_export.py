"""`skua export`: tables, views, answers and statements as CSV and JSON lines. The files are read back and compared with the
database, also after an export was killed and continued. DuckDB makes Parquet of them, as docs/export.md says."""

import collections
import csv
import io
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import uuid

import filled
import projections
import read_back
from harness import BIN, Database, EndToEnd, need_python, server_url, wait_for, with_database

LONG = os.environ.get("SKUA_LONG") == "1"
ALL = ("posts_view", "likes_view", "actors_view", "labels_view", "records_view")


class ExportTest(EndToEnd):
    def export(self, database, *arguments, code=0):
        """What it wrote to stdout and stderr."""
        done = subprocess.run([BIN / "skua", "export", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300, env={**os.environ, **self.environment(database)}, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    templates = {}

    def filled(self, **options):
        """A new database with rows. It is a copy of one that is filled once for all tests of the class."""
        Database.seconds = 1800 if LONG else Database.seconds
        options = {"rows": 2000, "accounts": 50, "known": 300, **options}
        key = (type(self), *options.items())
        if key not in self.templates:
            name = self.templates[key] = "e2e_filled_" + uuid.uuid4().hex[:16]
            template, admin = (Database(with_database(server_url(), one)) for one in (name, "postgres"))
            admin.run(f"create database {name}")
            self.addClassCleanup(template.drop)
            self.skua(template, "migrate")
            filled.fill(template, **options)
        return self.database(migrated=False, template=self.templates[key])

    def assert_equal_rows(self, database, relation, table):
        expected = read_back.fingerprint(database, relation)
        self.assertGreater(int(expected.split("|")[0]), 0)
        self.assertEqual(read_back.fingerprint(database, table), expected)


class Export(ExportTest):
    def test_each_table_and_view_is_the_same_when_it_is_read_back(self):
        database = self.filled()
        projections.add(database.url)
        self.assertEqual(projections.differences(database.url), [])
        database.run("""update bsky.posts set text = E'"a, b"\\r\\n\\\\N\\n\\té\\u202e' where actor_id = 3;
                        update bsky.posts set text = '', langs = '', tags = array['a,b', 'c"d', 'null', ''] where actor_id = 4;
                        update bsky.posts set created_at = '0001-01-01T00:00:00Z' where actor_id = 5;
                        update bsky.actors set active = false where id = 6""")
        views = [row["name"] for row in database.rows(
            "select relname as name from pg_class where relnamespace = 'bsky'::regnamespace and relkind = 'v'")]
        self.assertGreater(len(views), 30)
        columns = collections.defaultdict(list)
        for row in database.rows("select attrelid::regclass::text as relation, attname as name, format_type(atttypid, null) as type "
                                 "from pg_attribute where attnum > 0 and not attisdropped and attrelid in (select oid from pg_class "
                                 "where relnamespace = 'bsky'::regnamespace and relkind = 'v') order by attrelid, attnum"):
            columns[row["relation"]].append((row["name"], row["type"]))
        script = []
        for name in views:
            relation, files = f"bsky.{name}", {form: self.folder / f"{name}.{form}" for form in ("csv", "jsonl")}
            for form, file in files.items():
                self.export(database, relation, "--format", form, "--output", file, "--range", 500)
            script += [read_back.csv_script(files["csv"], columns[relation], f"public.csv_{name}"),
                       read_back.jsonl_script(files["jsonl"], relation, f"public.jsonl_{name}"),
                       *(read_back.fingerprint_sql(one) + ";" for one in (relation, f"public.csv_{name}", f"public.jsonl_{name}"))]
        prints = iter(database.run("\n".join(script)).splitlines())
        with_rows = 0
        for name, expected, *found in zip(views, prints, prints, prints):
            self.assertEqual(found, [expected] * 2, name)
            with_rows += not expected.startswith("0|")
        self.assertEqual(name, views[-1])
        self.assertGreater(with_rows, 25)

    def test_tables(self):
        database = self.filled()
        for name in ("likes", "posts", "actors", "labels", "records", "collections", "profiles"):
            with self.subTest(name):
                rows = list(csv.DictReader(io.StringIO(self.export(database, f"bsky.{name}", "--range", 100))))
                self.assertEqual(len(rows), database.value(f"select count(*) from bsky.{name}"))
                self.assertEqual(list(rows[0]), [column for column, _ in read_back.columns_of(database, f"bsky.{name}")])
                lines = self.export(database, f"bsky.{name}", "--format", "jsonl").splitlines()
                self.assertEqual(len({json.dumps(json.loads(line)) for line in lines}), len(rows))
        like = json.loads(self.export(database, "bsky.likes", "--format", "jsonl").splitlines()[0])
        key = database.rows(f"select rkey::text, bsky.cid_text(cid) as cid, created_at from bsky.likes where (actor_id, rkey) = "
                            f"({like['actor_id']}, {like['rkey']})")[0]
        # Keys exceed 2^53, so they are texts; account numbers do not.
        self.assertEqual({name: like[name] for name in key}, key)
        self.assertIsInstance(like["actor_id"], int)
        self.assertIsInstance(like["subject_rkey"], str)

    def test_views_hide_what_they_hide_and_tables_do_not(self):
        database = self.filled()
        database.run("update bsky.actors set active = false where id = 5")
        count = lambda name: self.export(database, name, "--columns", "actor_id").splitlines()[1:].count("5")
        self.assertEqual(count("likes_view"), 0)
        self.assertGreater(count("bsky.likes"), 0)

    def test_columns_since_and_sample(self):
        database = self.filled()
        text = self.export(database, "posts_view", "--columns", "text, uri", "--columns=langs")
        self.assertEqual(text.splitlines()[0], "text,uri,langs")
        for name, time in (("posts_view", "sort_at"), ("likes_view", "least(created_at, indexed_at)"), ("actors_view", "indexed_at")):
            moment = database.value(f"select percentile_disc(0.3) within group (order by {time}) from bsky.{name}")
            with self.subTest(name):
                expected = database.value(f"select count(*) from bsky.{name} where {time} >= '{moment}'")
                self.assertGreater(expected, 0)
                self.assertEqual(len(self.export(database, name, "--since", moment, "--format", "jsonl").splitlines()), expected)
        # No row has a time near the limit, which moves.
        database.run("update bsky.likes set created_at = created_at - interval '1 year' "
                     "where created_at < (select max(created_at) from bsky.likes) - interval '10 minutes'")
        recent = database.value("select count(*) from bsky.likes_view where created_at > now() - interval '100 days'")
        self.assertGreater(recent, 5)
        self.assertEqual(self.export(database, "likes_view", "--since", "1d", "--format", "jsonl").count("\n"), recent)
        accounts = {}
        for name in ("likes_view", "posts_view", "all_records"):
            lines = self.export(database, name, "--sample", "30%", "--columns", "actor_id", "--format", "jsonl", "--range", 77).splitlines()
            accounts[name] = {json.loads(line)["actor_id"] for line in lines}
            whole = database.value(f"select count(*) from bsky.{name} where actor_id = any('{accounts[name]}')")
            self.assertEqual(len(lines), whole, "all rows of the accounts")
        self.assertEqual(accounts["likes_view"], accounts["posts_view"])
        self.assertLessEqual(accounts["posts_view"], accounts["all_records"])
        self.assertTrue(5 < len(accounts["likes_view"]) < 25)

    def test_an_answer_has_the_rows_of_skua_query(self):
        database = self.filled()
        for words in (("followers", "bsky.app"), ("timeline", "bsky.app"), ("tag", "art")):
            with self.subTest(words):
                answer = json.loads("\n".join(self.skua(database, "query", *words, "--limit", "all", "--json").stdout))["rows"]
                self.assertGreater(len(answer), 1)
                exported = [json.loads(line) for line in self.export(database, *words, "--format", "jsonl").splitlines()]
                self.assertCountEqual(map(json.dumps, exported), map(json.dumps, answer))

    def test_a_statement(self):
        database = self.filled()
        sql = "select langs[1] as lang, count(*) from bsky.posts_view group by 1 order by 1 -- by language\n;"
        self.assertEqual(self.export(database, "--sql", sql.strip()).splitlines(),
                         ["lang,count", *(f"{row['lang']},{row['count']}" for row in database.rows(sql.strip(";")))])
        numbers = "select n as id, n % 7 as value from generate_series(1, 5000) n"
        text = self.export(database, "--sql", numbers, "--key", "id", "--range", 100, "--output", self.folder / "n.csv")
        self.assertEqual(text, "")
        lines = (self.folder / "n.csv").read_text().splitlines()
        self.assertEqual(sorted(int(line.split(",")[0]) for line in lines[1:]), list(range(1, 5001)))
        for sql, message in (
            ("select 1) as q; drop table bsky.likes; select * from (select 1", "multiple commands"),
            ("delete from bsky.likes returning 1", "syntax error"),
            ("select 1 as a, 2 as a", "two columns have the name a"),
            ("select nothing", 'column "nothing" does not exist'),
        ):
            with self.subTest(sql):
                done = subprocess.run([BIN / "skua", "export", "--sql", sql], capture_output=True, text=True, timeout=60, check=False,
                                      env={**os.environ, **self.environment(database)})
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")
        # A statement that writes through a function.
        database.run("create function public.writes() returns int4 language sql as 'delete from bsky.likes returning 1'")
        self.assertIn("read-only transaction", self.export(database, "--sql", "select public.writes()", code=1))
        self.assertGreater(database.value("select count(*) from bsky.likes"), 0)

    def test_wrong_names_and_options(self):
        database = self.filled()
        for arguments, message in (
            (["post_view"], "did you mean 'posts_view'? `skua export` lists the tables and views, `skua query` the questions"),
            (["bsky.lkes_view"], "did you mean 'likes_view'?"),
            (["zzzzzz"], "there is no table, view or question 'zzzzzz'; `skua export` lists"),
            (["pg_catalog.pg_authid"], "there is no table, view or question"),
            (["likes"], "`skua export bsky.likes` exports the rows of the table or view"),
            (["followers"], "the question followers has 1 argument: skua export followers ACCOUNT"),
            (["posts_view", "x"], "'x' is one word too many"),
            (["posts_view", "--columns", "uri,txt"], "posts_view has no column 'txt'; did you mean 'text'? Its columns are uri, did"),
            (["posts_view", "--columns", "uri,uri"], "uri occurs twice"),
            (["posts_view", "--since", "soon"], "and not a time such as 2026-07-04T14:00:00Z"),
            (["posts_view", "--sample", "5"], "'5' is not a part from 0.0001% to 100%, such as 1%"),
            (["posts_view", "--sample", "0%"], "'0%' is not a part"),
            (["tag_trends", "--sample", "5%"], "tag_trends has no key of whole numbers"),
            (["bsky.collections", "--since", "1d"], "none of the columns sort_at, created_at and indexed_at"),
            (["posts_view", "--resume"], "--resume needs --output FILE"),
            (["posts_view", "--sql", "select 1"], "give a name or --sql, not both"),
            (["--sql", "select 'a' as a", "--key", "a"], "has no column 'a' of whole numbers"),
            (["posts_view", "--format", "xml"], "'xml'"),
        ):
            with self.subTest(arguments):
                self.assertIn(message, self.export(database, *arguments, code=2))

    def test_the_list(self):
        database = self.database()
        lines = self.export(database).splitlines()
        names = {line.split()[0] for line in lines}
        self.assertEqual(names, {row["name"] for row in database.rows(
            "select relname as name from pg_class where relnamespace = 'bsky'::regnamespace and relkind in ('r', 'v')")})
        for line in lines:
            self.assertRegex(line, r"^\w+ {2,}[A-Z]\w*")

    def test_a_reader_exports_and_writes_nothing(self):
        database = self.filled()
        role = "export_" + uuid.uuid4().hex[:12]
        database.run(f"create role {role} login password 'of-this-test' in role skua_reader")
        self.addCleanup(database.run, f"drop role {role}")
        parts = urllib.parse.urlsplit(database.url)
        reader = Database(parts._replace(netloc=f"{role}:of-this-test@{parts.netloc.rpartition('@')[2]}").geturl())
        file = self.folder / "likes.csv"
        self.export(reader, "likes_view", "--output", file)
        read_back.read_csv(database, file, "bsky.likes_view", "public.back")
        self.assert_equal_rows(database, "bsky.likes_view", "public.back")
        self.export(reader, "timeline", "bsky.app")
        self.assertIn("permission denied", self.export(reader, "--sql", "select * from skua.lock_secret", code=1))

    def test_a_reader_of_stdout_that_leaves(self):
        database = self.filled(rows=20_000, only=("posts",))
        done = subprocess.run(["bash", "-c", f"set -o pipefail; '{BIN}/skua' export posts_view | head -1"], capture_output=True, text=True,
                              timeout=120, env={**os.environ, **self.environment(database)}, check=False)
        self.assertTrue(done.stdout.startswith("uri,did,"))
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_the_memory_does_not_grow_with_the_rows(self):
        database = self.database()
        # 200 MB of rows, of which the largest has a megabyte.
        sql = "select n as id, repeat(md5(n::text), case n when 100 then 32768 else 320 end) as text from generate_series(1, 20000) n"
        file = self.folder / "large.csv"
        process = subprocess.Popen([BIN / "skua", "export", "--sql", sql, "--output", file], stderr=subprocess.DEVNULL,
                                   env={**os.environ, **self.environment(database)})
        peak = 0  # in kilobytes; the maximum of wait4 would include the memory of this process before the exec
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            peak = max([peak, *map(int, re.findall(r"VmHWM:\s+(\d+)", status))])
            time.sleep(0.02)
        self.assertEqual(process.returncode, 0)
        self.assertGreater(peak, 0)
        self.assertGreater(file.stat().st_size, 200_000_000)
        # A sanitizer needs more.
        if "release" in str(BIN.resolve()):
            self.assertLess(peak, 60_000)


class KilledTest(ExportTest):
    range = 200

    def arguments(self, file, *more):
        return ["likes_view", "--output", file, "--range", self.range, *more]

    def checkpoint(self, file):
        path = pathlib.Path(f"{file}.checkpoint")
        return json.loads(path.read_text()) if path.exists() else {"rows": -1}

    def begin(self, database, file, *more):
        return self.start([BIN / "skua", "export", *self.arguments(file, *more)], self.environment(database))

    def unfinished(self, database, file, number=signal.SIGKILL, *more):
        """Leaves an export that a signal ended after some rows."""
        program = self.begin(database, file, "--resume", *more)
        before = self.checkpoint(file)["rows"]
        wait_for("another range", lambda: self.checkpoint(file)["rows"] > max(before, 0) or file.exists(), every=0.002)
        program.signal(number)
        return program.wait()


class Continued(KilledTest):
    def many_likes(self):
        return self.filled(rows=60_000, accounts=2000, known=2000, only=("likes",))

    def test_kills_neither_double_nor_lose_a_row(self):
        database = self.many_likes()
        whole = self.folder / "whole.csv"
        self.export(database, *self.arguments(whole))
        file, kills = self.folder / "killed.csv", 0
        while not file.exists() and kills < 12:
            kills += self.unfinished(database, file) != 0
        self.assertGreaterEqual(kills, 5)
        self.export(database, *self.arguments(file, "--resume")) if not file.exists() else None
        self.assertEqual(sorted(file.read_bytes().splitlines()), sorted(whole.read_bytes().splitlines()))
        read_back.read_csv(database, file, "bsky.likes_view", "public.back")
        self.assert_equal_rows(database, "bsky.likes_view", "public.back")
        self.assertEqual([path.name for path in self.folder.glob("killed.csv*")], ["killed.csv"])

    def test_a_stop_says_how_to_continue(self):
        database = self.many_likes()
        file = self.folder / "stopped.jsonl"
        self.assertEqual(self.unfinished(database, file, signal.SIGTERM), 1)
        self.assertIn("--resume continues it, --replace begins again", self.export(database, *self.arguments(file), code=1))
        for other in (["--columns", "uri"], ["--format", "jsonl"], ["--sample", "5%"], ["--since", "1d"]):
            self.assertIn("is of another export", self.export(database, *self.arguments(file, "--resume", *other), code=1))
        self.assertIn("is of another export", self.export(self.database(), *self.arguments(file, "--resume"), code=1))
        # A row that appears behind the key is not in the file; one that appears after the beginning of its account's range is.
        self.export(database, *self.arguments(file, "--resume"))
        read_back.read_csv(database, file, "bsky.likes_view", "public.back")
        self.assert_equal_rows(database, "bsky.likes_view", "public.back")
        self.assertIn("exists: --replace replaces it", self.export(database, *self.arguments(file), code=1))
        self.export(database, *self.arguments(file, "--replace"))

    def test_the_time_of_since_is_that_of_the_beginning(self):
        database = self.many_likes()
        file = self.folder / "since.csv"
        program = self.begin(database, file, "--since", "40000m")
        wait_for("a range", lambda: self.checkpoint(file)["rows"] > 0, every=0.002)
        program.signal(signal.SIGKILL)
        program.wait()
        since = self.checkpoint(file)["since"]
        # Rows whose time was before the beginning, but would not be before a later one.
        self.export(database, *self.arguments(file, "--since", "40000m", "--resume"))
        rows = len(file.read_text().splitlines()) - 1
        self.assertEqual(rows, database.value(f"select count(*) from bsky.likes_view where least(created_at, indexed_at) >= '{since}'"))

    def test_one_snapshot(self):
        database = self.many_likes()
        file = self.folder / "snapshot.csv"
        before = read_back.fingerprint(database, "bsky.likes_view")
        program = self.begin(database, file, "--one-snapshot")
        part = pathlib.Path(f"{file}.part")
        wait_for("rows", lambda: (part.exists() and part.stat().st_size > 0) or file.exists(), every=0.002)
        database.run("delete from bsky.likes where actor_id > 1900")
        self.assertEqual(program.wait(), 0, program.tail())
        read_back.read_csv(database, file, "bsky.likes_view", "public.back")
        self.assertEqual(read_back.fingerprint(database, "public.back"), before)


class ParquetTest(ExportTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.python = need_python(pathlib.Path(folder.name), "duckdb")

    def make_parquet(self, database, name, file, *more):
        """Runs the printed steps, with further words for the export."""
        head, command, rest = self.export(database, name, "--format", "parquet", "--output", file, code=2).split("\n", 2)
        self.assertIn("DuckDB writes Parquet", head)
        steps = "\n".join([shlex.join([*shlex.split(command), *map(str, more)]), rest]).replace("python3", self.python)
        done = subprocess.run(["sh", "-e"], input=steps, capture_output=True, text=True, timeout=1800, cwd=self.folder, check=False,
                              env={**os.environ, **self.environment(database), "PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stderr)


class Parquet(ParquetTest):
    def test_the_printed_steps_make_a_file_with_the_same_rows_and_types(self):
        database = self.filled()
        database.run("update bsky.posts set langs = '', tags = array['a,b', 'c\"d'], text = E'\"x\"\\n' where actor_id = 4")
        for name in ALL:
            with self.subTest(name):
                file = self.folder / f"{name}.parquet"
                self.make_parquet(database, name, file)
                read_back.read_parquet(database, self.python, file, f"bsky.{name}", f"public.{name}")
                self.assert_equal_rows(database, f"bsky.{name}", f"public.{name}")
                types = subprocess.run([self.python, "-c", f"import duckdb; print(duckdb.sql(\"describe from '{file}'\").fetchall())"],
                                       capture_output=True, text=True, timeout=60, check=True).stdout
                if name == "posts_view":
                    self.assertRegex(types, r"'rkey', 'BIGINT'.*'has_video', 'BOOLEAN'")
                    self.assertRegex(types, r"'langs', 'VARCHAR\[\]'")


class Many(KilledTest, ParquetTest):
    """Each form of many rows, killed and continued, and read back. With SKUA_LONG=1 a million rows."""

    rows, range = (1_000_000, 20_000) if LONG else (20_000, 100)

    def killed(self, database, file, *more):
        """Leaves an unfinished export, after three kills."""
        kills = 0
        for _ in range(3):
            if not file.exists():
                kills += self.unfinished(database, file, signal.SIGKILL, *more) != 0
        self.assertGreater(kills, 0)

    def test_each_form(self):
        database = self.filled(rows=self.rows, accounts=2000, known=2000, only=("likes",))
        expected = read_back.fingerprint(database, "bsky.likes_view")
        self.assertEqual(int(expected.split("|")[0]), self.rows)
        for form in ("csv", "jsonl", "parquet"):
            with self.subTest(form):
                file, began = self.folder / f"likes.{form}", time.monotonic()
                if form == "parquet":
                    (self.folder / "likes.jsonl").unlink()
                    self.killed(database, self.folder / "likes.jsonl", "--format", "jsonl")
                    self.make_parquet(database, "likes_view", file, "--range", self.range, "--resume")
                else:
                    self.killed(database, file, "--format", form)
                    self.export(database, *self.arguments(file, "--format", form, "--resume"))
                seconds = time.monotonic() - began
                if form == "parquet":
                    read_back.read_parquet(database, self.python, file, "bsky.likes_view", f"public.{form}")
                else:
                    read = {"csv": read_back.read_csv, "jsonl": read_back.read_jsonl}[form]
                    read(database, file, "bsky.likes_view", f"public.{form}")
                self.assertEqual(read_back.fingerprint(database, f"public.{form}"), expected)
                if LONG:
                    print(f"{form}: {self.rows} rows, {file.stat().st_size / 1e6:.0f} MB, {seconds:.0f} s with the kills", flush=True)


if __name__ == "__main__":
    unittest.main()
