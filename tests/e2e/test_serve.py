"""`skua serve` beside `skua run`: what its clients receive gives the tables."""

import ast
import json
import shutil
import sys
import unittest
import urllib.parse
import uuid

import two_databases
from changes import ChangeClient, folded, served_url
from harness import BIN, EndToEnd, need_npm, wait_for
from made import busy_network
from test_documents import blocks
from websocket import Closed, Websocket

STORED = """select a.uri, a.cid, r.record from bsky.all_records a
    join bsky.actors t on t.did = a.did join bsky.collections c on c.nsid = a.collection,
    bsky.record_json(array[t.id], array[c.id], array[bsky.rkey_number(a.rkey)]) r"""


class ServeTest(EndToEnd):
    def serve(self, database, *arguments, environment=None):
        """A running `skua serve` on a free port."""
        program = self.start([BIN / "skua", "serve", "--listen", "127.0.0.1:0", *arguments],
                             {**self.environment(database), **(environment or {})})
        program.url = wait_for("the port", lambda: served_url(program), alive=[program])
        return program

    def changes(self, server, *arguments, **options):
        client = ChangeClient(server.url, *arguments, **options)
        self.addCleanup(client.close)
        return client

    def websocket(self, server, target):
        client = Websocket(server.url, target)
        self.addCleanup(client.close)
        return client

    def index(self, database, network, during=lambda: None):
        """Runs `skua run` until it has indexed a network."""
        capture = self.folder / "network.capture"
        capture.write_bytes(network.capture())
        relay = self.sim(capture)
        program = self.indexer(database, relay.url, "--cursor", "oldest")
        during()
        wait_for("the last cursor", lambda: program.reached(network.seq), alive=[program])
        self.assertEqual(program.stop(), 0)

    def stored(self, database):
        return {row["uri"]: (row["cid"], row["record"]) for row in database.rows(STORED)}

    def end(self, database):
        """The position of the last change."""
        return database.value("select skua.change_log_end() - 1")


class Feeds(ServeTest):
    def test_each_client_receives_each_change_once_in_order(self):
        network, _ = busy_network(accounts=4, rounds=25)
        database = self.database()
        server = self.serve(database)
        live = self.changes(server)
        socket = self.websocket(server, "/changes?kind=record")
        parts = []

        def reconnect():
            """A client that reads ten changes and reconnects, again and again."""
            last = None
            while len(parts) < 8:
                client = self.changes(server, "?cursor=oldest", last_event_id=last)
                client.read_to(int(last.partition("-")[2]) + 10 if last else 10)
                parts.append(client.events)
                last = client.events[-1]["pos"]
                client.close()

        self.index(database, network, reconnect)
        end = self.end(database)
        self.assertGreater(end, 100)
        live.read_to(end)
        self.assertEqual([event["pos"] for event in live.events], [f"1-{pos}" for pos in range(1, end + 1)])
        stored = self.stored(database)
        self.assertEqual(folded(live.events).keys(), stored.keys())
        for uri, (cid, record) in folded(live.events).items():
            self.assertEqual((cid, record), stored[uri])
        with self.subTest("a client that reconnects"):
            rest = self.changes(server, f"?cursor={parts[-1][-1]['pos']}").read_to(end)
            received = [event for part in [*parts, rest.events] for event in part]
            self.assertEqual([event["pos"] for event in received], [event["pos"] for event in live.events])
        with self.subTest("a websocket"):
            # A later change can be that of a handle, which was verified meanwhile.
            last = [event["pos"] for event in live.events if event["kind"] == "record"][-1]
            received = []
            while not received or received[-1]["pos"] != last:
                event = json.loads(socket.receive()[1])
                if event["kind"] != "heartbeat":
                    received.append(event)
            self.assertEqual(folded(received), folded(live.events))
        with self.subTest("a filter"):
            expected = [event["pos"] for event in live.events
                        if event["op"] == "create" and event.get("collection") == "app.bsky.feed.like"]
            likes = self.changes(server, "?cursor=oldest&collection=app.bsky.feed.like&op=create")
            likes.read_to(int(expected[-1].partition("-")[2]))
            self.assertEqual([event["pos"] for event in likes.events], expected)
            self.assertGreater(len(likes.events), 20)
        with self.subTest("the stop"):
            self.assertEqual(server.stop(), 0)
            live.read_to(end + 1)
            self.assertEqual(live.error["error"], "ServerStopped")
            with self.assertRaises(Closed) as closed:
                socket.receive()
            self.assertEqual(closed.exception.code, 1001)

    def test_skua_itself_reads_the_feed_as_a_jetstream(self):
        network, _ = busy_network(accounts=4, rounds=10)
        first, second = self.database(), self.database()
        server = self.serve(first)
        self.index(first, network)
        program = self.start(
            [BIN / "skua", "run", "--jetstream", server.url.replace("http", "ws"), "--cursor", "1", "--verify", "none"],
            self.environment(second))
        stored = self.stored(first)
        wait_for("the same records", lambda: self.stored(second) == stored, alive=[program])
        # A change that comes after a restart of the server is received too.
        self.assertEqual(server.stop(), 0)
        self.start([BIN / "skua", "serve", "--listen", urllib.parse.urlsplit(server.url).netloc],
                   self.environment(first))
        network.account("late").post("a late post")
        self.index(first, network)
        stored = self.stored(first)
        wait_for("the late record", lambda: self.stored(second) == stored, alive=[program])
        self.assertEqual(program.stop(), 0)
        self.assertEqual(two_databases.Content(first).current["posts"].keys(),
                         two_databases.Content(second).current["posts"].keys())

    def test_a_user_who_may_only_read_can_serve(self):
        database = self.database()
        reader = "reader_" + uuid.uuid4().hex[:12]
        database.run(f"create role {reader} login password 'secret' in role skua_reader")
        self.addCleanup(database.run, f"drop role {reader}")
        address = urllib.parse.urlsplit(database.url)
        url = address._replace(netloc=f"{reader}:secret@{address.netloc.rpartition('@')[2]}").geturl()
        server = self.serve(database, environment={"SKUA_DATABASE_URL": url})
        network, _ = busy_network(accounts=2, rounds=1)
        client = self.changes(server, "?cursor=oldest")
        self.index(database, network)
        client.read_to(self.end(database))
        self.assertEqual(folded(client.events), self.stored(database))
        self.assertEqual(server.stop(), 0)

    def test_wrong_addresses(self):
        database = self.database()
        for address in ("2470", "nowhere:2470", "::1:2470", "127.0.0.1:70000", "127.0.0.1:"):
            program = self.skua(database, "serve", "--listen", address, code=2)
            self.assertTrue(program.says("--listen"), program.tail())
        self.skua(database, "serve", "--max-clients", "0", code=2)
        server = self.serve(database)
        self.assertFalse(server.says("not a loopback address"))
        program = self.skua(database, "serve", "--listen", urllib.parse.urlsplit(server.url).netloc, code=1)
        self.assertTrue(program.says("cannot listen on"), program.tail())
        program = self.start([BIN / "skua", "serve", "--listen", "0.0.0.0:0"], self.environment(database))
        wait_for("the port", lambda: served_url(program), alive=[program])
        self.assertTrue(program.says("not a loopback address"), program.tail())
        self.skua(self.database(migrated=False), "serve", code=1)


class DocumentedClients(ServeTest):
    """The clients of docs/feeds.md."""

    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.server = self.serve(self.db)
        network, _ = busy_network(accounts=2, rounds=2)
        self.index(self.db, network)
        self.end_of_log = self.end(self.db)

    def client(self, language, containing):
        """The code block of the page with these words, for the server of the test."""
        block, = (block for block in blocks("docs/feeds.md", language) if containing in block)
        self.assertLessEqual(block.count("\n"), 10)
        port = urllib.parse.urlsplit(self.server.url).port
        return block.replace("127.0.0.1:2470", f"127.0.0.1:{port}").replace('"127.0.0.1", 2470', f'"127.0.0.1", {port}')

    def lines(self, arguments, words, count, cwd=None):
        """Starts a client; waits until that many lines of its output have these words."""
        client = self.start(arguments, cwd=cwd)
        wait_for("the output", lambda: sum(words in line for line in list(client.stdout)) >= count, alive=[client])
        return [line for line in list(client.stdout) if words in line]

    def test_curl(self):
        curl = shutil.which("curl")
        if not curl:
            self.skipTest("needs curl")
        posts = self.db.value("select count(*) from bsky.posts_view")
        command = self.client("sh", "curl")
        lines = self.lines(["bash", "-c", "exec " + command], '"app.bsky.feed.post"', posts)
        events = [json.loads(line.removeprefix("data: ")) for line in lines]
        self.assertEqual({event["record"]["$type"] for event in events}, {"app.bsky.feed.post"})

    def test_python(self):
        code = self.client("python", "http.client")
        lines = self.lines([sys.executable, "-c", code], "'time'", self.end_of_log)
        self.assertEqual([ast.literal_eval(line)["pos"] for line in lines],
                         [f"1-{pos}" for pos in range(1, self.end_of_log + 1)])

    def test_node(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("needs node (scripts/setup --with-e2e)")
        script = self.folder / "client.mjs"
        script.write_text(self.client("js", "fetch(").replace("console.log(JSON.parse(fields.data))",
                                                              "console.log(fields.data)"))
        lines = self.lines([node, script], '"time"', self.end_of_log)
        self.assertEqual([json.loads(line)["pos"] for line in lines],
                         [f"1-{pos}" for pos in range(1, self.end_of_log + 1)])

    def test_node_with_a_websocket(self):
        node, folder = need_npm(self.folder, "ws@8")
        script = folder / "client.mjs"
        script.write_text("import WebSocket from 'ws'\n" + self.client("js", "new WebSocket("))
        posts = self.db.value("select count(*) from bsky.posts_view")
        lines = self.lines([node, script], '"commit"', posts, cwd=folder)
        self.assertEqual({json.loads(line)["commit"]["collection"] for line in lines}, {"app.bsky.feed.post"})


# A published client, as its documentation shows it.
PUBLISHED = """
import { Jetstream } from "@skyware/jetstream";
const jetstream = new Jetstream({ endpoint: process.argv[2], cursor: 1, wantedCollections: ["app.bsky.feed.post"] });
jetstream.onCreate("app.bsky.feed.post", (event) =>
  console.log(JSON.stringify({ did: event.did, rkey: event.commit.rkey, text: event.commit.record.text })));
jetstream.on("error", (error) => { console.error(error); process.exit(1); });
jetstream.start();
"""


class PublishedClient(ServeTest):
    def test_it_reads_subscribe_unchanged(self):
        node, folder = need_npm(self.folder, "@skyware/jetstream@0.2.5", "ws@8")
        network, _ = busy_network(accounts=3, rounds=3)
        database = self.database()
        server = self.serve(database)
        self.index(database, network)
        script = folder / "client.mjs"
        # Node before 22 has no websocket of its own.
        script.write_text('import WebSocket from "ws"; globalThis.WebSocket ??= WebSocket;\n' + PUBLISHED)
        client = self.start([node, script, server.url.replace("http", "ws") + "/subscribe"], cwd=folder)
        posts = database.rows("select did, split_part(uri, '/', 5) as rkey, text from bsky.posts_view")
        wait_for("all posts", lambda: len(client.stdout) >= len(posts), alive=[client])
        client.kill()
        def key(post):
            return post["did"], post["rkey"], post["text"]
        self.assertEqual(sorted(key(json.loads(line)) for line in client.stdout), sorted(map(key, posts)))


if __name__ == "__main__":
    unittest.main()
