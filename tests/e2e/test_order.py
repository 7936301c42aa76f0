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


class Subjects(EndToEnd):
    """The newest accounts of a subject. The reference lists likes, reposts, followers and members of lists by `sortAt`, newest first,
    each account once, and leaves out accounts that are not active."""

    INDEXES = ("newest-likes", "newest-reposts", "newest-followers", "newest-members")

    def test_newest_first_with_and_without_the_indexes(self):
        network = Network()
        owner, *people = (network.account(name) for name in ("owner", *(f"p{i}" for i in range(30))))
        post, cid = owner.post("popular")
        a_list, _ = owner.put("app.bsky.graph.list", {"name": "list", "purpose": "app.bsky.graph.defs#curatelist", "createdAt": text_of(START)})
        expected = []
        for i, person in enumerate(people):
            created = text_of(after(i * 7 % 30))
            subject = {"subject": {"uri": post, "cid": cid}, "createdAt": created}
            # The second record of an account for the same subject does not count, although it is newer.
            for key, at in ((key_at(after(i)), created), (key_at(after(i + 100)), text_of(after(500)))):
                person.put("app.bsky.feed.like", {**subject, "createdAt": at}, key)
                person.put(REPOST, {**subject, "createdAt": at}, key)
                person.put(FOLLOW, {"subject": owner.did, "createdAt": at}, key)
                owner.put("app.bsky.graph.listitem", {"subject": person.did, "list": a_list, "createdAt": at}, f"{key[:-2]}{'2' * 2}")
            # Only the owner of a list adds accounts.
            person.put("app.bsky.graph.listitem", {"subject": owner.did, "list": a_list, "createdAt": created})
            if i % 5 == 0:
                network.send("#account", did=person.did, active=False, status="deactivated")
            else:
                expected.append((created, f"p{i}.test"))
        capture = self.folder / "subjects.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        names = [name for _, name in sorted(expected, reverse=True)]
        self.compare(database, post, a_list, names)
        for index in self.INDEXES:
            self.skua(database, "index", "add", index)
        self.compare(database, post, a_list, names)
        plan = database.run(f"set enable_seqscan = off; explain analyze select * from bsky.likes_of('{post}', 5)")
        self.assertRegex(plan, r"likes_newest on likes l .*actual time=[^)]*rows=[1-9]")

    def compare(self, database, post, a_list, names):
        for call in (f"likes_of('{post}'", f"reposts_of('{post}'", "followers_of('owner.test'", f"members_of('{a_list}'"):
            def page(arguments, call=call):
                return database.rows(f"select name, sort_at, uri from bsky.{call}, {arguments})")

            with self.subTest(call):
                first = page("7")
                self.assertEqual([row["name"] for row in first], names[:7])
                self.assertEqual([row["name"] for row in page(f"7, '{first[-1]['sort_at']}'")], names[7:14])
                self.assertEqual([row["name"] for row in page("null")], names)
                self.assertEqual(database.value(f"select count(*) from bsky.all_records where uri in (select uri from bsky.{call}, 7))"), 7)
        each = database.rows(f"select f.name from (select unnest(array['{post}', 'at://none.test/{POST}/x']) as post) s, "
                             "lateral bsky.likes_of(s.post, 3) f")
        self.assertEqual([row["name"] for row in each], names[:3])
        self.assertEqual(database.value("select count(*) from bsky.followers_of('none.test', 5)"), 0)

    def test_accounts_by_the_beginning_of_their_names(self):
        network = Network()
        people = {name: network.account(name) for name in ("anna", "annabel", "bob", "hanna", "gone")}
        for name, text in (("anna", "Nobody"), ("bob", "Anna's friend"), ("hanna", "Hanna"), ("gone", "anna")):
            people[name].put("app.bsky.actor.profile", {"displayName": text}, "self")
        network.send("#account", did=people["gone"].did, active=False, status="deactivated")
        capture = self.folder / "accounts.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        for _ in range(2):
            for words, names in (("anna", ["anna.test", "annabel.test", "bob.test"]), ("@Anna.test", ["anna.test"]),
                                 ("fri ann", ["bob.test"]), ("ann%", ["bob.test"]), ("_", []), ("'", []), (people["bob"].did, [])):
                found = database.run("select name from bsky.search_accounts('{}')".format(words.replace("'", "''"))).split()
                self.assertEqual(found, names, words)
            for index in ("names", "display-names"):
                self.skua(database, "index", "add", index)


class BothPosts(EndToEnd):
    def test_replies_and_quotes_have_both_posts(self):
        network = Network()
        ann, bob, cy = (network.account(name) for name in ("ann", "bob", "cy"))
        root = dict(zip(("uri", "cid"), ann.post("root")))
        ref = {"reply": {"root": root, "parent": root}}
        reply = dict(zip(("uri", "cid"), bob.post("reply", **ref)))
        bob.post("quote", embed={"$type": "app.bsky.embed.record", "record": root})
        cy.post("of an inactive account", **ref)
        network.send("#account", did=cy.did, active=False, status="deactivated")
        missing = {"uri": f"at://{ann.did}/{POST}/3l6oveex3ii2l", "cid": root["cid"]}
        bob.post("to a stub", reply={"root": missing, "parent": missing})
        bob.post("of a stub", embed={"$type": "app.bsky.embed.record", "record": missing})
        ann.post("deeper", reply={"root": root, "parent": reply})
        capture = self.folder / "posts.capture"
        capture.write_bytes(network.capture())
        database = self.database()
        self.skua(database, "replay", capture)
        self.assertEqual(database.rows("select name, text, parent_name, parent_text from bsky.replies_view order by sort_at"), [
            {"name": "bob.test", "text": "reply", "parent_name": "ann.test", "parent_text": "root"},
            {"name": "ann.test", "text": "deeper", "parent_name": "bob.test", "parent_text": "reply"}])
        self.assertEqual(database.rows("select text, quote_text, quote_uri, uri <> quote_uri as differ from bsky.quotes_view"),
                         [{"text": "quote", "quote_text": "root", "quote_uri": root["uri"], "differ": True}])
        joined = ("select p.text, q.text as parent from bsky.posts_view p join bsky.posts_view q on p.parent_uri = q.uri order by 1")
        self.assertEqual(database.rows(joined), database.rows("select text, parent_text as parent from bsky.replies_view order by 1"))
