"""`skua inspect`: real frames, compared with the production Jetstream; real repositories; damaged files."""

import json
import unittest

import atproto
from harness import EndToEnd, need_shared
from made import Network

# Numbers of records in the README of the shared data; None: an error with a reason.
REPOSITORIES = {
    "hagoromo": 559, "little": 278, "paul_staging": 185, "php_car": 83, "tiny": 8, "rsky": 6,
    "arroba": 5, "greenground": 2, "empty": 0, "carv1-basic": None,
}


def comparable(event):
    """An event without the fields that depend on when it was served."""
    return {key: value for key, value in event.items() if key != "time_us"}


class InspectFrames(EndToEnd):
    def test_real_frames_are_what_jetstream_sent_for_them(self):
        data = need_shared() / "frames"
        program = self.skua(None, "inspect", "frames", data / "bsky-network-2026-07-04.frames")
        got = [json.loads(line) for line in program.stdout]
        lines = (data / "bsky-network-2026-07-04.expected.jsonl").read_text().splitlines()
        expected = [json.loads(line) for line in lines]
        self.assertEqual(len(expected), 92)
        key = lambda event: json.dumps(comparable(event), sort_keys=True)  # noqa: E731
        self.assertEqual(sorted(map(key, got)), sorted(map(key, expected)))
        for did in {event["did"] for event in expected}:
            mine = [comparable(event) for event in got if event["did"] == did]
            self.assertEqual(mine, [comparable(event) for event in expected if event["did"] == did])

    def test_it_goes_on_after_a_bad_frame_and_says_so_at_the_end(self):
        network = Network()
        person = network.account("inspected")
        person.post("first")
        network.frames.append(b"\xff\x00 no frame")
        person.post("second")
        capture = self.folder / "bad.capture"
        capture.write_bytes(network.capture() + b"\x10\x00\x00\x00torn")
        program = self.skua(None, "inspect", "frames", capture, code=1)
        texts = [
            event["commit"]["record"]["text"]
            for event in map(json.loads, program.stdout)
            if event["kind"] == "commit"
        ]
        self.assertEqual(texts, ["first", "second"])
        self.assertTrue(program.stderr)

    def test_a_file_that_is_not_there(self):
        program = self.skua(None, "inspect", "frames", self.folder / "nothing", code=2)
        self.assertIn("nothing", "\n".join(program.stderr))


def document(did, signing_key):
    return {
        "id": did,
        "verificationMethod": [{"id": did + "#atproto", "type": "Multikey", "controller": did,
                                "publicKeyMultibase": signing_key.removeprefix("did:key:")}],
        "service": [{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer",
                     "serviceEndpoint": "https://pds.test"}],
    }


class Verify(EndToEnd):
    """`--did-docs`: distinguishes signed commits of an account from others."""

    def simulate(self):
        """A capture of the simulated network, the folder of its repositories, and its DID documents."""
        capture, dump = self.folder / "network.frames", self.folder / "dump"
        sim = self.start([self.binary("skua-sim"), "--write-capture", capture, "--events", "600", "--accounts", "25",
                          "--records", "500", "--oddities", "0", "--dump", dump])
        self.assertEqual(sim.wait(120), 0, sim.tail())
        accounts = json.loads((dump / "accounts.json").read_text())
        return capture, dump, {a["did"]: document(a["did"], a["signing_key"]) for a in accounts}

    def documents(self, content):
        file = self.folder / "documents.json"
        file.write_text(json.dumps(content))
        return file

    def inspect(self, capture, documents, code=0):
        program = self.skua(None, "inspect", "frames", capture, "--did-docs", documents, code=code)
        lines = [json.loads(line) for line in program.stdout]
        return [line for line in lines if line["kind"] == "commit"], program.stderr[-1]

    def test_real_frames(self):
        data = need_shared() / "frames"
        lines, totals = self.inspect(data / "bsky-network-2026-07-04.frames", data / "did_docs.json.zst")
        self.assertEqual(len(lines), 92)
        self.assertTrue(all(line["verified"] is True for line in lines))
        self.assertEqual(totals, "90 verified (0 of them after a gap), 0 not")

    def test_what_is_no_news_is_not_bad(self):
        """The PDS sends a #sync of the same revision after some commits."""
        data = need_shared() / "pds"
        program = self.skua(None, "inspect", "frames", data / "frames.bin", "--did-docs", data / "did-docs.json")
        self.assertTrue(program.says(" 0 bad"), program.tail())
        self.assertEqual(program.stderr[-1], "10967 verified (0 of them after a gap), 103 not: old_rev 103")

    def test_a_simulated_network(self):
        capture, dump, documents = self.simulate()
        lines, totals = self.inspect(capture, self.documents(documents))
        self.assertTrue(lines and all(line["verified"] is True for line in lines))
        self.assertIn(", 0 not", totals)
        liar, other = lines[0]["did"], next(line["did"] for line in lines if line["did"] != lines[0]["did"])

        with self.subTest("a key that is another account's"):
            key = documents[other]["verificationMethod"][0]["publicKeyMultibase"]
            wrong = {**documents, liar: document(liar, key)}
            lines, totals = self.inspect(capture, self.documents(list(wrong.values())), code=1)
            for line in lines:
                self.assertEqual(line["verified"], line["did"] != liar)
                if line["did"] == liar:
                    self.assertEqual(line["reason"], "wrong_signature")
            self.assertRegex(totals, r"[1-9]\d* not: wrong_signature [1-9]")

        with self.subTest("an account without a document"):
            rest = {did: one for did, one in documents.items() if did != other}
            lines, totals = self.inspect(capture, self.documents(rest), code=1)
            self.assertEqual({line["did"] for line in lines if not line["verified"]}, {other})
            self.assertRegex(totals, r"not: no_did_document [1-9]")

        with self.subTest("commits left out"):
            frames = list(atproto.read_capture(capture.read_bytes()))
            mine = [i for i, frame in enumerate(frames) if atproto.decode_frame(frame)[1].get("repo") == liar]
            self.assertGreater(len(mine), 2)
            gap = self.folder / "gap.frames"
            gap.write_bytes(b"".join(len(frame).to_bytes(4, "little") + frame
                                     for i, frame in enumerate(frames) if i != mine[1]))
            _, totals = self.inspect(gap, self.documents(documents))
            self.assertIn("(1 of them after a gap), 0 not", totals)

        with self.subTest("repositories"):
            car = dump / f"{liar}.car"
            program = self.skua(None, "inspect", "repo", car, "--did-docs", self.documents(documents))
            self.assertTrue(program.says("verified: the commit is signed"), program.tail())
            program = self.skua(None, "inspect", "repo", car, "--did-docs", self.documents(wrong), code=1)
            self.assertTrue(program.says("not verified: "), program.tail())

    def test_a_file_that_holds_no_documents(self):
        network = Network()
        network.account("inspected").post("first")
        capture = self.folder / "capture.frames"
        capture.write_bytes(network.capture())
        program = self.skua(None, "inspect", "frames", capture, "--did-docs", capture, code=1)
        self.assertTrue(program.says("no DID document"), program.tail())


class InspectRepo(EndToEnd):
    def test_real_repositories(self):
        data = need_shared() / "repos"
        for file in sorted(data.glob("*.car")):
            name = next((name for name in REPOSITORIES if file.stem.startswith(name)), None)
            if name is None:
                continue
            with self.subTest(file.name):
                count = REPOSITORIES[name]
                if count is None:
                    program = self.skua(None, "inspect", "repo", file, code=1)
                    self.assertIn("the CAR is not a repository", "\n".join(program.stderr))
                    continue
                program = self.skua(None, "inspect", "repo", file)
                self.assertEqual(len(program.stdout), count)
                roots, blocks = atproto.read_car(file.read_bytes())
                commit = atproto.decode(blocks[roots[0]])
                expected = [f"{path}\t{cid.text()}" for path, cid in atproto.walk_mst(blocks, commit["data"])]
                self.assertEqual(program.stdout, expected)

    def test_malformed_files_give_an_error_and_no_crash(self):
        data = need_shared() / "malformed"
        for file in sorted(path for path in data.rglob("*") if path.is_file() and path.suffix == ".car"):
            with self.subTest(file.name):
                program = self.start([self.binary("skua"), "inspect", "repo", file])
                self.assertEqual(program.wait(60), 1, program.tail())
                self.assertTrue(program.stderr, "says why")


if __name__ == "__main__":
    unittest.main()
