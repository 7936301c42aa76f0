"""cmake --install and the Debian package: the files that they install, and what the programs say about themselves.

tests/install/package_test installs the package into a bare Debian.
"""

import gzip
import re
import shutil
import subprocess
import tomllib
import unittest

from harness import BIN, ROOT, EndToEnd

BUILD = BIN.parent


# The units, and the words after `skua` that each of them runs.
COMMANDS = {"skua.service": "run", "skua-serve.service": "serve", "skua-consumers.service": "consumers run"}


class Install(EndToEnd):
    def run_command(self, *command, code=0):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def install(self, *options):
        prefix = self.folder / "prefix"
        self.run_command("cmake", "--install", BUILD, "--prefix", prefix, *options)
        return prefix

    def commands(self, skua, *words):
        """The commands that --help lists, with their subcommands, as tuples of words."""
        text = self.run_command(skua, *words, "--help")
        yield words
        section = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
        for name in re.findall(r"^  (\w[\w-]*)", section[1] if section else "", re.MULTILINE):
            yield from self.commands(skua, *words, name)

    def test_a_prefix(self):
        prefix = self.install()
        skua = prefix / "bin/skua"
        self.assertRegex(self.run_command(skua, "--version"), r"^skua \d")
        self.assertFalse((prefix / "bin/skua-sim").exists())
        files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
        for shell, path in (("bash", "share/bash-completion/completions/skua"),
                            ("zsh", "share/zsh/site-functions/_skua"),
                            ("fish", "share/fish/vendor_completions.d/skua.fish")):
            self.assertIn(path, files)
            self.assertEqual((prefix / path).read_text(), self.run_command(skua, "completion", shell))
        for document in ("README.md", "LICENSE", "docs/install.md", "docs/problems.md"):
            self.assertIn(f"share/doc/skua/{document}", files)
        # The documents show the pictures that they need.
        for document in (prefix / "share/doc/skua").rglob("*.md"):
            for image in re.findall(r"!\[[^]]*\]\(([^)]+)\)", document.read_text()):
                self.assertTrue((document.parent / image).exists(), f"{document.name}: {image}")
        pages = {path.removeprefix("share/man/man1/") for path in files if path.startswith("share/man/man1/")}
        self.assertEqual(pages, {"-".join(("skua", *words)) + ".1.gz" for words in self.commands(skua)})
        units = {unit.name: unit.read_text() for unit in (prefix / "lib/systemd/system").iterdir()}
        self.assertEqual(units.keys(), COMMANDS.keys())
        hardening = set()
        for name, unit in units.items():
            words = COMMANDS[name]
            self.assertIn(f"\nExecStart={skua} {words}\n", unit)
            self.assertIn(f"\nEnvironment=SKUA_CONFIG={prefix}/etc/skua/skua.toml\n", unit)
            self.assertNotIn("@", re.sub(r"^SystemCallFilter=.*$", "", unit, flags=re.MULTILINE))
            page = re.search(r"^Documentation=man:(.+)\(1\)$", unit, re.MULTILINE)[1]
            self.assertIn(f"{page}.1.gz", pages)
            self.run_command(skua, *words.split(), "--help")
            hardening.add(unit.partition(f"\nExecStart={skua} {words}\n")[2])
        self.assertEqual(len(hardening), 1, "the units differ below ExecStart")
        if shutil.which("systemd-analyze"):
            self.run_command("systemd-analyze", "verify", "--man=no", *(prefix / "lib/systemd/system").iterdir())

    def test_an_existing_configuration_stays(self):
        file = self.install() / "etc/skua/skua.toml"
        self.assertEqual(file.read_text(), self.run_command(self.binary("skua"), "help", "settings", "--toml"))
        file.write_text("relay = \"wss://relay.example\"\n")
        self.install()
        self.assertEqual(file.read_text(), "relay = \"wss://relay.example\"\n")

    def test_the_simulator_is_a_component(self):
        prefix = self.install("--component", "sim")
        files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
        self.assertEqual(files, {"bin/skua-sim", "share/man/man1/skua-sim.1.gz"})

    def test_the_example_configuration_has_every_setting(self):
        skua = self.binary("skua")
        text = self.run_command(skua, "help", "settings", "--toml")
        self.assertEqual(tomllib.loads(text), {})
        keys = re.findall(r"^#(\w+) = ", text, re.MULTILINE)
        table = self.run_command(skua, "help", "settings", "--markdown")
        self.assertEqual(keys, re.findall(r"^\| `[^`]+` \| `[^`]+` \| `(\w+)` \|", table, re.MULTILINE))
        self.assertGreater(len(keys), 30)
        # Without the # it is a file that skua reads.
        file = self.folder / "skua.toml"
        file.write_text(re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE).replace("trace|debug|info|warn|error|off", "info"))
        self.assertEqual(list(tomllib.loads(file.read_text())), keys)
        self.run_command(skua, "version", "--config", file)
        self.run_command(skua, "help", "metrics", "--toml", code=2)

    def test_a_man_page_has_the_parts_of_the_help(self):
        pages = self.folder / "man"
        self.run_command(ROOT / "packaging/man_pages", self.binary("skua"), pages)
        page = gzip.decompress((pages / "skua-backfill.1.gz").read_bytes()).decode()
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "SUBCOMMANDS", "EXIT STATUS", "EXAMPLES",
                        "SEE ALSO"):
            self.assertEqual(page.count(f"\n.SH {heading}\n"), 1, heading)
        self.assertIn("\n.TP\n.B \\-\\-car FILE ...\nCAR files, one repository each\n", page)
        # An option that fills its column has its meaning on the next line of the help.
        page = gzip.decompress((pages / "skua-run.1.gz").read_bytes()).decode()
        self.assertIn("\n.TP\n.B \\-\\-verify full|signature|none\nChecks of a commit", page)
        # The last option of the help that is as wide as its column.
        self.assertIn("\n.TP\n.B \\-\\-cursor live|oldest|NUMBER\nStart position", page)
        for path in pages.iterdir():
            text = gzip.decompress(path.read_bytes()).decode()
            codes = re.search(r"\n\.SH EXIT STATUS\n((?:\.TP\n\.B \d\n[A-Z].*\.\n)+)", text)
            self.assertIsNotNone(codes, path.name)
            self.assertEqual(re.findall(r"^\.B (\d)$", codes[1], re.MULTILINE), ["0", "1", "2"], path.name)
        doctor = gzip.decompress((pages / "skua-doctor.1.gz").read_bytes()).decode()
        self.assertIn("\n.B 1\nThere is an error, or with \\-\\-strict a warning.\n", doctor)
        if shutil.which("groff"):
            for path in pages.iterdir():
                text = gzip.decompress(path.read_bytes())
                done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=text, capture_output=True, timeout=60, check=False)
                self.assertEqual(done.stderr, b"", path.name)

    def test_the_variables_of_compose_are_settings(self):
        text = (ROOT / "packaging/docker/compose.yaml").read_text()
        table = self.run_command(self.binary("skua"), "help", "settings", "--markdown")
        named = set(re.findall(r"^ +(SKUA_\w+):", text, re.MULTILINE))
        self.assertGreater(len(named), 2)
        self.assertEqual(named - set(re.findall(r"SKUA_\w+", table)), set())
        for command, flag in re.findall(r"command: \[(\w+)(?:, (--[a-z-]+))?", text):
            self.assertIn(flag, self.run_command(self.binary("skua"), command, "--help"))

    def test_the_debian_package(self):
        self.run_command("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", self.folder)
        (package,) = self.folder.glob("*.deb")
        self.assertRegex(package.name, r"^skua_\d+\.\d+\.\d+-1_\w+\.deb$")
        lines = [line.split(maxsplit=5) for line in self.run_command("dpkg-deb", "--contents", package).splitlines()]
        self.assertEqual({line[1] for line in lines}, {"root/root"})
        files = {line[5].removeprefix(".") for line in lines if not line[5].endswith("/")}
        for path in ("/usr/bin/skua", "/etc/skua/skua.toml", "/usr/lib/systemd/system/skua.service",
                     "/usr/lib/systemd/system/skua-serve.service", "/usr/lib/systemd/system/skua-consumers.service",
                     "/usr/share/man/man1/skua-run.1.gz",
                     "/usr/share/doc/skua/copyright", "/usr/share/zsh/vendor-completions/_skua"):
            self.assertIn(path, files)
        self.assertEqual({path.split("/")[1] for path in files}, {"etc", "usr"})
        self.assertNotIn("/usr/bin/skua-sim", files)
        fields = self.run_command("dpkg-deb", "--field", package, "Depends")
        for name in ("adduser", "ca-certificates", "libc6", "libpqxx", "libssl3"):
            self.assertIn(name, fields)
        control = self.folder / "control"
        self.run_command("dpkg-deb", "--control", package, control)
        self.assertEqual((control / "conffiles").read_text(), "/etc/skua/skua.toml\n")
        for script in ("postinst", "prerm", "postrm"):
            self.run_command("sh", "-n", control / script)
        self.run_command("dpkg-deb", "--extract", package, self.folder / "root")
        units = list((self.folder / "root/usr/lib/systemd/system").iterdir())
        self.assertEqual({unit.name for unit in units}, set(COMMANDS))
        for script in ("postinst", "prerm"):
            self.assertIn(" ".join(COMMANDS), (control / script).read_text())
        for unit in units:
            self.assertIn(f"\nExecStart=/usr/bin/skua {COMMANDS[unit.name]}\n", unit.read_text())
            self.assertIn("\nEnvironment=SKUA_CONFIG=/etc/skua/skua.toml\n", unit.read_text())
        if shutil.which("systemd-analyze"):
            # 'verify' needs the programs that the units name; 'security' reads the units only.
            for unit in units:
                self.run_command("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)


if __name__ == "__main__":
    unittest.main()
