"""`skua serve` with a small network, for http_bench.py and hostile_bench.py."""

import contextlib
import http.client
import math
import os
import time
import urllib.parse

from live_bench import BIN, Program, Server, cpu_of, migrated, wait_for

# live_bench adds the folder of the end-to-end tests to the path.
import people_data
from changes import served_url

SESSIONS = ("select pid from pg_stat_activity where datname = current_database() "
            "and application_name like 'skua serve {kind}%'")


def quantile(values, share):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


class ServedData:
    """`post` is the URI of a post of the account `account`."""

    def __init__(self, stack, quick, records, accounts):
        self.server = Server(quick)
        stack.callback(self.server.destroy)
        self.db = migrated(self.server, "http")
        self.post = people_data.fill(self.db, records, accounts)
        self.account = people_data.filled.ACCOUNT
        self.db.run("vacuum analyze")
        self.program = Program([str(BIN / "skua"), "serve", "--database", self.db.url, "--listen", "127.0.0.1:0"])
        stack.callback(self.program.kill)
        self.port = urllib.parse.urlsplit(wait_for("the server", lambda: served_url(self.program), seconds=60)).port

    def get(self, path, address="127.0.0.1", **parameters):
        """(status, seconds, body) of a request of a client with this address."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=(address, 0))
        with contextlib.closing(connection):
            connection.request("GET", path + "?" + urllib.parse.urlencode(parameters))
            answer = connection.getresponse()
            body = answer.read()
        return answer.status, time.monotonic() - began, body

    def cpu(self, kind):
        """CPU seconds of `skua serve`, and of its sessions of this kind: records or query."""
        sessions = [row["pid"] for row in self.db.rows(SESSIONS.format(kind=kind))]
        return cpu_of(self.program.process.pid)[0], sum(cpu_of(pid)[0] for pid in sessions)
