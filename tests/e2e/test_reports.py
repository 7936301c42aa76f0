"""Inputs that were made after public trouble reports (../shared/data/reports): each ends as its README says."""

import http.server
import json
import threading
import unittest

from harness import BIN, EndToEnd, need_shared, wait_for


class Directory(http.server.ThreadingHTTPServer):
    """A PLC directory with the documents of a file."""

    def __init__(self, file):
        documents = json.loads(file.read_text())
        documents = documents if isinstance(documents, list) else [documents]
        self.documents = {document["id"]: document for document in documents}
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        document = self.server.documents.get(self.path[1:])
        body = json.dumps(document or {"message": "not registered"}).encode()
        self.send_response(200 if document else 404)
        self.send_header("Content-Type", "application/did+ld+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Reports(EndToEnd):
    def data(self):
        folder = need_shared() / "reports"
        if not folder.is_dir():
            self.skipTest("needs ../shared/data/reports")
        return folder

    def indexed(self, name):
        """A database after `skua run` has read a capture. The hosts of the accounts do not answer."""
        data = self.data()
        directory = Directory(data / f"{name}.did-docs.json")
        self.addCleanup(directory.server_close)
        self.addCleanup(directory.shutdown)
        relay = self.sim(data / f"{name}.frames")
        database = self.database()
        skua = self.start([BIN / "skua", "run", "--relay", relay.url, "--cursor", "oldest", "--plc", directory.url,
                           "--allow-private-hosts", "--handles", "claimed", "--stats-interval", "1"],
                          {**self.environment(database), "SKUA_VERIFY": "full"})
        last = wait_for("the end of the capture", lambda: next(
            (event["last_seq"] for event in relay.events("caught_up")), None), alive=[skua])
        wait_for(f"cursor {last}", lambda: skua.reached(last), alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        return database

    def imported(self, name):
        data = self.data()
        database = self.database()
        self.skua(database, "backfill", "--car", data / f"{name}.car", "--verify", "none")
        return database

    def test_commits_without_prevdata_are_applied_and_break_the_chain(self):
        database = self.indexed("no-prevdata")
        self.assertEqual(database.value("select count(*) from bsky.posts_view"), 6)
        self.assertEqual(database.value("select state from skua.repositories"), "desynchronized")
        self.assertGreater(database.value("select breaks from skua.repositories"), 0)
        self.assertEqual(database.value("select count(*) from skua.dead_letter"), 0)

    def test_the_record_that_a_commit_omits_is_missing_alone(self):
        database = self.indexed("record-block-omitted")
        # Six repeat a record, and nothing is missing; six move one to another key.
        self.assertEqual(database.rows("select state, count(*) from skua.repositories group by 1 order by 1"),
                         [{"state": "complete", "count": 6}, {"state": "desynchronized", "count": 6}])
        self.assertEqual(database.rows("select error, count(*) from skua.dead_letter group by 1"),
                         [{"error": "the record's block is missing", "count": 6}])
        self.assertEqual(database.value("select count(*) from bsky.posts_view where text = 'next'"), 12)

    def test_the_first_valid_entry_of_a_document_counts(self):
        database = self.indexed("did-documents")
        self.assertEqual(database.value("select count(distinct did) from bsky.posts_view"), 15)

    def test_a_further_root_is_ignored(self):
        self.assertEqual(self.imported("two-roots").value("select count(*) from bsky.all_records"), 3)

    def test_a_record_that_is_linked_by_another_hash_is_lost_alone(self):
        self.assertEqual(self.imported("leaf-link-sha512").value("select count(*) from bsky.all_records"), 2)


if __name__ == "__main__":
    unittest.main()
