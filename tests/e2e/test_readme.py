"""The commands of README.md and of the first pages after it work as written, after `scripts/run` and after
`scripts/run --simulated`.

A simulated network on loopback replaces the live one: the tests replace its names in the commands, and environment
variables tell skua the addresses of its directory and its DNS server. `scripts/test` would run this test again, so its
help runs instead. A line `export NAME=VALUE` changes the environment of the later commands of its page. Blocks of the language `console` need a system of their own: tests/install/package_test runs the
commands that install the package.
"""

import os
import re
import signal
import subprocess
import unittest

from harness import BIN, ROOT, EndToEnd, wait_for
from test_documents import blocks
from test_sim import Network

LIVE = "wss://relay1.us-east.bsky.network"
BINARIES = "build/release/bin"
# Commands that a scenario runs itself, or that would run this test again.
ELSEWHERE = {"scripts/run": "", "scripts/test": "scripts/test --help"}
RUNNABLE = ("export ", "skua ", "scripts/pg ", "scripts/build ", f"{BINARIES}/skua ", f"{BINARIES}/skua-sim ", "cmake --install ", "cpack ")
PAGES = ("README.md", "docs/first-hour.md", "docs/queries.md", "docs/commands.md", "docs/install.md")


def commands(page):
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line]


class Readme(EndToEnd):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.network = Network("--accounts", 30, "--records", 600, "--rate", 20, "--oddities", 0)
        self.addCleanup(self.network.kill)
        self.plain = {"SKUA_STATE_DIR": str(self.folder / "state"), "SKUA_DATABASE_URL": ""}
        # A machine on the internet finds all of these by itself.
        self.online = {**self.plain, "SKUA_RELAY": self.network.url, "SKUA_PLC_URL": self.network.ready["plc"],
                       "SKUA_DNS": self.network.ready["dns"], "SKUA_ALLOW_PRIVATE_HOSTS": "1"}
        self.exported = {}
        self.addCleanup(self.shell, "scripts/pg destroy")

    def shell(self, command):
        done = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env={**os.environ, **self.online, **self.exported},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False,
        )
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def index(self, environment, *arguments):
        """The first steps of a new user: scripts/run until there are posts, then Ctrl-C."""
        program = self.start([ROOT / "scripts/run", *arguments], environment, cwd=ROOT)
        wait_for("the closing hint", lambda: program.says("Ctrl-C stops"), seconds=900, alive=[program])
        hint = next(line.strip() for line in program.stderr if "posts_view" in line)
        wait_for("posts, by the command of the hint", lambda: "(0 rows)" not in self.shell(hint), seconds=60,
                 alive=[program])
        # The README queries languages, which some posts lack.
        languages = 'scripts/pg psql -Atc "select count(*) from bsky.posts_view, unnest(langs)"'
        wait_for("posts with languages", lambda: int(self.shell(languages)) > 0, seconds=60, alive=[program])
        handle = 'scripts/pg psql -Atc "select handle from bsky.actors where handle_valid and active is not false order by id limit 1"'
        self.stored = wait_for("an account with a handle", lambda: self.shell(handle).strip(), seconds=60, alive=[program])
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(35), 0, program.tail())

    def on_loopback(self, command):
        command = command.replace(LIVE, self.network.url).replace("https://pds.example", self.network.ready["hosts"][0])
        handle = self.stored if " query " in command else self.handle
        command = re.sub(r"\bbsky\.app\b(?!\.)", handle, command)
        command = command.replace("/tmp/", f"{self.folder}/").replace(BINARIES, str(BIN))
        if " record " in command:
            command = re.sub(r"--frames \d+", "--frames 20", command) + " --cursor oldest"
        return command

    def check_commands(self, *pages):
        # In the commands it replaces bsky.app. The directory of `self.network` does not know the accounts of `scripts/run --simulated`.
        valid = [account["handle"] for account in self.network.accounts(self.folder / "accounts") if account["handle_valid"]]
        self.handle = self.stored if self.stored in valid else valid[0]
        for page in pages:
            self.exported = {}
            # PostgreSQL must run; a page may end with the command that stops it.
            self.shell("scripts/pg start")
            found = commands(page)
            self.assertGreater(len(found), 2)
            for command in found:
                with self.subTest(command, page=page):
                    self.check_command(command)

    def check_command(self, command):
        self.assertTrue(command.startswith(RUNNABLE) or command in ELSEWHERE, "say in this test how it runs the command")
        command = self.on_loopback(ELSEWHERE.get(command, command))
        if command.startswith("export "):
            name = re.match(r"export (\w+)=", command)[1]
            self.exported[name] = self.shell(f"{command}; printenv {name}").rstrip("\n")
        elif command:
            output = self.shell(command)
            if " psql -c " in command:
                self.assertNotIn("(0 rows)", output)

    def test_after_a_run_against_a_relay(self):
        self.assertLessEqual(ELSEWHERE.keys(), set(commands("README.md")))
        self.index(self.online)
        self.check_commands(*PAGES)

    def test_after_a_simulated_run(self):
        self.index(self.plain, "--simulated")
        self.check_commands("README.md")


if __name__ == "__main__":
    unittest.main()
