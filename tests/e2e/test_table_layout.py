"""Commands that read tables by their blocks refuse partitioned and foreign tables of records."""

import json

from harness import EndToEnd

WRITING = (["run", "--relay", "ws://127.0.0.1:1"], ["backfill", "--network", "--relay", "http://127.0.0.1:1"], ["retention", "apply"], ["lexicon", "check"], ["verify"],
           ["filter", "prune"], ["replay", "/dev/null"])


class TableLayout(EndToEnd):
    def test_a_foreign_part_of_a_table(self):
        database = self.database()
        database.run("""create foreign data wrapper nothing; create server other foreign data wrapper nothing;
                        create foreign table public.posts_of_another_server () inherits (bsky.posts) server other""")
        for command in WRITING:
            with self.subTest(command):
                refused = self.skua(database, *command, code=1)
                self.assertTrue(refused.says("bsky.posts is the parent of other tables"), refused.tail())
        report = self.start([self.binary("skua"), "doctor", "--json"], self.environment(database))
        self.assertEqual(report.wait(60), 1)
        codes = {finding["code"] for finding in json.loads("\n".join(report.stdout))["findings"] if finding["level"] == "error"}
        self.assertEqual(codes, {"tables-divided"})
        database.run("drop foreign table public.posts_of_another_server")
        self.skua(database, "retention", "apply")
