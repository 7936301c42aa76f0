"""`skua consumers`, and the projections that it adds."""

import os
import unittest

import atproto
import count_items
import items
import projections
import recount
from harness import SHARED, EndToEnd, free_port, need_shared, wait_for
from simulated_capture import SimulatedCapture
from test_replay import repositories


class Commands(EndToEnd):
    def setUp(self):
        self.db = self.database()

    def consumers(self, *arguments, code=0):
        return "\n".join(self.skua(self.db, "consumers", *arguments, code=code).output())

    def test_a_projection_is_added_watched_paused_rebuilt_and_removed(self):
        self.assertIn("no consumers: `skua consumers add` adds one", self.consumers("list"))
        self.consumers("add", "post_stats", "--lanes", "2", "--set", "batch=100")
        self.assertRegex(self.consumers("list"), r"post_stats +not served")
        self.assertIn("1 projection built", self.consumers("run-until-idle"))
        # Its state is that no process continues the work; its content is complete.
        self.assertRegex(self.consumers("list"), r"post_stats +not served +up to date")
        status = self.consumers("status", "post_stats")
        self.assertIn('policy pause, profile default', status)
        self.assertIn('batch=100 (set), pause_ms=400', status)
        self.assertIn("lane 1: next position 1", status)
        self.assertIn("has reached position 1", self.consumers("wait", "post_stats"))

        self.consumers("pause", "post_stats")
        self.assertIn("paused", self.consumers("list"))
        self.consumers("resume", "post_stats")
        self.consumers("rebuild", "post_stats")
        self.assertIn("1 projection built", self.consumers("run-until-idle"))
        self.assertIn("post_stats equals the records", self.consumers("verify", "post_stats"))
        self.consumers("remove", "post_stats")
        self.assertIn("no consumers", self.consumers("list"))

    def test_what_is_not_possible_is_refused(self):
        for arguments, code, text in (
            (("add", "likes"), 2, "there is no projection 'likes': choose actor_stats, notifications"),
            (("add", "notifications", "--lanes", "2"), 2, "notifications has one lane"),
            (("add", "post_stats", "--set", "speed=9"), 2, "--set speed=9: give KEY=NUMBER"),
            (("add", "post_stats", "--set", "batch=0"), 2, "batch"),
            (("add", "post_stats", "--policy", "ignore"), 2, "policy"),
            (("status", "post_stats"), 1, "there is no consumer 'post_stats'"),
            (("reset", "post_stats"), 1, "there is no consumer 'post_stats'"),
            (("wait", "post_stats"), 1, "there is no consumer 'post_stats'"),
        ):
            with self.subTest(arguments=arguments):
                program = self.skua(self.db, "consumers", *arguments, code=code)
                self.assertTrue(program.says(text), program.tail())
        self.consumers("add", "post_stats")
        program = self.skua(self.db, "consumers", "wait", "post_stats", "--timeout", "1s", code=1)
        self.assertTrue(program.says("has not reached position 1 within 1s"), program.tail())
        program = self.skua(self.db, "consumers", "reset", "post_stats", "--skip", "7", code=1)
        self.assertTrue(program.says("no change at position 7 stopped the consumer 'post_stats'"), program.tail())
        program = self.skua(self.db, "consumers", "reset", "post_stats", code=1)
        self.assertTrue(program.says("the consumer 'post_stats' is not stopped"), program.tail())


class Recounts(EndToEnd):
    def capture(self):
        """The file and the repositories at its end: of a real PDS, or without ../shared of the simulated network."""
        if (SHARED / "data").is_dir():
            data = need_shared()
            return data / "pds/frames.bin", repositories(data)
        simulated = SimulatedCapture(self, events=6000, accounts=60)
        return simulated.frames, simulated.repositories

    def assert_recount(self, database, expected):
        """The tables equal a recount from the blocks of the repositories."""
        records = items.Records(database, recount.Recount(expected))
        comparison = items.ItemComparison(database, records, count_items.TABLES)
        self.assertEqual(comparison.differences, [])
        self.assertGreater(comparison.compared["post_stats"], 100)

    def test_counts_and_notifications_equal_a_recount_of_the_repositories(self):
        file, expected = self.capture()
        followed, built = self.database(), self.database()
        projections.add(followed.url)
        self.skua(followed, "consumers", "run-until-idle")
        self.skua(followed, "replay", file)
        self.assertEqual(projections.differences(followed.url), [])
        self.assert_recount(followed, expected)

        self.skua(built, "replay", file)
        projections.add(built.url)
        self.assertEqual(projections.differences(built.url), [])
        self.assert_recount(built, expected)
        self.assertRegex("\n".join(self.skua(built, "status").output()), r"skua\.post_stats_\d+ ")

    def test_two_killed_processes_share_the_lanes(self):
        """`skua run` and a second process that only applies changes. Both are killed at crash points."""
        simulated = SimulatedCapture(self, events=4000, accounts=40)
        database = self.database()
        projections.add(database.url, "--set", "batch=50", "--profile", "low_latency")
        relay = self.sim(simulated.frames, "--port", str(free_port()), "--rate", "2000")
        environment = self.environment(database)

        def start(crash_at=""):
            command = [self.binary("skua"), "run", "--relay", relay.url, "--cursor", "oldest", "--stats-interval", "1"]
            return self.start(command, {**environment, "SKUA_CRASH_AT": crash_at})

        kills = 30 if os.environ.get("SKUA_LONG") == "1" else 6
        points = ("before_build_commit:1", "after_build_commit:1", "before_exchange_commit:1", "before_fold_commit:3",
                  "after_fold_commit:3", "after_append:2")
        for number in range(kills):
            program = start(points[number % len(points)])
            helper = self.start([self.binary("skua"), "consumers", "run-until-idle"], environment)
            # A point that this life does not pass: then it is killed from outside.
            wait_for("a crash or work", lambda: program.process.poll() is not None or self.is_applied(database),
                     seconds=60)
            program.kill()
            helper.wait(60)
        program = start()
        frames = list(atproto.read_capture(simulated.frames.read_bytes()))
        last = max(atproto.decode_frame(frame)[1]["seq"] for frame in frames)
        wait_for("the last frame", lambda: program.reached(last), seconds=60, alive=[program])
        self.assertEqual(program.stop(), 0)
        self.assertEqual(projections.differences(database.url), [])
        self.assert_recount(database, simulated.repositories)

    @staticmethod
    def is_applied(database):
        """All built projections have all changes."""
        return database.value("select count(*) > 0 and coalesce(bool_and(pos = skua.change_log_end()), false) "
                              "from skua.consumer_lanes") and database.value("select skua.change_log_end() > 2000")


if __name__ == "__main__":
    unittest.main()
