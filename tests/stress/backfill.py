#!/usr/bin/env python3
"""backfill.py [--seed N] [--accounts N] [--records N] [--kills N] [--network] [--bootstrap] [--live RATE] [...]

`skua backfill` downloads a whole simulated network. Meanwhile its hosts refuse requests, cut and slow down answers,
and send damaged data, and skua is killed at named crash points and at random moments. In the end the database must
equal the network: it has exactly the records of all active accounts, compared by URI and CID, and --columns of them
also column by column. Every job is done, or unavailable if its host says so. There are no dead letters, and every
index of the schema exists with its original definition.

  --seed      the first seed (default 1); everything but the clock depends on it
  --seeds     the number of seeds, one after the other (default 1)
  --jobs      seeds that run at the same time (default 1)
  --accounts  the number of accounts (default 20)
  --records   the total number of records (default 5000); a few accounts have most of them
  --hosts     the number of PDSes (default 4)
  --steps     commits, including all odd ones, before the backfill starts (default 400)
  --kills     the number of kills of skua (default 3)
  --network   skua asks the relay for its hosts, and the hosts for their accounts, page by page; otherwise the test
              names all accounts
  --page      entries of a page of these lists (default 1)
  --bootstrap into an empty database: most indexes are built at the end. In most lives another session holds a lock
              that blocks the build of one of them, so that there is time for kills at the end
  --life      the average life of a skua process in seconds (default: spreads the kills over the work)
  --server    the number of PostgreSQL failures: of a backend, of all backends, or of its main process (default 0)
  --fault     KIND=SHARE, as skua-sim's --fault-rate, instead of the default ones; "none": no faults
  --live      events per second while the backfill runs; a second process, `skua run`, reads them and is killed too
              (default 0: no events and no second process)
  --seconds   the duration of those events (default 8)
  --columns   the number of records that are compared column by column (default 50000)
  --full-waits   wait after failures as skua does; otherwise waiting jobs become due at once
  --report    a JSON file: {"passed": N, "failed": [[name, difference], ...], "skipped": []}
  --keep      keep the folder of a failed seed, and print its path

SKUA_BIN_DIR names the folder of skua and skua-sim, SKUA_SIM another skua-sim. Each seed has its own PostgreSQL.

Examples:
  tests/stress/backfill.py --seeds 10
  tests/stress/backfill.py --accounts 60 --records 20000 --live 300 --server 2
  tests/stress/backfill.py --accounts 60 --network --bootstrap --kills 8
  tests/stress/backfill.py --accounts 1000 --records 2000000 --hosts 8 --kills 20 --full-waits
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

import comparison  # noqa: E402
import projections  # noqa: E402
import whole_network  # noqa: E402
from harness import BIN, SIM, Database, Program, wait_for  # noqa: E402
from seeds import run_seeds  # noqa: E402
from stress import Cluster  # noqa: E402

FAULTS = [
    "429:2=0.02", "429-bare=0.01", "429-status=0.3", "cut-download=0.03", "slow-download:4000000=0.02", "slow-download:150000=0.01",
    "missing-block=0.03", "bad-block=0.03",
]
# Incidents that happen to some accounts before the backfill starts.
INCIDENTS = ["deactivate", "suspend", "take_down", "leave_for_good", "move", "rotate_key", "take_handle"]
# The approximate number of passes through each crash point in the whole work: (per thousand records, per account).
CRASH_POINTS = {
    "before_bulk_commit": (0.3, 0), "after_bulk_commit": (0.3, 0), "before_stubs": (0.3, 0), "after_stubs": (0.3, 0),
    "after_post_stubs": (0.3, 0), "after_append": (0.3, 0.05), "before_finish_commit": (0, 0.05), "after_finish_commit": (0, 0.05),
    "after_floor_commit": (0.005, 0),
}
# The approximate number of passes through the crash points of lists, per page, and of a bootstrap.
PAGE_CRASH_POINTS = ["before_page_commit", "after_page_commit"]
BOOTSTRAP_CRASH_POINTS = {"before_drop_commit": 1, "after_drop_commit": 1, "before_index_commit": 8,
                          "after_index_commit": 8}
RUN_CRASH_POINTS = {"decoded": 500, "before_commit": 30, "after_commit": 30, "after_append": 30,
                    "before_fold_commit": 20, "after_fold_commit": 20, "before_cursor": 1, "after_cursor": 1}


class Network(Program):
    """A running skua-sim, its log in a file."""

    def __init__(self, options, seed, folder):
        self.log = folder / "sim.log"
        faults = [flag for fault in options.faults for flag in ("--fault-rate", fault)]
        # Connections before the start count too.
        events = int(options.live * options.seconds) + 10 * options.steps if options.live else 1
        super().__init__([
            SIM, "--seed", seed, "--accounts", options.accounts, "--records", options.records,
            "--records-spread", 2, "--hosts", options.hosts, "--page", options.page, "--rate", options.live or 1, "--events", events,
            "--one-op-a-path", "--log", self.log, *faults,
        ])
        self.ready = self.first_json(seconds=300)

    def control(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.ready["control"] + path, data, timeout=300) as answer:
            return json.load(answer)

    def dids(self):
        """All accounts that the relay knows."""
        cursor = ""
        while cursor is not None:
            url = f"{self.ready['relay']}/xrpc/com.atproto.sync.listRepos?limit=1000&cursor={cursor}"
            try:
                with urllib.request.urlopen(url, timeout=30) as answer:
                    page = json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise
                continue
            yield from (repo["did"] for repo in page["repos"])
            cursor = page.get("cursor")

    def figures(self):
        """Its requests so far, and the faults that it made."""
        found = collections.Counter()
        for line in self.log.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "fault":
                found[event["fault"]] += 1
            elif event["event"] == "request" and "sync.getRepo?" in event["target"]:
                found["downloads"] += event["status"] == 200
        return dict(found)


class Meter:
    """The highest memory use of all processes, in MB: in total, and without mapped files."""

    def __init__(self):
        self.peak = {"VmHWM": 0, "RssAnon": 0}
        self.program = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._ended.wait(0.1):
            for line in self._status():
                name, _, value = line.partition(":")
                if name in self.peak:
                    self.peak[name] = max(self.peak[name], int(value.split()[0]) // 1024)

    def _status(self):
        try:
            return pathlib.Path(f"/proc/{self.program.process.pid}/status").read_text().splitlines()
        except (AttributeError, OSError):
            return []

    def stop(self):
        self._ended.set()
        self._thread.join()


class Obstacle:
    """A session that blocks the build of a table's indexes while it lives."""

    def __init__(self, db, table):
        self.session = subprocess.Popen(["psql", "-XAtq", db.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        # The lock mode of a vacuum, so that rows can still be written.
        self.session.stdin.write(f"begin; set lock_timeout = '1s'; lock table {table} in share update exclusive "
                                 "mode;\n")
        self.session.stdin.flush()

    def end(self):
        self.session.kill()
        self.session.communicate()


class Backfill:
    INDEXES = ("select pg_get_indexdef(indexrelid) || case when indisvalid and indisready then '' else ', not valid' end "
               "from pg_index join pg_class on oid = indrelid where relnamespace in ('bsky'::regnamespace, "
               "'skua'::regnamespace) and pg_get_indexdef(indexrelid) !~ "
               "' ON skua.[a-z_]+_[0-9]+ '")

    def __init__(self, seed, options):
        self.seed, self.options = seed, options
        self.chance = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"skua-backfill-{seed}-"))
        self.folder.chmod(0o755)
        self.outcome = {}
        self.kills = collections.Counter()
        self.network = self.skua = self.live = None
        self.is_queued = False
        self.obstacle = None
        self.hurried_at = 0
        self.meter = Meter()

    def run(self):
        """The differences; empty if everything is correct."""
        self.cluster = Cluster(self.folder)
        try:
            self.db = Database(self.cluster.url)
            subprocess.run([BIN / "skua", "migrate", "--database", self.cluster.url], check=True,
                           stdout=subprocess.DEVNULL)
            projections.add(self.cluster.url)
            self.indexes = self.db.run(self.INDEXES).splitlines()
            self.start_network()
            started = time.monotonic()
            self.live_through_it()
            self.finish()
            self.outcome["seconds"] = round(time.monotonic() - started, 1)
            if self.options.live:
                self.catch_up()
            return self.differences()
        finally:
            self.meter.stop()
            for program in (self.skua, self.live, self.network):
                if program:
                    program.kill()
            if self.obstacle:
                self.obstacle.end()
            self.cluster.pg("destroy")

    def start_network(self):
        started = time.monotonic()
        self.network = Network(self.options, self.seed, self.folder)
        self.network.control("/pause", {})
        if self.options.steps:
            self.network.control("/step", {"count": self.options.steps})
            for incident in INCIDENTS:
                for _ in range(1 + self.options.accounts // 100):
                    self.network.control("/incident", {"kind": incident})
        self.outcome["network made in"] = round(time.monotonic() - started, 1)
        dids = list(self.network.dids())
        (self.folder / "dids").write_text("\n".join(dids))
        if self.options.live:
            self.start_live()
            self.network.control("/resume", {})

    # Processes

    def flags(self):
        ready = self.network.ready
        return ["--plc", ready["plc"], "--allow-private-hosts", "--stats-interval", "1"]

    def environment(self, crash_at):
        return {"SKUA_CRASH_AT": crash_at or "", "SKUA_DATABASE_URL": self.cluster.url,
                "SKUA_DNS": self.network.ready["dns"], "SKUA_ALLOW_UNSAFE_DATABASE": "true"}

    def request(self):
        """The arguments for a process that continues existing work, and for one that starts it."""
        if self.is_queued:
            return []
        what = (["--network", "--relay", self.network.ready["relay"]] if self.options.network
                else ["--file", self.folder / "dids"])
        # A backfill that has ended cannot start again.
        is_over = "select not exists (select from skua.dropped_indexes) and exists (select from bsky.all_records)"
        return [*what, "--bootstrap"] if self.options.bootstrap and not self.db.value(is_over) else what

    def start_backfill(self, *who, crash_at=None):
        self.skua = Program([BIN / "skua", "backfill", *who, *self.flags()], self.environment(crash_at))
        self.meter.program = self.skua

    def start_live(self, crash_at=None):
        saved = self.db.value("select max(cursor) from skua.cursors")
        begin = [] if saved else ["--cursor", "oldest"]
        self.live = Program([BIN / "skua", "run", "--relay", self.network.ready["url"], *self.flags(), *begin],
                            self.environment(crash_at))

    def tend(self):
        """Repeated actions while skua works."""
        if self.live and self.live.process.poll() is not None:
            code = self.live.wait()
            # Without a server it does not start.
            is_refused = code == 1 and self.live.says("connection to server") and not self.live.says("connected to")
            if code != -signal.SIGKILL and not is_refused:
                raise AssertionError(f"skua run ended by itself with {code}:\n{self.live.tail()}")
            self.kills["run refused" if is_refused else "run at a crash point"] += 1
            self.start_live()
        if not self.is_queued:
            self.is_queued = self.skua.says("repositories queued") or self.skua.says("repository queued") or self.skua.says("of repositories to read")
        if not self.options.full_waits and time.monotonic() - self.hurried_at > 0.5:
            self.hurried_at = time.monotonic()
            self.db.run("update skua.backfill_jobs set next_attempt = now() "
                        "where state = 'queued' and next_attempt > now(); "
                        "update skua.backfill_hosts set next_attempt = now() "
                        "where state in ('none', 'listing') and lease_owner is null and next_attempt > now()")

    # Lives

    def live_through_it(self):
        """Every life but the last ends with a kill, while there is work left."""
        options = self.options
        mean = options.life or max(0.4, options.records / 20_000 / (options.kills + 1))
        # The output of a process shortly before it ends.
        words = (["of repositories to read"] if options.network else []) + (["building"] if options.bootstrap else [])
        hits = sorted(self.chance.sample(range(options.kills), min(options.server, options.kills)))
        for number in range(options.kills):
            crash_at = self.crash_point() if self.chance.random() < 0.5 else None
            until = self.chance.choice([None, *words]) if not crash_at else None
            self.put_in_the_way()
            self.start_backfill(*self.request(), crash_at=crash_at)
            end = time.monotonic() + (4 * mean if crash_at or until else self.chance.uniform(0.1, 2 * mean))
            hit_at = time.monotonic() + self.chance.uniform(0, mean) if number in hits else None
            while time.monotonic() < end and self.skua.process.poll() is None:
                if hit_at and time.monotonic() > hit_at:
                    self.hit_server()
                    hit_at = None
                if until and self.skua.says(until):
                    # Most of the next actions are short.
                    end = time.monotonic() + mean * self.chance.random() ** 3
                    until = None
                self.tend()
                time.sleep(0.01)
            # Settle the killed process before the next one starts.
            was_killed = self.end_life()
            if was_killed:
                self.note_moment()
            self.is_queued = was_killed and self.is_queued
            if options.live and self.chance.random() < 0.5:
                self.end_live_life()

    def put_in_the_way(self):
        """Replaces the obstacle by another one, or by none."""
        if self.obstacle:
            self.obstacle.end()
        tables = self.db.run("select distinct relation from skua.dropped_indexes order by 1").split()
        self.obstacle = Obstacle(self.db, self.chance.choice(tables)) if tables and self.chance.random() < 0.7 else None

    def crash_point(self):
        options = self.options
        points = {name: a_thousand * options.records / 1000 + an_account * options.accounts
                  for name, (a_thousand, an_account) in CRASH_POINTS.items()}
        if options.network:
            pages = options.hosts / options.page + options.hosts + options.accounts / options.page
            points |= dict.fromkeys(PAGE_CRASH_POINTS, pages)
        if options.bootstrap:
            points |= BOOTSTRAP_CRASH_POINTS
        name = self.chance.choice(sorted(points))
        return f"{name}:{1 + int(self.chance.random() * points[name] / (options.kills + 1))}"

    def note_moment(self):
        """Counts kills while lists are read, and while indexes are built."""
        if self.db.value("select count(*) from skua.backfill_hosts where state <> 'listed'"):
            self.kills["lists unread"] += 1
        if self.skua.says("bootstrap: building"):
            self.kills["indexes under way"] += 1

    def end_life(self):
        """False: the process finished its work."""
        if self.skua.process.poll() is None:
            self.skua.kill()
            self.kills["kill"] += 1
            return True
        code = self.skua.wait()
        if code == -signal.SIGKILL:
            self.kills["crash point"] += 1
            return True
        if code not in (0, 1):
            raise AssertionError(f"skua backfill ended with {code}:\n{self.skua.tail()}")
        return False

    def end_live_life(self):
        self.live.kill()
        self.kills["run"] += 1
        crash_at = None
        if self.chance.random() < 0.5:
            name = self.chance.choice(sorted(RUN_CRASH_POINTS))
            crash_at = f"{name}:{1 + int(self.chance.random() * RUN_CRASH_POINTS[name])}"
        self.start_live(crash_at)

    def hit_server(self):
        how = self.chance.choice(["backend", "immediate", "main"])
        self.cluster.hit(how, 0, self.chance)
        self.cluster.wait_until_up()
        self.kills[f"postgres {how}"] += 1

    def finish(self):
        """A last process, which is not killed."""
        if self.obstacle:
            self.obstacle.end()
            self.obstacle = None
        self.work_to_the_end(*self.request())
        self.outcome["kills"] = dict(self.kills)

    def work_to_the_end(self, *who):
        self.start_backfill(*who)
        deadline = time.monotonic() + 1800
        while self.skua.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"skua backfill does not end:\n{self.skua.tail()}")
            self.tend()
            time.sleep(0.02)
        self.end_life()

    def catch_up(self):
        """The network stops acting, and skua run has read all its messages. Accounts that were unreachable when they
        were processed are requested again."""
        wait_for("the network to fall quiet", lambda: self.network.control("/state")["quiet"],
                 seconds=self.options.seconds * 3 + 60, alive=[self.network], every=0.2)
        self.live.kill()
        self.start_live()
        last = self.network.control("/state")["seq"]
        wait_for("the last commit", lambda: self.live.reached(last), seconds=120, alive=[self.live], every=0.2)
        # Gaps that it noticed are saved with its last cursor.
        if self.live.stop() != 0:
            raise AssertionError(f"skua run did not stop cleanly:\n{self.live.tail()}")
        self.live = None
        again = self.db.run("select did from skua.backfill_jobs where state <> 'done'").split()
        if self.options.network:
            # An account that moves while lists are read may be on none of them.
            known = self.db.run("select did from skua.backfill_jobs").split()
            again += sorted(set(self.network.dids()) - set(known))
        # A resync that a kill interrupted waits until its lease expires.
        again += self.db.run("select did from skua.repositories where state = 'desynchronized'").split()
        again = sorted(set(again))
        self.outcome["asked for again"] = len(again)
        if again:
            self.work_to_the_end(*again)

    # The end

    def differences(self):
        oracle = self.folder / "oracle"
        self.network.control("/dump", {"dir": str(oracle)})
        self.outcome.update(self.network.figures())
        self.outcome["peak MB"] = dict(self.meter.peak)
        compared = whole_network.Comparison(self.db, oracle, self.folder, bool(self.options.live),
                                            is_found=self.options.network)
        differences = compared.differences(self.options.columns, self.chance) + self.index_differences()
        differences += comparison.change_log_differences(self.db) + projections.differences(self.cluster.url)
        self.outcome.update(compared.figures)
        if self.outcome["seconds"]:
            self.outcome["records/s"] = int(self.outcome["records"] / self.outcome["seconds"])
        return differences


    def index_differences(self):
        """All indexes of the schema exist and are valid."""
        found = self.db.run(self.INDEXES).splitlines()
        differences = [f"missing: {line}" for line in self.indexes if line not in found]
        differences += [f"not of the schema: {line}" for line in found if line not in self.indexes]
        if self.db.value("select count(*) from skua.dropped_indexes"):
            differences.append("the bootstrap is still open")
        return differences


def run_seed(seed, options):
    started = time.monotonic()
    backfill = Backfill(seed, options)
    try:
        differences = backfill.run()
    except Exception:  # A seed whose run fails is a finding too.
        differences = [traceback.format_exc()]
        for program in (backfill.skua, backfill.live):
            if program:
                differences.append(f"{program}:\n{program.tail()}")
    if differences and options.keep:
        differences.append(f"kept: {backfill.folder}")
    else:
        shutil.rmtree(backfill.folder, ignore_errors=True)
    words = "equal" if not differences else f"{len(differences)} DIFFERENCES"
    print(f"backfill seed {seed}: {words}, {time.monotonic() - started:.0f} s, {json.dumps(backfill.outcome)}",
          flush=True)
    for line in differences[:20]:
        print(f"  {line[-1500:]}", flush=True)
    return seed, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in {"seed": 1, "seeds": 1, "jobs": 1, "accounts": 20, "records": 5000, "hosts": 4, "steps": 400,
                        "kills": 3, "server": 0, "columns": 50_000, "page": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    for name, usual in {"life": None, "live": 0, "seconds": 8}.items():
        parser.add_argument(f"--{name}", type=float, default=usual)
    parser.add_argument("--fault", dest="faults", action="append")
    for name in ("network", "bootstrap", "full-waits", "keep"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    if options.bootstrap and options.live:
        parser.error("--bootstrap: no source is read meanwhile, and --live reads one")
    options.faults = [fault for fault in options.faults or FAULTS if fault != "none"]
    return run_seeds("backfill", "backfill seed", run_seed, options)


if __name__ == "__main__":
    sys.exit(main())
