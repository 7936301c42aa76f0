#!/usr/bin/env python3
"""own_projections.py [--seed N] [--seeds N] [--kills N] [--rate FRAMES/S] [--jobs J] [--report FILE]

The example projections of docs/projections.md over live traffic, each with one lane and with four. A relay sends the
shared captures, a capture of the simulated network and random records, mixed into one stream. `skua run` and `skua
consumers run` apply the changes together. Both are killed (SIGKILL) again and again, at named crash points and at random
moments. Meanwhile projections are rebuilt, and their files get new versions with other results.

In the end the tables of each projection equal a count over the JSON of the records that the frames leave, `skua
consumers verify` agrees, and no change became a dead letter of a consumer.

  --seed     the first seed (default 1)
  --seeds    the number of seeds, one after the other (default 1)
  --kills    the number of kills of each seed, half of them of each process (default 30)
  --rate     frames per second (default 400); the stream has enough frames for all kills
  --jobs     seeds that run at the same time (default 1)
  --report   a JSON file, as of stress.py

SKUA_BIN_DIR names the folder of skua and skua-sim. Each seed has its own PostgreSQL.

Example: tests/stress/own_projections.py --kills 30
"""

import argparse
import collections
import datetime
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

import atproto  # noqa: E402
import comparison  # noqa: E402
import recount  # noqa: E402
from capture_state import CaptureState  # noqa: E402
from harness import BIN, SIM, Database, Program, Sim, need_shared, wait_for  # noqa: E402
from items import Records  # noqa: E402
from random_network import RandomNetwork  # noqa: E402
from seeds import print_result, run_seeds  # noqa: E402
from stress import Cluster  # noqa: E402
from test_own_projections import examples  # noqa: E402

SHARED = ("pds/frames.bin", "frames/jetstream-simulator.frames", "frames/bsky-network-2026-07-04.frames")
BUILD_POINTS = ("before_build_commit", "after_build_commit", "before_exchange_commit", "after_exchange_commit")
FOLD_POINTS = ("before_fold_commit", "after_fold_commit")
WRITER_POINTS = ("before_commit", "after_commit", "after_append", "after_stubs", "after_post_stubs")
# The part of each example that differs between versions.
VARIANTS = {
    "lang_days": ("AT TIME ZONE 'UTC')::date AS day, l.lang", "AT TIME ZONE 'UTC')::date + {} AS day, l.lang"),
    "follow_days": ("(VALUES (f.actor_id, 1, 0)", "(VALUES (f.actor_id, {}, 0)"),
    "engagement": ("THEN 1 ELSE 3 END", "THEN 1 ELSE {} END"),
}
SHOWN = {
    "lang_days": "select day::text, lang, posts from projections.{}",
    "follow_days": "select a.did, day::text, follows, followers from projections.{} join bsky.actors a on a.id = account",
    "engagement": "select a.did, likes, reposts, score from projections.{} join bsky.actors a on a.id = author",
}


class Expected:
    """The rows of the examples by their JSON. Each is a function of the number of the version."""

    def __init__(self, records):
        self.records = records

    def day(self, uri, later=0):
        seconds = self.records.sort_at(uri) // 1_000_000
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds, days=later)
        return moment.date().isoformat()

    def lang_days(self, version):
        counts = collections.Counter()
        for uri, record in self.records.all(recount.POST):
            counts.update((self.day(uri, version), lang) for lang in set(record.get("langs") or []))
        return {(*key, posts) for key, posts in counts.items()}

    def follow_days(self, version):
        counts = collections.defaultdict(lambda: [0, 0])
        for uri, record in self.records.all(recount.FOLLOW):
            counts[recount.author(uri), self.day(uri)][0] += version
            counts[record["subject"], self.day(uri)][1] += 1
        return {(*key, *numbers) for key, numbers in counts.items()}

    def engagement(self, version):
        counts = collections.defaultdict(lambda: [0, 0])
        for place, collection in enumerate((recount.LIKE, recount.REPOST)):
            for _, record in self.records.all(collection):
                post = recount.target(record["subject"], recount.POST)
                if post:
                    counts[recount.author(post)][place] += 1
        return {(author, likes, reposts, likes + version * reposts) for author, (likes, reposts) in counts.items()}


class OwnProjection:
    """A copy of an example under a name of its own."""

    def __init__(self, example, text, lanes):
        self.example, self.lanes = example, lanes
        suffix = f"_of_{lanes}_lanes"
        self.name = example + suffix
        self.version = 1
        tables = re.findall(r"^-- (?:internal )?table: (\w+)$", text, re.MULTILINE)
        for name in {example, *tables}:
            text = re.sub(rf"\b{name}\b", name + suffix, text)
        for line in ("-- version: 1\n", "-- lanes: several\n"):
            text = text.replace(line, "")
        self.text = re.sub(r"^(-- projection: \w+)\n", r"\1\n-- lanes: several\n-- version: {version}\n", text)

    def file(self):
        before, after = VARIANTS[self.example]
        text = self.text.replace("{version}", str(self.version)).replace(before, after.format(self.version))
        assert after.format(self.version) in text, self.example
        return text


class Victim:
    """A process that is killed again and again. `life` is how the present one ends: (crash point or None, the time of a
    kill)."""

    def __init__(self, name, start, points, chance):
        self.name, self.start, self.points, self.chance = name, start, points, chance
        self.program = None
        self.kills = collections.Counter()

    def begin(self, is_mortal):
        point = self.chance.choice(self.points) if is_mortal and self.chance.random() < 0.6 else None
        passes = 1 if point in BUILD_POINTS else self.chance.randint(1, 40)
        self.point = point
        # A crash point that the process does not reach becomes a random moment.
        self.end = time.monotonic() + (self.chance.uniform(2, 5) if point else self.chance.uniform(0.5, 2.5))
        self.program = self.start(f"{point}:{passes}" if point else "")

    def has_died(self):
        """Kills the process if it is time. Whether it has ended."""
        if self.program.process.poll() is not None:
            code = self.program.wait()
            if code != -signal.SIGKILL or not self.point:
                raise AssertionError(f"{self.name} ended by itself with {code}:\n{self.program.tail()}")
            self.kills[self.point] += 1
            return True
        if time.monotonic() < self.end:
            return False
        self.program.kill()
        self.kills["a random moment"] += 1
        return True


class Stress:
    def __init__(self, seed, options):
        self.seed, self.options = seed, options
        self.chance = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"skua-own-projections-{seed}-"))
        self.folder.chmod(0o755)
        self.outcome = collections.Counter()
        self.programs = []
        self.cursor = 0

    # The stream

    def captures(self):
        """The frames of each capture."""
        try:
            data = need_shared()
            contents = [(data / name).read_bytes() for name in SHARED]
        except unittest.SkipTest as reason:
            print(f"without the shared captures: {reason}", flush=True)
            contents = []
        simulated = self.folder / "simulated"
        subprocess.run([SIM, "--write-capture", simulated, "--seed", str(self.seed), "--events", "6000", "--accounts", "60",
                        "--oddities", "0", "--one-op-a-path"], check=True, stdout=subprocess.DEVNULL)
        contents.append(simulated.read_bytes())
        return [*map(atproto.read_capture, contents), RandomNetwork(self.seed, actions=1500).frames]

    def stream(self):
        """The frames of all captures, mixed: each capture keeps its order. They are renumbered. Of small tests only a part."""
        parts = [[*frames][::-1] for frames in self.captures()]
        # A kill and the next start take a second or two, and two processes are killed at the same time.
        most = max(1500, int(self.options.kills * 1.5 * self.options.rate))
        frames = []
        while any(parts) and len(frames) < most:
            (part,) = self.chance.choices(parts, [len(part) for part in parts])
            kind, body = atproto.decode_frame(part.pop())
            frames.append(atproto.encode_frame(kind["t"], {**body, "seq": len(frames) + 1}))
        self.last = len(frames)
        self.outcome["frames"] = self.last
        return atproto.write_capture(frames)

    # The programs

    def start(self, kind, command, *arguments):
        program = kind(command, *arguments)
        self.programs.append(program)
        return program

    def environment(self, crash_at=""):
        return {"SKUA_DATABASE_URL": self.cluster.url, "SKUA_ALLOW_UNSAFE_DATABASE": "true", "SKUA_VERIFY": "none",
                "SKUA_CRASH_AT": crash_at}

    def start_run(self, crash_at=""):
        # The last cursor in a line of metrics: all earlier frames are durable.
        return self.start(Program, [BIN / "skua", "run", "--relay", self.relay.url, "--cursor", self.shown_cursor() or "oldest",
                                    "--stats-interval", "1"], self.environment(crash_at))

    def start_consumers(self, crash_at=""):
        return self.start(Program, [BIN / "skua", "consumers", "run"], self.environment(crash_at))

    def shown_cursor(self):
        for program in self.programs:
            self.cursor = max([self.cursor, *(int(number) for line in program.output()
                                              for number in re.findall(r"cursor (\d+)\b", line))])
        return self.cursor

    def skua(self, *arguments):
        """(exit code, output) of a command."""
        done = self.start(Program, [BIN / "skua", *arguments], self.environment())
        code = done.wait(300)
        return code, "\n".join(done.output())

    def command(self, *arguments):
        code, text = self.skua(*arguments)
        assert code == 0, f"skua {' '.join(map(str, arguments))}: {code}\n{text}"

    def store(self, projection):
        path = self.folder / f"{projection.name}.sql"
        path.write_text(projection.file())
        self.command("projection", "add", path)

    # The run

    def run(self):
        """The differences; empty if everything is correct."""
        self.cluster = Cluster(self.folder)
        try:
            self.db = Database(self.cluster.url)
            self.command("migrate")
            self.projections = [OwnProjection(name, text, lanes) for name, text in examples().items() for lanes in (1, 4)]
            for projection in self.projections:
                self.store(projection)
                self.command("consumers", "add", projection.name, "--lanes", str(projection.lanes), "--set", "pause_ms=20",
                             "--set", "batch=200")
            capture = self.folder / "stream"
            capture.write_bytes(self.stream())
            self.relay = self.start(Sim, [SIM, "--serve", capture, "--rate", str(self.options.rate)])
            run, consumers = self.live_through_it()
            wait_for("the last frame", lambda: run.reached(self.last), seconds=300, alive=[run, consumers])
            for program in (run, consumers):
                assert program.stop() == 0, f"{program} did not stop cleanly:\n{program.tail()}"
            return self.differences(capture.read_bytes())
        finally:
            for program in self.programs:
                program.kill()
            self.cluster.pg("destroy")

    def live_through_it(self):
        """The processes after the last kill."""
        victims = [Victim("skua run", self.start_run, (*WRITER_POINTS, *FOLD_POINTS, *BUILD_POINTS), self.chance),
                   Victim("skua consumers run", self.start_consumers, (*FOLD_POINTS, *FOLD_POINTS, *BUILD_POINTS), self.chance)]
        most = self.options.kills // 2
        for victim in victims:
            victim.begin(most > 0)
        next_change = 0
        while any(victim.kills.total() < most for victim in victims):
            for victim in victims:
                if victim.kills.total() < most and victim.has_died():
                    self.outcome["kills during traffic"] += not self.relay.events("caught_up")
                    victim.begin(victim.kills.total() < most)
            if time.monotonic() > next_change:
                self.change()
                next_change = time.monotonic() + self.chance.uniform(0.3, 1.5)
            time.sleep(0.02)
        for victim in victims:
            self.outcome[victim.name] = dict(victim.kills)
        return [victim.program for victim in victims]

    def change(self):
        """A rebuild, or a new version of a file."""
        projection = self.chance.choice(self.projections)
        if self.chance.random() < 0.5:
            self.command("consumers", "rebuild", projection.name)
            self.outcome["rebuilds"] += 1
        else:
            projection.version += 1
            self.store(projection)
            self.outcome["new versions"] += 1

    # The end

    def differences(self, capture):
        code, text = self.skua("consumers", "run-until-idle")
        if code != 0:
            return [f"run-until-idle: {text}"]
        state = CaptureState(capture)
        expected = Expected(Records(self.db, recount.Recount(state.repositories), state.statuses, state.deleted_posts))
        differences = comparison.path_differences(self.db, state.repositories) + comparison.change_log_differences(self.db)
        for projection in self.projections:
            differences += self.differences_of(projection, expected)
        listed = json.loads(self.skua("consumers", "list", "--json")[1])
        self.outcome["consumers"] = len(listed)
        differences += [f"{one['name']}: {one['state']}: {one['reason']}" for one in listed if one["state"] not in ("running", "not served")]
        letters = self.db.rows("select consumer, error from skua.dead_letter")
        differences += [f"a dead letter of {letter['consumer']}: {letter['error']}" for letter in letters]
        during = self.outcome["kills during traffic"]
        if during < self.options.kills // 2 * 2:
            differences.append(f"{during} kills only were during the traffic")
        return differences

    def differences_of(self, projection, expected):
        rows = {tuple(row.values()) for row in self.db.rows(SHOWN[projection.example].format(projection.name))}
        wanted = getattr(expected, projection.example)(projection.version)
        self.outcome["rows"] += len(rows & wanted)
        differences = [f"{projection.name}: only the records have {row}" for row in wanted - rows]
        differences += [f"{projection.name}: only the tables have {row}" for row in rows - wanted]
        if len(wanted) < 2:
            differences.append(f"{projection.name}: the records have {len(wanted)} rows")
        code, text = self.skua("consumers", "verify", projection.name)
        return differences + ([f"verify {projection.name}: {text}"] if code else [])


def run_seed(seed, options):
    started = time.monotonic()
    stress = Stress(seed, options)
    try:
        differences = stress.run()
    except Exception:  # A seed whose run fails is a finding, too.
        differences = [traceback.format_exc(), *(f"{program}:\n{program.tail()}" for program in stress.programs[-4:])]
    shutil.rmtree(stress.folder, ignore_errors=True)
    print_result(seed, started, differences, stress.outcome)
    return seed, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in {"seed": 1, "seeds": 1, "kills": 30, "rate": 400, "jobs": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--report", type=pathlib.Path)
    return run_seeds("own_projections", "seed", run_seed, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
