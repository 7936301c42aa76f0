#!/usr/bin/env python3
"""http_bench.py [--quick] [--records N] [--accounts N] [--requests N]

Measures the cost of a request of `skua serve`: a record, a page of records, and questions of `skua query`. Beside each stands a
SELECT with the same rows, which one session of psql runs in turns with the requests. bench/README.md explains the results.

  --quick      few rows and requests, which shows only that the benchmark works
  --records    records of the network (default 500000), of so many --accounts (default 30000)
  --requests   requests of each kind (default 1000)

Example: bench/http_bench.py --requests 200
"""

import contextlib
import statistics
import subprocess
import time
import urllib.parse

from live_bench import BIN, cpu_of
from options import parse, parser_of
from report import Report
from served_data import ServedData, quantile

XRPC = "/xrpc/com.atproto.repo."
RECORD = """select r.* from bsky.actors a, bsky.record_json(array[a.id], array[1], array[bsky.tid_number('{rkey}')]) r
where a.did = '{did}'"""
PAGE = """select r.* from (select array_agg(p.actor_id) as ids, array_agg(1) as ones, array_agg(p.rkey) as keys from (
  select p.actor_id, p.rkey from bsky.posts p join bsky.actors a on a.id = p.actor_id
  where a.did = '{did}' and p.cid is not null order by p.rkey desc limit 50) p) k, bsky.record_json(k.ids, k.ones, k.keys) r"""


class Psql:
    """One session, which prepares its statement."""

    def __init__(self, stack, database):
        self.process = stack.enter_context(subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", database.url],
                                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        stack.callback(self.process.stdin.close)
        (self.pid,) = self.ask("select pg_backend_pid()")

    def ask(self, query):
        self.process.stdin.write(query.rstrip("; \n") + ";\n\\echo the end\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != "the end\n":
            if not line:
                raise SystemExit(f"psql has ended: {query}")
            lines.append(line.rstrip("\n"))
        return lines

    def cpu(self):
        return cpu_of(self.pid)[0]


def statement_of(data, question, *arguments):
    return subprocess.run([BIN / "skua", "query", question, *arguments, "--sql", "--database", data.db.url], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def requests_of(data):
    """{name: (kind of session, path, parameters, the SELECT)}"""
    did, _, rkey = data.post.removeprefix("at://").split("/")
    account = data.account
    return {
        "getRecord": ("records", XRPC + "getRecord", {"repo": did, "collection": "app.bsky.feed.post", "rkey": rkey},
                      RECORD.format(did=did, rkey=rkey)),
        "listRecords": ("records", XRPC + "listRecords", {"repo": account, "collection": "app.bsky.feed.post"},
                        PAGE.format(did=account)),
        "post": ("query", "/query/post", {"post": data.post}, statement_of(data, "post", data.post)),
        "timeline": ("query", "/query/timeline", {"account": account}, statement_of(data, "timeline", account)),
        "relationship": ("query", "/query/relationship", {"account": account, "other": did},
                         statement_of(data, "relationship", account, did)),
    }


def measure(data, psql, name, request, count, report):
    kind, path, parameters, select = request
    psql.ask(f"prepare plain as {select}")
    asked, selected = [], []

    def one():
        status, seconds, body = data.get(path, **parameters)
        if status != 200:
            raise SystemExit(f"{path}?{urllib.parse.urlencode(parameters)}: {status} {body}")
        asked.append(seconds)
        began = time.monotonic()
        psql.ask("execute plain")
        selected.append(time.monotonic() - began)

    for _ in range(20):  # the sessions know their tables
        one()
    asked.clear(), selected.clear()
    before, plain = data.cpu(kind), psql.cpu()
    for _ in range(count):
        one()
    program, sessions = ((after - before) / count for before, after in zip(before, data.cpu(kind)))
    plain = (psql.cpu() - plain) / count
    psql.ask("deallocate plain")
    figure = lambda what, value, form, **options: report.figure(f"{name} {what}", value, form, **options)
    milliseconds = 1000.0
    print(f"  {name:12} p50 {figure('p50', milliseconds * statistics.median(asked), '6.2f')} ms,"
          f" p99 {figure('p99', milliseconds * quantile(asked, 0.99), '6.2f')} ms,"
          f" {figure('rate', 1 / statistics.mean(asked), '5.0f')} requests/s by one client; CPU a request: skua"
          f" {program * milliseconds:.2f} ms, PostgreSQL {figure('CPU', sessions * milliseconds, '.2f', positive=False)} ms;"
          f" SELECT p50 {milliseconds * statistics.median(selected):.2f} ms, p99 {milliseconds * quantile(selected, 0.99):.2f} ms,"
          f" CPU {plain * milliseconds:.2f} ms; ratio of p50"
          f" {figure('ratio', statistics.median(asked) / statistics.median(selected), '.2f')}", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--accounts", type=int, default=30_000)
    parser.add_argument("--requests", type=int, default=1000)
    options = parse(parser, records=20_000, accounts=2_000, requests=20)
    with contextlib.ExitStack() as stack:
        data = ServedData(stack, options.quick, options.records, options.accounts)
        psql = Psql(stack, data.db)
        requests = requests_of(data)
        with Report(*(f"{name} {what}" for name in requests for what in ("p50", "p99", "rate", "CPU", "ratio"))) as report:
            for name, request in requests.items():
                measure(data, psql, name, request, options.requests, report)


if __name__ == "__main__":
    main()
