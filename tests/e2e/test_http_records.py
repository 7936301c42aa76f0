"""`skua serve` answers com.atproto.repo.getRecord, listRecords and describeRepo as a PDS does, and the questions of `skua query`."""

import http.client
import json
import select
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

import atproto
from harness import HERE, need_npm, wait_for
from made import Network, busy_network
from random_network import RandomNetwork
from test_record_json import current_records
from test_real_pds import Client, now
from test_serve import ServeTest

sys.path.insert(0, str(HERE / "real_pds"))
from install import Unavailable, install  # noqa: E402  (lies beside what it installs)

POST = "app.bsky.feed.post"


def compact(value):
    """JSON as `JSON.stringify` writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def json_of(block):
    return compact(atproto.to_json(atproto.decode(block)))


class HttpTest(ServeTest):
    def get(self, server, path, **parameters):
        """(status, body) of an answer."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        try:
            with urllib.request.urlopen(f"{server.url}{path}?{query}", timeout=60) as answer:
                self.assertEqual(answer.headers["content-type"], "application/json")
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def xrpc(self, server, method, **parameters):
        return self.get(server, "/xrpc/com.atproto.repo." + method, **parameters)

    def error(self, server, method, **parameters):
        status, body = self.xrpc(server, method, **parameters)
        self.assertEqual(status, 400, body)
        return json.loads(body)["error"]

    def replayed(self, frames):
        database, file = self.database(), self.folder / "frames"
        file.write_bytes(atproto.write_capture(frames))
        self.skua(database, "replay", file)
        return database

    def keys(self, server, repo, collection, **parameters):
        """The record keys of all pages."""
        keys, cursor = [], {}
        while True:
            status, body = self.xrpc(server, "listRecords", repo=repo, collection=collection, **parameters, **cursor)
            self.assertEqual(status, 200, body)
            page = json.loads(body)
            if not page["records"]:
                self.assertNotIn("cursor", page)
                return keys
            keys += [record["uri"].split("/")[4] for record in page["records"]]
            self.assertEqual(page["cursor"], keys[-1])
            cursor = {"cursor": page["cursor"]}


class Records(HttpTest):
    def test_every_record_of_a_network(self):
        network = RandomNetwork(3)
        database = self.replayed(network.frames)
        active = {row["did"]: row["active"] for row in database.rows("select did, active is not false as active from bsky.actors")}
        server = self.serve(database)
        compared = 0
        for did, records in current_records(network.frames).items():
            if not active[did]:
                continue
            for path, block in records.items():
                collection, rkey = path.split("/")
                status, body = self.xrpc(server, "getRecord", repo=did, collection=collection, rkey=rkey)
                uri, cid = f"at://{did}/{path}", atproto.cid_of(block).text()
                self.assertEqual((status, body), (200, f'{{"uri":"{uri}","cid":"{cid}","value":{json_of(block)}}}'))
                compared += 1
            collections = sorted({path.split("/")[0] for path in records})
            for collection in collections:
                keys = sorted(path.split("/")[1] for path in records if path.startswith(collection + "/"))
                self.assertEqual(self.keys(server, did, collection), keys[::-1])
                self.assertEqual(self.keys(server, did, collection, reverse="true", limit=3), keys)
            about = json.loads(self.xrpc(server, "describeRepo", repo=did)[1])
            self.assertEqual((about["did"], about["collections"]), (did, collections))
        self.assertGreater(compared, 100)
        metrics = urllib.request.urlopen(server.url + "/metrics", timeout=20).read().decode()
        self.assertIn("skua_read_record_mismatches_total 0", metrics)
        self.assertIn('skua_read_requests_total{result="answered"}', metrics)

    def test_odd_keys_and_records(self):
        network = Network()
        person = network.account("person")
        keys = ["self", "A", "a", "z", "2", "2222222222222", "bzzzzzzzzzzzz", "czzzzzzzzzzzz", "3l2", "3l22222222222",
                "3l222222222222", "3l2222222222_", "~", ":", "k" * 512]
        for number, rkey in enumerate(keys):
            collection = POST if number % 3 else "com.example.note"
            person.put(collection, {"text": f"\0\x01\x08\x0c\u2028\x7f\"\\ {number} \U0001f600", "createdAt": now(),
                                    "b": 1, "aa": -1, "float": 1.5 if number % 2 else 7}, rkey)
        person.put(POST, {"text": "no date"}, "3l33333333333")
        database = self.replayed(network.frames)
        server = self.serve(database)
        records = current_records(network.frames)[person.did]
        for collection in (POST, "com.example.note"):
            own = sorted(path.split("/")[1] for path in records if path.startswith(collection))
            for limit in (1, 2, 100):
                self.assertEqual(self.keys(server, person.did, collection, limit=limit), own[::-1])
                self.assertEqual(self.keys(server, person.did, collection, limit=limit, reverse="true"), own)
            for cursor in [*keys, "", "b", "zzzzzzzzzzzzzz", "0"]:
                status, body = self.xrpc(server, "listRecords", repo=person.did, collection=collection, cursor=cursor)
                self.assertEqual((status, [record["uri"].split("/")[4] for record in json.loads(body)["records"]]),
                                 (200, [key for key in own[::-1] if key < cursor]), cursor)
            status, body = self.xrpc(server, "listRecords", repo="person.test", collection=collection)
            listed = [f'{{"uri":"at://{person.did}/{collection}/{key}","cid":"{atproto.cid_of(block).text()}",'
                      f'"value":{json_of(block)}}}' for key in own[::-1] for block in [records[f"{collection}/{key}"]]]
            self.assertEqual((status, body), (200, f'{{"records":[{",".join(listed)}],"cursor":"{own[0]}"}}'))

    def test_errors(self):
        network = Network()
        people = {name: network.account(name) for name in ("here", "deactivated", "takendown", "suspended", "deleted", "excluded")}
        records = {name: account.post("x") for name, account in people.items()}
        for name in ("deactivated", "takendown", "suspended", "deleted"):
            network.send("#account", did=people[name].did, active=False, status=name)
        database = self.replayed(network.frames)
        self.skua(database, "filter", "exclude", "--did", people["excluded"].did)
        server = self.serve(database)
        here = people["here"].did
        uri, cid = records["here"]
        rkey = uri.split("/")[4]
        self.assertEqual(self.xrpc(server, "getRecord", repo=here, collection=POST, rkey=rkey, cid=cid)[0], 200)
        other = atproto.cid_of(b"x").text()
        self.assertEqual(self.error(server, "getRecord", repo=here, collection=POST, rkey=rkey, cid=other), "RecordNotFound")
        self.assertEqual(self.error(server, "getRecord", repo=here, collection=POST, rkey="3l22222222222"), "RecordNotFound")
        self.assertEqual(self.error(server, "getRecord", repo=here, collection="com.example.no", rkey="x"), "RecordNotFound")
        self.assertEqual(json.loads(self.xrpc(server, "listRecords", repo=here, collection="com.example.no")[1]), {"records": []})
        for wrong in ({}, {"repo": here}, {"repo": here, "collection": POST}, {"repo": "x y", "collection": POST, "rkey": "a"},
                      {"repo": here, "collection": "x", "rkey": "a"}, {"repo": here, "collection": POST, "rkey": "a/b"},
                      {"repo": here, "collection": POST, "rkey": rkey, "cid": "x"},
                      {"repo": "did:plc:nobody", "collection": POST, "rkey": rkey}):
            self.assertEqual(self.error(server, "getRecord", **wrong), "InvalidRequest")
        for wrong in ({"limit": 0}, {"limit": 101}, {"limit": "x"}, {"limit": ""}, {"reverse": "x"}, {"collection": "x"},
                      {"repo": "nobody.test"}):
            self.assertEqual(self.error(server, "listRecords", **{"repo": here, "collection": POST, **wrong}), "InvalidRequest")
        for name, error in (("deactivated", "RepoDeactivated"), ("takendown", "RepoTakendown"), ("suspended", "RepoSuspended"),
                            ("deleted", "RepoNotFound"), ("excluded", "RepoNotFound")):
            did, rkey = people[name].did, records[name][0].split("/")[4]
            other = "InvalidRequest" if error == "RepoNotFound" else error
            self.assertEqual(self.error(server, "describeRepo", repo=did), error)
            self.assertEqual(self.error(server, "listRecords", repo=did, collection=POST), other)
            self.assertEqual(self.error(server, "getRecord", repo=did, collection=POST, rkey=rkey), other)
        self.assertEqual(self.get(server, "/xrpc/com.atproto.repo.createRecord")[0], 501)
        about = json.loads(self.xrpc(server, "describeRepo", repo="here.test")[1])
        self.assertEqual({**about, "didDoc": None},
                         {"handle": "here.test", "did": here, "didDoc": None, "collections": [POST], "handleIsCorrect": False})
        self.assertEqual(about["didDoc"]["id"], here)

    def test_a_reader_and_a_lost_database(self):
        network = RandomNetwork(3, actions=60)
        database = self.replayed(network.frames)
        server = self.serve(database)
        row = database.rows("select did, collection, rkey from bsky.all_records limit 1")[0]
        ask = {"repo": row["did"], "collection": row["collection"], "rkey": row["rkey"]}
        status, first = self.xrpc(server, "getRecord", **ask)
        self.assertEqual(status, 200)
        # The sessions only read.
        found = database.rows("select pid from pg_stat_activity where application_name like '%skua serve records%'"
                              " and datname = current_database()")
        self.assertTrue(found)
        database.run("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                     " and application_name like '%skua serve records%'")
        for _ in range(4):  # a session that has lost its connection opens another one
            self.assertEqual(self.xrpc(server, "getRecord", **ask), (200, first))
        # A statement that must wait ends after ten seconds.
        lock = subprocess.Popen(["psql", "-XAtq", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lock.stdin.write("begin; lock table bsky.actors in access exclusive mode; select 'locked';\n")
        lock.stdin.flush()
        self.assertEqual(lock.stdout.readline().strip(), "locked")
        status, body = self.xrpc(server, "getRecord", **ask)
        self.assertEqual((status, json.loads(body)["error"]), (503, "Timeout"))
        lock.communicate("rollback;\n", timeout=20)
        self.assertEqual(self.xrpc(server, "getRecord", **ask), (200, first))


class Queries(HttpTest):
    def test_the_questions_of_skua_query(self):
        network = RandomNetwork(5)
        database = self.replayed(network.frames)
        server = self.serve(database)
        listed = json.loads(self.get(server, "/query")[1])["queries"]
        self.assertGreater(len(listed), 20)
        did = database.value("select did from bsky.all_records group by did order by count(*) desc limit 1")
        post = database.value("select uri from bsky.posts_view limit 1")
        values = {"account": did, "labeler": did, "post": post, "record": post, "target": post, "words": "post", "tag": "art",
                  "link": "https://example.com/", "label": "spam",
                  "other": did}
        answered = 0
        for query in listed:
            arguments = [values[name] for name in query["parameters"]]
            status, body = self.get(server, "/query/" + query["name"], **{name: values[name] for name in query["parameters"]})
            if status != 200:
                self.assertEqual(status, 404, body)
                self.skua(database, "query", query["name"], *arguments, code=1)
                continue
            printed = json.loads("\n".join(self.skua(database, "query", query["name"], *arguments, "--json").output()))
            got = json.loads(body)
            self.assertEqual(got["more"], printed["more"])
            self.assertEqual([note["text"].split(":")[0] for note in got["notes"]],
                             [note["text"].split(":")[0] for note in printed["notes"]], query["name"])
            self.assertEqual(len(got["rows"]), len(printed["rows"]), query["name"])
            answered += 1
        self.assertGreater(answered, 20)
        name = next(query["name"] for query in listed if query["parameters"] == ["account"])
        for wrong in ({}, {"account": "x y"}, {"account": did, "limit": 0}, {"account": did, "limit": 1001},
                      {"account": did, "x": 1}):
            status, body = self.get(server, "/query/" + name, **wrong)
            self.assertEqual((status, json.loads(body)["error"]), (400, "InvalidRequest"), wrong)
        self.assertEqual(self.get(server, "/query/" + name, account="did:plc:" + "a" * 24)[0], 404)
        self.assertEqual(self.get(server, "/query/none")[0], 404)

    def test_limits_and_optional_parameters(self):
        """Each request has its own limit and optional parameters, also in a session that has answered others."""
        network, people = busy_network(accounts=2, rounds=4)
        database = self.replayed(network.frames)
        server = self.serve(database)

        def timeline(**parameters):
            status, body = self.get(server, "/query/timeline", account=people[0].did, **parameters)
            self.assertEqual(status, 200, body)
            return json.loads(body)

        everything = timeline()["rows"]
        self.assertGreater(len(everything), 3)
        for _ in range(3):  # both sessions answer
            for limit in (1, 3, 2):
                page = timeline(limit=limit)
                self.assertEqual((page["rows"], page["more"]), (everything[:limit], True))
            self.assertEqual(timeline(before=everything[1]["sort_at"])["rows"],
                             [row for row in everything if row["sort_at"] < everything[1]["sort_at"]])
            self.assertEqual(timeline(before=everything[1]["sort_at"], viewer=people[1].did, limit=1)["rows"], everything[2:3])
        options = {one["name"]: one["optional"] for one in json.loads(self.get(server, "/query")[1])["queries"]}
        self.assertEqual(sorted(options["timeline"]), ["before", "last", "viewer"])
        for wrong in ({"viewer": "x y"}, {"before": "yesterday"}):
            self.assertEqual(self.get(server, "/query/timeline", account=people[0].did, **wrong)[0], 400, wrong)


class Clients(HttpTest):
    """Clients have addresses of the loopback network."""

    def ask(self, server, path, address, client=None, **parameters):
        """A connection with a request that may not have an answer yet; a proxy names the client."""
        host, port = urllib.parse.urlsplit(server.url).netloc.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60, source_address=(address, 0))
        self.addCleanup(connection.close)
        headers = {"X-Forwarded-For": f"198.51.100.1, {client}"} if client else {}
        connection.request("GET", f"{path}?{urllib.parse.urlencode(parameters)}", headers=headers)
        return connection

    def answered(self, connections):
        return [connection for connection in connections if select.select([connection.sock], [], [], 0)[0]]

    def test_a_client_with_two_hundred_slow_queries_delays_no_other_client(self):
        network, people = busy_network(accounts=2, rounds=4)
        database = self.replayed(network.frames)
        server = self.serve(database)
        # A question about feeds waits for this transaction.
        lock = subprocess.Popen(["psql", "-XAtq", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lock.communicate)
        lock.stdin.write("begin; lock table bsky.feed_generators in access exclusive mode; select 'locked';\n")
        lock.stdin.flush()
        self.assertEqual(lock.stdout.readline().strip(), "locked")
        waiting = ("select count(*) from pg_stat_activity where application_name like 'skua serve query%' and "
                   "datname = current_database() and wait_event_type = 'Lock'")
        slow = [self.ask(server, "/query/feeds", "127.0.0.2") for _ in range(2)]
        wait_for("two slow queries", lambda: database.value(waiting) == 2, alive=[server])
        slow += [self.ask(server, "/query/feeds", "127.0.0.2") for _ in range(198)]
        for address in ("127.0.0.1", "127.0.0.3", "127.0.0.1"):
            for path, parameters in (("/query/relationship", {"account": people[0].did, "other": people[1].did}), ("/query", {})):
                answer = self.ask(server, path, address, **parameters).getresponse()
                self.assertEqual(answer.status, 200, (path, answer.read()))
        # None of the slow queries has ended; the requests that may not wait were refused.
        self.assertEqual(database.value(waiting), 2)
        wait_for("the refusals", lambda: len(self.answered(slow)) == 200 - 2 - 32, alive=[server])
        for refused in self.answered(slow):
            answer = refused.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())["error"]), (429, "RateLimitExceeded"))
            self.assertEqual(answer.headers["retry-after"], "1")
        metrics = urllib.request.urlopen(server.url + "/metrics", timeout=20).read().decode()
        self.assertIn("skua_read_requests_waiting 32\n", metrics)
        lock.stdin.write("rollback;\n")
        lock.stdin.flush()
        wait_for("the slow queries", lambda: database.value(waiting) == 0, alive=[server])

    def test_clients_behind_a_proxy_have_their_own_shares(self):
        network, people = busy_network(accounts=2, rounds=1)
        database = self.replayed(network.frames)
        server = self.serve(database, "--trusted-proxy", "127.0.0.8/29", "--max-clients-per-address", "100")
        lock = subprocess.Popen(["psql", "-XAtq", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lock.communicate)
        lock.stdin.write("begin; lock table bsky.feed_generators in access exclusive mode; select 'locked';\n")
        lock.stdin.flush()
        self.assertEqual(lock.stdout.readline().strip(), "locked")
        # Two requests of a client run, and 32 wait. For another client a session is left.
        slow = [self.ask(server, "/query/feeds", "127.0.0.9", client="192.0.2.1") for _ in range(60)]
        wait_for("the refusals", lambda: len(self.answered(slow)) >= 60 - 2 - 32, alive=[server])
        fast = {"path": "/query/relationship", "account": people[0].did, "other": people[1].did}
        self.assertEqual(self.ask(server, address="127.0.0.9", client="192.0.2.2", **fast).getresponse().status, 200)
        # The header of a client that is no proxy is ignored, whoever it names.
        slow = [self.ask(server, "/query/feeds", "127.0.0.2", client=f"192.0.2.{i}") for i in range(60)]
        wait_for("the refusals", lambda: len(self.answered(slow)) >= 60 - 1 - 32, alive=[server])
        lock.stdin.write("rollback;\n")
        lock.stdin.flush()
        wait_for("the slow queries", lambda: len(self.answered(slow)) == 60, alive=[server])


CLIENT = """
import { AtpAgent } from '@atproto/api'
const [service, repo, collection] = process.argv.slice(2)
const { com } = new AtpAgent({ service })
const out = { about: (await com.atproto.repo.describeRepo({ repo })).data, records: [] }
let cursor
do {
  const { data } = await com.atproto.repo.listRecords({ repo, collection, limit: 7, cursor })
  out.records.push(...data.records)
  cursor = data.cursor
} while (cursor)
const [,,,, rkey] = out.records[0].uri.split('/')
out.one = (await com.atproto.repo.getRecord({ repo, collection, rkey })).data
try {
  await com.atproto.repo.getRecord({ repo, collection, rkey: 'none' })
} catch (error) { out.error = [error.status, error.error] }
console.log(JSON.stringify(out))
"""


class Published(HttpTest):
    def test_a_client_and_a_real_pds(self):
        try:
            modules, node22 = install()
        except Unavailable as reason:
            self.skipTest(str(reason))
        program = self.start([node22, HERE / "real_pds/network.mjs", modules, self.folder / "pds"], {"LOG_ENABLED": "false"})
        ready = program.first_json(seconds=60)
        alice = Client(ready["pds"]).sign_up("alice.test")
        for number in range(20):
            alice.create(POST, text=f"text {number} \u2028 \U0001f600 \"", createdAt=now(), langs=[], zz=1, unknown={"b": None, "a": [1]})
        alice.create(POST, text="old", createdAt="2020-01-01T00:00:00Z")
        alice.put(POST, "odd-key", text="odd", createdAt=now())
        alice.put("app.bsky.actor.profile", "self", displayName="Alice", createdAt=now())
        alice.put("com.example.note", "a", n=2**53 - 1, m=-5, text="x")
        database = self.database()
        self.skua(database, "backfill", alice.did, "--plc", ready["plc"], "--allow-private-hosts")
        server = self.serve(database)
        asked = 0
        for collection in (POST, "app.bsky.actor.profile", "com.example.note"):
            for parameters in ({}, {"limit": 5}, {"reverse": "true", "limit": 100}, {"cursor": "odd-key"}, {"cursor": "3"},
                               {"cursor": "odd-key", "reverse": "true"}):
                ask = {"repo": alice.did, "collection": collection, **parameters}
                theirs = alice.get("com.atproto.repo.listRecords", **ask).decode()
                self.assertEqual(self.xrpc(server, "listRecords", **ask), (200, theirs), ask)
                for record in json.loads(theirs)["records"]:
                    one = {"repo": alice.did, "collection": collection, "rkey": record["uri"].split("/")[4]}
                    self.assertEqual(self.xrpc(server, "getRecord", **one),
                                     (200, alice.get("com.atproto.repo.getRecord", **one).decode()))
                    asked += 1
        self.assertGreater(asked, 60)
        theirs = json.loads(alice.get("com.atproto.repo.describeRepo", repo=alice.did))
        ours = json.loads(self.xrpc(server, "describeRepo", repo=alice.did)[1])
        for name in ("did", "collections"):
            self.assertEqual(ours[name], theirs[name])
        for name in ("id", "alsoKnownAs"):
            self.assertEqual(ours["didDoc"][name], theirs["didDoc"][name])
        self.assertEqual(ours["didDoc"]["service"][0]["serviceEndpoint"], theirs["didDoc"]["service"][0]["serviceEndpoint"])
        node, folder = need_npm(self.folder, "@atproto/api@0.17")
        script = folder / "client.mjs"
        script.write_text(CLIENT)
        outputs = []
        for url in (ready["pds"], server.url):
            done = subprocess.run([node, script, url, alice.did, POST], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            outputs.append(json.loads(done.stdout))
        theirs, ours = outputs
        self.assertEqual(len(ours["records"]), 22)
        self.assertEqual(compact(ours["records"]), compact(theirs["records"]))
        self.assertEqual((ours["one"], ours["error"]), (theirs["one"], theirs["error"]))
        self.assertEqual(ours["error"], [400, "RecordNotFound"])


if __name__ == "__main__":
    unittest.main()
