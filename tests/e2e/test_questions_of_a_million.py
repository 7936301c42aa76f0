"""The questions of docs/queries.md on a million records: a question about an account, a record, a tag or a link reads a
small part of each large table, by an index; each other one reads a table about once.

Nothing is timed: bench/query_bench.py does this.
"""

import people_data
import projections
from executed_query import NAMED, ExecutedQuery
from harness import EndToEnd
from test_documents import queries

LARGE = ("posts", "likes", "reposts", "follows", "actors", "profiles")


class Questions(EndToEnd):
    def test_each_reads_no_more_than_it_must(self):
        database = self.database()
        database.seconds = 600
        post = people_data.fill(database, 1_000_000)
        self.skua(database, "index", "add", "search")
        projections.add(database.url, "--lanes", "1")
        self.skua(database, "consumers", "run-until-idle")
        self.assertGreater(database.value("select count(*) from bsky.all_records"), 1_000_000)
        sizes = {table: database.value(f"select count(*) from bsky.{table}") for table in LARGE}
        self.assertGreater(min(sizes.values()), 60_000)
        arguments = f"\\set post {post}\n\\set words 'word7 word40'\n"
        self.assertGreater(len(queries()), 40)
        for name, statement in queries().items():
            with self.subTest(name):
                query = ExecutedQuery(database, statement, arguments)
                if NAMED.search(statement):
                    self.assertEqual(query.read_whole & sizes.keys(), set(), name)
                    self.assertEqual(query.reads_more_than(0.1, sizes), set(), name)
                else:
                    # The accounts as authors, and with their age.
                    self.assertEqual(query.reads_more_than(2.1 if name == "posts-by-account-age" else 1.5, sizes), set(), name)
