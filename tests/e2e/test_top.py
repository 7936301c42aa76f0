"""`skua top`: a report without a terminal, and the screen in a real one, beside a `skua run`."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from harness import BIN, EndToEnd, free_port, wait_for
from test_pages import Pages
from test_sim import SimTest

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
SEQUENCE = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|([^\x1b])")


class Screen:
    """What a terminal shows: the sequences of `skua top`, one column for each character."""

    def __init__(self, rows, columns):
        self.columns = columns
        self.lines = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0

    def feed(self, text):
        for parameters, final, character in SEQUENCE.findall(text):
            if character:
                if self.column < self.columns:
                    self.lines[self.row][self.column] = character
                    self.column += 1
            elif final == "H":
                row, column = (parameters or "1;1").split(";")
                # As in a terminal, the last row replaces those below it: a program may not know a new size yet.
                self.row, self.column = min(int(row), len(self.lines)) - 1, int(column) - 1
            elif final == "G":
                self.column = int(parameters) - 1
            elif final == "K":
                self.lines[self.row] = [" "] * self.columns
            elif final == "J":
                self.lines = [[" "] * self.columns for _ in self.lines]
            elif final not in "mhl":
                raise AssertionError(f"unknown sequence {parameters!r} {final!r}")

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)


class Terminal:
    """A program in a terminal."""

    def __init__(self, arguments, rows=24, columns=80):
        self.output = b""
        self.child, self.side = pty.openpty()
        self.resize(rows, columns, tell=False)
        self.former_modes = termios.tcgetattr(self.side)
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C", "SKUA_HTTP": ""}
        # In a session of its own, so that the terminal sends it SIGINT for Ctrl-C.
        self.process = subprocess.Popen(
            [str(argument) for argument in arguments], stdin=self.side, stdout=self.side, stderr=self.side,
            env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def resize(self, rows, columns, tell=True):
        self.size = (rows, columns)
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def type(self, keys):
        os.write(self.child, keys)

    def read(self, seconds=0.05):
        while select.select([self.child], [], [], seconds)[0]:
            self.output += os.read(self.child, 65536)
            seconds = 0

    def screen(self):
        """The content since the last change of the size: each begins with an erased screen."""
        self.read()
        screen = Screen(*self.size)
        screen.feed(self.output.rpartition(b"\x1b[2J")[2].decode(errors="replace"))
        return screen.text()

    def shows(self, text, seconds=30):
        """Waits for a text (a regular expression), and returns the match."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(text, self.screen(), re.MULTILINE)):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"{text!r} is not on the screen:\n{self.screen()}\n{self.output[-500:]!r}")
        return match

    def is_as_before(self):
        """Whether the other screen was left, and the modes are the former ones."""
        self.read()
        is_left = self.output.rindex(LEAVE) > self.output.rindex(ENTER) if LEAVE in self.output else False
        return is_left and b"\x1b[?25h" in self.output and termios.tcgetattr(self.side) == self.former_modes

    def wait(self, seconds=10):
        """The exit code. Reads meanwhile: a terminal that nobody reads delays the program."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        return self.process.poll()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.child)
        os.close(self.side)


class WrongInput(EndToEnd):
    def test_addresses_and_intervals(self):
        wrong = [("--http", value) for value in ("off", "2580", "127.0.0.1:0", "http://", "ftp://x", "http://x/?a=b")]
        wrong += [("--every", value) for value in ("0s", "2", "1h")]
        for flag, value in wrong:
            with self.subTest(value):
                address = () if flag == "--http" else ("--http", "127.0.0.1:1")
                program = self.skua(None, "top", "--once", *address, flag, value, code=2)
                self.assertTrue(program.says(f"skua: {flag}"), program.tail())


class Top(SimTest):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.skua(self.db, "consumers", "add", "post_stats")
        self.address = f"127.0.0.1:{free_port()}"
        self.relay = self.network("--accounts", "30", "--rate", "50").url
        self.program = self.run_skua()

    def run_skua(self):
        program = self.indexer(self.db, self.relay, "--http", self.address)
        Pages(program).wait_until_ready()
        return program

    def top(self, *arguments, rows=24, columns=80):
        terminal = Terminal([BIN / "skua", "top", "--http", self.address, "--every", "1s", *arguments], rows, columns)
        self.addCleanup(terminal.close)
        return terminal

    def report(self, *arguments, code=0):
        return "\n".join(self.skua(self.db, "top", "--every", "1s", *arguments, code=code).output())

    def test_a_report(self):
        wait_for("posts", lambda: self.db.value("select count(*) from bsky.posts") > 10, alive=[self.program])
        process = Pages(self.program)
        # A process whose samples are late, on a busy machine, has no rate for some seconds.
        wait_for("a rate", lambda: (json.loads(process.get("/status/process")[1])["events_per_second"] or 0) > 5, alive=[self.program])
        # stdin is not a terminal.
        text = self.report("--http", self.address)
        self.assertRegex(text, rf"^skua top  ready  http://{self.address}")
        self.assertGreater(float(re.search(r"^events/s ([\d.]+)", text, re.MULTILINE)[1]), 5)
        for part in ("There are no problems.", "relay:127.0.0.1", "app.bsky.feed.post ", "post_stats", "metadata",
                     "There are no dead letters.", "Database [8]", "Newest posts [9]"):
            self.assertIn(part, text)
        self.assertNotIn("\x1b", text)
        self.skua(self.db, "consumers", "pause", "post_stats")
        Pages(self.program).wait_for_reason("consumer-stuck")
        text = self.report("--once", "--http", f"http://{self.address}/", code=1)
        self.assertIn("not-ready", text)
        self.assertRegex(text, r"consumer-stuck: .*\n  post_stats: it is paused\n  \S")
        self.assertEqual(self.program.stop(), 0)
        self.assertIn("connection refused", self.report("--once", "--http", self.address, code=1))

    def check_numbers(self, terminal):
        terminal.shows(r"^skua top  ready  http://")
        terminal.shows(r"^events/s [1-9]\d*\.\d ")
        terminal.shows(r"^(actor|like|social|post|metadata) +(\d+ +){3}")
        terminal.shows("app.bsky.feed")
        cursor = terminal.shows(r"^relay:\S+ +connected +(\d+)")[1]
        terminal.shows(rf"^relay:\S+ +connected +(?!{cursor}\b)\d+")

    def check_keys_and_sizes(self, terminal):
        terminal.type(b"8")
        terminal.shows(r"^Database \[8\]")
        terminal.type(b"\x1b[C")
        terminal.shows(r"^Newest posts \[9\]")
        terminal.type(b"h")
        terminal.shows(r"^q, Ctrl-C +quit")
        terminal.type(b"0")
        terminal.shows(r"^Sources \[2\]")
        terminal.resize(40, 140)
        terminal.shows(r"^Workers \[3\].* Consumers \[5\]")
        terminal.resize(2, 12)
        self.assertTrue(terminal.shows(r"\Askua top.*\n.*\Z"))
        terminal.resize(24, 80)
        terminal.shows(r"^Collections \[4\]")
        terminal.type(b"p")
        paused = terminal.shows(r" (\S+) UTC  every 1 s  paused$")[1]
        time.sleep(1.5)
        self.assertIn(paused, terminal.screen())
        terminal.type(b"p")
        terminal.shows(rf" (?!{paused})\d\d:\d\d:\d\d UTC  every 1 s$")

    def check_kill_of_the_server(self, terminal):
        self.program.kill()
        terminal.shows(r"^skua top  no answer ")
        age = terminal.shows(r"^No answer for .*, the numbers are (\d+)\.\d s old: connection refused")[1]
        terminal.shows(rf", the numbers are (?!{age}\.)\d+\.\d s old: ")
        # The numbers stay.
        terminal.shows(r"^relay:\S+ +connected")
        self.program = self.run_skua()
        terminal.shows(r"^skua top  ready ")
        terminal.shows(r"^events/s \d")

    def test_in_a_terminal(self):
        terminal = self.top()
        self.check_numbers(terminal)
        self.check_keys_and_sizes(terminal)
        self.check_kill_of_the_server(terminal)
        self.assertNotEqual(termios.tcgetattr(terminal.side), terminal.former_modes)
        terminal.type(b"q")
        self.assertEqual(terminal.wait(), 0)
        self.assertTrue(terminal.is_as_before(), terminal.output[-300:])

    def test_every_end_restores_the_terminal(self):
        for end, code in ((b"\x03", 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGQUIT, 0),
                          (signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT)):
            with self.subTest(end):
                terminal = self.top()
                terminal.shows(r"^skua top  ready ")
                if isinstance(end, bytes):
                    terminal.type(end)
                else:
                    terminal.process.send_signal(end)
                self.assertEqual(terminal.wait(), code)
                self.assertTrue(terminal.is_as_before(), terminal.output[-300:])

    def test_a_stop_gives_the_terminal_back_until_it_continues(self):
        terminal = self.top()
        terminal.shows(r"^skua top  ready ")
        terminal.process.send_signal(signal.SIGTSTP)
        state = f"/proc/{terminal.process.pid}/stat"
        wait_for("the stop", lambda: open(state, encoding="ascii").read().rpartition(")")[2].split()[0] == "T")
        self.assertTrue(terminal.is_as_before())
        terminal.process.send_signal(signal.SIGCONT)
        wait_for("the screen", lambda: not terminal.is_as_before())
        terminal.shows(r"^Sources \[2\]")
        terminal.type(b"q")
        self.assertEqual(terminal.wait(), 0)

    def test_texts_of_the_network(self):
        hostile = "\\u001b[2J\\u001b]0;title\\u0007\\u202eevil"
        self.db.run("insert into skua.dead_letter (consumer, key, error, payload) values ('test', 'k', "
                    f"E'{hostile}', 'x')")
        terminal = self.top()
        terminal.type(b"6")
        terminal.shows(r"\?\[2J\?\]0;title\?\?evil")
        self.assertNotIn(b"\x07", terminal.output)
        self.assertNotIn("\u202e".encode(), terminal.output)


if __name__ == "__main__":
    unittest.main()
