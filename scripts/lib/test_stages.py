"""The stages of scripts/test, which calls this with a throwaway server in SKUA_TEST_DATABASE_URL."""

import argparse
import concurrent.futures
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
LOGS = ROOT / "build/test-logs"
# The libraries with threads of their own.
THREADED = ["base", "transport", "documents", "ids", "writer", "backfill", "postgres", "tables", "filter", "consumers",
            "http_server", "streams", "accounts", "status", "pipeline", "sources", "integration"]
# The stages of scripts/test, without and with --sanitizers.
STAGES = ["format", "layers", "release", "e2e", "bench", "stress-release"]
QUICK_STAGES = ["format", "layers", "release"]
SANITIZER_STAGES = ["asan", "tsan", "stress-asan", "stress-tsan"]
# Seeds of the stress suite, seconds of traffic for each, and events per second: a slower build gets fewer events.
STRESS = {"release": (2, 25, 400), "asan": (1, 20, 150), "tsan": (1, 20, 150)}
LONG_STRESS = {"release": (30, 60, 400), "asan": (3, 60, 150), "tsan": (3, 60, 150)}
# Backfills with faults and kills: of an idle network, of a changing one, and of an empty database with --bootstrap.
BACKFILLS = {
    "backfill": ["--accounts", "20", "--records", "5000"],
    "backfill-live": ["--accounts", "30", "--records", "3000", "--live", "200"],
    "backfill-network": ["--accounts", "20", "--records", "3000", "--network", "--bootstrap", "--kills", "6"],
}
LONG_BACKFILLS = {
    "backfill": ["--seeds", "20", "--server", "1"],
    "backfill-live": ["--seeds", "20", "--records", "20000", "--live", "300", "--server", "1"],
    "backfill-network": ["--seeds", "20", "--network", "--bootstrap", "--kills", "8", "--server", "1"],
}
# Hostile accounts: the time of their attack. Other builds are too slow for it.
HOSTILE = ["--seconds", "10"]
LONG_HOSTILE = ["--seconds", "60", "--seeds", "5", "--longest-delay", "1"]
# Own projections over live traffic with kills, and broken consumers beside others.
OWN_PROJECTIONS = ["--kills", "4"]
LONG_OWN_PROJECTIONS = ["--kills", "30", "--seeds", "3"]
BROKEN_CONSUMERS = ["--minutes", "0.1"]
LONG_BROKEN_CONSUMERS = ["--minutes", "10"]
# Two nodes and a query database with faults.
NODES = ["--seed", "1", "--seeds", "2", "--seconds", "8"]
LONG_NODES = ["--seed", "1", "--seconds", "60", "--seeds", "5"]
# Why something did not run.
NO_TIME = "the time of --minutes was over"
# The exit code of timeout(1) if the time was over.
TIMEOUT_ENDED_IT = 124
# The time limit of a test program, as tests/CMakeLists.txt sets it. A program that reached it failed.
PROGRAM_SECONDS = 900


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.remarks = []

    def add(self, stage, passed=0, failed=(), skipped=()):
        self.passed += passed
        self.failed += [f"{stage}: {name}" for name in failed]
        self.skipped += [(f"{stage}: {name}", why) for name, why in skipped]

    def print(self):
        if self.skipped:
            print("\nSkipped:")
            by_reason = {}
            for name, why in self.skipped:
                by_reason.setdefault(why, []).append(name)
            for why, names in sorted(by_reason.items()):
                print(f"  {why}: {len(names)}")
                for name in names[:20]:
                    print(f"    {name}")
                if len(names) > 20:
                    print(f"    and {len(names) - 20} more")
        for remark in self.remarks:
            print(f"\n{remark}")
        if self.failed:
            print("\nFailed:")
            for name in self.failed:
                print(f"  {name}")
        print(f"\n{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")


class Run:
    def __init__(self, options):
        self.options = options
        self.report = Report()
        # The exit code of the last command.
        self.code = 0
        self.end = time.time() + 60 * options.minutes if options.minutes else None
        LOGS.mkdir(parents=True, exist_ok=True)
        self.environment = {
            **os.environ,
            "SKUA_REQUIRE_POSTGRES": "1",
            "SKUA_BIN_DIR": str(ROOT / "build/release/bin"),
            "SKUA_SIM": str(ROOT / "build/release/bin/skua-sim"),
            "ASAN_OPTIONS": "strict_string_checks=1:detect_stack_use_after_return=1",
            "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp:print_suppressions=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
        }
        if options.long:
            self.environment["SKUA_LONG"] = "1"

    def wanted(self, stage):
        chosen = [name.split("/")[0] for name in self.options.only]
        if chosen:
            return stage in chosen
        if self.options.quick:
            return stage in QUICK_STAGES
        return stage in (SANITIZER_STAGES if self.options.sanitizers else STAGES)

    def parts(self, stage):
        return [name.split("/")[1] for name in self.options.only if name.startswith(stage + "/")]

    def is_late(self, margin=0):
        return self.end is not None and time.time() >= self.end - margin

    def command(self, log, arguments, show=False):
        """Runs a command with its output in a log; True if it succeeded. Otherwise prints the end of the log."""
        path = LOGS / f"{log}.log"
        with path.open("w") as out:
            if show:
                process = subprocess.Popen(
                    arguments, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                )
                for line in process.stdout:
                    out.write(line)
                    print(line, end="", flush=True)
                self.code = process.wait()
                return self.code == 0
            done = subprocess.run(
                arguments, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, check=False,
            )
        self.code = done.returncode
        if self.code != 0:
            lines = path.read_text(errors="replace").splitlines()
            print("\n".join(lines[-60:]))
            print(f"(all of it: {path.relative_to(ROOT)})")
        return self.code == 0

    def stage(self, name, work):
        if not self.wanted(name):
            return
        if self.is_late():
            self.report.add(name, skipped=[("the whole stage", NO_TIME)])
            return
        print(f"==> {name}", flush=True)
        started = time.monotonic()
        passed, failed, skipped = self.report.passed, len(self.report.failed), len(self.report.skipped)
        work()
        print(
            f"    {self.report.passed - passed} passed, {len(self.report.failed) - failed} failed, "
            f"{len(self.report.skipped) - skipped} skipped, {time.monotonic() - started:.0f} s",
            flush=True,
        )

    def check(self, stage, name, arguments):
        good = self.command(f"{stage}-{name}", arguments)
        self.report.add(stage, passed=int(good), failed=[] if good else [name])
        return good

    def build(self, preset, targets=()):
        command = [str(SCRIPTS / "build"), preset, *targets]
        if self.end is not None:
            command = ["timeout", str(max(1, math.ceil(self.end - time.time()))), *command]
        if self.command(f"{preset}-build", command):
            return True
        if self.code == TIMEOUT_ENDED_IT:
            self.report.add(preset, skipped=[("build", NO_TIME)])
            return False
        self.report.add(preset, failed=["build"])
        return False

    def build_network(self):
        """The simulated network is not under test: one build of it serves the tests of all builds."""
        return self.build("release", ["skua-sim"])

    def format(self):
        done = subprocess.run([str(SCRIPTS / "format"), "--has-version"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.report.add("format", skipped=[("clang-format", done.stderr.strip())])
            return
        self.check("format", "clang-format", [str(SCRIPTS / "format"), "--check"])

    def layers(self):
        self.check("layers", "self-test", [str(SCRIPTS / "check_layers"), "--self-test"])
        self.check("layers", "includes", [str(SCRIPTS / "check_layers")])
        self.check("layers", "terms self-test", [str(SCRIPTS / "check_terms"), "--self-test"])
        self.check("layers", "terms", [str(SCRIPTS / "check_terms")])
        self.check("layers", "prose self-test", [str(SCRIPTS / "check_prose"), "--self-test"])
        self.check("layers", "prose", [str(SCRIPTS / "check_prose")])

    def release(self):
        self.unit_and_integration("release", self.parts("release"))

    def asan(self):
        self.unit_and_integration("asan", self.parts("asan"))

    def tsan(self):
        self.unit_and_integration("tsan", self.parts("tsan") or THREADED)

    def unit_and_integration(self, preset, names):
        if self.build_network() and self.build(preset, [f"tests_{name}" for name in names]):
            self.ctest(preset, names)

    def ctest(self, preset, names=()):
        """Runs a preset's test programs and counts their individual tests."""
        folder = LOGS / f"{preset}-xml"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.xml"):
            old.unlink()
        junit = folder / "ctest.junit"
        arguments = ["ctest", "--preset", preset, "-LE", "e2e", "-j", "3", "--output-junit", str(junit)]
        if names:
            arguments += ["-R", "^(" + "|".join(names) + ")(_postgres)?$"]
        programs = ctest_names(arguments)
        if self.end is not None:
            arguments += ["--stop-time", time.strftime("%H:%M:%S", time.localtime(self.end))]
        arguments = unrandomised(preset) + arguments
        self.environment["GTEST_OUTPUT"] = f"xml:{folder}/"
        self.command(f"{preset}-ctest", arguments)
        del self.environment["GTEST_OUTPUT"]
        self.count_ctest(preset, junit, folder, programs)

    def count_ctest(self, preset, junit, folder, programs):
        if not junit.exists():
            self.report.add(preset, failed=["ctest did not run"])
            return
        if not programs:
            self.report.add(preset, failed=["no tests were found"])
        cases = {case.get("name"): case for case in ElementTree.parse(junit).getroot().iter("testcase")}
        stopped = re.findall(r"Test +#\d+: (\S+) [.]*[*]+Timeout", (LOGS / f"{preset}-ctest.log").read_text(errors="replace"))
        for name in programs:
            case = cases.get(name)
            # ctest ends the programs at a full second, so shortly before the end.
            if self.is_late(margin=2) and (case is None or (name in stopped and float(case.get("time")) < PROGRAM_SECONDS)):
                self.report.add(preset, skipped=[(name, NO_TIME)])
                continue
            if case is None:
                self.report.add(preset, failed=[f"{name} did not run"])
                continue
            file = folder / f"test_{name}.xml"
            passed, failed, skipped = count_googletest(file) if file.exists() else (0, [], [])
            if case.get("status") != "run" and not failed:
                failed = [f"{name}: the program ended badly (build/test-logs/{preset}-ctest.log)"
                          + last_lines(case.findtext("system-out") or "")]
            self.report.add(preset, passed, failed, skipped)

    def stress(self, preset):
        """Runs skua of one build on the simulated network with faults and kills."""
        if not self.build_network() or not self.build(preset, ["skua"]):
            return
        seeds, seconds, rate = (LONG_STRESS if self.options.long else STRESS)[preset]
        programs = [("stress.py", f"stress-{preset}",
                     ["--seeds", str(seeds), "--seconds", str(seconds), "--rate", str(rate)])]
        for name, options in (LONG_BACKFILLS if self.options.long else BACKFILLS).items():
            programs.append(("backfill.py", f"{name}-{preset}", options))
        if preset == "release":
            for program, usual, long in (("hostile", HOSTILE, LONG_HOSTILE), ("own_projections", OWN_PROJECTIONS, LONG_OWN_PROJECTIONS),
                                         ("broken_consumers", BROKEN_CONSUMERS, LONG_BROKEN_CONSUMERS), ("nodes", NODES, LONG_NODES)):
                programs.append((f"{program}.py", f"{program}-release", long if self.options.long else usual))
        self.environment["SKUA_BIN_DIR"] = str(ROOT / f"build/{preset}/bin")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda program: self.stress_program(preset, *program), programs):
                pass
        self.environment["SKUA_BIN_DIR"] = str(ROOT / "build/release/bin")

    def stress_program(self, preset, program, log, options):
        """Runs a program of tests/stress with skua of a build, and counts its seeds."""
        results = LOGS / f"{log}.json"
        results.unlink(missing_ok=True)
        command = [sys.executable, str(ROOT / "tests/stress" / program), "--jobs", "1", "--report", str(results)]
        self.command(log, unrandomised(preset) + command + options, show=True)
        if results.exists():
            found = json.loads(results.read_text())
            failed = [f"{program} {name}: {difference[:1500]}" for name, difference in found["failed"]]
            self.report.add(f"stress-{preset}", found["passed"], failed)
        else:
            self.report.add(f"stress-{preset}", failed=[f"{program} did not run"])

    def e2e(self):
        if not self.build("release", ["skua", "skua-sim"]):
            return
        results = LOGS / "e2e.json"
        results.unlink(missing_ok=True)
        runner = [sys.executable, str(ROOT / "tests/e2e/run.py"), "--report", str(results)]
        self.command("e2e", [*runner, *self.parts("e2e")], show=True)
        if results.exists():
            found = json.loads(results.read_text())
            self.report.add("e2e", found["passed"], found["failed"], found["skipped"])
            if found["passed alone"]:
                self.report.remarks.append("Failed beside other tests, passed alone: " + ", ".join(found["passed alone"]))
        else:
            self.report.add("e2e", failed=["the end-to-end tests did not run"])

    def bench(self):
        """Whether each benchmark prints all its figures. No speed is judged, so two of them run at a time, each with a PostgreSQL of its own."""
        if not self.build("release"):
            return
        names = subprocess.run([str(SCRIPTS / "bench"), "--list"], capture_output=True, text=True, check=True).stdout.split()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda name: self.check(
                    "bench", name, ["env", "-u", "SKUA_TEST_DATABASE_URL", str(SCRIPTS / "bench"), "--quick", name]), self.parts("bench") or names):
                pass


def ctest_names(arguments):
    """The names of the tests that a command of ctest would run."""
    listed = subprocess.run([*arguments, "--show-only=json-v1"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return [test["name"] for test in json.loads(listed.stdout)["tests"]] if listed.returncode == 0 else []


def unrandomised(preset):
    """The prefix of a sanitizer build's commands: sanitizers of GCC 12 cannot place their shadow memory under every
    kernel's address randomisation."""
    if preset != "release" and subprocess.run(["setarch", "-R", "true"], check=False).returncode == 0:
        return ["setarch", "-R"]
    return []


# The summary may be the only remaining output of a run.
def first_lines(output, lines=12):
    return quoted(output.strip().splitlines()[:lines])


def last_lines(output, lines=40):
    return quoted(output.rstrip().splitlines()[-lines:])


def quoted(lines):
    return "".join(f"\n      | {line[:300]}" for line in lines)


def count_googletest(file):
    """(passed, names of the failed, (name, reason) of the skipped) of one program's XML."""
    passed, failed, skipped = 0, [], []
    try:
        cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    except ElementTree.ParseError:
        return 0, [f"{file.stem}: its results cannot be read"], []
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        failure = case.find("failure")
        if failure is not None:
            failed.append(name + first_lines(failure.text or ""))
        elif skip is not None:
            skipped.append((name, reason_of(skip)))
        elif case.get("status") == "run":
            passed += 1
    return passed, failed, skipped


def reason_of(skip):
    """The reason of GTEST_SKIP: the message's last line that is not a file name."""
    lines = [line.strip() for line in (skip.get("message") or skip.text or "").splitlines()]
    words = [line for line in lines if line and ".cpp:" not in line]
    return words[-1] if words else "no reason given"


def main():
    parser = argparse.ArgumentParser(prog="scripts/test")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--quick", action="store_true")
    kinds.add_argument("--sanitizers", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--only", action="append", default=[], metavar="STAGE[/PART]")
    options = parser.parse_args()
    for name in options.only:
        if name.split("/")[0] not in STAGES + SANITIZER_STAGES:
            parser.error(f"--only {name}: no such stage; the stages are {', '.join(STAGES + SANITIZER_STAGES)}")
    started = time.monotonic()
    run = Run(options)
    for stage in STAGES + SANITIZER_STAGES:
        kind, _, preset = stage.partition("-")
        run.stage(stage, functools.partial(run.stress, preset) if kind == "stress" else getattr(run, kind))
    print(f"\n{time.monotonic() - started:.0f} s")
    run.report.print()
    kind = "sanitizers" if options.sanitizers else "tests"
    (LOGS / f"failed-{kind}.txt").write_text("".join(f"{name}\n" for name in run.report.failed))
    return 1 if run.report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
