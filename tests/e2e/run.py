#!/usr/bin/env python3
"""tests/e2e/run.py [--report FILE] [NAME...]

Runs the end-to-end tests (all, or those of test_NAME.py) against the programs in SKUA_BIN_DIR and the
server in SKUA_TEST_DATABASE_URL. --report writes {"passed": N, "failed": [...], "skipped": [[test, why]]}.
"""

import json
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Result(unittest.TextTestResult):
    """Prints one line a test, with its time, and keeps what passed."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.passed = []

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed.append(test.id())

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"    {time.monotonic() - self.started:6.1f} s")
        self.stream.flush()


def main():
    arguments = sys.argv[1:]
    report = None
    if arguments[:1] == ["--report"]:
        report, arguments = pathlib.Path(arguments[1]), arguments[2:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    sys.path.insert(0, str(HERE))
    names = [f"test_{name}" for name in arguments] or sorted(file.stem for file in HERE.glob("test_*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result, stream=sys.stderr).run(suite)
    failed = [test.id() for test, _ in result.failures + result.errors]
    failed += [test.id() for test in result.unexpectedSuccesses]
    if report:
        skipped = [[test.id(), why] for test, why in result.skipped]
        passed = [name for name in result.passed if name not in failed]
        report.write_text(json.dumps({"passed": len(passed), "failed": failed, "skipped": skipped}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
