"""Pages of lists: all pages together are the whole list, in its order, while many rows have equal times and the pages have
different sizes. The last row of a page can be deleted before the next page is read."""

import json
import shlex
import unittest

import atproto
from made_rows import MadeRows

TIMES = [f"2026-10-0{day}T10:00:00.000Z" for day in (1, 2, 3)]
SIZES = (2, 7)
CID = atproto.cid_of(b"a version that nobody has").text()
LIST = "app.bsky.graph.list"
PEOPLE = ("ann", "bob", "cy", "dee", "eve")
BY_TIME = "order by sort_at desc, actor_id desc, rkey desc limit"
# Each list: its call with a maximum number of rows, or the query of a function without one. `{end}` are the arguments that name
# the last row.
LISTS = {
    "timeline": "select * from bsky.timeline('ann.test', {rows}{end})",
    "timeline of a viewer": "select * from bsky.timeline('ann.test', {rows}, viewer => 'bob.test'{end})",
    "feed_of": "select * from bsky.feed_of('bob.test', {rows}{end})",
    "feed_of a viewer": "select * from bsky.feed_of('bob.test', {rows}, viewer => 'bob.test'{end})",
    "feed": "select * from bsky.feed(array(select id from bsky.actors), {rows}{end})",
    "likes_of": "select * from bsky.likes_of('{post}', {rows}{end})",
    "reposts_of": "select * from bsky.reposts_of('{post}', {rows}{end})",
    "followers_of": "select * from bsky.followers_of('ann.test', {rows}{end})",
    "follows_of": "select * from bsky.follows_of('ann.test', {rows}{end})",
    "mutuals_of": "select * from bsky.mutuals_of('ann.test', {rows}{end})",
    "members_of": "select * from bsky.members_of('{list}', {rows}{end})",
    "replies_of": f"select * from bsky.replies_of('{{post}}'{{end}}) {BY_TIME} {{rows}}",
    "quotes_of": f"select * from bsky.quotes_of('{{post}}'{{end}}) {BY_TIME} {{rows}}",
    "notifications_of": "select * from bsky.notifications_of('ann.test'{end}) limit {rows}",
    "search": "select * from bsky.search('word', {rows}{end})",
}
WITH_INDEX = {"likes_of": "newest-likes", "reposts_of": "newest-reposts", "followers_of": "newest-followers",
              "members_of": "newest-members", "search": "search"}


class ListPages(MadeRows):
    def setUp(self):
        super().setUp()
        self.accounts = {name: self.network.account(name) for name in PEOPLE}
        self.ann = self.accounts["ann"]
        self.names = {"post": self.put(self.ann, "feed.post", 0, text="word first")}
        self.names["list"] = self.put(self.ann, "graph.list", 0, purpose="app.bsky.graph.defs#curatelist", name="a list")
        self.fill()
        self.store()

    def put(self, account, collection, number, /, **fields):
        return account.put(f"app.bsky.{collection}", {"createdAt": TIMES[number % len(TIMES)], **fields})[0]

    def reference(self, uri):
        return {"uri": uri, "cid": CID}

    def fill(self):
        """Each account makes several records of each kind with the same few times, and each one twice for a subject."""
        post, posts = self.reference(self.names["post"]), []
        for number in range(3):
            for name, account in self.accounts.items():
                posts.append(self.put(account, "feed.post", number, text=f"word {name} {number}"))
                self.put(account, "feed.post", number, text="a reply", reply={"root": post, "parent": post})
                self.put(account, "feed.post", number, text="word quote", embed={"$type": "app.bsky.embed.record", "record": post})
                self.put(account, "feed.like", number, subject=post)
                for person in PEOPLE[number:number + 3]:
                    self.put(account, "graph.follow", number, subject=self.accounts[person].did)
                self.put(self.ann, "graph.listitem", number, list=self.names["list"], subject=account.did)
        for number, uri in enumerate([self.names["post"], *posts[:9], f"at://{self.ann.did}/app.bsky.feed.post/3mz7iuy6owc22"]):
            for account in self.accounts.values():
                self.put(account, "feed.repost", number + 1, subject=self.reference(uri))
        # Likes of a post that its author reposted: two notifications of one record.
        repost = self.put(self.ann, "feed.repost", 0, subject=post)
        for name in PEOPLE[1:]:
            self.put(self.accounts[name], "feed.like", 1, subject=self.reference(posts[0]), via=self.reference(repost))

    def rows(self, name, rows=1000, last=None):
        end = ""
        if last:
            end = f", before => '{last['sort_at']}', last_uri => '{last['uri']}'"
            end += f", last_reason => '{last['reason']}'" if "reason" in last else ""
        return self.db.rows(LISTS[name].format(rows=rows, end=end, **self.names))

    @staticmethod
    def key(row):
        return row["sort_at"], row["uri"], row.get("reason")

    def pages(self, name, size):
        found, last = [], None
        while page := self.rows(name, size, last):
            self.assertLessEqual(len(page), size)
            found += page
            last = page[-1]
            self.assertLess(len(found), 1000, "the pages do not end")
        return found

    def compare(self, name):
        whole = [self.key(row) for row in self.rows(name)]
        self.assertGreater(len(whole), 4)
        self.assertEqual(len(set(whole)), len(whole), "a row is there twice")
        times = [at for at, _, _ in whole]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertLess(len(set(times)), len(times), "no equal times")
        for size in SIZES:
            self.assertEqual([self.key(row) for row in self.pages(name, size)], whole, size)

    def test_all_pages_together_are_the_whole_list(self):
        for name in LISTS:
            with self.subTest(list=name):
                self.compare(name)
        for name in ("likes_of", "reposts_of", "followers_of", "follows_of", "mutuals_of"):
            of = self.names["post"] if name in ("likes_of", "reposts_of") else "ann.test"
            with self.subTest(name, forms=2):
                self.assertCountEqual(self.db.rows(f"select * from bsky.{name}('{of}')"), self.rows(name))

    def test_the_optional_indexes_have_the_same_pages(self):
        for name, index in WITH_INDEX.items():
            with self.subTest(list=name):
                before = [self.key(row) for row in self.rows(name)]
                self.skua(self.db, "index", "add", index)
                self.assertEqual([self.key(row) for row in self.rows(name)], before)
                self.compare(name)

    def test_accounts_in_any_number_have_the_same_pages(self):
        """bsky.feed reads the newest posts of the network for more than 200 accounts, and otherwise those of each account."""
        self.db.run("insert into bsky.actors (did, active, indexed_at) select 'did:plc:n' || i, true, now() from generate_series(1, 300) i")
        self.compare("feed")

    def test_a_page_follows_a_row_that_was_deleted(self):
        whole = self.rows("likes_of")
        last = whole[2]
        account = next(account for account in self.accounts.values() if account.did == last["did"])
        account.delete(last["uri"])
        self.store()
        following = [self.key(row) for row in self.rows("likes_of", last=last)]
        # The account has other likes of the post.
        self.assertEqual([key for key in following if key[1].split("/")[2] != account.did], [self.key(row) for row in whole[3:]])

    def test_reposts_of_posts_that_are_not_stored_are_no_rows(self):
        """hydration/hydrator.ts: the AppView drops items whose post it does not have."""
        for call in ("timeline('ann.test')", "feed_of('bob.test')", "timeline('ann.test', viewer => '')"):
            rows = self.db.rows(f"select text, uri from bsky.{call}")
            self.assertTrue(rows)
            self.assertEqual([row for row in rows if row["text"] is None], [], call)
        self.assertEqual(self.db.rows("select rkey from bsky.feed_reposts r where not exists (select from bsky.posts_view p "
                                      "where (p.actor_id, p.rkey) = (r.subject_actor, r.subject_rkey))"), [])
        self.assertGreater(self.db.value("select count(*) from bsky.reposts_view r where not exists (select from bsky.posts_view p "
                                         "where p.uri = r.subject_uri)"), 0)

    def test_a_thread_has_pages_from_top_to_bottom(self):
        """The pages are read in another way than the whole thread: one post after the other instead of one level after the other."""
        post = self.names["post"]
        root, nested = self.reference(post), []
        for number in range(40):
            account = self.accounts[PEOPLE[number % 5]]
            parent = self.reference(nested[number * 7 % len(nested)]) if number > 3 else root
            nested.append(self.put(account, "feed.post", number // 4, text=f"nested {number}", reply={"root": root, "parent": parent}))
        self.put(self.accounts["bob"], "graph.block", 0, subject=self.accounts["dee"].did)
        self.accounts["cy"].delete(nested[7])
        self.store()

        sizes = set()
        for address in (post, nested[0], nested[5], nested[7]):
            for options in ("max_above => 4", "max_depth => 2", "max_above => 2, viewer => 'bob.test'", "viewer => ''"):
                thread = f"bsky.thread('{address}', {options}, max_posts =>"
                whole = self.db.rows(f"select * from {thread} 1000)")
                sizes.add(len(whole))
                # The page after each post, with and without its URI.
                found = self.db.rows(f"select a.place, (select json_agg(t order by place) from {thread} 3, after_place => a.place) t) as page, "
                                     f"(select json_agg(t order by place) from {thread} 3, after_place => a.place, last_uri => a.uri) t) as by_uri "
                                     f"from (select 0 as place, null as uri union all select place, uri from {thread} 1000)) a order by 1")
                self.assertEqual(len(found), len(whole) + 1)
                for row in found:
                    page = whole[row["place"]:][:3] or None
                    self.assertEqual((row["page"], row["by_uri"]), (page, page), (address, options, row["place"]))
        self.assertGreater(max(sizes), 40)
        self.assertGreater(len(sizes), 4)

    def test_a_page_of_a_thread_follows_a_post_that_was_deleted(self):
        """The place then decides, as without the URI."""
        post = self.names["post"]
        whole = self.db.rows(f"select place, uri from bsky.thread('{post}', max_posts => 1000)")
        last = whole[4]
        self.accounts[next(name for name, account in self.accounts.items() if account.did in last["uri"])].delete(last["uri"])
        self.store()
        page = f"select uri from bsky.thread('{post}', max_posts => 3, after_place => {last['place']}"
        self.assertEqual(self.db.rows(f"{page}, last_uri => '{last['uri']}')"), self.db.rows(f"{page})"))

    def query(self, name, *arguments):
        return json.loads("\n".join(self.skua(self.db, "query", name, *arguments, "--json").stdout))

    def follow(self, name, argument, whole, *first):
        """All pages of a question: by the options `next` of JSON, and by the command that the note of a table has."""
        answer = self.query(name, argument, "--limit", "9", *first)
        found, command = answer["rows"], self.skua(self.db, "query", name, argument, "--limit", "9", *first).stderr[-1]
        while answer["more"]:
            options = [word for key, value in answer["next"].items() for word in ("--" + key.replace("_", "-"), value)]
            arguments = shlex.split(command)[2:]
            answer = self.query(name, argument, "--limit", "9", *options)
            self.assertEqual(self.query(*arguments), answer)
            command = self.skua(self.db, "query", *arguments).stderr[-1] if answer["more"] else None
            found += answer["rows"]
        self.assertNotIn("next", answer)
        self.assertEqual(found, whole)

    def test_skua_query_prints_the_same_pages(self):
        questions = {"timeline": "ann.test", "feed": "bob.test", "likes": self.names["post"], "quotes": self.names["post"],
                     "replies": self.names["post"], "followers": "ann.test", "follows": "ann.test", "mutuals": "ann.test", "search": "word"}
        for name, argument in questions.items():
            with self.subTest(name):
                def rows(*options):
                    return self.query(name, argument, *options)["rows"]

                whole = rows("--limit", "all")
                last = whole[3]
                self.assertEqual(rows("--limit", "all", "--before", last["sort_at"], "--last", last["uri"]), whole[4:])
                self.assertEqual(self.query(name, argument, "--limit", "4")["next"], {"before": last["sort_at"], "last": last["uri"]})
        self.follow("thread", self.names["post"], self.query("thread", self.names["post"])["rows"], "--after", "0")
        self.follow("notifications", "ann.test", self.query("notifications", "ann.test", "--limit", "all")["rows"])
        for options, error in ((("--last", self.names["post"]), "--last needs --before"),
                               (("--before", TIMES[0], "--last", "what"), "--last: 'what' is not a URI"),
                               (("--last-reason", "like"), "--last-reason needs --last"),
                               (("--before", TIMES[0], "--last", self.names["post"], "--last-reason", "No"), "--last-reason: 'No' is not")):
            program = self.skua(self.db, "query", "notifications", "ann.test", *options, code=2)
            self.assertIn(error, "\n".join(program.stderr))

    def test_the_last_row_is_named_by_both_columns(self):
        uri = self.names["post"]
        for arguments, error in ((f"last_uri => '{uri}'", "last_uri needs before"),
                                 ("before => now(), last_uri => 'at://nobody.test/app.bsky.feed.post/a'", "last_uri is not the URI of a record"),
                                 ("before => now(), last_uri => 'what'", "last_uri is not the URI of a record")):
            with self.assertRaisesRegex(AssertionError, error):
                self.db.run(f"select * from bsky.timeline('ann.test', 5, {arguments})")
        # before alone leaves out all rows with an equal time.
        times = {row["sort_at"] for row in self.rows("timeline")}
        earlier = self.db.rows(f"select sort_at from bsky.timeline('ann.test', 1000, before => '{max(times)}')")
        self.assertEqual({row["sort_at"] for row in earlier}, times - {max(times)})


if __name__ == "__main__":
    unittest.main()
