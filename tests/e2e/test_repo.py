"""`skua repo`: makes the stored rows of an account equal to its repository, whatever the rows were before."""

import json
import re
import subprocess
import unittest

import atproto
import comparison
from harness import closed_port, wait_for
from test_backfill import Backfill
from test_sources import Sources

CHANGED = re.compile(r"^(did:\S+): equal to its repository at (\S+): ([\d,]+) records; (.*)$")
FALSE_CID = "decode(repeat('5a', 32), 'hex')"


def damage(database, did):
    """Deletes rows, adds invented rows, and changes rows; returns the number of each."""
    actor = database.value(f"select id from bsky.actors where did = '{did}'")
    database.run(f"""
        delete from bsky.likes where actor_id = {actor} and rkey in
          (select rkey from bsky.likes where actor_id = {actor} order by rkey limit 3);
        delete from bsky.posts where actor_id = {actor} and rkey in
          (select rkey from bsky.posts where actor_id = {actor} and cid is not null order by rkey limit 2);
        update bsky.follows set cid = {FALSE_CID} where actor_id = {actor} and rkey in
          (select rkey from bsky.follows where actor_id = {actor} order by rkey limit 2);
        insert into bsky.blocks select (b).* from (select jsonb_populate_record(b, jsonb_build_object(
          'rkey', b.rkey + 1000000)) b from bsky.blocks b where actor_id = {actor} limit 1) as more;
        insert into bsky.reposts select (r).* from (select jsonb_populate_record(r, jsonb_build_object(
          'rkey', r.rkey + 1000000)) r from bsky.reposts r where actor_id = {actor} limit 4) as more;""")


class Resync(Backfill):
    def filled(self, **more):
        network = self.network(**{"accounts": 12, "records": 3000, **more})
        database = self.database()
        self.run_at(database, network, "backfill", "--network")
        repositories = self.repositories(network)
        self.check(database, repositories)
        return network, database, repositories

    def busiest(self, repositories, count):
        """The accounts with the most records in the damaged collections."""
        return sorted(repositories, key=lambda did: -len(repositories[did].records))[:count]

    def changes(self, program):
        """{did: changes} of the accounts that were made equal."""
        found = [CHANGED.match(line) for line in program.stdout]
        return {match[1]: match[4] for match in found if match}

    def test_what_differs_is_mended_and_said(self):
        network, database, repositories = self.filled()
        first, second, third = self.busiest(repositories, 3)
        for did in (first, second):
            damage(database, did)
        broken = len(comparison.path_differences(database, repositories))
        self.assertGreater(broken, 10)
        ended = {row["did"]: row["finished_at"] for row in
                 database.rows("select did, finished_at from skua.backfill_jobs")}
        program = self.run_at(database, network, "repo", "resync", first)
        differences = comparison.path_differences(database, repositories)
        self.assertTrue(0 < len(differences) < broken)
        self.assertTrue(all(second in line for line in differences), differences)
        self.assertRegex(self.changes(program)[first], r"^5 added, \d removed, 2 replaced$")
        listed = self.folder / "dids"
        listed.write_text(f"{second}\n{third}\n")
        program = self.run_at(database, network, "repo", "resync", "--file", listed)
        self.check(database, repositories)
        changes = self.changes(program)
        self.assertRegex(changes[second], r"^5 added, \d removed, 2 replaced$")
        self.assertEqual(changes[third], "nothing differed")
        self.assertEqual(self.states(database), {"done": 12})
        again = {row["did"] for row in database.rows("select did, finished_at from skua.backfill_jobs")
                 if row["finished_at"] != ended[row["did"]]}
        self.assertEqual(again, {first, second, third})

    def test_one_that_was_never_stored_and_a_handle(self):
        network = self.network()
        database = self.database()
        account = next(account for account in self.accounts(network) if account["handle_valid"])
        # It does not work on jobs that others have queued.
        database.run("insert into skua.backfill_jobs (did, created_at, next_attempt) "
                     "values ('did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', now(), now())")
        program = self.run_at(database, network, "repo", "resync", account["handle"])
        self.assertIn(account["did"], self.changes(program))
        self.check(database, {account["did"]: self.repositories(network)[account["did"]]})
        self.assertEqual(self.states(database), {"done": 1, "queued": 1})

    def test_a_car_file(self):
        network, database, repositories = self.filled()
        did, = self.busiest(repositories, 1)
        host = next(host for host in network.ready["hosts"]
                    if network.sync(host, "getRepo", did=did).status == 200)
        car = self.folder / "some.car"
        car.write_bytes(network.sync(host, "getRepo", did=did).body)
        damage(database, did)
        program = self.run_at(database, network, "repo", "resync", "--car", car)
        self.assertIn("replaced", self.changes(program)[did])
        self.check(database, repositories)

    def test_what_cannot_be_had(self):
        network, database, repositories = self.filled(accounts=6, records=600)
        did, other = self.busiest(repositories, 2)
        with self.subTest("an account that is nowhere"):
            nobody = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
            program = self.run_at(database, network, "repo", "resync", nobody, other, code=1)
            self.assertTrue(program.says(f"{nobody}: not available, stored records stay: "), program.tail())
            self.assertEqual(self.changes(program)[other], "nothing differed")
        with self.subTest("no account"):
            program = self.run_at(database, network, "repo", "resync", "did:x", code=2)
            self.assertTrue(program.says("'did:x' is not a DID"), program.tail())
        with self.subTest("nothing"):
            self.run_at(database, network, "repo", "resync", code=2)
            self.run_at(database, network, "repo", code=2)
            self.run_at(database, network, "repo", "resync", did, "--attempts", 0, code=2)
        with self.subTest("a host that is down"):
            document = network.ask("plc", f"/{did}").json()
            document["service"][0]["serviceEndpoint"] = f"http://127.0.0.1:{closed_port()}"
            documents = self.folder / "documents.json"
            documents.write_text(json.dumps(document))
            program = self.run_at(database, network, "repo", "resync", did, "--did-docs", documents,
                                  "--attempts", 1, code=1)
            self.assertTrue(program.says(f"{did}: failed, stored records stay: "), program.tail())
        with self.subTest("one that fails at first"):
            network.fault("cut-download")
            program = self.run_at(database, network, "repo", "resync", did)
            self.assertEqual(self.changes(program)[did], "nothing differed")
        self.check(database, repositories)

    def test_an_account_that_is_active_again_and_one_that_stays_hidden(self):
        network, database, repositories = self.filled(accounts=6, records=600)
        back, hidden = self.busiest(repositories, 2)
        for did in (back, hidden):
            database.run(f"update bsky.actors set active = false, status = 'takendown', status_time = now() - interval '1 hour' "
                         f"where did = '{did}'; update skua.repositories set active = false where did = '{did}'")
        done = self.run_at(database, network, "repo", "resync", back)
        self.assertFalse(done.says("stays hidden"), done.tail())
        self.assertTrue(database.value(f"select a.active and r.active from bsky.actors a join skua.repositories r using (did) "
                                       f"where did = '{back}'"))
        # The status is newer than the request for the repository.
        database.run(f"update bsky.actors set status_time = now() + interval '1 hour' where did = '{hidden}'")
        done = self.run_at(database, network, "repo", "resync", hidden)
        self.assertTrue(done.says(f"{hidden}: stays hidden: its hosting status is takendown since "), done.tail())

    def test_beside_a_run(self):
        network, database, repositories = self.filled()
        skua = self.begin(database, network, "run", "--relay", network.url)
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        dids = self.busiest(repositories, 6)
        for did in dids:
            damage(database, did)
        program = self.begin(database, network, "repo", "resync", *dids)
        seq = network.control("/step", count=100)["seq"]
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertEqual(self.changes(program).keys(), set(dids))
        wait_for(f"cursor {seq}", lambda: skua.reached(seq), seconds=60, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.check(database, self.repositories(network))

    def test_one_that_another_process_has_is_waited_for(self):
        network, database, repositories = self.filled(accounts=3, records=60)
        did, = self.busiest(repositories, 1)
        holder = "skua run pid 1 at elsewhere"
        session = subprocess.Popen(["psql", "-XAtq", database.url], stdin=subprocess.PIPE, text=True)
        self.addCleanup(session.wait)
        self.addCleanup(session.stdin.close)
        session.stdin.write(f"set application_name = '{holder}';\n")
        session.stdin.flush()
        wait_for("its session", lambda: database.value(
            f"select count(*) from pg_stat_activity where application_name = '{holder}'"))
        database.run(f"update skua.backfill_jobs set state = 'running', lease_owner = '{holder}', "
                     f"lease_until = now() + interval '10 minutes' where did = '{did}'")
        program = self.begin(database, network, "repo", "resync", did)
        wait_for("its words", lambda: program.says(f"{holder} has 1 of them under way"), alive=[program])
        database.run("update skua.backfill_jobs set state = 'done', lease_owner = null, lease_until = null")
        self.assertEqual(program.wait(30), 0, program.tail())
        self.assertEqual(self.changes(program)[did], "nothing differed")

    def test_ctrl_c_leaves_it_queued(self):
        network, database, repositories = self.filled(accounts=3, records=60)
        did, = self.busiest(repositories, 1)
        network.fault("slow-download", arg=1)
        program = self.begin(database, network, "repo", "resync", did)
        wait_for("the download", lambda: self.states(database).get("running"), alive=[program])
        self.assertEqual(program.stop(), 1, program.tail())
        self.assertTrue(program.says(f"{did}: stays queued"), program.tail())
        self.assertEqual(self.states(database), {"done": 2, "queued": 1})

    def test_info_and_status(self):
        network, database, repositories = self.filled(accounts=6, records=600)
        did, = self.busiest(repositories, 1)
        text = "\n".join(self.run_at(database, network, "repo", "info", did).stdout)
        for words in (did, "complete: its history, and all since", "done up to ", "app.bsky.feed.like"):
            self.assertIn(words, text)
        info = json.loads("".join(self.run_at(database, network, "repo", "info", did, "--json").stdout))
        self.assertEqual(info["rows"], len(repositories[did].records))
        self.assertEqual(info["collections"]["app.bsky.feed.like"],
                         sum(path.startswith("app.bsky.feed.like/") for path in repositories[did].records))
        self.assertEqual((info["chain"]["state"], info["job"]["state"]), ("complete", "done"))
        self.assertEqual(info["chain"]["rev"], info["job"]["rev"])
        nobody = self.run_at(database, network, "repo", "info", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", code=1)
        self.assertTrue(nobody.says("nothing is known of this account"), nobody.tail())
        self.run_at(database, network, "repo", "info", code=2)
        database.run(f"update skua.repositories set state = 'desynchronized', error = 'words', attempts = 2, "
                     f"next_attempt = now() where did = '{did}'")
        text = "\n".join(self.run_at(database, network, "repo", "info", did).stdout)
        self.assertIn("desynchronized: ", text)
        self.assertIn("2 times: words", text)
        status = self.run_at(database, network, "status")
        self.assertTrue(status.says("0 partial, 5 complete, 1 waiting for a resync (1 failed before)"), status.tail())
        counts = json.loads("".join(self.run_at(database, network, "status", "--json").stdout))
        self.assertEqual(counts["accounts"]["with_records"], 6)
        self.assertEqual(counts["accounts"]["without_chain"], 0)
        self.assertTrue(counts["accounts"]["exact"])


class UnverifiedSources(Sources):
    def test_deletes_that_tap_did_not_tell(self):
        network = self.network_of(records=2000)
        database = self.database()
        skua = self.begin(database, network, "--tap", network.ready["tap"].replace("http", "ws"))
        self.wait_until_equal(database, network, skua)
        without_chain = json.loads("".join(self.skua(database, "status", "--json").stdout))["accounts"]
        self.assertGreater(without_chain["without_chain"], 0)
        self.assertEqual(without_chain["without_chain"], without_chain["with_records"])

        def too_many():
            return [line for line in self.differences(database, network) if "the repository has None" in line]

        # Tap sends lost commits again later, except deletes.
        for _ in range(30):
            network.fault("tap-lose", arg=20)
            network.control("/step", count=100)
            wait_for("all acks", lambda: network.state()["tap"]["unacked"] == 0, alive=[skua])
            network.control("/tap/resync")
            wait_for("its resyncs", lambda: network.state()["tap"]["resyncs"] == 0 and
                     network.state()["tap"]["unacked"] == 0, alive=[skua])
            if too_many():
                break
        left = too_many()
        self.assertTrue(left, "Tap missed no delete")
        dids = sorted({line.split("/")[2] for line in left})
        environment = {"SKUA_PLC_URL": network.ready["plc"], "SKUA_DNS": network.ready["dns"],
                       "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_VERIFY": "full"}
        program = self.start([self.binary("skua"), "repo", "resync", *dids],
                             {**self.environment(database), **environment})
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertEqual(self.differences(database, network), [])
        # Tap continues.
        network.control("/step", count=100)
        self.wait_until_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())

    def test_accounts_that_leave(self):
        network = self.network_of()
        jetstream = network.ready["jetstream"]
        sources = {"tap": ["--tap", network.ready["tap"].replace("http", "ws")],
                   "v1": ["--jetstream", jetstream, "--cursor", "oldest"],
                   "v2": ["--jetstream", jetstream + "/xrpc/network.bsky.jetstream.subscribeEvents",
                          "--cursor", "oldest"]}
        databases = {name: self.database() for name in sources}
        programs = {name: self.begin(databases[name], network, *arguments) for name, arguments in sources.items()}
        network.control("/step", count=600)
        for name in sources:
            self.wait_until_equal(databases[name], network, programs[name])
        for kind in ("leave_for_good", "deactivate", "suspend", "take_down") * 2:
            self.assertGreater(network.control("/incident", kind=kind)["events"], 0)
        network.control("/step", count=100)
        accounts = {account["did"]: account for account in network.accounts(self.folder / "oracle")}
        gone = [did for did, account in accounts.items() if account["announced_status"] == "deleted"]
        hidden = {did: account["announced_status"] for did, account in accounts.items()
                  if account["announced_status"] not in ("active", "deleted")}
        self.assertEqual(len(gone), 2)
        # Some are active again after the last steps.
        self.assertGreater(len(hidden), 0)
        environment = {"SKUA_PLC_URL": network.ready["plc"], "SKUA_DNS": network.ready["dns"],
                       "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_VERIFY": "full"}
        for name, program in programs.items():
            with self.subTest(name):
                database = databases[name]
                # Rows of a deleted account count as a difference.
                self.wait_until_equal(database, network, program)
                statuses = {row["did"]: row["status"] for row in
                            database.rows("select did, status from bsky.actors where active is false")}
                self.assertEqual(statuses, {**hidden, **dict.fromkeys(gone, "deleted")})
                shown = {row["did"] for row in database.rows("select distinct did from bsky.likes_view")}
                self.assertTrue(shown and not shown & (set(gone) | set(hidden)))
                one = next(iter(hidden))
                kept = database.value(f"select count(*) from bsky.all_records where did = '{one}'")
                resync = self.start([self.binary("skua"), "repo", "resync", gone[0], one, "--attempts", "1"],
                                    {**self.environment(database), **environment})
                self.assertEqual(resync.wait(60), 1, resync.tail())
                self.assertTrue(resync.says(f"{gone[0]}: "), resync.tail())
                self.assertTrue(resync.says("stored records stay"), resync.tail())
                self.assertEqual(database.value(f"select count(*) from bsky.all_records where did = '{gone[0]}'"), 0)
                self.assertEqual(database.value(f"select count(*) from bsky.all_records where did = '{one}'"), kept)
                self.assertEqual(program.stop(), 0, program.tail())


if __name__ == "__main__":
    unittest.main()
