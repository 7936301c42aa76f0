"""Labels: skua-sim's labeler alone, and `skua run --labeler` with it."""

import random
import unittest

import atproto
import comparison
import ecdsa
from harness import wait_for
from test_sim import SimTest, Subscriber
from websocket import Closed, Websocket

STREAM = "/xrpc/com.atproto.label.subscribeLabels"
POST = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/3kabcdefghi22"
PAGE = "https://example.com/page?a=b"
STORED = """
    select labeler.did as src,
           case when label.subject_actor = 0 then bsky.rkey_text(0, 0, label.subject_rkey)
                when label.subject_collection = 0 then subject.did
                else 'at://' || subject.did || '/' || collection.nsid || '/' ||
                     bsky.rkey_text(label.subject_actor, label.subject_collection, label.subject_rkey) end as uri,
           label.val, label.neg, label.seq, bsky.cid_text(label.cid) as cid,
           (extract(epoch from label.cts) * 1000000)::int8 as cts,
           (extract(epoch from label.exp) * 1000000)::int8 as exp
    from bsky.labels label
    join bsky.actors labeler on labeler.id = label.actor_id
    left join bsky.actors subject on subject.id = label.subject_actor
    left join bsky.collections collection on collection.id = label.subject_collection"""


def microseconds(text):
    return None if text is None else atproto.datetime_microseconds(text)[0]


def labels_of(messages):
    return [label for _, body in messages for label in body["labels"]]


class LabelReader(Subscriber):
    """A websocket for a labeler's frames."""

    def __init__(self, url, cursor=None):
        Websocket.__init__(self, url, STREAM if cursor is None else f"{STREAM}?cursor={cursor}")


class LabelTest(SimTest):
    def labeled(self, *arguments, accounts=12, records=0):
        """A network with a labeler that only steps on demand."""
        return self.still("--labeler", "--one-op-a-path", "--oddities", 0, "--hosts", 2, *arguments,
                          accounts=accounts, records=records)

    def read(self, network, cursor=None):
        reader = LabelReader(network.ready["labeler"], cursor)
        self.addCleanup(reader.close)
        return reader

    def last_seq(self, network):
        return network.state()["labeler"]["seq"]

    def label_key(self, network):
        """The labeler's current key, from its document."""
        did = network.state()["labeler"]["did"]
        document = network.ask("plc", "/" + did).json()
        (method,) = [one for one in document["verificationMethod"] if one["id"] == did + "#atproto_label"]
        (service,) = [one for one in document["service"] if one["id"] == "#atproto_labeler"]
        self.assertEqual((method["type"], service["type"]), ("Multikey", "AtprotoLabeler"))
        self.assertEqual(service["serviceEndpoint"], network.ready["labeler"].replace("ws:", "http:"))
        return method["publicKeyMultibase"]

    def is_signed(self, key, label):
        rest = {name: value for name, value in label.items() if name != "sig"}
        return ecdsa.is_signed(key, atproto.encode(rest), label["sig"])

    def expected(self, network):
        """The current labels, by (src, uri, val)."""
        state = network.ask("control", "/labels").json()
        return {(label["src"], label["uri"], label["val"]): {
            **label, "cts": microseconds(label["cts"]), "exp": microseconds(label["exp"])}
            for label in state["labels"]}


class Wire(LabelTest):
    def test_replay_from_a_cursor_and_live(self):
        network = self.labeled()
        network.steps(600)
        last = self.last_seq(network)
        self.assertGreater(last, 20)
        everything = self.read(network, 0).until(last)
        self.assertEqual([body["seq"] for _, body in everything], list(range(1, last + 1)))
        self.assertEqual({(header["op"], header["t"]) for header, _ in everything}, {(1, "#labels")})
        rest = self.read(network, 7)
        self.assertEqual(rest.until(last), everything[7:])
        live = self.read(network)
        wait_for("the live reader", lambda: len(network.events("connect")) == 3)
        network.control("/label", uri=POST, val="spam")
        ((_, new),) = live.until(last + 1)
        self.assertEqual(([label["uri"] for label in new["labels"]], new["seq"]), ([POST], last + 1))
        self.assertEqual(rest.until(last + 1), [(everything[0][0], new)])

    def test_what_is_read_folds_to_what_holds(self):
        network = self.labeled()
        network.steps(900)
        messages = self.read(network, 0).until(self.last_seq(network))
        folded = {}
        for _, body in messages:
            for label in body["labels"]:
                folded[label["src"], label["uri"], label["val"]] = {
                    "src": label["src"], "uri": label["uri"], "val": label["val"], "neg": label.get("neg", False),
                    "cts": microseconds(label["cts"]), "exp": microseconds(label.get("exp")),
                    "cid": label.get("cid"), "seq": body["seq"]}
        self.assertEqual(folded, self.expected(network))
        self.assertIn(True, [label["neg"] for label in folded.values()])
        self.assertTrue(any(label["exp"] for label in folded.values()))
        self.assertTrue(any(len(body["labels"]) > 1 for _, body in messages))

    def test_signatures_are_those_of_the_key_of_their_time(self):
        network = self.labeled()
        rounds = []
        for _ in range(3):
            network.steps(100)
            self.assertTrue(network.control("/label", uri=POST, val="rude")["seq"])
            rounds.append((self.label_key(network), self.last_seq(network)))
            network.control("/labeler/rotate")
        reader, earlier = self.read(network, 0), []
        for key, last in rounds:
            labels = labels_of(reader.until(last))
            self.assertTrue(all(self.is_signed(key, label) for label in labels))
            self.assertFalse(any(self.is_signed(key, label) for label in earlier[-1:]))
            earlier = labels

    def test_a_new_key_is_announced(self):
        network = self.labeled()
        network.steps(50)
        before, seq = self.label_key(network), network.state()["seq"]
        rotated = network.control("/labeler/rotate")
        self.assertEqual(rotated["key"], "did:key:" + self.label_key(network))
        self.assertNotEqual(before, self.label_key(network))
        header, body = self.subscribe(network.url, seq).message()
        self.assertEqual((header["t"], body["did"]), ("#identity", rotated["did"]))
        newest = network.ask("plc", f"/{rotated['did']}/log/audit").json()[-1]["operation"]
        self.assertEqual(newest["verificationMethods"]["atproto_label"], rotated["key"])

    def test_future_cursor(self):
        network = self.labeled()
        network.steps(50)
        reader = self.read(network, self.last_seq(network) + 1)
        header, body = reader.message()
        self.assertEqual((header, body["error"]), ({"op": -1}, "FutureCursor"))
        self.assertRaises(Closed, reader.message)
        self.assertEqual(self.read(network, "x").status, 400)

    def test_labels_of_the_operator(self):
        network = self.labeled()
        cid = atproto.cid_of(b"a version").text()
        network.control("/label", uri=POST, val="spam", cid=cid, exp="2030-01-01T00:00:00Z",
                        cts="2026-01-01T00:00:00.5Z")
        network.control("/label", labels=[{"uri": POST, "val": "spam", "neg": True, "cts": "2025-01-01T00:00:00Z"},
                                          {"uri": "did:plc:" + "b" * 24, "val": "rude", "neg": False}])
        one, two = self.read(network, 0).until(2)
        (label,) = one[1]["labels"]
        self.assertEqual({**label, "sig": None}, {
            "ver": 1, "src": network.state()["labeler"]["did"], "uri": POST, "val": "spam", "cid": cid,
            "cts": "2026-01-01T00:00:00.5Z", "exp": "2030-01-01T00:00:00Z", "sig": None})
        self.assertEqual([label.get("neg") for label in two[1]["labels"]], [True, False])
        held = {key[2]: label for key, label in self.expected(network).items()}
        self.assertEqual((held["spam"]["seq"], held["spam"]["neg"]), (1, False))
        for body in ({}, {"uri": POST}, {"uri": "nowhere", "val": "spam"}, {"uri": POST, "val": "x" * 129},
                     {"uri": POST, "val": "spam", "cts": "yesterday"}, {"uri": POST, "val": "spam", "broken": "sig"}):
            self.assertEqual(network.ask("control", "/label", body).status, 400, body)

    def test_what_befalls_it(self):
        network = self.labeled()
        network.control("/label", uri=POST, val="spam")
        reader = self.read(network, 0)
        (first,) = reader.until(1)
        network.fault("label-repeat")
        self.assertEqual(reader.message(), first)
        network.control("/labeler", state="silent")
        network.control("/label", uri=POST, val="rude")
        self.assertFalse(reader.has_more(0.2))
        network.control("/labeler", state="up")
        self.assertEqual(reader.message()[1]["seq"], 2)
        network.fault("cut")
        network.control("/label", uri=POST, val="porn")
        self.assertRaises(Closed, reader.message)
        network.control("/labeler", state="down")
        self.assertEqual(self.read(network, 0).status, 503)
        network.control("/labeler", state="up")
        self.assertEqual(len(self.read(network, 0).until(3)), 4)  # one of them twice

    def test_without_a_labeler_there_is_none(self):
        network = self.still()
        self.assertNotIn("labeler", network.ready)
        self.assertEqual(network.ask("control", "/label", {"uri": POST, "val": "spam"}).status, 404)
        self.assertEqual(network.ask("control", "/fault", {"kind": "label-repeat"}).status, 409)


class Indexed(LabelTest):
    def begin(self, database, network, *arguments, relay=False):
        """A `skua run` of the labeler that checks signatures; with `relay`, it also reads the relay."""
        source = ["--labeler", network.ready["labeler"], *(["--relay", network.url] if relay else [])]
        return self.start([self.binary("skua"), "run", *source, *arguments], {
            **self.environment(database), "SKUA_VERIFY": "full", "SKUA_PLC_URL": network.ready["plc"],
            "SKUA_DNS": network.ready["dns"], "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_STATS_INTERVAL": "1"})

    def stored(self, database):
        return {(row["src"], row["uri"], row["val"]): row for row in database.rows(STORED)}

    def differences(self, database, network):
        expected, stored = self.expected(network), self.stored(database)
        return [f"{key}: stored {stored.get(key)}, said {expected.get(key)}"
                for key in sorted(expected.keys() | stored.keys()) if stored.get(key) != expected.get(key)]

    def wait_until(self, what, find, program):
        """Waits until `find` returns no differences."""
        found = []

        def is_equal():
            found[:] = find()
            return not found

        try:
            wait_for(what, is_equal, seconds=60, every=0.3, alive=[program])
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), f"{len(found)} differences:", *found[:5]])) from None

    def wait_until_equal(self, database, network, program):
        self.wait_until("equal labels", lambda: self.differences(database, network), program)

    def figures(self, database):
        return database.value("select metrics from skua.metrics where source like 'labeler:%'")

    def letters(self, database):
        # SOURCE SEQ DID/PLACE.
        return [row["error"] for row in database.rows(
            "select error from skua.dead_letter order by split_part(key, ' ', 2)::int8, id")]

    def asked(self, network):
        """The cursor of each connection to the labeler so far."""
        return [event["cursor"] for event in network.events("connect") if event["server"] == "labeler"]

    def repository_differences(self, database, network):
        folder = self.folder / "oracle"
        accounts = network.accounts(folder)
        repositories = {account["did"]: atproto.Repository((folder / f"{account['did']}.car").read_bytes())
                        for account in accounts if account["announced_status"] != "deleted"}
        return comparison.path_differences(database, repositories)

    def test_beside_a_relay_with_kills_and_cuts(self):
        network = self.labeled(accounts=20)
        database = self.database()
        network.steps(300)
        chance = random.Random(3)
        for number in range(4):
            skua = self.begin(database, network, *(["--cursor", "oldest"] if number == 0 else []), relay=True)
            network.steps(200)
            goal = chance.randrange(1, len(self.expected(network)))
            wait_for("some labels", lambda goal=goal: len(self.stored(database)) >= goal, seconds=60, alive=[skua])
            network.fault("cut", count=2)
            network.fault("label-repeat")
            network.steps(100)
            if number == 0:
                # A later start has a stored cursor for the relay and needs no option for it.
                wait_for("a cursor", lambda: database.value("select count(*) from skua.cursors") >= 2, seconds=30,
                         alive=[skua])
            if number < 3:
                skua.kill()
        self.wait_until_equal(database, network, skua)
        self.wait_until("equal records", lambda: self.repository_differences(database, network), skua)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertGreaterEqual(network.state()["faults"]["cut"], 4)
        self.assertEqual(self.letters(database), [])
        self.assertEqual(self.differences(database, network), [])
        self.assertGreater(len(self.stored(database)), 60)

    def test_alone_and_a_restart_goes_on(self):
        network = self.labeled()
        network.steps(400)
        database = self.database()
        skua = self.begin(database, network)
        self.wait_until_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())
        read = self.last_seq(network)
        network.steps(400)
        skua = self.begin(database, network)
        self.wait_until_equal(database, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual([int(cursor) for cursor in self.asked(network)], [0, read])
        new = labels_of(self.read(network, read).until(self.last_seq(network)))
        figures = self.figures(database)
        self.assertEqual((figures["labels"], figures["verified"]), (len(new), len(new)))
        self.assertTrue(figures["is_verified"])
        self.assertEqual(self.letters(database), [])
        self.assertEqual(database.value("select count(*) from bsky.likes"), 0)

    def test_a_withdrawn_label_stays_so(self):
        network = self.labeled()
        database = self.database()
        skua = self.begin(database, network)
        network.control("/label", uri=POST, val="spam", cts="2026-01-01T00:00:00Z")
        network.control("/label", uri=POST, val="rude", exp="2026-01-01T00:00:01Z", cts="2026-01-01T00:00:00Z")
        network.control("/label", uri=POST, val="porn")
        self.wait_until_equal(database, network, skua)
        shown = "select coalesce(json_agg(val order by val), '[]') from bsky.labels_view"
        self.assertEqual(database.value(shown), ["porn", "spam"])
        network.control("/label", uri=POST, val="spam", neg=True, cts="2026-01-02T00:00:00Z")
        # Older than the withdrawal, although it arrives later.
        network.control("/label", uri=POST, val="spam", cts="2026-01-01T12:00:00Z")
        network.control("/label", uri=POST, val="last")
        self.wait_until_equal(database, network, skua)
        self.assertEqual(database.value(shown), ["last", "porn"])
        network.control("/label", uri=POST, val="spam", cts="2026-01-03T00:00:00Z")
        self.wait_until_equal(database, network, skua)
        self.assertEqual(database.value(shown), ["last", "porn", "spam"])
        # The subject may be any URI.
        network.control("/label", uri=PAGE, val="page")
        network.control("/label", uri=PAGE, val="gone")
        network.control("/label", uri=PAGE, val="gone", neg=True)
        self.wait_until_equal(database, network, skua)
        self.assertEqual(database.rows(f"select subject_uri, subject_did, val from bsky.labels_of('{PAGE}')"),
                         [{"subject_uri": PAGE, "subject_did": None, "val": "page"}])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(self.letters(database), [])

    def test_broken_labels_become_dead_letters(self):
        reasons = {
            "signature": "signature", "no-signature": "signature", "ver": "ver", "src": "#atproto_label", "uri": "uri",
            "cid": "cid", "val": "val", "cts": "cts", "exp": "exp"}
        network = self.labeled()
        database = self.database()
        network.steps(200)
        skua = self.begin(database, network)
        for kind in reasons:
            network.control("/label", labels=[{"uri": POST, "val": f"before-{kind}"},
                                              {"uri": POST, "val": f"at-{kind}", "broken": kind},
                                              {"uri": POST, "val": f"after-{kind}"}])
        network.steps(200)
        self.wait_until_equal(database, network, skua)
        wait_for("the dead letters", lambda: len(self.letters(database)) >= len(reasons), alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        letters = self.letters(database)
        self.assertEqual(len(letters), len(reasons), letters)
        for (kind, word), letter in zip(reasons.items(), letters):
            self.assertIn(word, letter, kind)
        self.assertEqual(database.value("select count(*) from skua.dead_letter where payload is null"), 0)
        self.assertEqual(self.figures(database)["dropped"], {"wrong_signature": 2, "no_did_document": 1})
        stored = {key[2] for key in self.stored(database)}
        self.assertEqual({val for val in stored if val.startswith("at-")}, set())

    def test_signatures_that_are_not_checked(self):
        network = self.labeled()
        database = self.database()
        skua = self.begin(database, network, "--verify", "none")
        network.control("/label", labels=[{"uri": POST, "val": "wrong", "broken": "signature"},
                                          {"uri": POST, "val": "right"}])
        wait_for("both", lambda: {key[2] for key in self.stored(database)} == {"wrong", "right"}, alive=[skua])
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(self.letters(database), [])

    def test_new_keys(self):
        network = self.labeled()
        database = self.database()
        # A labeler's keys are requested at most every ten seconds: each process sees one change.
        for is_live in (True, False):
            skua = self.begin(database, network) if is_live else None
            network.steps(60)
            if is_live:
                self.wait_until_equal(database, network, skua)
            network.control("/labeler/rotate")
            network.steps(60)
            network.control("/label", uri=POST, val="spam")
            skua = skua or self.begin(database, network)
            self.wait_until_equal(database, network, skua)
            self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(self.letters(database), [])
        # A process that starts now finds labels of every key.
        network.control("/label", uri=POST, val="spam")
        other = self.database()
        skua = self.begin(other, network)
        self.wait_until_equal(other, network, skua)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(self.letters(other), [])
        self.assertGreater(self.figures(other)["former_keys"], 0)


if __name__ == "__main__":
    unittest.main()
