"""Projections that users add, in a query database: sums and rows of the nodes."""

import test_nodes
import test_own_projections
from harness import EndToEnd
from simulated_capture import SimulatedCapture

# What each view shows, with names in place of numbers, which are others in one database.
SHOWN = {
    "lang_days": "select day, lang, posts from projections.lang_days",
    "follow_days": "select a.did, t.day, t.follows, t.followers from projections.follow_days t join bsky.actors a on a.id = t.account",
    "engagement": "select a.did, t.likes, t.reposts, t.score from projections.engagement t join bsky.actors a on a.id = t.author",
    "long_posts": "select a.did, bsky.rkey_text(t.actor_id, 1, t.rkey), t.size from projections.long_posts t join bsky.actors a on a.id = t.actor_id",
    "balance": "select reposted, records from projections.balance",
    "likers": "select part, likes from projections.likers",
}
LONG_POSTS = """-- projection: long_posts
-- help: Posts with a long text, and the difference of likes and reposts
-- version: {version}
-- collections: app.bsky.feed.post
-- table: long_posts
actor_id int8 NOT NULL, rkey int8 NOT NULL, size int4 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- rows: long_posts
SELECT p.actor_id, p.rkey, length(p.text) AS size FROM {{keys}} AS k JOIN bsky.posts AS p USING (actor_id, rkey)
WHERE p.cid IS NOT NULL AND length(p.text) > {least}
"""
# The sums of one account are 0 in all databases, and those of a row can be 0 on all nodes together only.
BALANCE = """-- projection: balance
-- help: One for each even record key, and minus one for each odd one
-- collections: app.bsky.feed.repost
-- internal table: signs
actor_id int8 NOT NULL, rkey int8 NOT NULL, reposted int8 NOT NULL, sign int4 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: balance
reposted int8 NOT NULL PRIMARY KEY, records int8 NOT NULL
-- rows: signs
SELECT r.actor_id, r.rkey, r.subject_rkey % 7 AS reposted, CASE WHEN r.rkey >> 10 & 1 = 0 THEN 1 ELSE -1 END AS sign
FROM {keys} AS k JOIN bsky.reposts AS r USING (actor_id, rkey) WHERE r.subject_rkey IS NOT NULL
-- sum: balance
SELECT reposted, sum(sign) AS records FROM {signs} GROUP BY reposted
"""
# A file with its own fill and fold.
LIKERS = """-- projection: likers
-- help: Likes by two bits of the record key
-- table: likers
part int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL{nodes}
-- fragment: all
SELECT l.rkey >> 10 & 3 AS part, count(*) AS likes FROM bsky.likes AS l GROUP BY 1
-- fill
INSERT INTO {{likers}} (part, likes) {{{{all}}}}
-- fold
INSERT INTO {{likers}} AS t (part, likes) {{{{all}}}}
ON CONFLICT (part) DO UPDATE SET likes = EXCLUDED.likes WHERE $1::int8 < $2::int8
"""


class NodeProjections(EndToEnd):
    joined = test_nodes.Nodes.joined
    file, projection = test_own_projections.OwnProjections.file, test_own_projections.OwnProjections.projection

    def rows(self, database, name):
        return sorted(database.run(SHOWN[name]).split("\n"))

    def build(self, *databases):
        for database in databases:
            self.skua(database, "consumers", "run-until-idle")

    def add(self, files, *databases):
        for name, text in files.items():
            for database in databases:
                self.projection(database, "add", self.file(name, text))
                self.skua(database, "consumers", "add", name)

    def test_the_tables_of_nodes_are_those_of_one_database(self):
        files = {**test_own_projections.examples(), "long_posts": LONG_POSTS.format(version=1, least=40), "balance": BALANCE,
                 "likers": LIKERS.format(nodes="\n-- nodes: sums")}
        capture = SimulatedCapture(self, events=1500, accounts=30)
        one = self.database()
        ask, nodes = self.joined()
        self.add(files, one, ask)
        self.assertEqual(ask.run("select count(*), bool_or(bsky.is_current('lang_days')) from projections.lang_days"), "0|")
        for database in (one, *nodes, *nodes):
            self.skua(database, "replay", capture.frames)
        self.build(one, nodes[0])
        self.assertEqual(ask.run("select (select count(*) from projections.lang_days), bsky.is_current('lang_days')"), "0|f")
        self.assertRegex(self.projection(ask, "list"), "lang_days +added +version 1, the node n0: version 1 running, the node n1: version 1 being built")
        self.build(nodes[1])
        for name in files:
            self.assertEqual(self.rows(ask, name), self.rows(one, name), name)
            self.assertGreater(len(self.rows(one, name)), 1, name)
            self.assertEqual(ask.run(f"select bsky.is_current('{name}')"), "t")
        self.assertIn("the node n1: lang_days equals the records", "\n".join(self.skua(ask, "consumers", "verify", "lang_days").stdout))
        # The condition on the key is sent to the nodes.
        self.assertRegex(ask.run("explain (verbose) select * from projections.lang_days where lang = 'en'"), "Remote SQL: .* FROM projections.lang_days WHERE .*lang = 'en'")

        # Another version: no rows while only one node has it.
        self.projection(ask, "add", self.file("long_posts", LONG_POSTS.format(version=2, least=60)))
        self.projection(one, "add", self.file("long_posts", LONG_POSTS.format(version=2, least=60)))
        self.build(one, nodes[0])
        self.assertEqual(ask.run("select (select count(*) from projections.long_posts), bsky.is_current('long_posts')"), "0|f")
        self.build(nodes[1])
        self.assertEqual(self.rows(ask, "long_posts"), self.rows(one, "long_posts"))
        # With other columns: no rows until all nodes have it.
        long_posts = LONG_POSTS.format(version=3, least=60).replace("size int4 NOT NULL", "size int4 NOT NULL, words int4 NOT NULL").replace(
            "AS size", "AS size, cardinality(string_to_array(p.text, ' ')) AS words")
        for database in (ask, one):
            self.projection(database, "add", self.file("long_posts", long_posts))
        empty = "select (select coalesce(sum(words), 0) from projections.long_posts), bsky.is_current('long_posts')"
        self.assertEqual(ask.run(empty), "0|f")
        self.build(one, nodes[0])
        self.assertEqual(ask.run(empty), "0|f")
        self.build(nodes[1])
        self.assertEqual(self.rows(ask, "long_posts"), self.rows(one, "long_posts"))
        words = "select sum(words) from projections.long_posts"
        self.assertEqual(ask.run(words), one.run(words))
        # `skua migrate` connects the tables again.
        for database in (*nodes, ask):
            database.run("update skua.schema_files set checksum = 'old' where name = 'views/feed.sql'")
            self.skua(database, "migrate")
        self.assertEqual(self.rows(ask, "engagement"), self.rows(one, "engagement"))

    def test_commands(self):
        ask, nodes = self.joined()
        long_posts = self.file("long_posts", LONG_POSTS.format(version=1, least=40))
        self.assertIn("this is a query database", self.projection(ask, "check", long_posts, code=1))
        self.assertIn("added long_posts: `skua consumers add long_posts`", self.projection(ask, "add", long_posts))
        self.assertIn("long_posts: nothing changed", self.projection(ask, "add", long_posts))
        self.assertIn("there is no projection 'none'", "\n".join(self.skua(ask, "consumers", "add", "none", code=2).stderr))
        self.skua(ask, "consumers", "add", "long_posts")
        shown = self.projection(ask, "show", "long_posts")
        self.assertRegex(shown, "-- the node n1: version 1, SHA-256 .*; consumers: next, filling\n-- projection: long_posts")
        self.assertIn("the node n0: a consumer uses it: run `skua consumers remove long_posts` first", self.projection(ask, "remove", "long_posts", code=1))
        other = self.file("other", LONG_POSTS.format(version=1, least=1).replace("projection: long_posts", "projection: other"))
        self.assertIn("the projection long_posts has a table long_posts, too", self.projection(ask, "add", other, code=1))
        # A file that does not say how nodes are joined.
        self.assertIn("the query database does not show likers: write `-- nodes: rows`", self.projection(ask, "add", self.file("likers", LIKERS.format(nodes=""))))
        self.assertEqual(ask.run("select to_regclass('projections.likers')"), "")
        self.assertIn("has the value `rows` or `sums`", self.projection(ask, "add", self.file("likers", LIKERS.format(nodes="\n-- nodes: all")), code=2))
        self.assertIn("`-- nodes` is for a file with its own fill and fold",
                      self.projection(ask, "add", self.file("x", LONG_POSTS.format(version=1, least=1).replace("-- rows:", "-- nodes: rows\n-- rows:")), code=2))
        self.assertIn("the column likes outside of the key is a sum", self.projection(
            ask, "add", self.file("likers", LIKERS.format(nodes="\n-- nodes: sums").replace("likes int8", "likes text")), code=2))
        # A file without a consumer is replaced, and its former view is dropped.
        self.assertIn("likers has version 1", self.projection(ask, "add", self.file("likers", LIKERS.format(nodes="\n-- nodes: sums"))))
        self.assertEqual(ask.run("select count(*) from projections.likers"), "0")
        renamed = LIKERS.format(nodes="\n-- nodes: sums").replace("table: likers", "table: like_days").replace("{likers}", "{like_days}").replace("int8 NOT NULL PRIMARY", "int4 NOT NULL PRIMARY")
        self.projection(ask, "add", self.file("likers", renamed))
        for database in (ask, *nodes):
            self.assertEqual(database.run("select to_regclass('projections.likers'), to_regclass('projections.like_days')"), "|projections.like_days")

        # A node that lacks a projection.
        self.projection(nodes[0], "remove", "likers")
        self.assertTrue(self.skua(ask, "nodes", "sync").says("the node n0 has the projection likers now: `skua consumers add likers` builds it"))
        # A node that has a projection already is left out.
        self.skua(nodes[1], "consumers", "add", "likers")
        self.assertTrue((added := self.skua(ask, "consumers", "add", "likers")).says("the node n1 has likers already") and added.says("added likers"))
        self.assertTrue(self.skua(ask, "consumers", "add", "likers", code=1).says("the node n1: the consumer 'likers' exists already"))
        self.skua(ask, "consumers", "remove", "likers")
        self.projection(nodes[1], "remove", "likers")
        self.assertIn("removed likers", self.projection(ask, "remove", "likers"))
        self.assertIn("no projection likers was added", self.projection(ask, "remove", "likers", code=1))
        self.skua(ask, "consumers", "remove", "long_posts")
        self.assertIn("removed long_posts", self.projection(ask, "remove", "long_posts"))
        self.assertEqual(ask.run("select count(*) from pg_class where relnamespace = 'node_projections'::regnamespace"), "0")
        self.assertNotIn("long_posts", self.projection(ask, "list"))
