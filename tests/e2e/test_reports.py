"""Inputs that were made after public trouble reports (../shared/data/reports): each ends as its README says."""

import unittest

from harness import EndToEnd, need_shared


class Reports(EndToEnd):
    def replayed(self, name):
        data = need_shared() / "reports"
        database = self.database()
        self.skua(database, "replay", data / f"{name}.frames", "--did-docs", data / f"{name}.did-docs.json")
        return database

    def imported(self, name, documents):
        data = need_shared() / "reports"
        database = self.database()
        self.skua(database, "backfill", "--car", data / f"{name}.car", "--did-docs", data / f"{documents}.did-docs.json")
        return database

    def test_commits_without_prevdata_are_applied_and_break_the_chain(self):
        database = self.replayed("no-prevdata")
        self.assertEqual(database.value("select count(*) from bsky.posts_view"), 6)
        self.assertEqual(database.value("select state from skua.repositories"), "desynchronized")
        self.assertGreater(database.value("select breaks from skua.repositories"), 0)
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)

    def test_the_record_that_a_commit_omits_is_missing_alone(self):
        database = self.replayed("record-block-omitted")
        print(database.rows("select * from skua.repositories"), database.rows("select key, error from skua.dead_letter"),
              database.rows("select uri, text from bsky.posts_view"))

    def test_the_first_valid_entry_of_a_document_counts(self):
        database = self.replayed("did-documents")
        self.assertEqual(database.value("select count(distinct did) from bsky.posts_view"), 15)

    def test_a_further_root_is_ignored(self):
        database = self.imported("two-roots", "two-roots")
        self.assertEqual(database.value("select count(*) from bsky.all_records"), 3)

    def test_a_record_that_is_linked_by_another_hash_is_lost_alone(self):
        database = self.imported("leaf-link-sha512", "two-roots")
        print(database.value("select count(*) from bsky.all_records"))


if __name__ == "__main__":
    unittest.main()
