"""Tests with Bluesky's own PDS on loopback: the tables show an account's new records, and a backfill stores its older
ones.
"""

import json
import sys
import time
import unittest
import urllib.parse
import urllib.request

import atproto
import comparison
from harness import EndToEnd, HERE, wait_for

sys.path.insert(0, str(HERE / "real_pds"))
from install import Unavailable, install  # noqa: E402  (lies beside what it installs)


class Client:
    """One account's calls to its PDS."""

    def __init__(self, pds):
        self.pds = pds
        self.did = self.token = None

    def call(self, method, body):
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(
            f"{self.pds}/xrpc/{method}", data=json.dumps(body).encode(), headers=headers
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"null")

    def get(self, method, **parameters):
        """The body of a query's answer."""
        url = f"{self.pds}/xrpc/{method}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.read()

    def pages(self, method, what, **parameters):
        """Every entry of a list."""
        cursor = {}
        while cursor is not None:
            page = json.loads(self.get(method, **parameters, **cursor))
            yield from page[what]
            cursor = {"cursor": page["cursor"]} if page.get("cursor") else None

    def sign_up(self, handle):
        account = self.call(
            "com.atproto.server.createAccount",
            {"handle": handle, "email": f"{handle}@example.test", "password": "only-on-loopback"},
        )
        self.did, self.token = account["did"], account["accessJwt"]
        return self

    def create(self, collection, **record):
        record = {"$type": collection, **record}
        body = {"repo": self.did, "collection": collection, "record": record}
        return self.call("com.atproto.repo.createRecord", body)

    def create_many(self, collection, texts):
        """Repeatedly creates as many records as a commit may have."""
        for first in range(0, len(texts), 100):
            writes = [{"$type": "com.atproto.repo.applyWrites#create", "collection": collection,
                       "value": {"$type": collection, "text": text, "createdAt": now()}}
                      for text in texts[first : first + 100]]
            self.call("com.atproto.repo.applyWrites", {"repo": self.did, "writes": writes})

    def put(self, collection, rkey, **record):
        body = {"repo": self.did, "collection": collection, "rkey": rkey, "validate": False,
                "record": {"$type": collection, **record}}
        return self.call("com.atproto.repo.putRecord", body)

    def records(self):
        """{uri: cid} from the lists of the PDS."""
        about = json.loads(self.get("com.atproto.repo.describeRepo", repo=self.did))
        return {record["uri"]: record["cid"] for collection in about["collections"]
                for record in self.pages("com.atproto.repo.listRecords", "records", repo=self.did,
                                         collection=collection, limit=100)}

    def delete(self, uri):
        _, _, _, collection, rkey = uri.split("/")
        body = {"repo": self.did, "collection": collection, "rkey": rkey}
        self.call("com.atproto.repo.deleteRecord", body)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


class RealPds(EndToEnd):
    def setUp(self):
        super().setUp()
        try:
            modules, node = install()
        except Unavailable as reason:
            self.skipTest(str(reason))
        program = self.start(
            [node, HERE / "real_pds/network.mjs", modules, self.folder / "pds"], {"LOG_ENABLED": "false"}
        )
        ready = program.first_json(seconds=60)
        self.pds, self.plc = ready["pds"], ready["plc"]

    def wait_until(self, what, query):
        """Waits for a query to return true. How long that takes is not tested: an idle PDS looks for new events only
        once a second."""
        wait_for(what, lambda: self.db.value(query), seconds=10, every=0.02, alive=[self.indexer_program])

    def has(self, uri, cid):
        return f"exists (select from bsky.all_records where uri = '{uri}' and cid = '{cid}')"

    def test_new_records_become_rows(self):
        self.db = self.database()
        relay = self.pds.replace("http://", "ws://")
        self.indexer_program = self.indexer(self.db, relay, "--cursor", "oldest")
        wait_for("the connection", lambda: self.indexer_program.says("connected to"),
                 alive=[self.indexer_program])

        alice = Client(self.pds).sign_up("alice.test")
        self.wait_until(
            "the account", f"exists (select from bsky.actors where did = '{alice.did}' and handle = 'alice.test' and active)"
        )
        bob = Client(self.pds).sign_up("bob.test")

        post = alice.create("app.bsky.feed.post", text="from a real PDS", langs=["en"], createdAt=now())
        self.wait_until("the post", self.has(post["uri"], post["cid"]))
        self.assertEqual(
            self.db.rows(f"select did, handle, text, langs from bsky.post('{post['uri']}')"),
            [{"did": alice.did, "handle": "alice.test", "text": "from a real PDS", "langs": ["en"]}],
        )

        subject = {"uri": post["uri"], "cid": post["cid"]}
        like = bob.create("app.bsky.feed.like", subject=subject, createdAt=now())
        self.wait_until(
            "the like", f"exists (select from bsky.likes_view where uri = '{like['uri']}' and subject_uri = '{post['uri']}')"
        )
        follow = bob.create("app.bsky.graph.follow", subject=alice.did, createdAt=now())
        self.wait_until("the follow", self.has(follow["uri"], follow["cid"]))

        bob.delete(like["uri"])
        self.wait_until("the like's end", f"not {self.has(like['uri'], like['cid'])}")
        alice.delete(post["uri"])
        self.wait_until("the post's end", f"not {self.has(post['uri'], post['cid'])}")
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)
        self.assertEqual(self.indexer_program.stop(), 0)

    def test_backfill_brings_what_accounts_hold(self):
        writer = Client(self.pds).sign_up("alice.test")
        reader = Client(self.pds).sign_up("bob.test")
        Client(self.pds).sign_up("carol.test")
        away = Client(self.pds).sign_up("dan.test")
        writer.create_many("app.bsky.feed.post", [f"number {number}" for number in range(450)])
        writer.put("app.bsky.actor.profile", "self", displayName="Writer")
        writer.put("app.bsky.actor.profile", "self", displayName="Writer of much")
        writer.put("test.margin.reading.note", "a.key:of_its-own~", text="no lexicon that Skua knows")
        posts = list(writer.records().items())
        for uri, cid in posts[:30]:
            reader.create("app.bsky.feed.like", subject={"uri": uri, "cid": cid}, createdAt=now())
        reader.create("app.bsky.graph.follow", subject=writer.did, createdAt=now())
        for uri, _ in posts[100:110]:
            writer.delete(uri)
        away.create("app.bsky.feed.post", text="not to be had any more", createdAt=now())
        away.call("com.atproto.server.deactivateAccount", {})

        self.db = self.database()
        self.skua(self.db, "backfill", "--host", self.pds, "--plc", self.plc, "--allow-private-hosts",
                  "--verify", "full", seconds=60)

        listed = list(writer.pages("com.atproto.sync.listRepos", "repos", limit=2))
        active = [repo["did"] for repo in listed if repo["active"]]
        self.assertEqual((len(listed), len(active)), (4, 3))
        repositories = {did: atproto.Repository(writer.get("com.atproto.sync.getRepo", did=did)) for did in active}
        self.assertEqual(comparison.path_differences(self.db, repositories), [])
        self.assertEqual(comparison.ColumnComparison(self.db, repositories).differences, [])
        for client in (writer, reader):
            rows = self.db.rows(f"select uri, cid from bsky.all_records where did = '{client.did}'")
            self.assertEqual({row["uri"]: row["cid"] for row in rows}, client.records())
        states = self.db.rows("select did, state from skua.backfill_jobs where state <> 'done' order by did")
        self.assertEqual([row for row in states if row["did"] in active], [])
        handles = self.db.rows("select handle_claim from bsky.actors join skua.repositories using (did) "
                               "where state = 'complete' order by 1")
        self.assertEqual([row["handle_claim"] for row in handles], ["alice.test", "bob.test", "carol.test"])
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)


if __name__ == "__main__":
    unittest.main()
