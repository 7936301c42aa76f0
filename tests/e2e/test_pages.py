"""The pages of a running process (/health/ready, /health/live, /metrics, /status), and the log as JSON."""

import http.client
import json
import os
import pathlib
import re
import socket
import threading
import time
import unittest
import urllib.parse

from harness import BIN, Database, EndToEnd, closed_port, wait_for
from test_outage import OwnServer
from test_sim import SimTest


class Pages:
    """The pages of a program, at the address that it prints."""

    def __init__(self, program):
        self.program = program
        self.address = wait_for("the pages", self.printed, alive=[program])

    def printed(self):
        found = [re.search(r"(?:pages at|serving) http://([\d.:]+)/", line) for line in list(self.program.stdout)]
        return next((match[1] for match in found if match), None)

    def get(self, path, headers=None):
        """(status, text)"""
        connection = http.client.HTTPConnection(self.address, timeout=15)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def ready(self):
        status, text = self.get("/health/ready")
        return status, json.loads(text)

    def codes(self):
        status, body = self.ready()
        codes = [reason["code"] for reason in body["reasons"]]
        if (status == 200) != (body["status"] == "ready") or (codes and status != 503):
            raise AssertionError(f"{status} {body}")
        return codes

    def wait_until_ready(self, seconds=60):
        wait_for("ready", lambda: self.get("/health/ready")[0] == 200, seconds=seconds, alive=[self.program])

    def wait_for_reason(self, code, seconds=30):
        return wait_for(code, lambda: code in self.codes(), seconds=seconds, every=0.2, alive=[self.program])

    def problem_metric(self, code):
        return f'skua_problem{{code="{code}"}} 1' in self.get("/metrics")[1].splitlines()

    def check_shown(self, code, cure=""):
        """Checks that a current problem is in /health/ready with its cure, in /metrics, in the lines of metrics and in
        the log. Returns its detail."""
        body = self.ready()[1]
        found = next((one for one in body["reasons"] + body["warnings"] if one["code"] == code), None)
        if not found or not found["title"] or not found["cure"] or cure not in found["cure"]:
            raise AssertionError(f"{code}, {cure}: {body}")
        if not self.problem_metric(code):
            raise AssertionError(f"{code} is not in /metrics")
        wait_for(f"{code} in the lines of metrics", alive=[self.program], condition=lambda: any(
            "problems: " in line and code in line for line in list(self.program.stdout)))
        wait_for(f"{code} in the log", alive=[self.program], condition=lambda: any(
            f" [{code}]" in line for line in list(self.program.stderr)))
        return found["detail"]


def listening(pid):
    """The addresses on which a process listens, in hexadecimal as in /proc/net/tcp."""
    links = [os.readlink(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    inodes = {match[1] for match in (re.fullmatch(r"socket:\[(\d+)\]", link) for link in links) if match}
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found.append(fields[1])
    return found


class Running(SimTest):
    """`skua run` beside a simulated network."""

    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.sim_network = self.network("--accounts", "20", "--rate", "50")

    def run_skua(self, *arguments):
        program = self.indexer(self.db, self.sim_network.url, "--http", "127.0.0.1:0", *arguments)
        return program, Pages(program)

    def test_every_page_answers(self):
        program, pages = self.run_skua()
        pages.wait_until_ready()
        self.assertEqual(pages.ready(), (200, {"status": "ready", "reasons": [], "warnings": []}))
        self.assertEqual(pages.get("/health/live"), (200, '{"status":"live","stuck":[]}\n'))
        status, text = pages.get("/")
        self.assertEqual(status, 200)
        for path in re.findall(r'href="([^"]+)"', text):
            self.assertEqual(pages.get(path)[0], 200, path)
        self.assertEqual(pages.get("/nothing")[0], 404)

        posts = (r'(?m)^skua_collection_operations_total\{source="[^"]+",collection="app\.bsky\.feed\.post"\} [1-9]\d*$')
        wait_for("posts", lambda: re.search(posts, pages.get("/metrics")[1]), alive=[program])
        status, text = pages.get("/metrics")
        self.assertRegex(text, r'(?m)^skua_connected\{source="relay:127\.0\.0\.1:\d+"\} 1$')
        self.assertRegex(text, r'(?m)^skua_problem\{code="database-down"\} 0$')
        status, text = pages.get("/status")
        self.assertEqual({name for name in json.loads(text)},
                         {name for name in json.loads("\n".join(self.skua(self.db, "status", "--json").stdout))})
        self.assertEqual(program.stop(), 0)

    def test_every_metric_is_declared(self):
        _, pages = self.run_skua()
        pages.wait_until_ready()
        declared = self.skua(None, "help", "metrics").stdout
        _, text = pages.get("/metrics")
        names = re.findall(r"(?m)^# TYPE (\S+)", text)
        self.assertGreater(len(names), 50)
        self.assertEqual([name for name in names if name not in declared], [])

    def test_many_requests_at_once_use_one_session(self):
        _, pages = self.run_skua()
        pages.wait_until_ready()
        results = []
        threads = [threading.Thread(target=lambda: results.append(pages.get("/health/ready")[0])) for _ in range(40)]
        counted = ("select coalesce(sum(calls), 0) from (select count(*) as calls from pg_stat_activity where "
                   "datname = current_database() and application_name like 'skua pages%') q")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(results), {200})
        self.assertEqual(self.db.value(counted), 1)

    def test_a_relay_that_stops_is_a_reason_until_it_is_back(self):
        program, pages = self.run_skua()
        pages.wait_until_ready()
        port = urllib.parse.urlsplit(self.sim_network.url).port
        self.sim_network.kill()
        began = time.monotonic()
        pages.wait_for_reason("source-down")
        self.assertLess(time.monotonic() - began, 20)
        self.assertRegex(pages.check_shown("source-down", cure="--relay"),
                         rf"^relay:127\.0\.0\.1:{port}: no connection for \d+ s: ")
        self.assertEqual(pages.get("/health/live")[0], 200)
        self.assertTrue(any("cannot reach" in line and line.endswith("[source-down]") for line in program.stderr),
                        program.tail())

    def test_a_consumer_that_is_paused_or_fails_is_a_reason(self):
        self.skua(self.db, "consumers", "add", "post_stats")
        _, pages = self.run_skua()
        wait_for("the projection", lambda: self.db.value(
            "select count(*) from skua.consumers where state = 'running' and role = 'live'") == 1)
        pages.wait_until_ready()
        self.skua(self.db, "consumers", "pause", "post_stats")
        pages.wait_for_reason("consumer-stuck")
        self.assertEqual(pages.check_shown("consumer-stuck", cure="skua consumers"), "post_stats: it is paused")
        self.skua(self.db, "consumers", "resume", "post_stats")
        pages.wait_until_ready()
        # A statement of each batch fails.
        table = self.db.value("select min(relname::text) from pg_class where relname ~ '^post_stats_[0-9]+$' and "
                              "relkind = 'r'")
        self.db.run(f"alter table skua.{table} add constraint made check (false) not valid")
        failing = "select count(*) from skua.consumer_lanes where failing_since is not null"
        wait_for("a failure", lambda: self.db.value(failing) == 1)
        self.db.run("update skua.consumer_lanes set failing_since = failing_since - interval '2 minutes'")
        pages.wait_for_reason("consumer-stuck")
        self.assertIn("post_stats: changes cannot be applied: ", pages.ready()[1]["reasons"][0]["detail"])

    def test_a_lag_beyond_the_limit_is_a_reason(self):
        program, pages = self.run_skua("--behind-after", "2s")
        pages.wait_until_ready()
        blocker = self.start(["psql", "-XAtqc", "begin; lock table bsky.posts, bsky.likes; select pg_sleep(60)", self.db.url])
        pages.wait_for_reason("source-behind", seconds=40)
        pages.check_shown("source-behind")
        blocker.kill()
        self.db.run("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and "
                    "query like '%pg_sleep%' and pid <> pg_backend_pid()")
        pages.wait_until_ready()
        wait_for("the end", lambda: program.says("ended: the tables lag behind a source"), alive=[program])

    def test_dead_letters_are_a_warning(self):
        _, pages = self.run_skua()
        pages.wait_until_ready()
        self.db.run("insert into skua.dead_letter (consumer, key, error, payload) values ('test', 'k', 'broken', 'x')")
        wait_for("the warning", lambda: pages.ready()[1]["warnings"])
        status, body = pages.ready()
        self.assertEqual((status, [warning["code"] for warning in body["warnings"]]), (200, ["dead-letters"]))

    def test_a_collection_that_stops_is_a_reason(self):
        program, pages = self.run_skua("--quiet-after", "3s")
        likes = r'(?m)^skua_collection_operations_total\{[^}]*collection="app\.bsky\.feed\.like"\} (\d+)$'
        others = ["--collection", "app.bsky.feed.post", "--collection", "app.bsky.feed.repost"]

        def count():
            found = re.search(likes, pages.get("/metrics")[1])
            return int(found[1]) if found else 0

        # The filter leaves out likes after they have been steady for more than six times as long. A machine that
        # pauses for seconds makes them unsteady: then again.
        for seconds in (10, 10, 10, 40):
            before = count()
            wait_for("likes of 22 seconds", lambda: count() > before + 600, seconds=90, every=0.5, alive=[program])
            self.skua(self.db, "filter", "add", *others)
            try:
                pages.wait_for_reason("collection-quiet", seconds=seconds)
                break
            except AssertionError:
                if seconds == 40:
                    raise
                self.skua(self.db, "filter", "remove", *others)
        self.assertRegex(pages.check_shown("collection-quiet", cure="skua filter show"),
                         "^no events for 3 s: .*app.bsky.feed.like")

    def test_an_account_that_is_cut_off_is_a_warning(self):
        program, pages = self.run_skua("--verify", "full", "--plc", self.sim_network.ready["plc"], "--allow-private-hosts")
        pages.wait_until_ready()

        def is_warned():
            # Its host never answers, and its commits exceed what may wait for it.
            self.sim_network.fault("silent-account", arg=400, count=8)
            return "account-cut-off" in [warning["code"] for warning in pages.ready()[1]["warnings"]]

        wait_for("the warning", is_warned, every=1, alive=[program])
        self.assertEqual(pages.codes(), [])
        pages.check_shown("account-cut-off")
        self.assertRegex(pages.get("/metrics")[1], r'(?m)^skua_dropped_total\{[^}]*reason="parked_over_budget"\} [1-9]')
        self.assertTrue(program.says("its host does not answer"), program.tail())

    def test_a_newer_schema_is_a_reason(self):
        _, pages = self.run_skua()
        pages.wait_until_ready()
        self.db.run("insert into skua.migrations (version, name, checksum) values (9999, 'made', 'made')")
        pages.wait_for_reason("schema-new")
        pages.check_shown("schema-new")

    def run_with_default(self):
        command = [BIN / "skua", "run", "--relay", self.sim_network.url, "--stats-interval", "1"]
        return self.start(command, {**self.environment(self.db), "SKUA_HTTP": ""})

    def test_only_loopback_is_opened(self):
        program = self.run_with_default()
        wait_for("events", lambda: self.db.value("select count(*) from bsky.posts") > 0, alive=[program])
        # Another process on this machine may have the default port.
        self.assertTrue(program.says("pages at http://127.0.0.1:2580/") or program.says("no pages (--http)"))
        for address in listening(program.process.pid):
            self.assertEqual(address, "0100007F:0A14")
        self.assertEqual(program.stop(), 0)
        program = self.indexer(self.db, self.sim_network.url, "--http", "off")
        wait_for("metrics", program.metrics, alive=[program])
        self.assertEqual(listening(program.process.pid), [])
        self.assertFalse(program.says("pages at"))
        self.assertEqual(program.stop(), 0)
        program, _ = self.run_skua()
        self.assertEqual([address.split(":")[0] for address in listening(program.process.pid)], ["0100007F"])
        self.assertEqual(program.stop(), 0)
        program = self.indexer(self.db, self.sim_network.url, "--http", "0.0.0.0:0")
        wait_for("the pages", lambda: program.says("pages at http://0.0.0.0:"), alive=[program])
        self.assertEqual([address.split(":")[0] for address in listening(program.process.pid)], ["00000000"])
        self.assertTrue(program.says("is not a loopback address"), program.tail())

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            program = self.skua(self.db, "run", "--relay", self.sim_network.url, "--http", address, code=1)
            self.assertTrue(program.says("cannot listen on"), program.tail())
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind(("127.0.0.1", 2580))
                taken.listen()
            except OSError:
                pass  # Another process has it.
            program = self.run_with_default()
            wait_for("events", lambda: self.db.value("select count(*) from bsky.posts") > 0, alive=[program])
            lines = [line for line in program.stderr if "no pages (--http)" in line]
            self.assertEqual(len(lines), 1, program.tail())
        for wrong in ("2580", "nowhere:2580", "127.0.0.1:70000", "on"):
            program = self.skua(self.db, "run", "--relay", self.sim_network.url, "--http", wrong, code=2)
            self.assertTrue(program.says("--http"), program.tail())
        self.skua(self.db, "run", "--relay", self.sim_network.url, "--behind-after", "soon", code=2)

    def test_skua_serve_has_the_pages(self):
        program = self.start([BIN / "skua", "serve", "--listen", "127.0.0.1:0"], self.environment(self.db))
        pages = Pages(program)
        pages.wait_until_ready()
        self.assertEqual(pages.get("/health/live")[0], 200)
        self.assertEqual(pages.get("/status")[0], 200)
        self.assertIn('skua_problem{code="consumer-stuck"} 0', pages.get("/metrics")[1])
        self.skua(self.db, "consumers", "add", "post_stats")
        self.skua(self.db, "consumers", "run-until-idle")
        self.skua(self.db, "consumers", "pause", "post_stats")
        pages.wait_for_reason("consumer-stuck")
        self.assertEqual(program.stop(), 0)


class WithServer(OwnServer, SimTest):
    """With a PostgreSQL that stops."""

    def setUp(self):
        super().setUp()
        self.sim_network = self.network("--accounts", "20", "--rate", "50")
        self.program = self.indexer(self.db, self.sim_network.url, "--http", "127.0.0.1:0", "--log-format", "json")
        self.pages = Pages(self.program)

    def log(self):
        """All lines of the program: each is a JSON object."""
        lines = self.program.output()
        self.assertEqual([line for line in lines if not line.startswith("{")], [], "lines that are no JSON")
        return [json.loads(line) for line in lines]

    def answer_times(self):
        times = {}
        for path in ("/health/ready", "/health/live", "/metrics", "/status/process", "/status"):
            began = time.monotonic()
            self.pages.get(path)
            times[path] = time.monotonic() - began
        return times

    def test_a_database_that_stops(self):
        self.pages.wait_until_ready()
        self.cluster.pg("stop")
        began = time.monotonic()
        self.pages.wait_for_reason("database-down")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(self.pages.get("/health/live")[0], 200)
        for path, seconds in self.answer_times().items():
            self.assertLess(seconds, 2, path)
        status, text = self.pages.get("/metrics")
        self.assertEqual(status, 200)
        self.assertIn("skua_messages_total", text)
        status, text = self.pages.get("/status/process")
        self.assertEqual(status, 200)
        self.assertGreater(len(json.loads(text)["sources"]), 0)
        self.pages.check_shown("database-down")
        status, text = self.pages.get("/status")
        self.assertEqual((status, json.loads(text)["error"]), (503, "database-down"))
        self.cluster.pg("start")
        self.pages.wait_until_ready()
        # A stop soon after an outage may find the session of the cursor broken.
        self.program.stop()
        log = self.log()
        for line in log:
            self.assertTrue({"time", "level", "component", "message"} <= line.keys(), line)
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        down = [line for line in log if line.get("problem") == "database-down"]
        self.assertTrue(any(line["message"].startswith("the database is down, retrying: ") for line in down), log)
        for line in down:
            self.assertTrue(line["message"].endswith(" [database-down]"), line)
        self.assertTrue(any(line["message"].startswith("stopped ") for line in log))

    def test_a_database_that_hangs(self):
        self.pages.wait_until_ready()
        thaw = self.cluster.freeze()
        self.addCleanup(thaw)
        self.pages.wait_for_reason("database-down", seconds=40)
        self.assertEqual(self.pages.get("/health/live")[0], 200)
        began = time.monotonic()
        self.assertEqual(self.pages.get("/metrics")[0], 200)
        self.assertLess(time.monotonic() - began, 2)
        thaw()
        self.pages.wait_until_ready()

    def test_a_database_that_becomes_a_standby(self):
        self.pages.wait_until_ready()
        self.cluster.pg("stop")
        data = self.cluster.folder / "data"
        owner = os.stat(data)
        (data / "standby.signal").touch()
        os.chown(data / "standby.signal", owner.st_uid, owner.st_gid)
        self.cluster.pg("start")
        self.pages.wait_for_reason("database-read-only")
        self.assertNotIn("database-down", self.pages.codes())
        self.pages.check_shown("database-read-only", cure="primary")
        self.assertTrue(any(line.get("problem") == "database-read-only" for line in self.log()), self.program.tail())

    def test_the_pages_exist_before_the_database(self):
        self.pages.wait_until_ready()
        self.assertEqual(self.program.stop(), 0)
        self.cluster.pg("stop")
        program = self.indexer(self.db, self.sim_network.url, "--http", "127.0.0.1:0")
        pages = Pages(program)
        pages.wait_for_reason("database-down")
        self.assertEqual(pages.ready()[1]["status"], "starting")
        self.assertEqual(pages.get("/health/live")[0], 200)
        self.cluster.pg("start")
        pages.wait_until_ready()


class Secrets(OwnServer, SimTest):
    """No secret is in the output of a program."""

    def assert_hidden(self, program, secret):
        self.assertTrue(program.output())
        self.assertFalse(program.says(secret), program.tail())

    def test_the_password_of_the_database(self):
        parts = urllib.parse.urlsplit(self.cluster.url)
        port = urllib.parse.parse_qs(parts.query)["port"][0]
        secret = "hunter2-secret"
        for url in (f"postgresql://skua:{secret}@127.0.0.1:{port}/skua",
                    f"postgresql://skua:{secret}@127.0.0.1:{closed_port()}/skua",
                    f"postgresql://skua:{secret}@nowhere.invalid/skua",
                    f"host=127.0.0.1 port={port} user=skua password={secret} dbname=skua nonsense=1",
                    f"postgresql://skua:{secret}@127.0.0.1:port/skua"):
            with self.subTest(url=url):
                environment = {**self.environment(None), "SKUA_DATABASE_URL": url}
                for command in (["status"], ["migrate"], ["serve", "--listen", "127.0.0.1:0"]):
                    program = self.start([BIN / "skua", "--log-level", "trace", *command], environment)
                    self.assertNotEqual(program.wait(), 0)
                    self.assert_hidden(program, secret)
        # The run retries: what it logs meanwhile.
        url = f"postgresql://skua:{secret}@127.0.0.1:{closed_port()}/skua"
        program = self.indexer(Database(url), f"ws://127.0.0.1:{closed_port()}", "--http", "127.0.0.1:0", "--log-level",
                               "trace")
        pages = Pages(program)
        pages.wait_for_reason("database-down")
        for path in ("/health/ready", "/status", "/status/process", "/metrics"):
            self.assertNotIn(secret, pages.get(path)[1])
        self.assert_hidden(program, secret)

    def test_the_password_of_a_tap_and_the_secret_of_a_webhook(self):
        file = self.folder / "tap.password"
        file.write_text("tap-secret-word\n")
        tap = self.start([BIN / "skua", "run", "--tap", f"ws://127.0.0.1:{closed_port()}", "--tap-password-file", file,
                          "--http", "127.0.0.1:0", "--log-level", "trace"], self.environment(self.db))
        wait_for("the failure", lambda: tap.says("cannot reach"), alive=[tap])
        self.assert_hidden(tap, "tap-secret-word")
        added = self.skua(self.db, "consumers", "add", "hook", "--webhook", f"http://127.0.0.1:{closed_port()}/x", "--from",
                          "oldest")
        (secret,) = re.findall(r"[\w+/=-]{32,}", "\n".join(added.stdout))
        self.indexer(self.db, self.network("--accounts", "5", "--rate", "50").url)
        wait_for("changes", lambda: self.db.value("select count(*) from bsky.posts") > 0)
        serve = self.start([BIN / "skua", "--log-level", "trace", "serve", "--listen", "127.0.0.1:0"],
                           self.environment(self.db))
        pages = Pages(serve)
        wait_for("a failed request", lambda: serve.says("webhook: hook: "), alive=[serve])
        for path in ("/health/ready", "/status", "/status/process", "/metrics"):
            self.assertNotIn(secret, pages.get(path)[1])
        self.assert_hidden(serve, secret)


class Hosts(EndToEnd):
    def test_a_web_page_whose_name_leads_here_is_refused(self):
        database = self.database()
        commands = (["run", "--relay", "ws://127.0.0.1:1", "--http", "127.0.0.1:0"], ["serve", "--listen", "127.0.0.1:0"])
        for command in commands:
            with self.subTest(command[0]):
                program = self.start([BIN / "skua", *command],
                                     {**self.environment(database), "SKUA_HTTP_HOST": "skua.example.com Proxy.Example"})
                pages = Pages(program)
                for host in (pages.address, "localhost", "[::1]:80", "skua.example.com", "proxy.example:443"):
                    self.assertEqual(pages.get("/status", {"Host": host})[0], 200, host)
                for path in ("/", "/status", "/status/process", "/metrics", "/no-such-page"):
                    status, text = pages.get(path, {"Host": "evil.test", "Origin": "http://evil.test"})
                    self.assertEqual(status, 403, path)
                    self.assertIn("--http-host", text)
                self.assertEqual(pages.get("/status", {"Origin": "https://evil.test"})[0], 403)
                self.assertEqual(program.stop(), 0, program.tail())
        wrong = self.skua(database, "serve", "--listen", "127.0.0.1:0", "--http-host", "https://skua.example.com", code=2)
        self.assertTrue(wrong.says("--http-host"), wrong.tail())


if __name__ == "__main__":
    unittest.main()
