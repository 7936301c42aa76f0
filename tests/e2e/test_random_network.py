"""Random networks, in parts: after each part the tables and views equal a count over the JSON of the records, and the
projections are the ones that a build makes."""

import collections
import os
import random
import unittest

import atproto
import made
import projections
from capture_state import CaptureState
from harness import EndToEnd
from items import ItemComparison
from random_network import RandomNetwork
from test_recount import KINDS, records_of
from viewer_items import Sight, kinds

PARTS = 4
# Kinds that the real capture lacks.
RARE = ("is_hidden", "notification like-via-repost", "notification repost-via-repost", "notification verified",
        "notification starterpack-joined", "label of lists")
LABELS = ("!hide", "!takedown", "!suspend", "porn")


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

    def trust(self, role, *dids):
        values = ", ".join(f"('{role}', '{did}')" for did in dids)
        self.db.run(f"insert into skua.trusted_accounts (role, did) values {values}")

    def label(self, records, seed):
        """Labels of random accounts and posts. Returns those in force of the trusted labeler."""
        chosen, labelers = random.Random(seed), ("did:plc:trusted", "did:plc:other")
        self.trust("labeler", labelers[0])
        subjects = chosen.sample([uri for uri, _ in records.all("app.bsky.feed.post")], 16) + chosen.sample(sorted(records.statuses), 2)
        rows, in_force = [], set()
        for subject in subjects:
            labeler, val = chosen.choice(labelers + labelers[:1]), chosen.choice(LABELS)
            state = chosen.choices(("in force", "negated", "expired"), (6, 1, 1))[0]
            rows.append(f"('{labeler}', '{subject}', '{val}', '{state}')")
            if labeler == labelers[0] and state == "in force":
                in_force.add((subject, val))
        self.db.run(
            f"insert into bsky.actors (did, active, indexed_at) values ('{labelers[0]}', true, now()), ('{labelers[1]}', true, now());"
            "insert into bsky.labels (actor_id, subject_actor, subject_collection, subject_rkey, val, neg, exp, seq, cts, indexed_at) "
            "select (select id from bsky.actors where did = l.labeler), coalesce(k.actor_id, bsky.actor_id(l.subject)), "
            "coalesce(k.collection_id, 0), coalesce(k.rkey, 0), l.val, l.state = 'negated', "
            "case when l.state = 'expired' then now() - interval '1 hour' end, 1, now(), now() "
            f"from (values {', '.join(rows)}) l(labeler, subject, val, state) left join lateral bsky.resolve_uri(l.subject) k on true; "
            "update bsky.actors set active = null where did in ('did:plc:trusted', 'did:plc:other')")
        return in_force

    def compare_viewers(self, seed):
        """What each account sees."""
        records = records_of(self.db, CaptureState(atproto.write_capture(self.seen)))
        comparison = ItemComparison(self.db, records, kinds(Sight(records, self.label(records, seed))))
        self.assertEqual(comparison.differences, [])
        self.assertGreater(min(comparison.compared.values()), 0, comparison.compared)
        return comparison.compared

    def test_random_records_equal_their_json(self):
        found = collections.Counter()
        for seed in (13, *range(100, 139 if os.environ.get("SKUA_LONG") == "1" else 100)):
            with self.subTest(seed=seed):
                self.begin()
                network = RandomNetwork(seed)
                self.trust("verifier", *[account.did for account in network.accounts[:4]])
                for part in range(PARTS):
                    first, end = (len(network.frames) * number // PARTS for number in (part, part + 1))
                    compared = self.follow(network.frames[first:end])
                found.update(compared)
                found.update(self.compare_viewers(seed))
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
