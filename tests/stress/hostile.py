#!/usr/bin/env python3
"""hostile.py [--seed N] [--seeds K] [--seconds S] [--longest-delay S] [--jobs J] [--report FILE]

Indexes a simulated network in which hostile accounts attack every stage at once: records with 900,000 values, with 900 kB
and with 15,000 values, records that become dead letters, threadgates of posts with 1,000 mentions, and #identity messages
without end. Their commits have valid signatures. `skua serve` streams all changes to a client. In the end the records of
all accounts are compared with their repositories, all columns of the honest ones, and the projections with the records.

  --seed     the first seed (default 1)
  --seeds    the number of seeds, one after the other (default 1)
  --seconds  of the attack (default 60)
  --longest-delay  a seed fails if fewer than 99 of 100 honest posts have a row within so many seconds, or fewer than 99 of
             100 notifications, judged replies and events of /changes are there within twice the time (default: no limit,
             because the times depend on what else the machine does)
  --jobs     seeds that run at the same time (default 1)
  --report   a JSON file, as of stress.py

SKUA_BIN_DIR names the folder of skua and skua-sim. Each seed has its own PostgreSQL.

Example: tests/stress/hostile.py --seconds 60 --longest-delay 1
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

import atproto  # noqa: E402
import comparison  # noqa: E402
import projections  # noqa: E402
from changes import served_url  # noqa: E402
from harness import BIN, Database, Program, Sim, wait_for  # noqa: E402
from hostile_accounts import HONEST, HOSTILE, Attack, Control, Probe, quantile  # noqa: E402
from seeds import print_result, run_seeds  # noqa: E402
from stress import Cluster  # noqa: E402

ENVIRONMENT = {"SKUA_ALLOW_UNSAFE_DATABASE": "true", "SKUA_HTTP": "off"}


class Stress:
    def __init__(self, seed, seconds, longest_delay):
        self.seed, self.seconds, self.longest_delay = seed, seconds, longest_delay
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"skua-hostile-{seed}-"))
        self.folder.chmod(0o755)
        self.programs = []

    def run(self):
        """The differences; empty if everything is correct."""
        cluster = Cluster(self.folder)
        try:
            self.db = Database(cluster.url)
            subprocess.run([BIN / "skua", "migrate", "--database", cluster.url], check=True, stdout=subprocess.DEVNULL)
            projections.add(cluster.url)
            self.sim = self.start(Sim, [BIN / "skua-sim", "--seed", str(self.seed), "--accounts", "200", "--even", "--rate",
                                        "50", "--oddities", "0", "--one-op-a-path"])
            self.network = ["--plc", self.sim.ready["plc"], "--allow-private-hosts", "--handles", "claimed"]
            environment = {**ENVIRONMENT, "SKUA_DATABASE_URL": cluster.url}
            skua = self.start(Program, [BIN / "skua", "run", "--relay", self.sim.url, "--cursor", "oldest", *self.network, "--verify", "full",
                                        "--stats-interval", "1"], environment)
            serve = self.start(Program, [BIN / "skua", "serve", "--listen", "127.0.0.1:0"], environment)
            wait_for("the server of changes", lambda: served_url(serve), seconds=60, alive=[serve])
            delays, hostile = self.attack(skua, served_url(serve))
            if serve.stop() != 0:
                return [f"skua serve did not stop cleanly:\n{serve.tail()}"]
            differences = self.end(skua, hostile, environment)
            p99 = {kind: round(quantile(times, 0.99), 3) for kind, times in delays.items()}
            self.outcome = {"honest posts": len(delays["row"]), "p99": p99, "hostile messages": self.attacks}
            for kind, time_needed in p99.items():
                if self.longest_delay is not None and not time_needed <= self.longest_delay * (1 if kind == "row" else 2):
                    differences.append(f"99 of 100 honest posts had their {kind} within {time_needed:.2f} s only")
            return differences + projections.differences(cluster.url)
        finally:
            for program in self.programs:
                program.kill()
            cluster.pg("destroy")

    def start(self, kind, command, *arguments):
        program = kind(command, *arguments)
        self.programs.append(program)
        return program

    def attack(self, skua, served):
        """The delays of the honest posts during the attack, and the hostile accounts."""
        query = "select did from skua.repositories where rev is not null order by did"
        wait_for("the accounts", lambda: len(self.db.rows(query)) >= HONEST + HOSTILE, seconds=120, alive=[skua])
        dids = [row["did"] for row in self.db.rows(query)]
        probe = Probe(self.sim.ready["control"], self.db, dids[:HONEST], served)
        attack = Attack(self.sim.ready["control"], "all", dids[HONEST:HONEST + HOSTILE])
        probe.start()
        attack.start()
        time.sleep(self.seconds)
        attack.end()
        probe.end()
        self.attacks, self.unreadable = attack.count, attack.unreadable
        return {kind: [delay for _, delay in of_kind] for kind, of_kind in probe.delays.items()}, dids[HONEST:HONEST + HOSTILE]

    def end(self, skua, hostile, environment):
        """Ends the network, and compares."""
        control = Control(self.sim.ready["control"])
        control.post("/pause")
        last = control.post("/step", count=1)["seq"]
        control.post("/dump", dir=str(self.folder / "oracle"))
        wait_for("the last message", lambda: skua.reached(last), seconds=300, alive=[skua])
        if skua.stop() != 0:
            return [f"skua did not stop cleanly:\n{skua.tail()}"]
        # An account that has used up its share of resyncs waits for the next one.
        waiting = [row["did"] for row in self.db.rows("select did from skua.repositories where state = 'desynchronized'")]
        differences = [f"{did} is honest, and waits for a resync" for did in waiting if did not in hostile]
        if waiting:
            done = Program([BIN / "skua", "repo", "resync", *waiting, *self.network], environment)
            self.programs.append(done)
            if done.wait(300) != 0:
                differences.append(f"the hostile accounts could not be downloaded:\n{done.tail()}")
        repositories = {path.stem: atproto.Repository(path.read_bytes())
                        for path in (self.folder / "oracle").glob("*.car")}
        for did, path in self.unreadable:
            del repositories[did].records[path]
        honest = {did: repository for did, repository in repositories.items() if did not in hostile}
        return [*differences, *comparison.path_differences(self.db, repositories),
                *comparison.ColumnComparison(self.db, honest, honest).differences,
                *comparison.change_log_differences(self.db)]


def run_seed(seed, options):
    started = time.monotonic()
    stress = Stress(seed, options.seconds, options.longest_delay)
    stress.outcome = {}
    try:
        differences = stress.run()
    except Exception:  # A seed whose run fails is a finding, too.
        differences = [traceback.format_exc(), *(f"{program}:\n{program.tail()}" for program in stress.programs)]
    shutil.rmtree(stress.folder, ignore_errors=True)
    print_result(seed, started, differences, stress.outcome)
    return seed, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--longest-delay", type=float)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", type=pathlib.Path)
    return run_seeds("hostile", "seed", run_seed, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
