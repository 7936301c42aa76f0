"""Hostile accounts of a simulated network, and honest ones whose posts show the delay. Used by the stress suite and by
bench/hostile_bench.py."""

import http.client
import itertools
import json
import math
import threading
import time

import atproto

ATTACKS = ("values", "bytes", "small", "identities", "all")
HONEST = 30
HOSTILE = 50
PAUSE = 0.1  # between two honest posts

POST = "app.bsky.feed.post"
NSID = "com.example.hostile"
# The collection and the value of the hostile records of an attack, and their number in a second: the accounts write
# several megabytes a second, more than the network permits.
RECORDS = {
    "values": (POST, {"$type": POST, "text": "x", "createdAt": "2026-11-01T00:00:00Z", "values": [1] * 900_000}, 8),
    "bytes": (POST, {"$type": POST, "text": "x", "createdAt": "2026-11-01T00:00:00Z", "texts": ["x" * 9_000] * 100}, 8),
    "small": (NSID, {"$type": NSID, "values": [1] * 15_000}, 100),
}


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
    """Writes honest posts, and waits for the row of each."""

    def __init__(self, control, database, dids):
        super().__init__(daemon=True)
        self.control = Control(control)
        self.db = database
        self.dids = dids
        self.keys = Keys()
        self.written = {}  # when, by text
        self.lock = threading.Lock()
        self.delays = []  # (when written, seconds)
        self.ends = False

    def run(self):
        reader = threading.Thread(target=self.read, daemon=True)
        reader.start()
        number = 0
        while not self.ends:
            number += 1
            text = f"probe {number}"
            with self.lock:
                self.written[text] = time.monotonic()
            self.control.post("/record", did=self.dids[number % len(self.dids)], collection=POST,
                              rkey=self.keys.next(),
                              value={"$type": POST, "text": text, "createdAt": "2026-11-01T00:00:00Z"})
            time.sleep(PAUSE)
        reader.join()

    def read(self):
        while not self.ends or (self.written and time.monotonic() - self.ended_at < 120):
            with self.lock:
                waiting = list(self.written)
            if waiting:
                names = ", ".join(f"'{text}'" for text in waiting)
                found = self.db.rows(f"select text from bsky.posts where text in ({names})")
                now = time.monotonic()
                with self.lock:
                    for row in found:
                        began = self.written.pop(row["text"])
                        self.delays.append((began, now - began))
            time.sleep(0.02)

    def end(self):
        self.ended_at = time.monotonic()
        self.ends = True
        self.join()
        now = time.monotonic()
        # Posts without a row count with the time for which they were waited for.
        self.delays += [(began, now - began) for began in self.written.values()]


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
        collection, value, number = RECORDS[name]
        did = self.dids[ATTACKS.index(name)]
        request, rest = json.dumps({"collection": collection, "did": did})[1:-1], json.dumps(value)[1:]
        for _ in range(number):
            if time.monotonic() > began + 1:
                return
            rkey = self.keys.next()
            # No two records are equal: a repository with too many equal blocks is refused.
            self.control.send("/record", f'{{"rkey": "{rkey}", {request}, "value": {{"number": {self.count}, {rest}}}')
            if name == "values":
                self.unreadable.add((did, f"{collection}/{rkey}"))
            self.count += 1

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
