"""Ten hostile projections beside the indexer: each stops at its bound with a reason and a cure, and ingest, other consumers
and readers continue."""

import unittest

import hostile_projections
from harness import BIN, wait_for
from made import busy_network
from test_broken_consumers import ConsumersTest
from test_own_projections import examples

OTHERS = ("post_stats", "actor_stats", "engagement", "lang_days")
READER = """select p.rkey, s.likes from bsky.posts p left join bsky.post_stats s using (actor_id, rkey)
            where p.actor_id = (select min(id) from bsky.actors) order by p.rkey desc limit 20"""


class HostileProjections(ConsumersTest):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.sim_network, self.people = busy_network(accounts=6, rounds=4)
        self.index(self.db, self.sim_network)

    def projection(self, *arguments, code=0):
        return "\n".join(self.skua(self.db, "projection", *arguments, code=code).output())

    def add_others(self):
        for name, text in examples().items():
            if name not in OTHERS:
                continue
            path = self.folder / f"{name}.sql"
            path.write_text(text)
            self.projection("add", path)
        for name in OTHERS:
            self.skua(self.db, "consumers", "add", name)

    def test_each_stops_and_others_continue(self):
        self.add_others()
        hostile_projections.add(lambda *arguments: self.skua(self.db, *arguments), self.db, self.folder)
        quoted = self.folder / "quoted.sql"
        quoted.write_text(hostile_projections.text_of("endless", "now").replace("projection: endless", 'projection: en"dless'))
        self.assertIn("a name has a-z, 0-9 and _", self.projection("add", quoted, code=2))
        program, pages = self.run_consumers(self.db, "--threads", "1")
        wait_for("the builds", lambda: hostile_projections.are_built(self.db), seconds=120, alive=[program])
        hostile_projections.turn_hostile(self.db)

        posts = self.db.value("select count(*) from bsky.posts where cid is not null")
        for turn in range(3):
            self.write(self.db, self.sim_network, self.people)
            # While the hostile ones hold their threads.
            for name in OTHERS:
                wait_for(name, lambda name=name: self.is_current(self.db, name), seconds=60, alive=[program])
            self.assertEqual(self.db.value("select count(*) from bsky.posts where cid is not null"), posts + (turn + 1) * len(self.people))
            self.assertGreater(len(self.db.rows(READER)), turn)
        wait_for("the reasons", lambda: not hostile_projections.unmet(hostile_projections.listed(BIN / "skua", self.db)),
                 seconds=120, alive=[program])
        wait_for("the problems", lambda: set(hostile_projections.REASONS) <= {
            one["subject"] for one in pages.ready()[1]["reasons"]}, alive=[program])
        for name in OTHERS:
            self.assertIn("equals the records", self.consumers(self.db, "verify", name))

        # The cures: a rebuild gives the functions, tables and views of the file again.
        self.db.run("create or replace view public.hostile_view as select actor_id as id from bsky.likes")
        rebuilt = ("lock", "dropped", "cycle")
        for name in rebuilt:
            self.skua(self.db, "consumers", "rebuild", name)
        self.write(self.db, self.sim_network, self.people)
        for name in (*rebuilt, *OTHERS):
            wait_for(name, lambda name=name: self.is_current(self.db, name), seconds=60, alive=[program])
        for name in hostile_projections.NAMES:
            self.skua(self.db, "consumers", "remove", name)
            self.projection("remove", name)
        names = "|".join(hostile_projections.NAMES)
        wait_for("the drops", lambda: not self.db.value(
            f"""select count(*) from (select proname as name, pronamespace as schema from pg_proc union all
                select relname, relnamespace from pg_class) o
                where schema = 'projections'::regnamespace and name ~ '^({names})(_|$)'"""), seconds=60, alive=[program])
        self.assertEqual(program.stop(), 0)


if __name__ == "__main__":
    unittest.main()
