"""Webhooks and pull consumers: `skua serve` delivers each change of an account in order, and at least once."""

import base64
import collections
import hashlib
import hmac
import http.server
import json
import random
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from changes import ChangeClient
from harness import SIM, Sim, free_port, wait_for
from made import busy_network
from shifted_clock import shifted_environment
from test_documents import blocks
from test_serve import ServeTest

QUICK = ("--set", "pause_ms=0", "--set", "batch=20", "--set", "retry_ms=20", "--set", "max_retry_ms=50",
         "--set", "max_attempts=1000")


class Receiver:
    """A webhook. `behave` returns how it answers a request: a status, a body, `drop` or `hang`."""

    def __init__(self, secret, port=0):
        self.secret = secret
        self.behave = lambda changes: 204
        self.requests, self.processed, self.faults = [], [], []
        self.ended = threading.Event()
        # --webhook-timeout, in milliseconds.
        self.most_left = 15_000
        self.server = None
        self.port = port or free_port()

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.take(self)

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        self.ended.set()
        self.stop()

    def take(self, request):
        body = request.rfile.read(int(request.headers["content-length"]))
        identifier, sent_at = request.headers["webhook-id"], request.headers["webhook-timestamp"]
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        digest = hmac.digest(key, f"{identifier}.{sent_at}.".encode() + body, hashlib.sha256)
        expected = "v1," + base64.b64encode(digest).decode()
        changes = json.loads(body)["changes"]
        if request.headers["webhook-signature"] != expected:
            self.faults.append(f"the signature of {identifier}")
        if not identifier.endswith(f":{changes[0]['pos']}:{changes[-1]['pos']}"):
            self.faults.append(f"the id {identifier}")
        attempts, left = (int(request.headers[f"webhook-{name}"]) for name in ("attempts", "lease-ms"))
        if attempts < 1 or left > self.most_left or not request.headers["webhook-lease-until"].endswith("Z"):
            self.faults.append(f"the lease of {identifier}: {request.headers}")
        self.requests.append((identifier, changes))
        behaviour = self.behave(changes)
        if behaviour == "hang":
            self.ended.wait()
            return
        if behaviour == "drop":
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        if behaviour == "late drop":
            # Processed, but the sender does not learn it.
            self.processed += changes
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        status, answer = behaviour if isinstance(behaviour, tuple) else (behaviour, b"")
        if 200 <= status < 300 and not answer:
            self.processed += changes
        request.send_response(status)
        request.send_header("content-length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)


def in_order(changes):
    """{account: positions}, without repetitions. Fails if a position comes after a later one for the first time."""
    accounts, seen = collections.defaultdict(list), set()
    for change in changes:
        position = int(change["pos"].partition("-")[2])
        if position in seen:
            continue
        seen.add(position)
        positions = accounts[change.get("did")]
        if positions and positions[-1] > position:
            raise AssertionError(f"{position} of {change['did']} came after {positions[-1]}")
        positions.append(position)
    return accounts


class LeasedTest(ServeTest):
    def indexed(self, accounts=6, rounds=25):
        """A database with changes of several accounts."""
        database = self.database()
        network, _ = busy_network(accounts=accounts, rounds=rounds)
        self.index(database, network)
        return database

    def add(self, database, *arguments):
        """Adds a consumer and returns its secret or token."""
        return self.skua(database, "consumers", "add", *arguments).output()[-1].strip()

    def all_changes(self, server, database):
        return ChangeClient(server.url, "?cursor=oldest").read_to(self.end(database)).events

    def metrics(self, server):
        """{name with labels: value}"""
        with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    def is_done(self, database, name="search"):
        status = json.loads("".join(self.skua(database, "consumers", "status", name, "--json").output()))
        return status[0]["changes_behind"] == 0 and not any(lane["waiting_accounts"] for lane in status[0]["lanes"])


class Webhooks(LeasedTest):
    def receiver(self, database, *arguments):
        port = free_port()
        secret = self.add(database, "search", "--webhook", f"http://127.0.0.1:{port}/skua", "--from", "oldest", *QUICK,
                          *arguments)
        receiver = Receiver(secret, port)
        receiver.start()
        self.addCleanup(receiver.close)
        return receiver

    def test_a_receiver_that_fails_hangs_and_restarts_gets_each_change_in_order(self):
        database = self.indexed()
        receiver = self.receiver(database, "--lanes", "4")
        chance = random.Random(5)
        hangs = 2

        def behave(_):
            nonlocal hangs
            if chance.random() < 0.02 and hangs:
                hangs -= 1
                return "hang"
            return chance.choice([500, 503, 429, "drop", "late drop"]) if chance.random() < 0.3 else 204

        receiver.behave = behave
        server = self.serve(database, "--webhook-timeout", "1s")
        for restart in range(3):
            wait_for("requests", lambda: len(receiver.requests) > 8 * (restart + 1) or self.is_done(database))
            receiver.restart()
        wait_for("all changes", lambda: self.is_done(database), seconds=90, alive=[server])
        self.assertEqual(receiver.faults, [])
        self.assertEqual(in_order(receiver.processed), in_order(self.all_changes(server, database)))
        self.assertGreater(len(receiver.processed), 100)
        # What the process read of the database a second ago counts.
        metrics = wait_for("metrics without a lag", alive=[server], condition=lambda: (
            found := self.metrics(server))['skua_consumer_behind_changes{consumer="search"}'] == 0 and found)
        of_consumer = {name: metrics[f'skua_consumer_{name}{{consumer="search"}}'] for name in
                       ("behind_changes", "lag_seconds", "running", "failing_seconds", "failures_in_a_row",
                        "blocked_lanes", "waiting_accounts")}
        self.assertEqual(list(of_consumer.values()), [0, 0, 1, 0, 0, 0, 0], of_consumer)
        results = {name: metrics[f'skua_feed_batch_results_total{{result="{name}"}}'] for name in
                   ("acknowledged", "failed", "unavailable", "lease_lost")}
        self.assertEqual(sum(results.values()), metrics["skua_feed_batches_total"])
        self.assertGreater(results["acknowledged"], 5)
        self.assertGreater(results["unavailable"], 2)
        self.assertGreaterEqual(metrics["skua_feed_batch_changes_total"], len(receiver.processed))

    def test_a_sender_that_is_killed_and_a_second_one_deliver_each_change_in_order(self):
        database = self.indexed(accounts=4, rounds=20)
        receiver = self.receiver(database, "--lanes", "4")
        for point in ("after_webhook_lease", "before_webhook_outcome:3"):
            killed = self.serve(database, "--webhook-timeout", "1s", environment={"SKUA_CRASH_AT": point})
            wait_for("the crash", lambda: killed.process.poll() is not None)
        servers = [self.serve(database, "--webhook-timeout", "1s") for _ in range(2)]
        wait_for("all changes", lambda: self.is_done(database), seconds=60, alive=servers)
        self.assertGreaterEqual(database.value("select sum(lease_expiries) from skua.consumer_lanes"), 2)
        self.assertEqual(in_order(receiver.processed), in_order(self.all_changes(servers[0], database)))

    def test_an_answer_is_stored_after_the_session_was_lost(self):
        database = self.indexed(accounts=2, rounds=5)
        receiver = self.receiver(database, "--lanes", "2")
        lost = []

        def behave(_):
            if len(lost) < 3:
                lost.append(database.value("select count(pg_terminate_backend(pid)) from pg_stat_activity "
                                           "where datname = current_database() and application_name like 'skua webhooks%'"))
            return 204

        receiver.behave = behave
        # Another process would lease the lanes as soon as the leases expire.
        servers = [self.serve(database, "--webhook-timeout", "1s") for _ in range(2)]
        wait_for("all changes", lambda: self.is_done(database), seconds=60, alive=servers)
        self.assertGreaterEqual(sum(lost), 1)
        positions = [change["pos"] for change in receiver.processed]
        self.assertEqual(len(positions), len(set(positions)), "no change was sent again")
        self.assertEqual(len(positions), len(self.all_changes(servers[0], database)))
        self.assertEqual(database.value("select sum(lease_expiries) from skua.consumer_lanes"), 0)

    def test_processes_with_wrong_clocks_do_not_take_leases_from_each_other(self):
        database = self.indexed(accounts=4, rounds=10)
        receiver = self.receiver(database, "--lanes", "4")
        receiver.behave = lambda changes: time.sleep(0.02) or 204
        servers = [self.serve(database, environment=shifted_environment(self.folder / f"shift{by}", by))
                   for by in ("-2h", "+2h")]
        wait_for("all changes", lambda: self.is_done(database), seconds=60, alive=servers)
        self.assertEqual(in_order(receiver.processed), in_order(self.all_changes(servers[0], database)))
        self.assertEqual(len({change["pos"] for change in receiver.processed}), len(receiver.processed), "repetitions")

    def test_a_receiver_that_hangs_delays_no_other_webhook(self):
        database = self.indexed(accounts=3, rounds=5)
        hanging = self.receiver(database, "--lanes", "8")
        hanging.behave = lambda changes: "hang"
        port = free_port()
        other = Receiver(self.add(database, "other", "--webhook", f"http://127.0.0.1:{port}", "--from", "oldest"), port)
        other.start()
        self.addCleanup(other.close)
        server = self.serve(database, "--webhook-timeout", "10m")
        wait_for("the other one", lambda: self.is_done(database, "other"), alive=[server])
        self.assertEqual(in_order(other.processed), in_order(self.all_changes(server, database)))
        self.assertEqual(hanging.processed, [])
        self.assertEqual(server.stop(seconds=5), 0)

    def test_only_the_account_of_a_poisoned_change_waits(self):
        database = self.indexed(accounts=4, rounds=10)
        receiver = self.receiver(database, "--lanes", "2", "--policy", "block_key", "--kind", "record")
        receiver.behave = lambda changes: 503
        server = self.serve(database)
        records = [change for change in self.all_changes(server, database) if change["kind"] == "record"]
        poisoned = records[len(records) // 3]

        def refuse(changes):
            if any(change["pos"] == poisoned["pos"] for change in changes):
                before = [change for change in changes if int(change["pos"][2:]) < int(poisoned["pos"][2:])]
                receiver.processed += before
                failed = {"pos": poisoned["pos"], "error": "poison", "retry": False}
                return 200, json.dumps({"failed": failed}).encode()
            return 204

        receiver.behave = refuse
        account, others = in_order(records)[poisoned["did"]], in_order(records)
        del others[poisoned["did"]]

        def received():
            return in_order(list(receiver.processed))

        wait_for("the other accounts", lambda: all(received().get(did) == others[did] for did in others))
        self.assertEqual(received()[poisoned["did"]], [pos for pos in account if pos < int(poisoned["pos"][2:])])
        letters = json.loads("".join(self.skua(database, "dead-letters", "list", "--json").output()))
        self.assertEqual([(letter["consumer"], letter["error"]) for letter in letters], [("search", "poison")])
        self.assertIn("changes of 1 account wait for dead letters",
                      "\n".join(self.skua(database, "consumers", "status", "search").output()))
        receiver.behave = lambda changes: 204
        self.skua(database, "dead-letters", "replay", str(letters[0]["id"]))
        wait_for("the account", lambda: received()[poisoned["did"]] == account, alive=[server])
        wait_for("the end of its wait", lambda: self.is_done(database))
        self.assertEqual(database.value("select status from skua.dead_letter"), "resolved")

    def test_a_receiver_rejects_several_changes(self):
        database = self.indexed(accounts=4, rounds=10)
        receiver = self.receiver(database, "--policy", "skip", "--kind", "record")
        rejected = []

        def behave(changes):
            chosen = [change for change in changes if int(change["pos"][2:]) % 5 == 0]
            rejected.extend(chosen)
            receiver.processed += [change for change in changes if change not in chosen]
            return 200, json.dumps({"rejected": [{"pos": change["pos"], "error": "no"} for change in chosen]}).encode()

        receiver.behave = behave
        server = self.serve(database)
        wait_for("all changes", lambda: self.is_done(database), alive=[server])
        records = [change for change in self.all_changes(server, database) if change["kind"] == "record"]
        self.assertGreater(len(rejected), 3)
        self.assertEqual(receiver.faults, [])
        self.assertEqual(receiver.processed, [change for change in records if change not in rejected])
        self.assertEqual(database.value("select string_agg(timeline || '-' || pos, ' ' order by pos) from skua.dead_letter "
                                        "where error = 'no' and payload is not null"),
                         " ".join(change["pos"] for change in rejected))

    def test_the_receiver_of_the_page(self):
        database = self.indexed(accounts=3, rounds=5)
        port = free_port()
        secret = self.add(database, "search", "--webhook", f"http://127.0.0.1:{port}/", "--from", "oldest")
        code, = (block for block in blocks("docs/feeds.md", "python") if "webhook-id" in block)
        self.assertLessEqual(code.count("\n"), 11)
        receiver = self.start([sys.executable, "-c", code.replace("8080", str(port)), secret])
        server = self.serve(database)
        wait_for("all changes", lambda: len([line for line in list(receiver.stdout) if "'pos'" in line])
                 >= self.end(database), alive=[receiver, server])

    def test_a_reader_of_the_database_serves_no_webhooks(self):
        database = self.indexed(accounts=2, rounds=2)
        self.receiver(database)
        reader = "reader_" + uuid.uuid4().hex[:12]
        database.run(f"create role {reader} login password 'secret' in role skua_reader")
        self.addCleanup(database.run, f"drop role {reader}")
        address = urllib.parse.urlsplit(database.url)
        url = address._replace(netloc=f"{reader}:secret@{address.netloc.rpartition('@')[2]}").geturl()
        server = self.serve(database, environment={"SKUA_DATABASE_URL": url})
        wait_for("the line", lambda: server.says("webhooks and pull consumers are not served"), alive=[server])
        self.assertGreater(len(self.all_changes(server, database)), 5)
        self.assertEqual(server.stop(), 0)


class Pull(LeasedTest):
    def setUp(self):
        super().setUp()
        self.db = self.indexed(accounts=4, rounds=10)
        self.token = self.add(self.db, "archive", "--pull", "--from", "oldest", "--policy", "block_key", *QUICK)
        self.server = self.serve(self.db)

    def call(self, action, status=200, token=None, **body):
        headers = {"Authorization": "Bearer " + (token or self.token), "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.server.url}/pull/{action}",
                                         json.dumps({"consumer": "archive", **body}).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                result = answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            result = error.code, json.load(error)
        self.assertEqual(result[0], status, result)
        return result[1]

    def test_changes_are_fetched_and_acknowledged(self):
        changes = self.all_changes(self.server, self.db)
        first = self.call("fetch", max=3)
        self.assertEqual(set(first), {"batch", "attempts", "lease_until", "lease_ms", "changes"})
        self.assertEqual(first["changes"], changes[:3])
        self.assertEqual(self.call("fetch"), {"changes": []}, "the lane is leased")
        self.assertEqual(self.call("ack", batch=first["batch"], through=changes[0]["pos"]), {"leased": True})
        self.assertEqual(self.call("renew", batch=first["batch"], lease_seconds=60), {"leased": True})
        self.assertEqual(self.call("nack", batch=first["batch"], pos=changes[2]["pos"], error="x"), {"leased": False})
        received = []
        while batch := self.call("fetch", wait_seconds=1 if not received else 0):
            if not batch["changes"]:
                break
            received += batch["changes"]
            self.assertEqual(self.call("ack", batch=batch["batch"]), {"leased": False})
        self.assertEqual(received, changes[2:])
        self.assertEqual(self.call("ack", 409, batch=first["batch"])["error"], "LeaseLost")
        metrics = self.metrics(self.server)
        self.assertEqual(metrics['skua_feed_batch_results_total{result="failed"}'], 1)
        self.assertEqual(metrics['skua_feed_batch_results_total{result="lease_lost"}'], 1)
        self.assertGreaterEqual(metrics['skua_feed_batch_results_total{result="acknowledged"}'], 2)

    def test_an_ack_of_the_last_change_ends_the_lease_although_the_log_goes_on(self):
        changes = self.all_changes(self.server, self.db)
        counts = collections.Counter(change["did"] for change in changes if change["did"] != changes[-1]["did"])
        account, count = counts.most_common()[-1]
        self.skua(self.db, "consumers", "set", "archive", "--did", account, "--set", "batch=1000")
        batch = self.call("fetch", max=10_000)
        self.assertEqual(len(batch["changes"]), count)
        self.assertEqual(self.call("ack", batch=batch["batch"], through=batch["changes"][0]["pos"]), {"leased": True})
        self.assertEqual(self.call("ack", batch=batch["batch"], through=batch["changes"][-1]["pos"]), {"leased": False})
        self.assertEqual(self.db.value("select pos from skua.consumer_lanes"), len(changes) + 1)

    def test_changes_that_do_not_pass_the_filter_do_not_delay_an_answer(self):
        self.skua(self.db, "consumers", "set", "archive", "--topic", "orders", "--lanes", "64")
        network = Sim([SIM, "--accounts", "20", "--rate", "500", "--oddities", "0"])
        self.addCleanup(network.kill)
        indexer = self.indexer(self.db, network.url, "--cursor", "oldest")
        before = self.end(self.db)
        wait_for("changes", lambda: self.end(self.db) > before, alive=[indexer])
        # The log grows while each lane is read.
        self.assertEqual(self.call("fetch", wait_seconds=1)["changes"], [])
        self.db.run("select skua.enqueue('orders', 'a', '1')")
        message, = wait_for("the message", lambda: self.call("fetch", wait_seconds=20)["changes"], seconds=150)
        self.assertEqual(message["key"], "a")

    def test_a_holder_that_lost_its_lease_cannot_acknowledge(self):
        former = self.call("fetch", max=5)
        self.end_leases()
        present = self.call("fetch", max=5)
        self.assertEqual(present["changes"], former["changes"][:2], "half as many after the end of the lease")
        self.assertEqual(self.call("ack", 409, batch=former["batch"])["error"], "LeaseLost")
        self.assertEqual(self.call("nack", 409, batch=former["batch"], reject=True)["error"], "LeaseLost")
        self.assertEqual(self.db.value("select pos from skua.consumer_lanes"), 1)
        self.assertEqual(self.call("ack", batch=present["batch"]), {"leased": False})
        self.assertEqual(self.db.value("select pos from skua.consumer_lanes"), 3)

    def test_a_lease_that_ended_while_the_connection_was_lost_counts_no_attempt(self):
        former = self.call("fetch", max=5)
        self.lose_session()
        self.end_leases()
        present = self.call("fetch", max=5)
        self.assertEqual(present["changes"], former["changes"])
        self.assertEqual(self.db.rows("select lease_expiries, failures from skua.consumer_lanes"),
                         [{"lease_expiries": 0, "failures": 0}])
        self.end_leases()
        self.assertEqual(self.call("fetch", max=5)["changes"], former["changes"][:2])

    def test_a_lease_of_another_process_that_lost_its_session_counts_no_attempt(self):
        former = self.call("fetch", max=5)
        self.lose_session()
        self.end_leases()
        self.server = self.serve(self.db)
        self.assertEqual(self.call("fetch", max=5)["changes"], former["changes"])
        self.assertEqual(self.db.rows("select lease_expiries, failures from skua.consumer_lanes"),
                         [{"lease_expiries": 0, "failures": 0}])

    def lose_session(self):
        """Ends the session of the server for pull consumers, and returns when it has the next one."""
        sessions = "from pg_stat_activity where datname = current_database() and application_name like 'skua pull%'"
        former = self.db.value(f"select max(pid) {sessions}")
        self.db.run(f"select pg_terminate_backend(pid) {sessions}")
        wait_for("the next session", lambda: self.db.value(f"select count(*) {sessions} and pid <> {former}"), alive=[self.server])

    def end_leases(self):
        self.db.run("update skua.consumer_lanes set lease_until = now() - interval '1 second' where owner is not null")

    def letters(self):
        return json.loads("".join(self.skua(self.db, "dead-letters", "list", "--json").output()))

    def shown(self, letter):
        shown, = json.loads("".join(self.skua(self.db, "dead-letters", "show", letter["id"], "--json").output()))
        return shown

    def test_a_program_that_ends_at_a_change_leaves_a_letter_with_the_event(self):
        token = self.add(self.db, "fragile", "--pull", "--from", "oldest", "--policy", "skip", *QUICK[:-1], "max_attempts=3")
        changes = self.all_changes(self.server, self.db)
        poison = changes[len(changes) // 2]
        program = """if True:
            import json, os, sys, urllib.request
            url, token, poison = sys.argv[1:]
            def call(action, **body):
                headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
                data = json.dumps({"consumer": "fragile", **body}).encode()
                return json.load(urllib.request.urlopen(urllib.request.Request(url + "/pull/" + action, data, headers)))
            while (batch := call("fetch", max=8))["changes"]:
                positions = [change["pos"] for change in batch["changes"]]
                print(json.dumps([batch["attempts"], positions]), flush=True)
                if poison in positions:
                    os._exit(9)
                call("ack", batch=batch["batch"])
        """
        fetched, ends = [], 0
        for _ in range(30):
            process = self.start([sys.executable, "-c", program, self.server.url, token, poison["pos"]])
            ends += process.wait() == 9
            fetched += [json.loads(line) for line in process.stdout]
            if self.letters():
                break
            self.end_leases()
            self.db.run("update skua.consumer_lanes set retry_at = null")
        alone = [attempts for attempts, positions in fetched if positions == [poison["pos"]]]
        self.assertEqual(alone, [1, 2, 3])
        self.assertEqual({pos for _, positions in fetched for pos in positions}, {change["pos"] for change in changes})
        letter, = self.letters()
        self.assertEqual((letter["error"], letter["consumer"]), ("the lease ended without an answer", "fragile"))
        self.assertEqual(self.shown(letter)["payload"]["event"], poison)
        status = json.loads("".join(self.skua(self.db, "consumers", "status", "fragile", "--json").output()))[0]
        self.assertEqual(status["lanes"][0]["lease_expiries"], ends)
        wait_for("the metric", alive=[self.server], condition=lambda: self.metrics(self.server)[
            'skua_consumer_lease_expiries_total{consumer="fragile"}'] == ends)

    def test_letters_are_replayed_after_the_log_has_dropped_their_changes(self):
        # One lane has all changes in their order.
        token = self.add(self.db, "search", "--pull", "--from", "oldest", "--policy", "skip", *QUICK)
        changes = self.all_changes(self.server, self.db)
        batch = self.call("fetch", consumer="search", token=token, max=20)
        self.assertEqual(batch["attempts"], 1)
        self.assertLessEqual(batch["lease_ms"], 60_000)
        self.assertGreater(batch["lease_ms"], 30_000)
        self.assertEqual(self.db.value("select lease_until = '" + batch["lease_until"] + "' from skua.consumer_lanes "
                                       "where owner is not null"), True)
        rejected = [batch["changes"][place] for place in (11, 2, 7)]
        listed = [{"pos": change["pos"], "error": f"no {change['pos']}"} for change in rejected]
        wrong = listed + [{"pos": "1-999999"}]
        self.assertEqual(self.call("ack", 400, consumer="search", token=token, batch=batch["batch"],
                                   rejected=wrong)["error"], "InvalidRequest")
        self.assertEqual(self.letters(), [])
        self.call("ack", consumer="search", token=token, batch=batch["batch"], rejected=listed)
        letters = {letter["error"]: letter for letter in self.letters()}
        self.assertEqual(set(letters), {entry["error"] for entry in listed})
        for change in rejected:
            self.assertEqual(self.shown(letters[f"no {change['pos']}"])["payload"]["event"], change)
        rest = []
        while (batch := self.call("fetch", consumer="search", token=token))["changes"]:
            rest += batch["changes"]
            self.call("ack", consumer="search", token=token, batch=batch["batch"])
        self.assertEqual(rest, changes[20:])

        # The log never drops its newest block.
        self.db.run("delete from skua.change_log where pos < (select max(pos) from skua.change_log)")
        self.skua(self.db, "dead-letters", "replay", "--consumer", "search", "--lane", "1")
        self.assertEqual(self.call("fetch", consumer="search", token=token)["changes"], [])
        replayed = self.skua(self.db, "dead-letters", "replay", "--consumer", "search")
        self.assertEqual(sum(": requested: " in line for line in replayed.output()), 3)
        rejected.sort(key=lambda change: int(change["pos"][2:]))
        for change in rejected:
            batch = self.call("fetch", consumer="search", token=token)
            self.assertEqual(batch["changes"], [change])
            self.call("ack", consumer="search", token=token, batch=batch["batch"], through=change["pos"])
        self.assertEqual(self.call("fetch", consumer="search", token=token)["changes"], [])
        self.assertEqual(self.db.rows("select status, count(*) from skua.dead_letter group by 1"),
                         [{"status": "resolved", "count": 3}])

    def test_wrong_requests_are_refused(self):
        batch = self.call("fetch", max=1)["batch"]
        for action, status, error, body in (
            ("fetch", 401, "Unauthorized", {"token": "wrong"}),
            ("fetch", 401, "Unauthorized", {"consumer": "other"}),
            ("fetch", 400, "InvalidRequest", {"max": 0}),
            ("fetch", 400, "InvalidRequest", {"maximum": 1}),
            ("ack", 400, "InvalidRequest", {}),
            ("ack", 400, "InvalidRequest", {"batch": batch, "through": "1-999"}),
            ("ack", 409, "LeaseLost", {"batch": batch, "through": "2-1"}),
            ("ack", 409, "LeaseLost", {"batch": batch + "x"}),
            ("ack", 400, "InvalidRequest", {"batch": "x"}),
        ):
            with self.subTest(action=action, body=body):
                self.assertEqual(self.call(action, status, **body)["error"], error)

    def test_a_stopped_consumer_says_so(self):
        token = self.add(self.db, "strict", "--pull", "--from", "oldest")
        batch = self.call("fetch", consumer="strict", token=token, max=1)
        self.call("nack", consumer="strict", token=token, batch=batch["batch"], reject=True, error="broken")
        error = self.call("fetch", 409, consumer="strict", token=token)
        self.assertEqual(error["error"], "ConsumerStopped")
        self.assertIn("broken", error["message"])
        self.skua(self.db, "consumers", "reset", "strict", "--skip", "1")
        self.assertEqual(self.call("fetch", consumer="strict", token=token, max=1)["changes"][0]["pos"], "1-2")

    def test_a_request_waits_for_changes(self):
        token = self.add(self.db, "tail", "--pull")
        answers = []
        waiting = threading.Thread(
            target=lambda: answers.append(self.call("fetch", consumer="tail", token=token, wait_seconds=20)))
        waiting.start()
        end = self.end(self.db)
        network, _ = busy_network(accounts=5, rounds=12)
        self.index(self.db, network)
        waiting.join()
        self.assertEqual(answers[0]["changes"][0]["pos"], f"1-{end + 1}")

    def test_the_client_of_the_page(self):
        code, = (block for block in blocks("docs/feeds.md", "python") if "/pull/" in block)
        self.assertLessEqual(code.count("\n"), 10)
        client = self.start([sys.executable, "-c", code.replace("127.0.0.1:2470", self.server.url[len("http://"):]),
                             self.token])
        wait_for("all changes", lambda: len([line for line in list(client.stdout) if "'pos'" in line])
                 >= self.end(self.db), alive=[client])
        wait_for("the acknowledgements", lambda: self.is_done(self.db, "archive"))


if __name__ == "__main__":
    import unittest

    unittest.main()
