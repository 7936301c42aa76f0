"""`skua inspect`: real frames as the production Jetstream shows them, real repositories, damaged files."""

import json
import unittest

import atproto
from harness import EndToEnd, need_shared
from made import Network

# Records, as the shared data's README counts them; None: an error that says why.
REPOSITORIES = {
    "hagoromo": 559, "little": 278, "paul_staging": 185, "php_car": 83, "tiny": 8, "rsky": 6,
    "arroba": 5, "greenground": 2, "empty": 0, "carv1-basic": None,
}


def comparable(event):
    """An event without what belongs to the moment of its serving."""
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
        program = self.skua(None, "inspect", "frames", self.folder / "nothing", code=1)
        self.assertIn("nothing", "\n".join(program.stderr))


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
                    self.assertIn("root", "\n".join(program.stderr))
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
