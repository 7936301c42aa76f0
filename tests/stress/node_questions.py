"""Questions to a query database whose servers are stopped and started: each answer must be right or an error."""

import collections
import subprocess
import threading
import traceback

from harness import PSQL

# The groups of accounts of each node.
HALVES = {"west": range(32), "east": range(32, 64)}


class Session:
    """A connection that stays open, with a statement that keeps its plan."""

    START = ("set plan_cache_mode = force_generic_plan; "
             "prepare likes(int8) as select coalesce(sum(likes), 0) from bsky.post_stats where actor_id = $1;\n")
    END = "end of the answer"

    def __init__(self, url):
        self.url, self.process = url, None

    def likes(self, account):
        """Raises AssertionError without an answer."""
        was_open = self.process is not None
        answer, has_end = self._ask(f"execute likes({account});\n\\echo {self.END}\n")
        if not has_end:
            self.close()
            if was_open:  # psql notices with its next statement that the server was away.
                return self.likes(account)
        if not has_end or not answer.isdigit():
            raise AssertionError(f"psql: {answer}")
        return answer

    def _ask(self, text):
        """The output, and whether it has its end."""
        if self.process is None:
            self.process = subprocess.Popen([PSQL, "-XAtq", self.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True)
            text = self.START + text
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        lines = []
        for line in self.process.stdout:
            if line.strip() == self.END:
                return "".join(lines).strip(), True
            lines.append(line)
        return "".join(lines).strip(), False

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
        before, phases, expected = *states(servers), self._truth(truth, needed)
        try:
            answer, error = question(), None
        except AssertionError as failure:
            answer, error = None, failure
        is_same = self._truth(truth, needed) == expected
        is_steady = states(servers)[0] == before
        self.counts["errors" if error else "answers"] += 1
        if error and is_steady and set(phases) == {"up"}:
            self.differences.append(f"{name}: failed although all that it needs was there: {error}")
        if not error and is_steady and "away" in phases:
            self.differences.append(f"{name}: answered {answer!r} while its servers were {phases}")
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
        stored = f"select string_agg(rkey || '=' || likes, ' ' order by rkey) from bsky.post_stats where actor_id = {account}"
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
        before, phases = states(servers)
        try:
            problems = {row["name"]: row["problem"] for row in self.ask.database.rows("select name, problem from skua.node_states()")}
        except AssertionError as failure:
            problems = str(failure)
        if states(servers)[0] != before or not {"up", "away"} >= set(phases):
            return
        self._check("states", problems, isinstance(problems, str) == (phases[0] == "away"), phases)
        if phases[0] == "up" and not isinstance(problems, str):
            for node, phase in zip(self.nodes, phases[1:]):
                self._check(f"state of {node.name}", problems, (problems[node.name] is None) == (phase == "up"), phases)


def states(servers):
    return [server.state for server in servers], [server.phase() for server in servers]


def owned(node, column):
    """A condition: the account belongs to the node."""
    groups = HALVES[node.name]
    return f"({column} >> 57) between {groups.start} and {groups.stop - 1}"
