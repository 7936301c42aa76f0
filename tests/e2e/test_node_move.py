"""Groups move from a node to another one while both run, and nothing is lost, doubled or under two numbers."""

import signal

import test_groups
import test_nodes
from harness import BIN, wait_for
from node_content import SUMMED, VIEWS, WAITING, numbered, shown, sums
from test_backfill import Backfill

MOVED = "20-31"


class NodeMove(Backfill):
    live_network, follow, json_of = test_groups.Groups.live_network, test_groups.Groups.follow, test_groups.Groups.json_of
    joined, check_equal = test_nodes.Nodes.joined, test_nodes.Nodes.check_equal

    def begin_network(self):
        """(network, one database with everything, query database, nodes, the processes of these databases)."""
        network = self.live_network()
        one = self.database()
        ask, nodes = self.joined()
        for database in (one, *nodes):
            for name in SUMMED:
                self.skua(database, "consumers", "add", name)
        seq = network.steps(300)["seq"]
        runs = [self.follow(database, network, seq, "--cursor", "oldest") for database in (one, *nodes)]
        return network, one, ask, nodes, runs

    def move(self, ask, to, groups=MOVED, **environment):
        return self.start([BIN / "skua", "nodes", "move", groups, "--to", to], {**self.environment(ask), **environment})

    def moved(self, ask, to, groups=MOVED):
        program = self.move(ask, to, groups)
        self.assertEqual(program.wait(60), 0, program.tail())
        return program

    def reach(self, network, runs, steps):
        seq = network.steps(steps)["seq"]
        for run in runs:
            wait_for(f"cursor {seq}", lambda run=run: run.reached(seq), seconds=60, alive=runs)

    def check_all(self, one, ask, nodes, runs):
        wait_for("the references", lambda: not any(node.value(WAITING) for node in nodes), alive=runs)
        for name in SUMMED:
            wait_for(f"{name} on all nodes", lambda name=name: ask.value(f"select bsky.is_current('{name}')"), alive=runs)
            ends = [database.run("select skua.change_log_end()") for database in (one, *nodes)]
            wait_for(f"all of {name}", lambda name=name, ends=ends: all(
                database.value(f"select (select pos from skua.consumer_progress('{name}')) >= {end}") for database, end in zip((one, *nodes), ends)),
                alive=runs)
            with self.subTest(name):
                self.check_equal(sums(ask, name), sums(one, name))
        rows = 0
        for view in one.run(VIEWS).split():
            with self.subTest(view):
                expected = shown(one, view)
                rows += expected.total()
                self.check_equal(shown(ask, view), expected)
        self.assertGreater(rows, 300)
        json_of = [self.json_of(node) for node in nodes]
        self.check_equal(json_of[0] + json_of[1], self.json_of(one))
        for node in nodes:
            owned = {int(group) for group in node.run("select unnest(owned) from skua.account_groups").split()}
            for table, column in (("bsky.all_records", "did"), ("skua.repositories", "did"), ("skua.identities", "did")):
                stored = {int(group) for group in node.run(f"select distinct bsky.account_group({column}) from {table}").split()}
                self.assertLessEqual(stored, owned, table)
            self.assertTrue(node.value("select bool_and(id = skua.new_account_number(did)) from bsky.actors"))
        for one_node, other in (nodes, nodes[::-1]):
            owned = {int(group) for group in other.run("select unnest(owned) from skua.account_groups").split()}
            for table in ("actors", "rkeys"):
                for group in owned:
                    groups = range(group, group + 1)
                    self.assertEqual(numbered(one_node, groups, table) - numbered(other, groups, table), set())

    def test_groups_move_while_everything_runs(self):
        network, one, ask, nodes, runs = self.begin_network()
        program = self.move(ask, "n1")
        while program.process.poll() is None:
            network.steps(5)
        self.assertEqual(program.wait(60), 0, program.tail())
        self.reach(network, runs, 50)
        self.assertEqual([node.run("select array_to_string(owned, ',') from skua.account_groups").count(",") for node in nodes], [19, 43])
        self.assertGreater(one.value("select count(*) from bsky.all_records where bsky.account_group(did) between 20 and 31"), 50)
        self.check_all(one, ask, nodes, runs)
        # And back: posts on whose first CIDs records rely are there already.
        self.assertTrue(nodes[0].value("select count(*) > 0 from bsky.posts where (actor_id >> 57) between 20 and 31"))
        self.moved(ask, "n0")
        self.reach(network, runs, 50)
        self.check_all(one, ask, nodes, runs)
        self.assertEqual([run.stop() for run in runs], [0] * 3)

    def test_a_process_that_stood_still_during_the_move(self):
        network, one, ask, nodes, runs = self.begin_network()
        runs[1].process.send_signal(signal.SIGSTOP)
        runs[2].process.send_signal(signal.SIGSTOP)
        seq = network.steps(40)["seq"]
        self.moved(ask, "n1")
        for run in runs[1:]:
            run.process.send_signal(signal.SIGCONT)
        for run in runs:
            wait_for(f"cursor {seq}", lambda run=run: run.reached(seq), seconds=60, alive=runs)
        self.reach(network, runs, 40)
        self.check_all(one, ask, nodes, runs)

    def test_each_step_can_be_repeated(self):
        network, one, ask, nodes, runs = self.begin_network()
        # A move that is taken back.
        killed = self.move(ask, "n1", SKUA_CRASH_AT="move_part:3")
        self.assertEqual(killed.wait(60), -9)
        self.assertTrue(self.skua(ask, "query", "latest").says(f"the groups {MOVED} are being moved from n0 to n1"))
        self.assertTrue(self.skua(ask, "nodes", "list").says(f"the groups {MOVED} are being moved from n0 to n1"))
        self.assertTrue(self.skua(ask, "nodes", "remove", "n1", code=1).says(f"`skua nodes move {MOVED} --to n1` ends that"))
        self.assertTrue(self.skua(ask, "nodes", "move", "5", "--to", "n1", code=1).says(f"`skua nodes move {MOVED} --to n1` ends that"))
        network.steps(10)
        self.assertTrue(self.moved(ask, "n0").says(f"the node n0 owns the groups {MOVED} again"))
        self.assertEqual(nodes[1].run("select count(*) from bsky.all_records where bsky.account_group(did) between 20 and 31"), "0")
        # A kill after each step.
        for point in ("move_left:1", "move_phase:1", "move_part:1", "move_part:4", "move_phase:1", "move_arrived:1", "move_phase:1", "move_phase:1",
                      "move_removed_part:2"):
            killed = self.move(ask, "n1", SKUA_CRASH_AT=point)
            self.assertEqual(killed.wait(60), -9, point)
            network.steps(5)
        self.moved(ask, "n1")
        self.reach(network, runs, 40)
        self.check_all(one, ask, nodes, runs)
        self.assertEqual(ask.run("select string_agg(phase, ' ' order by number) from skua.group_moves"), "returned done")

    def test_refusals(self):
        ask, nodes = self.joined()

        def refused(groups, to, reason):
            program = self.move(ask, to, groups)
            self.assertEqual(program.wait(60), 1, program.tail())
            self.assertTrue(program.says(reason), program.tail())

        refused("30-33", "n1", "the node n0 owns the groups 0-31: state groups of one node")
        refused("5", "n0", "the node n0 owns the groups 5 already")
        refused("5", "n2", "there is no node n2")
        nodes[0].run("insert into skua.cursors values (7, null, now(), 'relay:a')")
        refused("5", "n1", "both must have begun with the same sources")
        nodes[1].run("insert into skua.cursors values (7, null, now(), 'relay:a')")
        nodes[0].run("insert into skua.retention (collection, keep) values ('app.bsky.feed.like', '3 days')")
        refused("5", "n1", "have different filters")
        nodes[0].run("delete from skua.retention")
        nodes[0].run("insert into skua.cursors values (7, null, now(), 'tap:a')")
        refused("5", "n1", "the node n0 reads a Tap")
        nodes[0].run("delete from skua.cursors where source = 'tap:a'")
        self.moved(ask, "n1", "0-31")
        self.assertEqual(nodes[0].run("select owned::text from skua.account_groups"), "{}")
        self.assertTrue(self.skua(ask, "nodes", "list").says("n0: groups none"))
        self.skua(ask, "nodes", "remove", "n0")
        self.assertFalse(self.skua(ask, "query", "latest").says("no node owns"))
