"""`skua doctor`: a healthy environment has no problem, and each fault has its code, cure and exit code."""

import email.utils
import http.server
import json
import pathlib
import subprocess
import threading
import time
import unittest
import urllib.parse
import uuid

from database_proxy import DatabaseProxy, TransactionPooler
from harness import BIN, Database, EndToEnd, closed_port, wait_for
from shifted_clock import shifted_environment
from standby import Standby
from test_outage import OwnServer
from test_pages import Pages
from test_sim import Network

DID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
PASSWORD = "hunter2-very-secret"


class DatedHost:
    """A host whose clock is wrong by some seconds, which it states in the header Date."""

    def __init__(self, ahead, status=200):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response_only(status)
                self.send_header("Date", email.utils.formatdate(time.time() + ahead, usegmt=True))
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *arguments):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Examined:
    """A run with --json: the exit code and the findings."""

    def __init__(self, done):
        self.code = done.returncode
        self.report = json.loads(done.stdout)
        self.findings = self.report["findings"]

    def of(self, code):
        return [finding for finding in self.findings if finding["code"] == code]

    def problems(self):
        """Without those of the disk of the machine that runs the tests."""
        return [(finding["level"], finding["code"]) for finding in self.findings
                if finding["level"] not in ("ok", "skipped") and finding["check"] != "disk"]


class DoctorCase(EndToEnd):
    def setUp(self):
        super().setUp()
        self.network = Network("--accounts", "5", "--rate", "0.001")
        self.addCleanup(self.network.kill)

    def examine(self, database, *arguments, environment=None, seconds=60):
        """Runs the command as text and as JSON, and checks that both have the same problems and exit code. Without
        --relay and --plc those of the simulated network."""
        command = [BIN / "skua", "doctor", *arguments]
        if "--relay" not in arguments:
            command += ["--relay", self.network.url]
        if "--plc" not in arguments:
            command += ["--plc", self.network.ready["plc"]]
        url = database if isinstance(database, str) else database.url
        runs = [self.start([*command, *more], {"SKUA_DATABASE_URL": url, "SKUA_CONFIG": "",
                                                "SKUA_RELAY": "", **(environment or {})}) for more in ([], ["--json"])]
        for run in runs:
            run.wait(seconds)
            for line in run.output():
                self.assertNotIn(PASSWORD, line)
        text, structured = runs
        done = subprocess.CompletedProcess([], structured.process.returncode, "\n".join(structured.stdout))
        examined = Examined(done)
        self.assertEqual(text.process.returncode, examined.code, text.tail())
        printed = "\n".join(text.stdout)
        for finding in examined.findings:
            if finding["level"] == "skipped":
                self.assertRegex(printed, rf"(?m)^skipped +{finding['check']}  ")
            elif finding["level"] != "ok":
                self.assertIn(f"[{finding['code']}]", printed)
                self.assertIn(finding["cure"], printed)
        self.assertIn(f"{examined.report['errors']} error", printed)
        return examined

    def check(self, database, code, level, *arguments, exit_code=None, **options):
        """Checks that there is one problem with this code and no other one; returns its finding."""
        examined = self.examine(database, *arguments, **options)
        self.assertEqual(examined.problems(), [(level, code)], examined.findings)
        self.assertEqual(examined.code, (1 if level == "error" else 0) if exit_code is None else exit_code)
        return examined.of(code)[0]


class Doctor(DoctorCase):
    def test_a_healthy_environment_has_no_problem(self):
        database = self.database()
        examined = self.examine(database)
        self.assertEqual(examined.problems(), [])
        self.assertEqual(examined.code, 0)
        checks = {finding["check"] for finding in examined.findings}
        self.assertGreater(len(checks), 15)
        self.assertEqual(self.examine(database, "--strict").code, 1 if examined.of("disk-low") else 0)

    def test_a_source_that_is_read_names_its_process(self):
        network = Network("--accounts", "5", "--rate", "50")
        self.addCleanup(network.kill)
        database = self.database()
        skua = self.indexer(database, network.url, "--cursor", "oldest")
        wait_for("a cursor", lambda: database.value("select count(*) from skua.cursors") > 0, alive=[skua])
        examined = self.examine(database)
        self.assertEqual(examined.problems(), [])
        details = [finding["detail"] for finding in examined.findings if finding["check"].startswith("relay:")]
        self.assertTrue(any(f"pid {skua.process.pid}" in detail for detail in details), details)
        self.assertEqual(skua.stop(), 0, skua.tail())
        details = [finding["detail"] for finding in self.examine(database).findings]
        self.assertTrue(any("no process reads it; cursor" in detail for detail in details), details)

    def test_only_strict_fails_for_a_warning(self):
        database = self.database()
        database.run("insert into skua.cursors (source, cursor, saved_at) "
                     "values ('relay:relay.example', 5, now() - interval '2 days')")
        finding = self.check(database, "cursor-old", "warning")
        self.assertEqual(finding["detail"], "no process reads it; cursor 5 was saved 2 d 0 h ago")
        self.check(database, "cursor-old", "warning", "--strict", exit_code=1)

    def test_without_settings_it_says_which_are_missing(self):
        done = subprocess.run([BIN / "skua", "doctor", "--verify", "none", "--json"], capture_output=True, text=True,
                              env={}, timeout=60, check=False)
        examined = Examined(done)
        self.assertEqual(examined.problems(), [("error", "not-configured"), ("warning", "not-configured")])
        self.assertEqual(examined.code, 1)

    def test_a_malformed_setting_is_wrong_usage(self):
        self.skua(self.database(), "doctor", "--relay", "ftp://relay.example", code=2)

    def test_the_schema(self):
        database = self.database()
        newest = database.value("select max(version) from skua.migrations")
        database.run("insert into skua.migrations (version, name, checksum) values (9999, 'later', 'x')")
        self.check(database, "schema-new", "error")
        database.run("delete from skua.migrations where version = 9999")
        database.run(f"update skua.migrations set checksum = 'x' where version = {newest}")
        self.check(database, "schema-other", "error")
        changed = self.database()
        changed.run("drop function bsky.thread")
        self.assertIn("has other views or functions than this program: functions/of_records.sql",
                      self.check(changed, "schema-old", "error")["detail"])
        empty = self.database(migrated=False)
        self.assertIn("has no tables", self.check(empty, "schema-old", "error")["detail"])

    def test_a_dropped_index_is_built_again_by_the_cure(self):
        database = self.database()
        database.run("drop index bsky.posts_content; drop index bsky.likes_subject")
        finding = self.check(database, "index-missing", "warning")
        self.assertEqual(finding["detail"], "2 indexes are missing: bsky.likes_subject, bsky.posts_content")
        for statement in finding["cure"].removeprefix("Run: ").split("; "):
            database.run(statement)
        self.assertEqual(self.examine(database).problems(), [])
        database.run("drop index bsky.actors_did_key cascade" if not database.value(
            "select exists (select from pg_constraint where conname = 'actors_did_key')")
            else "alter table bsky.actors drop constraint actors_did_key")
        self.check(database, "index-missing", "error")

    def test_an_index_that_could_not_be_built(self):
        database = self.database()
        with self.assertRaises(AssertionError):
            database.run("create unique index concurrently \"My index\" on bsky.collections ((1))")
        finding = self.check(database, "index-invalid", "warning")
        self.assertEqual(finding["detail"], 'bsky."My index" is invalid')
        database.run(finding["cure"].split("`")[1])
        self.assertEqual(self.examine(database).problems(), [])

    def test_an_open_bootstrap(self):
        database = self.database()
        # As begin_bootstrap does.
        database.run("insert into skua.dropped_indexes (name, relation, definition) select 'bsky.posts_content', "
                     "'bsky.posts', pg_get_indexdef('bsky.posts_content'::regclass); drop index bsky.posts_content")
        self.assertIn("1 index must still be built", self.check(database, "bootstrap-open", "error")["detail"])
        self.skua(database, "backfill", "--verify", "none")
        self.assertEqual(self.examine(database).problems(), [])

    def test_leases_that_have_ended(self):
        ended = "now() - interval '2 hours'"
        leases = {
            "job": f"insert into skua.backfill_jobs (did, state, created_at, next_attempt, lease_until, lease_owner) "
                   f"values ('{DID}', 'running', now(), now(), {ended}, 'x')",
            "list": f"insert into skua.backfill_hosts (host, what, state, next_attempt, lease_owner, updated_at) "
                    f"values ('https://pds.example', 'accounts', 'listing', {ended}, 'x', now())",
            "letter": f"insert into skua.dead_letter (consumer, key, error, payload, status, lease_owner, lease_until) "
                      f"values ('test', 'k', 'broken', 'x', 'replaying', 'x', {ended})",
        }
        for name, statement in leases.items():
            with self.subTest(name):
                database = self.database()
                database.run(statement)
                examined = self.examine(database)
                (finding,) = examined.of("lease-stuck")
                self.assertEqual((finding["level"], examined.code), ("warning", 0))
                self.assertIn("1 x ", finding["detail"])
                self.assertIn("2 h", finding["detail"])
        with self.subTest("lane"):
            database = self.database()
            self.skua(database, "consumers", "add", "archive", "--pull")
            database.run(f"update skua.consumer_lanes set owner = 'x', lease_until = {ended}, leased_end = pos + 1, "
                         "leased_count = 1")
            finding, = self.examine(database).of("lease-stuck")
            self.assertIn("lane of a consumer", finding["detail"])
        with self.subTest("a lease that has just ended"):
            database = self.database()
            database.run(leases["job"].replace("2 hours", "20 seconds"))
            self.assertEqual(self.examine(database).problems(), [])

    def test_consumers(self):
        database = self.database()
        self.skua(database, "consumers", "add", "archive", "--pull")
        self.skua(database, "consumers", "pause", "archive")
        finding = self.check(database, "consumer-stuck", "warning")
        self.assertEqual((finding["check"], finding["detail"]), ("consumer archive", "it is paused"))
        self.skua(database, *finding["cure"].split("`")[1].split()[1:])
        self.assertEqual(self.check(database, "consumer-stuck", "warning")["detail"], "no process answers its program")
        server = self.start([BIN / "skua", "serve", "--listen", "127.0.0.1:0"], self.environment(database))
        wait_for("the server", lambda: self.examine(database).problems() == [], alive=[server])
        self.assertEqual(server.stop(), 0)
        database.run("update skua.consumers set state = 'lagged out'")
        self.check(database, "consumer-stuck", "error")

    def test_the_settings_of_a_running_process(self):
        database = self.database()
        program = self.start([BIN / "skua", "run", "--relay", self.network.url, "--verify", "full", "--plc",
                              self.network.ready["plc"], "--http", "127.0.0.1:0"], self.environment(database))
        pages = Pages(program)
        relay = "relay:" + urllib.parse.urlsplit(self.network.url).netloc

        def examine(other, *arguments):
            done = self.start([BIN / "skua", "doctor", "--json", *arguments], self.environment(other))
            done.wait(60)
            findings = json.loads("\n".join(done.stdout))["findings"]
            settings, = [finding for finding in findings if finding["check"] == "settings of skua run"]
            return settings, [finding for finding in findings if finding["check"] == "PLC directory" or
                              finding["check"] == relay and "answers" in finding["detail"]]

        wait_for("the source", lambda: self.skua(database, "source", "list").says("skua run relay:"), alive=[program])
        settings, asked = examine(database, "--http", pages.address)
        self.assertEqual(settings["level"], "ok", settings)
        self.assertIn(f"--relay {self.network.url}", settings["detail"])
        self.assertIn(f"--verify full --plc {self.network.ready['plc']}", settings["detail"])
        self.assertEqual([finding["level"] for finding in asked], ["ok", "ok"], asked)
        with self.subTest("a flag of the command comes first"):
            settings, asked = examine(database, "--http", pages.address, "--verify", "none")
            self.assertIn("--verify none", settings["detail"])
            self.assertEqual([finding["check"] for finding in asked], [relay])
        with self.subTest("a process of another database"):
            settings, asked = examine(self.database(), "--http", pages.address)
            self.assertEqual((settings["detail"], asked), ("no process reads a source; examined: --verify none", []))
        with self.subTest("a process that does not answer"):
            settings, asked = examine(database, "--http", "127.0.0.1:%d" % closed_port())
            self.assertEqual((settings["level"], asked), ("skipped", []))
            self.assertRegex(settings["detail"], "connection refused.*A source is read by 'skua run relay:")
            self.assertIn("--http", settings["cure"])
        self.assertEqual(program.stop(), 0)

    def test_dead_letters_by_reason(self):
        database = self.database()
        database.run("insert into skua.dead_letter (consumer, key, error, payload) select 'test', n::text, "
                     "case when n < 4 then 'broken' else 'worse' end, 'x' from generate_series(1, 4) n")
        self.assertEqual(self.check(database, "dead-letters", "warning")["detail"],
                         "4 dead letters: 3 x broken, 1 x worse")

    def test_the_change_log_near_its_limit(self):
        database = self.database()
        database.run("update skua.change_log_state set max_bytes = 1000")
        self.check(database, "change-log-large", "warning")

    def test_roles(self):
        database = self.database()
        database.run("revoke select on bsky.likes from skua_reader")
        self.assertIn("bsky.likes", self.check(database, "reader-role", "warning")["detail"])
        database.run("select skua.grant_reader()")
        self.assertEqual(self.examine(database).problems(), [])
        for rights, level, code in (("in role skua_reader", "warning", 0), ("", "error", 1)):
            with self.subTest(level):
                role = "doctor_" + uuid.uuid4().hex[:12]
                database.run(f"create role {role} login password '{PASSWORD}' {rights}")
                self.addCleanup(database.run, f"drop role {role}")
                parts = urllib.parse.urlsplit(database.url)
                place = parts.netloc.rpartition("@")[2]
                url = urllib.parse.urlunsplit(parts._replace(netloc=f"{role}:{PASSWORD}@{place}"))
                examined = self.examine(url)
                (finding,) = examined.of("role-rights")
                self.assertEqual((finding["level"], examined.code), (level, code))
                self.assertIn(f"{role} does not own", finding["detail"])
                # The checks that need more rights are findings, and the others were made.
                failed = examined.of("check-failed")
                self.assertEqual([finding["check"] for finding in failed], ["replays" if rights else "schema"])
                self.assertIn("permission denied", failed[0]["detail"])
                made = {finding["check"] for finding in examined.findings}
                self.assertLessEqual({"disk", "dead letters", "repositories"} if rights else {"disk"}, made)

    def test_a_table_that_is_locked_is_a_finding_and_the_other_checks_follow(self):
        database = self.database()
        holder = subprocess.Popen(["psql", "-XAtq", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdin.close)
        holder.stdin.write("begin; lock table skua.dropped_indexes; select 1;\n")
        holder.stdin.flush()
        self.assertEqual(holder.stdout.readline(), "1\n")
        self.addCleanup(holder.stdout.close)
        examined = self.examine(database)
        self.assertEqual(examined.problems(), [("warning", "check-failed")] * 4, examined.findings)
        self.assertIn("repositories", {finding["check"] for finding in examined.findings})

    def test_a_pooler_in_transaction_mode(self):
        database = self.database()
        parts = urllib.parse.urlsplit(database.url)
        query = urllib.parse.parse_qs(parts.query)
        path = pathlib.Path(query["host"][0]) / f".s.PGSQL.{query['port'][0]}"
        pooler = TransactionPooler(path, parts.username, parts.path[1:])
        self.addCleanup(pooler.close)
        examined = self.examine(pooler.url)
        self.assertEqual([finding["level"] for finding in examined.of("connection-pooler")], ["error"])
        self.assertEqual(examined.code, 1)


class Hosts(DoctorCase):
    def test_a_name_that_does_not_exist(self):
        finding = self.check(self.database(), "dns-failed", "error", "--relay", "wss://relay.invalid")
        self.assertEqual(finding["check"], "relay:relay.invalid")
        finding = self.check(self.database(), "dns-failed", "error", "--plc", "https://plc.invalid")
        self.assertEqual(finding["check"], "PLC directory")

    def test_a_closed_port(self):
        database = self.database()
        self.check(database, "source-down", "error", "--relay", f"ws://127.0.0.1:{closed_port()}")
        self.check(database, "plc-down", "error", "--plc", f"http://127.0.0.1:{closed_port()}")
        # A standby replaces it.
        self.check(database, "source-down", "warning", "--relay", f"ws://127.0.0.1:{closed_port()}", "--relay",
                   self.network.url)
        # A labeler has none.
        self.check(database, "source-down", "error", "--relay", self.network.url, "--labeler",
                   f"ws://127.0.0.1:{closed_port()}")

    def test_a_host_without_tls(self):
        url = self.network.url.replace("ws://", "wss://")
        self.check(self.database(), "source-tls", "error", "--relay", url)

    def test_a_host_that_answers_with_an_error(self):
        host = DatedHost(0, status=503)
        self.addCleanup(host.close)
        self.assertIn("503", self.check(self.database(), "plc-down", "error", "--plc", host.url)["detail"])

    def test_a_host_that_is_another_service(self):
        database = self.database()
        finding = self.check(database, "source-down", "error", "--relay", self.network.ready["plc"])
        self.assertIn("the host answers, but opens no websocket", finding["detail"])
        # A Tap has one client only: doctor does not open its websocket.
        examined = self.examine(database, "--relay", self.network.url, "--tap", self.network.ready["plc"])
        self.assertEqual(examined.problems(), [])

    def test_the_clock_of_this_machine(self):
        database = self.database()
        for by, level, text in (("-20s", "warning", "20 s behind"), ("+10m", "error", "10 min ahead of")):
            with self.subTest(by):
                finding = self.check(database, "clock-wrong", level,
                                     environment=shifted_environment(self.folder / f"shift{by}", by))
                self.assertEqual(finding["detail"], f"the clock of this machine is {text} PostgreSQL's")

    def test_the_clocks_of_hosts(self):
        database = self.database()
        for ahead, expected in ((600, [("error", "clock-wrong")]), (0, [])):
            with self.subTest(ahead):
                host = DatedHost(ahead)
                self.addCleanup(host.close)
                examined = self.examine(database, "--plc", host.url)
                self.assertEqual(examined.problems(), expected)
                details = [finding["detail"] for finding in examined.findings if finding["check"] == "clocks"]
                self.assertIn("1 host", details[0])


class Server(OwnServer, DoctorCase):
    def test_a_server_that_is_stopped_does_not_prevent_the_other_checks(self):
        self.cluster.pg("stop")
        examined = self.examine(self.db, "--relay", "wss://relay.invalid")
        self.assertEqual(examined.problems(), [("error", "database-down"), ("error", "dns-failed")])
        self.assertEqual(examined.code, 1)
        self.assertIn("PLC directory", {finding["check"] for finding in examined.findings})

    def test_a_server_that_does_not_answer(self):
        thaw = self.cluster.freeze()
        self.addCleanup(thaw)
        began = time.monotonic()
        self.check(self.db, "database-down", "error")
        self.assertLess(time.monotonic() - began, 45)

    def test_a_standby(self):
        standby = Standby(self.cluster)
        self.addCleanup(standby.stop)
        copy = Database(standby.url)
        wait_for("the standby", lambda: copy.value("select pg_is_in_recovery()"))
        examined = self.examine(copy)
        self.assertEqual(examined.problems(), [("error", "database-read-only")], examined.findings)
        self.assertEqual(examined.code, 1)

    def test_a_server_that_may_lose_data(self):
        examined = self.examine(self.db, environment={"SKUA_ALLOW_UNSAFE_DATABASE": "false"})
        self.assertEqual(examined.problems(), [])
        self.db.run("alter system set fsync = off")
        self.db.run("select pg_reload_conf()")
        wait_for("the setting", lambda: self.db.run("show fsync") == "off")
        self.check(self.db, "unsafe-server", "error", environment={"SKUA_ALLOW_UNSAFE_DATABASE": "false"})
        self.assertEqual(self.examine(self.db, "--allow-unsafe-database").problems(), [])

    def test_settings_are_advice(self):
        self.db.run("alter system set random_page_cost = 4")
        self.db.run("select pg_reload_conf()")
        wait_for("the setting", lambda: self.db.run("show random_page_cost") == "4")
        examined = self.examine(self.db, "--strict")
        (finding,) = examined.of("server-settings")
        self.assertEqual((finding["level"], examined.code), ("ok", 0))
        self.assertIn("random_page_cost is 4", finding["detail"])

    def test_no_output_has_the_password(self):
        proxy = DatabaseProxy(self.tcp_url())
        self.addCleanup(proxy.close)
        wrong = urllib.parse.urlsplit(proxy.url)
        place = wrong.netloc.rpartition("@")[2]
        for url in (f"postgresql://skua:{PASSWORD}@{place}/skua", f"host=127.0.0.1 port={closed_port()} password={PASSWORD}",
                    f"postgresql://skua:{PASSWORD}@127.0.0.1:{closed_port()}/skua"):
            with self.subTest(url):
                self.check(url, "database-down", "error")

    def tcp_url(self):
        done = subprocess.run([pathlib.Path(__file__).parents[2] / "scripts/pg", "--dir", self.folder / "pg", "url", "--tcp"],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()


if __name__ == "__main__":
    unittest.main()
