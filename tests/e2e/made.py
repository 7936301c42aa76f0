"""Generates a small network: accounts whose commits become real subscribeRepos frames.

Every frame has the whole tree and the new record blocks, with correct hashes; signatures are blank.
"""

import datetime

import atproto

START = datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)
BAD_UTF8 = atproto.Raw(b"\xa2\x64text\x62\xff\xfe\x65$type\x72app.bsky.feed.post")


class Network:
    def __init__(self):
        self.seq = 0
        self.frames = []

    def time(self):
        moment = START + datetime.timedelta(milliseconds=self.seq)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def send(self, kind, **fields):
        self.seq += 1
        body = {"seq": self.seq, "time": self.time(), **fields}
        self.frames.append(atproto.encode_frame(kind, body))
        return self.seq

    def account(self, name):
        return Account(self, name)

    def capture(self):
        return atproto.write_capture(self.frames)


class Account:
    def __init__(self, network, name):
        self.network = network
        encoded = atproto.base64.b32encode(atproto.hashlib.sha256(name.encode()).digest()).decode().lower()
        self.did = "did:plc:" + encoded[:24]
        self.records = {}
        # All blocks since the beginning, and the newest commit.
        self.blocks, self.head = {}, None
        self.rev = None
        self.data = None
        network.send("#identity", did=self.did, handle=f"{name}.test")
        network.send("#account", did=self.did, active=True)

    def tid(self):
        """A record key of this moment, different for each frame."""
        micros = int(START.timestamp() * 1_000_000) + (self.network.seq + 1) * 1000
        return atproto.tid_text(micros << 10)

    def commit(self, *ops):
        """One #commit of (path, record or None); returns the paths' CIDs. A record may be `Raw` bytes."""
        new_blocks, op_list, cids = {}, [], []
        for path, record in ops:
            previous = self.records.get(path)
            if record is None:
                action, cid = "delete", None
                del self.records[path]
            else:
                action = "update" if previous else "create"
                block = atproto.encode(record)
                cid = atproto.cid_of(block)
                new_blocks[cid] = block
                self.records[path] = cid
            entry = {"action": action, "path": path, "cid": cid}
            if previous:
                entry["prev"] = previous
            op_list.append(entry)
            cids.append(cid)
        root, nodes = atproto.build_mst(self.records)
        rev = self.tid()
        commit = {"did": self.did, "version": 3, "data": root, "rev": rev, "prev": None, "sig": bytes(64)}
        block = atproto.encode(commit)
        commit_cid = atproto.cid_of(block)
        fields = {
            "repo": self.did, "rev": rev, "since": self.rev, "commit": commit_cid,
            "blocks": atproto.write_car(commit_cid, {commit_cid: block, **nodes, **new_blocks}),
            "ops": op_list, "blobs": [], "rebase": False, "tooBig": False,
        }
        if self.data is not None:
            fields["prevData"] = self.data
        self.network.send("#commit", **fields)
        self.rev, self.data, self.head = rev, root, commit_cid
        self.blocks.update({commit_cid: block, **nodes, **new_blocks})
        return cids

    def car(self):
        """The whole repository."""
        return atproto.write_car(self.head, self.blocks)

    def put(self, collection, record, rkey=None):
        """One commit of one record; (uri, cid in text)."""
        rkey = rkey or self.tid()
        (cid,) = self.commit((f"{collection}/{rkey}", {"$type": collection, **record}))
        return f"at://{self.did}/{collection}/{rkey}", cid.text()

    def post(self, text, **fields):
        fields.setdefault("createdAt", self.network.time())
        return self.put("app.bsky.feed.post", {"text": text, **fields})

    def like(self, uri, cid):
        subject = {"uri": uri, "cid": cid}
        return self.put("app.bsky.feed.like", {"subject": subject, "createdAt": self.network.time()})

    def delete(self, uri):
        self.commit((uri.split("/", 3)[3], None))


def busy_network(accounts=20, rounds=60):
    """Accounts that post and like each other, so that every lane has work: 3 records per round for each."""
    network = Network()
    people = [network.account(f"person{number}") for number in range(accounts)]
    latest = [person.post("the first post") for person in people]
    for turn in range(rounds):
        for index, person in enumerate(people):
            neighbour = latest[(index + 1 + turn) % accounts]
            like, _ = person.like(*neighbour)
            if len(person.records) > 30:
                person.delete(like)
            latest[index] = person.post(f"post {turn} of person {index}")
            if turn == 0:
                following = people[(index + 1) % accounts].did
                created = network.time()
                person.put("app.bsky.graph.follow", {"subject": following, "createdAt": created})
    return network, people
