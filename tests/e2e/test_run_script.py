"""`scripts/run` for a new user, with a relay on loopback instead of the live one."""

import os
import pty
import re
import signal
import socket
import subprocess
import threading
import unittest
import urllib.parse

from harness import ROOT, Database, EndToEnd, closed_port, free_port, wait_for
from made import Network


class RunScript(EndToEnd):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.environment_of_script = {"SKUA_STATE_DIR": str(self.folder / "state"), "SKUA_DATABASE_URL": ""}
        self.addCleanup(self.script, "pg", "destroy")

    def script(self, name, *arguments):
        done = subprocess.run(
            [ROOT / "scripts" / name, *arguments], env={**os.environ, **self.environment_of_script},
            capture_output=True, text=True, timeout=120, check=False, cwd="/",
        )
        return done

    def run_script(self, relay, *arguments):
        environment = {**self.environment_of_script, "SKUA_RELAY": relay}
        return self.start([ROOT / "scripts/run", *arguments], environment, cwd="/")

    def ctrl_c(self, program):
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(35), 0, program.tail())

    def test_it_indexes_says_how_to_look_and_continues(self):
        network = Network()
        person = network.account("newcomer")
        for number in range(5):
            person.post(f"post {number}")
        capture = self.folder / "start.capture"
        capture.write_bytes(network.capture())
        port = str(free_port())
        relay = self.sim(capture, "--port", port)

        # The capture's accounts are in no directory.
        first = self.run_script(relay.url, "--verify", "none", "--cursor", "oldest")
        wait_for("its words on how to look", lambda: first.says("posts_view"), seconds=900, alive=[first])
        look = next(line.strip() for line in first.stderr if "psql" in line and "posts_view" in line)

        added = [line for line in first.output() if "post_stats" in line]
        self.assertEqual(len(added), 1, added)

        def seen():
            done = subprocess.run(["sh", "-c", look], capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return "post 4" in done.stdout

        wait_for("the posts, by the command that it printed", seen, alive=[first])
        wait_for("a line of metrics", lambda: first.says("events/s"), alive=[first])
        metrics = next(line for line in first.output() if "events/s" in line)
        self.assertRegex(metrics, r"rows/s.*lag.*cursor")
        self.ctrl_c(first)

        # The database is still running; the next start requests the frames after the saved cursor.
        database = Database(self.script("pg", "url").stdout.strip())
        self.assertEqual(database.value("select cursor from skua.cursors"), network.seq)
        person.post("after the pause")
        capture.write_bytes(network.capture())
        relay.stop()
        relay = self.sim(capture, "--port", port)
        second = self.run_script(relay.url, "--verify", "none")
        wait_for("the post after the pause", lambda: database.value(
            "select count(*) from bsky.posts where text = 'after the pause'") == 1, seconds=60, alive=[second])
        self.assertEqual(relay.cursors()[0], network.seq - 1)
        wait_for("counts without a further command", lambda: database.rows(
            "select name from skua.consumers where role = 'live' order by 1") == [{"name": "actor_stats"}, {"name": "post_stats"}],
            seconds=60, alive=[second])
        self.assertEqual([line for line in second.output() if "there is" in line], [])
        self.ctrl_c(second)
        self.assertEqual(self.script("pg", "stop").returncode, 0)
        self.assertEqual(self.script("pg", "status").returncode, 1)

    def test_a_relay_that_cannot_be_reached_is_said_in_plain_words(self):
        program = self.run_script(f"ws://127.0.0.1:{closed_port()}")
        wait_for("plain words", lambda: program.says("cannot reach"), seconds=900, alive=[program])
        wait_for("what to try", lambda: program.says("SKUA_RELAY"), alive=[program])

        def tries():
            return sum(bool(re.search("cannot reach", line)) for line in program.output()) >= 2

        wait_for("a second try", tries, alive=[program])
        self.assertTrue(program.says("--simulated"), "what to do without the internet")
        self.ctrl_c(program)

    def check_simulated(self, seen):
        """The simulated network becomes rows, only in its own database, and `scripts/pg` leads there."""
        url = urllib.parse.urlsplit(self.script("pg", "url").stdout.strip())
        self.assertEqual(url.path, "/skua_sim")
        simulated = Database(urllib.parse.urlunsplit(url))
        wait_for("posts of the simulated network", lambda: simulated.value(
            "select count(*) from bsky.posts where cid is not null") > 0, **seen)
        live = Database(urllib.parse.urlunsplit(url._replace(path="/skua")))
        self.assertIsNone(live.value("select to_regclass('bsky.posts')::text"))

    def test_the_simulated_network_is_indexed_into_a_database_of_its_own(self):
        program = self.run_script(f"ws://127.0.0.1:{closed_port()}", "--simulated")
        wait_for("its words on how to look", lambda: program.says("posts_view"), seconds=900, alive=[program])
        self.check_simulated({"seconds": 60, "alive": [program]})

        # A second one would drop the database of the first.
        oid = "select oid from pg_database where datname = current_database()"
        first = Database(self.script("pg", "url").stdout.strip()).value(oid)
        second = self.script("run", "--simulated")
        self.assertEqual(second.returncode, 1, second.stderr)
        self.assertRegex(second.stderr, r"a simulation runs already.* process \d+")
        named = re.search(r"process (\d+)", second.stderr)[1]
        self.check_simulated({"seconds": 60, "alive": [program]})
        self.assertEqual(Database(self.script("pg", "url").stdout.strip()).value(oid), first)

        # The process in the message ends the simulation, and then another one starts.
        os.kill(int(named), signal.SIGTERM)
        self.assertEqual(program.wait(35), 0, program.tail())
        third = self.run_script(f"ws://127.0.0.1:{closed_port()}", "--simulated")
        wait_for("the next simulation", lambda: third.says("events/s"), seconds=60, alive=[third])
        self.ctrl_c(third)

    def test_a_terminal_is_offered_the_simulated_network(self):
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        environment = {**os.environ, **self.environment_of_script, "SKUA_RELAY": f"ws://127.0.0.1:{closed_port()}"}
        process = subprocess.Popen([ROOT / "scripts/run"], env=environment, cwd="/", stdin=terminal,
                                   stdout=terminal, stderr=terminal, start_new_session=True)
        self.addCleanup(process.wait, 40)
        self.addCleanup(process.terminate)
        os.close(terminal)
        screen = Screen(main)
        wait_for("the offer", lambda: "Index the simulated network?" in screen.text, seconds=900)
        self.assertIn("cannot be reached", screen.text)
        os.write(main, b"\n")
        wait_for("a line of metrics", lambda: "events/s" in screen.text, seconds=60)
        self.check_simulated({"seconds": 60})


class Interrupted(EndToEnd):
    """Ctrl-C ends the script at each step, before the first program of Skua."""

    MESSAGE = "interrupted: the next start continues here"
    HANDLES_THE_SIGNAL = "trap 'kill $!; exit 100' INT; sleep 60 >/dev/null 2>&1 & begun; wait"

    def tool(self, name, text):
        """Puts a program before the others of PATH. `begun` in its text notes it in the file `called`."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        file = tools / name
        file.write_text(f"#!/bin/bash\nbegun() {{ echo '{name}' >>'{self.folder}/called'; }}\n{text}\n")
        file.chmod(0o755)

    def called(self):
        file = self.folder / "called"
        return file.read_text().split() if file.exists() else []

    def start_script(self, relay, terminal=subprocess.DEVNULL, output=subprocess.PIPE):
        process = subprocess.Popen(
            [ROOT / "scripts/run"], stdin=terminal, stdout=output, stderr=output, start_new_session=True, text=True,
            env={**os.environ, "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}", "SKUA_RELAY": relay,
                 "SKUA_STATE_DIR": str(self.folder / "state"), "SKUA_DATABASE_URL": ""})
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        """Also the programs that the script has started."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate(timeout=30)

    def check_interrupted(self, process, tool):
        """Sends the signal that a terminal sends for Ctrl-C, once the program has begun."""
        wait_for(tool, lambda: tool in self.called())
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(self.MESSAGE, errors)

    def test_while_packages_are_installed(self):
        # A system without packages, and an apt-get that handles the signal.
        self.tool("dpkg-query", "exit 1")
        self.tool("sudo", 'while [[ $1 == -* ]]; do shift; done; exec "$@"')
        self.tool("apt-get", self.HANDLES_THE_SIGNAL)
        self.check_interrupted(self.start_script("ws://127.0.0.1:1"), "apt-get")
        self.assertEqual(self.called().count("apt-get"), 1)

    def test_while_the_relay_does_not_answer(self):
        # The queue of this listener is full: a further connection waits.
        listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(listener.close)
        for _ in range(4):
            client = socket.socket()
            self.addCleanup(client.close)
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        self.tool("timeout", 'begun; PATH=${PATH#*:}; exec timeout "$@"')
        self.check_interrupted(self.start_script(f"ws://127.0.0.1:{listener.getsockname()[1]}"), "timeout")

    def test_while_it_builds(self):
        self.tool("timeout", "exit 0")
        self.tool("cmake", self.HANDLES_THE_SIGNAL)
        self.check_interrupted(self.start_script("ws://127.0.0.1:1"), "cmake")

    def test_at_the_question(self):
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        self.tool("timeout", "exit 1")
        process = self.start_script("ws://127.0.0.1:1", terminal, terminal)
        os.close(terminal)
        screen = Screen(main)
        wait_for("the question", lambda: "Index the simulated network?" in screen.text)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(30), 130, screen.text)
        wait_for("the message", lambda: self.MESSAGE in screen.text)


class Screen(threading.Thread):
    """The output on a terminal, collected until its other side is closed."""

    def __init__(self, descriptor):
        super().__init__(daemon=True)
        self.descriptor = descriptor
        self.text = ""
        self.start()

    def run(self):
        while True:
            try:
                self.text += os.read(self.descriptor, 4096).decode(errors="replace")
            except OSError:
                return


if __name__ == "__main__":
    unittest.main()
