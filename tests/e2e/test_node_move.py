"""Groups move from a node to another one while both run, and nothing is lost, doubled or under two numbers."""

import signal
import subprocess

import test_groups
import test_node_feed
import test_nodes
import test_serve
from harness import BIN, wait_for
from node_content import OF_NODES, OF_ONE, SUMMED, WAITING, numbered, shown, sums
from test_backfill import Backfill
from test_node_feed import place


class NodeMove(Backfill):
    live_network, follow, json_of = test_groups.Groups.live_network, test_groups.Groups.follow, test_groups.Groups.json_of
    joined, check_equal = test_nodes.Nodes.joined, test_nodes.Nodes.check_equal
    serve, changes, ends = test_serve.ServeTest.serve, test_serve.ServeTest.changes, test_node_feed.NodeFeed.ends

    def begin_network(self):
        """(network, one database with everything, query database, nodes, the processes of these databases)."""
        network = self.live_network()
        one = self.database()
        ask, nodes = self.joined()
        for database in (one, *nodes):
            for name in OF_ONE if database is one else OF_NODES:
                self.skua(database, "consumers", "add", name)
        seq = network.steps(300)["seq"]
        # The end of a process saves its cursor.
        for run in [self.follow(database, network, seq, "--cursor", "oldest") for database in (one, *nodes)]:
            self.assertEqual(run.stop(), 0)
        runs = [self.begin(database, network, "run") for database in (one, *nodes)]
        self.reach(network, runs, 20)
        # About half of the accounts of the first node move.
        groups = sorted(map(int, nodes[0].run("select distinct bsky.account_group(did) from bsky.all_records").split()))
        self.first_moved = groups[len(groups) // 2]
        self.groups_moved = f"{self.first_moved}-31"
        return network, one, ask, nodes, runs

    def move(self, ask, to, groups=None, **environment):
        return self.start([BIN / "skua", "nodes", "move", groups or self.groups_moved, "--to", to], {**self.environment(ask), **environment})

    def moved(self, ask, to, groups=None):
        program = self.move(ask, to, groups)
        self.assertEqual(program.wait(60), 0, program.tail())
        return program

    def reach(self, network, runs, steps):
        seq = network.steps(steps)["seq"]
        for run in runs:
            wait_for(f"cursor {seq}", lambda run=run: run.reached(seq), seconds=60, alive=runs)

    def check_content(self, one, nodes, runs):
        """All records are there once and encode to their CIDs, on the nodes that own their accounts and with numbers that all know."""
        wait_for("the references", lambda: not any(node.value(WAITING) for node in nodes), alive=runs)

        def found():
            both = self.json_of(nodes[0]) + self.json_of(nodes[1])
            del both[""]
            return both
        try:
            # A process that has not noticed the move yet may have shown the cursor, and downloads may be under way.
            wait_for("the records", lambda: found() == self.json_of(one), alive=runs)
        except AssertionError:
            self.check_equal(found(), self.json_of(one))
            raise
        owned = [{int(group) for group in node.run("select unnest(owned) from skua.account_groups").split()} for node in nodes]
        self.assertEqual(sorted([*owned[0], *owned[1]]), list(range(64)))
        for number, node in enumerate(nodes):
            for table in ("bsky.all_records", "skua.repositories", "skua.identities"):
                stored = {int(group) for group in node.run(f"select distinct bsky.account_group(did) from {table}").split()}
                self.assertLessEqual(stored, owned[number], table)
            self.assertTrue(node.value("select bool_and(id = skua.new_account_number(did)) from bsky.actors"))
            for table in ("actors", "rkeys"):
                known, owners = (numbered(database, range(64), table) for database in (node, nodes[1 - number]))
                foreign = {row for row in known if (int(row.split("|")[0 if table == "actors" else 1]) >> 57) in owned[1 - number]}
                self.assertTrue(foreign or table == "rkeys")
                self.assertEqual(foreign - owners, set())

    def check_projections(self, one, ask, nodes, runs):
        ends = {database: database.run("select skua.change_log_end()") for database in (one, *nodes)}
        for name in OF_NODES:
            wait_for(f"{name} on all nodes", lambda name=name: ask.value(f"select bsky.is_current('{name}')") and all(
                database.value(f"select (select pos from skua.consumer_progress('{name}')) >= {end}") for database, end in ends.items()), alive=runs)
            with self.subTest(name):
                read = sums if name in SUMMED else shown
                expected = read(one, name)
                try:
                    # Replies are told to other nodes.
                    wait_for(f"the rows of {name}", lambda read=read, name=name, expected=expected: read(ask, name) == expected, alive=runs)
                except AssertionError:
                    self.check_equal(read(ask, name), expected)
                    raise

    def check_views(self, one, ask):
        for view in ("posts_view", "likes_view", "actors_view", "post_rules"):
            with self.subTest(view):
                self.check_equal(shown(ask, view), shown(one, view))

    def test_groups_move_while_everything_runs(self):
        network, one, ask, nodes, runs = self.begin_network()
        program = self.move(ask, "n1")
        while program.process.poll() is None:
            network.steps(5)
        self.assertEqual(program.wait(60), 0, program.tail())
        self.reach(network, runs, 50)
        self.assertEqual([node.run("select array_to_string(owned, ',') from skua.account_groups").count(",") for node in nodes],
                         [self.first_moved - 1, 63 - self.first_moved])
        self.assertGreater(one.value(f"select count(*) from bsky.all_records where bsky.account_group(did) between {self.first_moved} and 31"), 5)
        self.check_content(one, nodes, runs)
        self.check_projections(one, ask, nodes, runs)
        # The records still count on the first node, so a comparison with the records of one node makes no sense.
        verify = self.skua(nodes[0], "consumers", "verify", "post_stats", code=1)
        self.assertTrue(verify.says("`skua consumers rebuild post_stats` on both nodes changes that"), verify.tail())
        # And back: posts on whose first CIDs records rely are there already.
        self.assertTrue(nodes[0].value(f"select count(*) > 0 from bsky.posts where (actor_id >> 57) between {self.first_moved} and 31"))
        self.moved(ask, "n0")
        self.reach(network, runs, 50)
        self.check_content(one, nodes, runs)
        self.check_projections(one, ask, nodes, runs)
        self.check_views(one, ask)
        self.check_stream(ask, nodes)
        self.assertEqual([run.stop() for run in runs], [0] * 3)

    def check_stream(self, ask, nodes):
        """The changes of a collection of an account come in the order of their revisions, and lead to its present records."""
        client = self.changes(self.serve(ask), "?cursor=oldest&kind=record")
        ends = self.ends(nodes)
        records, revisions = {}, {}
        while client.pos is None or place(client.pos) != ends:
            kind, event = client.receive()
            if kind != "message":
                continue
            collection = event["did"], event["collection"]
            self.assertGreaterEqual(event["rev"], revisions.get(collection, ""), event)
            revisions[collection] = event["rev"]
            if event["op"] == "delete":
                del records[*collection, event["rkey"]]
            else:
                self.assertEqual((*collection, event["rkey"]) in records, event["op"] == "update", event)
                records[*collection, event["rkey"]] = event["cid"]
        stored = ask.run("select did, collection, rkey, cid from bsky.all_records").split("\n")
        self.assertEqual(sorted("|".join((*key, cid)) for key, cid in records.items()), sorted(stored))

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
        self.check_content(one, nodes, runs)

    def test_each_step_can_be_repeated(self):
        network, one, ask, nodes, runs = self.begin_network()
        # A move that is cancelled.
        killed = self.move(ask, "n1", SKUA_CRASH_AT="move_part:3")
        self.assertEqual(killed.wait(60), -9)
        self.assertTrue(self.skua(ask, "query", "latest").says(f"the groups {self.groups_moved} are being moved from n0 to n1"))
        for command in (("nodes", "list"), ("status",), ("doctor",)):
            told = self.start([BIN / "skua", *command], self.environment(ask))
            told.wait(60)
            self.assertTrue(told.says(f"the groups {self.groups_moved} are being moved from n0 to n1"), told.tail())
        self.assertTrue(self.skua(ask, "nodes", "remove", "n1", code=1).says(f"`skua nodes move {self.groups_moved} --to n1` ends that"))
        self.assertTrue(self.skua(ask, "nodes", "move", "5", "--to", "n1", code=1).says(f"`skua nodes move {self.groups_moved} --to n1` ends that"))
        network.steps(10)
        self.assertTrue(self.moved(ask, "n0").says(f"the node n0 owns the groups {self.groups_moved} again"))
        self.assertEqual(nodes[1].run(f"select count(*) from bsky.all_records where bsky.account_group(did) between {self.first_moved} and 31"), "0")
        # A kill after each step.
        for point in ("move_left:1", "move_phase:1", "move_part:1", "move_part:4", "move_phase:1", "move_arrived:1", "move_phase:1", "move_phase:1",
                      "move_removed_part:2"):
            killed = self.move(ask, "n1", SKUA_CRASH_AT=point)
            self.assertEqual(killed.wait(60), -9, point)
            network.steps(5)
        self.moved(ask, "n1")
        self.reach(network, runs, 40)
        self.check_content(one, nodes, runs)
        self.check_projections(one, ask, nodes, runs)
        self.assertEqual(ask.run("select string_agg(phase, ' ' order by number) from skua.group_moves"), "returned done")

    def test_a_backup_from_before_the_move(self):
        network, one, ask, nodes, runs = self.begin_network()
        file = self.folder / "node.dump"
        subprocess.run(["pg_dump", "-Fc", "-f", file, nodes[0].url], check=True)
        self.reach(network, runs, 40)
        self.moved(ask, "n1")
        self.reach(network, runs, 40)
        self.assertEqual(runs.pop(1).stop(), 0)
        lost, nodes[0] = nodes[0], self.database(migrated=False)
        lost.drop()
        subprocess.run(["pg_restore", "--exit-on-error", "-d", nodes[0].url, file], check=True)
        refused = self.begin(nodes[0], network, "run")
        self.assertEqual(refused.wait(60), 1)
        self.assertTrue(refused.says(f"the node n1 has taken groups of this database ({self.groups_moved})"), refused.tail())
        program = self.start([BIN / "skua", "nodes", "set", "n0", "--node-url", nodes[0].url], self.environment(ask))
        wait_for("the groups", lambda: nodes[0].value(f"select {self.first_moved} <> all (owned) from skua.account_groups"))
        # Rows are removed when the projections are up to date.
        runs.insert(1, self.begin(nodes[0], network, "run"))
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertTrue(program.says(f"the database of the node n0 is from before the move of the groups {self.groups_moved}"))
        self.reach(network, runs, 40)
        self.check_content(one, nodes, runs)
        self.check_projections(one, ask, nodes, runs)
        self.check_views(one, ask)
        self.assertEqual([run.stop() for run in runs], [0] * 3)

    def test_refusals(self):
        ask, nodes = self.joined()

        def refused(groups, to, reason):
            program = self.move(ask, to, groups)
            self.assertEqual(program.wait(60), 1, program.tail())
            self.assertTrue(program.says(reason), program.tail())

        refused("30-33", "n1", "the node n0 owns the groups 0-31: state groups of one node")
        self.assertTrue(self.moved(ask, "n0", "5").says("nothing changed: the node n0 owns the groups 5 already"))
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
