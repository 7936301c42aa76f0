#!/usr/bin/env python3
"""broken_consumers.py [--minutes M] [--rate EVENTS/S] [--report FILE]

Broken consumers beside `skua run` and `skua serve`, which index a simulated network: a projection of a user whose table
was dropped, post_stats with a renamed column, a webhook whose receiver is down, a pull consumer with a malformed filter,
a view of a user on a former table, and a projection of a user with an endless query. Neither process restarts, all other
consumers get all changes, and each reason is shown by `skua consumers list` and `status`, by /health/ready and by
/metrics. Then every printed cure is run, all consumers become current, and all projections equal the records.

  --minutes  how long the broken consumers stay broken (default 10)
  --rate     record operations per second (default 40)
  --report   a JSON file, as of stress.py

SKUA_BIN_DIR names the folder of skua and skua-sim. The test has its own PostgreSQL.

Example: tests/stress/broken_consumers.py --minutes 0.2
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import traceback
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

from harness import BIN, SIM, Sim, wait_for  # noqa: E402
from hostile_accounts import Control  # noqa: E402
from stress import Cluster  # noqa: E402
from test_broken_consumers import BrokenTest  # noqa: E402
from test_leased import Receiver  # noqa: E402
from test_own_projections import examples  # noqa: E402
from test_pages import Pages  # noqa: E402

# /health/ready reports a receiver that has been down for so many minutes.
FAILING_AFTER = 2
ENDLESS = """-- projection: endless
-- help: Likes of each account, with a fold that never ends
-- batch seconds: 1
-- table: endless
actor_id int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL
-- fill
INSERT INTO {endless} SELECT actor_id, count(*) FROM bsky.likes GROUP BY actor_id
-- fold
INSERT INTO {endless} SELECT c.actor_id, count(*)
FROM skua.changes_between($1::int8, $2::int8) AS c, generate_series(1, 1e12) AS n GROUP BY 1
"""
# The next version, without the cause.
ENDING = """-- projection: endless
-- version: 2
-- help: Likes of each account
-- collections: app.bsky.feed.like
-- internal table: own_likes
actor_id int8 NOT NULL, rkey int8 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: endless
actor_id int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL
-- rows: own_likes
SELECT l.actor_id, l.rkey FROM {keys} AS k JOIN bsky.likes AS l USING (actor_id, rkey)
-- sum: endless
SELECT actor_id, count(*) AS likes FROM {own_likes} GROUP BY actor_id
"""
# {consumer: a part of its reason}
BROKEN = {"lang_days": "was dropped", "post_stats": "likes", "down": "refused", "archive": "collections is not a list",
          "endless": "statement timeout", "post_rules retired": "mine"}
OTHERS = ("actor_stats", "notifications", "tag_trends", "post_rules", "engagement", "follow_days", "works", "mirror")
PROJECTIONS = ("lang_days", "post_stats", "endless", "actor_stats", "notifications", "tag_trends", "post_rules", "engagement",
               "follow_days")


class Broken(BrokenTest):
    minutes, rate = 10, 40

    def runTest(self):
        self.db = self.database()
        self.sim_program = Sim([SIM, "--seed", "1", "--accounts", "40", "--rate", str(self.rate), "--oddities", "0"])
        self.addCleanup(self.sim_program.kill)
        self.control = Control(self.sim_program.ready["control"])
        self.begin()
        self.break_all()
        self.starts = [start_of(program) for program in (self.run_program, self.server)]
        self.rounds = 0
        end = time.monotonic() + self.minutes * 60
        while self.rounds < 2 or time.monotonic() < end:
            self.check_others()
            time.sleep(min(5, max(0, end - time.monotonic())))
        self.check_reasons()
        self.cure_all()
        self.check_end()

    # The consumers

    def begin(self):
        for name, text in (*examples().items(), ("endless", ENDLESS)):
            self.add_file(name, text)
        for name in ("lang_days", "engagement", "follow_days", "post_stats", "actor_stats", "tag_trends", "notifications", "post_rules"):
            self.skua(self.db, "consumers", "add", name)
        self.receivers = {}
        for name in ("down", "works"):
            receiver = self.receivers[name] = Receiver("")
            receiver.secret = self.add(self.db, name, "--webhook", f"http://127.0.0.1:{receiver.port}/", "--set", "pause_ms=20",
                                       "--set", "batch=1000")
        self.receivers["works"].start()
        self.addCleanup(self.receivers["works"].close)
        self.tokens = {name: self.add(self.db, name, "--pull") for name in ("archive", "mirror")}
        self.run_program = self.start([BIN / "skua", "run", "--relay", self.sim_program.url, "--cursor", "oldest",
                                       "--stats-interval", "1", "--http", "127.0.0.1:0"], self.environment(self.db))
        self.pages = [Pages(self.run_program)]
        self.server = self.serve(self.db)
        self.pages.append(Pages(self.server))
        for name in OTHERS:
            self.wait_until_current(name)
        wait_for("likes of posts", lambda: self.db.value("select count(*) from bsky.likes where subject_collection = 1") > 20)

    def add_file(self, name, text):
        path = self.folder / f"{name}.sql"
        path.write_text(text)
        self.skua(self.db, "projection", "add", path)

    def break_all(self):
        self.wait_until_current("lang_days")
        self.wait_until_current("post_stats")
        self.skua(self.db, "consumers", "add", "endless", "--set", "pause_ms=0", "--set", "batch=1", "--set", "max_attempts=2",
                  "--set", "retry_ms=20")
        self.db.run(f"drop table {self.table('lang_days').replace('skua.', 'projections.')} cascade")
        self.db.run(f"alter table {self.table('post_stats')} rename likes to was_likes")
        self.db.run("""update skua.consumers set filter = '{"collections": 1}' where name = 'archive'""")
        internal = self.db.value("select min(oid::regclass::text) from pg_class where relnamespace = 'skua'::regnamespace and "
                                 f"relkind = 'r' and relname ~ '^post_rules_.*_{self.table('post_rules').rpartition('_')[2]}$'")
        self.db.run(f"create view public.mine as select * from {internal}")
        self.skua(self.db, "consumers", "rebuild", "post_rules")

    # While they are broken

    def programs(self):
        return [self.run_program, self.server]

    def wait_until_current(self, name, end=None):
        """Waits until a consumer has the changes that exist now, or those before `end`."""
        end = end or self.db.value("select skua.change_log_end()")

        def has_all():
            if name == "mirror":
                self.drain_mirror()
            return self.db.value("select count(*) > 0 and bool_and(l.pos >= " + str(end) + ") from skua.consumer_lanes l join skua.consumers "
                                 f"c on c.id = l.consumer_id where c.name = '{name}' and c.role = 'live'")
        wait_for(f"{name} at {end}", has_all, seconds=120, alive=self.programs())

    def drain_mirror(self):
        status, answer = self.pull("fetch", "mirror", self.tokens["mirror"], max=10000)
        self.assertEqual(status, 200, answer)
        if answer["changes"]:
            self.assertEqual(self.pull("ack", "mirror", self.tokens["mirror"], batch=answer["batch"])[0], 200)

    def check_others(self):
        """All other consumers get the changes of this moment, and the processes are the same."""
        self.assertIn(self.fetch("archive", self.tokens["archive"])[0], (200, 500))
        before = self.db.value("select skua.change_log_end()")
        for name in OTHERS:
            self.wait_until_current(name)
        self.assertEqual([start_of(program) for program in self.programs()], self.starts)
        wait_for("changes", lambda: self.db.value("select skua.change_log_end()") > before, alive=self.programs())
        self.rounds += 1

    def check_reasons(self):
        print(f"{self.rounds} rounds", flush=True)
        self.assertEqual(self.fetch("archive", self.tokens["archive"])[1]["error"], "InvalidFilter")
        if self.minutes <= FAILING_AFTER:
            self.db.run("update skua.consumer_lanes set failing_since = failing_since - interval '10 minutes'")

        def has_reasons():
            listed = self.listed(self.db)
            return all(text in (listed.get(name) or {"reason": None})["reason"] or "" for name, text in BROKEN.items()) and listed
        listed = wait_for("the reasons", has_reasons, seconds=60, alive=self.programs())
        for name in BROKEN:
            # After ten failures of a change, which take some minutes, the policy stops a projection.
            states = {"endless": {"stopped"}, "post_rules retired": {"not dropped"}}.get(
                name, {"failing", "stopped"} if name in PROJECTIONS else {"failing"})
            self.assertIn(listed[name]["state"], states, listed[name])
        for name in OTHERS:
            self.assertEqual(listed[name]["state"], "running", listed[name])
        for pages in self.pages:
            stuck = {name for name in BROKEN if name != "post_rules retired"}
            wait_for("the reasons", lambda pages=pages: stuck <= {one["subject"] for one in pages.ready()[1]["reasons"]}, alive=self.programs())
            status, body = pages.ready()
            self.assertEqual(status, 503)
            reasons = {one["subject"]: one for one in body["reasons"]}
            running = {f'skua_consumer_running{{consumer="{name}"}} {int(name in OTHERS)}' for name in (*stuck, *OTHERS)}
            wait_for("the metrics", lambda pages=pages: running <= set(pages.get("/metrics")[1].splitlines()), alive=self.programs())
            for name in stuck:
                self.assertIn(BROKEN[name], reasons[name]["detail"])
                self.assertEqual(reasons[name]["cure"], listed[name]["cure"])
                text = self.consumers(self.db, "status", name)
                self.assertIn(listed[name]["cure"], text)
                self.assertIn(BROKEN[name], text)
            self.assertEqual(set(reasons), stuck)
            warning, = [one for one in body["warnings"] if one["code"] == "former-tables"]
            self.assertEqual(warning["cure"], listed["post_rules retired"]["cure"])
            self.assertTrue(pages.problem_metric("consumer-stuck") and pages.problem_metric("former-tables"))

    # The cures

    def cures(self, name):
        """The commands of the printed cure, in its order."""
        commands = re.findall(r"`((?:skua|drop) [^`]*)`", self.listed(self.db)[name]["cure"])
        self.assertTrue(commands, name)
        return commands

    def cure(self, name, commands):
        for command in commands:
            print(f"{name}: {command}", flush=True)
            if command.startswith("skua "):
                self.skua(self.db, *command.split()[1:])
            else:
                self.db.run(command)

    def cure_all(self):
        for name in ("lang_days", "post_stats"):
            commands = self.cures(name)
            # Of a stopped one: to try the change again, to skip it, or to build the tables again.
            self.cure(name, commands[1:] if "--skip" in commands[1] else commands)
        self.cure("post_rules retired", self.cures("post_rules retired"))
        if self.minutes < 1:
            # Skua would try to drop the former tables within a minute.
            self.skua(self.db, "consumers", "resume", "post_rules")
            self.skua(self.db, "consumers", "run-until-idle", "post_rules")
        self.cure_endless()
        receiver = self.receivers["down"]
        receiver.start()
        self.addCleanup(receiver.close)
        self.at_end = {}
        for name in ("down", "archive"):
            *first, last = self.cures(name)
            # The last one gives up the changes that wait. When all have arrived it changes nothing.
            self.at_end[name] = last
            self.assertRegex(last, "--from live$")
            self.cure(name, [command.replace("URL", f"http://127.0.0.1:{receiver.port}/") for command in first])
        for name in ("lang_days", "post_stats", "endless", "down"):
            self.wait_until_current(name)
        changes = self.fetch("archive", self.tokens["archive"])[1]["changes"]
        self.assertEqual({change["collection"] for change in changes if "collection" in change}, {"app.bsky.feed.post"})

    def cure_endless(self):
        """While the cause is there, the next change stops the consumer again. The next version of the file has no endless query."""
        again, skip, rebuild = self.cures("endless")
        self.cure("endless", [skip])
        wait_for("the next stop", lambda: "skip" in self.listed(self.db)["endless"]["cure"] and self.cures("endless")[1] != skip,
                 alive=self.programs())
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter where consumer = 'endless'"), 1)
        self.add_file("endless", ENDING)
        # If the tables of the next version have replaced the others already, nothing is stopped any more.
        program = self.start([BIN / "skua", *again.split()[1:]], self.environment(self.db))
        self.assertTrue(program.wait(60) == 0 or program.says("is not stopped"), program.tail())
        self.cure("endless", [rebuild])

    def step(self):
        """Sends one message. A relay that sends nothing for a minute would be a reason itself."""
        return self.control.post("/step", count=1)["seq"]

    def check_end(self):
        self.control.post("/pause")
        for pages in self.pages:
            wait_for("no reasons", lambda pages=pages: self.step() and pages.ready() == (200, {"status": "ready", "reasons": [], "warnings": []}),
                     seconds=90, alive=self.programs())
        last = self.step()
        wait_for("the last message", lambda: self.run_program.reached(last), alive=self.programs())
        for name in (*OTHERS, "lang_days", "post_stats", "endless", "down"):
            self.wait_until_current(name)
        self.assertEqual([start_of(program) for program in self.programs()], self.starts)
        for name, command in self.at_end.items():
            self.cure(name, [command])
        self.assertEqual({one["state"] for one in self.listed(self.db).values()}, {"running"})
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter where status <> 'resolved'"), 0)
        for name in PROJECTIONS:
            self.assertIn(f"{name} equals the records", self.consumers(self.db, "verify", name))
        self.assertGreater(self.db.value("select count(*) from projections.lang_days"), 1)
        self.assertEqual([receiver.faults for receiver in self.receivers.values()], [[], []])
        self.assertEqual([program.stop() for program in self.programs()], [0, 0])


def start_of(program):
    """(number, time of the start) of a running process."""
    if program.process.poll() is not None:
        raise AssertionError(f"{program} ended:\n{program.tail()}")
    fields = pathlib.Path(f"/proc/{program.process.pid}/stat").read_text().rpartition(")")[2].split()
    return program.process.pid, int(fields[19])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    Broken.minutes, Broken.rate = options.minutes, options.rate
    folder = pathlib.Path(tempfile.mkdtemp(prefix="skua-broken-consumers-"))
    folder.chmod(0o755)
    started = time.monotonic()
    cluster = Cluster(folder)
    try:
        os.environ.update(SKUA_TEST_DATABASE_URL=cluster.url, SKUA_ALLOW_UNSAFE_DATABASE="true")
        result = unittest.TextTestRunner(stream=sys.stdout).run(Broken())
    finally:
        cluster.pg("destroy")
        shutil.rmtree(folder, ignore_errors=True)
    failed = [("broken consumers", text) for _, text in result.failures + result.errors]
    print(f"broken_consumers: {'equal' if not failed else 'FAILED'}, {time.monotonic() - started:.0f} s")
    if options.report:
        options.report.write_text(json.dumps({"passed": int(not failed), "failed": failed, "skipped": []}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
