"""Backfills: whole repositories of the simulated network, found in every possible way, with and without the stream,
interrupted and continued.
"""

import json
import os
import pty
import re
import signal
import subprocess
import time
import unittest

import atproto
import comparison
from harness import EndToEnd, wait_for
from test_outage import OwnServer
from test_run_script import Screen
from test_sim import Network

QUEUED = "select count(*) from skua.backfill_jobs where state in ('queued', 'running')"
DONE = "select count(*) from skua.backfill_jobs where state = 'done'"


class Backfill(EndToEnd):
    def network(self, accounts=30, records=600, arguments=()):
        """A network that only steps on demand, and whose accounts all stay."""
        network = Network("--accounts", accounts, "--records", records, "--rate", "0.001", "--one-op-a-path",
                          "--oddities", 0, "--hosts", 2, *arguments)
        self.addCleanup(network.kill)
        network.control("/pause")
        return network

    def environment_at(self, database, network):
        return {**self.environment(database), "SKUA_VERIFY": "full", "SKUA_PLC_URL": network.ready["plc"],
                "SKUA_DNS": network.ready["dns"], "SKUA_RELAY": network.ready["relay"],
                "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_STATS_INTERVAL": "1"}

    def begin(self, database, network, *arguments):
        """A running skua."""
        return self.start([self.binary("skua"), *arguments], self.environment_at(database, network))

    def run_at(self, database, network, *arguments, code=0):
        """Runs skua to its end."""
        program = self.begin(database, network, *arguments)
        self.assertEqual(program.wait(60), code, f"skua {' '.join(map(str, arguments))}:\n{program.tail()}")
        return program

    def repositories(self, network):
        """Every repository, by DID."""
        folder = self.folder / "oracle"
        network.control("/dump", dir=str(folder))
        return {path.stem: atproto.Repository(path.read_bytes()) for path in folder.glob("*.car")}

    def accounts(self, network):
        return network.accounts(self.folder / "accounts")

    def check(self, database, repositories):
        self.assertEqual(comparison.path_differences(database, repositories), [])

    def states(self, database):
        return {row["state"]: row["count"] for row in
                database.rows("select state, count(*) from skua.backfill_jobs group by 1")}


class Finding(Backfill):
    def test_a_whole_network_by_its_relay(self):
        network = self.network()
        database = self.database()
        program = self.run_at(database, network, "backfill", "--network", "--concurrency", 20, "--per-host", 3)
        self.check(database, self.repositories(network))
        self.assertEqual(self.states(database), {"done": 30})
        self.assertTrue(program.says("30 accounts"), program.tail())
        self.assertEqual(database.value("select count(*) from skua.repositories where state = 'complete'"), 30)
        again = self.run_at(database, network, "backfill", "--network")
        self.assertTrue(again.says("done: 0 repositories"), again.tail())

    def test_a_host_on_loopback_that_the_user_named(self):
        network = self.network()
        database = self.database()
        host = network.ready["hosts"][0]
        environment = {**self.environment_at(database, network), "SKUA_ALLOW_PRIVATE_HOSTS": ""}
        program = self.start([self.binary("skua"), "backfill", "--host", host], environment)
        self.assertEqual(program.wait(60), 0, program.tail())
        there = {repo["did"] for repo in network.repos(host)}
        self.assertTrue(0 < len(there) < 30)
        self.check(database, {did: repo for did, repo in self.repositories(network).items() if did in there})

    def test_those_that_use_a_collection(self):
        network = self.network(accounts=60, records=300)
        database = self.database()
        nsid = "app.bsky.graph.follow"
        self.run_at(database, network, "backfill", "--collection", nsid)
        users = {did: repo for did, repo in self.repositories(network).items()
                 if any(path.startswith(nsid + "/") for path in repo.records)}
        self.assertTrue(0 < len(users) < 60, len(users))
        self.check(database, users)

    def test_accounts_by_did_and_handle(self):
        network = self.network()
        database = self.database()
        named = [account for account in self.accounts(network) if account["handle_valid"]]
        by_did, by_handle, by_file = named[:3]
        listed = self.folder / "some.txt"
        listed.write_text(f"# some\n@{by_file['handle']}  # a friend\n")
        program = self.run_at(database, network, "backfill", by_did["did"], by_handle["handle"], "--file", listed)
        self.assertTrue(program.says("3 repositories queued"), program.tail())
        dids = {account["did"] for account in named[:3]}
        self.check(database, {did: repo for did, repo in self.repositories(network).items() if did in dids})
        with self.subTest("what leads nowhere is said, and the rest is done"):
            program = self.run_at(database, network, "backfill", "nobody.invalid", named[3]["did"], code=1)
            self.assertTrue(program.says("nobody.invalid: "), program.tail())
            self.assertEqual(database.value(DONE), 4)
        with self.subTest("an account that is nowhere is unavailable, at once"):
            program = self.run_at(database, network, "backfill", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")
            self.assertEqual(self.states(database)["unavailable"], 1, program.tail())

    def test_without_signatures(self):
        network = self.network()
        database = self.database()
        did = self.accounts(network)[0]["did"]
        self.run_at(database, network, "backfill", "--verify", "none", did)
        self.check(database, {did: self.repositories(network)[did]})

    def test_a_record_that_the_database_refuses_does_not_hold_its_repository(self):
        network = self.network()
        database = self.database()
        did, repository, path = next(
            (did, repository, path) for did, repository in self.repositories(network).items()
            for path in repository.records if path.startswith("app.bsky.feed.like/"))
        number = atproto.rkey_number(path.split("/")[1])
        database.run(f"alter table bsky.likes add constraint not_this_one check (rkey <> {number})")
        self.run_at(database, network, "backfill", did)
        self.assertEqual(self.states(database), {"done": 1})
        _, block = repository.records.pop(path)
        self.check(database, {did: repository})
        letters = database.rows("select error, sqlstate, encode(payload, 'hex') payload from skua.dead_letter")
        self.assertEqual([(row["sqlstate"], row["payload"]) for row in letters], [("23514", bytes(block).hex())])
        self.assertIn("not_this_one", letters[0]["error"])

    def test_car_files(self):
        network = self.network()
        database = self.database()
        folder = self.folder / "cars"
        folder.mkdir()
        dids = [account["did"] for account in self.accounts(network)][:4]
        for did in dids:
            host = next(host for host in network.ready["hosts"]
                        if network.sync(host, "getRepo", did=did).status == 200)
            (folder / f"{did[8:]}.car").write_bytes(network.sync(host, "getRepo", did=did).body)
        single = folder / f"{dids[0][8:]}.car"
        self.run_at(database, network, "backfill", "--car", single)
        self.assertEqual(database.value(DONE), 1)
        self.run_at(database, network, "backfill", "--car-dir", folder)
        self.check(database, {did: repo for did, repo in self.repositories(network).items() if did in dids})
        with self.subTest("a broken one fails for good, the others do not"):
            damaged = bytearray(single.read_bytes())
            damaged[-40] ^= 1
            single.write_bytes(damaged)
            program = self.run_at(database, network, "backfill", "--car-dir", folder, code=1)
            self.assertTrue(program.says("1 repository failed for good"), program.tail())
            self.assertEqual(self.states(database), {"done": 3, "failed": 1})
            self.check(database, {did: repo for did, repo in self.repositories(network).items() if did in dids})
        with self.subTest("of two of one account the newer is taken, whatever their names"):
            folder = self.folder / "twice"
            folder.mkdir()
            host = next(host for host in network.ready["hosts"]
                        if network.sync(host, "getRepo", did=dids[1]).status == 200)
            older = network.sync(host, "getRepo", did=dids[1]).body
            while network.sync(host, "getRepo", did=dids[1]).body == older:
                network.control("/step", count=50)
            (folder / "1.car").write_bytes(network.sync(host, "getRepo", did=dids[1]).body)
            (folder / "2.car").write_bytes(older)
            fresh = self.database()
            program = self.run_at(fresh, network, "backfill", "--car-dir", folder)
            self.assertTrue(program.says("2.car: left out, "), program.tail())
            self.check(fresh, {did: repo for did, repo in self.repositories(network).items() if did == dids[1]})
        with self.subTest("what is no repository is said"):
            (folder / "text.car").write_text("no CAR")
            self.assertTrue(self.run_at(database, network, "backfill", "--car", folder / "text.car", code=1)
                            .says("text.car: "))


class Jobs(Backfill):
    def test_status_retry_and_cancel(self):
        network = self.network()
        database = self.database()
        self.assertTrue(self.run_at(database, network, "backfill", "status").says("nothing was asked for"))
        gone = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
        host = network.ready["hosts"][0]
        self.run_at(database, network, "backfill", "--host", host, gone)
        status = json.loads("".join(self.run_at(database, network, "backfill", "status", "--json").stdout))
        done = len(network.repos(host))
        self.assertEqual(status["jobs"], {"queued": 0, "running": 0, "done": done, "unavailable": 1, "failed": 0,
                                          "cancelled": 0})
        self.assertEqual(status["hosts"][0]["host"], host)
        self.assertEqual(status["errors"][0]["state"], "unavailable")
        self.assertEqual(status["lists"]["repos"]["listed"], 1)
        self.assertEqual((status["is_running"], status["metrics"]["repositories"]), (False, done))
        text = self.run_at(database, network, "backfill", "status")
        self.assertTrue(text.says(f"{done} done, 1 unavailable"), text.tail())
        everything = self.run_at(database, network, "status", "--json")
        self.assertEqual(json.loads("".join(everything.stdout))["backfill"]["jobs"], status["jobs"])

        self.assertTrue(self.run_at(database, network, "backfill", "retry").says("1 repository queued again"))
        self.assertEqual(self.states(database), {"done": done, "queued": 1})
        self.assertTrue(self.run_at(database, network, "backfill", "status").says("nobody works on it"))
        self.assertTrue(self.run_at(database, network, "backfill", "cancel", gone).says("1 repository cancelled"))
        self.run_at(database, network, "backfill", "retry", "--host", host, "--state", "done")
        self.assertEqual(self.states(database), {"cancelled": 1, "queued": done})
        self.run_at(database, network, "backfill", "cancel", "--all")
        self.assertEqual(self.states(database), {"cancelled": done + 1})
        for arguments in (["cancel"], ["retry", "--state", "lost"], ["cancel", "--host", "ftp://x"]):
            with self.subTest(arguments):
                self.run_at(database, network, "backfill", *arguments, code=2)
        self.run_at(database, network, "backfill", "retry", "no account", code=2)
        self.assertEqual(self.states(database), {"cancelled": done + 1})

    def test_wrong_usage(self):
        network = self.network(accounts=2, records=2)
        database = self.database()
        for arguments, words in ((["--host", "ftp://x"], "--host"), (["--collection", "posts"], "--collection"),
                                 (["--concurrency", "0"], "--concurrency"), (["--per-host", "x"], "--per-host"),
                                 (["--since-rev", "3jzfcijpj2z2a"], "--since-rev"),
                                 (["--file", "/none"], "/none"), (["--car-dir", "/none"], "/none")):
            with self.subTest(arguments):
                program = self.run_at(database, network, "backfill", *arguments, code=2)
                self.assertTrue(program.says(words), program.tail())

    def test_ctrl_c_leaves_the_rest_queued_and_without_arguments_it_goes_on(self):
        network = self.network(accounts=300, records=3000)
        database = self.database()
        program = self.begin(database, network, "backfill", "--network", "--concurrency", 2)
        wait_for("some repositories", lambda: database.value(DONE) > 5, alive=[program])
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(30), 1, program.tail())
        self.assertTrue(program.says("`skua backfill` without arguments"), program.tail())
        states = self.states(database)
        self.assertNotIn("running", states)
        self.assertGreater(states["queued"], 0)
        self.run_at(database, network, "backfill")
        self.assertEqual(self.states(database), {"done": 300})
        self.check(database, self.repositories(network))

    def test_a_kill_loses_nothing(self):
        network = self.network(accounts=200, records=3000)
        database = self.database()
        program = self.begin(database, network, "backfill", "--network")
        wait_for("some repositories", lambda: database.value(DONE) > 5, alive=[program])
        program.kill()
        self.run_at(database, network, "backfill")
        self.assertEqual(self.states(database), {"done": 200})
        self.check(database, self.repositories(network))

    def test_what_waits_is_said(self):
        network = self.network(accounts=3, records=9)
        database = self.database()
        network.control("/fault", kind="429", arg=20, count=20)
        program = self.begin(database, network, "backfill", "--host", network.ready["hosts"][0],
                             "--host", network.ready["hosts"][1])
        wait_for("its words", lambda: program.says("the next attempt comes in"), alive=[program])
        self.assertEqual(program.stop(), 1)


class Retries(Backfill):
    def test_accounts_that_are_active_again_get_their_history(self):
        network = self.network()
        database = self.database()
        for _ in range(8):
            network.control("/incident", kind="deactivate")
        inactive = [account["did"] for account in self.accounts(network) if account["status"] == "deactivated"]
        self.assertGreater(len(inactive), 2)
        named = [argument for did in inactive for argument in ("--backfill", did)]
        skua = self.begin(database, network, "run", "--relay", network.url, *named)
        wait_for("their hosts to refuse them", lambda: self.states(database) == {"unavailable": len(inactive)},
                 alive=[skua])
        # A repository that was refused a moment ago is retried after a minute.
        database.run("update skua.backfill_jobs set finished_at = finished_at - interval '1 hour'")
        # All accounts become active again within some hundred steps.
        network.steps(500)
        wait_for("their history", lambda: self.states(database) == {"done": len(inactive)}, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        accounts = {account["did"]: account for account in self.accounts(network)}
        for did in inactive:
            repository = self.repositories(network)[did]
            self.assertEqual(accounts[did]["status"], "active")
            stored = database.value(f"select count(*) from bsky.all_records where did = '{did}'")
            self.assertEqual(stored, len(repository.records), did)

    def test_what_is_unavailable_is_tried_again_by_itself_when_it_is_due(self):
        network = self.network()
        database = self.database()
        for _ in range(8):
            network.control("/incident", kind="deactivate")
        did = next(account["did"] for account in self.accounts(network) if account["status"] == "deactivated")
        self.run_at(database, network, "backfill", did, code=0)
        self.assertEqual(self.states(database), {"unavailable": 1})
        network.steps(500)
        self.run_at(database, network, "backfill")
        self.assertEqual(self.states(database), {"unavailable": 1})
        database.run("update skua.backfill_jobs set next_attempt = now()")
        skua = self.begin(database, network, "run", "--relay", network.url)
        wait_for("its history", lambda: self.states(database) == {"done": 1}, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())


class Display(Backfill):
    def test_a_terminal_sees_a_few_lines_drawn_in_place(self):
        network = self.network(accounts=300, records=3000)
        database = self.database()
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        environment = {**os.environ, **self.environment_at(database, network), "TERM": "xterm"}
        process = subprocess.Popen([self.binary("skua"), "backfill", "--network", "--concurrency", "2"],
                                   env=environment, stdin=terminal, stdout=terminal, stderr=terminal)
        self.addCleanup(process.kill)
        os.close(terminal)
        screen = Screen(main)
        self.assertEqual(process.wait(60), 0, screen.text)
        screen.join(5)
        self.assertRegex(screen.text, r"\x1b\[\d+A\r\x1b\[J")
        self.assertRegex(screen.text, r"repositories done, \d+ under way, \d+ queued")
        self.assertIn(network.ready["hosts"][0], screen.text)
        last = re.split(r"\x1b\[J", screen.text)[-1]
        self.assertIn("done: 300 repositories", last)
        self.assertNotIn("under way", last)


class BesideTheStream(Backfill):
    def catch_up(self, skua, seq):
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), seconds=60, alive=[skua])

    def test_history_and_live_traffic_in_one_process(self):
        network = self.network(accounts=300, records=6000)
        database = self.database()
        skua = self.begin(database, network, "run", "--relay", network.url, "--backfill-network", "--backfill",
                          self.accounts(network)[0]["did"])
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        for _ in range(10):
            seq = network.control("/step", count=60)["seq"]
        self.catch_up(skua, seq)
        wait_for("the end of the queue", lambda: database.value(DONE) == 300, alive=[skua])
        seq = network.control("/step", count=60)["seq"]
        self.catch_up(skua, seq)
        self.assertTrue(skua.says("backfill: "), skua.tail())
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.check(database, self.repositories(network))
        self.assertEqual(database.value("select count(*) from skua.repositories where state = 'complete'"), 300)

    def miss_something(self, network, database):
        """Reads everything from the first message on, and misses the messages after that."""
        seq = network.control("/step", count=300)["seq"]
        skua = self.begin(database, network, "run", "--relay", network.url, "--cursor", "oldest")
        self.catch_up(skua, seq)
        self.assertEqual(skua.stop(), 0)
        network.control("/step", count=300)  # No process reads the stream.
        before = self.repositories(network)
        missed = [path for path in comparison.path_differences(database, before) if "repository has None" in path]
        self.assertTrue(missed, "no delete was missed")

    def bring_in_what_was_missed(self, network, database, *arguments):
        skua = self.begin(database, network, "run", "--relay", network.url, "--cursor", "live", *arguments)
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        seq = network.control("/step", count=200)["seq"]
        self.catch_up(skua, seq)
        # Detected gaps are saved with the cursor, and are due then.
        wait_for("the resyncs", lambda: database.value(
            "select count(*) from skua.repositories where breaks > 0 and state = 'complete'") >= 7, seconds=60, alive=[skua])
        wait_for("the end", lambda: database.value(
            "select count(*) from skua.repositories where state = 'desynchronized'") == 0, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        complete = {row["did"] for row in database.rows("select did from skua.repositories where state = 'complete'")}
        differences = comparison.path_differences(database, self.repositories(network))
        self.assertEqual([line for line in differences if line.split("/")[2] in complete], [])
        self.assertGreater(database.value("select (metrics->>'removed')::int from skua.metrics "
                                          "where source = 'backfill'"), 0)

    def test_what_was_missed_is_downloaded_anew(self):
        network, database = self.network(accounts=8, records=80), self.database()
        self.miss_something(network, database)
        self.assertEqual(database.rows("select distinct state from skua.repositories"), [{"state": "partial"}])
        self.bring_in_what_was_missed(network, database, "--resync", "all")

    def test_a_sync_after_missed_commits_starts_a_download(self):
        network, database = self.network(accounts=8, records=0), self.database()
        self.miss_something(network, database)
        skua = self.begin(database, network, "run", "--relay", network.url, "--cursor", "live")
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        for _ in range(60):  # No account commits anything.
            seq = network.control("/incident", kind="stand_still")["seq"]
        self.catch_up(skua, seq)
        wait_for("the resyncs", lambda: database.value(
            "select count(*) from skua.repositories where breaks > 0 and state = 'complete'") >= 7, seconds=60, alive=[skua])
        wait_for("the end", lambda: database.value(
            "select count(*) from skua.repositories where state = 'desynchronized'") == 0, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.check(database, self.repositories(network))

    def test_a_deletion_that_the_host_could_not_confirm_is_settled_by_a_resync(self):
        network, database = self.network(accounts=8, records=0), self.database()
        seq = network.control("/step", count=300)["seq"]
        skua = self.begin(database, network, "run", "--relay", network.url, "--cursor", "oldest")
        self.catch_up(skua, seq)
        network.control("/fault", kind="429-status")
        self.catch_up(skua, network.control("/incident", kind="leave_for_good")["seq"])
        [gone] = [account["did"] for account in self.accounts(network) if account["status"] == "deleted"]
        stored = f"select count(*) from bsky.all_records where did = '{gone}'"
        with self.subTest("hidden first"):
            self.assertEqual(database.value(f"select status from bsky.actors where did = '{gone}'"), "deleted")
            self.assertGreater(database.value(stored), 0)
        wait_for("the resync", lambda: skua.says("the host confirms that the account is deleted"), seconds=60, alive=[skua])
        self.assertEqual(database.value(stored), 0)
        wait_for("the end of the resync", lambda: database.value(
            "select count(*) from skua.repositories where state = 'desynchronized'") == 0, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        repositories = {did: repo for did, repo in self.repositories(network).items() if did != gone}
        self.check(database, repositories)

    def test_an_account_that_is_heard_from_its_first_commit_on_is_complete(self):
        network, database = self.network(accounts=8, records=0), self.database()
        self.miss_something(network, database)
        self.assertEqual(database.rows("select distinct state from skua.repositories"), [{"state": "complete"}])
        # No backfill was requested: its gaps are repaired like those of all complete repositories.
        self.bring_in_what_was_missed(network, database)


class ServerAway(Backfill, OwnServer):
    """PostgreSQL stops in the middle of a backfill."""

    def stop_without_server(self, program):
        wait_for("some repositories", lambda: self.db.value(DONE) > 5, alive=[program])
        self.cluster.pg("stop", "immediate")
        wait_for("its words about the database", lambda: program.says("the database is down"), alive=[program])
        self.stop_in_time(program)
        self.cluster.pg("start")
        self.assertLess(self.db.value(DONE), 300)

    def stop_in_time(self, program):
        started = time.monotonic()
        self.assertEqual(program.stop(seconds=40), 1, program.tail())
        self.assertLess(time.monotonic() - started, 30)

    def finish_run(self, network):
        """skua run recovers by itself, and everything is stored."""
        skua = self.begin(self.db, network, "run", "--relay", network.url, "--cursor", "oldest")
        seq = network.control("/step", count=60)["seq"]
        wait_for("the end of the queue", lambda: self.db.value(DONE) == 300, seconds=60, alive=[skua])
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), seconds=60, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.check(self.db, self.repositories(network))
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)

    def test_a_stop_while_it_neither_answers_nor_hangs_up_ends_in_time_too(self):
        network = self.network(accounts=300, records=6000)
        skua = self.begin(self.db, network, "run", "--relay", network.url, "--cursor", "oldest", "--backfill-network",
                          "--concurrency", 2)
        network.control("/step", count=60)
        wait_for("some repositories", lambda: self.db.value(DONE) > 5, alive=[skua])
        thaw = self.cluster.freeze()
        self.addCleanup(thaw)
        wait_for("its words", lambda: skua.says("database down since"), alive=[skua])
        self.stop_in_time(skua)
        self.assertTrue(skua.says("does the database answer?"), skua.tail())
        thaw()
        self.finish_run(network)

    def test_a_stop_of_run_meanwhile_ends_in_time_and_loses_nothing(self):
        network = self.network(accounts=300, records=6000)
        some = self.accounts(network)[0]["did"]
        skua = self.begin(self.db, network, "run", "--relay", network.url, "--cursor", "oldest", "--backfill", some,
                          "--backfill-network", "--concurrency", 2)
        network.control("/step", count=60)
        self.stop_without_server(skua)
        self.assertTrue(skua.says("stopped with work unfinished, which the next start repeats"), skua.tail())
        self.finish_run(network)

    def test_a_stop_of_backfill_meanwhile_ends_in_time_and_loses_nothing(self):
        network = self.network(accounts=300, records=6000)
        program = self.begin(self.db, network, "backfill", "--network", "--concurrency", 2)
        self.stop_without_server(program)
        self.assertTrue(program.says("the rest stays queued: `skua backfill` without arguments"), program.tail())
        self.run_at(self.db, network, "backfill")
        self.assertEqual(self.states(self.db), {"done": 300})
        self.check(self.db, self.repositories(network))


class Bootstrap(Backfill):
    # All valid indexes, with their definitions.
    INDEXES = ("select array_agg(pg_get_indexdef(indexrelid) order by indexrelid::regclass::text) from pg_index "
               "join pg_class on oid = indrelid where relnamespace = 'bsky'::regnamespace and indisvalid and indisready")
    # Sessions of one process that wait to build an index.
    WAITING = ("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' "
               "and application_name like 'skua indexes pid {} %'")
    SESSIONS = "select count(*) from pg_stat_activity where application_name like 'skua indexes pid {} %'"

    def hold_up(self, database, table="bsky.likes"):
        """A session that blocks the build of the table's index until it is killed."""
        holder = subprocess.Popen(["psql", "-XAtq", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        holder.stdin.write(f"begin; lock table {table} in row exclusive mode; select 'held';\n")
        holder.stdin.flush()
        self.assertEqual(holder.stdout.readline(), "held\n")
        return holder

    def begin_a_build_that_waits(self, database, network):
        """A bootstrap with all of its indexes except one, and the session that blocks this one."""
        program = self.begin(database, network, "backfill", "--network", "--bootstrap")
        wait_for("the bootstrap", lambda: program.says("to be built at the end"), alive=[program])
        holder = self.hold_up(database)
        wait_for("the other indexes", lambda: database.value("select count(*) from skua.dropped_indexes") == 1 and
                 database.value(self.WAITING.format(program.process.pid)) == 1, alive=[program])
        return program, holder

    def expect_the_end(self, program, database, network, indexes):
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertTrue(program.says("bootstrap: done"), program.tail())
        self.assertEqual(database.value(self.INDEXES), indexes)
        self.check(database, self.repositories(network))

    def test_an_interrupted_bootstrap_keeps_sources_away_and_is_finished_by_the_next(self):
        network = self.network(accounts=200, records=3000)
        database = self.database()
        indexes = database.value(self.INDEXES)
        program = self.begin(database, network, "backfill", "--network", "--bootstrap")
        wait_for("the bootstrap", lambda: program.says("to be built at the end"), alive=[program])
        holder = self.hold_up(database)
        wait_for("some repositories", lambda: database.value(DONE) > 5, alive=[program])
        self.assertLess(len(database.value(self.INDEXES)), len(indexes))
        program.kill()
        holder.kill()
        self.assertTrue(self.run_at(database, network, "backfill", "status").says("a bootstrap is open"))
        refused = self.run_at(database, network, "run", "--relay", network.url, code=1)
        self.assertTrue(refused.says("a bootstrap is open"), refused.tail())
        for command in (["retention", "apply"], ["filter", "prune"], ["lexicon", "check"], ["dead-letters", "replay", "--all"]):
            refused = self.run_at(database, network, *command, code=1)
            self.assertTrue(refused.says("a bootstrap is not finished"), refused.tail())
        program = self.run_at(database, network, "backfill")
        self.assertTrue(program.says("bootstrap: done"), program.tail())
        self.assertEqual(database.value(self.INDEXES), indexes)
        self.check(database, self.repositories(network))

    def test_ctrl_c_while_indexes_are_built_leaves_the_rest_to_the_next(self):
        network = self.network()
        database = self.database()
        indexes = database.value(self.INDEXES)
        program, holder = self.begin_a_build_that_waits(database, network)
        started = time.monotonic()
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(30), 1, program.tail())
        self.assertLess(time.monotonic() - started, 10)
        self.assertTrue(program.says("the bootstrap is not over, it has 1 index to build: `skua backfill` without"),
                        program.tail())
        self.assertEqual(database.value(self.SESSIONS.format(program.process.pid)), 0)
        self.assertTrue(self.run_at(database, network, "run", "--relay", network.url, code=1).says("a bootstrap is open"))
        program = self.begin(database, network, "backfill")
        wait_for("the build", lambda: database.value(self.WAITING.format(program.process.pid)) == 1, alive=[program])
        holder.kill()
        self.expect_the_end(program, database, network, indexes)

    def test_what_a_killed_process_was_building_is_waited_for_and_built(self):
        network = self.network()
        database = self.database()
        indexes = database.value(self.INDEXES)
        killed, holder = self.begin_a_build_that_waits(database, network)
        killed.kill()
        program = self.begin(database, network, "backfill")
        # The server continues to build for the killed process until it notices.
        wait_for("its turn", lambda: database.value(self.WAITING.format(program.process.pid)) == 1, alive=[program])
        self.assertEqual(database.value(self.SESSIONS.format(killed.process.pid)), 0)
        holder.kill()
        self.expect_the_end(program, database, network, indexes)

    def test_a_build_that_fails_is_said(self):
        network = self.network()
        database = self.database()
        indexes = database.value(self.INDEXES)
        program, holder = self.begin_a_build_that_waits(database, network)
        database.run("select pg_cancel_backend(pid) from pg_stat_activity "
                     f"where application_name like 'skua indexes pid {program.process.pid} %'")
        self.assertEqual(program.wait(30), 1, program.tail())
        self.assertTrue(program.says("an index cannot be built: "), program.tail())
        self.assertTrue(program.says("it has 1 index to build"), program.tail())
        holder.kill()
        self.expect_the_end(self.begin(database, network, "backfill"), database, network, indexes)

    def test_killed_at_every_step(self):
        network = self.network(accounts=10, records=200, arguments=["--page", 2])
        for point in ("before_drop_commit:1", "after_drop_commit:1", "before_page_commit:2", "after_page_commit:2",
                      "before_index_commit:1", "after_index_commit:1", "before_index_commit:7", "after_index_commit:18"):
            with self.subTest(point):
                database = self.database()
                indexes = database.value(self.INDEXES)
                arguments = [self.binary("skua"), "backfill", "--network", "--bootstrap"]
                environment = self.environment_at(database, network)
                program = self.start(arguments, {**environment, "SKUA_CRASH_AT": point})
                self.assertEqual(program.wait(60), -signal.SIGKILL, program.tail())
                is_over = point == "after_index_commit:18"
                again = self.start(arguments[:-1 if is_over else None], environment)
                self.assertEqual(again.wait(60), 0, again.tail())
                self.assertEqual(again.says("bootstrap: done"), not is_over)
                self.assertEqual(database.value(self.INDEXES), indexes)
                self.check(database, self.repositories(network))

    def test_a_bootstrap_is_refused_beside_a_source(self):
        network = self.network(accounts=5, records=10)
        database = self.database()
        skua = self.begin(database, network, "run", "--relay", network.url)
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        program = self.run_at(database, network, "backfill", "--network", "--bootstrap", code=1)
        self.assertTrue(program.says("a source is being indexed"), program.tail())
        self.assertEqual(self.states(database), {})
        self.assertEqual(skua.stop(), 0)


if __name__ == "__main__":
    unittest.main()
