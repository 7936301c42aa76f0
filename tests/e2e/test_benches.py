"""The benchmarks of bench/: each fails if one of its figures is missing. scripts/bench --quick runs them all."""

import subprocess
import sys
import unittest

from harness import ROOT, EndToEnd, server_url

sys.path.insert(0, str(ROOT / "bench"))

from report import Report  # noqa: E402


class Figures(unittest.TestCase):
    def refused(self, message, *figure, **options):
        with self.assertRaises(SystemExit) as ended, Report("rate") as report:
            if figure:
                report.figure("rate", *figure, **options)
        self.assertEqual(str(ended.exception), message)

    def test_a_figure_is_missing(self):
        self.refused("no figure 'rate': it was not printed")
        self.refused("no figure 'rate': nan", float("nan"), ".0f")
        self.refused("no figure 'rate': nan", float("nan"), ".0f", positive=False)
        self.refused("no figure 'rate': inf", float("inf"), ".0f")
        self.refused("no figure 'rate': None", None, ".0f")
        self.refused("no figure 'rate': 0", 0, "8d")
        self.refused("no figure 'rate': 0.00", 0.004, "8.2f")
        with self.assertRaises(SystemExit) as ended, Report():
            pass
        self.assertEqual(str(ended.exception), "no figures: none was printed")

    def test_all_figures_are_there(self):
        with Report("rate", "growth", "lag") as report:
            self.assertEqual(report.figure("rate", 1234.5, "8.1f"), "  1234.5")
            self.assertEqual(report.figure("growth", -2, "+.1f", positive=False), "-2.0")
            self.assertEqual(report.figure("lag", 0.0, ".2f", positive=False), "0.00")

    def test_another_error_is_reported_as_such(self):
        with self.assertRaises(ZeroDivisionError), Report("rate"):
            raise ZeroDivisionError


class Benches(EndToEnd):
    def test_a_benchmark_without_a_round(self):
        server_url()
        done = subprocess.run([ROOT / "bench/import_bench.py", "--quick", "--lines", "200", "--rounds", "0"],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("no figure 'COPY alone', 'skua', 'skua, again', 'ratio': it was not printed", done.stderr)


if __name__ == "__main__":
    unittest.main()
