"""Own messages: a transaction of a user enqueues them, and webhooks, pull consumers and streams deliver them."""

import collections
import json
import os
import random
import re
import subprocess
import sys
import threading
import unittest
import urllib.parse
import urllib.request
import uuid

from harness import BIN, ROOT, SIM, Database, Sim, free_port, missing, wait_for
from made import busy_network
from test_documents import blocks
from test_leased import LeasedTest, Receiver
from test_pages import Pages

PAGE = "docs/messages.md"


def enqueue(topic, key, payload):
    return f"select skua.enqueue('{topic}', '{key}', '{json.dumps(payload)}')"


class MessagesTest(LeasedTest):
    def reader(self, database):
        """The database as seen by a role that may only read."""
        role = "reader_" + uuid.uuid4().hex[:12]
        database.run(f"create role {role} login password 'secret' in role skua_reader")
        self.addCleanup(database.run, f"drop role {role}")
        address = urllib.parse.urlsplit(database.url)
        return Database(address._replace(netloc=f"{role}:secret@{address.netloc.rpartition('@')[2]}").geturl())

    def moved(self, database):
        return database.value("select count(*) from skua.messages")

    def wait_for_messages(self, database, number, alive):
        wait_for("messages in the log", lambda: self.moved(database) == number, alive=[alive])


class Page(MessagesTest):
    """What docs/messages.md shows."""

    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.statements = blocks(PAGE, "sql")
        self.db.run(self.statements[0])
        (command,) = (block for block in blocks(PAGE, "sh") if "consumers add" in block)
        self.token = self.add(self.db, *command.split()[3:])
        self.server = self.serve(self.db)
        (code,) = (block for block in blocks(PAGE, "python") if "/pull/" in block)
        self.worker = self.start([sys.executable, "-c", code.replace("127.0.0.1:2470", self.server.url[len("http://"):]),
                                  self.token])

    def printed(self, key):
        return wait_for(f"the message of {key}", alive=[self.worker, self.server], condition=lambda: next(
            (line for line in list(self.worker.stdout) if line.startswith(key + " ")), None))

    def test_the_sql(self):
        for statement in self.statements[1:]:
            self.db.run(statement)
        self.assertEqual(self.printed("alice").strip(), "alice {'total': 12.5, 'customer': 'alice'}")
        wait_for("the acknowledgement", lambda: self.is_done(self.db, "billing"))
        (shown,) = blocks(PAGE, "json")
        event, = self.changes(self.server, "?topic=orders&cursor=oldest").read_to(1).events
        self.assertEqual(list(event), list(json.loads(shown)))
        for member in ("kind", "op", "topic", "key", "headers", "payload"):
            self.assertEqual(event[member], json.loads(shown)[member])

    def test_psycopg(self):
        # A Debian package serves Debian's own Python only.
        pythons = [python for python in (sys.executable, "/usr/bin/python3")
                   if subprocess.run([python, "-c", "import psycopg"], capture_output=True).returncode == 0]
        if not pythons:
            missing("psycopg 3 (Debian: python3-psycopg)", "SKUA_REQUIRE_PSYCOPG")
        (code,) = (block for block in blocks(PAGE, "python") if "psycopg" in block)
        self.assertEqual(self.start([pythons[0], "-c", code, self.db.url]).wait(), 0)
        self.assertIn("'total': 7", self.printed("bob"))
        self.assertEqual(self.db.value("select customer from orders"), "bob")

    def test_the_errors_and_limits(self):
        text = "".join(re.findall(r"^\|.*\|$", (ROOT / PAGE).read_text(), re.MULTILINE))
        defaults = self.db.rows("select message_bytes, transaction_messages, inbox_messages from skua.message_limits")[0]
        self.assertIn(f"{defaults['message_bytes'] // 1024} KiB", text)
        self.assertIn(f"{defaults['transaction_messages']} messages", text)
        self.assertIn(f"{defaults['inbox_messages']:,} messages", text)


class Messages(MessagesTest):
    def test_a_topic_reaches_those_who_ask_for_it(self):
        database = self.database()
        network, _ = busy_network(accounts=2, rounds=2)
        self.index(database, network)
        records = self.end(database)
        port = free_port()
        secret = self.add(database, "hook", "--webhook", f"http://127.0.0.1:{port}/", "--topic", "orders", "--from", "oldest")
        receiver = Receiver(secret, port)
        receiver.start()
        self.addCleanup(receiver.close)
        port = free_port()
        former = Receiver(self.add(database, "former", "--webhook", f"http://127.0.0.1:{port}/", "--from", "oldest"), port)
        former.start()
        self.addCleanup(former.close)
        server = self.serve(database)
        live = self.changes(server, "?topic=invoices")
        socket = self.websocket(server, "/subscribe?cursor=1")
        for number in range(3):
            database.run(enqueue("orders", "alice", number) + ";" + enqueue("invoices", "alice", number))
        self.wait_for_messages(database, 6, server)
        wait_for("the webhook", lambda: len(receiver.processed) == 3, alive=[server])
        self.assertEqual([(change["key"], change["payload"]) for change in receiver.processed], [("alice", n) for n in range(3)])
        live.read_to(records + 6)
        self.assertEqual([(event["topic"], event["payload"]) for event in live.events], [("invoices", n) for n in range(3)])
        # The streams that leave messages out pass over them.
        network.account("late").post("a late post")
        self.index(database, network)
        everything = self.changes(server, "?cursor=oldest").read_to(self.end(database)).events
        self.assertEqual({event["kind"] for event in everything} & {"message"}, set())
        late = int([event["pos"] for event in everything if event["kind"] == "record"][-1].partition("-")[2])
        self.assertGreater(late, records + 6)
        kinds = self.changes(server, "?cursor=oldest&kind=message").read_to(records + 6).events
        self.assertEqual([event["topic"] for event in kinds], ["orders", "invoices"] * 3)
        both = self.changes(server, "?cursor=oldest&topic=orders&collection=app.bsky.feed.*").read_to(late).events
        self.assertEqual({event["kind"] for event in both}, {"record", "message"})
        wait_for("the former webhook", lambda: self.is_done(database, "former"), alive=[server])
        self.assertEqual(in_kinds(former.processed), in_kinds(everything))
        self.assertEqual(receiver.faults + former.faults, [])
        expected = [frame_of(event) for event in everything if not event.get("superseded")]
        frames = [json.loads(socket.receive()[1]) for _ in expected]
        self.assertEqual([(frame["kind"], frame["did"], frame.get("commit", {}).get("rkey")) for frame in frames], expected)

    def test_each_process_that_serves_consumers_moves_messages(self):
        database = self.database()
        database.run(enqueue("orders", "a", 1))
        self.skua(database, "consumers", "run-until-idle")
        self.assertEqual(self.moved(database), 1)
        database.run(enqueue("orders", "a", 2))
        network, _ = busy_network(accounts=2, rounds=1)
        self.index(database, network, lambda: wait_for("the message", lambda: self.moved(database) == 2))
        database.run(enqueue("orders", "a", 3))
        server = self.serve(database)
        self.wait_for_messages(database, 3, server)
        wait_for("the metric", lambda: self.metrics(server)["skua_messages_moved_total"] == 1, alive=[server])

    def test_wait_includes_messages_of_the_inbox(self):
        database = self.database()
        receiver = Receiver("")
        receiver.secret = self.add(database, "billing", "--webhook", f"http://127.0.0.1:{receiver.port}/", "--topic", "orders")
        receiver.start()
        self.addCleanup(receiver.close)
        database.run(enqueue("orders", "a", 1))
        waiting = self.skua(database, "consumers", "wait", "billing", "--timeout", "1s", code=1)
        self.assertTrue(waiting.says("own messages have waited in the inbox"), waiting.tail())
        server = self.serve(database)
        for number in range(2, 6):
            database.run(enqueue("orders", "a", number))
            self.skua(database, "consumers", "wait", "billing")
            self.assertEqual([change["payload"] for change in receiver.processed], list(range(1, number + 1)))
        self.assertEqual(server.stop(), 0)

    def test_the_position_of_a_processed_message(self):
        """The table with which a worker recognizes a repetition."""
        database = self.database()
        table, insert = (text for text in blocks(PAGE, "sql")[-1].split(";")[:2])
        database.run(table)
        for _ in range(2):
            database.run(insert)
        self.assertEqual(database.rows("select pos from processed"), [{"pos": "1-4711"}])

    def test_messages_that_nobody_moves_are_a_problem(self):
        database = self.database()
        pages = Pages(self.serve(self.reader(database)))
        pages.wait_until_ready()
        database.run(enqueue("orders", "a", 1))
        self.assertIn("1 message in the inbox", "\n".join(self.skua(database, "status").output()))
        database.run("update skua.message_inbox set enqueued_at = now() - interval '2 minutes'")
        pages.wait_for_reason("messages-waiting")
        self.assertTrue(pages.problem_metric("messages-waiting"))
        examined = self.skua(database, "doctor", "--json", code=1)
        (found,) = [one for one in json.loads("\n".join(examined.stdout))["findings"] if one["check"] == "messages"]
        self.assertEqual(found["level"], "error")
        self.skua(database, "consumers", "run-until-idle")
        wait_for("the end of the problem", lambda: pages.codes() == [], alive=[pages.program])
        status = json.loads("\n".join(self.skua(database, "status", "--json").stdout))
        self.assertEqual(status["messages"]["waiting"], 0)

    def test_wrong_topics(self):
        database = self.database()
        for arguments in (["--topic", "Orders"], ["--topic", "orders", "--kind", "record"]):
            program = self.skua(database, "consumers", "add", "shop", "--pull", *arguments, code=2)
            self.assertTrue(program.says("topic"), program.tail())
        program = self.skua(database, "consumers", "add", "post_stats", "--topic", "orders", code=2)
        self.assertTrue(program.says("--topic"), program.tail())


class Producers(MessagesTest):
    """Eight producers commit, roll back and are killed, beside an indexer. The processes that move messages are killed, too.
    With SKUA_LONG=1 100,000 messages. Each key has a counter in a table of the user, which a producer increases after the
    call of skua.enqueue. So the counter has the order of the commits of the key."""

    MESSAGES, TRANSACTIONS_OF_SESSION = (100_000, 500) if os.environ.get("SKUA_LONG") == "1" else (2_000, 50)
    PRODUCERS, KEYS = 8, 40
    TABLES = f"""
        create table sent (id int8, key text, n int4);
        create table counts (key text primary key, n int4 not null);
        insert into counts select k::text, 0 from generate_series(0, {KEYS - 1}) k union all select 'held', 0;
        create function send(k text) returns void language plpgsql as $$
        declare number int8 := skua.enqueue('orders', k, 'null'); place int4;
        begin
          update counts set n = n + 1 where key = k returning n into place;
          insert into sent values (number, k, place);
        end $$"""

    def psql(self):
        program = subprocess.Popen(["psql", "-XAtq", self.db.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def transaction(self, chance, end):
        # Transactions that enqueue keys in different orders would wait for each other.
        keys = sorted(chance.sample(range(self.KEYS), chance.randint(1, 3)))
        return "begin;" + "".join(f"select send('{key}');" for key in keys) + end + "\n"

    def produce(self, seed):
        chance = random.Random(seed)
        while not self.is_over.is_set() and self.committed() < self.MESSAGES:
            script = [self.transaction(chance, chance.choice(("commit;", "commit;", "commit;", "rollback;")))
                      for _ in range(self.TRANSACTIONS_OF_SESSION)]
            program = self.psql()
            if chance.random() < 0.2:
                # It is killed within its last transaction, or at any moment.
                program.stdin.write("".join(script) + self.transaction(chance, "\n\\echo open"))
                program.stdin.flush()
                if chance.random() < 0.5:
                    while program.stdout.readline() not in ("open\n", ""):
                        pass
                program.kill()
                program.communicate()
                self.killed += 1
            else:
                self.errors += [line for line in program.communicate("".join(script))[1].splitlines() if "ERROR" in line]

    def is_open(self):
        """Whether the transaction that is open until the end is open."""
        return self.db.value("select exists (select from pg_stat_activity where datname = current_database() and "
                             "state = 'idle in transaction' and query ~ 'held')")

    def committed(self):
        return self.db.value("select count(*) from sent")

    def test_each_committed_message_arrives_once_in_the_order_of_its_key(self):
        self.db = self.database()
        self.db.run(self.TABLES)
        self.killed, self.errors, self.is_over, chance = 0, [], threading.Event(), random.Random(9)
        token = self.add(self.db, "shop", "--pull", "--topic", "orders", "--lanes", "4", "--from", "oldest")
        network = Sim([SIM, "--accounts", "20", "--rate", "100", "--oddities", "0"])
        self.addCleanup(network.kill)
        held = self.psql()
        held.stdin.write("begin; select send('held');\n")
        held.stdin.flush()
        wait_for("the open transaction", self.is_open)
        producers = [threading.Thread(target=self.produce, args=(seed,)) for seed in range(self.PRODUCERS)]
        for producer in producers:
            producer.start()
            self.addCleanup(producer.join)
        self.addCleanup(self.is_over.set)
        movers = [lambda environment: self.start([BIN / "skua", "run", "--relay", network.url, "--cursor", "oldest"],
                                                 {**self.environment(self.db), **environment}),
                  lambda environment: self.serve(self.db, environment=environment)]
        kills = 0
        while kills < 4 or any(producer.is_alive() for producer in producers):
            point = chance.choice(("", f"after_messages_moved:{chance.randint(1, 5)}"))
            moved = self.moved(self.db)
            programs = [mover({"SKUA_CRASH_AT": point}) for mover in movers]
            # Without producers nothing reaches the crash point.
            wait_for("moved messages", lambda: not any(producer.is_alive() for producer in producers) or self.moved(self.db) > moved
                     and (not point or any(program.process.poll() is not None for program in programs)), seconds=120)
            for program in programs:
                program.kill()
            kills += 1
        for producer in producers:
            producer.join()
        self.assertEqual(self.errors, [])
        self.assertGreater(self.killed, 0)

        indexer, server = (mover({}) for mover in movers)
        sent = {row["id"]: (row["key"], row["n"]) for row in self.db.rows("select * from sent")}
        self.assertGreaterEqual(len(sent), self.MESSAGES)
        # The open transaction has delayed no other message.
        self.wait_for_messages(self.db, len(sent), server)
        self.assert_arrived(sent, self.fetched(server, token))
        self.assertTrue(self.is_open())
        self.assertEqual(self.committed(), len(sent))
        _, errors = held.communicate("commit;\n")
        self.assertEqual((errors, held.wait()), ("", 0))
        self.wait_for_messages(self.db, len(sent) + 1, server)
        (last,) = self.fetched(server, token)
        self.assertEqual(last["key"], "held")
        sent[last["id"]] = ("held", 1)
        end = self.end(self.db)
        self.assert_arrived(sent, self.changes(server, "?cursor=oldest&kind=message", timeout=120).read_to(end).events)
        self.assertGreater(self.db.value("select count(*) from bsky.all_records"), 20)
        self.assertEqual((indexer.stop(), server.stop()), (0, 0))

    def assert_arrived(self, sent, events):
        """Each message once, and those of a key in the order of their commits."""
        self.assertEqual(len(events), len(sent))
        places = collections.defaultdict(list)
        for event in events:
            key, place = sent[event["id"]]
            self.assertEqual(event["key"], key)
            places[key].append(place)
        for key, found in places.items():
            self.assertEqual(found, list(range(1, len(found) + 1)), key)

    def fetched(self, server, token):
        """All changes that wait for the pull consumer."""
        changes = []
        while (batch := self.pull(server, "fetch", token, max=10_000))["changes"]:
            changes += batch["changes"]
            self.pull(server, "ack", token, batch=batch["batch"])
        return changes

    def pull(self, server, action, token, **fields):
        headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{server.url}/pull/{action}", json.dumps({"consumer": "shop", **fields}).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def frame_of(event):
    """What the frame of a change has in /subscribe: its kind, account and record key."""
    return {"record": "commit", "handle": "identity"}.get(event["kind"], event["kind"]), event["did"], event.get("rkey")


def in_kinds(changes):
    return sorted((change["pos"], change["kind"]) for change in changes)


if __name__ == "__main__":
    unittest.main()
