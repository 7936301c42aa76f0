"""`skua run` is killed with -9 in the middle of a capture, repeatedly; the result must be the same."""

import os
import random
import signal
import unittest

import atproto
import comparison
import projections
from harness import SHARED, EndToEnd, free_port, need_shared, wait_for
from simulated_capture import SimulatedCapture
from test_replay import repositories

SEED = 20261120
FRAMES_A_SECOND = 400


def revisions(frames):
    """[(seq, rev as a number)] of the commits, in order. Their revs increase with time over all accounts."""
    result = []
    for frame in frames:
        header, body = atproto.decode_frame(frame)
        if header.get("t") == "#commit" and body["ops"]:
            result.append((body["seq"], atproto.tid_number(body["rev"])))
    return result


class Crash(EndToEnd):
    def newest_rev(self):
        """The newest rev in any of the big tables."""
        tables = ("posts", "likes", "follows", "reposts")
        union = " union all ".join(f"select max(rev) r from bsky.{table}" for table in tables)
        return self.db.value(f"select coalesce(max(r), 0) from ({union}) t")

    def saved_cursor(self):
        return self.db.value("select max(cursor) from skua.cursors")

    def start_indexer(self):
        """Starts it; checks that it requests the stored cursor, and returns the requested cursor."""
        saved = self.saved_cursor()
        arguments = [] if saved is not None else ["--cursor", "oldest"]
        before = len(self.relay.cursors())
        program = self.indexer(self.db, self.relay.url, *arguments)
        wait_for("the connection", lambda: len(self.relay.cursors()) > before, alive=[program])
        self.assertEqual(self.relay.cursors()[before], saved or 0)
        return program

    def capture(self):
        """The file and the repositories at its end: of a real PDS, or without ../shared of the simulated network."""
        if (SHARED / "data").is_dir():
            data = need_shared()
            return data / "pds/frames.bin", repositories(data)
        simulated = SimulatedCapture(self, events=6000, accounts=60)
        return simulated.frames, simulated.repositories

    def test_killed_at_ten_positions_it_comes_to_the_same_end(self):
        file, expected = self.capture()
        frames = list(atproto.read_capture(file.read_bytes()))
        commits = revisions(frames)
        highest = max(atproto.decode_frame(frame)[1]["seq"] for frame in frames)
        kills = 30 if os.environ.get("SKUA_LONG") == "1" else 10
        chosen = sorted(random.Random(SEED).sample(range(200, len(commits) - 200), kills))
        self.db = self.database()
        projections.add(self.db.url)
        self.relay = self.sim(file, "--port", str(free_port()), "--rate", str(FRAMES_A_SECOND))
        asked = []
        for index in chosen:
            seq, rev = commits[index]
            program = self.start_indexer()
            asked.append(self.relay.cursors()[-1])
            wait_for(f"the rows of seq {seq}", lambda: self.newest_rev() >= rev, seconds=90, alive=[program])
            program.signal(signal.SIGKILL)
            self.assertEqual(program.wait(), -signal.SIGKILL)
            saved = self.saved_cursor()
            if saved is not None:
                self.assertGreaterEqual(saved, asked[-1], "the cursor went back")
        self.assertGreater(max(asked), 0, "no start had a cursor to continue from")

        program = self.start_indexer()
        wait_for("the last frame's cursor", lambda: self.saved_cursor() == highest, seconds=120, alive=[program])
        self.assertEqual(program.stop(), 0)

        self.assertEqual(comparison.path_differences(self.db, expected), [])
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)
        self.assertEqual(comparison.change_log_differences(self.db), [])
        self.assertEqual(projections.differences(self.db.url), [])

        # Each row equals the result of one uninterrupted replay, revs included.
        straight = self.database()
        self.skua(straight, "replay", file)
        projections.add(straight.url)
        self.assertEqual(projections.differences(straight.url), [])
        query = "select uri, cid, rev from bsky.all_records order by uri"
        self.assertEqual(self.db.run(query).splitlines(), straight.run(query).splitlines())
        for table in ("actors", "rkeys", "collections"):
            count = f"select count(*) from bsky.{table}"
            self.assertEqual(self.db.value(count), straight.value(count), table)


if __name__ == "__main__":
    unittest.main()
