#!/usr/bin/env python3
"""stress.py [--seed N] [--seeds K] [--seconds S] [--rate EVENTS/S] [--jobs J] [--report FILE]

Indexes a simulated network under many faults. The relay drops connections, stalls, sends damaged and repeated frames
and resets its sequence numbers. skua, PostgreSQL's backends and PostgreSQL itself are killed at named crash points and
at random moments. Some seeds have more faults (trouble.py): skua's clock jumps, its processes get the same number, the
network to PostgreSQL stops responding, an older copy of the database takes over, handles are stolen, or the host of a
busy account never answers. In the end the database must equal the network in every record, every column and every
account's state, and have no dead letters except the provoked ones.

  --seed     the first seed (default 1); everything but the clock depends on it
  --seeds    the number of seeds, one after the other (default 1)
  --seconds  of traffic for each seed (default 60)
  --rate     record operations per second (default 400)
  --jobs     seeds that run at the same time (default 1)
  --report   a JSON file: {"passed": N, "failed": [[name, difference], ...], "skipped": []}
  --keep     keep the folder of a failed seed, and print its path

SKUA_BIN_DIR names the folder of skua and skua-sim, SKUA_SIM another skua-sim. Each seed has its own PostgreSQL.

Example: tests/stress/stress.py --seeds 30 --seconds 60
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

import atproto  # noqa: E402
import comparison  # noqa: E402
import projections  # noqa: E402
from database_proxy import DatabaseProxy  # noqa: E402
from harness import BIN, SIM, Database, Program, Sim, wait_for  # noqa: E402
from process_numbers import SecondProcess, need_namespaces  # noqa: E402
from seeds import print_result, run_seeds  # noqa: E402
from shifted_clock import set_shift, shifted_environment  # noqa: E402
from standby import Copy  # noqa: E402
from trouble import DEAD_LETTERS, FIRST_SEQ, Trouble  # noqa: E402


# The budget for frames that wait for the host of an account: libs/ingest/pipeline/parked_budget.hpp.
MOST_PARKED = 2 << 20


@functools.cache
def can_shift_clock():
    """Whether skua runs under libfaketime, which does not work with an address sanitizer."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            environment = shifted_environment(pathlib.Path(folder) / "shift", "+0")
        except unittest.SkipTest:
            return False
        done = subprocess.run([BIN / "skua", "--version"], env={**os.environ, **environment}, check=False,
                              capture_output=True, timeout=60)
        return done.returncode == 0


@functools.cache
def has_namespaces():
    try:
        need_namespaces()
    except unittest.SkipTest:
        return False
    return True


class Cluster:
    """A PostgreSQL for failures. `fsync` is off, because killing processes does not lose data of the kernel's
    memory."""

    def __init__(self, folder):
        self.folder = folder / "pg"
        self.start()
        self.url = self.pg("url").strip()
        self.tcp_url = self.pg("url", "--tcp").strip()
        self.copy = None

    def start(self):
        self.pg("--unsafe", "start")

    def pg(self, *arguments):
        done = subprocess.run([ROOT / "scripts/pg", "--dir", self.folder, *arguments], text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"scripts/pg {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def main_pid(self):
        return int((self.folder / "data/postmaster.pid").read_text().split()[0])

    def hit(self, how, seconds, chance):
        if how == "copy":
            self.wait_until_up()
            self.copy = Copy(self)
        elif how == "fail-over":
            self.pg("stop", "immediate")
            self.copy.take_the_place()
            time.sleep(seconds)  # It accepts connections for a while before it is a primary.
            self.copy.promote()
        elif how == "immediate":
            self.pg("stop", "immediate")
            self.start()
        elif how == "main":
            # Its children notice and end, as after the kernel's out-of-memory killer.
            everyone = [self.main_pid(), *self.backends()]
            os.kill(everyone[0], signal.SIGKILL)
            wait_for("the server's processes to end", lambda: not any(is_alive(pid) for pid in everyone))
            # If no process reaps orphans, its process number still appears to be alive.
            (self.folder / "data/postmaster.pid").unlink(missing_ok=True)
            for lock in (self.folder / "socket").glob(".s.*.lock"):
                lock.unlink()
            self.start()
        else:
            of_skua = [pid for pid in self.backends() if b"skua" in command_line(pid)]
            if of_skua:
                os.kill(chance.choice(of_skua), signal.SIGKILL)

    def backends(self):
        main = str(self.main_pid())
        return [int(entry.name) for entry in pathlib.Path("/proc").iterdir()
                if entry.name.isdigit() and parent_of(entry) == main]

    def wait_until_up(self):
        def answers():
            try:
                return Database(self.url).value("select 1")
            except AssertionError:
                return None
        wait_for("the server", answers, seconds=60)


def parent_of(entry):
    try:
        return (entry / "stat").read_text().rpartition(")")[2].split()[1]
    except OSError:
        return None


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_alive(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Stress:
    def __init__(self, seed, seconds, rate):
        self.seed, self.seconds, self.rate = seed, seconds, rate
        self.trouble = Trouble(seed, seconds)
        self.sim = None
        self.skua = None
        self.chance = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"skua-stress-{seed}-"))
        self.folder.chmod(0o755)
        self.outcome = collections.Counter()
        # Without verification the features that are older than verification must still work.
        self.is_verified = seed % 4 != 0
        # Without verification no hosts are queried.
        self.silent_account = self.trouble.silent_account if self.is_verified else None
        self.has_wrong_clocks = self.trouble.has_wrong_clocks and can_shift_clock()
        self.has_same_number = self.trouble.has_same_number and has_namespaces()

    def run(self):
        """The differences; empty if everything is correct."""
        self.cluster = Cluster(self.folder)
        self.proxy = None
        try:
            self.db = Database(self.cluster.url)
            self.skua_url = self.cluster.url
            if self.trouble.has_failing_network:
                self.proxy = DatabaseProxy(self.cluster.tcp_url)
                self.skua_url = self.proxy.url
            subprocess.run([BIN / "skua", "migrate", "--database", self.cluster.url], check=True,
                           stdout=subprocess.DEVNULL)
            projections.add(self.cluster.url)
            self.start_network()
            self.live_through_it()
            self.catch_up()
            return self.differences()
        finally:
            for program in (self.skua, self.sim):
                if program:
                    program.kill()
            if self.proxy:
                self.proxy.close()
            self.cluster.pg("destroy")

    def start_network(self):
        faults = [flag for rate in self.trouble.faults for flag in ("--fault-rate", rate)]
        if self.trouble.restart_at is not None:
            faults += ["--fault", f"seq-restart@{self.trouble.restart_at:.1f}s"]
        if self.silent_account:
            faults += ["--fault-rate", f"silent-account:{self.silent_account}=0.5"]
        self.sim = Sim([
            SIM, "--seed", str(self.seed), "--accounts", str(40 + self.seed * 37 % 400),
            "--rate", str(self.rate), "--events", str(int(self.rate * self.seconds)),
            "--first-seq", str(FIRST_SEQ), "--dump", str(self.folder / "oracle"), *faults,
            # A process that verifies refuses a commit that names a path twice.
            *(["--one-op-a-path"] if self.is_verified else []),
        ])

    def start_skua(self, crash_at=None, shift=0):
        environment = {"SKUA_CRASH_AT": crash_at or "", "SKUA_DATABASE_URL": self.skua_url,
                       "SKUA_ALLOW_UNSAFE_DATABASE": "true"}
        if self.has_wrong_clocks:
            environment.update(shifted_environment(self.folder / "shift", f"{shift:+d}m"))
        # From the beginning until a cursor is saved, then from the position of the previous process.
        saved = self.db.value("select max(cursor) from skua.cursors")
        begin = [] if saved else ["--cursor", "oldest"]
        verify = (["--plc", self.sim.ready["plc"], "--dns", self.sim.ready["dns"], "--allow-private-hosts"]
                  if self.is_verified else ["--verify", "none"])
        kind = SecondProcess if self.has_same_number else Program
        self.skua = kind([BIN / "skua", "run", "--relay", self.sim.url, "--stats-interval", "1", *verify, *begin],
                         environment)

    def live_through_it(self):
        started = time.monotonic()
        hits = list(self.trouble.hits)
        crashes = collections.Counter()
        while not self.sim.events("quiet"):
            life = self.trouble.next_life()
            shifts = life["shifts"] if self.has_wrong_clocks else []
            self.cluster.wait_until_up()
            began = time.monotonic()
            end = began + life["seconds"]
            self.start_skua(life.get("crash_at"), shifts.pop(0)[1] if shifts else 0)
            while time.monotonic() < end and self.skua.process.poll() is None:
                if hits and time.monotonic() - started > hits[0][0]:
                    _, how, seconds = hits.pop(0)
                    hit_at = time.monotonic()
                    crashes[self.hit(how, seconds)] += 1
                    # Gives the other processes time to notice.
                    end += time.monotonic() - hit_at
                if shifts and time.monotonic() - began > shifts[0][0]:
                    set_shift(self.folder / "shift", f"{shifts.pop(0)[1]:+d}m")
                    crashes["clock jump"] += 1
                time.sleep(0.02)
            crashes[self.end_life(life)] += 1
            self.look_back()
        self.outcome["crashes"] = dict(crashes)

    def hit(self, how, seconds):
        """Returns its name for the result."""
        if how == "silence":
            self.proxy.fall_silent()
            time.sleep(seconds)
            self.proxy.cut_clients_off()
            return how
        if how == "theft":
            is_done = self.control("/incident", {"kind": "take_handle"})["events"] > 0
            return how if is_done else "theft in vain"
        self.cluster.hit(how, seconds, self.chance)
        return f"postgres {how}"

    def end_life(self, life):
        """Returns how it ended."""
        if self.skua.process.poll() is not None:
            code = self.skua.wait()
            if code == 1 and self.skua.says("the server is a read-only standby"):
                return "standby refused"  # It ended before the promotion; a supervisor would start it again.
            if code != -signal.SIGKILL:
                raise AssertionError(f"skua ended by itself with {code}:\n{self.skua.tail()}")
            return life["crash_at"].split(":")[0]
        if life["kind"] == "stop":
            code = self.skua.stop(seconds=40)
            if code not in (0, 1):
                raise AssertionError(f"skua stopped with {code}:\n{self.skua.tail()}")
            return "stop"
        self.skua.kill()
        return "kill"

    def look_back(self):
        """After the end of a process: collects its observations, and removes its remains."""
        for words in ("the database has changed", "its host does not answer", "still held the source"):
            self.outcome[words] += self.skua.says(words)
        if self.proxy:
            # The source stays locked for other processes while the server considers the previous one alive.
            self.proxy.end_ghosts()
        if self.has_wrong_clocks:
            # libfaketime creates these files for each process, and a killed process cannot remove them.
            for path in pathlib.Path("/dev/shm").glob(f"*faketime_???_{self.skua.process.pid}"):
                path.unlink()

    def catch_up(self):
        """Ends all faults: the indexer reads the rest."""
        self.cluster.wait_until_up()
        wait_for("the network to fall quiet", lambda: self.sim.events("quiet"), seconds=self.seconds * 3 + 60)
        if self.silent_account:
            self.exceed_budget()
        connections = len(self.sim.events("connect"))
        self.start_skua()
        last_seq = None

        def is_at_the_end():
            nonlocal connections, last_seq
            if last_seq is not None and self.skua.reached(last_seq):
                return True
            # A reset of sequence numbers becomes visible with the relay's next message. Without one, silence proves
            # nothing, and the last message may have been lost in a fault that ended the connection.
            if len(self.sim.events("connect")) > connections:
                connections = len(self.sim.events("connect"))
                last_seq = self.control("/step", {"count": 5})["seq"]
            return False

        # Each pending fault ends one connection, and the pauses between connections grow to a minute.
        wait_for("the last commit", is_at_the_end, seconds=420, alive=[self.skua, self.sim], every=0.2)
        if self.is_verified:
            self.control("/dump", {"dir": str(self.folder / "now")})
            accounts = json.loads((self.folder / "now" / "accounts.json").read_text())
            wait_for("the handles to be looked up", lambda: comparison.unchecked_handles(self.db, accounts) == 0,
                     seconds=180, alive=[self.skua, self.sim], every=0.5)
        if self.skua.stop() != 0:
            raise AssertionError(f"skua did not stop cleanly:\n{self.skua.tail()}")
        self.look_back()
        if self.silent_account and not self.skua.says("its host does not answer"):
            raise AssertionError(f"the account whose host is silent was not given up:\n{self.skua.tail()}")
        if self.sim.stop() != 0:
            raise AssertionError(f"skua-sim did not stop cleanly:\n{self.sim.tail()}")

    def exceed_budget(self):
        """Sends more than the budget for a silent host, so that the end does not depend on this host's timeout."""
        def said():
            return sum(fault["fault"] == "silent-account" for fault in self.sim.events("fault"))

        more = MOST_PARKED // (self.silent_account * 1000) + 1
        expected = said() + more
        self.control("/fault", {"kind": "silent-account", "arg": self.silent_account, "count": more})
        wait_for("the messages of the account whose host is silent", lambda: said() >= expected)

    def control(self, path, body):
        request = urllib.request.Request(self.sim.ready["control"] + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def differences(self):
        oracle = self.folder / "oracle"
        accounts = json.loads((oracle / "accounts.json").read_text())
        repositories = {}
        for account in accounts:
            car = oracle / f"{account['did']}.car"
            # The rows of a deleted account must be gone.
            if car.exists() and account["announced_status"] != "deleted":
                repositories[account["did"]] = atproto.Repository(car.read_bytes())
        columns = comparison.ColumnComparison(self.db, repositories)
        faults = self.sim.events("fault")
        for fault in faults:
            self.outcome[fault["fault"]] += 1
        self.outcome["records"] = sum(columns.checked.values())
        self.outcome["invalid"] = sum(columns.invalid.values())
        return [
            *comparison.path_differences(self.db, repositories), *columns.differences,
            *self.account_differences(accounts), *self.dead_letter_differences(faults),
            *self.id_differences(), *self.silent_account_differences(),
            *comparison.change_log_differences(self.db), *projections.differences(self.cluster.url),
        ]

    def account_differences(self, accounts):
        found = {row["did"]: row for row in self.db.rows("select did, active, status from bsky.actors")}
        differences = self.checked_handles(accounts) if self.is_verified else self.claimed_handles(accounts)
        for account in accounts:
            row = found.get(account["did"]) or {"active": None, "status": None}
            # The host that the account has left says that it is deactivated, but its own host decides.
            status = account["announced_status"]
            if status is not None and self.is_verified:
                status = account["status"]
            active = None if status is None else status == "active"
            expected = {"active": active, "status": None if active in (None, True) else status}
            for name, value in expected.items():
                if row[name] != value:
                    differences.append(f"{account['did']}: {name} is {row[name]!r}, it should be {value!r}")
        return differences

    def checked_handles(self, accounts):
        """An account that was seen has the handle of its document as its claim, and holds it exactly if the handle
        resolves to it."""
        query = ("select a.did, handle, handle_claim, handle_valid, handle_check_due is not null as is_due, "
                 "r.rev is not null as has_signed from bsky.actors a left join skua.repositories r using (did)")
        found = {row["did"]: row for row in self.db.rows(query)}
        unseen = {"handle": None, "handle_claim": None, "handle_valid": None, "is_due": False, "has_signed": False}
        lead_somewhere = {account["handle"] for account in accounts if account["handle_valid"]}
        differences = []
        owners = {}
        for account in accounts:
            row = found.get(account["did"]) or unseen
            # Another account that took the name may have changed its handle before any look-up: then no event shows
            # that the name no longer resolves.
            if row["handle_valid"] and not account["handle_valid"] and account["handle"] not in lead_somewhere:
                account = {**account, "handle_valid": True}
            claim = account["handle"] if account["announced_handle"] or row["has_signed"] else None
            if row["handle_claim"] != claim:
                differences.append(f"{account['did']}: claims {row['handle_claim']!r}, it should be {claim!r}")
            if row["handle"] is not None:
                owners.setdefault(row["handle"], []).append(account["did"])
            if account["handle_valid"] or not row["is_due"]:
                is_valid = account["handle_valid"] if claim else None
                has = claim if is_valid else None
                if (row["handle"], row["handle_valid"]) != (has, is_valid):
                    differences.append(f"{account['did']}: handle is {row['handle']!r} ({row['handle_valid']}), "
                                       f"it should be {has!r} ({is_valid})")
        return differences + [f"{handle} is the handle of {dids}" for handle, dids in owners.items() if len(dids) > 1]

    def claimed_handles(self, accounts):
        """Without look-ups, a handle belongs to the account that claimed it last. If this account has another handle
        by now, the previous one may hold it: of two claims of an account in one batch only the second counts."""
        found = {row["did"]: row["handle"] for row in self.db.rows("select did, handle from bsky.actors")}
        last = {}
        for account in accounts:
            for handle, time_us in account["claims"].items():
                last[handle] = max(last.get(handle, (0, "")), (time_us, account["did"]))
        announced = {account["did"]: account["announced_handle"] for account in accounts}
        differences = []
        for did, handle in announced.items():
            if handle is not None and last[handle][1] != did:
                if found.get(did) == handle and announced[last[handle][1]] != handle:
                    continue
                handle = None
            if found.get(did) != handle:
                differences.append(f"{did}: handle is {found.get(did)!r}, it should be {handle!r}")
        return differences

    def dead_letter_differences(self, faults):
        # After a reset of sequence numbers the relay sends damaged frames with two numbers: the second must have been
        # seen.
        renumbered = {}
        for fault in faults:
            for old, new, count in fault.get("renumbered", []):
                for i in range(count):
                    renumbered.setdefault(old + i, set()).add(new + i)
        damaged = [(fault["fault"], fault["seq"]) for fault in faults if fault["fault"] in DEAD_LETTERS]
        expected, allowed = set(), set()
        for kind, seq in damaged:
            now = renumbered.get(seq, {seq})
            allowed |= now | {seq}
            if kind != "truncated-frame":
                expected |= now
        cut_off = sum(kind == "truncated-frame" for kind, seq in damaged)
        letters = self.db.rows("select key, error from skua.dead_letter")
        found = [(int(row["key"].split()[1]), row["error"]) for row in letters]
        differences = [f"a dead letter that nobody provoked, seq {seq}: {error}"
                       for seq, error in found if seq != 0 and seq not in allowed]
        differences += [f"no dead letter of the damaged frame {seq}" for seq in expected - {seq for seq, _ in found}]
        # A frame that ends before its seq has no number.
        unnumbered = sum(seq == 0 for seq, _ in found)
        if unnumbered > 2 * cut_off if renumbered else unnumbered > cut_off:
            differences.append(f"{unnumbered} dead letters without a number, of {cut_off} frames cut off")
        self.outcome["dead letters"] = len(found)
        return differences

    def id_differences(self):
        """Each account has one id, and all references lead to existing accounts."""
        wrong = self.db.rows(
            "select 'likes' as t, count(*) as n from bsky.likes l where not exists "
            "(select from bsky.actors a where a.id = l.subject_actor) and subject_actor is not null "
            "union all select 'follows', count(*) from bsky.follows f where not exists "
            "(select from bsky.actors a where a.id = f.subject_actor) "
            "union all select 'posts', count(*) from bsky.posts p where parent_actor is not null and not exists "
            "(select from bsky.posts q where q.actor_id = p.parent_actor and q.rkey = p.parent_rkey)")
        return [f"{row['t']}: {row['n']} references lead nowhere" for row in wrong if row["n"]]

    def silent_account_differences(self):
        """Its messages are not verified; the comparison of paths finds its records."""
        did = self.sim.ready["silent_did"]
        return [f"{did} has a row" for _ in self.db.rows(f"select did from bsky.actors where did = '{did}'")]


def run_seed(seed, options):
    started = time.monotonic()
    stress = Stress(seed, options.seconds, options.rate)
    try:
        differences = stress.run()
    except Exception:  # A seed whose run fails is a finding too.
        differences = [traceback.format_exc()]
        for program in (stress.skua, stress.sim):
            if program:
                differences.append(f"{program}:\n{program.tail()}")
    if differences and options.keep:
        (stress.folder / "sim.log").write_text("\n".join(stress.sim.stderr if stress.sim else []))
        differences.append(f"kept: {stress.folder}")
    else:
        shutil.rmtree(stress.folder, ignore_errors=True)
    print_result(seed, started, differences, stress.outcome)
    return seed, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=400)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    return run_seeds("stress", "seed", run_seed, options)


if __name__ == "__main__":
    sys.exit(main())
