"""For a mistyped command or option skua suggests the most similar one; the exit code is 2."""

import subprocess
import unittest

from harness import EndToEnd


class UnknownWords(EndToEnd):
    def test_what_was_meant(self):
        for program, arguments, answer in (
            ("skua", ["statsu"], "unknown command 'statsu'; did you mean 'status'?"),
            ("skua", ["tap", "stat"], "unknown command 'stat'; did you mean 'skua tap stats'?"),
            ("skua", ["backfill", "statsu"], "did you mean 'skua backfill status'?"),
            ("skua", ["identity", "imprt", "x.jsonl"], "did you mean 'skua identity import'?"),
            ("skua", ["help", "repo", "reysnc"], "did you mean 'skua repo resync'?"),
            ("skua", ["run", "--databse", "postgresql:///x"], "unknown option '--databse'; did you mean '--database'?"),
            ("skua", ["status", "--jsno"], "did you mean '--json'?"),
            ("skua", ["status", "--log-levle=warn"], "did you mean '--log-level'?"),
            ("skua", ["frobnicate"], "unknown command 'frobnicate'; `skua --help` lists them"),
            ("skua", ["status", "--frobnicate"], "unknown option '--frobnicate'; `skua status --help` lists them"),
            ("skua-sim", ["--acounts", "5"], "unknown option '--acounts'; did you mean '--accounts'?"),
        ):
            with self.subTest(arguments):
                done = subprocess.run([self.binary(program), *arguments], capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(answer, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
