"""Hostile accounts of a simulated network, and honest ones whose posts show the delay. Used by the stress suite and by
bench/hostile_bench.py."""

import functools
import http.client
import itertools
import json
import math
import re
import threading
import time

import atproto
from changes import ChangeClient

ATTACKS = ("values", "bytes", "small", "letters", "gates", "identities", "all")
HONEST = 30
HOSTILE = 50
PAUSE = 0.1  # between two honest posts

POST = "app.bsky.feed.post"
GATE = "app.bsky.feed.threadgate"
NSID = "com.example.hostile"
CREATED = "2026-11-01T00:00:00Z"
CID = atproto.cid_text(atproto.cid_of(b"a record"))
NESTED = functools.reduce(lambda inner, _: [inner], range(200), [])  # deeper than a record may be
# The collection and the value of the hostile records of an attack, and their number in a second: the accounts write
# several megabytes a second, more than the network permits.
RECORDS = {
    "values": (POST, {"$type": POST, "text": "x", "createdAt": CREATED, "values": [1] * 900_000}, 8),
    "bytes": (POST, {"$type": POST, "text": "x", "createdAt": CREATED, "texts": ["x" * 9_000] * 100}, 8),
    "small": (NSID, {"$type": NSID, "values": [1] * 15_000}, 100),
    "letters": (POST, {"$type": POST, "text": "x", "createdAt": CREATED, "nested": NESTED}, 100),
}
UNREADABLE = ("values", "letters")
MENTIONS = [{"index": {"byteStart": 0, "byteEnd": 1}, "features": [
    {"$type": "app.bsky.richtext.facet#mention", "did": f"did:plc:{number:024}"}]} for number in range(1_000)]


def put(control, did, collection, rkey, **value):
    control.post("/record", did=did, collection=collection, rkey=rkey, value={"$type": collection, "createdAt": CREATED, **value})


class Control:
    """The control server of the simulated network. One thread."""

    def __init__(self, url):
        host, _, port = url.removeprefix("http://").rstrip("/").rpartition(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=120)

    def post(self, path, **body):
        return self.send(path, json.dumps(body))

    def send(self, path, body):
        self.connection.request("POST", path, body)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text[:200]}")
        return json.loads(text)


class Keys:
    """Record keys of the present, each newer than the last."""

    def __init__(self):
        self.last = 0

    def next(self):
        self.last = max(self.last + 1, int(time.time() * 1e6))
        return atproto.tid_text(self.last << 10)


class Probe(threading.Thread):
    """Writes honest posts with a reply each, and waits until each is visible: the post as a row and, with `serve`, as an
    event of /changes; every second reply as a notification, and the others, which a threadgate forbids, as broken rules."""

    # Sets of record keys that are visible.
    QUERIES = {
        "row": "select rkey from bsky.posts where rkey in ({})",
        "notification": "select rkey from bsky.notifications where rkey in ({})",
        "gate": "select rkey from bsky.post_rules where violates_threadgate and rkey in ({})",
    }

    def __init__(self, control, database, dids, serve=None):
        super().__init__(daemon=True)
        self.control = Control(control)
        self.db = database
        self.dids = dids
        self.serve = serve
        self.keys = Keys()
        self.waiting = {kind: {} for kind in (*self.QUERIES, *(["event"] if serve else []))}  # when written, by key
        self.lock = threading.Lock()
        self.delays = {kind: [] for kind in self.waiting}  # (when written, seconds)
        self.ends = False

    def run(self):
        readers = [threading.Thread(target=self.read, daemon=True)]
        if self.serve:
            client = ChangeClient(self.serve, "?cursor=live", timeout=300)
            client.receive()  # A heartbeat: changes from now on follow.
            threading.Thread(target=self.read_events, args=[client], daemon=True).start()
        for reader in readers:
            reader.start()
        for number in itertools.count():
            if self.ends:
                break
            self.write(self.dids[number % len(self.dids)], self.dids[(number + 1) % len(self.dids)], number % 2 == 0)
            time.sleep(PAUSE)
        for reader in readers:
            reader.join()

    def write(self, author, other, is_allowed):
        post = self.keys.next()
        self.put(author, POST, post, ["row", "event"], text="probe")
        subject = {"uri": f"at://{author}/{POST}/{post}", "cid": CID}
        if not is_allowed:
            self.put(author, GATE, post, [], post=subject["uri"], allow=[])
        self.put(other, POST, self.keys.next(), ["notification" if is_allowed else "gate"], text="reply",
                 reply={"root": subject, "parent": subject})

    def put(self, did, collection, rkey, kinds, **value):
        with self.lock:
            for kind in kinds:
                if kind in self.waiting:
                    self.waiting[kind][atproto.rkey_number(rkey)] = time.monotonic()
        put(self.control, did, collection, rkey, **value)

    def see(self, kind, rkey):
        with self.lock:
            began = self.waiting[kind].pop(rkey, None)
            if began is not None:
                self.delays[kind].append((began, time.monotonic() - began))

    def is_complete(self):
        return not any(self.waiting.values()) or time.monotonic() - self.ended_at > 120

    def read(self):
        while not self.ends or not self.is_complete():
            with self.lock:
                keys = {kind: list(self.waiting[kind]) for kind in self.QUERIES}
            parts = [f"select '{kind}' as kind, q.rkey from ({query.format(', '.join(map(str, keys[kind])))}) q"
                     for kind, query in self.QUERIES.items() if keys[kind]]
            for row in self.db.rows(" union all ".join(parts)) if parts else []:
                self.see(row["kind"], row["rkey"])
            time.sleep(0.02)

    def read_events(self, client):
        """Reads the key at the beginning of each line: a parser would need longer for the hostile records than
        `skua serve`."""
        for line in iter(client.response.readline, b""):
            found = re.search(rb'"rkey":"([2-7a-z]{13})"', line[:400])
            if found:
                self.see("event", atproto.rkey_number(found.group(1).decode()))

    def end(self):
        self.ended_at = time.monotonic()
        self.ends = True
        self.join()
        now = time.monotonic()
        # What is still not visible counts with the time for which it was waited for.
        for kind, keys in self.waiting.items():
            self.delays[kind] += [(began, now - began) for began in keys.values()]


class Attack(threading.Thread):
    """Hostile accounts: they write, or announce."""

    def __init__(self, control, name, dids):
        super().__init__(daemon=True)
        self.control = Control(control)
        self.name = name
        self.dids = dids
        self.keys = Keys()
        self.ends = False
        self.count = 0
        self.unreadable = set()  # (DID, path) of the records with too many values

    def a_second(self, name, began):
        """The messages of a second, or fewer if the network is slower."""
        if name == "identities":
            for did in self.dids:
                self.control.post("/identity", did=did, count=40)
                self.count += 40
            return
        if name == "gates":
            return self.gates(began)
        collection, value, number = RECORDS[name]
        did = self.dids[ATTACKS.index(name)]
        request, rest = json.dumps({"collection": collection, "did": did})[1:-1], json.dumps(value)[1:]
        for _ in range(number):
            if time.monotonic() > began + 1:
                return
            rkey = self.keys.next()
            # No two records are equal: a repository with too many equal blocks is refused.
            self.control.send("/record", f'{{"rkey": "{rkey}", {request}, "value": {{"number": {self.count}, {rest}}}')
            if name in UNREADABLE:
                self.unreadable.add((did, f"{collection}/{rkey}"))
            self.count += 1

    def gates(self, began):
        """Posts with thousands of mentions, whose threadgates permit replies of the mentioned accounts."""
        did, other = self.dids[-2:]
        for _ in range(20):
            if time.monotonic() > began + 1:
                return
            post = self.keys.next()
            uri = f"at://{did}/{POST}/{post}"
            put(self.control, did, POST, post, text=str(self.count), facets=MENTIONS)
            put(self.control, did, GATE, post, post=uri, allow=[{"$type": f"{GATE}#mentionRule"}])
            for _ in range(2):
                put(self.control, other, POST, self.keys.next(), text="x",
                    reply={kind: {"uri": uri, "cid": CID} for kind in ("root", "parent")})
            self.count += 4

    def run(self):
        names = ATTACKS[:-1] if self.name == "all" else (self.name,)
        for name in itertools.cycle(names):
            if self.ends:
                return
            began = time.monotonic()
            self.a_second(name, began)
            if len(names) == 1:
                time.sleep(max(0.0, began + 1 - time.monotonic()))

    def end(self):
        self.ends = True
        self.join()


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan
