"""`--help` of every command: it shows types instead of TEXT, and an example; and the other ways to get help."""

import re
import subprocess
import unittest

from harness import ROOT, EndToEnd


class Help(EndToEnd):
    def run_skua(self, *arguments, program="skua"):
        return subprocess.run(
            [self.binary(program), *arguments], capture_output=True, text=True, timeout=60, check=False,
        )

    def test_the_settings_in_settings_md_are_those_of_the_program(self):
        table = self.run_skua("help", "settings", "--markdown").stdout
        self.assertIn(f"\n{table}\n", (ROOT / "docs/settings.md").read_text(), "paste `skua help settings --markdown`")
        flags = set(re.findall(r"^\| `(--[a-z-]+)", table, re.MULTILINE))
        self.assertEqual({line.split()[0] for line in self.run_skua("help", "settings").stdout.splitlines()
                          if line.startswith("--")}, flags)

    def test_the_metrics_in_metrics_md_are_those_of_the_program(self):
        table = self.run_skua("help", "metrics", "--markdown").stdout
        document = (ROOT / "docs/metrics.md").read_text()
        self.assertIn(f"\n{table}", document, "paste `skua help metrics --markdown`")
        names = re.findall(r"^\| `(skua_[a-z0-9_]+)` \|", table, re.MULTILINE)
        self.assertGreater(len(names), 70)
        self.assertEqual(re.findall(r"^skua_\w+$", self.run_skua("help", "metrics").stdout, re.MULTILINE), names)

    def test_the_problems_in_problems_md_are_those_of_the_program(self):
        sections = self.run_skua("help", "problems", "--markdown").stdout
        self.assertIn(f"\n{sections}\n", (ROOT / "docs/problems.md").read_text(),
                      "paste `skua help problems --markdown`")
        codes = re.findall(r"^### (\S+)$", sections, re.MULTILINE)
        self.assertGreater(len(codes), 20)
        listed = self.run_skua("help", "problems").stdout
        self.assertEqual(re.findall(r"^([a-z-]+)  +\S", listed, re.MULTILINE), codes)
        self.assertRegex(self.run_skua("help", codes[0]).stdout,
                         rf"^{codes[0]}: .+\n\nCause: .+\n\nWhat to do: .+\n$")

    def test_the_commands_that_cures_name_exist(self):
        text = self.run_skua("help", "problems", "--markdown").stdout
        for line in set(re.findall(r"`skua ([^`]+)`", text)):
            words = [word for word in line.split() if re.fullmatch(r"[a-z-]+", word) and word[0] != "-"]
            with self.subTest(line):
                done = self.run_skua("help", *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                for flag in re.findall(r"--[a-z-]+", line):
                    self.assertIn(flag, done.stdout)

    def test_helps_name_no_variable_that_is_not_a_setting(self):
        table = self.run_skua("help", "settings", "--markdown").stdout
        named = {name for _, text in self.all_commands() for name in re.findall(r"SKUA_[A-Z_]+", text)}
        self.assertEqual(named - set(re.findall(r"SKUA_[A-Z_]+", table)), {"SKUA_CONFIG"})

    def test_commands_md_has_every_command(self):
        document = (ROOT / "docs/commands.md").read_text()
        for path, _ in self.all_commands():
            if len(path) == 1:
                self.assertIn(f"`skua {path[0]}", document)

    def help_of(self, path):
        done = self.run_skua(*path, "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def subcommands(self, help_text):
        section = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_text, re.MULTILINE)
        return re.findall(r"^  (\w[\w-]*)", section.group(1), re.MULTILINE) if section else []

    def all_commands(self, path=()):
        text = self.help_of(path)
        yield path, text
        for name in self.subcommands(text):
            yield from self.all_commands((*path, name))

    def test_each_command_has_an_example_of_its_own_and_typed_options(self):
        commands = dict(self.all_commands())
        self.assertGreater(len(commands), 30)
        for path in (("run",), ("backfill", "status"), ("identity", "import"), ("completion", "zsh")):
            self.assertIn(path, commands)
        for path, text in commands.items():
            with self.subTest(" ".join(path)):
                examples = text.rpartition("Example")[2]
                self.assertIn(" ".join(("skua", *path)), examples)
                for option in re.findall(r"^  -.*$", text, re.MULTILINE):
                    self.assertNotRegex(option, r"\b(TEXT|U?INT|FLOAT)\b")
                self.assertEqual(self.run_skua("help", *path).stdout, text)

    def test_types_and_alternatives_are_shown(self):
        for path, parts in (
            (["run"], ["--relay URL", "--database URL", "--did DID", "--filter-file FILE",
                       "--verify full|signature|none", "--decode-threads NUMBER"]),
            (["record"], ["--frames NUMBER", "--cursor live|oldest|NUMBER"]),
            ([], ["--config FILE", "-q,--quiet", "-V,--version"]),
        ):
            text = self.help_of(path)
            for part in parts:
                self.assertIn(part, text)

    def test_the_simulator_shows_types(self):
        done = self.run_skua("--help", program="skua-sim")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("TEXT", done.stdout)
        self.assertIn("--port PORT", done.stdout)

    def test_the_version_by_each_name(self):
        versions = {self.run_skua(word).stdout for word in ("-V", "--version", "version")}
        self.assertEqual(len(versions), 1)
        self.assertRegex(versions.pop(), r"^skua \d+\.\d+\.\d+\n$")
        self.assertRegex(self.run_skua("-V", program="skua-sim").stdout, r"^skua-sim \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
