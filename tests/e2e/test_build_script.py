"""`scripts/build` in a checkout that was moved, whose cache of CMake names the old folder, and on machines that have
only some of the optional programs and libraries."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import ROOT, EndToEnd

LEFT_OUT = {"build", ".skua", ".git"}
GOOGLE_TEST = pathlib.Path("/usr/lib/x86_64-linux-gnu/cmake/GTest")


def copy_checkout(target):
    shutil.copytree(ROOT, target, ignore=lambda folder, _: LEFT_OUT if folder == str(ROOT) else set())


class BuildScript(EndToEnd):
    def configure(self, checkout):
        """Configures, and builds only the list of targets."""
        done = subprocess.run([checkout / "scripts/build", "release", "help"], capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        cache = (checkout / "build/release/CMakeCache.txt").read_text()
        self.assertIn(f"CMAKE_HOME_DIRECTORY:INTERNAL={checkout}\n", cache)
        return done.stderr

    def test_a_moved_checkout(self):
        first, second, copy = (self.folder / name for name in ("first", "second", "copy"))
        copy_checkout(first)
        self.assertNotIn("anew", self.configure(first))
        self.assertNotIn("anew", self.configure(first))
        first.rename(second)
        self.assertIn(f"build/release was configured for {first}: configuring it anew", self.configure(second))
        shutil.copytree(second, copy)
        self.assertIn(f"build/release was configured for {second}: configuring it anew", self.configure(copy))
        self.assertNotIn("anew", self.configure(second))


class OtherMachines(EndToEnd):
    """Only configures: a cmake on PATH does nothing when it is asked to build."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not GOOGLE_TEST.exists():
            self.skipTest("only root can hide files from CMake, and GoogleTest must be Debian's")
        self.checkout = self.folder / "checkout"
        copy_checkout(self.checkout)
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        cmake = self.programs / "cmake"
        cmake.write_text(f'#!/bin/sh\n[ "$1" = --build ] || exec {shutil.which("cmake")} "$@"\n')
        cmake.chmod(0o755)

    def configure(self, *targets, hidden=()):
        """Configures while other files cover the hidden ones; returns the cache and the messages."""
        covers = "".join(f"mount --bind {'$empty' if path.is_dir() else '/dev/null'} {path}\n" for path in hidden)
        script = f"set -e\nempty=$(mktemp -d)\n{covers}exec scripts/build release {' '.join(targets)}"
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", script], cwd=self.checkout, capture_output=True, text=True, timeout=600,
            env={**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}"}, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        cache = (self.checkout / "build/release/CMakeCache.txt").read_text()
        return dict(re.findall(r"^(SKUA_\w+):\w+=(.*)$", cache, re.MULTILINE)), done.stderr

    def targets(self):
        return (self.checkout / "build/release/build.ninja").read_text()

    def test_the_program_needs_neither_googletest_nor_ccache(self):
        programs = [path for path in map(shutil.which, ("ccache", "mold")) if path]
        cache, messages = self.configure("skua", hidden=[GOOGLE_TEST, *map(pathlib.Path, programs)])
        self.assertEqual((cache["SKUA_TESTS"], cache["SKUA_BENCH"]), ("OFF", "OFF"))
        self.assertEqual((cache["SKUA_CCACHE"], cache["SKUA_MOLD"]), ("SKUA_CCACHE-NOTFOUND", "SKUA_MOLD-NOTFOUND"))
        self.assertNotIn("GoogleTest", messages)
        # The tests are added when they are built, and stay when only the program is built again.
        self.assertEqual(self.configure("tests_base")[0]["SKUA_TESTS"], "ON")
        self.assertIn("test_base:", self.targets())
        self.assertEqual(self.configure("skua")[0]["SKUA_TESTS"], "ON")

    def test_googletest_without_googlemock(self):
        _, messages = self.configure(hidden=[*GOOGLE_TEST.glob("GMock*")])
        self.assertIn("no tests are built", messages)
        self.assertNotIn("test_base:", self.targets())


if __name__ == "__main__":
    unittest.main()
