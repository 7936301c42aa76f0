"""Copies of a running cluster that replace it, as after a fail-over."""

import os
import pathlib
import shutil
import subprocess
import urllib.parse

from harness import free_port


class Copy:
    """A copy of a running cluster, which is outdated after the next commit. It lies in the cluster's folder."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.bin = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.data = cluster.folder / "copy"
        owner = os.stat(cluster.folder / "data")
        self.data.mkdir(mode=0o700)
        os.chown(self.data, owner.st_uid, owner.st_gid)
        self.as_owner = (["runuser", "-u", (cluster.folder / "data").owner(), "--"]
                         if os.getuid() == 0 and owner.st_uid != 0 else [])
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d", cluster.url)

    def run(self, program, *arguments):
        done = subprocess.run([*self.as_owner, self.bin / program, *arguments], cwd="/", text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"{program}: {done.stdout}")

    def start(self, options):
        # The output goes to a file: the server would keep a pipe open.
        self.run("pg_ctl", "-D", self.data, "-l", self.data / "server.log", "-o", options, "-w", "start")

    def take_the_place(self):
        """Starts the copy in the folder and at the address of the cluster, whose server has ended. In recovery until
        `promote`."""
        place = self.cluster.folder / "data"
        shutil.rmtree(place)
        self.data.rename(place)
        self.data = place
        self.start("-c primary_conninfo=")

    def promote(self):
        self.run("pg_ctl", "-D", self.data, "-w", "promote")


class Standby(Copy):
    """A copy that replicates its cluster, at an address of its own."""

    def __init__(self, cluster):
        super().__init__(cluster)
        port = free_port()
        parts = urllib.parse.urlsplit(cluster.url)
        query = urllib.parse.parse_qs(parts.query)
        self.url = urllib.parse.urlunsplit(parts._replace(query=urllib.parse.urlencode(
            {"host": query["host"][0], "port": port})))
        self.start(f"-c port={port}")

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
