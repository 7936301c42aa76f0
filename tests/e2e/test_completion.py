"""Completion scripts, in the shells themselves: the candidates come from the program's own commands."""

import os
import shutil
import subprocess
import unittest

from harness import BIN, EndToEnd

# Does what bash does at the tab key, and prints the candidates.
BASH = """
source <(skua completion bash)
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_skua 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(EndToEnd):
    def setUp(self):
        super().setUp()
        self.environment_of_shell = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}

    def shell(self, *command):
        done = subprocess.run(command, env=self.environment_of_shell, cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def offered(self, *words):
        return self.shell("bash", "-c", BASH, "bash", "skua", *words).split()

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(self.offered("stat"), ["status"])
        self.assertEqual(self.offered("backfill", "re"), ["retry"])
        self.assertEqual(self.offered("help", "tap", "st"), ["stats"])
        self.assertEqual(self.offered("run", "--verif"), ["--verify"])
        self.assertEqual(self.offered("status", "--log-l"), ["--log-level"])
        self.assertIn("identity", self.offered(""))

    def test_bash_completes_names(self):
        self.assertEqual(self.offered("query", "lik"), ["likes"])
        self.assertEqual(self.offered("help", "query", "most-l"), ["most-liked"])
        self.assertEqual(self.offered("query", "likes", "--li"), ["--limit"])
        self.assertEqual(self.offered("query", "likes", "uri", "--limit", ""), ["all"])
        self.assertEqual(self.offered("export", "likes_v"), ["likes_view"])
        self.assertEqual(self.offered("export", "bsky.like"), ["bsky.likes"])
        self.assertEqual(self.offered("export", "timel"), ["timeline"])
        self.assertEqual(self.offered("export", "likes_view", "--format", ""), ["csv", "jsonl", "parquet"])
        for command in ("add", "status", "rebuild", "run-until-idle"):
            self.assertEqual(self.offered("consumers", command, "post_"), ["post_rules", "post_stats"])
        for command in ("add", "remove"):
            self.assertEqual(self.offered("index", command, "s"), ["search"])
        self.assertEqual(self.offered("help", "disk-"), ["disk-full", "disk-low"])
        self.assertEqual(self.offered("help", "metr"), ["metrics"])

    def test_bash_completes_values_also_after_an_equals_sign(self):
        self.assertEqual(self.offered("run", "--verify", ""), ["full", "signature", "none"])
        # bash passes '=' as a separate word.
        self.assertEqual(self.offered("run", "--verify", "=", "sig"), ["signature"])
        self.assertEqual(self.offered("run", "--verify", "="), ["full", "signature", "none"])

    def test_bash_completes_names_of_files(self):
        (self.folder / "monday one.frames").touch()
        (self.folder / "mondays").mkdir()
        offered = self.shell("bash", "-c", BASH, "bash", "skua", "replay", "mon").splitlines()
        self.assertCountEqual(offered, ["monday one.frames", "mondays"])
        self.assertEqual(self.offered("backfill", "--car-dir", "mon"), ["mondays"])

    def test_bash_registers_it(self):
        self.assertIn("_skua", self.shell("bash", "-c", "source <(skua completion bash); complete -p skua"))

    def test_the_syntax_of_the_other_shells(self):
        for shell in ("zsh", "fish"):
            script = self.folder / shell
            script.write_text(self.shell("skua", "completion", shell))
            self.assertIn("completion words --", script.read_text())
            if shutil.which(shell):
                self.shell(shell, "-n", str(script))


if __name__ == "__main__":
    unittest.main()
