"""The functions and views of schema/ for questions of people, on few rows with known answers."""

import unittest

from harness import EndToEnd

# Accounts 1 to 6: ann, bob, cy, dee (inactive), one without a handle, and eve. Record keys are numbers: (key << 10) microseconds.
# Times are minutes after the start of the day.
MADE = """
insert into bsky.actors (id, did, handle, active, indexed_at) overriding system value values
  (1, 'did:plc:ann', 'ann.test', true, now()), (2, 'did:plc:bob', 'bob.test', true, now()), (3, 'did:plc:cy', 'cy.test', null, now()),
  (4, 'did:plc:dee', 'dee.test', false, now()), (5, 'did:plc:nobody', null, true, now()), (6, 'did:plc:eve', 'eve.test', true, now());
create function pg_temp.at(minute int8) returns timestamptz language sql as
  $$ select timestamptz '2026-01-02 00:00Z' + minute * interval '1 minute' $$;
create function pg_temp.key(minute int8) returns int8 language sql as
  $$ select (extract(epoch from pg_temp.at(minute)) * 1000000)::int8 << 10 $$;
create function pg_temp.post(actor int8, minute int8, content text, parent_actor int8 default null, parent int8 default null,
  quote_actor int8 default null, quote int8 default null) returns void language sql as $$
  insert into bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text, parent_actor, parent_rkey, quote_actor, quote_collection,
    quote_rkey)
  values (actor, pg_temp.key(minute), 1, pg_temp.at(minute), pg_temp.at(minute), sha256(''), content, parent_actor, pg_temp.key(parent),
    quote_actor, case when quote_actor is not null then 1 end, pg_temp.key(quote)) $$;
create function pg_temp.like(actor int8, minute int8, subject int8, post int8) returns void language sql as $$
  insert into bsky.likes (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor, subject_collection, subject_rkey)
  values (actor, pg_temp.key(minute), 1, pg_temp.at(minute), pg_temp.at(minute), sha256(''), subject, 1, pg_temp.key(post)) $$;
create function pg_temp.repost(actor int8, minute int8, subject int8, post int8) returns void language sql as $$
  insert into bsky.reposts (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor, subject_collection, subject_rkey)
  values (actor, pg_temp.key(minute), 1, pg_temp.at(minute), pg_temp.at(minute), sha256(''), subject, 1, pg_temp.key(post)) $$;
create function pg_temp.follow(actor int8, minute int8, subject int8) returns void language sql as $$
  insert into bsky.follows (actor_id, rkey, rev, indexed_at, created_at, cid, subject_actor)
  values (actor, pg_temp.key(minute), 1, pg_temp.at(minute), pg_temp.at(minute), sha256(''), subject) $$;
create function pg_temp.reply(actor int8, minute int8, content text, parent_actor int8, parent int8, root_actor int8, root int8)
  returns void language sql as $$
  select pg_temp.post(actor, minute, content, parent_actor, parent);
  update bsky.posts set root_actor = reply.root_actor, root_rkey = pg_temp.key(root) where (actor_id, rkey) = (actor, pg_temp.key(minute)) $$;
create function pg_temp.threadgate(actor int8, post int8, closed boolean, hidden_actor int8 default null, hidden int8 default null)
  returns void language sql as $$
  insert into bsky.threadgates (actor_id, rkey, rev, indexed_at, cid, post_actor, post_rkey, is_restricted, allow_mentioned, allow_following,
    allow_followers, hidden_replies)
  values (actor, pg_temp.key(post), 1, now(), sha256(''), actor, pg_temp.key(post), closed, false, true, false,
    array_remove(array[bsky.uri(hidden_actor, 1, pg_temp.key(hidden))], null)) $$;
create function pg_temp.postgate(actor int8, post int8, quote_actor int8, quote int8) returns void language sql as $$
  insert into bsky.postgates (actor_id, rkey, rev, indexed_at, cid, post_actor, post_rkey, embedding_disabled, detached_uris)
  values (actor, pg_temp.key(post), 1, now(), sha256(''), actor, pg_temp.key(post), false,
    array[bsky.uri(quote_actor, 1, pg_temp.key(quote))]) $$;
create function pg_temp.stub(actor int8, minute int8, deleted boolean) returns void language sql as $$
  insert into bsky.posts (actor_id, rkey, rev, indexed_at, is_deleted) values (actor, pg_temp.key(minute), 0, pg_temp.at(minute), deleted) $$;
"""


class Questions(EndToEnd):
    def setUp(self):
        self.db = self.database()

    def make(self, *calls):
        self.db.run(MADE + "".join(f"select pg_temp.{call};" for call in calls) + "analyze;")

    def column(self, query):
        return [row["x"] for row in self.db.rows(f"select x from ({query}) q(x)")]

    def uri(self, did, minute):
        return self.db.run(f"select 'at://{did}/app.bsky.feed.post/' || bsky.tid_text((extract(epoch from timestamptz "
                           f"'2026-01-02 00:00Z' + {minute} * interval '1 minute') * 1000000)::int8 << 10)")

    def test_the_time_of_a_key_is_a_second_opinion(self):
        self.make("post(1, 0, 'fits')", "post(1, 10, 'imported')", "post(1, 20, 'ahead')", "post(1, 30, 'no time')")
        self.db.run("update bsky.posts set created_at = created_at - interval '3 years' where text = 'imported';"
                    "update bsky.posts set created_at = created_at + interval '25 hours' where text = 'ahead';"
                    "update bsky.posts set created_at = null where text = 'no time'")
        self.assertEqual(self.db.value("select json_object_agg(text, has_doubtful_time) from bsky.posts_view"),
                         {"fits": False, "imported": True, "ahead": True, "no time": None})
        self.assertTrue(self.db.value("select bsky.tid_time(rkey) = indexed_at from bsky.posts where text = 'fits'"))
        self.assertTrue(self.db.value("select bsky.tid_time(-1) is null and bsky.tid_time(bsky.tid_number('3jzfcijpj2z2a')) "
                                      "= timestamptz '2023-06-30T15:03:01.887007Z'"))

    def test_accounts_have_the_time_of_their_first_operation(self):
        self.make()
        self.db.run("insert into skua.identities (did, fetched_at, created_at) values ('did:plc:ann', now(), '2023-04-05Z')")
        self.assertEqual(self.db.rows("select name from bsky.actors_view where account_created_at < '2024-01-01'"), [{"name": "ann.test"}])

    def test_backlinks_name_collection_and_path(self):
        self.make("post(1, 0, 'target')", "like(2, 1, 1, 0)", "repost(3, 2, 1, 0)", "reply(2, 3, 'reply', 1, 0, 1, 0)",
                  "post(3, 4, 'quote', null, null, 1, 0)", "threadgate(1, 0, true)", "like(4, 5, 1, 0)", "follow(2, 6, 1)",
                  "like(5, 7, 1, 99)")
        uri = self.uri("did:plc:ann", 0)
        self.db.run("insert into bsky.collections (id, nsid) values (1000, 'com.example.note');"
                    "insert into bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record) values "
                    f"(6, 1000, 1, 1, now(), sha256(''), '{{\"items\": [{{\"ref\": \"x\"}}, {{\"ref\": \"{uri}\"}}], \"of\": \"did:plc:ann\"}}'),"
                    "(6, 1000, 2, 1, now(), sha256(''), '{\"text\": \"about did:plc:ann\"}')")

        def found(target):
            return [f"{row['name']} {row['collection']} {row['path']}" for row in
                    self.db.rows(f"select * from bsky.backlinks('{target}') order by collection, path, name")]

        typed = ["ann.test app.bsky.feed.threadgate post", "bob.test app.bsky.feed.like subject.uri",
                 "bob.test app.bsky.feed.post reply.parent.uri", "bob.test app.bsky.feed.post reply.root.uri",
                 "cy.test app.bsky.feed.post embed", "cy.test app.bsky.feed.repost subject.uri"]
        self.assertEqual(sorted(found(uri)), typed, "the account of a like is inactive")
        self.skua(self.db, "index", "add", "backlinks")
        self.assertEqual(sorted(found(uri)), sorted([*typed, "eve.test com.example.note items[1].ref"]))
        rkey = uri.rpartition("/")[2]
        self.assertEqual(found(f"https://bsky.app/profile/ann.test/post/{rkey}"), found(uri))
        for account in ("ann.test", "did:plc:ann", "https://bsky.app/profile/ann.test"):
            self.assertEqual(sorted(found(account)), ["bob.test app.bsky.graph.follow subject", "eve.test com.example.note of"], account)
        self.assertEqual(found("https://bsky.app/profile/none.test"), [])
        self.assertEqual(len(self.db.rows(f"select * from bsky.backlinks('{uri}', 2)")), 2)

    def test_accounts_and_records_have_several_names(self):
        self.make("post(1, 0, 'one')")
        uri = self.uri("did:plc:ann", 0)
        rkey = uri.rpartition("/")[2]
        for account in ("did:plc:ann", "ann.test", "@Ann.test", "https://bsky.app/profile/ann.test", "at://ann.test",
                        f"https://bsky.app/profile/did:plc:ann/post/{rkey}"):
            self.assertEqual(self.db.value(f"select bsky.actor_id('{account}')"), 1, account)
        for post in (uri, f"at://ann.test/app.bsky.feed.post/{rkey}", f"https://bsky.app/profile/ann.test/post/{rkey}",
                     f"https://bsky.app/profile/did:plc:ann/post/{rkey}?ref=a#b"):
            self.assertEqual(self.column(f"select text from bsky.post('{post}')"), ["one"], post)
        for other in ("https://bsky.app/profile/ann.test", "https://example.com/profile/ann.test/post/1", "", "ann.test"):
            self.assertEqual(self.column(f"select 1 from bsky.resolve_uri('{other}')"), [], other)
        for url, collection in (("profile/ann.test/feed/a", "feed.generator"), ("profile/ann.test/lists/a", "graph.list"),
                                ("starter-pack/ann.test/a", "graph.starterpack")):
            self.assertEqual(self.db.run(f"select bsky.at_uri('https://bsky.app/{url}')"), f"at://ann.test/app.bsky.{collection}/a")

    def test_every_view_with_a_handle_has_a_name_that_is_never_null(self):
        self.make("post(1, 0, 'one')", "post(5, 1, 'two')", "follow(5, 2, 1)")
        views = self.db.rows(
            "select c.relname as view, array_agg(a.attname) as columns from pg_class c join pg_attribute a on a.attrelid = c.oid "
            "and a.attnum > 0 where c.relnamespace = 'bsky'::regnamespace and c.relkind = 'v' and c.relname like '%\\_view' group by 1")
        named = 0
        for view in views:
            if "handle" in view["columns"]:
                named += 1
                self.assertTrue({"name", "author_name"} & set(view["columns"]), view)
            if "subject_handle" in view["columns"]:
                self.assertIn("subject_name", view["columns"], view)
        self.assertGreater(named, 18)
        self.assertEqual(self.column("select name from bsky.posts_view order by sort_at"), ["ann.test", "did:plc:nobody"])
        self.assertEqual(self.column("select name from bsky.actors_view where id = 5"), ["did:plc:nobody"])
        self.assertEqual(self.column("select subject_name from bsky.follows_view"), ["ann.test"])

    def test_likes_and_reposts_of_an_account_count_once_by_the_first_record(self):
        self.make("post(1, 0, 'one')", "like(2, 5, 1, 0)", "like(2, 3, 1, 0)", "like(3, 4, 1, 0)", "like(4, 6, 1, 0)",
                  "like(5, 7, 1, 1)", "repost(2, 9, 1, 0)", "repost(2, 8, 1, 0)", "repost(4, 8, 1, 0)")
        uri = self.uri("did:plc:ann", 0)
        self.assertEqual(self.db.rows(f"select name, sort_at from bsky.likes_of('{uri}') order by sort_at desc"), [
            {"name": "cy.test", "sort_at": "2026-01-02T00:04:00+00:00"}, {"name": "bob.test", "sort_at": "2026-01-02T00:03:00+00:00"}])
        self.assertEqual(self.column(f"select sort_at::time from bsky.reposts_of('{uri}')"), ["00:08:00"])
        self.assertEqual(self.column("select count(*) from bsky.like_pairs"), [3])
        # The same key in another collection is another record.
        self.db.run("update bsky.likes set subject_collection = 6 where actor_id = 3")
        self.assertEqual(self.column(f"select name from bsky.likes_of('{uri}')"), ["bob.test"])

    def test_followers_follows_and_mutuals_count_active_accounts_once(self):
        self.make("follow(1, 0, 2)", "follow(1, 9, 2)", "follow(1, 1, 3)", "follow(1, 2, 4)", "follow(2, 3, 1)", "follow(2, 4, 1)",
                  "follow(4, 5, 1)", "follow(6, 6, 1)")
        self.assertEqual(self.column("select name from bsky.follows_of('ann.test') order by sort_at desc"), ["cy.test", "bob.test"])
        self.assertEqual(self.column("select name from bsky.followers_of('ann.test') order by sort_at"), ["bob.test", "eve.test"])
        self.assertEqual(self.column("select name from bsky.mutuals_of('https://bsky.app/profile/ann.test')"), ["bob.test"])
        self.assertEqual(self.column("select count(*) from bsky.follow_pairs"), [4])
        self.assertEqual(self.column("select name from bsky.followers_of('unknown.test')"), [])

    def test_replies_and_quotes_leave_out_stubs_and_inactive_accounts(self):
        self.make("post(1, 0, 'one')", "post(2, 1, 'reply', 1, 0)", "post(4, 2, 'inactive', 1, 0)", "post(3, 3, 'quote', null, null, 1, 0)",
                  "stub(5, 4, true)")
        uri = self.uri("ann.test", 0)
        self.assertEqual(self.column(f"select text from bsky.replies_of('{uri}')"), ["reply"])
        self.assertEqual(self.column(f"select text from bsky.quotes_of('{uri}')"), ["quote"])

    def thread(self, arguments):
        return self.column(f"select repeat('.', depth) || text from bsky.thread({arguments}) order by place")

    def test_a_thread_is_a_tree_with_depth(self):
        self.make("post(1, 0, 'a')", "post(2, 2, 'c', 1, 0)", "post(3, 1, 'b', 1, 0)", "post(1, 5, 'b1', 3, 1)", "post(2, 6, 'b11', 1, 5)",
                  "post(2, 4, 'c1', 2, 2)", "post(4, 7, 'inactive', 1, 0)", "post(2, 8, 'below', 4, 7)")
        uri = self.uri("did:plc:ann", 0)
        self.assertEqual(self.thread(f"'{uri}'"), ["a", ".b", "..b1", "...b11", ".c", "..c1"])
        self.assertEqual(self.thread(f"'{uri}', 1"), ["a", ".b", ".c"])
        self.assertEqual(self.thread(f"'{uri}', max_posts => 3"), ["a", ".b", ".c"])
        self.assertEqual(self.thread(f"'{self.uri('cy.test', 1)}'"), ["b", ".b1", "..b11"])
        self.assertEqual(self.thread("'at://ann.test/app.bsky.feed.post/3l6oveex3ii2l'"), [])

    def test_a_thread_ends_at_a_cycle_and_begins_with_a_missing_post(self):
        self.make("post(1, 0, 'a', 3, 2)", "post(2, 1, 'b', 1, 0)", "post(3, 2, 'c', 2, 1)", "post(6, 3, 'self', 6, 3)",
                  "stub(5, 4, false)", "post(1, 5, 'reply', 5, 4)")
        self.assertEqual(self.thread(f"'{self.uri('ann.test', 0)}'"), ["a", ".b", "..c"])
        self.assertEqual(self.thread(f"'{self.uri('bob.test', 1)}'"), ["b", ".c", "..a"])
        self.assertEqual(self.thread(f"'{self.uri('eve.test', 3)}'"), ["self"])
        self.assertEqual(self.thread(f"'{self.uri('did:plc:nobody', 4)}'"), [".reply"])

    # ann closes the thread of 'a' except for cy, whom she follows, and hides 'hidden'. Below 'hidden' cy names another root.
    RULES = ("post(1, 0, 'a')", "post(6, 1, 'other')", "follow(1, 1, 3)", "reply(3, 2, 'allowed', 1, 0, 1, 0)",
             "reply(2, 3, 'closed', 1, 0, 1, 0)", "reply(3, 4, 'below closed', 2, 3, 1, 0)", "reply(3, 5, 'hidden', 1, 0, 1, 0)",
             "reply(3, 6, 'below hidden', 3, 5, 1, 0)", "reply(3, 7, 'invalid', 3, 2, 6, 1)", "reply(3, 8, 'below invalid', 3, 7, 6, 1)",
             "reply(3, 9, 'foreign', 1, 0, 6, 1)", "threadgate(1, 0, true, 3, 5)")

    def build(self, *projections):
        for name in projections:
            self.skua(self.db, "consumers", "add", name)
        self.skua(self.db, "consumers", "run-until-idle")

    def validity(self, arguments):
        return [(row["text"], row["depth"], row["validity"])
                for row in self.db.rows(f"select text, depth, validity from bsky.thread({arguments}) order by place")]

    def test_a_thread_leaves_out_replies_that_break_its_rules_and_marks_hidden_ones(self):
        self.make(*self.RULES)
        uri = self.uri("ann.test", 0)
        everything = ["a", ".allowed", "..invalid", "...below invalid", ".closed", "..below closed", ".hidden", "..below hidden", ".foreign"]
        self.assertEqual(self.thread(f"'{uri}'"), everything)
        self.assertEqual({validity for _, _, validity in self.validity(f"'{uri}'")}, {None})
        self.build("post_rules")
        self.assertEqual(self.validity(f"'{uri}'"), [
            ("a", 0, "valid"), ("allowed", 1, "valid"), ("hidden", 1, "is_hidden"), ("below hidden", 2, "valid")])
        self.assertEqual(self.thread(f"'{uri}', all_replies => true"), everything)
        self.assertEqual([(text, validity) for text, _, validity in self.validity(f"'{uri}', all_replies => true") if validity != "valid"], [
            ("invalid", "has_invalid_root"), ("closed", "violates_threadgate"), ("hidden", "is_hidden"), ("foreign", "has_invalid_root")])
        # Nothing is below a first post that violates the threadgate. One with an invalid root is in a thread of its own.
        closed = self.uri("bob.test", 3)
        self.assertEqual(self.validity(f"'{closed}'"), [("closed", 0, "violates_threadgate")])
        self.assertEqual(self.thread(f"'{closed}', all_replies => true"), ["closed", ".below closed"])
        self.assertEqual(self.validity(f"'{self.uri('cy.test', 7)}'"), [("invalid", 0, "has_invalid_root"), ("below invalid", 1, "valid")])

    def test_a_thread_names_every_rule_that_a_post_breaks(self):
        self.make("post(1, 0, 'a')", "post(6, 1, 'other')", "reply(2, 3, 'all', 1, 0, 1, 0)", "threadgate(1, 0, true, 2, 3)", "postgate(6, 1, 2, 3)")
        self.db.run("update bsky.posts set quote_actor = 6, quote_collection = 1, quote_rkey = (select rkey from bsky.posts where text = 'other') "
                    "where text = 'all'")
        self.build("post_rules")
        self.assertEqual(self.validity(f"'{self.uri('ann.test', 0)}', all_replies => true"), [
            ("a", 0, "valid"), ("all", 1, "violates_threadgate, is_hidden, violates_embedding_rules")])

    def test_a_rule_that_is_known_to_be_broken_applies_while_the_projection_is_behind(self):
        self.make(*self.RULES)
        self.build("post_rules")
        self.db.run("update skua.consumers set state = 'stopped'")
        uri = self.uri("ann.test", 0)
        self.assertEqual(self.db.run("select bsky.is_current('post_rules')"), "f")
        self.assertEqual(self.validity(f"'{uri}'"), [("a", 0, None), ("allowed", 1, None), ("hidden", 1, "is_hidden"), ("below hidden", 2, None)])
        self.assertEqual(self.column(f"select text from bsky.replies_of('{uri}') order by sort_at"), ["allowed", "hidden"])

    def test_replies_and_quotes_leave_out_those_that_break_rules(self):
        self.make(*self.RULES, "post(2, 20, 'quote', null, null, 1, 0)", "post(6, 21, 'detached', null, null, 1, 0)", "postgate(1, 0, 6, 21)")
        uri = self.uri("ann.test", 0)
        replies, quotes = (f"select text from bsky.{name}('{uri}'%s) order by sort_at" for name in ("replies_of", "quotes_of"))
        self.assertEqual(self.column(replies % ""), ["allowed", "closed", "hidden", "foreign"])
        self.assertEqual(self.column(quotes % ""), ["quote", "detached"])
        self.build("post_rules")
        self.assertEqual(self.column(replies % ""), ["allowed", "hidden"])
        self.assertEqual(self.column(replies % ", true"), ["allowed", "closed", "hidden", "foreign"])
        self.assertEqual(self.column(quotes % ""), ["quote"])
        self.assertEqual(self.column(quotes % ", true"), ["quote", "detached"])
        self.assertEqual(self.db.rows(f"select text, is_hidden from bsky.replies_of('{uri}') order by sort_at"), [
            {"text": "allowed", "is_hidden": False}, {"text": "hidden", "is_hidden": True}])

    def test_a_timeline_has_posts_and_reposts_newest_first(self):
        self.make("post(1, 0, 'old')", "post(1, 5, 'new')", "post(2, 1, 'of bob')", "post(4, 2, 'inactive')", "stub(3, 3, true)",
                  "stub(5, 4, false)", "repost(1, 10, 2, 1)", "repost(1, 30, 2, 1)", "repost(1, 11, 4, 2)", "repost(1, 12, 3, 3)",
                  "repost(1, 13, 5, 4)", "post(2, 20, 'other')")
        rows = self.db.rows("select name, text, reposted_by from bsky.timeline('ann.test')")
        self.assertEqual([(row["name"], row["text"], row["reposted_by"]) for row in rows], [
            ("bob.test", "of bob", "ann.test"), ("ann.test", "new", None), ("ann.test", "old", None)])
        self.assertEqual(self.column("select text from bsky.timeline('ann.test', 2)"), ["of bob", "new"])
        self.assertEqual(self.column("select text from bsky.timeline('dee.test')"), [])
        self.assertEqual(self.column("select text from bsky.timeline('unknown.test')"), [])

    def test_a_duplicate_repost_appears_when_the_first_is_deleted(self):
        self.make("post(2, 1, 'of bob')", "repost(1, 30, 2, 1)", "repost(1, 10, 2, 1)", "repost(1, 5, 2, 1)")
        timeline = "select sort_at::time from bsky.timeline('ann.test')"
        self.assertEqual(self.column(timeline), ["00:05:00"])
        # A repost of another record with the same key does not count.
        self.db.run("update bsky.reposts set subject_collection = 6 where rkey = (select min(rkey) from bsky.reposts)")
        self.assertEqual(self.column(timeline), ["00:10:00"])
        self.db.run("delete from bsky.reposts where rkey = (select min(rkey) from bsky.reposts where subject_collection = 1)")
        self.assertEqual(self.column(timeline), ["00:30:00"])

    def test_a_feed_has_each_post_of_followed_accounts_once(self):
        self.make("follow(1, 0, 2)", "follow(1, 1, 3)", "follow(1, 2, 4)", "follow(1, 3, 2)", "post(1, 0, 'own')", "post(2, 1, 'of bob')",
                  "post(3, 2, 'of cy')", "post(4, 3, 'inactive')", "post(6, 4, 'of eve')", "repost(2, 10, 6, 4)", "repost(3, 11, 6, 4)",
                  "repost(3, 12, 2, 1)", "repost(4, 13, 6, 4)")
        rows = self.db.rows("select text, reposted_by from bsky.feed_of('ann.test')")
        self.assertEqual([(row["text"], row["reposted_by"]) for row in rows],
                         [("of bob", "cy.test"), ("of eve", "cy.test"), ("of cy", None)])

    def test_a_feed_of_many_accounts_is_that_of_its_posts_by_time(self):
        # 600 accounts with 3 posts each; the even ones are followed. Later all posts of followed accounts are older than 5,000 others.
        self.make()
        self.db.run("insert into bsky.actors (id, did, active, indexed_at) overriding system value "
                    "select i, 'did:plc:n' || i, true, now() from generate_series(100, 699) i;"
                    "insert into bsky.follows (actor_id, rkey, rev, indexed_at, cid, subject_actor) "
                    "select 1, i, 1, now(), sha256(''), i from generate_series(100, 699, 2) i;"
                    "insert into bsky.posts (actor_id, rkey, rev, indexed_at, cid, text) select i, (extract(epoch from t.at) * 1000000)::int8 "
                    "<< 10, 1, t.at, sha256(''), i || ' ' || n from generate_series(100, 699) i, generate_series(1, 3) n, lateral (select "
                    "timestamptz '2026-01-01Z' + (n * 1000 + i * 7 % 600) * interval '1 second' as at) t;"
                    "insert into bsky.reposts (actor_id, rkey, rev, indexed_at, cid, subject_actor, subject_collection, subject_rkey) "
                    "select 100, ((extract(epoch from timestamptz '2026-01-01 01:00Z') * 1000000)::int8 << 10), 1, '2026-01-01 01:00Z', "
                    "sha256(''), actor_id, 1, rkey from bsky.posts where text = '101 1'; analyze")
        expected = ("select coalesce(text, '') from (select text, indexed_at as at from bsky.posts where actor_id >= 100 and actor_id % 2 = 0 "
                    "union all select '101 1', '2026-01-01 01:00Z') i order by at desc limit 50")
        feed = "select text from bsky.feed_of('ann.test')"
        self.assertEqual(self.column(feed), self.column(expected))
        self.db.run("insert into bsky.posts (actor_id, rkey, rev, indexed_at, cid, text) select 6, i, 1, now(), sha256(''), 'late' "
                    "from generate_series(1, 6000) i; analyze")
        self.assertEqual(self.column(feed), self.column(expected.replace("actor_id >= 100", "actor_id >= 100 and text <> 'late'")))

    def test_a_search_finds_all_words_in_the_newest_posts(self):
        self.make("post(1, 0, 'Green tea, black coffee')", "post(2, 1, 'black tea')", "post(4, 2, 'black tea')", "stub(3, 3, false)")
        search = "select text from bsky.search('%s')"
        self.assertEqual(self.column(search % "tea black"), ["black tea", "Green tea, black coffee"])
        self.assertEqual(self.column(search % '"black tea"'), ["black tea"])
        self.assertEqual(self.column(search % "tea -coffee"), ["black tea"])
        self.assertEqual(self.column("select text from bsky.search('tea', 1)"), ["black tea"])
        self.assertEqual(self.column(search % "water"), [])

    def test_a_reader_may_ask_all_of_them(self):
        self.make("post(1, 0, 'one')")
        uri = self.uri("ann.test", 0)
        for call in (f"likes_of('{uri}')", f"reposts_of('{uri}')", f"replies_of('{uri}')", f"quotes_of('{uri}')", f"thread('{uri}')",
                     "timeline('ann.test')", "feed_of('ann.test')", "followers_of('ann.test')", "follows_of('ann.test')",
                     "mutuals_of('ann.test')", "notifications_of('ann.test')", "search('one')"):
            self.db.run(f"set role skua_reader; select * from bsky.{call}")


if __name__ == "__main__":
    unittest.main()
