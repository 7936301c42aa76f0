"""Random networks, in parts: after each part the tables and views equal a count over the JSON of the records, and the
projections are the ones that a build makes."""

import collections
import os
import unittest

import atproto
import made
import projections
from capture_state import CaptureState
from harness import EndToEnd
from items import ItemComparison
from random_network import RandomNetwork
from test_recount import KINDS, records_of

PARTS = 4
# Kinds that the real capture lacks.
RARE = ("is_hidden", "notification like-via-repost", "notification repost-via-repost", "label of lists")


class RandomNetworks(EndToEnd):
    def begin(self):
        """An empty database with all projections."""
        self.db = self.database()
        projections.add(self.db.url)
        self.skua(self.db, "consumers", "run-until-idle")
        self.seen = []

    def follow(self, frames):
        """Stores frames, and returns the comparison with all frames so far."""
        file = self.folder / "frames"
        file.write_bytes(atproto.write_capture(frames))
        self.skua(self.db, "replay", file)
        self.seen += frames
        self.assertEqual(projections.differences(self.db.url), [])
        state = CaptureState(atproto.write_capture(self.seen))
        comparison = ItemComparison(self.db, records_of(self.db, state), KINDS)
        self.assertEqual(comparison.differences, [])
        return comparison.compared

    def test_random_records_equal_their_json(self):
        found = collections.Counter()
        for seed in (13, *range(100, 139 if os.environ.get("SKUA_LONG") == "1" else 100)):
            with self.subTest(seed=seed):
                self.begin()
                network = RandomNetwork(seed)
                for part in range(PARTS):
                    first, end = (len(network.frames) * number // PARTS for number in (part, part + 1))
                    compared = self.follow(network.frames[first:end])
                found.update(compared)
        self.assertGreater(min(found[kind] for kind in RARE), 0)

    def test_an_update_that_makes_a_post_invalid_withdraws_the_replies_to_it(self):
        self.begin()
        network = made.Network()
        ann, bob = network.account("ann"), network.account("bob")
        uri, cid = ann.post("a post")
        bob.post("a reply", reply={"parent": {"uri": uri, "cid": cid}, "root": {"uri": uri, "cid": cid}})
        self.assertEqual(self.follow(network.frames)["notification reply"], 1)
        # The reply notifies the author of a valid post only.
        for created, replies in (("yesterday", 0), (network.time(), 1)):
            sent = len(network.frames)
            ann.put("app.bsky.feed.post", {"text": "updated", "createdAt": created}, uri.split("/")[-1])
            self.assertEqual(self.follow(network.frames[sent:])["notification reply"], replies)


if __name__ == "__main__":
    unittest.main()
