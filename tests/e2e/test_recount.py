"""The meaning of records: each item and each count in the tables and views equals a count over the JSON of the records that
a capture leaves. Only the times of indexing come from the database.
"""

import unittest

import content_items
import count_items
import function_items
import graph_items
import projections
import recount
from capture_state import CaptureState
from harness import EndToEnd, need_shared
from items import ItemComparison, Records
from record_changes import change_each_kind
from simulated_capture import SimulatedCapture
from test_replay import repositories

KINDS = content_items.KINDS + graph_items.KINDS + count_items.TABLES + count_items.VIEWS + function_items.KINDS
# The number of items of each kind in the capture, without tag_trends: it depends on the clock.
ITEMS = {
    "invalid record": 66, "facet mention": 272, "facet link": 312, "facet tag": 220, "mention": 278, "tag": 433,
    "link": 533, "host": 502,
    "embed images": 293, "embed gallery": 24, "embed video": 86, "embed external": 186, "embed record": 193,
    "embed recordWithMedia": 82, "image": 902, "captions": 33, "images_without_alt": 359, "has_video": 102,
    "langs": 1663, "tags": 194, "label of posts": 62, "label of profiles": 13, "label of lists": 0,
    "label of feed_generators": 0, "label of labelers": 0, "quote": 275, "reply": 791, "likes": 4468, "reposts": 700,
    "follows": 1197, "blocks": 182, "like_pairs": 4436, "repost_pairs": 700, "follow_pairs": 1113,
    "blocked accounts": 182, "reposts in feeds": 524, "list items": 203, "members of lists": 198,
    "blocks of lists": 18, "starter packs": 10, "verifications": 7, "threadgates": 107, "postgates": 104,
    "posts with a threadgate": 103, "posts with a postgate": 98, "post_stats": 1799, "actor_stats": 80,
    "violates_threadgate": 48, "violates_embedding_rules": 9, "is_hidden": 0, "has_invalid_root": 5,
    "notification like": 4498, "notification like-via-repost": 0, "notification repost": 711,
    "notification repost-via-repost": 0, "notification follow": 1135, "notification mention": 272,
    "notification quote": 229, "notification reply": 939, "notification verified": 7,
    "notification starterpack-joined": 0, "posts_view": 1946, "actors_view": 80,
    "notifications_view": 6699, "references": 3349,
    "likes_of()": 4436, "reposts_of()": 700, "replies_of()": 741, "quotes_of()": 266, "thread()": 1020,
    "followers_of()": 1113, "follows_of()": 1113, "mutuals_of()": 329,
}
# Kinds that the real capture lacks, and the simulated one has.
ONLY_SIMULATED = ("notification like-via-repost", "notification repost-via-repost")


def records_of(database, state):
    """What the frames leave, and the times of indexing in the database."""
    return Records(database, recount.Recount(state.repositories), state.statuses, state.deleted_posts)


class Recounts(EndToEnd):
    def test_the_items_of_a_real_capture_equal_the_json_of_its_records(self):
        data = need_shared()
        database, records, compared = self.compare(data / "pds/frames.bin", repositories(data))
        self.assertGreater(compared.pop("tag_trends"), 0)
        self.assertEqual(compared, ITEMS)
        with self.subTest("a changed row is a difference of each kind"):
            change_each_kind(database)
            comparison = ItemComparison(database, records, KINDS)
            found = {difference.split(":")[0] for difference in comparison.differences}
            self.assertEqual(found, {kind for kind, number in ITEMS.items() if number} | {"tag_trends"})

    def test_the_items_of_a_simulated_capture_equal_the_json_of_its_records(self):
        capture = SimulatedCapture(self, events=4000, accounts=50)
        _, _, compared = self.compare(capture.frames, capture.repositories)
        self.assertGreater(min(compared[kind] for kind in ONLY_SIMULATED), 0)

    def compare(self, frames, repositories_at_end):
        """(database, records, {kind: number of items})"""
        state = CaptureState(frames.read_bytes())
        self.assertEqual(state.repositories.keys(), repositories_at_end.keys())
        for did, repository in repositories_at_end.items():
            self.assertEqual(state.repositories[did].records, repository.records, did)
        database = self.database()
        projections.add(database.url)
        self.skua(database, "consumers", "run-until-idle")
        self.skua(database, "replay", frames)
        self.skua(database, "consumers", "run-until-idle")
        records = records_of(database, state)
        comparison = ItemComparison(database, records, KINDS)
        self.assertEqual(comparison.differences, [])
        return database, records, comparison.compared


if __name__ == "__main__":
    unittest.main()
