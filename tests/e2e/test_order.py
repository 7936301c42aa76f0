"""The order of timelines, feeds and author lists, from records to rows.

The rule of the reference AppView: a post or repost has `sortAt`, the earlier of `createdAt` and the time of indexing, and lists
are ordered by it, newest first. Record keys have no part in it.
"""

import datetime
import random

import atproto
from harness import ROOT, EndToEnd
from made import START, Network

POST, REPOST, FOLLOW = "app.bsky.feed.post", "app.bsky.feed.repost", "app.bsky.graph.follow"
IMPORTED = datetime.datetime(2020, 5, 1, tzinfo=datetime.timezone.utc)


def text_of(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"


def key_at(at, place=0):
    return atproto.tid_text((round(at.timestamp() * 1_000_000) << 10) + place)


def after(minutes, start=START):
    return start + datetime.timedelta(minutes=minutes)


class Order(EndToEnd):
    def setUp(self):
        super().setUp()
        self.network = Network()
        self.ann, self.bob = self.network.account("ann"), self.network.account("bob")

    def put(self, account, text, created, key):
        return account.put(POST, {"text": text, "createdAt": created}, key)

    def replayed(self):
        capture = self.folder / "order.capture"
        capture.write_bytes(self.network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        return database

    def texts(self, database, call):
        return [row["text"] for row in database.rows(f"select text from bsky.{call}")]

    def test_imported_posts_are_as_old_as_they_say(self):
        for i in range(60):
            self.put(self.ann, f"own {i}", text_of(after(i)), key_at(after(i)))
        for i in range(60):
            self.put(self.ann, f"imported {i}", text_of(after(i, IMPORTED)), key_at(after(1000 + i)))
        self.ann.put(FOLLOW, {"subject": self.ann.did, "createdAt": text_of(START)})
        database = self.replayed()
        expected = [f"own {i}" for i in range(59, -1, -1)] + [f"imported {i}" for i in range(59, -1, -1)]
        for call in ("timeline('ann.test', 50)", "feed_of('ann.test', 50)"):
            self.assertEqual(self.texts(database, call), expected[:50], call)
        self.assertEqual(self.texts(database, "timeline('ann.test', 200)"), expected)
        before = f"timeline('ann.test', 20, '{text_of(after(0))}')"
        self.assertEqual(self.texts(database, before), expected[60:80])
        self.assertEqual(self.skua(database, "query", "engagement", "ann.test", "--csv").stdout[1].split(",")[1], "own 59")

    def test_random_keys_and_times(self):
        """Posts and reposts whose key and createdAt agree, nearly agree, or have nothing in common; also at the limits."""
        for seed in range(3):
            with self.subTest(seed=seed):
                self.setUp()
                self.compare_random(random.Random(seed))

    def compare_random(self, rng):
        people = [self.ann, self.bob, *(self.network.account(f"person{i}") for i in range(4))]
        for other in people[1:]:
            self.ann.put(FOLLOW, {"subject": other.did, "createdAt": text_of(START)})
        shifts = (0, 0, 0, 0, 0.2, -0.3, 0.99, -1, 1.01, -1.5, 30, -600, 3_000_000)
        created = {}
        for i in range(240):
            account, at = rng.choice(people), after(rng.uniform(0, 60))
            said = text_of(at + datetime.timedelta(minutes=rng.choice(shifts)))
            said = rng.choice([said] * 30 + ["0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.000Z"])
            key = rng.choice([key_at(at, i)] * 12 + [f"key-{i}", key_at(after(rng.uniform(-9999, 9999)), i)])
            if created and rng.random() < 0.25:
                uri, cid = rng.choice(list(created))
                account.put(REPOST, {"subject": {"uri": uri, "cid": cid}, "createdAt": said}, key)
            else:
                created[self.put(account, f"post {i}", said, key)] = said
        database = self.replayed()
        # A repost counts once for each account and post: the one with the lowest key.
        items = database.rows(
            "select a.handle as by, p.text, false as reposted, least(p.created_at, p.indexed_at) as at "
            "from bsky.posts p join bsky.actors a on a.id = p.actor_id union all "
            "select a.handle, p.text, true, least(r.created_at, r.indexed_at) from (select distinct on (actor_id, subject_actor, "
            "subject_rkey) * from bsky.reposts order by actor_id, subject_actor, subject_rkey, rkey) r join bsky.actors a on a.id = r.actor_id "
            "join bsky.posts p on (p.actor_id, p.rkey) = (r.subject_actor, r.subject_rkey)")
        own = [item for item in items if not item["reposted"]]
        self.assertGreater(len(items), 200)
        self.assertGreater(len(items) - len(own), 20)
        for handle in ("ann.test", "bob.test"):
            self.compare(database, f"timeline('{handle}', %s)", [item for item in items if item["by"] == handle])
        self.compare(database, "feed_of('ann.test', %s)", [item for item in items if item["by"] != "ann.test"])

    def compare(self, database, call, items):
        newest = {}
        for item in items:
            newest[item["text"]] = max(newest.get(item["text"], ""), item["at"])
        expected = sorted(newest.values(), reverse=True)
        for rows in (1, 3, 5, 20, 500):
            got = database.rows(f"select text, sort_at from bsky.{call % rows}")
            self.assertEqual([row["sort_at"] for row in got], expected[:rows], (call, rows))
            self.assertEqual({row["text"]: row["sort_at"] for row in got}.items() - newest.items(), set(), (call, rows))


class Times(EndToEnd):
    """createdAt at the ends of the calendar, which clients such as those of Python cannot represent in every time zone."""

    EXTREMES = {"0000-01-01T00:00:00.000Z": "0001-01-02T00:00:00+00:00", "0001-01-01T00:00:00.123456Z": "0001-01-02T00:00:00+00:00",
                "9999-12-31T23:59:59.000Z": "9999-12-30T00:00:00+00:00", "2026-11-01T00:00:00.000Z": "2026-11-01T00:00:00+00:00"}

    def test_the_column_is_near_and_the_text_is_kept(self):
        network = Network()
        ann = network.account("ann")
        for text in self.EXTREMES:
            ann.put(POST, {"text": text, "createdAt": text})
            ann.put(FOLLOW, {"subject": ann.did, "createdAt": text})
        capture = self.folder / "times.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        self.check(database)
        # An older program stored the time as it is. The migration gives the same rows.
        database.run("update bsky.posts set created_at = case extra ->> 'createdAt' when '0000-01-01T00:00:00.000Z' then "
                     "timestamptz '0001-01-01 00:00Z BC' else (extra ->> 'createdAt')::timestamptz end, extra = null where extra is not null")
        self.assertEqual(database.value("select count(*) from bsky.posts where created_at < '0001-01-02Z' or created_at > '9999-12-30Z'"), 3)
        database.run((ROOT / "schema/migrations/0078_times_of_clients.sql").read_text())
        self.check(database)

    def check(self, database):
        for zone in ("UTC", "America/Los_Angeles", "Pacific/Auckland"):
            years = database.run(f"set timezone to '{zone}'; select min(extract(year from created_at)) || ' ' || "
                                 "max(extract(year from created_at)) from bsky.posts_view")
            self.assertEqual(years, "1 9999", zone)
        for view in ("posts_view", "follows_view"):
            rows = database.rows(f"select bsky.record_json(uri) ->> 'createdAt' as text, created_at from bsky.{view}")
            self.assertEqual({row["text"]: row["created_at"] for row in rows}, self.EXTREMES, view)
        self.assertEqual(database.value("select min(sort_at) from bsky.posts_view"), "0001-01-02T00:00:00+00:00")
