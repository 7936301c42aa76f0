"""What the documents tell people to type works.

Commands of README.md are run as they stand, line by line, except for those that would leave the machine
or take an hour; SUBSTITUTES says what is run in their place. A command that is neither runnable here nor
named there fails the test, so that a new one is thought about. The SQL of docs/queries.md runs as it is.
"""

import os
import re
import shlex
import subprocess
import unittest

from harness import BIN, ROOT, EndToEnd
from made import busy_network

LIVE = "wss://relay1.us-east.bsky.network"
DATABASE = '--database "$(scripts/pg url)"'
# command in README.md -> what is run here; None: a test of its own runs it (test_run_script.py, and
# test_backfill.py with the simulated network).
SUBSTITUTES = {
    "scripts/run": None,
    "scripts/test": "scripts/test --help",
    f"build/release/bin/skua backfill bsky.app {DATABASE}": None,
    f"build/release/bin/skua backfill --host https://pds.example {DATABASE}": None,
    f"build/release/bin/skua backfill --network --relay {LIVE} {DATABASE}": None,
}
RUNNABLE = ("scripts/pg ", "scripts/build", "build/release/bin/skua ", "build/release/bin/skua-sim ")


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


def queries():
    """The statements of docs/queries.md."""
    return [
        statement
        for block in blocks("docs/queries.md", "sql")
        for statement in re.split(r";\s*$", block, flags=re.MULTILINE)
        if statement.strip()
    ]


def queries_of_the_readme():
    commands = "".join(blocks("README.md", "sh"))
    return re.findall(r'psql -c "(.*)"$', commands, re.MULTILINE)


class Documents(EndToEnd):
    def test_the_commands_of_the_readme(self):
        network, _ = busy_network(accounts=5, rounds=5)
        capture = self.folder / "readme.capture"
        capture.write_bytes(network.capture())
        relay = self.sim(capture)
        os.chmod(self.folder, 0o755)
        environment = {**os.environ, "SKUA_STATE_DIR": str(self.folder / "state"), "SKUA_RELAY": relay.url}

        def shell(command):
            done = subprocess.run(
                ["bash", "-c", command], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=900, check=False,
            )
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")

        self.addCleanup(shell, "scripts/pg destroy")
        commands = [line for block in blocks("README.md", "sh") for line in block.splitlines() if line]
        self.assertGreater(len(commands), 8)
        for command in ("scripts/run", "scripts/test"):
            self.assertIn(command, commands)
        shell("scripts/pg start")
        shell(f'SKUA_DATABASE_URL="$(scripts/pg url)" {shlex.quote(str(BIN / "skua"))} migrate')
        shell(f'SKUA_DATABASE_URL="$(scripts/pg url)" {shlex.quote(str(BIN / "skua"))} replay {capture}')
        # The database must be up for most of them, so that what stops it comes last.
        for command in sorted(commands, key=lambda command: command == "scripts/pg stop"):
            with self.subTest(command):
                if command in SUBSTITUTES:
                    command = SUBSTITUTES[command]
                    if command is None:
                        continue
                elif not command.startswith(RUNNABLE):
                    self.fail("say in SUBSTITUTES how this test runs it")
                command = command.replace(LIVE, relay.url).replace("/tmp/", f"{self.folder}/")
                command = command.replace("build/release/bin", str(BIN))
                if " record " in command:
                    command += " --cursor oldest"
                    command = re.sub(r"--frames \d+", "--frames 20", command)
                shell(command)

    def test_the_queries(self):
        network, _ = busy_network(accounts=3, rounds=3)
        capture = self.folder / "queries.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        statements = queries()
        self.assertGreater(len(statements), 8)
        for statement in statements:
            with self.subTest(statement):
                database.run(statement + ";")

    def test_the_accounts_that_they_name_are_valid(self):
        documents = ("README.md", "docs/operations.md", "docs/queries.md")
        text = "".join((ROOT / document).read_text() for document in documents)
        dids = set(re.findall(r"did:[a-z]+:[^\s\"'`/|,)]+", text))
        before = r"(?:actor_id\('|skua (?:backfill|identity|repo \w+) )"
        handles = set(re.findall(before + r"([a-z0-9-]+(?:\.[a-z0-9-]+)+)", text))
        self.assertGreater(len(dids), 1)
        self.assertGreater(len(handles), 0)
        for did in dids:
            with self.subTest(did):
                self.assertRegex(did, r"^did:plc:[a-z2-7]{24}$")
        for handle in handles:
            with self.subTest(handle):
                # Domains that no handle may have (libs/identity/handle_check.cpp).
                self.assertNotRegex(handle, r"\.(alt|arpa|example|internal|invalid|local|localhost|onion)$")

    def test_links_and_paths_exist(self):
        documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("libs/*.md"), *ROOT.glob("bench/*.md")]
        for document in documents:
            for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
                with self.subTest(f"{document.relative_to(ROOT)}: {target}"):
                    self.assertTrue((document.parent / target).exists())
        for path in re.findall(r"`(libs/[\w/.]+)`", (ROOT / "docs/invariants.md").read_text()):
            with self.subTest(path):
                self.assertTrue((ROOT / path).exists())


if __name__ == "__main__":
    unittest.main()
