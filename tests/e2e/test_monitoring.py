"""The files for Prometheus and Grafana: promtool accepts and tests the alert rules, and each metric in them exists."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import ROOT, EndToEnd, missing

FOLDER = ROOT / "packaging/monitoring"


def dashboard_expressions():
    panels = json.loads((FOLDER / "grafana_dashboard.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


class Monitoring(EndToEnd):
    def promtool(self, *arguments):
        program = shutil.which("promtool")
        if program is None:
            missing("promtool (scripts/setup --with-e2e)", "SKUA_REQUIRE_PROMTOOL")
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def metrics(self):
        """The samples of each metric of the program by name: those of a histogram have suffixes."""
        listed = subprocess.run([self.binary("skua"), "help", "metrics", "--markdown"], capture_output=True, text=True,
                                timeout=60, check=True).stdout
        for name, kind in re.findall(r"^\| `(skua_\w+)` \| (\w+) \|", listed, re.MULTILINE):
            yield from ([f"{name}_{part}" for part in ("bucket", "sum", "count")] if kind == "histogram" else [name])

    def test_the_rules_are_valid_and_fire_for_their_causes(self):
        self.promtool("check", "rules", str(FOLDER / "alerts.yml"))
        self.promtool("test", "rules", str(FOLDER / "alerts_test.yml"))

    def test_the_expressions_of_the_dashboard_are_valid(self):
        expressions = dashboard_expressions()
        self.assertGreater(len(expressions), 20)
        rules = [{"record": f"r{i}", "expr": expression.replace("$instance", ".*")} for i, expression in enumerate(expressions)]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            # YAML contains JSON.
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
            file.flush()
            self.promtool("check", "rules", file.name)

    def test_each_metric_exists(self):
        known = set(self.metrics())
        self.assertIn("skua_commit_latency_seconds_bucket", known)
        for text in ((FOLDER / "alerts.yml").read_text(), " ".join(dashboard_expressions())):
            named = set(re.findall(r"\bskua_[a-z_]+", text))
            self.assertGreater(len(named), 8)
            self.assertEqual(named - known, set())

    def test_the_codes_in_the_rules_exist(self):
        listed = subprocess.run([self.binary("skua"), "help", "problems"], capture_output=True, text=True, timeout=60,
                                check=True).stdout
        codes = set(re.findall(r"^([a-z-]+)  +\S", listed, re.MULTILINE))
        text = (FOLDER / "alerts.yml").read_text()
        named = {code for group in re.findall(r'code[!=]~"([^"]+)"', text) for code in group.split("|")}
        named |= set(re.findall(r"`skua help ([a-z]+-[a-z-]+)`", text))
        self.assertGreater(len(named), 5)
        self.assertEqual(named - codes, set())

    def test_the_commands_in_the_rules_exist(self):
        for words in re.findall(r"`skua ((?:[a-z-]+ ?)+)", (FOLDER / "alerts.yml").read_text()):
            done = subprocess.run([self.binary("skua"), "help", *words.split()], capture_output=True, text=True, timeout=60,
                                  check=False)
            if words.split()[0] != "help":
                self.assertEqual(done.returncode, 0, words)


if __name__ == "__main__":
    unittest.main()
