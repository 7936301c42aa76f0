"""`skua init`: each use from nothing to the first rows, by flags and by answers on a terminal."""

import os
import pty
import stat
import subprocess
import unittest
import urllib.parse
import uuid

from harness import BIN, Database, closed_port, server_url, wait_for, with_database
from test_run_script import Screen
from test_sim import SimTest

POST, LIKE = "app.bsky.feed.post", "app.bsky.feed.like"


class Init(SimTest):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "skua.toml"

    def new_database(self, user=None):
        """A database that does not exist, dropped at the end of the test."""
        url = with_database(server_url(), "init_" + uuid.uuid4().hex[:16])
        self.addCleanup(Database(url).drop)
        if user is None:
            return Database(url)
        parts = urllib.parse.urlsplit(url)
        return Database(urllib.parse.urlunsplit(parts._replace(netloc=f"{user}@{parts.netloc.rpartition('@')[2]}")))

    def exists(self, database):
        name = urllib.parse.urlsplit(database.url).path[1:]
        server = Database(with_database(server_url(), "postgres"))
        return server.value(f"select exists (select from pg_database where datname = '{name}')")

    def environment_of_init(self):
        """No setting of the environment, except that the database of a test may be lost."""
        clean = {name: "" for name in os.environ if name.startswith("SKUA_")}
        return {**os.environ, **clean, "SKUA_ALLOW_UNSAFE_DATABASE": "true", "SKUA_HTTP": "off"}

    def init(self, *arguments, code=0, before=()):
        """`before`: words before the name of the command."""
        program = self.start([BIN / "skua", *before, "init", *arguments], self.environment_of_init(), cwd=self.folder)
        self.assertEqual(program.wait(120), code, "\n".join(program.output()))
        return program

    def sources(self, network):
        return ("--relay", network.url, "--plc", network.ready["plc"], "--dns", network.ready["dns"],
                "--allow-private-hosts")

    def run_with_file(self):
        return self.start([BIN / "skua", "run", "--config", self.config, "--stats-interval", "1"],
                          self.environment_of_init())

    def test_accounts_with_their_history(self):
        network = self.network("--accounts", "20", "--records", "400", "--rate", "50")
        handles = {account["did"]: account["handle"] for account in network.accounts(self.folder)
                   if account["status"] == "active" and account["handle_valid"]}
        one, other, third = sorted(handles)[:3]
        database = self.new_database()
        arguments = ("--database", database.url, *self.sources(network))
        program = self.init("--account", one, "--account", handles[other], "--projection", "post_stats",
                            "--retention", f"{LIKE}=90d", *arguments)
        self.assertTrue(program.says("created the database"), program.tail())
        self.assertTrue(program.says("2 repositories queued"), program.tail())
        self.assertTrue(program.says("  skua run --config skua.toml"), program.tail())
        self.assertEqual(stat.S_IMODE(self.config.stat().st_mode), 0o644)
        accounts_of_filter = "select coalesce(json_agg(value order by value), '[]') from skua.filter"
        self.assertEqual(database.value(accounts_of_filter), sorted([one, other]))
        self.assertEqual(database.value("select extract(epoch from keep)::int from skua.retention"), 90 * 86_400)
        self.assertEqual(database.value("select name from skua.consumers"), "post_stats")

        program = self.run_with_file()
        wait_for("the history of both", lambda: database.value(
            "select count(*) from skua.backfill_jobs where rev is not null") == 2, alive=[program])
        dids = "select json_agg(distinct did) from bsky.all_records"
        self.assertEqual(sorted(database.value(dids)), sorted([one, other]))
        self.assertEqual(program.stop(), 0, program.tail())

        # The file stays without --force. With it, what differs changes, and a copy stays.
        before = self.config.read_text()
        program = self.init("--account", third, *arguments, code=2)
        self.assertTrue(program.says("--force replaces it"), program.tail())
        self.assertEqual(self.config.read_text(), before)
        again = ("--account", one, "--account", third, "--projection", "post_stats", *arguments, "--force")
        program = self.init(*again)
        self.assertTrue(program.says("nothing to do: the schema is up to date"), program.tail())
        self.assertTrue(program.says("1 repository queued"), program.tail())
        self.assertEqual(database.value(accounts_of_filter), sorted([one, third]))
        self.assertEqual(sorted(path.name for path in self.folder.glob("skua.toml*")), ["skua.toml"])
        standby = f"ws://127.0.0.1:{closed_port()}"
        self.init(*again, "--relay", standby)
        self.assertEqual((self.folder / "skua.toml.1").read_text(), before)
        self.assertIn(f'relay = "{network.url} {standby}"\n', self.config.read_text())

    def test_collections_and_the_network(self):
        network = self.network("--accounts", "20", "--records", "100", "--rate", "100")
        for name, arguments, only in (("posts.toml", ("--collection", POST), {POST}),
                                      ("all.toml", ("--use", "network"), None)):
            with self.subTest(arguments):
                database = self.new_database()
                self.config = self.folder / name
                program = self.init(*arguments, "--database", database.url, *self.sources(network),
                                    before=("--config", self.config))
                self.assertTrue(program.says("skua backfill --"), program.tail())
                program = self.run_with_file()
                wait_for("rows", lambda d=database: d.value("select count(*) from bsky.all_records") > 30,
                         alive=[program])
                found = set(database.value("select json_agg(distinct collection) from bsky.all_records"))
                if only:
                    self.assertEqual(found, only)
                else:
                    self.assertGreater(len(found), 3)
                self.assertEqual(program.stop(), 0, program.tail())

    def test_what_is_missing_or_wrong_without_a_terminal(self):
        for arguments, words in (
            ((), "needed: --use accounts|collections|network, --database URL"),
            (("--use", "accounts", "--database", "postgresql:///x"), "needed: --account WHO"),
            (("--use", "network", "--database", "x"), "expected postgresql://"),
            (("--collection", POST, "--database", "postgresql:///x", "--relay", "notaurl"), "--relay: 'notaurl'"),
        ):
            with self.subTest(arguments):
                program = self.init(*arguments, code=2)
                self.assertTrue(program.says(words), program.tail())
        self.assertFalse(self.config.exists())

    def test_a_role_that_may_not_create_a_database(self):
        role = "init_" + uuid.uuid4().hex[:12]
        server = Database(with_database(server_url(), "postgres"))
        server.run(f"create role {role} login password 'secret'")
        self.addCleanup(server.run, f"drop role {role}")
        database = self.new_database(f"{role}:secret")
        name = urllib.parse.urlsplit(database.url).path[1:]
        nobody = f"127.0.0.1:{closed_port()}"
        arguments = ("--use", "network", "--database", database.url, "--relay", f"ws://{nobody}", "--plc",
                     f"http://{nobody}")
        program = self.init(*arguments, code=1)
        self.assertTrue(program.says(f"the role {role} may not create it"), program.tail())
        self.assertTrue(program.says(f"createdb --owner={role} --encoding=UTF8 --template=template0 {name}"),
                        program.tail())
        self.assertFalse(program.says("secret"), program.tail())
        self.assertFalse(self.config.exists())
        # After the superuser's command, the same line works. The file has a password.
        server.run(f"create database {name} owner {role} encoding 'UTF8' template template0")
        program = self.init(*arguments, code=1)
        self.assertTrue(program.says("the schema is new"), program.tail())
        self.assertTrue(program.says(nobody), program.tail())
        self.assertEqual(stat.S_IMODE(self.config.stat().st_mode), 0o600)
        self.assertTrue(database.value("select count(*) from skua.schema_files") > 20)
        database.drop = lambda: Database(with_database(server_url(), name)).drop()
        database.drop()

    def test_the_questions_on_a_terminal(self):
        network = self.network("--accounts", "10", "--records", "50", "--rate", "20")
        database = self.new_database()
        dialogue = (("Use [accounts]: ", "collections"), ("Collections: ", "posts"), ("Collections: ", POST),
                    ("Database [postgresql:///skua]: ", database.url),
                    (f"Relay [wss://relay1.us-east.bsky.network]: ", network.url),
                    ("Projections, or nothing: ", "post_stats"), ("or nothing: ", f"{LIKE}=30d"), ("[Y/n]: ", "y"))
        # Ctrl-C at each question, the last one included, leaves nothing.
        for end in (0, 3, len(dialogue) - 1):
            with self.subTest(end):
                process, screen = self.answer(dialogue[:end], network)
                wait_for("the question", lambda e=end: screen.text.endswith(dialogue[e][0]))
                os.write(screen.descriptor, b"\x03")
                self.assertEqual(process.wait(30), -2, screen.text)
                self.assertFalse(self.config.exists())
                self.assertFalse(self.exists(database))
        process, screen = self.answer(dialogue, network)
        self.assertEqual(process.wait(120), 0, screen.text)
        wait_for("the next command", lambda: "skua run --config skua.toml" in screen.text)
        self.assertIn("--collection: 'posts' is neither", screen.text)
        self.assertIn(f"retention    {LIKE} for 30d", screen.text)
        self.assertEqual(database.value("select json_agg(value) from skua.filter"), [POST])
        self.assertEqual(database.value("select name from skua.consumers"), "post_stats")

    def answer(self, dialogue, network):
        """A program on a terminal, and its screen, after these answers."""
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        arguments = self.sources(network)[2:]

        def control_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = subprocess.Popen(
            [BIN / "skua", "init", *arguments], stdin=terminal, stdout=terminal, stderr=terminal, cwd=self.folder,
            env=self.environment_of_init(), preexec_fn=control_terminal)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.kill)
        os.close(terminal)
        screen = Screen(main)
        for question, reply in dialogue:
            wait_for(question, lambda q=question: screen.text.endswith(q))
            length = len(screen.text) + len(reply)
            os.write(main, reply.encode() + b"\n")
            wait_for("the echo", lambda n=length: len(screen.text) > n)
        return process, screen


if __name__ == "__main__":
    unittest.main()
