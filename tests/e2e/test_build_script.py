"""`scripts/build` in a checkout that was moved: CMake's cache names the old folder, and is created again."""

import shutil
import subprocess
import unittest

from harness import ROOT, EndToEnd


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
        left_out = {"build", ".skua", ".git"}
        shutil.copytree(ROOT, first, ignore=lambda folder, _: left_out if folder == str(ROOT) else set())
        self.assertNotIn("anew", self.configure(first))
        self.assertNotIn("anew", self.configure(first))
        first.rename(second)
        self.assertIn(f"build/release was configured for {first}: configuring it anew", self.configure(second))
        shutil.copytree(second, copy)
        self.assertIn(f"build/release was configured for {second}: configuring it anew", self.configure(copy))
        self.assertNotIn("anew", self.configure(second))


if __name__ == "__main__":
    unittest.main()
