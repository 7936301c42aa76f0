"""The output of a program: a failed write changes the exit code; --quiet, NO_COLOR, counts."""

import os
import pty
import select
import subprocess
import unittest

from harness import BIN, EndToEnd, closed_port, wait_for
from made import Network, busy_network


class Output(EndToEnd):
    def capture(self, network=None):
        path = self.folder / "some.frames"
        path.write_bytes((network or busy_network(accounts=5, rounds=20)[0]).capture())
        return path

    def run_to(self, stdout, *arguments, database=None, program="skua"):
        """The exit code and stderr of a program whose stdout is a file."""
        done = subprocess.run(
            [BIN / program, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
            env={**os.environ, **self.environment(database)}, text=True, timeout=120, check=False,
        )
        return done.returncode, done.stderr

    def test_a_write_that_fails_is_a_failure(self):
        database = self.database()
        capture = self.capture()
        for arguments in (
            ["status"], ["status", "--json"], ["--help"], ["run", "--help"], ["help", "run"], ["--version"],
            ["version"], ["migrate"], ["inspect", "frames", capture], ["replay", capture], ["filter", "show"],
            ["backfill", "status"], ["backfill"], ["completion", "bash"],
        ):
            with self.subTest(arguments), open("/dev/full", "w", encoding="ascii") as full:
                code, errors = self.run_to(full, *arguments, database=database)
                self.assertEqual(code, 1, errors)
                self.assertIn("skua: cannot write to stdout", errors)
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertEqual(self.run_to(full, "--help", program="skua-sim")[0], 1)

    def test_a_failure_that_cannot_be_printed_is_not_a_crash(self):
        """Neither stdout nor stderr can be written: the exit code is all that a program can say."""
        database = self.database()
        capture = self.capture()
        unreachable = ["--database", "postgresql://127.0.0.1:1/x"]
        for program, arguments, expected in (
            ("skua", ["status"], 1), ("skua", ["--help"], 1), ("skua", ["status", *unreachable], 1),
            ("skua", ["status", *unreachable, "--log-format", "json"], 1), ("skua", ["no-such-command"], 2),
            ("skua", ["replay", capture, "--log-level", "trace"], 1), ("skua", ["inspect", "frames", capture], 1),
            ("skua", ["repo", "info", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"], 1), ("skua-sim", ["--help"], 1),
            ("skua-sim", ["--serve", "/nothing"], 1), ("skua-sim", ["--no-such-option"], 2),
        ):
            with self.subTest(arguments), open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run(
                    [BIN / program, *arguments], stdin=subprocess.DEVNULL, stdout=full, stderr=full, timeout=120,
                    env={**os.environ, **self.environment(database)}, check=False)
                self.assertEqual(done.returncode, expected)

    def test_an_indexer_whose_log_nobody_reads_stops_in_order(self):
        """Like `skua run 2>&1 | head -n 3`."""
        database = self.database()
        relay = self.sim(self.capture())
        reader, writer = os.pipe()
        skua = subprocess.Popen(
            [BIN / "skua", "run", "--relay", relay.url, "--cursor", "oldest", "--stats-interval", "1", "--http", "off",
             "--log-level", "debug"],
            stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, env={**os.environ, **self.environment(database)})
        os.close(writer)
        self.addCleanup(skua.kill)
        os.read(reader, 100)
        os.close(reader)
        self.assertEqual(skua.wait(60), 1)

    def test_a_reader_that_leaves_ends_the_program(self):
        """Like `skua inspect frames FILE | head -n 1`."""
        capture = self.capture()
        # Much more than the capacity of a pipe.
        capture.write_bytes(capture.read_bytes() * 200)
        done = subprocess.run(
            ["bash", "-c", f"'{BIN}/skua' inspect frames '{capture}' | head -n 1; echo ${{PIPESTATUS[0]}}"],
            capture_output=True, text=True, timeout=60, check=False,
        )
        line, code = done.stdout.splitlines()
        self.assertTrue(line.startswith("{"), line)
        # 128 + SIGPIPE, like other programs in a pipe.
        self.assertEqual(code, "141", done.stderr)
        self.assertEqual(done.stderr, "")

    def test_an_indexer_whose_output_nobody_reads_stops_in_order(self):
        database = self.database()
        relay = self.sim(self.capture())
        reader, writer = os.pipe()
        skua = subprocess.Popen(
            [BIN / "skua", "run", "--relay", relay.url, "--cursor", "oldest", "--stats-interval", "1", "--http", "off"],
            stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **self.environment(database)},
        )
        os.close(writer)
        self.addCleanup(skua.kill)
        self.assertIn(b"indexing", os.read(reader, 1000))
        wait_for("its rows", lambda: database.value("select count(*) from bsky.posts") > 0)
        os.close(reader)
        _, errors = skua.communicate(timeout=60)
        self.assertEqual(skua.returncode, 1, errors)
        self.assertIn("skua: cannot write to stdout", errors)
        # In order: the cursor was saved before.
        self.assertGreater(database.value("select cursor from skua.cursors"), 0)

    def test_quiet_prints_the_result_alone(self):
        database = self.database()
        network = Network()
        network.account("lonely").post("one")
        capture = self.capture(network)
        relay = self.sim(capture)
        loud = self.start([BIN / "skua", "run", "--relay", relay.url, "--stats-interval", "1"],
                          self.environment(database))
        wait_for("a line of figures", lambda: loud.says("events/s"), alive=[loud])
        self.assertEqual(loud.stop(), 0)
        self.assertTrue(loud.says("indexing "))

        # A database without rows, so that the first row shows that this process handles signals.
        database = self.database()
        quiet = self.start([BIN / "skua", "run", "--relay", relay.url, "--stats-interval", "1", "--cursor", "oldest",
                            "-q"], self.environment(database))
        wait_for("its rows", lambda: database.value("select count(*) from bsky.posts") == 1, alive=[quiet])
        self.assertEqual(quiet.stop(), 0)
        self.assertEqual(len(quiet.output()), 1, quiet.output())
        self.assertTrue(quiet.stdout[0].startswith("stopped cleanly: "), quiet.output())

        recording = self.folder / "quiet.frames"
        recorder = self.start([BIN / "skua", "--quiet", "record", relay.url, recording, "--cursor", "oldest",
                               "--frames", "1"])
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(len(recorder.output()), 1, recorder.output())
        self.assertRegex(recorder.stdout[0], r"^recorded 1 frame, \d+ bytes$")
        done = self.start([BIN / "skua", "-q", "status", "--database", "postgresql://127.0.0.1:1/x"])
        self.assertEqual(done.wait(), 1)
        self.assertTrue(done.stderr, "an error is not left out")

    def test_colours_only_where_they_are_wanted(self):
        """A warning on a terminal, from an indexer that cannot reach its database."""
        def warning(**environment):
            terminal, end = pty.openpty()
            program = subprocess.Popen(
                [BIN / "skua", "run", "--relay", f"ws://127.0.0.1:{closed_port()}", "--verify", "none",
                 "--database", "postgresql://127.0.0.1:1/x"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end,
                env={**os.environ, "TERM": "xterm-256color", **environment},
            )
            os.close(end)
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)
            text = b""
            while b"the database is down" not in text or not text.endswith(b"\n"):
                self.assertTrue(select.select([terminal], [], [], 30)[0], text)
                text += os.read(terminal, 4096)
            os.close(terminal)
            return text

        self.assertIn(b"\x1b[", warning(NO_COLOR=""))
        self.assertNotIn(b"\x1b[", warning(NO_COLOR="1"))

    def test_one_is_singular(self):
        database = self.database()
        network = Network()
        network.account("lonely").post("one")
        capture = self.capture(network)
        replay = self.skua(database, "replay", capture)
        self.assertTrue(replay.says("replayed: 3 frames, 3 events, "), replay.tail())
        self.assertTrue(replay.says("0 dead letters"), replay.tail())
        single = self.folder / "single.frames"
        network.frames = network.frames[:1]
        single.write_bytes(network.capture())
        self.assertTrue(self.skua(database, "replay", single).says("replayed: 1 frame, 1 event, "))
        inspected = self.skua(None, "inspect", "frames", single)
        self.assertTrue(inspected.says("1 frame, 0 commits, 1 event, 0 syncs"), inspected.tail())
        did = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
        database.run(f"insert into skua.backfill_jobs (did, state, created_at, next_attempt) values "
                     f"('{did}', 'queued', now(), now())")
        self.assertTrue(self.skua(database, "backfill", "status").says("  1 repository: 1 queued"))
        self.assertTrue(self.skua(database, "backfill", "cancel", did).says("1 repository cancelled"))


if __name__ == "__main__":
    unittest.main()
