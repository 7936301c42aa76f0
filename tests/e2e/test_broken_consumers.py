"""Broken consumers of each kind beside others: the processes run, the others have all changes, each reason is shown with
its cure, and the cures work. And `skua consumers run`, a process for projections alone."""

import json
import re
import unittest
import urllib.error
import urllib.parse
import urllib.request
import uuid

import projections
from harness import BIN, Database, wait_for
from made import busy_network
from test_leased import QUICK, LeasedTest, Receiver
from test_pages import Pages

PASSWORD = "only-of-this-test"


class ConsumersTest(LeasedTest):
    def run_consumers(self, database, *arguments):
        """A running `skua consumers run`."""
        program = self.start([BIN / "skua", "consumers", "run", "--http", "127.0.0.1:0", *arguments],
                             self.environment(database))
        return program, Pages(program)

    def consumers(self, database, *arguments, code=0):
        return "\n".join(self.skua(database, "consumers", *arguments, code=code).output())

    def listed(self, database):
        """{name: consumer} of those that people see; a retired one is "NAME retired"."""
        return {one["name"] + (" retired" if one["state"] == "not dropped" else ""): one
                for one in json.loads(self.consumers(database, "list", "--json"))}

    def write(self, database, network, people):
        """New posts and likes of each account, without threads for consumers."""
        for person in people:
            person.like(*person.post("a later post"))
        capture = self.folder / f"{uuid.uuid4().hex}.capture"
        capture.write_bytes(network.capture())
        program = self.indexer(database, self.sim(capture).url, "--cursor", "oldest", "--consumer-threads", "0")
        wait_for("the last cursor", lambda: program.reached(network.seq), alive=[program])
        self.assertEqual(program.stop(), 0)

    def is_current(self, database, name):
        return database.value(f"select bool_and(l.pos = skua.change_log_end()) from skua.consumer_lanes l "
                              f"join skua.consumers c on c.id = l.consumer_id where c.name = '{name}' and c.role = 'live'")

    def member_of(self, database, group="skua_writer"):
        """The database as seen by a member of a role, from whom rights can be revoked."""
        role = "broken_" + uuid.uuid4().hex[:12]
        database.run(f"create role {role} login password '{PASSWORD}' in role {group}")
        self.addCleanup(database.run, f"drop role {role}")
        parts = urllib.parse.urlsplit(database.url)
        place = parts.netloc.rpartition("@")[2]
        return Database(urllib.parse.urlunsplit(parts._replace(netloc=f"{role}:{PASSWORD}@{place}")))


class BrokenTest(ConsumersTest):
    """`db` is the database, `server` a running `skua serve`."""

    def table(self, name):
        number = self.db.value(f"select id from skua.consumers where name = '{name}' and role = 'live'")
        return f"skua.{name}_{number}"

    def pull(self, action, name, token, **fields):
        """The status and the answer of a request to /pull/ACTION."""
        body = json.dumps({"consumer": name, **fields}).encode()
        headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.server.url}/pull/{action}", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def fetch(self, name, token):
        return self.pull("fetch", name, token, max=10000)

    def cure(self, name, wanted):
        """The command of the printed cure that contains a text."""
        return next(one for one in re.findall(r"`([^`]+)`", self.listed(self.db)[name]["cure"]) if wanted in one)

    def run_cure(self, name, wanted):
        self.run_command(self.cure(name, wanted))

    def run_command(self, command):
        if command.startswith("skua "):
            self.skua(self.db, *command.split()[1:])
        else:
            self.db.run(command)


class Broken(BrokenTest):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.sim_network, self.people = busy_network(accounts=4, rounds=5)
        self.index(self.db, self.sim_network)
        for name in ("post_stats", "actor_stats", "tag_trends", "notifications", "post_rules"):
            self.skua(self.db, "consumers", "add", name)
        self.skua(self.db, "consumers", "run-until-idle")
        self.receivers = {}
        for name in ("down", "works"):
            receiver = self.receivers[name] = Receiver("")
            receiver.secret = self.add(self.db, name, "--webhook", f"http://127.0.0.1:{receiver.port}/", *QUICK)
        self.receivers["works"].start()
        self.addCleanup(self.receivers["works"].close)
        self.tokens = {name: self.add(self.db, name, "--pull") for name in ("archive", "mirror")}
        self.writer = self.member_of(self.db)
        self.program, self.pages = self.run_consumers(self.writer)
        self.server = self.serve(self.writer)

    def break_all(self):
        # Its view and all views that read it are dropped, too. Without them commands refuse to start.
        self.db.run(f"drop table {self.table('post_stats')} cascade")
        self.skua(self.db, "migrate")
        self.db.run(f"revoke all on {self.table('actor_stats')} from skua_writer")
        self.db.run(f"alter table {self.table('tag_trends')} rename tag to was_tag")
        self.db.run("""update skua.consumers set filter = '{"collections": 1}' where name = 'archive'""")
        # A view of a user reads an internal table.
        number = self.table("post_rules").rpartition("_")[2]
        internal = self.db.value(f"select min(tablename) from pg_tables where schemaname = 'skua' and tablename ~ '^post_rules_.*_{number}$'")
        self.db.run(f"create view public.mine as select * from skua.{internal}")
        self.skua(self.db, "consumers", "rebuild", "post_rules")
        self.skua(self.db, "consumers", "run-until-idle", "post_rules")

    def test_of_each_kind(self):
        self.break_all()
        wait_for("the filter, without a fetch", lambda: self.listed(self.db)["archive"]["failures"],
                 alive=[self.program, self.server])
        self.assertEqual(self.listed(self.db)["archive"]["failures"]["cause"], "filter")
        self.write(self.db, self.sim_network, self.people)
        self.assertEqual(self.fetch("archive", self.tokens["archive"])[1]["error"], "InvalidFilter")

        broken = {"post_stats": "does not exist", "actor_stats": "permission denied", "tag_trends": "tag", "down": "refused",
                  "archive": "collections is not a list"}
        wait_for("all failures", lambda: all(self.listed(self.db)[name]["failures"] for name in broken), seconds=60,
                 alive=[self.program, self.server])
        for name in ("notifications", "post_rules", "works"):
            wait_for(name, lambda name=name: self.is_current(self.db, name), seconds=60, alive=[self.program, self.server])
        self.assertGreater(len(self.fetch("mirror", self.tokens["mirror"])[1]["changes"]), 5)
        self.db.run("update skua.consumer_lanes set failing_since = failing_since - interval '10 minutes'")

        for pages in (self.pages, Pages(self.server)):
            wait_for("the reasons", lambda pages=pages: set(broken) <= {r["subject"] for r in pages.ready()[1]["reasons"]})
            reasons = {reason["subject"]: reason for reason in pages.ready()[1]["reasons"]}
            for name, text in broken.items():
                with self.subTest(name):
                    self.assertIn(text, reasons[name]["detail"])
                    self.assertEqual(reasons[name]["code"], "consumer-stuck")
            warning, = [one for one in pages.ready()[1]["warnings"] if one["code"] == "former-tables"]
            self.assertIn("`drop view public.mine`", warning["cure"])
            self.assertTrue(pages.problem_metric("consumer-stuck") and pages.problem_metric("former-tables"))
            metrics = pages.get("/metrics")[1].splitlines()
            for name in broken:
                self.assertIn(f'skua_consumer_running{{consumer="{name}"}} 0', metrics)
            for name in ("notifications", "works"):
                self.assertIn(f'skua_consumer_running{{consumer="{name}"}} 1', metrics)
        listed = self.listed(self.db)
        self.assertEqual({name: listed[name]["state"] for name in broken}, dict.fromkeys(broken, "failing"))
        wait_for("the time of the next attempt", lambda: self.listed(self.db)["tag_trends"]["retry_seconds"], seconds=90)
        report = json.loads("".join(self.skua(self.db, "doctor", "--json").stdout))
        codes = {one["check"]: one["code"] for one in report["findings"]}
        self.assertEqual([codes[f"consumer {name}"] for name in broken], ["consumer-stuck"] * len(broken))
        self.cure_all()

    def cure_all(self):
        self.run_cure("post_stats", "rebuild post_stats")
        self.run_cure("tag_trends", "rebuild tag_trends")
        # After the grant, the next attempt of Skua ends the failure, and with it the cure.
        resume = self.cure("actor_stats", "resume actor_stats")
        self.db.run(f"grant select, insert, update, delete on {self.table('actor_stats')} to skua_writer")
        self.run_command(resume)
        self.receivers["down"].start()
        self.addCleanup(self.receivers["down"].close)
        self.run_cure("down", "resume down")
        self.run_cure("archive", "set archive --collection")
        wait_for("the end of the failure, without a fetch", lambda: not self.listed(self.db)["archive"]["failures"],
                 alive=[self.server])
        self.run_cure("post_rules retired", "drop view")
        # Only the owner builds and drops tables.
        self.skua(self.db, "consumers", "resume", "post_rules")
        self.skua(self.db, "consumers", "run-until-idle")
        for name in ("post_stats", "actor_stats", "tag_trends", "down"):
            wait_for(name, lambda name=name: self.is_current(self.db, name), seconds=60, alive=[self.program, self.server])
        changes = self.fetch("archive", self.tokens["archive"])[1]["changes"]
        self.assertEqual({change["collection"] for change in changes if "collection" in change}, {"app.bsky.feed.post"})
        self.pages.wait_until_ready()
        self.assertEqual(self.pages.ready()[1], {"status": "ready", "reasons": [], "warnings": []})
        self.assertNotIn("post_rules retired", self.listed(self.db))
        self.assertEqual(self.receivers["down"].faults, [])
        self.assertEqual(projections.differences(self.db.url), [])
        self.assertEqual((self.program.stop(), self.server.stop()), (0, 0))


class Alone(ConsumersTest):
    """`skua consumers run` without `skua run`."""

    def test_it_builds_and_follows_and_serves_pages(self):
        database = self.database()
        network, people = busy_network(accounts=3, rounds=5)
        self.index(database, network)
        self.skua(database, "consumers", "add", "post_stats", "--lanes", "2")
        self.skua(database, "consumers", "add", "actor_stats")
        self.assertIn("Start `skua consumers run`", self.consumers(database, "list"))
        program, pages = self.run_consumers(database, "--threads", "3")
        pages.wait_until_ready()
        wait_for("the builds", lambda: self.is_current(database, "post_stats") and self.is_current(database, "actor_stats"),
                 alive=[program])
        self.assertEqual(self.listed(database)["post_stats"]["state"], "running")
        self.write(database, network, people)
        for name in ("post_stats", "actor_stats"):
            wait_for(name, lambda name=name: self.is_current(database, name), alive=[program])
        self.assertGreater(database.value("select max(pos) from skua.consumer_lanes"), 1)
        text = pages.get("/metrics")[1]
        self.assertRegex(text, r"skua_consumer_changes_total [1-9]")
        self.assertRegex(text, r"skua_change_log_changes [1-9]")
        status, page = pages.get("/")
        self.assertEqual((status, "skua consumers" in page), (200, True))
        self.assertEqual(pages.get("/health/live"), (200, '{"status":"live","stuck":[]}\n'))
        self.assertEqual(program.stop(), 0, program.tail())
        self.assertTrue(program.says("stopped: "), program.tail())
        wait_for("the judgement", lambda: self.listed(database)["post_stats"]["state"] == "not served")
        for name in ("post_stats", "actor_stats"):
            self.assertIn(f"{name} equals the records", self.consumers(database, "verify", name))


class Serving(ConsumersTest):
    """`skua serve --consumers`: one process for all consumers."""

    def test_it_builds_follows_delivers_and_serves_pages(self):
        database = self.database()
        network, people = busy_network(accounts=3, rounds=5)
        self.index(database, network)
        self.skua(database, "consumers", "add", "post_stats", "--lanes", "2")
        receiver = Receiver("")
        receiver.start()
        self.addCleanup(receiver.close)
        receiver.secret = self.add(database, "search", "--webhook", f"http://127.0.0.1:{receiver.port}/", *QUICK)
        server = self.serve(database, environment={"SKUA_SERVE_CONSUMERS": "true"})
        pages = Pages(server)
        wait_for("the build", lambda: self.is_current(database, "post_stats"), alive=[server])
        pages.wait_until_ready()
        self.write(database, network, people)
        for name in ("post_stats", "search"):
            wait_for(name, lambda name=name: self.is_current(database, name), seconds=60, alive=[server])
        self.assertGreater(len(receiver.processed), 3)
        database.run("select skua.enqueue('orders', 'a', '{}'::jsonb)")
        wait_for("the message", lambda: database.value("select count(*) from skua.message_inbox") == 0, alive=[server])
        metrics = pages.get("/metrics")[1]
        for pattern in (r"skua_consumer_changes_total [1-9]", r"skua_change_log_changes [1-9]", r"skua_messages_moved_total 1",
                        r"skua_feed_batches_total [1-9]"):
            self.assertRegex(metrics, pattern)
        names = [line for line in metrics.splitlines() if line.startswith("# TYPE")]
        self.assertEqual(len(names), len(set(names)), "no metric appears twice")
        self.assertIn("skua serve --consumers", pages.get("/")[1])
        self.assertEqual(server.stop(), 0, server.tail())
        self.assertIn("post_stats equals the records", self.consumers(database, "verify", "post_stats"))

    def test_its_rights_and_threads_are_checked(self):
        database = self.database()
        self.assertIn("use a role with the rights of skua_writer",
                      "\n".join(self.skua(self.member_of(database, "skua_reader"), "serve", "--consumers", "--listen", "127.0.0.1:0", code=1).stderr))
        self.skua(database, "serve", "--consumers", "--threads", "0", code=2)


class Lanes(ConsumersTest):
    """What `run-once` and `run-until-idle` report of each lane."""

    def report(self, command, *arguments, code=0):
        # A build logs its progress.
        return json.loads("\n".join(self.skua(self.db, "consumers", command, *arguments, "--json", code=code).stdout))

    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.sim_network, self.people = busy_network(accounts=3, rounds=3)
        self.index(self.db, self.sim_network)

    def test_steps_and_states(self):
        self.skua(self.db, "consumers", "add", "post_stats", "--lanes", "2", "--set", "batch=5")
        first = self.report("run-once", "post_stats", code=1)
        self.assertEqual((first["builds"], first["is_done"]), (1, False))
        done = self.report("run-until-idle", "post_stats")
        self.assertEqual([(lane["lane"], lane["state"], lane["left"]) for lane in done["lanes"]], [(0, "idle", 0), (1, "idle", 0)])

        self.write(self.db, self.sim_network, self.people)
        once = self.report("run-once", "post_stats", code=1)
        self.assertEqual((once["changes"], once["batches"]), (5, 1))
        self.assertEqual(sorted((lane["processed"], lane["state"]) for lane in once["lanes"]), [(0, "ready"), (5, "ready")])
        self.skua(self.db, "consumers", "pause", "post_stats")
        text = self.consumers(self.db, "run-until-idle", code=1)
        self.assertRegex(text, r"post_stats lane 0: 0 changes processed, \d+ left, paused")
        self.skua(self.db, "consumers", "resume", "post_stats")
        self.db.run("update skua.consumer_lanes set retry_at = now() + interval '1 hour', error = 'a cause' where lane = 1")
        left = self.report("run-until-idle", "post_stats", code=1)["lanes"]
        self.assertEqual([lane["state"] for lane in left], ["idle", "backoff"])
        self.assertGreater(left[1]["retry_seconds"], 3500)
        self.assertEqual(left[1]["error"], "a cause")
        self.skua(self.db, "consumers", "resume", "post_stats")
        done = self.report("run-until-idle", "post_stats")
        self.assertEqual((done["is_done"], done["lanes"][0]["state"]), (True, "idle"))

    def test_a_webhook_is_reported_and_left_to_skua_serve(self):
        self.add(self.db, "search", "--webhook", "http://127.0.0.1:1/", "--from", "oldest")
        text = self.consumers(self.db, "run-until-idle", "search", code=1)
        self.assertRegex(text, r"search lane 0: 0 changes processed, \d+ left, `skua serve` delivers them")
        self.assertEqual(self.report("run-until-idle")["lanes"], [], "without a name: the projections")

    def test_settings_of_consumers(self):
        receiver = Receiver("")
        self.addCleanup(lambda: receiver.server and receiver.close())
        self.add(self.db, "search", "--webhook", "http://127.0.0.1:1/wrong", "--from", "oldest", "--collection",
                 "app.bsky.feed.*", *QUICK)
        server = self.serve(self.db)
        wait_for("a failure", lambda: self.listed(self.db)["search"]["failures"], alive=[server])
        receiver.secret = self.add_secret("search", "--webhook", f"http://127.0.0.1:{receiver.port}/", "--lanes", "4",
                                          "--set", "batch=3", "--set", "pause_ms=default")
        receiver.start()
        wait_for("all changes", lambda: self.is_done(self.db), seconds=60, alive=[server])
        self.assertEqual(receiver.faults, [], "the new secret signs")
        self.assertGreater(len({change["pos"] for change in receiver.processed}), 10)
        # The filter is about records; changes of accounts pass.
        self.assertEqual({change["collection"].rpartition(".")[0] for change in receiver.processed if "collection" in change},
                         {"app.bsky.feed"})
        consumer = self.listed(self.db)["search"]
        self.assertEqual((len(consumer["lanes"]), consumer["tuning"]["batch"], consumer["tuning"]["pause_ms"]), (4, 3, 400))
        status = self.consumers(self.db, "status", "search")
        self.assertIn("batch=3 (set), pause_ms=400, idle_ms=50", status)
        self.skua(self.db, "consumers", "set", "search", "--no-filter", "--policy", "skip", "--profile", "low_latency")
        consumer = self.listed(self.db)["search"]
        self.assertEqual((consumer["filter"], consumer["policy"], consumer["tuning"]["pause_ms"]), ({}, "skip", 5))
        for arguments, code, text in (
            ((), 2, "give a value to change"),
            (("--no-filter", "--op", "create"), 2, "not both"),
            (("--webhook", "ftp://x"), 2, "--webhook ftp://x"),
            (("--set", "speed=9"), 2, "--set speed=9: give KEY=NUMBER with processors, batch"),
            (("--lanes", "3"), 1, "power of two"),
            (("--set", "lease_ms=5000"), 1, "lease_ms is not a value of a webhook"),
        ):
            with self.subTest(arguments=arguments):
                program = self.skua(self.db, "consumers", "set", "search", *arguments, code=code)
                self.assertTrue(program.says(text), program.tail())

    def add_secret(self, *arguments):
        return self.skua(self.db, "consumers", "set", *arguments, "--new-secret").output()[-1].strip()


if __name__ == "__main__":
    unittest.main()
