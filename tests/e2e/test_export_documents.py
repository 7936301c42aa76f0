"""docs/export.md, the notebook docs/content.ipynb and the dashboard of the content: their commands, programs and statements
run on real exports and a real database, and print what the database has."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import filled
from harness import BIN, ROOT, missing, need_python
from test_documents import blocks
from test_export import ExportTest

PAGE = "docs/export.md"
NOTEBOOK = ROOT / "docs/content.ipynb"
DASHBOARD = ROOT / "packaging/monitoring/grafana_content.json"


class Documents(ExportTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.packages = pathlib.Path(folder.name)

    def setUp(self):
        super().setUp()
        self.content = self.database()
        filled.fill(self.content, rows=3000, accounts=50, known=300)
        # Most posts are of the last hours.
        self.content.run("update bsky.posts set created_at = now() - (rkey % 40000) * interval '1 second' where cid is not null;"
                         "update bsky.posts set text = E'line 1\\nline \"2\", end' where actor_id = 3")

    def run_in_folder(self, command, text=""):
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, cwd=self.folder, check=False,
                              env={**os.environ, **self.environment(self.content), "PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def export_posts(self):
        command = next(line for block in blocks(PAGE, "sh") for line in block.splitlines() if "--output posts.csv" in line)
        self.run_in_folder(["bash", "-e"], command)

    def hours(self):
        """The number of posts by hour."""
        return {row["hour"]: row["count"] for row in self.content.rows(
            "select to_char(sort_at at time zone 'UTC', 'YYYY-MM-DD HH24:00') as hour, count(*) from bsky.posts_view "
            "where sort_at >= now() - interval '7 days' group by 1")}

    def test_the_commands(self):
        for block in blocks(PAGE, "sh"):
            for line in block.splitlines():
                with self.subTest(line):
                    words = shlex.split(line)
                    # The post of the example is not in this database.
                    if words[2:3] == ["likes"]:
                        words[3] = f"at://{filled.ACCOUNT}/app.bsky.feed.post/{filled.FIRST_POST}"
                    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=self.folder, check=False,
                                          env={**os.environ, **self.environment(self.content), "PATH": f"{BIN}:{os.environ['PATH']}"})
                    self.assertEqual(done.returncode, 2 if "parquet" in words else 0, done.stderr)
        self.assertGreater(len(list(self.folder.iterdir())), 4)

    def test_the_examples_for_duckdb_and_pandas(self):
        python = need_python(self.packages / "both", "duckdb", "pandas")
        self.export_posts()
        printed = [self.run_in_folder([python, "-"], program) for program in blocks(PAGE, "python")]
        self.assertEqual(len(printed), 2)
        languages = self.content.rows("select unnest(langs) as lang, count(*) from bsky.posts_view group by 1")
        hour, count = max(self.hours().items())
        for text in printed:
            self.assertRegex(text, rf"{re.escape(hour)}\S* *\D* *{count}\b")
            for row in languages:
                self.assertRegex(text, rf"{row['lang']}\b\W*{row['count']}\b")

    def test_the_example_for_r(self):
        program = shutil.which("Rscript")
        if program is None:
            missing("Rscript (Debian: r-base-core)", "SKUA_REQUIRE_R")
        self.export_posts()
        (code,) = blocks(PAGE, "r")
        (self.folder / "posts.r").write_text(code)
        printed = self.run_in_folder([program, "--vanilla", "posts.r"])
        found = re.findall(r"\d{4}-\d\d-\d\d \d\d:00", printed)
        counts = [int(number) for line in printed.splitlines() if ":00" not in line for number in line.split()]
        self.assertEqual(dict(zip(found, counts)), self.hours())

    def test_the_notebook(self):
        python = need_python(self.packages / "pandas", "pandas")
        notebook = json.loads(NOTEBOOK.read_text())
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertGreater(len(cells), 5)
        self.assertEqual([cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"], [[]] * len(cells))
        ends = """
print(json.dumps({"hours": {time.strftime("%Y-%m-%d %H:00"): int(count) for time, count in by_hour.items()},
                  **{name: {key: int(count) for key, count in found.items()}
                     for name, found in (("languages", languages), ("tags", tags), ("hosts", hosts))}}))
"""
        found = json.loads(self.run_in_folder([python, "-"], "\n".join([*cells, ends])).splitlines()[-1])
        count = lambda column: {row["name"]: row["count"] for row in self.content.rows(
            f"select unnest({column}) as name, count(*) from bsky.posts_view where sort_at >= now() - interval '7 days' group by 1")}
        self.assertEqual(found["hours"], self.hours())
        self.assertEqual(found["languages"], count("langs"))
        self.assertEqual(found["tags"], count("all_tags"))
        self.assertEqual(found["hosts"], count("link_hosts"))
        self.assertGreater(min(map(len, found.values())), 0)

    def test_the_queries_of_the_dashboard(self):
        panels = [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]
        self.assertGreater(len(panels), 6)
        self.content.run("analyze")
        for panel in panels:
            (target,) = panel["targets"]
            with self.subTest(panel["title"]):
                # As Grafana replaces its macros.
                sql = re.sub(r"\$__timeFilter\((\w+)\)", r"\1 between now() - interval '24 hours' and now()", target["rawSql"])
                self.assertNotIn("$", sql)
                self.assertIn("sort_at between", sql)
                rows = self.content.rows(sql)
                self.assertGreater(len(rows), 0)
                self.assertTrue(panel["description"])
                if target["format"] == "time_series":
                    self.assertTrue(all(row["time"] for row in rows))
                    self.assertEqual([row["time"] for row in rows], sorted(row["time"] for row in rows))
        posts = self.content.rows(re.sub(r"\$__timeFilter\((\w+)\)", r"\1 > '-infinity'", panels[0]["targets"][0]["rawSql"]))
        self.assertEqual(sum(row["posts"] + row["replies"] for row in posts), self.content.value("select count(*) from bsky.posts_view"))

    def test_the_ids_and_places_of_the_dashboard(self):
        panels = json.loads(DASHBOARD.read_text())["panels"]
        self.assertEqual([panel["id"] for panel in panels], list(range(1, len(panels) + 1)))
        cells = [(x, y) for panel in panels for place in [panel["gridPos"]] for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])]
        self.assertEqual(len(cells), len(set(cells)), "panels overlap")


if __name__ == "__main__":
    unittest.main()
