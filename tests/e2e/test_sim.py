"""skua-sim without a capture: a small consistent network, controlled and disturbed over HTTP."""

import base64
import hashlib
import http.client
import json
import os
import socket
import struct
import subprocess
import time
import unittest
import urllib.parse

import atproto
from harness import BIN, EndToEnd, Program, wait_for
from websocket import BINARY, Closed, Websocket

STREAM = "/xrpc/com.atproto.sync.subscribeRepos"
P256_KEY = "zDn"


class Subscriber(Websocket):
    """A websocket for a relay's frames."""

    def __init__(self, url, cursor=None):
        super().__init__(url, STREAM if cursor is None else f"{STREAM}?cursor={cursor}")

    def frame(self):
        """The next binary message; Closed at the end."""
        while True:
            opcode, content = self.receive()
            if opcode == BINARY:
                return content

    def message(self):
        """The next message, decoded: (header, body)."""
        return atproto.decode_frame(self.frame())

    def until(self, seq):
        """All messages up to a seq."""
        messages = []
        while not messages or messages[-1][1]["seq"] < seq:
            messages.append(self.message())
        return messages


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    def json(self):
        return json.loads(self.body)


class Network(Program):
    """A running skua-sim that simulates."""

    def __init__(self, *arguments, environment=None):
        super().__init__([BIN / "skua-sim", *map(str, arguments)], environment)
        self.ready = self.first_json()
        self.url = self.ready["url"]

    def ask(self, server, path, body=None, headers=None, **query):
        """One request: to `relay`, `plc`, `control`, or a URL."""
        address = urllib.parse.urlsplit(self.ready.get(server, server))
        connection = http.client.HTTPConnection(address.netloc, timeout=30)
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        content = None if body is None else json.dumps(body)
        try:
            connection.request("GET" if body is None else "POST", target, content, headers or {})
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def sync(self, server, method, **query):
        return self.ask(server, "/xrpc/com.atproto.sync." + method, **query)

    def control(self, path, **body):
        answer = self.ask("control", path, body)
        if answer.status != 200:
            raise AssertionError(f"POST {path}: {answer.status} {answer.body.decode()}")
        return answer.json()

    def state(self):
        return self.ask("control", "/state").json()

    def steps(self, count):
        return self.control("/step", count=count)

    def fault(self, kind, **more):
        return self.control("/fault", kind=kind, **more)

    def events(self, kind):
        lines = [json.loads(line) for line in list(self.stderr) if line.startswith("{")]
        return [line for line in lines if line["event"] == kind]

    def repos(self, server, limit=1000):
        """All entries of listRepos, page by page."""
        found, cursor = [], {}
        while True:
            page = self.sync(server, "listRepos", limit=limit, **cursor).json()
            found += page["repos"]
            if "cursor" not in page:
                return found
            cursor = {"cursor": page["cursor"]}

    def accounts(self, folder):
        """The current account states of the oracle."""
        self.control("/dump", dir=str(folder))
        return json.loads((folder / "accounts.json").read_text())


class DnsAnswer:
    """A DNS message (RFC 1035, 4.1) with its TXT records."""

    def __init__(self, data):
        self.id, flags, questions, answers, _, _ = struct.unpack_from(">6H", data)
        self.flags, self.code, at = flags & 0xFFF0, flags & 15, 12
        for _ in range(questions):
            at = data.index(b"\0", at) + 5
        self.texts = []
        for _ in range(answers):
            name, kind, dns_class, self.ttl, size = struct.unpack_from(">3HIH", data, at)
            assert (name, kind, dns_class, data[at + 12]) == (0xC00C, 16, 1, size - 1)
            self.texts.append(data[at + 13 : at + 12 + size].decode())
            at += 12 + size


class DnsClient:
    """A UDP socket for queries to a DNS server."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(30)
        self.socket.connect((host, int(port)))
        self.asked = 0

    def send(self, datagram):
        self.socket.send(datagram)

    def receive(self):
        return DnsAnswer(self.socket.recv(4096))

    def ask(self, name, kind=16):
        self.asked += 1
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
        self.send(struct.pack(">6H", self.asked, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">B2H", 0, kind, 1))
        answer = self.receive()
        assert answer.id == self.asked
        return answer

    def close(self):
        self.socket.close()


class SimTest(EndToEnd):
    def network(self, *arguments):
        program = Network(*arguments)
        self.addCleanup(program.kill)
        return program

    def still(self, *arguments, accounts=12, records=120):
        """A network that only steps on demand."""
        network = self.network("--accounts", accounts, "--records", records, "--rate", "0.001", *arguments)
        network.control("/pause")
        return network

    def subscribe(self, url, cursor=None):
        subscriber = Subscriber(url, cursor)
        self.addCleanup(subscriber.close)
        return subscriber

    def dns(self, network):
        client = DnsClient(network.ready["dns"])
        self.addCleanup(client.close)
        return client


class Running(SimTest):
    def test_ready_line_and_quiet(self):
        dump = self.folder / "dump"
        network = self.network(
            "--accounts", "8", "--rate", "500", "--events", "60", "--hosts", "2", "--seed", "5", "--dump", dump
        )
        ready = network.ready
        self.assertEqual(ready["seed"], 5)
        self.assertTrue(ready["url"].startswith("ws://127.0.0.1:"))
        self.assertEqual(ready["relay"], ready["url"].replace("ws:", "http:"))
        self.assertEqual(len(ready["hosts"]), 2)
        for url in (ready["relay"], *ready["hosts"]):
            self.assertEqual(network.ask(url, "/xrpc/_health").status, 200)
        self.assertEqual(network.ask("plc", "/_health").status, 200)
        (quiet,) = wait_for("quiet", lambda: network.events("quiet"), alive=[network])
        self.assertGreaterEqual(quiet["events"], 60)
        state = network.state()
        self.assertTrue(state["quiet"])
        self.assertEqual(state["seq"], quiet["seq"])
        self.assertEqual(network.stop(), 0)
        self.assertTrue((dump / "accounts.json").exists())

    def test_rate(self):
        """Not faster than requested, except for a second's worth and one commit of 200 ops."""
        began = time.monotonic()
        network = self.network("--accounts", "8", "--rate", "400")
        state = wait_for("events", lambda: (s := network.state())["events"] >= 1200 and s, alive=[network])
        self.assertLessEqual(state["events"], 400 * (time.monotonic() - began) + 400 + 200)
        self.assertEqual(state["rate"]["wished"], 400)
        self.assertGreater(state["rate"]["measured"], 0)

    def test_pause_and_step(self):
        network = self.still()
        before = network.state()
        self.assertTrue(before["paused"])
        made = network.steps(30)
        after = network.state()
        self.assertEqual(after["events"], before["events"] + made["events"])
        self.assertGreaterEqual(after["seq"], before["seq"] + 1)
        self.assertFalse(network.control("/resume")["paused"])

    def test_usage_errors(self):
        for arguments, words in (
            (["--fault", "cutt@1s"], "truncated-frame"),
            (["--fault", "cut"], "WHEN"),
            (["--fault", "cut@soon"], "frame:N"),
            (["--fault", "slow@1s"], "slow:MS"),
            (["--fault", "429@seq:5"], "SECONDSs"),
            (["--fault-rate", "429=2"], "share"),
            (["--accounts", "0"], "--accounts"),
            (["--tls"], "--serve"),
            (["--serve", "x", "--accounts", "5"], "--serve"),
            (["--serve", "x", "--fault", "bad-hash@1s"], "bad-hash"),
            (["--serve", "x", "--tap"], "simulated network"),
            (["--tap-retry", "1"], "--tap"),
            (["--zstd-dictionary", "/dev/null"], "--jetstream"),
            (["--write-capture", "x"], "--events"),
        ):
            with self.subTest(arguments):
                done = subprocess.run(
                    [BIN / "skua-sim", *arguments], capture_output=True, text=True, timeout=30, check=False
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)
        done = subprocess.run([BIN / "skua-sim", "--help"], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("missing-block", done.stdout)


class Stream(SimTest):
    def test_from_the_oldest_and_live(self):
        network = self.still()
        last = network.steps(40)["seq"]
        old = self.subscribe(network.url, 0)
        seqs = [body["seq"] for _, body in old.until(last)]
        self.assertEqual(seqs, list(range(1, last + 1)))
        middle = self.subscribe(network.url, last - 3)
        self.assertEqual([body["seq"] for _, body in middle.until(last)], [last - 2, last - 1, last])
        live = self.subscribe(network.url)
        wait_for("three subscribers", lambda: len(network.state()["connections"]) == 3, alive=[network])
        now = network.steps(5)["seq"]
        self.assertEqual(live.message()[1]["seq"], last + 1)
        self.assertEqual([body["seq"] for _, body in old.until(now)], list(range(last + 1, now + 1)))

    def test_hosts_say_the_same_under_their_own_numbers(self):
        network = self.still()
        last = network.steps(60)["seq"]
        relay = self.subscribe(network.url, 0).until(last)
        hosts = network.sync("relay", "listHosts").json()["hosts"]
        self.assertEqual(["http://" + host["hostname"] for host in hosts], network.ready["hosts"])
        def bare(message):
            header, body = message
            return header["t"], json.dumps(atproto.to_json({**body, "seq": 0}), sort_keys=True)

        said = []
        for host in hosts:
            if host["seq"] == 0:
                continue
            messages = self.subscribe("ws://" + host["hostname"], 0).until(host["seq"])
            self.assertEqual([body["seq"] for _, body in messages], list(range(1, host["seq"] + 1)))
            said += map(bare, messages)
        self.assertEqual(sorted(said), sorted(map(bare, relay)))

    def test_the_window_moves_on(self):
        network = self.still("--window-mb", "1", accounts=4, records=400)
        network.steps(1000)
        first = self.subscribe(network.url, 1).message()[1]["seq"]
        self.assertGreater(first, 2)
        # A PDS reports it first.
        host = max(network.sync("relay", "listHosts").json()["hosts"], key=lambda host: host["seq"])
        header, body = self.subscribe("ws://" + host["hostname"], 1).message()
        self.assertEqual((header["t"], body["name"]), ("#info", "OutdatedCursor"))

    def test_a_reader_that_falls_behind_is_told_so(self):
        network = self.still("--window-mb", "1", "--fault", "stall:1@seq:20", accounts=4, records=400)
        network.steps(30)
        reader = self.subscribe(network.url, 0)
        wait_for("the stall", lambda: network.events("fault"), alive=[network])
        network.steps(1000)
        with self.assertRaises(Closed):
            while True:
                header, body = reader.message()
                if header["op"] == -1:
                    self.assertEqual(body["error"], "ConsumerTooSlow")
                    error = body["error"]
        self.assertEqual(error, "ConsumerTooSlow")

    def test_numbers_begin_again(self):
        network = self.still("--first-seq", 1000)
        last = network.steps(40)["seq"]
        reader = self.subscribe(network.url, 0)
        reader.until(last)
        network.fault("seq-restart")
        with self.assertRaises(Closed):
            reader.message()
        # Like indigo: nothing is sent until there is a new message.
        beyond = self.subscribe(network.url, last)
        wait_for("the second connection", lambda: len(network.events("connect")) == 2, alive=[network])
        network.steps(5)
        self.assertGreater(beyond.message()[1]["seq"], last - 999)
        self.assertEqual(self.subscribe(network.url, 0).message()[1]["seq"], 1)

    def test_future_cursor(self):
        network = self.still("--future-cursor", "error")
        header, body = self.subscribe(network.url, 10_000).message()
        self.assertEqual((header["op"], body["error"]), (-1, "FutureCursor"))
        self.assertEqual(self.subscribe(network.url, "x").status, 400)
        self.assertEqual(network.sync("relay", "subscribeRepos").status, 426)


class Repositories(SimTest):
    def test_every_repository_is_what_its_head_says(self):
        network = self.still(accounts=15)
        network.steps(300)
        listed = network.repos("relay", limit=4)
        dids = [repo["did"] for repo in listed]
        self.assertEqual(dids, sorted(set(dids)))
        self.assertGreaterEqual(len(dids), 15)
        here = {repo["did"]: url for url in network.ready["hosts"] for repo in network.repos(url)}
        seen = 0
        for repo in listed:
            if not repo["active"]:
                continue
            did = repo["did"]
            answer = network.sync("relay", "getRepo", did=did)
            self.assertEqual(answer.status, 302)
            self.assertTrue(answer.headers["Location"].startswith(here[did]))
            car = network.sync(here[did], "getRepo", did=did)
            self.assertEqual((car.status, car.headers["Content-Type"]), (200, "application/vnd.ipld.car"))
            roots, _ = atproto.read_car(car.body)
            self.assertEqual([root.text() for root in roots], [repo["head"]])
            repository = atproto.Repository(car.body)
            self.assertEqual((repository.did, repository.rev), (did, repo["rev"]))
            latest = network.sync(here[did], "getLatestCommit", did=did).json()
            self.assertEqual(latest, {"cid": repo["head"], "rev": repo["rev"]})
            status = network.sync(here[did], "getRepoStatus", did=did).json()
            self.assertEqual(status, {"did": did, "active": True, "rev": repo["rev"]})
            seen += 1
        self.assertGreater(seen, 5)

    def test_collections(self):
        network = self.still(records=300)
        with_likes = network.sync("relay", "listReposByCollection", collection="app.bsky.feed.like", limit=2000)
        dids = {repo["did"] for repo in with_likes.json()["repos"]}
        for account in network.accounts(self.folder):
            if account["status"] == "deleted" or not account["head"]:
                continue
            paths = atproto.Repository((self.folder / f"{account['did']}.car").read_bytes()).records
            self.assertEqual(account["did"] in dids, any(path.startswith("app.bsky.feed.like/") for path in paths))
        self.assertTrue(dids)

    def test_changes_since_a_revision(self):
        network = self.still("--oddities", "0", accounts=3, records=300)
        network.steps(20)
        repo = network.repos("relay")[0]
        url = network.sync("relay", "getRepo", did=repo["did"]).headers["Location"].split("/xrpc")[0]
        whole = network.sync(url, "getRepo", did=repo["did"])
        tail = network.sync(url, "getRepo", did=repo["did"], since=repo["rev"])
        self.assertEqual(atproto.read_car(tail.body)[0], atproto.read_car(whole.body)[0])
        self.assertLess(len(tail.body), len(whole.body))

    def find_account(self, network, status):
        """The DID and the PDS of an account in that state, which lasts until the next step."""

        def found():
            dids = [repo["did"] for repo in network.repos("relay") if repo.get("status") == status]
            return dids or network.steps(20) and None

        (did, *_) = wait_for(f"an account that is {status}", found, every=0, alive=[network])
        (account,) = [account for account in network.accounts(self.folder) if account["did"] == did]
        self.assertEqual(account["status"], status)
        return did, network.ready["hosts"][account["host"]]

    def test_accounts_that_are_not_active(self):
        network = self.still("--oddities", "5", accounts=30)
        wanted = {"deactivated": "RepoDeactivated", "suspended": "RepoSuspended", "takendown": "RepoTakendown"}
        for status, error in wanted.items():
            did, url = self.find_account(network, status)
            for method in ("getRepo", "getLatestCommit"):
                answer = network.sync(url, method, did=did)
                self.assertEqual((answer.status, answer.json()["error"]), (400, error))
            self.assertEqual(network.sync(url, "getRepoStatus", did=did).json(),
                             {"did": did, "active": False, "status": status})
            (repo,) = [repo for repo in network.repos(url) if repo["did"] == did]
            self.assertEqual((repo["active"], repo["status"]), (False, status))
        did, url = self.find_account(network, "deleted")
        answer = network.sync(url, "getRepo", did=did)
        self.assertEqual((answer.status, answer.json()["error"]), (400, "RepoNotFound"))
        self.assertNotIn(did, [repo["did"] for repo in network.repos(url)])
        self.assertEqual(network.sync("relay", "getRepoStatus", did=did).json()["status"], "deleted")

    def test_requests_that_mean_nothing(self):
        network = self.still()
        answer = network.sync("relay", "getRepoStatus", did="did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")
        self.assertEqual((answer.status, answer.json()["error"]), (400, "RepoNotFound"))
        self.assertEqual(network.sync("relay", "getRepoStatus").json()["error"], "InvalidRequest")
        self.assertEqual(network.sync("relay", "listRepos", limit=1001).json()["error"], "InvalidRequest")
        self.assertEqual(network.sync("relay", "noSuchMethod").status, 404)

    def test_an_account_that_has_moved(self):
        network = self.still(accounts=20)

        def endpoints(did):
            audit = network.ask("plc", f"/{did}/log/audit").json()
            return [entry["operation"]["services"]["atproto_pds"]["endpoint"] for entry in audit]

        def moved():
            for repo in network.repos("relay"):
                urls = endpoints(repo["did"])
                if repo["active"] and urls[0] != urls[-1]:
                    return repo, urls
            return network.steps(200) and None

        repo, urls = wait_for("a move", moved, alive=[network])
        new, old = urls[-1], next(url for url in urls if url != urls[-1])
        self.assertEqual(network.sync(new, "getRepo", did=repo["did"]).status, 200)
        self.assertEqual(network.sync(old, "getRepo", did=repo["did"]).json()["error"], "RepoDeactivated")
        self.assertEqual(network.sync(old, "getRepoStatus", did=repo["did"]).json()["status"], "deactivated")
        never = [url for url in network.ready["hosts"] if url not in urls]
        for url in never:
            self.assertEqual(network.sync(url, "getRepo", did=repo["did"]).json()["error"], "RepoNotFound")

    def test_names(self):
        network = self.still()
        network.steps(100)
        host = network.ready["hosts"][0]
        accounts = [a for a in network.accounts(self.folder) if a["status"] == "active" and a["handle_valid"]]
        self.assertTrue(accounts)
        for account in accounts:
            found = network.ask(host, "/xrpc/com.atproto.identity.resolveHandle", handle=account["handle"])
            self.assertEqual(found.json(), {"did": account["did"]})
            found = network.ask(host, "/.well-known/atproto-did", headers={"Host": account["handle"]})
            self.assertEqual(found.body.decode(), account["did"])
            document = network.ask("plc", "/" + account["did"]).json()
            self.assertEqual(document["id"], account["did"])
            self.assertEqual(document["alsoKnownAs"], ["at://" + account["handle"]])
            (key,) = [m for m in document["verificationMethod"] if m["id"].endswith("#atproto")]
            self.assertTrue(account["signing_key"].endswith(key["publicKeyMultibase"]))
            (service,) = document["service"]
            self.assertEqual(service["serviceEndpoint"], network.ready["hosts"][account["host"]])
        answer = network.ask(host, "/xrpc/com.atproto.identity.resolveHandle", handle="nobody.test")
        self.assertEqual((answer.status, answer.json()["error"]), (400, "InvalidRequest"))
        self.assertEqual(network.ask(host, "/.well-known/atproto-did", headers={"Host": "nobody.test"}).status, 404)

    def test_names_in_dns(self):
        network = self.still()
        dns = self.dns(network)
        before = {a["did"]: a for a in network.accounts(self.folder) if a["handle_valid"]}
        self.assertTrue(before)
        for account in before.values():
            answer = dns.ask("_atproto." + account["handle"].upper())
            self.assertEqual((answer.code, answer.flags, answer.ttl), (0, 0x8500, 0))
            self.assertEqual(answer.texts, ["did=" + account["did"]])
        # Garbage is not answered and has no effect; a message that is too long is malformed.
        dns.send(b"\x00\x01\x80")
        dns.send(b"\xff" * 2000)
        dns.send(struct.pack(">6H", 77, 0, 1, 0, 0, 0) + b"\1x" * 1000)
        answer = dns.receive()
        self.assertEqual((answer.id, answer.code), (77, 1))
        # A name that exists may have no record of some type.
        answer = dns.ask("_atproto." + account["handle"], kind=1)
        self.assertEqual((answer.code, answer.texts), (0, []))
        self.assertEqual(dns.ask("_atproto.nobody.test").code, 3)
        self.assertEqual(dns.ask(account["handle"]).code, 3)

        self.assertGreater(network.control("/incident", kind="change_handle")["events"], 0)
        after = {a["did"]: a for a in network.accounts(self.folder)}
        (changed,) = [did for did in before if before[did]["handle"] != after[did]["handle"]]
        self.assertEqual(dns.ask("_atproto." + before[changed]["handle"]).code, 3)
        self.assertEqual(dns.ask("_atproto." + after[changed]["handle"]).texts, ["did=" + changed])

    def test_questions_to_dns_are_logged(self):
        network = self.still()
        dns = self.dns(network)
        name = "_atproto." + next(a["handle"] for a in network.accounts(self.folder) if a["handle_valid"])
        dns.send(struct.pack(">6H", 0, 0, 1, 0, 0, 0))
        self.assertEqual(dns.receive().code, 1)
        self.assertEqual(dns.ask("_atproto.nobody.test").code, 3)
        self.assertEqual(dns.ask(name).code, 0)
        wait_for("the log", lambda: len(network.events("question")) == 3, alive=[network])
        self.assertEqual([line["code"] for line in network.events("question")], ["FORMERR", "NXDOMAIN", "NOERROR"])

    def test_the_directory(self):
        network = self.still()
        network.steps(200)
        exported, after = [], ""
        while True:
            answer = network.ask("plc", "/export", count=7, after=after)
            lines = [json.loads(line) for line in answer.body.splitlines()]
            new = [line for line in lines if line["cid"] not in {entry["cid"] for entry in exported}]
            exported += new
            if len(lines) < 7:
                break
            after = lines[-1]["createdAt"]
        dids = {entry["did"] for entry in exported}
        self.assertEqual(dids, {account["did"] for account in network.accounts(self.folder)})
        for did in dids:
            audit = network.ask("plc", f"/{did}/log/audit").json()
            self.assertEqual(audit, [entry for entry in exported if entry["did"] == did])
            genesis = audit[0]["operation"]
            content = {**genesis, "sig": genesis["sig"]}
            digest = hashlib.sha256(atproto.encode(content)).digest()
            self.assertEqual(did, "did:plc:" + base64.b32encode(digest).decode().lower()[:24])
        answer = network.ask("plc", "/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")
        self.assertEqual(answer.status, 404)
        self.assertIn("DID not registered", answer.json()["message"])

    def test_one_connection_serves_many_requests(self):
        network = self.still()
        address = urllib.parse.urlsplit(network.ready["relay"]).netloc
        connection = http.client.HTTPConnection(address, timeout=30)
        self.addCleanup(connection.close)
        connection.connect()
        name = connection.sock.getsockname()
        for _ in range(3):
            connection.request("GET", "/xrpc/_health")
            self.assertEqual(connection.getresponse().read()[:1], b"{")
            self.assertEqual(connection.sock.getsockname(), name)
        connection.request("HEAD", "/xrpc/com.atproto.sync.listRepos")
        head = connection.getresponse()
        self.assertGreater(int(head.headers["Content-Length"]), 10)
        self.assertEqual(head.read(), b"")
        connection.request("POST", "/xrpc/com.atproto.sync.listRepos")
        self.assertEqual(connection.getresponse().status, 405)

    def test_a_slow_reader_blocks_nobody(self):
        network = self.still(accounts=1, records=20000)
        (repo,) = network.repos("relay")
        url = network.sync("relay", "getRepo", did=repo["did"]).headers["Location"]
        address = urllib.parse.urlsplit(url)
        slow = socket.socket()
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((address.hostname, address.port))
        slow.sendall(f"GET {address.path}?{address.query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        self.assertEqual(slow.recv(15), b"HTTP/1.1 200 OK")
        self.assertEqual(network.ask(f"http://{address.netloc}", "/xrpc/_health").status, 200)
        self.assertEqual(network.ask("control", "/state").status, 200)


class Faults(SimTest):
    def test_what_befalls_a_connection(self):
        network = self.still()
        last = network.steps(60)["seq"]
        network.fault("cut")
        with self.assertRaises(Closed) as closed:
            self.subscribe(network.url, 0).message()
        self.assertIsNone(closed.exception.code)
        network.fault("info")
        reader = self.subscribe(network.url, 0)
        header, body = reader.message()
        self.assertEqual((header["t"], body["name"]), ("#info", "OutdatedCursor"))
        # A subscriber at the end of the stream does not use up a fault for the next one.
        self.assertEqual(len(reader.until(last)), last)
        network.fault("error", arg="ConsumerTooSlow")
        reader = self.subscribe(network.url, 0)
        header, body = reader.message()
        self.assertEqual((header["op"], body["error"]), (-1, "ConsumerTooSlow"))
        with self.assertRaises(Closed) as closed:
            reader.message()
        self.assertEqual(closed.exception.code, 1008)
        network.fault("corrupt")
        reader = self.subscribe(network.url, 0)
        damaged = reader.frame()
        reader.until(last)
        reader = self.subscribe(network.url, 0)
        whole = reader.frame()
        reader.until(last)
        self.assertEqual(len(damaged), len(whole))
        self.assertEqual(sum(a != b for a, b in zip(damaged, whole)), 1)
        network.fault("stall", arg=0.2)
        network.fault("slow", arg=5)
        began = time.monotonic()
        self.assertEqual(len(self.subscribe(network.url, 0).until(last)), last)
        # The first frame triggers the stall, the second one the delay.
        self.assertGreaterEqual(time.monotonic() - began, 0.2 + (last - 1) * 0.005)
        self.assertEqual(
            network.state()["faults"], dict.fromkeys(["cut", "info", "error", "corrupt", "stall", "slow"], 1)
        )
        wait_for("the log", lambda: len(network.events("fault")) == 6, alive=[network])
        self.assertEqual([fault["fault"] for fault in network.events("fault")],
                         ["cut", "info", "error", "corrupt", "stall", "slow"])

    def test_a_planned_fault_strikes_once(self):
        network = self.still("--fault", "cut@frame:5", "--fault", "info@seq:7")
        network.steps(20)
        reader = self.subscribe(network.url, 0)
        self.assertEqual([reader.message()[1]["seq"] for _ in range(4)], [1, 2, 3, 4])
        with self.assertRaises(Closed):
            reader.message()
        reader = self.subscribe(network.url, 4)
        kinds = [reader.message()[0]["t"] == "#info" for _ in range(5)]
        self.assertEqual(kinds, [False, False, True, False, False])
        reader = self.subscribe(network.url, 0)
        self.assertEqual([reader.message()[1]["seq"] for _ in range(8)], list(range(1, 9)))

    def test_each_of_several_cuts_takes_a_connection(self):
        network = self.still()
        network.steps(10)
        network.fault("cut", count=2)
        for _ in range(2):
            with self.assertRaises(Closed):
                self.subscribe(network.url, 0).message()
        self.assertEqual(self.subscribe(network.url, 0).message()[1]["seq"], 1)

    def hostile(self, network, kind):
        """The frame that a stream fault has added to the stream."""
        seq = network.fault(kind)["seq"]
        logged = lambda: [fault["seq"] for fault in network.events("fault") if fault["fault"] == kind]  # noqa: E731
        wait_for("the log", logged, alive=[network])
        self.assertEqual(logged(), [seq])
        return self.subscribe(network.url, seq - 1).frame()

    def commit_of(self, body):
        roots, blocks = atproto.read_car(body["blocks"])
        return roots[0], atproto.decode(blocks[roots[0]])

    def test_hostile_messages(self):
        network = self.still("--oddities", "0")
        last = network.steps(100)["seq"]
        honest = [body for header, body in self.subscribe(network.url, 0).until(last) if header["t"] == "#commit"]
        revs = {(body["repo"], body["rev"]): body for body in honest}

        with self.assertRaises((atproto.FormatError, IndexError)):
            atproto.decode_frame(self.hostile(network, "truncated-frame"))
        _, body = atproto.decode_frame(self.hostile(network, "bad-hash"))
        with self.assertRaises(atproto.FormatError):
            atproto.read_car(body["blocks"])

        _, body = atproto.decode_frame(self.hostile(network, "bad-signature"))
        root, commit = self.commit_of(body)
        before = atproto.tid_text(atproto.tid_number(body["rev"]) - 1)
        _, good = self.commit_of(revs[body["repo"], before])
        self.assertEqual(root, body["commit"])
        self.assertEqual({**commit, "sig": b"", "rev": before}, {**good, "sig": b""})
        self.assertNotEqual(commit["sig"], good["sig"])

        _, body = atproto.decode_frame(self.hostile(network, "wrong-prev-data"))
        before = atproto.tid_text(atproto.tid_number(body["rev"]) - 1)
        self.assertNotEqual(body["prevData"], revs[body["repo"], before].get("prevData"))

        _, body = atproto.decode_frame(self.hostile(network, "replayed-rev"))
        again = revs[body["repo"], body["rev"]]
        self.assertGreater(body["seq"], again["seq"])
        self.assertEqual({**body, "seq": 0, "time": ""}, {**again, "seq": 0, "time": ""})

        _, body = atproto.decode_frame(self.hostile(network, "future-rev"))
        newest = max(atproto.tid_number(rev) for did, rev in revs if did == body["repo"])
        ahead = (atproto.tid_number(body["rev"]) - newest) >> 10
        self.assertGreater(ahead, 3000 * 1_000_000)
        self.assertEqual(self.commit_of(body)[1]["rev"], body["rev"])

    def test_numbers_that_are_wrong(self):
        network = self.still()
        last = network.steps(10)["seq"]
        network.fault("repeated-seq")
        network.fault("missing-seq", arg=7)
        network.steps(1)
        reader = self.subscribe(network.url, last - 1)
        first, second, third = reader.frame(), reader.frame(), reader.frame()
        self.assertEqual(first, second)
        self.assertEqual(atproto.decode_frame(first)[1]["seq"], last)
        self.assertEqual(atproto.decode_frame(third)[1]["seq"], last + 8)

    def test_refused_requests(self):
        network = self.still()
        network.fault("429", arg=3)
        answer = network.sync("relay", "listRepos")
        self.assertEqual((answer.status, answer.json()["error"]), (429, "RateLimitExceeded"))
        self.assertEqual(answer.headers["Retry-After"], "3")
        self.assertEqual(answer.headers["RateLimit-Remaining"], "0")
        self.assertEqual(network.sync("relay", "listRepos").status, 200)
        network.fault("429-bare", count=2)
        self.assertEqual(network.ask("plc", "/_health").status, 200)
        for _ in range(2):
            answer = network.ask("plc", "/export")
            self.assertEqual(answer.status, 429)
            self.assertNotIn("Retry-After", answer.headers)
            self.assertNotIn("RateLimit-Limit", answer.headers)
        self.assertEqual(network.ask("plc", "/export").status, 200)

    def test_damaged_downloads(self):
        network = self.still(accounts=3, records=600)
        repo = network.repos("relay")[0]
        location = network.sync("relay", "getRepo", did=repo["did"]).headers["Location"]
        host = location.split("/xrpc")[0]
        get = lambda: network.sync(host, "getRepo", did=repo["did"])  # noqa: E731
        whole = get().body
        _, blocks = atproto.read_car(whole)

        network.fault("cut-download")
        with self.assertRaises(http.client.IncompleteRead) as cut:
            get()
        self.assertEqual(len(cut.exception.partial), len(whole) // 2)
        self.assertEqual(len(cut.exception.partial) + cut.exception.expected, len(whole))

        network.fault("missing-block")
        roots, left = atproto.read_car(get().body)
        self.assertEqual(len(left), len(blocks) - 1)
        self.assertIn(roots[0], left)

        network.fault("bad-block")
        bad = get().body
        self.assertEqual(sum(a != b for a, b in zip(bad, whole)), 1)
        with self.assertRaises(atproto.FormatError):
            atproto.read_car(bad)

        network.fault("slow-download", arg=len(whole) * 2)
        began = time.monotonic()
        self.assertEqual(get().body, whole)
        self.assertGreaterEqual(time.monotonic() - began, 0.4)
        self.assertEqual(
            network.state()["faults"],
            dict.fromkeys(["cut-download", "missing-block", "bad-block", "slow-download"], 1),
        )

    def test_by_chance(self):
        network = self.network(
            "--accounts", "5", "--rate", "200", "--fault-rate", "bad-signature=20", "--fault-rate", "429=0.5"
        )
        wait_for("hostile messages", lambda: len(network.events("fault")) > 5, alive=[network])
        answers = [network.ask("plc", "/export").status for _ in range(60)]
        self.assertEqual(set(answers), {200, 429})

    def test_wrong_words_are_refused(self):
        network = self.still()
        for body, words in (
            ({"kind": "cutt"}, "truncated-frame"),
            ({}, "truncated-frame"),
            ({"kind": "slow"}, "slow:MS"),
            ({"kind": "cut", "count": 0}, "count"),
        ):
            answer = network.ask("control", "/fault", body)
            self.assertEqual(answer.status, 400)
            self.assertIn(words, answer.json()["message"])
        self.assertEqual(network.ask("control", "/nothing").status, 404)


class Captures(SimTest):
    def write(self, name, *arguments):
        capture, dump = self.folder / f"{name}.frames", self.folder / name
        program = self.start(
            [self.binary("skua-sim"), "--write-capture", capture, "--events", "600", "--accounts", "25",
             "--records", "500", "--dump", dump, *arguments]
        )
        self.assertEqual(program.wait(120), 0, program.tail())
        return json.loads(program.stdout[-1]), capture, dump

    def test_a_capture_is_read_without_an_error(self):
        report, capture, _ = self.write("capture")
        frames = list(atproto.read_capture(capture.read_bytes()))
        self.assertEqual(len(frames), report["frames"])
        self.assertEqual(sum(map(len, frames)), report["bytes"])
        self.assertGreaterEqual(report["events"], 600)
        seqs = [atproto.decode_frame(frame)[1]["seq"] for frame in frames]
        self.assertEqual(seqs, list(range(1, len(frames) + 1)))
        program = self.skua(None, "inspect", "frames", capture)
        self.assertTrue(program.says(" 0 bad"), program.tail())
        self.assertGreaterEqual(len(program.stdout), 600)
        # An existing file is not changed.
        again = self.start([self.binary("skua-sim"), "--write-capture", capture, "--events", "10"])
        self.assertEqual(again.wait(), 1)
        self.assertIn("capture.frames", again.tail())

    def test_all_follows_from_the_seed(self):
        """P-256 signatures are random; the rest is identical, byte by byte."""
        _, first, first_dump = self.write("first", "--seed", "9")
        _, second, second_dump = self.write("second", "--seed", "9")
        _, other, _ = self.write("other", "--seed", "10")
        accounts = json.loads((first_dump / "accounts.json").read_text())
        p256 = {a["did"] for a in accounts if a["signing_key"].split(":")[-1].startswith(P256_KEY)}
        self.assertTrue(p256)
        self.assertLess(len(p256), len(accounts) / 2)

        def bare(frame):
            header, body = atproto.decode_frame(frame)
            if body.get("repo", body.get("did")) not in p256:
                return frame
            return header, {key: value for key, value in body.items() if key not in ("commit", "blocks")}

        frames = [list(map(bare, atproto.read_capture(file.read_bytes()))) for file in (first, second)]
        self.assertEqual(len(frames[0]), len(frames[1]))
        for one, two in zip(*frames):
            self.assertEqual(one, two)
        self.assertNotEqual(first.read_bytes()[:100_000], other.read_bytes()[:100_000])

        self.assertEqual(sorted(os.listdir(first_dump)), sorted(os.listdir(second_dump)))
        for account, same in zip(accounts, json.loads((second_dump / "accounts.json").read_text())):
            did = account["did"]
            if did in p256:
                account.pop("head")
                same.pop("head")
            self.assertEqual(account, same)
            if (first_dump / f"{did}.car").exists():
                cars = [(dump / f"{did}.car").read_bytes() for dump in (first_dump, second_dump)]
                if did in p256:
                    self.assertEqual(*(atproto.Repository(car).records for car in cars))
                else:
                    self.assertEqual(*cars)


if __name__ == "__main__":
    unittest.main()
