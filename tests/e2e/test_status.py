"""`skua status` and similar commands: the roles for which they work, and their times."""

import json
import re
import unittest
import urllib.parse
import uuid

from harness import BIN, EndToEnd, wait_for
from made import Network

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
# PostgreSQL's own format: a space, and an offset.
OTHER_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
DID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"


def strings(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


class Status(EndToEnd):
    def filled(self):
        """A database in which every kind of time occurs."""
        database = self.database()
        network = Network()
        network.account("counted").post("one")
        capture = self.folder / "one.capture"
        capture.write_bytes(network.capture())
        relay = self.sim(capture)
        skua = self.indexer(database, relay.url, "--cursor", "oldest")
        wait_for("the post", lambda: database.value("select count(*) from bsky.posts") == 1, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        database.run(
            "insert into skua.dead_letter (consumer, key, error, payload) values ('test', 'k', 'broken', 'x');"
            f"insert into skua.backfill_jobs (did, state, error, created_at, next_attempt, finished_at) values "
            f"('{DID}', 'failed', 'gone', now(), now(), now());"
            f"insert into skua.repositories (did, rev, active, breaks, broke_at, state, next_attempt, attempts, error) "
            f"values ('{DID}', 5, true, 1, now(), 'desynchronized', now(), 1, 'no answer')"
        )
        return database

    def test_times_are_rfc_3339(self):
        database = self.filled()
        for arguments, least in (
            (["status", "--json"], 5), (["backfill", "status", "--json"], 1), (["repo", "info", DID, "--json"], 4),
        ):
            with self.subTest(arguments):
                answer = json.loads("\n".join(self.skua(database, *arguments).stdout))
                times = [text for text in strings(answer) if OTHER_TIME.match(text)]
                self.assertGreaterEqual(len(times), least, answer)
                for time in times:
                    self.assertRegex(time, f"^{RFC3339.pattern}$")

    def test_the_reader_may_ask(self):
        database = self.filled()
        reader = "reader_" + uuid.uuid4().hex[:12]
        database.run(f"create role {reader} login password 'secret' in role skua_reader")
        self.addCleanup(database.run, f"drop role {reader}")
        parts = urllib.parse.urlsplit(database.url)
        place = parts.netloc.rpartition("@")[2]
        url = urllib.parse.urlunsplit(parts._replace(netloc=f"{reader}:secret@{place}"))
        environment = {**self.environment(database), "SKUA_DATABASE_URL": url}

        def ask(*arguments):
            program = self.start([BIN / "skua", *arguments], environment)
            self.assertEqual(program.wait(60), 0, program.tail())
            return program

        status = ask("status")
        self.assertTrue(status.says("broken"), status.tail())
        self.assertTrue(status.says("1 waiting for a resync"), status.tail())
        self.assertTrue(ask("backfill", "status").says("1 failed"))
        self.assertTrue(ask("repo", "info", DID).says("desynchronized"))
        self.assertTrue(ask("filter", "show").says("all records of all accounts"))
        program = self.start([BIN / "skua", "filter", "add", "--did", DID], environment)
        self.assertEqual(program.wait(60), 1, program.tail())


if __name__ == "__main__":
    unittest.main()
