"""Settings and exit codes: flag > environment > file > default; 2 for usage, 1 for failure."""

import unittest

from harness import ROOT, EndToEnd, Program
from made import Network


class CommandLine(EndToEnd):
    def run_skua(self, *arguments, environment=None):
        clean = {"SKUA_DATABASE_URL": "", "SKUA_RELAY": "", "SKUA_CONFIG": "", **(environment or {})}
        program = Program([self.binary("skua"), *arguments], clean)
        self.addCleanup(program.kill)
        return program.wait(60), "\n".join(program.output())

    def test_usage_errors_exit_2_and_name_the_flag(self):
        for arguments, words in (
            (["run"], "--relay"),
            (["run", "--relay", "ftp://example.invalid", "--database", "postgresql:///x"], "--relay"),
            (["run", "--relay", "ws://127.0.0.1:1"], "--database"),
            (["run", "--relay", "ws://127.0.0.1:1", "--database", "postgresql:///x", "--cursor", "soon"], "--cursor"),
            (["replay"], "FILE"),
            (["no-such-command"], "unknown command 'no-such-command'"),
            ([], "name a command"),
            (["tap"], "skua tap --help"),
        ):
            with self.subTest(arguments):
                code, output = self.run_skua(*arguments)
                self.assertEqual(code, 2, output)
                self.assertIn(words, output)

    def test_help_and_version_exit_0(self):
        for arguments in (["--help"], ["run", "--help"], ["inspect", "frames", "--help"], ["--version"]):
            code, output = self.run_skua(*arguments)
            self.assertEqual(code, 0, output)

    def test_precedence(self):
        """Each place in turn names a database that does not exist; the error shows which one was used."""
        config = self.folder / "skua.toml"
        config.write_text('database_url = "postgresql://127.0.0.1:1/from_file"\n')
        url = "postgresql://127.0.0.1:1/from_{}"
        flag = ["--database", url.format("flag")]
        environment = {"SKUA_DATABASE_URL": url.format("environment")}
        database = self.database(migrated=False)
        # The place with the highest precedence has a working database, every other place a database that does not
        # exist.
        right = {"SKUA_DATABASE_URL": database.url}
        code, output = self.run_skua("migrate", "--database", database.url, "--config", config, environment=environment)
        self.assertEqual(code, 0, output)
        code, output = self.run_skua("migrate", "--config", config, environment=right)
        self.assertEqual(code, 0, output)
        code, output = self.run_skua("migrate", *flag, "--config", config, environment=right)
        self.assertEqual(code, 1, output)
        code, output = self.run_skua("migrate", "--config", config)
        self.assertEqual(code, 1, output)
        config.write_text(f'database_url = "{database.url}"\n')
        code, output = self.run_skua("migrate", "--config", config)
        self.assertEqual(code, 0, output)
        self.assertIn("up to date", output)

    def test_former_names_of_a_setting_still_work(self):
        """Each place in turn has an invalid value, and so do the places with lower precedence; the error shows which
        one was used."""
        config = self.folder / "skua.toml"
        replay = ["replay", config, "--database", "postgresql:///x", "--config", config]
        former = {"SKUA_FIGURES_EVERY": "0"}
        for flags, environment, key, origin in (
            (["--figures-every", "0"], former, "stats_interval", "--stats-interval"),
            (["--stats-interval", "0"], former, "stats_interval", "--stats-interval"),
            ([], {**former, "SKUA_STATS_INTERVAL": "0"}, "figures_every", "SKUA_STATS_INTERVAL"),
            ([], former, "stats_interval", "SKUA_FIGURES_EVERY"),
            ([], {}, "figures_every", "skua.toml: figures_every"),
        ):
            with self.subTest(origin):
                config.write_text(f"{key} = 0\n")
                code, output = self.run_skua(*replay, *flags, environment=environment)
                self.assertEqual(code, 2, output)
                self.assertIn(f"{origin}: '0'", output)
        code, output = self.run_skua("run", "--help")
        self.assertIn("--stats-interval", output)
        self.assertNotIn("--figures-every", output)

    def test_migrate_says_in_one_line_what_it_did(self):
        database = self.database(migrated=False)
        environment = {"SKUA_DATABASE_URL": database.url}
        code, output = self.run_skua("migrate", environment=environment)
        version = database.value("select max(version) from skua.migrations")
        self.assertEqual((code, output), (0, f"the schema is new: version {version}"))
        self.assertEqual(self.run_skua("migrate", environment=environment),
                         (0, "nothing to do: the schema is up to date"))
        other = {"SKUA_DATABASE_URL": self.database(migrated=False).url}
        code, output = self.run_skua("migrate", "--verbose", "--log-level", "debug", environment=other)
        listed = [line for line in (ROOT / "schema/order.txt").read_text().splitlines() if not line.startswith("#")]
        tables = [label for label in listed if label.startswith("tables/")]
        migrations = sorted(path.stem for path in (ROOT / "schema/migrations").iterdir())
        baseline = next(place for place, label in enumerate(migrations) if label.endswith("_baseline"))
        definitions = [label for label in listed if label != "migrations" and label not in tables]
        labels = tables + migrations[baseline + 1:] + definitions
        lines = output.splitlines()
        self.assertEqual(lines[:len(labels)], [f"applied {label}" for label in labels])
        self.assertEqual(sum("debug store: applied " in line for line in lines), len(labels))

    def test_an_upgrade_names_the_changed_files(self):
        database = self.database()
        environment = {"SKUA_DATABASE_URL": database.url}
        database.run("update skua.schema_files set checksum = 'former' where name = 'views/feed.sql'")
        database.run("drop view skua.dead_letter_errors")
        capture = self.folder / "a.capture"
        capture.write_bytes(Network().capture())
        code, output = self.run_skua("replay", capture, environment=environment)
        self.assertEqual(code, 1, output)
        self.assertIn("has other views or functions than this program: views/feed.sql: run `skua migrate` first", output)
        self.assertEqual(self.run_skua("migrate", environment=environment),
                         (0, "applied 3 files: views/feed.sql, views/dead_letters.sql, rights.sql"))

    def test_a_database_that_is_too_old_is_refused(self):
        database = self.database(migrated=False)
        database.run("create schema skua; create table skua.migrations (version int4, name text, checksum text); "
                     "insert into skua.migrations values (61, 'writer', 'x')")
        code, output = self.run_skua("migrate", environment={"SKUA_DATABASE_URL": database.url})
        self.assertEqual(code, 1, output)
        self.assertIn("the schema of migration 0061_writer", output)
        self.assertIn("from migration 0062 on: create an empty database", output)

    def test_an_unknown_setting_in_the_file(self):
        config = self.folder / "skua.toml"
        config.write_text('databse_url = "x"\n')
        code, output = self.run_skua("migrate", "--config", config)
        self.assertEqual(code, 2, output)
        self.assertIn("databse_url", output)

    def test_a_database_that_was_not_migrated(self):
        database = self.database(migrated=False)
        capture = self.folder / "a.capture"
        capture.write_bytes(Network().capture())
        code, output = self.run_skua("replay", capture, environment={"SKUA_DATABASE_URL": database.url})
        self.assertEqual(code, 1, output)
        self.assertIn("skua migrate", output)

    def test_a_capture_with_a_torn_tail_is_indexed_and_reported(self):
        network = Network()
        network.account("torn").post("whole")
        capture = self.folder / "torn.capture"
        capture.write_bytes(network.capture() + b"\x40\x00\x00\x00abc")
        database = self.database()
        program = self.start([self.binary("skua"), "replay", capture], self.environment(database))
        self.assertIn(program.wait(60), (0, 1))
        self.assertIn("torn.capture", "\n".join(program.output()))
        self.assertEqual(database.value("select text from bsky.posts"), "whole")

    def test_status(self):
        database = self.database()
        network = Network()
        network.account("counted").post("one")
        capture = self.folder / "one.capture"
        capture.write_bytes(network.capture())
        self.skua(database, "replay", capture)
        program = self.skua(database, "status", "--json")
        self.assertTrue("".join(program.stdout).startswith("{"))
        self.skua(database, "status")


if __name__ == "__main__":
    unittest.main()
