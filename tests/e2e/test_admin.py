"""The admin API of `skua run` and `skua serve`: its token, its routes, and what its actions do."""

import http.client
import json
import os
import pathlib
import re
import unittest
import urllib.request

from harness import BIN, ROOT, EndToEnd, free_port, wait_for
from made import Network

TOKEN = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
NOBODY = "did:plc:zzzzzzzzzzzzzzzzzzzzzzzz"


class Client:
    def __init__(self, port):
        self.port = port

    def request(self, method, path, body=None, token=TOKEN, headers=None):
        """The status, the headers and the JSON body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        all_headers = dict(headers or {})
        if token is not None:
            all_headers["Authorization"] = f"Bearer {token}"
        if method == "POST":
            all_headers.setdefault("Content-Type", "application/json")
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(method, path, text, all_headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        return answer.status, answer.headers, content

    def post(self, path, **body):
        return self.request("POST", path, body)[::2]


class Admin(EndToEnd):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.token_file = self.folder / "admin.token"
        self.write_token(TOKEN + "\n")

    def write_token(self, text, mode=0o600):
        self.token_file.write_text(text)
        self.token_file.chmod(mode)

    def index(self, network):
        capture = self.folder / "some.capture"
        capture.write_bytes(network.capture())
        self.skua(self.db, "replay", capture)
        return capture

    def run_with_sim(self, capture, *arguments):
        """A running `skua run`, and a client of its pages."""
        sim = self.sim(capture)
        program = self.indexer(self.db, sim.url, "--http", "127.0.0.1:0", "--log-level", "debug", *arguments)

        def port():
            found = [re.search(r"pages at http://127\.0\.0\.1:(\d+)/", line) for line in program.output()]
            return next((int(match[1]) for match in found if match), None)

        return program, Client(wait_for("the pages", port, alive=[program]))

    def paths_of_the_documents(self):
        text = (ROOT / "docs/admin.md").read_text()
        return set(re.findall(r"^\| `(?:GET|POST) (/admin/[a-z/-]+)` \|", text, re.MULTILINE))

    def check_guard(self, client):
        status, _, checked = client.request("GET", "/admin/check")
        self.assertEqual(status, 200)
        routes = [("GET", "/admin/check")] + [(action["method"], action["path"]) for action in checked["actions"]]
        self.assertGreater(len(routes), 8)
        self.assertEqual({path for _, path in routes}, self.paths_of_the_documents())
        for method, path in [*routes, ("GET", "/admin"), ("POST", "/admin/other"), ("GET", "/admin/consumers/pause"),
                             ("DELETE", "/admin/check")]:
            with self.subTest(path=path):
                # Without the token neither the body nor its type matters.
                for body, headers in (("{", {}), ("x", {"Content-Type": "text/plain"})) if method == "POST" else ((None, {}),):
                    status, answered, content = client.request(method, path, body, None, headers)
                    self.assertEqual((status, content["error"]), (401, "Unauthorized"))
                    self.assertEqual(answered["WWW-Authenticate"], "Bearer")
                status, _, _ = client.request(method, path, None, headers={"Origin": "https://evil.test"})
                self.assertEqual(status, 403)
        self.assertEqual(client.request("GET", "/admin/other")[0], 404)
        self.assertEqual(client.request("GET", "/admin/consumers/pause")[0], 405)
        self.assertEqual(client.request("POST", "/admin/consumers/pause", "x", headers={"Content-Type": "text/plain"})[0], 415)
        unknown = {"name": "nothing", "ids": [4711], "did": "not a DID"}
        for action in checked["actions"]:
            with self.subTest(path=action["path"]):
                member = action["body"][0]
                self.assertIn(client.post(action["path"], **{member: unknown[member]})[0], (400, 404))
                self.assertEqual(client.post(action["path"])[0], 400)
                words = action["command"].split()
                self.skua(None, *words, "--help")
        for _ in range(10):
            self.assertEqual(client.request("GET", "/admin/check", token="x" * len(TOKEN))[0], 401)
        self.assertEqual(client.request("GET", "/admin/check")[0], 429)
        with urllib.request.urlopen(f"http://127.0.0.1:{client.port}/metrics", timeout=60) as answer:
            counted = dict(re.findall(r'(?m)^skua_admin_requests_total\{result="(\w+)"\} (\d+)$', answer.read().decode()))
        self.assertEqual(set(counted), {"executed", "rejected", "failed", "unauthorized"})
        self.assertGreater(int(counted["rejected"]), len(checked["actions"]))
        self.assertGreater(int(counted["unauthorized"]), 11)

    def check_secrecy(self, program):
        output = "\n".join(program.output())
        self.assertNotIn(TOKEN, output)
        self.assertNotIn(TOKEN, pathlib.Path(f"/proc/{program.process.pid}/cmdline").read_text())

    def test_every_route_of_run_needs_the_token(self):
        network = Network()
        network.account("writer").post("hello")
        program, client = self.run_with_sim(self.index(network), "--admin-token-file", self.token_file)
        self.check_guard(client)
        self.check_secrecy(program)
        self.assertTrue(program.says("127.0.0.1: wrong token"), program.tail())
        self.assertEqual(program.stop(), 0, program.tail())

    def test_every_route_of_serve_needs_the_token(self):
        port = free_port()
        program = self.start([BIN / "skua", "serve", "--listen", f"127.0.0.1:{port}"],
                             {**self.environment(self.db), "SKUA_ADMIN_TOKEN_FILE": str(self.token_file)})
        wait_for("the server", lambda: program.says("serving "), alive=[program])
        self.check_guard(Client(port))
        self.check_secrecy(program)
        self.assertEqual(program.stop(), 0, program.tail())

    def test_without_the_setting_the_answer_names_it(self):
        network = Network()
        network.account("writer").post("hello")
        program, client = self.run_with_sim(self.index(network))
        for path in self.paths_of_the_documents() | {"/admin/other"}:
            status, _, content = client.request("POST", path, "{}")
            self.assertEqual((status, content["error"]), (401, "AdminDisabled"))
            self.assertIn("--admin-token-file (SKUA_ADMIN_TOKEN_FILE)", content["message"])
        self.assertEqual(program.stop(), 0, program.tail())

    def test_the_actions(self):
        network = Network()
        person = network.account("writer")
        self.db.run("alter table bsky.posts add constraint no_spam check (text not like '%refused%')")
        person.post("refused at first")
        capture = self.index(network)
        self.db.run("alter table bsky.posts drop constraint no_spam")
        self.skua(self.db, "consumers", "add", "post_stats")
        self.skua(self.db, "consumers", "run-until-idle")
        program, client = self.run_with_sim(capture, "--admin-token-file", self.token_file)

        def paused():
            return self.db.value("select paused from skua.consumers where name = 'post_stats'")

        for _ in range(2):
            status, content = client.post("/admin/consumers/pause", name="post_stats")
            self.assertEqual((status, content), (200, {"name": "post_stats", "state": "running", "paused": True}))
            self.assertTrue(paused())
        self.assertIn("paused", "\n".join(self.skua(self.db, "consumers", "list").output()))
        status, content = client.post("/admin/consumers/resume", name="post_stats")
        self.assertEqual((status, content["paused"]), (200, False))
        self.assertFalse(paused())

        letter = self.db.value("select id from skua.dead_letter")
        status, content = client.post("/admin/dead-letters/replay", ids=[letter])
        self.assertEqual(status, 200)
        replayed, = content["letters"]
        self.assertEqual((replayed["id"], replayed["result"]), (letter, "resolved"))
        self.assertEqual(self.db.value("select text from bsky.posts where cid is not null"), "refused at first")
        self.assertEqual(self.db.value("select status from skua.dead_letter"), "resolved")
        status, content = client.post("/admin/dead-letters/discard", ids=[letter])
        self.assertEqual((status, content["letters"][0]["message"]), (200, "is resolved already"))

        self.assertEqual(client.post("/admin/repos/resync", did=person.did)[0], 200)
        self.assertEqual(self.db.rows("select did from skua.backfill_jobs"), [{"did": person.did}])
        self.assertEqual(client.post("/admin/repos/resync", did=NOBODY)[0], 404)
        self.assertEqual(client.post("/admin/filter/exclude", did=NOBODY), (200, {"did": NOBODY, "excluded": True, "changed": True}))
        self.assertEqual(self.db.rows("select did from skua.excluded_accounts"), [{"did": NOBODY}])

        for line in ("admin: /admin/consumers/pause post_stats from 127.0.0.1: 200 ",
                     f"admin: /admin/dead-letters/replay {letter} from 127.0.0.1: 200 ",
                     f"admin: /admin/repos/resync {NOBODY} from 127.0.0.1: 404 "):
            self.assertTrue(program.says(line), f"{line}\n{program.tail()}")
        self.check_secrecy(program)
        self.assertEqual(program.stop(), 0, program.tail())

    def test_a_file_that_cannot_give_the_token_is_refused_at_the_start(self):
        cases = [("too short", 0o600, "has 9 characters and needs at least 20"), (TOKEN, 0o604, "chmod 600"),
                 (f"{TOKEN} {TOKEN}", 0o600, "one token of ASCII characters")]
        for text, mode, reason in cases:
            self.write_token(text, mode)
            for command in (("run", "--relay", "ws://127.0.0.1:1", "--http", "127.0.0.1:0"), ("serve",)):
                with self.subTest(reason=reason, command=command[0]):
                    program = self.skua(self.db, *command, "--admin-token-file", self.token_file, code=2)
                    self.assertTrue(program.says(reason), program.tail())
                    self.assertFalse(program.says(text), program.tail())
        os.unlink(self.token_file)
        program = self.skua(self.db, "serve", "--admin-token-file", self.token_file, code=2)
        self.assertTrue(program.says("cannot be read: No such file"), program.tail())


if __name__ == "__main__":
    unittest.main()
