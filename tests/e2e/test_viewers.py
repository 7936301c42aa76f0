"""What people see, from records: JSON in, rows of functions and views out. Each test names its rule in the AppView of Bluesky
(packages/bsky/src in bluesky-social/atproto). test_random_network.py compares the same functions with a count over many
records."""

import json
import unittest

import atproto
from made_rows import MadeRows

BLOB = {"$type": "blob", "ref": atproto.cid_of(b"a blob"), "mimeType": "video/mp4", "size": 9}
CID = atproto.cid_of(b"a version that nobody has").text()
LABELER = "did:plc:ar7c4by46qjdydhdevvrndac"


def reference(uri):
    return {"uri": uri, "cid": CID}


class Viewers(MadeRows):
    def setUp(self):
        super().setUp()
        self.ann, self.bob, self.cy, self.dee = (self.network.account(name) for name in ("ann", "bob", "cy", "dee"))

    def post(self, account, text, parent=None, root=None, quote=None, **fields):
        if parent:
            fields["reply"] = {"parent": reference(parent), "root": reference(root or parent)}
        if quote:
            fields["embed"] = {"$type": "app.bsky.embed.record", "record": reference(quote)}
        return account.post(text, **fields)[0]

    def put(self, account, name, record, rkey=None):
        return account.put(f"app.bsky.{name}", {"createdAt": self.network.time(), **record}, rkey)[0]

    def block(self, account, other):
        return self.put(account, "graph.block", {"subject": other.did})

    def block_by_list(self, account, owner, *members, purpose="modlist", author=None):
        uri = self.put(owner, "graph.list", {"purpose": f"app.bsky.graph.defs#{purpose}", "name": "a list"})
        for member in members:
            self.put(author or owner, "graph.listitem", {"list": uri, "subject": member.did})
        self.put(account, "graph.listblock", {"subject": uri})
        return uri

    def label(self, subject, val, labeler=LABELER, neg="false", exp="null"):
        did = subject.removeprefix("at://").split("/")[0]
        self.db.run(f"insert into bsky.actors (did, active, indexed_at) values ('{labeler}', true, now()) on conflict do nothing;"
                    "insert into bsky.labels (actor_id, subject_actor, subject_collection, subject_rkey, val, neg, exp, seq, cts, indexed_at) "
                    f"select bsky.actor_id('{labeler}'), bsky.actor_id('{did}'), coalesce(k.collection_id, 0), coalesce(k.rkey, 0), '{val}', "
                    f"{neg}, {exp}, 1, now(), now() from (select) one left join bsky.resolve_uri('{subject}') k on true")

    def column(self, query):
        return [row["x"] for row in self.db.rows(f"select x from ({query}) q(x)")]

    def thread(self, uri, viewer=None, **arguments):
        named = "".join(f", {name} => {value}" for name, value in arguments.items())
        seen_by = f", viewer => '{viewer}'" if viewer is not None else ""
        return self.column(f"select repeat('^', -depth) || repeat('.', depth) || text from bsky.thread('{uri}'{seen_by}{named}) order by place")

    def notified(self, account, **arguments):
        named = "".join(f", {name} => '{value}'" for name, value in arguments.items())
        rows = self.db.rows(f"select reason, name from bsky.notifications_of('{account.did}'{named})")
        return [f"{row['reason']} by {row['name'].removesuffix('.test')}" for row in rows]

    # Blocks and labels.

    def test_a_relationship_names_the_first_record_of_each_kind(self):
        """data-plane/server/routes/relationships.ts; hydration/actor.ts: none of an account to itself."""
        follow = self.put(self.ann, "graph.follow", {"subject": self.bob.did})
        self.put(self.ann, "graph.follow", {"subject": self.bob.did})
        followed = self.put(self.bob, "graph.follow", {"subject": self.ann.did})
        block = self.block(self.bob, self.ann)
        by_list = self.block_by_list(self.ann, self.cy, self.bob)
        self.block(self.ann, self.ann)
        self.store()
        (row,) = self.db.rows("select * from bsky.relationship('ann.test', 'bob.test')")
        self.assertEqual({key: row[key] for key in row if key != "actor_id"}, {
            "name": "bob.test", "did": self.bob.did, "following": follow, "followed_by": followed, "blocking": None, "blocked_by": block,
            "blocking_by_list": by_list, "blocked_by_list": None})
        (row,) = self.db.rows("select * from bsky.relationship('bob.test', 'ann.test')")
        self.assertEqual([row["following"], row["blocking"], row["blocked_by_list"]], [followed, block, by_list])
        (row,) = self.db.rows("select * from bsky.relationship('ann.test', 'ann.test')")
        self.assertEqual([row["blocking"], row["blocked_by"]], [None, None])
        self.assertEqual(self.db.rows("select * from bsky.relationship('ann.test', 'nobody.test')"), [])

    def is_blocked(self, a, b):
        values = [self.db.run(f"select bsky.is_blocked(bsky.actor_id('{x.did}'), bsky.actor_id('{y.did}'))") for x, y in ((a, b), (b, a))]
        self.assertEqual(values[0], values[1], "a block counts in both directions")
        return values[0] == "t"

    def test_only_moderation_lists_that_exist_block_and_only_what_their_owners_added(self):
        """hydration/hydrator.ts, isModList; data-plane/server/indexing/plugins/list-item.ts: the owner of the list adds items."""
        self.block_by_list(self.ann, self.dee, self.bob, purpose="curatelist")
        self.block_by_list(self.ann, self.dee, self.bob, author=self.cy)
        removed = self.block_by_list(self.ann, self.dee, self.bob)
        self.store()
        self.assertTrue(self.is_blocked(self.ann, self.bob))
        self.dee.delete(removed)
        self.store()
        self.assertFalse(self.is_blocked(self.ann, self.bob))
        self.block_by_list(self.ann, self.ann, self.bob)
        self.store()
        self.assertTrue(self.is_blocked(self.ann, self.bob))

    def test_a_list_of_an_inactive_account_does_not_block(self):
        """views/index.ts, recordActive"""
        self.block_by_list(self.ann, self.dee, self.bob)
        self.network.send("#account", did=self.dee.did, active=False, status="takendown")
        self.store()
        self.assertFalse(self.is_blocked(self.ann, self.bob))

    def test_labels_hide_if_they_are_in_force_and_of_a_trusted_labeler(self):
        """hydration/label.ts, TAKEDOWN_LABELS and labelers.redact; clients apply !hide, but not to one's own records."""
        posts = {name: self.post(self.ann, name) for name in ("taken down", "suspended", "hidden", "adult", "by others", "negated", "expired")}
        self.store()
        for name, val in (("taken down", "!takedown"), ("suspended", "!suspend"), ("hidden", "!hide"), ("adult", "porn")):
            self.label(posts[name], val)
        self.label(posts["by others"], "!takedown", labeler="did:plc:anybody")
        self.label(posts["negated"], "!takedown", neg="true")
        self.label(posts["expired"], "!takedown", exp="now() - interval '1 second'")
        shown = ("select text from bsky.posts_view p where not bsky.has_hiding_label(bsky.actor_id('{}'), p.actor_id, 1, p.rkey)")
        self.assertEqual(set(self.column(shown.format(self.bob.did))), posts.keys() - {"taken down", "suspended", "hidden"})
        self.assertEqual(set(self.column(shown.format(self.ann.did))), posts.keys() - {"taken down", "suspended"})
        self.label(self.ann.did, "!takedown")
        self.assertEqual(self.column(shown.format(self.bob.did)), [])
        self.db.run("delete from skua.trusted_accounts where role = 'labeler'")
        self.assertEqual(set(self.column(shown.format(self.bob.did))), set(posts))

    # Threads.

    def made_thread(self):
        """a of ann, with replies: b of bob, below it c of cy, and d of dee."""
        a = self.post(self.ann, "a")
        b = self.post(self.bob, "b", a)
        c = self.post(self.cy, "c", b, a)
        self.post(self.dee, "d", a)
        return a, b, c

    def test_a_viewer_does_not_see_blocked_replies_and_the_posts_below_them(self):
        """views/index.ts, threadReplies: viewerBlockExists"""
        a, b, _ = self.made_thread()
        block = self.block(self.dee, self.bob)
        self.store()
        everything = ["a", ".b", "..c", ".d"]
        self.assertEqual(self.thread(a), everything)
        self.assertEqual(self.thread(a, "cy.test"), everything)
        self.assertEqual(self.thread(a, "dee.test"), ["a", ".d"])
        self.assertEqual(self.thread(a, "bob.test"), ["a", ".b", "..c"])
        # thread: a blocked first post has neither parent nor replies.
        self.assertEqual(self.thread(b, "dee.test"), [])
        # A person who is not signed in has no blocks.
        self.assertEqual(self.thread(a, ""), everything)
        self.dee.delete(block)
        self.block_by_list(self.dee, self.ann, self.bob)
        self.store()
        self.assertEqual(self.thread(a, "dee.test"), ["a", ".d"])

    def test_replies_between_accounts_that_block_each_other_are_left_out_for_all_viewers(self):
        """views/index.ts, threadReplies: postBlocks (include3pBlocks is false)"""
        a, _, _ = self.made_thread()
        self.block(self.bob, self.cy)
        self.store()
        self.assertEqual(self.thread(a, "dee.test"), ["a", ".b", ".d"])
        self.assertEqual(self.thread(a, ""), ["a", ".b", ".d"])
        self.assertEqual(self.thread(a), ["a", ".b", "..c", ".d"])

    def test_a_viewer_does_not_see_labelled_posts_of_a_thread(self):
        """hydration/hydrator.ts, actionTakedownLabels"""
        a, b, c = self.made_thread()
        self.store()
        self.label(b, "!hide")
        self.label(self.dee.did, "!takedown")
        self.assertEqual(self.thread(a, "cy.test"), ["a"])
        self.assertEqual(self.thread(a, "bob.test"), ["a", ".b", "..c"])
        self.assertEqual(self.thread(c, "cy.test", max_above=9), ["c"])
        self.assertEqual(self.thread(a), ["a", ".b", "..c", ".d"])

    def test_a_thread_has_the_posts_above_within_their_thread(self):
        """views/index.ts, threadParent: height, thread boundary; thread: nothing above a post that violates the threadgate"""
        chain = [self.post(self.ann, "0")]
        for number in range(1, 6):
            chain.append(self.post((self.ann, self.bob)[number % 2], str(number), chain[-1], chain[0]))
        foreign = self.post(self.cy, "foreign", chain[-1], chain[2])
        self.store()
        self.assertEqual(self.thread(chain[5]), ["5", ".foreign"] if self.breaks_nothing(foreign) else ["5"])
        self.assertEqual(self.thread(chain[5], max_above=4), ["^^^^1", "^^^2", "^^3", "^4", "5"])
        self.assertEqual(self.thread(chain[5], max_above=80), ["^^^^^0", "^^^^1", "^^^2", "^^3", "^4", "5"])
        self.assertEqual(self.thread(foreign, max_above=80), ["foreign"])
        self.assertEqual(self.thread(foreign, max_above=1, all_replies="true"), ["^5", "foreign"])
        self.assertEqual(self.column(f"select place from bsky.thread('{chain[5]}', max_above => 2) order by depth"), [1, 2, 3])
        # An account that the parent blocks: nothing is above.
        self.block(self.bob, self.ann)
        self.store()
        self.assertEqual(self.thread(chain[4], "cy.test", max_above=80), ["4"])
        self.ann.delete(chain[3] if chain[3].startswith(f"at://{self.ann.did}") else chain[2])
        self.store()
        self.assertEqual(self.thread(chain[4], max_above=80), ["^3", "4", ".5"])

    def breaks_nothing(self, uri):
        return self.db.run(f"select count(*) from bsky.post('{uri}') where has_invalid_root") == "0"

    def test_a_viewer_sees_no_thread_of_a_missing_post(self):
        """views/index.ts, thread: notFoundPost"""
        a, _, _ = self.made_thread()
        self.ann.delete(a)
        self.store()
        self.assertEqual(self.thread(a), [".b", "..c", ".d"])
        self.assertEqual(self.thread(a, "cy.test"), [])

    def test_an_author_continues_a_thread_with_the_oldest_replies(self):
        """data-plane/server/op-thread.ts, resolveCanonicalOpThread"""
        first = self.post(self.ann, "1")
        self.post(self.bob, "of bob", first)
        second = self.post(self.ann, "2", first)
        self.post(self.ann, "later", first)
        third = self.post(self.ann, "3", second, first)
        self.post(self.ann, "below bob", self.post(self.bob, "bob", third, first), first)
        self.post(self.ann, "other root", third, second)
        self.store()
        for uri in (first, third):
            self.assertEqual(self.column(f"select text from bsky.author_thread('{uri}') order by place"), ["1", "2", "3"])
        self.assertEqual(self.column(f"select text from bsky.author_thread('{first}', 2)"), ["1", "2"])
        self.ann.delete(second)
        self.store()
        self.assertEqual(self.column(f"select text from bsky.author_thread('{first}') order by place"), ["1", "later"])

    # Gates.

    def test_a_list_rule_names_lists_only(self):
        """views/util.ts, parseThreadGate, with data-plane/server/util.ts: the members are those of a list."""
        rkey = "3mz7iuy6owc22"
        self.put(self.ann, "graph.list", {"purpose": "app.bsky.graph.defs#curatelist", "name": "a list"}, rkey)
        self.put(self.ann, "graph.listitem", {"list": f"at://{self.ann.did}/app.bsky.graph.list/{rkey}", "subject": self.bob.did})
        for collection, texts in (("app.bsky.graph.list", [".allowed"]), ("app.bsky.graph.starterpack", [])):
            with self.subTest(collection=collection):
                root = self.post(self.ann, "root")
                rule = {"$type": "app.bsky.feed.threadgate#listRule", "list": f"at://{self.ann.did}/{collection}/{rkey}"}
                self.put(self.ann, "feed.threadgate", {"post": root, "allow": [rule]}, root.split("/")[-1])
                self.post(self.bob, "allowed", root)
                self.store()
                self.assertEqual(self.thread(root), ["root", *texts])

    def test_a_quote_has_a_state(self):
        """views/index.ts, recordEmbed: violatesEmbeddingRules and detachedEmbeddingUris; api/app/bsky/feed/getQuotes.ts"""
        post = self.post(self.ann, "a post")
        quotes = {account: self.post(account, "a quote", quote=post) for account in (self.ann, self.bob, self.cy)}
        self.store()

        def states(**arguments):
            named = "".join(f", {name} => '{value}'" for name, value in arguments.items())
            rows = self.db.rows(f"select name, quote_state from bsky.quotes_of('{post}'{named})")
            return {row["name"].removesuffix(".test"): row["quote_state"] for row in rows}

        self.assertEqual(states(), dict.fromkeys(("ann", "bob", "cy"), "shown"))
        gate = {"post": post, "detachedEmbeddingUris": [quotes[self.bob]]}
        self.put(self.ann, "feed.postgate", gate, post.split("/")[-1])
        self.store()
        self.assertEqual(states(), {"ann": "shown", "cy": "shown"})
        self.assertEqual(states(all_quotes="true"), {"ann": "shown", "bob": "detached", "cy": "shown"})
        gate["embeddingRules"] = [{"$type": "app.bsky.feed.postgate#disableRule"}]
        self.put(self.ann, "feed.postgate", gate, post.split("/")[-1])
        self.store()
        self.assertEqual(states(all_quotes="true"), {"ann": "shown", "bob": "detached", "cy": "disabled"})
        self.ann.delete(f"at://{self.ann.did}/app.bsky.feed.postgate/{post.split('/')[-1]}")
        self.block(self.dee, self.bob)
        self.block(self.cy, self.ann)
        self.store()
        self.assertEqual(states(viewer="dee.test").keys(), {"ann"})
        self.assertEqual(states(viewer="bob.test").keys(), {"ann", "bob"})
        self.assertEqual(states().keys(), {"ann", "bob", "cy"})
        (earlier,) = self.column(f"select sort_at from bsky.post('{quotes[self.bob]}')")
        self.assertEqual(states(before=earlier).keys(), {"ann"})

    # Feeds.

    def rows(self, function, account, **arguments):
        named = "".join(f", {name} => {value!r}" for name, value in arguments.items())
        rows = self.db.rows(f"select text, reposted_by, sort_at from bsky.{function}('{account.did}'{named})")
        return [row["text"] + (" by " + row["reposted_by"].removesuffix(".test") if row["reposted_by"] else "") for row in rows]

    def test_a_timeline_has_what_the_viewer_sees_and_full_pages(self):
        """api/app/bsky/feed/getAuthorFeed.ts, noBlocksOrMutedReposts"""
        self.post(self.ann, "old")
        for number in range(12):
            self.put(self.ann, "feed.repost", {"subject": reference(self.post(self.bob, f"of bob {number}"))})
        self.put(self.ann, "feed.repost", {"subject": reference(self.post(self.cy, "of cy"))})
        self.put(self.ann, "feed.repost", {"subject": reference(f"at://{self.bob.did}/app.bsky.feed.post/3mz7iuy6owc22")})
        labelled = self.post(self.ann, "labelled")
        self.block(self.dee, self.bob)
        self.store()
        self.label(labelled, "!hide")
        self.assertEqual(len(self.rows("timeline", self.ann, viewer="nobody.test")), 14)
        self.assertEqual(self.rows("timeline", self.ann, viewer="dee.test"), ["of cy by ann", "old"])
        self.assertEqual(self.rows("timeline", self.ann, viewer="dee.test", max_rows=2), ["of cy by ann", "old"], "the page is full")
        self.assertEqual(self.rows("timeline", self.ann, viewer="dee.test", max_rows=1), ["of cy by ann"])
        self.assertEqual(self.rows("timeline", self.ann, viewer="ann.test", max_rows=2), ["labelled", "of cy by ann"])
        self.assertEqual(self.rows("timeline", self.bob, viewer="dee.test"), [])
        (at,) = self.column(f"select sort_at from bsky.timeline('{self.ann.did}', 1, viewer => 'dee.test')")
        self.assertEqual(self.rows("timeline", self.ann, viewer="dee.test", before=at), ["old"])

    def test_a_feed_has_no_replies_to_blocked_accounts(self):
        """api/app/bsky/feed/getTimeline.ts, noBlocksOrMutes: ancestorAuthorBlocked"""
        for account in (self.bob, self.cy):
            self.put(self.ann, "graph.follow", {"subject": account.did})
        root = self.post(self.dee, "root")
        reply = self.post(self.cy, "reply", root)
        below = self.post(self.bob, "below", reply, root)
        self.post(self.cy, "third", below, root)
        self.put(self.bob, "feed.repost", {"subject": reference(root)})
        self.store()
        everything = ["root by bob", "third", "below", "reply"]
        self.assertEqual(self.rows("feed_of", self.ann), everything)
        self.assertEqual(self.rows("feed_of", self.ann, viewer="ann.test"), everything)
        self.block(self.dee, self.ann)
        self.store()
        self.assertEqual(self.rows("feed_of", self.ann, viewer="ann.test"), ["third"])
        self.assertEqual(self.rows("feed_of", self.ann), everything)
        self.block_by_list(self.ann, self.ann, self.bob)
        self.store()
        self.assertEqual(self.rows("feed_of", self.ann, viewer="ann.test"), [])

    def test_skua_query_takes_a_viewer_and_pages(self):
        posts = [self.post(self.ann, str(number)) for number in range(3)]
        reply = self.post(self.bob, "a reply", posts[0])
        self.block(self.bob, self.cy)
        self.store()

        def answer(*arguments):
            return json.loads("\n".join(self.skua(self.db, "query", *arguments, "--json").stdout))["rows"]

        self.assertEqual([row["text"] for row in answer("thread", posts[0])], ["0", "a reply"])
        self.assertEqual([row["text"] for row in answer("thread", posts[0], "--viewer", "cy.test")], ["0"])
        self.assertEqual([row["depth"] for row in answer("thread", reply)], [-1, 0])
        first = answer("timeline", "ann.test", "--limit", "2")
        self.assertEqual([row["text"] for row in first], ["2", "1"])
        more = ("timeline", "ann.test", "--before", first[-1]["sort_at"], "--viewer", "bob.test")
        self.assertEqual([row["text"] for row in answer(*more)], ["0"])
        self.assertIn(f"before => ('{first[-1]['sort_at']}')::timestamptz", "\n".join(self.skua(self.db, "query", *more, "--sql").stdout))
        links = answer("backlinks", posts[0], "--limit", "1") + answer("backlinks", posts[0])
        self.assertEqual(answer("backlinks", posts[0], "--before", links[0]["page_key"]), links[2:])
        self.assertEqual(answer("relationship", "cy.test", "bob.test")[0]["blocked_by"].split("/")[2], self.bob.did)
        for wrong in (("timeline", "ann.test", "--before", "yesterday"), ("backlinks", posts[0], "--before", "1 2 x"),
                      ("thread", posts[0], "--viewer", "not an account")):
            program = self.skua(self.db, "query", *wrong, code=2)
            self.assertRegex("\n".join(program.stderr), "--(before|viewer)", wrong)

    # Notifications.

    def test_the_kinds_of_notifications(self):
        """data-plane/server/indexing/plugins: verification.ts, profile.ts, like.ts, repost.ts"""
        post = self.post(self.ann, "a post")
        repost = self.put(self.bob, "feed.repost", {"subject": reference(post)})
        self.put(self.cy, "feed.like", {"subject": reference(post), "via": reference(repost)})
        self.put(self.cy, "feed.repost", {"subject": reference(post), "via": reference(repost)})
        pack = self.put(self.dee, "graph.starterpack", {"name": "a pack", "list": f"at://{self.dee.did}/app.bsky.graph.list/a"})
        self.put(self.cy, "actor.profile", {"joinedViaStarterPack": reference(pack)}, "self")
        self.store()
        self.assertEqual(sorted(self.notified(self.ann)), ["like by cy", "repost by bob", "repost by cy"])
        self.assertEqual(sorted(self.notified(self.bob)), ["like-via-repost by cy", "repost-via-repost by cy"])
        self.assertEqual(self.notified(self.dee), ["starterpack-joined by cy"])
        self.assertEqual(self.column(f"select subject_uri from bsky.notifications_of('{self.dee.did}')"), [pack])
        # like.ts, notifsForInsert: a like of an own record notifies nobody, and a like via an own repost notifies twice.
        self.put(self.ann, "feed.like", {"subject": reference(post), "via": reference(repost)})
        own = self.put(self.ann, "feed.repost", {"subject": reference(post)})
        self.put(self.dee, "feed.like", {"subject": reference(post), "via": reference(own)})
        self.store()
        self.assertEqual(sorted(self.notified(self.bob)), ["like-via-repost by cy", "repost-via-repost by cy"])
        self.assertEqual(sorted(self.notified(self.ann)), ["like by cy", "like by dee", "like-via-repost by dee", "repost by bob", "repost by cy"])

    def verify(self, account, subject):
        return self.put(account, "graph.verification", {"subject": subject.did, "handle": "bob.test", "displayName": "Bob"})

    def test_verifications_by_trusted_verifiers_notify_and_so_does_their_removal(self):
        """verification.ts: notifsForInsert, notifsForDelete; data-plane/server/routes/profile.ts: trustedVerifier"""
        self.db.run(f"insert into skua.trusted_accounts values ('verifier', '{self.ann.did}')")
        first = self.verify(self.ann, self.bob)
        second = self.verify(self.ann, self.bob)
        self.verify(self.cy, self.bob)
        self.store()
        self.assertEqual(self.notified(self.bob), ["verified by ann"])
        self.ann.delete(second)
        self.store()
        self.assertEqual(self.notified(self.bob), ["verified by ann"])
        self.ann.delete(first)
        self.store()
        self.assertEqual(self.notified(self.bob), ["unverified by ann", "verified by ann"])
        self.assertEqual(self.column(f"select uri from bsky.notifications_of('{self.bob.did}')"), [first, first])
        # A new build keeps them.
        self.skua(self.db, "consumers", "rebuild", "notifications")
        self.skua(self.db, "consumers", "run-until-idle")
        self.assertEqual(self.notified(self.bob), ["unverified by ann", "verified by ann"])
        self.verify(self.ann, self.bob)
        self.store()
        self.assertEqual(sorted(self.notified(self.bob)), ["unverified by ann", "verified by ann", "verified by ann"])

    def test_a_second_verification_notifies_when_the_first_one_is_removed(self):
        self.db.run(f"insert into skua.trusted_accounts values ('verifier', '{self.ann.did}')")
        first = self.verify(self.ann, self.bob)
        self.store()
        second = self.verify(self.ann, self.bob)
        self.store()
        self.ann.delete(first)
        self.store()
        rows = self.db.rows(f"select reason, uri from bsky.notifications_of('{self.bob.did}')")
        self.assertEqual({(row["reason"], row["uri"]) for row in rows}, {("verified", first), ("unverified", first), ("verified", second)})

    def test_an_account_is_verified_while_it_has_the_verified_names(self):
        """views/index.ts, verification: isValid and verifiedStatus"""
        self.verify(self.ann, self.bob)
        self.put(self.bob, "actor.profile", {"displayName": "Bob"}, "self")
        self.store()

        def state():
            return self.db.rows("select v.is_trusted, v.is_valid, a.verification from bsky.verifications_view v, bsky.actors_view a "
                                f"where a.did = '{self.bob.did}'")

        self.assertEqual(state(), [{"is_trusted": False, "is_valid": True, "verification": "none"}])
        self.db.run(f"insert into skua.trusted_accounts values ('verifier', '{self.ann.did}')")
        self.assertEqual(state(), [{"is_trusted": True, "is_valid": True, "verification": "valid"}])
        self.put(self.bob, "actor.profile", {"displayName": "Robert"}, "self")
        self.store()
        self.assertEqual(state(), [{"is_trusted": True, "is_valid": False, "verification": "invalid"}])

    def test_a_reply_notifies_the_authors_of_four_posts_above(self):
        """post.ts, notifsForInsert: ancestor.height < REPLY_NOTIF_DEPTH"""
        people = [self.network.account(f"author{number}") for number in range(6)]
        chain = [self.post(people[0], "0")]
        for number in range(1, 6):
            chain.append(self.post(people[number], str(number), chain[-1], chain[0]))
        self.store()
        last = people[5]
        notified = self.column("select recipient_name from bsky.notifications_view where reason = 'reply' "
                               f"and did = '{last.did}' order by 1")
        self.assertEqual(notified, [f"author{number}.test" for number in range(1, 5)])

    def test_an_account_does_not_see_notifications_of_blocked_accounts_and_hidden_replies(self):
        """api/app/bsky/notification/listNotifications.ts, noBlockOrMutesOrNeedsFiltering"""
        post = self.post(self.ann, "a post")
        for account in (self.bob, self.cy, self.dee):
            self.put(account, "feed.like", {"subject": reference(post)})
        reply = self.post(self.cy, "a reply", post)
        taken = self.post(self.cy, "another", post)
        self.block(self.bob, self.ann)
        self.block_by_list(self.ann, self.ann, self.dee)
        self.store()
        everything = ["reply by cy", "reply by cy", "like by dee", "like by cy", "like by bob"]
        self.assertEqual(self.notified(self.ann), everything)
        self.assertEqual(self.notified(self.ann, viewer="ann.test"), ["reply by cy", "reply by cy", "like by cy"])
        self.put(self.ann, "feed.threadgate", {"post": post, "hiddenReplies": [reply]}, post.split("/")[-1])
        self.store()
        self.assertEqual(self.notified(self.ann, viewer="ann.test"), ["reply by cy", "like by cy"])
        self.label(taken, "!takedown")
        self.assertEqual(self.notified(self.ann, viewer="ann.test"), ["like by cy"])
        self.assertEqual(self.notified(self.ann), everything)
        # Paging.
        times = self.column(f"select sort_at from bsky.notifications_of('{self.ann.did}')")
        self.assertEqual(self.notified(self.ann, before=times[2]), everything[3:])

    # Records that refer to others, and the content of posts.

    def test_backlinks_are_counted_and_filtered_by_collection_path_and_author(self):
        post = self.post(self.ann, "a post")
        for account in (self.bob, self.cy, self.dee):
            self.put(account, "feed.like", {"subject": reference(post)})
        self.put(self.bob, "feed.like", {"subject": reference(post)})
        self.post(self.bob, "a reply", post)
        self.network.send("#account", did=self.dee.did, active=False, status="deactivated")
        self.store()
        counts = [("app.bsky.feed.like", "subject.uri", 3, 2), ("app.bsky.feed.post", "reply.parent.uri", 1, 1),
                  ("app.bsky.feed.post", "reply.root.uri", 1, 1)]

        def counted():
            return [tuple(row.values()) for row in
                    self.db.rows(f"select collection, path, records, accounts from bsky.backlink_counts('{post}')")]

        self.assertEqual(counted(), counts)
        # With more than 30,000 inactive accounts the function looks the accounts of the links up.
        self.db.run("insert into bsky.actors (id, did, indexed_at, active) overriding system value "
                    "select -i, 'did:web:away' || i || '.test', now(), false from generate_series(1, 30001) i")
        self.assertEqual(counted(), counts)
        self.db.run("delete from bsky.actors where id < 0")

        def found(arguments, of=post):
            return [f"{row['name']} {row['path']}" for row in self.db.rows(f"select name, path from bsky.backlinks('{of}'{arguments})")]

        self.assertEqual(len(found("")), 5)
        self.assertEqual(sorted(found(", in_collection => 'app.bsky.feed.like'")), ["bob.test subject.uri"] * 2 + ["cy.test subject.uri"])
        self.assertEqual(found(", at_path => 'reply.root.uri'"), ["bob.test reply.root.uri"])
        self.assertEqual(found(", by_account => 'cy.test'"), ["cy.test subject.uri"])
        for none in (", in_collection => 'com.example.none'", ", at_path => 'none'", ", by_account => 'nobody.test'"):
            self.assertEqual(found(none), [], none)
        # Pages. The newest record is of an inactive account, and the others have the same time.
        self.db.run("update bsky.likes set created_at = case when actor_id = bsky.actor_id('dee.test') then now() else '2026-01-01Z' end,"
                    "indexed_at = now(); update bsky.posts set created_at = '2026-01-01Z'")

        def pages():
            last, lists = "", []
            while page := self.db.rows(f"select name, path, uri, page_key from bsky.backlinks('{post}', 2{last})"):
                lists.append([(row["name"], row["path"], row["uri"]) for row in page])
                last = f", before => '{page[-1]['page_key']}'"
            return lists

        without = pages()
        self.assertEqual([len(page) for page in without], [2, 2, 1])
        self.assertEqual(len({row for page in without for row in page}), 5)
        for index in ("newest-likes", "newest-reposts", "newest-followers"):
            self.skua(self.db, "index", "add", index)
        self.assertEqual(pages(), without)
        self.assertEqual(found(", by_account => 'cy.test'"), ["cy.test subject.uri"])
        # Of an account.
        for account in (self.bob, self.cy, self.dee):
            self.put(account, "graph.follow", {"subject": self.ann.did})
        self.store()
        follows = ["bob.test subject", "cy.test subject"]
        self.assertEqual(sorted(found("", self.ann.did)), follows)
        newest = found(", 1", self.ann.did)
        self.db.run("drop index bsky.follows_newest")
        self.assertEqual(sorted(found("", self.ann.did)), follows)
        self.assertEqual(found(", 1", self.ann.did), newest)

    def test_link_cards_videos_and_galleries_have_views(self):
        """data-plane/server/indexing/plugins/post.ts: items of a gallery of another kind are no images."""
        card = {"uri": "https://Example.com/a", "title": "A page", "description": "About it", "thumb": {**BLOB, "mimeType": "image/png"}}
        video = {"$type": "app.bsky.embed.video", "video": BLOB, "alt": "a cat", "aspectRatio": {"width": 16, "height": 9},
                 "captions": [{"lang": "en", "file": {**BLOB, "mimeType": "text/vtt"}}]}
        image = {"$type": "app.bsky.embed.gallery#image", "image": {**BLOB, "mimeType": "image/png"}, "alt": "",
                 "aspectRatio": {"width": 1, "height": 1}}
        post = self.post(self.ann, "a post")
        quote = {"$type": "app.bsky.embed.record", "record": reference(post)}
        embeds = {"card": {"$type": "app.bsky.embed.external", "external": card}, "video": video,
                  "both": {"$type": "app.bsky.embed.recordWithMedia", "record": quote, "media": video},
                  "gallery": {"$type": "app.bsky.embed.gallery", "items": [{"$type": "com.example.map"}, image]}}
        for text, embed in embeds.items():
            self.post(self.bob, text, embed=embed)
        self.store()
        cid = BLOB["ref"].text()
        self.assertEqual(self.db.rows("select link, host, title, description, thumb_cid from bsky.post_link_cards_view"), [
            {"link": "https://Example.com/a", "host": "example.com", "title": "A page", "description": "About it", "thumb_cid": cid}])
        a_video = {"cid": cid, "alt": "a cat", "mime_type": "video/mp4", "size": 9, "width": 16, "height": 9, "caption_langs": ["en"]}
        self.assertEqual(self.db.rows("select cid, alt, mime_type, size, width, height, caption_langs from bsky.post_videos_view"), [a_video] * 2)
        self.assertEqual(self.db.rows("select i.position, i.mime_type, p.text from bsky.post_images_view i join bsky.posts_view p using (uri)"),
                         [{"position": 2, "mime_type": "image/png", "text": "gallery"}])
        self.assertEqual(self.db.rows("select text from bsky.posts_view where not has_video order by text"),
                         [{"text": text} for text in ("a post", "card", "gallery")])

    def test_views_have_the_keys_as_text_and_the_pages_of_bsky_app(self):
        post = self.post(self.ann, "a post")
        like = self.put(self.bob, "feed.like", {"subject": reference(post)})
        pack = self.put(self.ann, "graph.starterpack", {"name": "a pack", "list": f"at://{self.ann.did}/app.bsky.graph.list/a"}, "my-pack")
        self.put(self.ann, "actor.profile", {"displayName": "Ann"}, "self")
        self.store()
        self.assertEqual(self.column("select rkey_text from bsky.likes_view"), [like.split("/")[-1]])
        self.assertEqual(self.column("select rkey_text from bsky.profiles_view"), ["self"])
        for view, uri in (("posts_view", post), ("starter_packs_view", pack)):
            (row,) = self.db.rows(f"select rkey_text, url, bsky.at_uri(url) as named from bsky.{view}")
            self.assertEqual([row["rkey_text"], row["named"]], [uri.split("/")[-1], uri])
        for view in ("profiles_view", "actors_view"):
            self.assertEqual(self.db.run(f"select bsky.actor_id(url) = bsky.actor_id(did) from bsky.{view} where did = '{self.ann.did}'"), "t")


if __name__ == "__main__":
    unittest.main()
