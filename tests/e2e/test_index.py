"""`skua index`: optional indexes."""

import json
import unittest

import filled
from harness import EndToEnd


class Index(EndToEnd):
    def index(self, database, *arguments, code=0):
        return "\n".join(self.skua(database, "index", *arguments, code=code).output())

    def test_each_is_listed_added_used_and_removed(self):
        database = self.database()
        filled.fill(database, rows=3000, accounts=50, known=200)
        listed = [line.split()[:2] for line in self.index(database, "list").split("\n")[1:]]
        self.assertEqual(listed, [[name, "-"] for name in (
            "search", "backlinks", "like-times", "repost-times", "follow-times", "newest-likes", "newest-reposts", "newest-followers",
            "newest-members", "created-at", "names", "display-names")])
        for name, _ in listed:
            self.assertRegex(self.index(database, "add", name), rf"^{name}: \d+ kB$")
            # A second time changes nothing.
            self.index(database, "add", name)
        self.assertNotIn(" - ", self.index(database, "list"))
        for table in ("likes", "reposts", "follows"):
            plan = database.run(f"explain select * from bsky.{table} order by least(created_at, indexed_at) desc limit 5")
            self.assertIn(f"{table}_sort_at", plan)
        plan = database.run("explain select * from bsky.posts where to_tsvector('simple', text) @@ websearch_to_tsquery('simple', 'b a')")
        self.assertIn("posts_search", plan)
        plan = database.run("explain select * from bsky.records where bsky.record_links(record) @> '{did:plc:a}'")
        self.assertIn("records_links", plan)
        for name, _ in listed:
            self.assertEqual(self.index(database, "remove", name), f"{name}: removed")
        self.assertEqual(self.index(database, "remove", "search"), "search: did not exist")
        self.assertEqual(database.value("select count(*) from pg_statistic_ext where stxname <> 'posts_sort_at'"), 0)

    def test_with_the_index_a_search_finds_posts_of_any_age(self):
        database = self.database()
        filled.fill(database, rows=6000, accounts=50, known=200)
        search = "select coalesce(json_agg(text), '[]') from bsky.search('%s')"
        self.assertEqual(json.loads(database.run(search % "text 5999")), [])
        self.assertEqual(json.loads(database.run(search % "text 3000")), ["text 3000"])
        self.index(database, "add", "search")
        self.assertEqual(json.loads(database.run(search % "text 5999")), ["text 5999"])

    def test_an_incomplete_index_is_built_again(self):
        database = self.database()
        database.run("create index likes_sort_at on bsky.likes ((least(created_at, indexed_at)));"
                     "update pg_index set indisvalid = false where indexrelid = 'bsky.likes_sort_at'::regclass")
        self.assertRegex(self.index(database, "list"), r"like-times +incomplete")
        self.index(database, "add", "like-times")
        self.assertTrue(database.value("select indisvalid from pg_index where indexrelid = 'bsky.likes_sort_at'::regclass"))

    def test_an_unknown_name_is_refused(self):
        self.assertIn("there is no optional index 'likes'; `skua index list` lists them", self.index(None, "add", "likes", code=2))


if __name__ == "__main__":
    unittest.main()
