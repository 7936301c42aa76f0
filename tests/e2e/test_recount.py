"""The meaning of the records of a real PDS: each item and each count in the tables and views equals a count over the JSON
of the records that the capture leaves.

Nothing of the expected side comes from the database, except the times of indexing.
"""

import unittest

import capture_state
import content_items
import count_items
import function_items
import graph_items
import projections
import recount
from harness import EndToEnd, need_shared
from items import ItemComparison, Records
from record_changes import change_each_kind
from test_replay import repositories

KINDS = content_items.KINDS + graph_items.KINDS + count_items.TABLES + count_items.VIEWS + function_items.KINDS
# The number of items of each kind in the capture, without tag_trends: it depends on the clock.
ITEMS = {
    "facet mention": 272, "facet link": 312, "facet tag": 220, "mention": 278, "tag": 433, "link": 533, "host": 502,
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
    "notification quote": 229, "notification reply": 948, "posts_view": 1946, "actors_view": 80,
    "notifications_view": 6708, "references": 3349,
    "likes_of()": 4436, "reposts_of()": 700, "replies_of()": 741, "quotes_of()": 266, "thread()": 1020,
    "followers_of()": 1113, "follows_of()": 1113, "mutuals_of()": 329,
}


class Recount(EndToEnd):
    def test_the_items_of_a_real_capture_equal_the_json_of_its_records(self):
        data = need_shared()
        state = capture_state.CaptureState((data / "pds/frames.bin").read_bytes())
        self.check_state(state, repositories(data))
        database = self.database()
        projections.add(database.url)
        self.skua(database, "consumers", "run-until-idle")
        self.skua(database, "replay", data / "pds/frames.bin")
        self.skua(database, "consumers", "run-until-idle")

        expected = recount.Recount(state.repositories)
        self.check_invalid(database, expected)
        records = Records(database, expected, state.statuses, state.deleted_posts)
        comparison = ItemComparison(database, records, KINDS)
        self.assertEqual(comparison.differences, [])
        self.assertGreater(comparison.compared.pop("tag_trends"), 0)
        self.assertEqual(comparison.compared, ITEMS)
        with self.subTest("a changed row is a difference of each kind"):
            change_each_kind(database)
            comparison = ItemComparison(database, records, KINDS)
            found = {difference.split(":")[0] for difference in comparison.differences}
            self.assertEqual(found, {kind for kind, number in ITEMS.items() if number} | {"tag_trends"})

    def check_state(self, state, cars):
        """What the frames leave is what the PDS returned as repositories."""
        self.assertEqual(state.repositories.keys(), cars.keys())
        for did, repository in cars.items():
            self.assertEqual(state.repositories[did].records, repository.records, did)

    def check_invalid(self, database, expected):
        rows = database.rows("select bsky.uri(actor_id, collection_id, rkey) as uri from bsky.records "
                             "where invalid_reason is not null")
        self.assertEqual({row["uri"] for row in rows}, expected.invalid)
        self.assertEqual(len(expected.invalid), 66)


if __name__ == "__main__":
    unittest.main()
