"""Against Bluesky's own PDS on loopback: what an account does is in the tables within a second."""

import json
import sys
import time
import unittest
import urllib.request

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
        self.pds = program.first_json(seconds=60)["pds"]

    def within_a_second(self, what, query):
        """Waits for a query to give true; fails when that took more than a second."""
        started = time.monotonic()
        wait_for(what, lambda: self.db.value(query), seconds=10, every=0.02, alive=[self.indexer_program])
        seconds = time.monotonic() - started
        self.assertLess(seconds, 1.0, f"{what}: {seconds:.2f} s")

    def has(self, uri, cid):
        return f"exists (select from bsky.all_records where uri = '{uri}' and cid = '{cid}')"

    def test_rows_are_there_within_a_second(self):
        self.db = self.database()
        relay = self.pds.replace("http://", "ws://")
        self.indexer_program = self.indexer(self.db, relay, "--cursor", "oldest")
        wait_for("the connection", lambda: self.indexer_program.says("connected to"),
                 alive=[self.indexer_program])

        alice = Client(self.pds).sign_up("alice.test")
        self.within_a_second(
            "the account", f"exists (select from bsky.actors where did = '{alice.did}' and handle = 'alice.test' and active)"
        )
        bob = Client(self.pds).sign_up("bob.test")

        post = alice.create("app.bsky.feed.post", text="from a real PDS", langs=["en"], createdAt=now())
        self.within_a_second("the post", self.has(post["uri"], post["cid"]))
        self.assertEqual(
            self.db.rows(f"select did, handle, text, langs from bsky.post('{post['uri']}')"),
            [{"did": alice.did, "handle": "alice.test", "text": "from a real PDS", "langs": ["en"]}],
        )

        subject = {"uri": post["uri"], "cid": post["cid"]}
        like = bob.create("app.bsky.feed.like", subject=subject, createdAt=now())
        self.within_a_second(
            "the like", f"exists (select from bsky.likes_view where uri = '{like['uri']}' and subject_uri = '{post['uri']}')"
        )
        follow = bob.create("app.bsky.graph.follow", subject=alice.did, createdAt=now())
        self.within_a_second("the follow", self.has(follow["uri"], follow["cid"]))

        bob.delete(like["uri"])
        self.within_a_second("the like's end", f"not {self.has(like['uri'], like['cid'])}")
        alice.delete(post["uri"])
        self.within_a_second("the post's end", f"not {self.has(post['uri'], post['cid'])}")
        self.assertEqual(self.db.value("select count(*) from skua.dead_letter"), 0)
        self.assertEqual(self.indexer_program.stop(), 0)


if __name__ == "__main__":
    unittest.main()
