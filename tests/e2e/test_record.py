"""`skua record`: its output is a capture, and it does not append to an existing file by accident."""

import unittest

import atproto
from harness import BIN, EndToEnd, closed_port, wait_for
from made import busy_network


class Record(EndToEnd):
    def record(self, relay, file, *arguments):
        program = self.start([BIN / "skua", "record", relay, file, "--cursor", "oldest", "--frames", "5", *arguments])
        return program.wait(30), program

    def test_a_file_that_exists_is_refused(self):
        network, _ = busy_network(accounts=3, rounds=3)
        capture = self.folder / "served.frames"
        capture.write_bytes(network.capture())
        relay = self.sim(capture)
        file = self.folder / "recorded.frames"

        code, program = self.record(relay.url, file)
        self.assertEqual(code, 0, program.tail())
        first = file.read_bytes()
        self.assertEqual(first, atproto.write_capture(network.frames[:5]))

        code, program = self.record(relay.url, file)
        self.assertEqual(code, 2, program.tail())
        self.assertTrue(program.says("recorded.frames: the file exists; --append adds to it"), program.tail())
        self.assertEqual(file.read_bytes(), first)

        code, program = self.record(relay.url, file, "--append")
        self.assertEqual(code, 0, program.tail())
        self.assertEqual(file.read_bytes(), first + first)

        # A device is not a file with another recording.
        self.assertEqual(self.record(relay.url, "/dev/null")[0], 0)

    def test_a_recording_of_nothing_leaves_no_file(self):
        file = self.folder / "nothing.frames"
        existing = self.folder / "existing.frames"
        existing.write_bytes(atproto.write_capture([b"\xa0\xa0"]))
        before = existing.read_bytes(), existing.stat().st_mtime_ns
        nobody = f"ws://127.0.0.1:{closed_port()}"
        for target, said in ((file, f"there is no file {file}"), (existing, f"{existing} is unchanged")):
            program = self.start([BIN / "skua", "record", nobody, target, "--append"])
            wait_for("a failed connection", lambda: program.says("retrying"), alive=[program])
            self.assertEqual(program.stop(), 1, program.tail())
            self.assertTrue(program.says(f"skua record: no frame arrived: {said}"), program.tail())
        code, program = self.record("notaurl", file)
        self.assertEqual(code, 2, program.tail())
        self.assertFalse(file.exists())
        self.assertEqual((existing.read_bytes(), existing.stat().st_mtime_ns), before)
        # A file that can never be written is a failure at once.
        code, program = self.record(nobody, self.folder / "missing" / "file.frames")
        self.assertEqual(code, 1, program.tail())
        self.assertTrue(program.says("No such file or directory"), program.tail())


if __name__ == "__main__":
    unittest.main()
