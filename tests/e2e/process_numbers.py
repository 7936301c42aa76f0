"""Programs that always get the same process number, as in a container that is restarted."""

import contextlib
import os
import pathlib
import subprocess

from harness import Program, missing

UNSHARE = ("unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc")


def need_namespaces():
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
        missing("namespaces of process numbers", "SKUA_REQUIRE_NAMESPACES")


class SecondProcess(Program):
    """A program that is always process 2, in its own PID namespace. Process 1 is a shell, because the kernel ignores a
    SIGKILL that process 1 sends itself."""

    def __init__(self, arguments, environment=None):
        super().__init__([*UNSHARE, "sh", "-c", '"$@"; exit $?', "sh", *arguments], environment)

    def signal(self, number):
        """Signals only the program: the other processes end with it."""
        with contextlib.suppress(OSError, IndexError):  # It has ended.
            pid = self.process.pid
            for _ in ("the shell", "the program"):
                pid = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
            os.kill(pid, number)

    def wait(self, seconds=30):
        """The exit code; a signal as in a shell, -9 for SIGKILL."""
        code = super().wait(seconds)
        return 128 - code if code > 128 else code
