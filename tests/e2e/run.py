#!/usr/bin/env python3
"""tests/e2e/run.py [--report FILE] [--jobs N] [NAME...]

Runs the end-to-end tests (all, or those of test_NAME.py) against the programs in SKUA_BIN_DIR and the
server in SKUA_TEST_DATABASE_URL. It runs N files at once (default 5, because most of them mostly wait), then
real_pds, whose packages are installed meanwhile. A test that failed while others were running runs again
alone, because the machine may have been too slow for five files. The output shows both runs, and the summary
names such tests. Investigate them: a rare defect also passes a second run.
--report writes {"passed": N, "failed": [...], "skipped": [[test, why]], "passed alone": [...]}.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor

from harness import BIN, MIGRATED_TEMPLATE, Database, server_url, with_database

HERE = pathlib.Path(__file__).resolve().parent
# The slow ones start first.
FIRST = ["filter", "backfill", "outage", "database_identity", "several_sources", "relay", "crash", "build_script", "export", "problems",
         "server_problems"]
# Those whose preparation takes long.
LAST = ["real_pds"]
# If more than these fail, the reason is not temporary.
MOST_AGAIN = 5


class Interrupted(Exception):
    """The tests were interrupted."""


class Result(unittest.TextTestResult):
    """Prints one line per test, with its time, and records which tests passed."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.passed = []

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed.append(test.id())

    def addError(self, test, error):
        super().addError(test, error)
        if error[0] is Interrupted:
            self.stop()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"    {time.monotonic() - self.started:6.1f} s")
        self.stream.flush()


def run_here(name):
    """Runs one file, or one test of it (FILE.CLASS.TEST), in this process; returns the report."""
    sys.path.insert(0, str(HERE))
    suite = unittest.defaultTestLoader.loadTestsFromName(f"test_{name}")

    def interrupt(number, _):
        # Raises an error in the running test, so that its programs and clusters are cleaned up; the reader of the
        # output may be gone already.
        signal.signal(number, signal.SIG_IGN)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise Interrupted

    signal.signal(signal.SIGTERM, interrupt)
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result, stream=sys.stdout)
    result = runner.run(suite)
    failed = [str(test.id()) for test, _ in result.failures + result.errors]
    failed += [test.id() for test in result.unexpectedSuccesses]
    return {
        "passed": len([test for test in result.passed if test not in failed]),
        "failed": failed,
        "skipped": [[test.id(), why] for test, why in result.skipped],
    }


def run_apart(name):
    """Runs one file in a separate process and prints its output; returns the report."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = subprocess.run(
            [sys.executable, __file__, "--report", report.name, "--here", name],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False,
        )
        print(f"--- {name}\n{done.stdout}", end="", flush=True)
        content = pathlib.Path(report.name).read_text()
    if not content:
        return {"passed": 0, "failed": [f"test_{name} ended with {done.returncode}"], "skipped": []}
    return json.loads(content)


def prepare_real_pds():
    """Downloads and compiles while the other tests run. If it fails, the test itself reports this."""
    subprocess.run(
        [sys.executable, HERE / "real_pds/install.py"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )


@contextlib.contextmanager
def migrated_template():
    """Creates the database that the tests' databases are copies of."""
    if not os.environ.get("SKUA_TEST_DATABASE_URL"):
        yield
        return
    name = "e2e_template_" + uuid.uuid4().hex[:16]
    database = Database(with_database(server_url(), name))
    Database(with_database(server_url(), "postgres")).run(f"create database {name}")
    try:
        subprocess.run([BIN / "skua", "migrate"], env={**os.environ, "SKUA_DATABASE_URL": database.url, "SKUA_CONFIG": ""},
                       stdout=subprocess.DEVNULL, check=True)
        os.environ[MIGRATED_TEMPLATE] = name
        yield
    finally:
        os.environ.pop(MIGRATED_TEMPLATE, None)
        database.drop()


def run_all(names, jobs):
    together = [name for name in FIRST if name in names]
    together += [name for name in names if name not in FIRST + LAST]
    with ThreadPoolExecutor(1) as preparation, ThreadPoolExecutor(jobs) as pool:
        if "real_pds" in names:
            preparation.submit(prepare_real_pds)
        reports = list(pool.map(run_apart, together))
    reports += [run_apart(name) for name in LAST if name in names]
    failed = [test for report in reports for test in report["failed"]]
    passed_alone = run_again({name_of(test) for test in failed}) if jobs > 1 else []
    return {
        "passed": sum(report["passed"] for report in reports) + len(passed_alone),
        "failed": [test for test in failed if name_of(test) not in passed_alone],
        "skipped": [test for report in reports for test in report["skipped"]],
        "passed alone": passed_alone,
    }


def name_of(failure):
    """FILE.CLASS.TEST of a failed test; the parameters of a failed subTest follow after a space."""
    return failure.split(" ")[0]


def run_again(names):
    """Returns which of a few failed tests pass when they run alone."""
    if len(names) > MOST_AGAIN:
        return []
    single = sorted(name for name in names if name.count(".") == 2)
    return [name for name in single if not run_apart(name.removeprefix("test_"))["failed"]]


def main():
    # A shell that starts this in the background makes it ignore SIGINT, and all programs of the tests would inherit
    # this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--here", action="store_true", help="one file, in this process")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    known = sorted(file.stem[len("test_") :] for file in HERE.glob("test_*.py"))
    for name in options.names:
        if name.split(".")[0] not in known:
            parser.error(f"there is no {name}; there are: {', '.join(known)}")
    names = options.names or known
    if options.here:
        report = run_here(names[0])
    else:
        with migrated_template():
            report = run_all(names, options.jobs)
    if options.report:
        options.report.write_text(json.dumps(report))
    if not options.here:
        counts = f"{report['passed']} passed, {len(report['failed'])} failed, {len(report['skipped'])} skipped"
        print(f"end-to-end: {counts}")
        if report["passed alone"]:
            print(f"passed only when run again, alone: {', '.join(report['passed alone'])}")
    return 1 if report["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
