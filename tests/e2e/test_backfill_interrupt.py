"""The jobs that Ctrl-C interrupts in a backfill are queued, not failed; and cancel ends lists of hosts."""

import http.server
import json
import signal
import threading
import unittest
import urllib.parse

from process_numbers import UNSHARE, need_namespaces
from test_backfill import Backfill

JOBS = "select state, attempts, error, host is not null as has_host from skua.backfill_jobs order by did"


class SlowHost(http.server.ThreadingHTTPServer):
    """A PDS, or a directory, that answers when the test allows it. `answers`: JSON by cursor."""

    daemon_threads = True

    def __init__(self, answers=None):
        self.asked = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.answers = answers or {}
        super().__init__(("127.0.0.1", 0), SlowHost.Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.may_answer.set()
        self.shutdown()
        self.server_close()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.server.asked.release()
            self.server.may_answer.wait(60)
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
            content = json.dumps(self.server.answers.get(query.get("cursor", [""])[0], {})).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # The program has ended.

        def log_message(self, *_):
            pass


class WithSlowHosts(Backfill):
    def host(self, answers=None):
        host = SlowHost(answers)
        self.addCleanup(host.close)
        return host

    def interrupt(self, program):
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(60), 1, program.tail())
        self.assertFalse(program.says("failed"), program.tail())
        self.assertTrue(program.says("the rest stays queued"), program.tail())


class Interrupted(WithSlowHosts):
    def check_queued(self, database, network, has_host):
        self.assertEqual(database.rows(JOBS), [
            {"state": "queued", "attempts": 0, "error": None, "has_host": has_host}])
        status = json.loads("".join(self.run_at(database, network, "backfill", "status", "--json").stdout))
        self.assertEqual((status["jobs"]["queued"], status["errors"], status["metrics"]["failed"]),
                         (1, [], 0))

    def test_a_download(self):
        network, database, host = self.network(accounts=2, records=2), self.database(), self.host()
        did = self.accounts(network)[0]["did"]
        document = network.ask("plc", f"/{did}").json()
        document["service"][0]["serviceEndpoint"] = host.url
        documents = self.folder / "documents.json"
        documents.write_text(json.dumps(document))
        program = self.begin(database, network, "backfill", did, "--did-docs", documents)
        self.assertTrue(host.asked.acquire(timeout=30), program.tail())
        self.interrupt(program)
        self.check_queued(database, network, has_host=True)

    def test_the_look_up_of_a_key(self):
        network, database, directory = self.network(accounts=2, records=2), self.database(), self.host()
        did = self.accounts(network)[0]["did"]
        program = self.begin(database, network, "backfill", did, "--plc", directory.url)
        self.assertTrue(directory.asked.acquire(timeout=30), program.tail())
        self.interrupt(program)
        self.check_queued(database, network, has_host=False)

    def test_a_process_that_was_killed(self):
        network, database, directory = self.network(accounts=2, records=2), self.database(), self.host()
        did = self.accounts(network)[0]["did"]
        program = self.begin(database, network, "backfill", did, "--plc", directory.url)
        self.assertTrue(directory.asked.acquire(timeout=30), program.tail())
        program.kill()
        program = self.begin(database, network, "backfill", "--plc", directory.url)
        self.assertTrue(directory.asked.acquire(timeout=30), program.tail())
        self.interrupt(program)
        self.check_queued(database, network, has_host=False)


class Container(WithSlowHosts):
    """Restarts with the same process number and the same host name."""

    def setUp(self):
        super().setUp()
        need_namespaces()

    def begin_as_1(self, database, network, *arguments):
        return self.start([*UNSHARE, self.binary("skua"), *arguments], self.environment_at(database, network))

    def test_the_next_one_takes_the_jobs_of_the_one_that_was_killed(self):
        network, database, directory = self.network(accounts=2, records=2), self.database(), self.host()
        did = self.accounts(network)[0]["did"]
        holder = "select lease_owner from skua.backfill_jobs where state = 'running'"
        program = self.begin_as_1(database, network, "backfill", did, "--plc", directory.url)
        self.assertTrue(directory.asked.acquire(timeout=30), program.tail())
        before = database.value(holder)
        self.assertIn(" pid 1 at ", before)
        program.kill()
        program = self.begin_as_1(database, network, "backfill", "--plc", directory.url)
        self.assertTrue(directory.asked.acquire(timeout=30), program.tail())
        now = database.value(holder)
        self.assertIn(" pid 1 at ", now)
        self.assertNotEqual(now, before)


class Cancelled(WithSlowHosts):
    LISTS = "select what, state, listed, lease_owner, error from skua.backfill_hosts order by what"

    def test_a_list_that_is_being_read(self):
        network, database = self.network(accounts=2, records=2), self.database()
        repo = {"did": "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "head": "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm",
                "rev": "3jzfcijpj2z2a", "active": True}
        host = self.host({"": {"cursor": "2", "repos": [repo]}, "2": {"cursor": "3", "repos": [repo]}})
        program = self.begin(database, network, "backfill", "--host", host.url)
        self.assertTrue(host.asked.acquire(timeout=30), program.tail())
        cancel = self.run_at(database, network, "backfill", "cancel", "--host", host.url)
        self.assertTrue(cancel.says("1 list of repositories cancelled"), cancel.tail())
        host.may_answer.set()
        # The page that arrives now is discarded, and nothing is left to do.
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertEqual(database.rows(self.LISTS), [
            {"what": "repos", "state": "cancelled", "listed": 0, "lease_owner": None, "error": None}])
        self.assertEqual(self.states(database), {})
        status = self.run_at(database, network, "backfill", "status")
        self.assertTrue(status.says("lists of repos: 0 read, 0 under way, 0 waiting, 0 abandoned, 1 cancelled"),
                        status.tail())

    def test_lists_that_are_queued(self):
        network, database, host = self.network(accounts=2, records=2), self.database(), self.host()
        program = self.begin(database, network, "backfill", "--host", host.url, "--network", "--relay", host.url,
                             "--collection", "app.bsky.feed.generator")
        self.assertTrue(host.asked.acquire(timeout=30), program.tail())
        self.interrupt(program)
        lists = database.rows(self.LISTS)
        self.assertEqual([row["what"] for row in lists], ["collection:app.bsky.feed.generator", "hosts", "repos"])
        self.assertEqual({(row["lease_owner"], row["error"]) for row in lists}, {(None, None)})
        cancel = self.run_at(database, network, "backfill", "cancel", "--all")
        self.assertTrue(cancel.says("3 lists of repositories cancelled"), cancel.tail())
        self.run_at(database, network, "backfill")  # Nothing to do: otherwise it would wait for the host.
        with self.subTest("they are queued again when they are asked for"):
            retry = self.run_at(database, network, "backfill", "retry", "--state", "cancelled")
            self.assertTrue(retry.says("3 lists of repositories queued again"), retry.tail())


if __name__ == "__main__":
    unittest.main()
