#!/usr/bin/env python3
"""nodes.py [--seed N] [--seeds K] [--seconds S] [--rate EVENTS/S] [--jobs J] [--report FILE]

Indexes a simulated network into two nodes with a query database (docs/nodes.md), under faults, and into one database
without faults. Both nodes and the query database have a PostgreSQL of their own. `skua run` of the nodes is killed at
named crash points and at random moments, each of the three servers is stopped without a shutdown and is away for a while,
and `skua nodes sync` runs while a node is away. Meanwhile questions go to the query database: each answer must be right
or an error. In the end the query database must have the views and the projections of the one database, each account one
number, and nothing may wait.

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
import threading
import time
import traceback
import urllib.parse
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/stress")]

import comparison  # noqa: E402
from harness import BIN, PSQL, SIM, Database, Program, Sim, server_url, wait_for, with_database  # noqa: E402
from node_content import SUMMED, VIEWS, WAITING, numbered, shown, sums  # noqa: E402
from seeds import print_result, run_seeds  # noqa: E402
from stress import Cluster  # noqa: E402
from trouble import CRASH_POINTS  # noqa: E402

HALVES = {"west": range(32), "east": range(32, 64)}
# The approximate number of passes in a few seconds.
POINTS = {**CRASH_POINTS, "decoded": 500, "after_references": 5}
# Events before the first fault.
FIRST = 200
PASSWORD = "only-of-this-test"
KINDS = ("kill", "node", "query database", "sync")


class Server:
    """A PostgreSQL that is stopped and started. `changes` counts this: it is odd while the server is away."""

    def __init__(self, name, folder, has_superuser):
        self.name, self.changes = name, 0
        place = folder / name
        place.mkdir(mode=0o755)
        self.cluster = Cluster(place)
        parts = urllib.parse.urlsplit(self.cluster.tcp_url)
        if not has_superuser:
            # What docs/nodes.md says of a role that is no superuser.
            Database(self.cluster.url).run(f"create role {name} login password '{PASSWORD}'; alter database skua owner to {name}")
            parts = parts._replace(netloc=f"{name}:{PASSWORD}@{parts.netloc.rpartition('@')[2]}")
        self.database = Database(urllib.parse.urlunsplit(parts))

    def crash(self):
        self.changes += 1
        self.cluster.pg("stop", "immediate")

    def recover(self):
        self.cluster.start()
        self.cluster.wait_until_up()
        self.changes += 1


class Follower:
    """`skua run` of a node, which is started again after its end."""

    def __init__(self, stress, server, chance):
        self.stress, self.server, self.chance = stress, server, chance
        self.program = None

    def start(self, is_mortal=True):
        point = self.chance.choice(sorted(POINTS)) if is_mortal and self.chance.random() < 0.6 else None
        self.crash_at = point and f"{point}:{1 + int(self.chance.random() ** 2 * POINTS[point])}"
        self.changes = self.server.changes
        self.program = self.stress.run_program(self.server.database, self.crash_at)

    def look_after(self):
        """Starts the process again if it has ended."""
        if self.program.process.poll() is None or self.server.changes % 2:
            return
        code = self.program.wait()
        if code == -signal.SIGKILL and self.crash_at:
            self.stress.outcome[self.crash_at.split(":")[0]] += 1
        elif self.server.changes == self.changes or code != 1:
            raise AssertionError(f"skua run of {self.server.name} ended by itself with {code}:\n{self.program.tail()}")
        self.start()

    def kill(self):
        self.program.kill()


class Session:
    """A connection that stays open, with a statement that keeps its plan."""

    START = ("set plan_cache_mode = force_generic_plan; "
             "prepare likes(int8) as select coalesce(sum(likes), 0) from bsky.post_stats where actor_id = $1;\n")
    END = "end of the answer"

    def __init__(self, url):
        self.url, self.process = url, None

    def likes(self, account):
        """Raises AssertionError without an answer."""
        text = f"execute likes({account});\n\\echo {self.END}\n"
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([PSQL, "-XAtq", self.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True)
            text = self.START + text
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:  # psql ends without its connection.
            pass
        answer = ""
        for line in self.process.stdout:
            if line.strip() == self.END and answer.strip().isdigit():
                return answer.strip()
            if line.strip() == self.END:
                raise AssertionError(answer)
            answer += line
        self.close()
        raise AssertionError(f"psql ended: {answer}")

    def close(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Questions:
    """Asks the query database, until `stop`, and compares the answers with the nodes."""

    def __init__(self, ask, nodes, chance):
        self.ask, self.nodes, self.chance = ask, nodes, chance
        self.session = Session(ask.database.url)
        # The number of all accounts at some time. No account is ever removed.
        self.least = 0
        self.counts = collections.Counter()
        self.differences = []
        self.accounts = {node: node.database.run(
            f"select actor_id from bsky.posts where cid is not null and {owned(node, 'actor_id')} group by 1 order by count(*) desc, 1 limit 8"
        ).split() for node in nodes}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self):
        self._stopping.set()
        self._thread.join()
        self.session.close()

    def _run(self):
        kinds = (self.records_of_account, self.all_accounts, self.least_accounts, self.likes_of_account, self.shown_likes, self.states)
        while not self._stopping.is_set() and len(self.differences) < 10:
            try:
                self.chance.choice(kinds)()
            except Exception:
                self.differences.append(traceback.format_exc())

    def _any_account(self, node=None):
        return self.chance.choice(self.accounts[node or self.chance.choice(self.nodes)])

    def _answer(self, name, question, truth, needed):
        """(answer, truth) if there is an answer and what the nodes `needed` say did not change meanwhile."""
        servers = [self.ask, *needed]
        before, expected = [server.changes for server in servers], self._truth(truth, needed)
        try:
            answer, error = question(), None
        except AssertionError as failure:
            answer, error = None, failure
        is_same = self._truth(truth, needed) == expected
        away = [server.name for server, changes in zip(servers, before) if changes % 2]
        is_steady = before == [server.changes for server in servers]
        self.counts["errors" if error else "answers"] += 1
        if error and is_steady and not away:
            self.differences.append(f"{name}: failed although all that it needs was there: {error}")
        if not error and is_steady and away:
            self.differences.append(f"{name}: answered {answer!r} without {away}")
        if error or not expected or not is_same:
            return None
        self.counts["compared"] += 1
        return answer, expected

    def _truth(self, query, nodes):
        """The answer of each node; None if one of them does not answer."""
        try:
            return [node.database.run(query) for node in nodes]
        except AssertionError:
            return None

    def _check(self, name, answer, is_right, expected):
        if not is_right:
            self.differences.append(f"{name}: {answer!r}, the nodes have {expected!r}")

    def records_of_account(self):
        """Needs the node of the account only."""
        node = self.chance.choice(self.nodes)
        table = self.chance.choice(["posts", "likes", "follows", "reposts"])
        query = f"select rkey, indexed_at from bsky.{table} where actor_id = {self._any_account(node)} order by 1"
        if found := self._answer(table, lambda: self.ask.database.run(query), query, [node]):
            self._check(table, found[0], [found[0]] == found[1], found[1])

    def all_accounts(self):
        numbers = "select (select count(*) from bsky.actors where (id >> 57) < 32) || ' ' || (select count(*) from bsky.actors where (id >> 57) >= 32)"
        count = self._answer("accounts", lambda: self.ask.database.run("select count(*) from bsky.actors"), numbers, self.nodes)
        if count:
            west, east = (numbers.split() for numbers in count[1])
            self._check("accounts", count[0], int(count[0]) == int(west[0]) + int(east[1]), count[1])

    def least_accounts(self):
        """Also while accounts come, a part of them is fewer than before."""
        try:
            count = int(self.ask.database.run("select count(*) from bsky.actors"))
        except AssertionError:
            return
        self._check("accounts", count, count >= self.least, f"at least {self.least}")
        self.least = count

    def likes_of_account(self):
        """The likes of a post are on all nodes."""
        account = self._any_account()
        query = f"select coalesce(sum(likes), 0) from bsky.post_stats where actor_id = {account}"
        question = self.chance.choice([lambda: self.ask.database.run(query), lambda: self.session.likes(account)])
        if found := self._answer("likes", question, query, self.nodes):
            self._check("likes", found[0], int(found[0]) == sum(map(int, found[1])), found[1])

    def shown_likes(self):
        """Null if the projection of a node is late."""
        account = self._any_account()
        shown_in_view = f"select string_agg(rkey || '=' || coalesce(likes::text, ''), ' ') from bsky.posts_view where actor_id = {account}"
        stored = f"select string_agg(rkey || '=' || likes, ' ') from bsky.post_stats where actor_id = {account}"
        found = self._answer("likes in a view", lambda: self.ask.database.run(shown_in_view), stored, self.nodes)
        if not found:
            return
        total = collections.Counter()
        for pair in " ".join(found[1]).split():
            rkey, likes = pair.split("=")
            total[rkey] += int(likes)
        for pair in found[0].split():
            rkey, likes = pair.split("=")
            self._check(f"likes of {rkey} in a view", likes, likes in ("", str(total[rkey])), found[1])

    def states(self):
        servers = [self.ask, *self.nodes]
        before = [server.changes for server in servers]
        try:
            problems = {row["name"]: row["problem"] for row in self.ask.database.rows("select name, problem from skua.node_states()")}
        except AssertionError as failure:
            problems, error = None, failure
        if before != [server.changes for server in servers]:
            return
        if problems is None:
            self._check("states", error, self.ask.changes % 2, "no reason to fail")
            return
        for node in self.nodes:
            self._check("states", problems, (problems[node.name] is not None) == (node.changes % 2 == 1), f"{node.name} {node.changes}")


def owned(node, column):
    """A condition: the account belongs to the node."""
    groups = HALVES[node.name]
    return f"({column} >> 57) between {groups.start} and {groups.stop - 1}"


class Stress:
    def __init__(self, seed, options):
        self.seed, self.seconds, self.rate = seed, options.seconds, options.rate
        self.chance = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"skua-nodes-{seed}-"))
        self.folder.chmod(0o755)
        self.outcome = collections.Counter()
        self.programs, self.servers = [], []
        self.one = self.questions = None

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
            self.catch_up()
            return self.questions.differences or self.differences()
        finally:
            if self.questions:
                self.questions.stop()
            for program in self.programs:
                program.kill()
            for server in self.servers:
                server.cluster.pg("destroy")
            if self.one:
                self.one.drop()

    def set_up(self):
        name = "nodes_" + uuid.uuid4().hex[:16]
        Database(with_database(server_url(), "postgres")).run(f"create database {name}")
        self.one = Database(with_database(server_url(), name))
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            self.servers = list(pool.map(lambda name: Server(name, self.folder, name == "east"), ("west", "east", "ask")))
        *self.nodes, self.ask = self.servers
        Database(self.ask.cluster.url).run("create extension postgres_fdw; grant usage on foreign data wrapper postgres_fdw to ask")
        for database in (self.one, self.ask.database):
            self.skua(database, "migrate")
        for node in self.nodes:
            groups = HALVES[node.name]
            self.skua(self.ask.database, "nodes", "add", node.name, "--node-url", node.database.url, "--groups", f"{groups.start}-{groups.stop - 1}")
        for database in (self.one, *(node.database for node in self.nodes)):
            for projection in SUMMED:
                self.skua(database, "consumers", "add", projection)

    def look_after(self):
        for follower in self.followers:
            follower.look_after()
        if self.whole.process.poll() is not None:
            raise AssertionError(f"skua run without faults ended:\n{self.whole.tail()}")

    def wait(self, what, condition, seconds=60):
        """Waits, and starts the processes again that end meanwhile."""
        def is_true():
            self.look_after()
            return condition()
        wait_for(what, is_true, seconds)

    def has_begun(self, node):
        return node.database.value(f"select count(distinct actor_id) from bsky.posts where cid is not null and {owned(node, 'actor_id')}") >= 4

    def live_through_it(self):
        self.control("/step", {"count": FIRST})
        self.wait("posts and projections", lambda: all(self.has_begun(node) for node in self.nodes)
                  and self.ask.database.value("select bool_and(skua.each_node_has(name)) from skua.summed_projections()"))
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

    def catch_up(self):
        for follower in self.followers:
            follower.kill()
            follower.start(is_mortal=False)
        last = self.control("/step", {"count": 5})["seq"]
        everyone = [self.whole, *(follower.program for follower in self.followers)]
        wait_for("the last event", lambda: all(program.reached(last) for program in everyone), seconds=120, alive=everyone)
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
            database.run(f"update bsky.actors set handle = null, handle_valid = null where did not in ({valid}) and handle_claim is not null")

    # The end

    def differences(self):
        databases = {"one": self.one, **{node.name: node.database for node in self.nodes}}
        found = []
        for name, database in databases.items():
            self.skua(database, "consumers", "run-until-idle")
            for projection in SUMMED:
                self.skua(database, "consumers", "verify", projection)
            found += [f"{name}: {difference}" for difference in comparison.change_log_differences(database)]
            found += [f"{name}: a dead letter: {letter}" for letter in database.run("select error from skua.dead_letter").splitlines()]
        self.ask.database.run("select skua.refresh_collections()")
        for view in self.one.run(VIEWS).split():
            found += self.compare(view, *(shown(database, view) for database in (self.one, self.ask.database)))
        for projection in SUMMED:
            found += self.compare(projection, *(sums(database, projection) for database in (self.one, self.ask.database)))
        return found + self.number_differences()

    def compare(self, name, expected, actual):
        self.outcome["rows"] += expected.total()
        return [*(f"{name}: only the one database has {row}" for row in expected - actual),
                *(f"{name}: only the query database has {row}" for row in actual - expected)]

    def number_differences(self):
        found = []
        for (name, groups), owner, other in zip(HALVES.items(), self.nodes, reversed(self.nodes)):
            for table in ("actors", "rkeys"):
                lost = numbered(other.database, groups, table) - numbered(owner.database, groups, table)
                found += [f"{name} has no {row} of {table}, which {other.name} mentions" for row in lost]
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
