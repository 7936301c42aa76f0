"""`scripts/setup` chooses packages by what a system has and offers. The programs of apt are replaced by lists."""

import shutil
import subprocess
import unittest

from harness import ROOT, EndToEnd

SYSTEM = ("build-essential cmake ninja-build ccache mold pkg-config git ca-certificates file libpqxx-dev libpq-dev "
          "libcbor-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libssl-dev libsecp256k1-dev libcli11-dev "
          "libtomlplusplus-dev libzstd-dev zlib1g-dev libc-ares-dev libicu-dev libjs-chart.js postgresql-client").split()
DEBIAN_12 = {"libboost-json1.81-dev", "postgresql", "postgresql-15"}
DEBIAN_13 = {"libboost-json1.83-dev", "libboost-json1.88-dev", "postgresql", "postgresql-17"}


class SetupScript(EndToEnd):
    def program(self, name, text):
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/bash\n{text}\n")
        file.chmod(0o755)

    def setup_run(self, installed=(), offered=(), removed=(), apt=True):
        """Runs `scripts/setup --run-only` as root or as a user with sudo; returns (exit code, packages to install,
        messages)."""
        calls = self.folder / "calls"
        calls.write_text("")
        (self.folder / "bin").mkdir(exist_ok=True)
        if apt:
            lines = "\n".join(f"installed {name}" for name in installed)
            self.program("dpkg-query", f'''
declare -a lines
while read -r line; do for name in "$@"; do
  case ${{line#installed }} in $name) echo "$line" ;; esac
done; done <<<"{lines}"
exit 1''')
            self.program("apt-cache", f'[[ " {" ".join(offered)} " == *" ${{*: -1}} "* ]]')
            self.program("apt-get", f'''
case " $* " in
  *" -s "*) printf 'Remv %s [1]\\n' {" ".join(removed)} | grep -v 'Remv  ' ;;
  *" install "*) for name in "$@"; do [[ $name == -* || $name == *=* || $name == install ]] || echo "$name"; done >>{calls} ;;
esac''')
        # No other program can be found: the system's apt is not called.
        for name in ("bash", "env", "dirname", "sed", "sort", "tail", "tr", "cat", "grep", "basename", "mkdir", "tee"):
            if not (self.folder / "bin" / name).exists():
                (self.folder / "bin" / name).symlink_to(shutil.which(name))
        self.program("sudo", '[[ $1 == -n ]] && shift\nexec "$@"')
        done = subprocess.run(["/bin/bash", ROOT / "scripts/setup", "--run-only"], capture_output=True, text=True, timeout=60,
                              env={"PATH": str(self.folder / "bin")}, stdin=subprocess.DEVNULL, check=False)
        return done.returncode, calls.read_text().split(), done.stderr

    def test_a_bare_debian_12(self):
        code, packages, messages = self.setup_run(offered=DEBIAN_12 | set(SYSTEM))
        self.assertEqual(code, 0, messages)
        self.assertEqual(set(packages), {*SYSTEM, "libboost-json1.81-dev", "postgresql"})

    def test_a_bare_debian_13(self):
        code, packages, messages = self.setup_run(offered=DEBIAN_13 | set(SYSTEM))
        self.assertEqual(code, 0, messages)
        self.assertEqual(set(packages), {*SYSTEM, "libboost-json1.83-dev", "postgresql"})

    def test_an_installed_boost_is_kept(self):
        _, packages, _ = self.setup_run(installed=["libboost1.88-dev"], offered=DEBIAN_13 | set(SYSTEM))
        self.assertIn("libboost-json1.88-dev", packages)
        self.assertNotIn("libboost-json1.83-dev", packages)

    def test_another_postgresql_is_kept(self):
        _, packages, _ = self.setup_run(installed=["postgresql-16"], offered=DEBIAN_12 | set(SYSTEM))
        self.assertNotIn("postgresql", packages)

    def test_if_all_is_installed_nothing_is_called(self):
        code, packages, messages = self.setup_run(installed=[*SYSTEM, "libboost1.83-dev", "libboost-json1.83-dev", "postgresql-18"])
        self.assertEqual((code, packages, messages), (0, [], ""))

    def test_no_package_is_removed_without_a_question(self):
        code, packages, messages = self.setup_run(offered=DEBIAN_12 | set(SYSTEM), removed=["libboost1.74-dev"])
        self.assertEqual((code, packages), (1, []))
        self.assertIn("This removes packages: libboost1.74-dev", messages)
        self.assertIn("apt-get install", messages)

    def test_a_system_without_apt_gets_the_list(self):
        code, _, messages = self.setup_run(apt=False)
        self.assertEqual(code, 1)
        self.assertIn("c++ is missing", messages)
        self.assertIn("Boost from 1.81", messages)
        for name in ("c++", "cmake", "ninja"):
            self.program(name, "exit 0")
        code, _, messages = self.setup_run(apt=False)
        self.assertEqual(code, 0, messages)
        self.assertIn("packages are not checked", messages)


if __name__ == "__main__":
    unittest.main()
