"""`skua replay` of captures of a real PDS and of the simulated network: every record, every column; a second replay
changes nothing."""

import json
import unittest

import atproto
import comparison
from harness import EndToEnd, need_shared
from simulated_capture import SimulatedCapture


def repositories(data):
    """The last repositories of 78 accounts: of active accounts, and of hidden accounts before their removal. The two
    deleted accounts have none."""
    statuses = json.loads((data / "pds/repo-status.json").read_text())
    deleted = {did for did, answer in statuses.items() if answer is None}
    chosen = {}
    for folder in ("repos-before-removal", "repos"):
        for file in sorted((data / "pds" / folder).glob("*.car")):
            repository = atproto.Repository(file.read_bytes())
            if repository.did not in deleted:
                chosen[repository.did] = repository
    return chosen


def content(database):
    """Every row of every table of both schemas, without columns for processing times."""
    volatile = {"metrics", "migrations", "schema_files", "cursors"}
    result = {}
    for row in database.rows(
        "select table_schema s, table_name t from information_schema.tables "
        "where table_schema in ('bsky', 'skua') and table_type = 'BASE TABLE' order by 1, 2"
    ):
        if row["t"] not in volatile:
            name = f"{row['s']}.{row['t']}"
            result[name] = sorted(database.run(f"select to_json(q) from {name} q").splitlines())
    return result


class Replay(EndToEnd):
    def test_a_relay_may_write_the_keys_of_its_headers_in_any_order(self):
        """Jetstream's simulated relay writes {op, t}, DAG-CBOR's order is {t, op}."""
        data = need_shared() / "frames"
        database = self.database()
        self.skua(database, "replay", "--verify", "full", "--did-docs", data / "jetstream-simulator.did-docs.json",
                  data / "jetstream-simulator.frames")
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        self.assertEqual(database.value("select count(*) from bsky.posts_view"), 193)
        rows = database.rows("select invalid_reason, count(*) from bsky.records where invalid_reason is not null group by 1")
        self.assertEqual({row["invalid_reason"]: row["count"] for row in rows},
                         {"text: more than 300 graphemes": 9, "rkey: must be self": 18})
        self.assertEqual(database.value("select count(*) from bsky.likes"), 65)

    def test_a_real_capture_becomes_exactly_its_repositories(self):
        data = need_shared()
        database = self.database()
        self.skua(database, "replay", data / "pds/frames.bin")
        chosen = repositories(data)
        self.assertEqual(len(chosen), 78)
        with self.subTest("paths and CIDs"):
            self.assertEqual(comparison.path_differences(database, chosen), [])
        with self.subTest("columns"):
            self.check_columns(database, chosen)
        with self.subTest("statuses"):
            self.check_accounts(database)
        with self.subTest("nothing was rejected"):
            self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        with self.subTest("a check of the stored records"):
            checked = self.skua(database, "lexicon", "check").output()
            self.assertEqual(len(checked), 21)
            self.assertEqual([line for line in checked if not line.endswith(" checked, 0 changed")], [])
        with self.subTest("a second replay"):
            before = content(database)
            self.skua(database, "replay", data / "pds/frames.bin")
            after = content(database)
            for name, rows in before.items():
                self.assertEqual(rows, after[name], name)
            self.assertEqual(database.value("select count(*) from skua.cursors"), 0)

    def test_a_simulated_capture_becomes_exactly_its_repositories(self):
        capture = SimulatedCapture(self, events=4000, accounts=50)
        database = self.database()
        replay = ["replay", "--verify", "full", "--did-docs", capture.documents, capture.frames]
        self.skua(database, *replay)
        self.assertEqual(len(capture.repositories), 50)
        self.assertEqual(comparison.path_differences(database, capture.repositories), [])
        columns = comparison.ColumnComparison(database, capture.repositories)
        self.assertEqual(columns.differences, [])
        records = sum(len(repository.records) for repository in capture.repositories.values())
        self.assertGreater(records, 2500)
        self.assertEqual(sum(columns.checked.values()), records)
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        before = content(database)
        self.skua(database, *replay)
        self.assertEqual(content(database), before)

    def test_a_capture_of_a_labeler_becomes_its_labels(self):
        labels = [{"ver": 1, "src": "did:plc:" + "l" * 24, "uri": uri, "val": "spam", "cts": "2026-01-02T03:04:05Z"}
                  for uri in ("did:plc:" + "a" * 24, "https://example.com/page")]
        frames = self.folder / "labeler.frames"
        frames.write_bytes(atproto.write_capture(
            atproto.encode_frame("#labels", {"seq": seq, "labels": [label]}) for seq, label in enumerate(labels, 1)))
        database = self.database()
        program = self.skua(database, "replay", "--verify", "none", frames)
        self.assertIn("replayed: 2 frames, 2 events, 2 rows changed, 0 unchanged, 0 dead letters", program.output())
        self.assertEqual(database.value("select json_agg(subject_uri order by seq) from bsky.labels_view"),
                         ["at://" + labels[0]["uri"], labels[1]["uri"]])
        before = content(database)
        self.skua(database, "replay", "--verify", "none", frames)
        self.assertEqual(content(database), before)

    def test_labelers_without_a_repository_are_valid(self):
        reports = need_shared() / "reports"
        if not reports.is_dir():
            self.skipTest("needs the folder reports of ../shared/data")
        database = self.database()
        program = self.skua(database, "replay", "--verify", "full", "--did-docs",
                            reports / "labeler-without-repository.did-docs.json",
                            reports / "labeler-without-repository.frames")
        self.assertIn("verified: 5 labels", program.output())
        self.assertEqual(database.value("select json_agg(val order by seq) from bsky.labels_view"),
                         ["full", "onlylabel", "nopds", "nokey", "nohandle"])
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)

    def test_malformed_handles_of_identity_messages_are_absent(self):
        frames = need_shared() / "reports/malformed-handles.frames"
        if not frames.exists():
            self.skipTest("needs the folder reports of ../shared/data")
        database = self.database()
        program = self.skua(database, "replay", "--verify", "none", frames)
        self.assertTrue(any(line.startswith("replayed: 60 frames, 60 events, ") for line in program.output()), program.tail())
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)
        self.assertEqual(database.value("select count(*) from bsky.posts_view"), 30)
        handles = {row["handle"] for row in database.rows("select handle from bsky.actors")}
        self.assertEqual({handle for handle in handles if not handle.endswith(".test")}, {"x.onion"})

    def check_columns(self, database, chosen):
        columns = comparison.ColumnComparison(database, chosen)
        self.assertEqual(columns.differences, [])
        self.assertEqual(sum(columns.checked.values()), 9529)
        self.assertEqual(
            columns.invalid,
            {
                ("app.bsky.feed.post", "createdAt"): 18,
                ("app.bsky.feed.post", "text"): 10,
                ("app.bsky.graph.follow", "createdAt"): 18,
                ("app.bsky.feed.like", "subject.uri"): 20,
            },
        )

    def check_accounts(self, database):
        rows = database.rows("select did, handle, active, status from bsky.actors where active is not null")
        inactive = sorted(row["status"] for row in rows if not row["active"])
        self.assertEqual(inactive, ["deactivated", "deactivated", "deleted", "deleted", "takendown"])
        data = need_shared()
        handles = dict(line.split() for line in (data / "pds/dids.txt").read_text().splitlines() if line)
        for row in rows:
            if row["active"]:
                self.assertEqual(row["handle"], handles[row["did"]], row["did"])


if __name__ == "__main__":
    unittest.main()
