#!/usr/bin/env python3
"""nodes.py [--seed N] [--seeds K] [--seconds S] [--rate EVENTS/S] [--jobs J] [--report FILE]

Indexes a simulated network into two nodes with a query database (docs/nodes.md), under faults, and into one database
without faults. Both nodes and the query database have a PostgreSQL of their own. `skua run` of the nodes is killed at
named crash points and at random moments, each of the three servers is stopped without a shutdown and is away for a while,
and `skua nodes sync` runs while a node is away. Meanwhile questions go to the query database: each answer must be right
or an error. With an even seed, groups then move from each node to the other one, and the command, the processes and the
servers are killed meanwhile. `skua serve` with the query database sends all changes to a webhook that refuses some requests, and is killed, too. In the end
the query database must have the views and the projections of the one database, each account one number, the webhook each change of both
nodes, those of an account in order, and nothing may wait.

  --seed     the first seed (default: a random one, which is printed); everything but the clock depends on it
  --seeds    the number of seeds, one after the other (default 1)
  --seconds  of traffic for each seed (default 30)
  --rate     record operations per second (default 100)
  --jobs     seeds that run at the same time (default 1)
  --report   a JSON file: {"passed": N, "failed": [[name, difference], ...], "skipped": []}

SKUA_TEST_DATABASE_URL names the server of the one database, SKUA_BIN_DIR the folder of skua and skua-sim, SKUA_SIM another
skua-sim.

Example: scripts/pg throwaway tests/stress/nodes.py --seeds 5
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

import comparison  # noqa: E402
from harness import BIN, SIM, Database, Program, Sim, server_url, wait_for, with_database  # noqa: E402
from node_content import OF_NODES, OF_ONE, SUMMED, VIEWS, WAITING, numbered, shown, sums  # noqa: E402
from node_questions import HALVES, Questions, owned  # noqa: E402
from seeds import print_result, run_seeds  # noqa: E402
from stress import Cluster  # noqa: E402
from test_leased import QUICK, Receiver  # noqa: E402
from test_node_projections import SHOWN  # noqa: E402
from test_own_projections import examples  # noqa: E402
from trouble import CRASH_POINTS  # noqa: E402

SERVERS = (*HALVES, "ask")
# Projections that a user adds: sums over the nodes.
OWN = ("lang_days", "engagement")
# The approximate number of passes in a few seconds.
POINTS = {**CRASH_POINTS, "decoded": 500, "after_references": 5}
# Events before the first fault.
FIRST = 200
PASSWORD = "only-of-this-test"
KINDS = ("kill", "node", "query database", "sync")
MOVE_POINTS = ("move_left:1", "move_phase:1", "move_phase:2", "move_part:1", "move_part:5", "move_arrived:1", "move_removed_part:3")
# A move that was interrupted more often comes to its end.
MOST_INTERRUPTIONS = 5


class Server:
    """A PostgreSQL that is stopped and started. `state` grows with each change."""

    PHASES = ("up", "stopping", "away", "starting")

    def __init__(self, name, folder, has_superuser):
        self.name, self.state = name, 0
        place = folder / name
        place.mkdir(mode=0o755)
        self.cluster = Cluster(place)
        parts = urllib.parse.urlsplit(self.cluster.tcp_url)
        if not has_superuser:
            # What docs/nodes.md says of a role that is no superuser, and what `skua migrate` says of projections.
            Database(self.cluster.url).run(f"create role {name} login password '{PASSWORD}'; alter database skua owner to {name}; "
                                           f"create role skua_projection nologin; grant skua_projection to {name}")
            parts = parts._replace(netloc=f"{name}:{PASSWORD}@{parts.netloc.rpartition('@')[2]}")
        self.database = Database(urllib.parse.urlunsplit(parts))

    def crash(self):
        self.state += 1
        self.cluster.pg("stop", "immediate")
        self.state += 1

    def recover(self):
        self.state += 1
        self.cluster.start()
        self.cluster.wait_until_up()
        self.state += 1

    def phase(self):
        return self.PHASES[self.state % 4]


class Follower:
    """`skua run` of a node, which is started again after its end."""

    def __init__(self, stress, server, chance):
        self.stress, self.server, self.chance = stress, server, chance
        self.program = None

    def start(self, is_mortal=True):
        point = self.chance.choice(sorted(POINTS)) if is_mortal and self.chance.random() < 0.6 else None
        self.crash_at = point and f"{point}:{1 + int(self.chance.random() ** 2 * POINTS[point])}"
        self.state = self.server.state
        self.program = self.stress.run_program(self.server.database, self.crash_at)

    def look_after(self):
        """Starts the process again if it has ended."""
        if self.program.process.poll() is None or self.server.phase() != "up":
            return
        code = self.program.wait()
        if code == -signal.SIGKILL and self.crash_at:
            self.stress.outcome[self.crash_at.split(":")[0]] += 1
        elif self.server.state == self.state or code != 1:
            raise AssertionError(f"skua run of {self.server.name} ended by itself with {code}:\n{self.program.tail()}")
        self.start()

    def kill(self):
        self.program.kill()


class Webhook:
    """A webhook of all nodes, and `skua serve`, which sends the changes to it."""

    def __init__(self, stress, chance):
        self.stress, self.chance = stress, chance
        self.receiver = Receiver("")
        self.receiver.behave = lambda changes: chance.choice((503, 500, "drop", "late drop", *[204] * 12))
        self.receiver.start()
        added = stress.skua(stress.ask.database, "consumers", "add", "hook", "--webhook", f"http://127.0.0.1:{self.receiver.port}/", "--from",
                            "oldest", "--lanes", "4", *QUICK)
        self.receiver.secret = added.stdout[-1]
        self.start()

    def start(self):
        self.program = self.stress.program(Program, BIN / "skua", "serve", "--listen", "127.0.0.1:0",
                                           environment=self.stress.environment(self.stress.ask.database))

    def look_after(self):
        # It ends when the list of nodes changes, and cannot start while the query database is away.
        if self.program.process.poll() is not None and self.stress.ask.phase() == "up":
            self.start()

    def differences(self):
        """What is missing, and changes of an account whose first delivery has another order than their revisions."""
        nodes = self.stress.nodes
        ends = {node.name: node.database.value("select skua.change_log_end()") for node in nodes}
        expected = {f"{name}:1-{pos}" for name, end in ends.items() for pos in range(1, end)}

        def missing():
            return expected - {change["pos"] for change in list(self.receiver.processed)}
        self.receiver.behave = lambda changes: 204
        try:
            wait_for("the webhook", lambda: self.look_after() or not missing(), seconds=120)
        except AssertionError:
            return [f"the webhook lacks {sorted(missing())[:5]} of {ends}:\n{self.program.tail()}"]
        found, revisions, seen = list(self.receiver.faults), {}, set()
        for change in self.receiver.processed:
            if change["pos"] in seen or change["kind"] != "record":
                continue
            seen.add(change["pos"])
            collection = change["did"], change["collection"]
            if change["rev"] < revisions.get(collection, ""):
                found.append(f"the webhook got {change} after {revisions[collection]}")
            revisions[collection] = change["rev"]
        self.stress.outcome["delivered"] += len(seen)
        return found

    def close(self):
        self.receiver.close()


class Stress:
    def __init__(self, seed, options):
        self.seed, self.seconds, self.rate = seed, options.seconds, options.rate
        self.chance = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"skua-nodes-{seed}-"))
        self.folder.chmod(0o755)
        self.outcome = collections.Counter()
        self.programs, self.servers = [], []
        self.one = self.questions = self.webhook = None

    # The programs

    def program(self, kind, *arguments, environment=None):
        program = kind([str(argument) for argument in arguments], *([environment] if environment else []))
        self.programs.append(program)
        return program

    def environment(self, database, crash_at=None):
        return {"SKUA_DATABASE_URL": database.url, "SKUA_ALLOW_UNSAFE_DATABASE": "true", "SKUA_CRASH_AT": crash_at or ""}

    def skua(self, database, *arguments, code=0):
        program = self.program(Program, BIN / "skua", *arguments, environment=self.environment(database))
        got = program.wait(120)
        if got != code:
            raise AssertionError(f"skua {' '.join(map(str, arguments))}: {got}\n{program.tail()}")
        return program

    def run_program(self, database, crash_at=None):
        # From the beginning until a cursor is saved, then from the position of the previous process.
        begin = [] if database.value("select max(cursor) from skua.cursors") else ["--cursor", "oldest"]
        return self.program(Program, BIN / "skua", "run", "--relay", self.sim.url, "--stats-interval", "1", "--plc", self.sim.ready["plc"],
                            "--dns", self.sim.ready["dns"], "--allow-private-hosts", *begin, environment=self.environment(database, crash_at))

    def control(self, path, body):
        request = urllib.request.Request(self.sim.ready["control"] + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    # The run

    def run(self):
        """The differences; empty if everything is correct."""
        try:
            self.set_up()
            self.sim = self.program(Sim, SIM, "--seed", self.seed, "--accounts", 60, "--outsiders", 300, "--rate", self.rate,
                                    "--events", FIRST + int(self.rate * self.seconds), "--one-op-a-path")
            self.control("/pause", {})
            self.whole = self.run_program(self.one)
            self.followers = [Follower(self, node, random.Random(f"{node.name} {self.seed}")) for node in self.nodes]
            for follower in self.followers:
                follower.start()
            self.live_through_it()
            if self.seed % 2 == 0:
                self.questions.stop()
                self.move_under_faults()
            self.catch_up()
            return self.questions.differences or self.webhook.differences() + self.differences()
        finally:
            if self.questions:
                self.questions.stop()
            if self.webhook:
                self.webhook.close()
            for program in self.programs:
                program.kill()
            for name in SERVERS:
                subprocess.run([ROOT / "scripts/pg", "--dir", self.folder / name / "pg", "destroy"], check=True, timeout=120)
            if self.one:
                self.one.drop()

    def set_up(self):
        name = "nodes_" + uuid.uuid4().hex[:16]
        Database(with_database(server_url(), "postgres")).run(f"create database {name}")
        self.one = Database(with_database(server_url(), name))
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            self.servers = list(pool.map(lambda name: Server(name, self.folder, name == "east"), SERVERS))
        *self.nodes, self.ask = self.servers
        Database(self.ask.cluster.url).run("create extension postgres_fdw; grant usage on foreign data wrapper postgres_fdw to ask")
        for database in (self.one, self.ask.database):
            self.skua(database, "migrate")
        for node in self.nodes:
            groups = HALVES[node.name]
            self.skua(self.ask.database, "nodes", "add", node.name, "--node-url", node.database.url, "--groups", f"{groups.start}-{groups.stop - 1}")
        for database in (self.one, *(node.database for node in self.nodes)):
            for projection in OF_ONE if database is self.one else OF_NODES:
                self.skua(database, "consumers", "add", projection)
        for name in OWN:
            file = self.folder / f"{name}.sql"
            file.write_text(examples()[name])
            for database in (self.one, self.ask.database):
                self.skua(database, "projection", "add", file)
                self.skua(database, "consumers", "add", name)
        self.webhook = Webhook(self, random.Random(f"webhook {self.seed}"))

    def look_after(self):
        for follower in self.followers:
            follower.look_after()
        self.webhook.look_after()
        if self.whole.process.poll() is not None:
            raise AssertionError(f"skua run without faults ended:\n{self.whole.tail()}")

    def wait(self, what, condition, seconds=60):
        """Waits, and starts the processes again that end meanwhile."""
        def is_true():
            self.look_after()
            return condition()
        wait_for(what, is_true, seconds)

    def has_begun(self, node):
        return node.database.value(f"select count(distinct actor_id) from bsky.posts where cid is not null and {owned(node, 'actor_id')}") >= 3

    def live_through_it(self):
        self.control("/step", {"count": FIRST})
        self.wait("the projections", lambda: self.ask.database.value("select bool_and(skua.each_node_has(name)) from skua.network_projections() where form <> 'computed'"))
        while not all(self.has_begun(node) for node in self.nodes):
            last = self.control("/step", {"count": 20})["seq"]
            self.wait("accounts with posts", lambda last=last: all(follower.program.reached(last) for follower in self.followers))
        self.questions = Questions(self.ask, self.nodes, random.Random(f"questions {self.seed}"))
        self.control("/resume", {})
        hits = []
        while sum(self.outcome[kind] for kind in KINDS) < len(KINDS) or not self.sim.events("quiet"):
            hits = hits or self.chance.sample(KINDS, len(KINDS))
            end = time.monotonic() + self.chance.uniform(0.2, 1.5)
            self.wait("the next hit", lambda: time.monotonic() > end)
            kind = hits.pop()
            self.hit(kind)
            self.outcome[kind] += 1

    def hit(self, kind):
        place = self.chance.randrange(2)
        node, follower = self.nodes[place], self.followers[place]
        if kind == "kill":
            if self.webhook.chance.random() < 0.5:
                self.webhook.program.kill()
            follower.kill()
            time.sleep(self.chance.uniform(0, 0.5))
            follower.start()
            return
        server = self.ask if kind == "query database" else node
        server.crash()
        time.sleep(self.chance.uniform(0, 1.5))
        if kind == "sync":
            done = self.skua(self.ask.database, "nodes", "sync", code=1)
            if not done.says(f"the node {node.name} (") or not done.says("cannot be reached"):
                raise AssertionError(f"skua nodes sync without {node.name}:\n{done.tail()}")
        server.recover()
        if kind == "sync":
            self.skua(self.ask.database, "nodes", "sync")

    def move_under_faults(self):
        chance = random.Random(f"moves {self.seed}")
        self.wait("the first cursors", lambda: all(node.database.value("select count(*) from skua.cursors") for node in self.nodes), 120)
        for source, target in (("west", "east"), ("east", "west")):
            first, last = sorted(chance.sample(HALVES[source], 2))
            for attempt in range(MOST_INTERRUPTIONS + 1):
                is_last = attempt == MOST_INTERRUPTIONS
                crash_at = None if is_last else chance.choice((None, *MOVE_POINTS))
                move = self.program(Program, BIN / "skua", "nodes", "move", f"{first}-{last}", "--to", target,
                                    environment=self.environment(self.ask.database, crash_at))
                if not is_last and chance.random() < 0.6:
                    time.sleep(chance.uniform(0, 0.6))
                    self.hit(chance.choice(("kill", "node", "query database")))
                self.wait("the end of the move", lambda move=move: move.process.poll() is not None, 120)
                self.control("/step", {"count": 10})
                code = move.wait()
                if code == 0:
                    break
                if is_last or code not in (1, -signal.SIGKILL):
                    raise AssertionError(f"skua nodes move ended with {code}:\n{move.tail()}")
                self.outcome["interrupted moves"] += 1
            self.outcome["moves"] += 1

    def catch_up(self):
        for follower in self.followers:
            follower.kill()
            follower.start(is_mortal=False)
        last = self.control("/step", {"count": 5})["seq"]
        everyone = [self.whole, *(follower.program for follower in self.followers)]
        wait_for("the last event", lambda: all(program.reached(last) for program in everyone), seconds=120, alive=everyone)
        if self.seed % 2:
            self.questions.stop()
        self.outcome.update(self.questions.counts)
        self.control("/dump", {"dir": str(self.folder / "now")})
        accounts = json.loads((self.folder / "now" / "accounts.json").read_text())
        databases = [self.one, *(node.database for node in self.nodes)]
        wait_for("the handles to be looked up", lambda: sum(comparison.unchecked_handles(database, accounts) for database in databases) == 0,
                 seconds=120, alive=everyone, every=0.5)
        wait_for("the references", lambda: not any(node.database.value(WAITING) for node in self.nodes), alive=everyone)
        for program in everyone:
            if program.stop() != 0:
                raise AssertionError(f"{program} did not stop cleanly:\n{program.tail()}")
        # Whether another handle is known as invalid depends on the time of the look-up.
        valid = ", ".join(f"'{account['did']}'" for account in accounts if account["handle_valid"])
        for database in databases:
            database.run(f"update bsky.actors set handle = null, handle_valid = null where did not in ({valid})")

    # The end

    def differences(self):
        databases = {"one": self.one, **{node.name: node.database for node in self.nodes}}
        found = []
        # A reply is told to the nodes of three posts above it, one after the other.
        for _ in range(4):
            for database in databases.values():
                self.skua(database, "consumers", "run-until-idle")
        for name, database in databases.items():
            self.skua(database, "consumers", "run-until-idle")
            # The first changes of accounts that have moved are in the log of the node that they left.
            if not self.outcome["moves"] or name == "one":
                found += [f"{name}: {difference}" for difference in comparison.change_log_differences(database)]
            found += [f"{name}: a dead letter: {letter}" for letter in database.run("select error from skua.dead_letter").splitlines()]
        self.ask.database.run("select skua.refresh_collections()")
        for view in self.one.run(VIEWS).split():
            found += self.compare(view, *(shown(database, view) for database in (self.one, self.ask.database)))
        for _ in range(2 if self.outcome["moves"] else 1):
            for projection in SUMMED:
                found += self.compare(projection, *(sums(database, projection) for database in (self.one, self.ask.database)))
            # The sums are right although the records that moved count on the node that they left, and after a rebuild.
            for database in databases.values() if self.outcome["moves"] else ():
                for projection in (*SUMMED, *OWN):
                    self.skua(database, "consumers", "rebuild", projection)
                self.skua(database, "consumers", "run-until-idle")
        for projection in OWN:
            found += self.compare(projection, *(collections.Counter(database.run(SHOWN[projection]).split("\n"))
                                                for database in (self.one, self.ask.database)))
        for database in databases.values():
            for projection in (*OF_NODES, *OWN):
                self.skua(database, "consumers", "verify", projection)
        return found + self.number_differences()

    def compare(self, name, expected, actual):
        self.outcome["rows"] += expected.total()
        return [*(f"{name}: only the one database has {row}" for row in expected - actual),
                *(f"{name}: only the query database has {row}" for row in actual - expected)]

    def number_differences(self):
        found = []
        for owner, other in zip(self.nodes, reversed(self.nodes)):
            groups = {int(group) for group in owner.database.run("select unnest(owned) from skua.account_groups").split()}
            for table, place in (("actors", 0), ("rkeys", 1)):
                lost = numbered(other.database, range(64), table) - numbered(owner.database, range(64), table)
                found += [f"{owner.name} has no {row} of {table}, which {other.name} mentions" for row in lost
                          if int(row.split("|")[place]) >> 57 in groups]
        for server in self.servers:
            twice = server.database.run("select did from bsky.actors group by 1 having count(*) > 1 union all "
                                        "select id::text from bsky.actors group by 1 having count(*) > 1").splitlines()
            found += [f"{server.name}: {account} is there twice" for account in twice]
        lists = {server.database.run("select string_agg(name || ' ' || url || ' ' || owned::text, ' ' order by name) from skua.nodes")
                 for server in self.servers}
        return found + ([f"the lists of nodes differ: {lists}"] if len(lists) > 1 else [])


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
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    for name, usual in {"seeds": 1, "seconds": 30, "rate": 100, "jobs": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--report", type=pathlib.Path)
    return run_seeds("nodes", "seed", run_seed, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
