#!/usr/bin/env python3
"""hour_bench.py [--quick] [--minutes N] [--rate N] [--accounts N] [--outsiders N] [--no-browser]

Measures whether a whole installation stays as it is: `skua run` verifies a simulated network in full at a fixed rate, with
all projections; `skua serve` streams every change to a client; Chromium shows the dashboard, and a collector reads
/metrics of both processes every 15 seconds. PostgreSQL and the simulated network use the same cores. Prints for each
five minutes the rate, the lag, the latency from frame to commit from the histogram, the memory, and the CPU.
bench/README.md explains the results. Needs a release build, Chromium and its driver, and about ten GB of disk for an hour.

  --quick       a few seconds of a small network without Chromium, which show only that the benchmark works
  --minutes     how long to measure, after two minutes of warming up (default 60)
  --rate        events a second (default 2000)
  --accounts    accounts that write, all equally often (default 50000)
  --outsiders   accounts that only references name (default 800000)
  --no-browser  read the pages that the dashboard reads without Chromium

Example: bench/hour_bench.py --minutes 5
"""

import contextlib
import dataclasses
import datetime
import http.client
import json
import math
import pathlib
import re
import socket
import statistics
import sys
import tempfile
import threading
import time

from live_bench import BIN, ROOT, Program, Server, cpu_of, migrated, wait_for
from options import parse, parser_of
from report import Report
from projection_bench import PROJECTIONS, skua

sys.path.insert(0, str(ROOT / "tests/e2e"))

from browser import Browser  # noqa: E402

# The age of one change in so many is measured.
AGED = 100
ADDRESS = re.compile(r"(?:pages at|serving) http://([\d.:]+)/")


@dataclasses.dataclass(frozen=True)
class Pace:
    """Seconds: before the measurement, between two samples, of a part, and of a span of which the smallest memory counts."""

    warm_up: float = 120
    sample: float = 15
    part: float = 300
    span: float = 75  # longer than the minute after which free memory is returned

    def samples_of(self, seconds):
        return max(1, round(seconds / self.sample))


QUICK = Pace(warm_up=1, sample=0.5, part=3, span=0.5)


def ask(address, path):
    connection = http.client.HTTPConnection(address, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


class Metrics:
    """One answer of /metrics."""

    def __init__(self, address):
        self.values = {}
        for line in ask(address, "/metrics")[1].splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                self.values[name] = float(value)

    def of(self, name):
        """All values of a metric, by their labels."""
        return {key[len(name):]: value for key, value in self.values.items()
                if key == name or key.startswith(name + "{")}

    def sum(self, name):
        return sum(self.of(name).values())

    def largest(self, name):
        return max(self.of(name).values(), default=0.0)

    def buckets(self, name):
        """Upper bounds and cumulative counts of a histogram, over all labels."""
        found = {}
        for labels, count in self.of(name + "_bucket").items():
            bound = float(re.search(r'le="([^"]+)"', labels)[1])
            found[bound] = found.get(bound, 0.0) + count
        return found


def quantile(before, after, share):
    """The upper bound in milliseconds of the bucket that contains a quantile of what came between two answers."""
    bounds = sorted(after)
    counts = {bound: after[bound] - before.get(bound, 0.0) for bound in bounds}
    all_of_them = counts[bounds[-1]] if bounds else 0
    if not all_of_them:
        return float("nan")
    return 1000 * next(bound for bound in bounds if counts[bound] >= share * all_of_them)


def largest(values):
    """The largest of the values that are numbers; nan: there is none."""
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def memory(pid):
    """Anonymous memory in MB: mapped files do not count."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", text)[1]) / 1024


class FeedClient(threading.Thread):
    """Reads /changes and counts; of one change in AGED it measures the age."""

    def __init__(self, address):
        super().__init__(daemon=True)
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.sendall(b"GET /changes HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n" % address.encode())
        self.changes = 0
        self.oldest = math.nan  # since the last sample
        self.ended = False

    def run(self):
        rest = b""
        while piece := self.socket.recv(1 << 16):
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if not line.startswith(b"data: ") or b'"kind":"heartbeat"' in line:
                    continue
                self.changes += 1
                if self.changes % AGED == 0:
                    time_of_change = datetime.datetime.fromisoformat(json.loads(line[6:])["time"])
                    self.oldest = largest([self.oldest, time.time() - time_of_change.timestamp()])
        self.ended = True


class Sample:
    def __init__(self, installation):
        self.at = time.monotonic()
        self.run = Metrics(installation.run_address)
        # Since the last sample.
        self.least_memory, self.most_memory = min(installation.memory), max(installation.memory)
        installation.memory = []
        self.serve_memory = memory(installation.serve.process.pid)
        self.server_cpu = installation.server.cpu()
        self.run_cpu = cpu_of(installation.run.process.pid)[0]
        self.serve_cpu = cpu_of(installation.serve.process.pid)[0]
        self.changes = installation.client.changes
        self.age = installation.client.oldest
        installation.client.oldest = math.nan
        Metrics(installation.serve_address)
        status, text = ask(installation.run_address, "/health/ready")
        self.problems = [one["code"] for one in json.loads(text)["reasons"]] if status != 200 else []


class Installation:
    """All processes of an installation. `stack` ends them in the reverse order."""

    def __init__(self, stack, options):
        self.server = Server(options.quick)
        stack.callback(self.server.destroy)
        self.db = migrated(self.server, "hour")
        for projection in PROJECTIONS:
            skua(self.db, "consumers", "add", projection)
        self.network = self.start(stack, BIN / "skua-sim", "--accounts", options.accounts, "--even", "--records",
                                  options.accounts * 50, "--outsiders", options.outsiders, "--outside-share", 0.5,
                                  "--rate", options.rate)
        ready = self.network.first_json(seconds=600)
        database = ("--database", self.db.url)
        self.run = self.start(stack, BIN / "skua", "run", *database, "--relay", ready["url"], "--plc", ready["plc"],
                              "--allow-private-hosts", "--handles", "claimed", "--verify", "full", "--http", "127.0.0.1:0")
        self.serve = self.start(stack, BIN / "skua", "serve", *database, "--listen", "127.0.0.1:0")
        self.memory = []
        self.run_address, self.serve_address = map(self.address_of, (self.run, self.serve))
        self.client = FeedClient(self.serve_address)
        self.client.start()
        if options.browser:
            browser = Browser(pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "chromium")
            stack.callback(browser.quit)
            browser.open(f"http://{self.run_address}/")

    @staticmethod
    def start(stack, *arguments):
        program = Program([str(one) for one in arguments])
        stack.callback(program.kill)
        return program

    @staticmethod
    def address_of(program):
        def printed():
            return next((match[1] for match in map(ADDRESS.search, list(program.stdout)) if match), None)

        return wait_for("the pages", printed, seconds=60, alive=[program])

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for program in (self.network, self.run, self.serve):
                if program.process.poll() is not None:
                    raise SystemExit(f"{program} ended:\n{program.tail()}")
            if self.client.ended:
                raise SystemExit("the stream of changes ended")
            self.memory.append(memory(self.run.process.pid))
            time.sleep(min(1, max(0, end - time.monotonic())))


def print_part(number, samples, report):
    first, last = samples[0], samples[-1]
    seconds = last.at - first.at

    def say(name, value, form, positive=True):
        return report.figure(name, value, form, positive)

    rate = (last.run.sum("skua_events_total") - first.run.sum("skua_events_total")) / seconds
    latency = [quantile(first.run.buckets("skua_commit_latency_seconds"),
                        last.run.buckets("skua_commit_latency_seconds"), share) for share in (0.5, 0.99)]
    lag = max(sample.run.largest("skua_lag_seconds") for sample in samples[1:])
    behind = max(sample.run.largest("skua_consumer_lag_seconds") for sample in samples[1:])
    cpu = [(getattr(last, name) - getattr(first, name)) / seconds for name in ("run_cpu", "serve_cpu", "server_cpu")]
    problems = sorted({code for sample in samples[1:] for code in sample.problems})
    # Free memory is returned once a minute: the smallest value is one shortly after that.
    least = min(sample.least_memory for sample in samples[1:])
    most = max(sample.most_memory for sample in samples[1:])
    print(f"{number:6} {say('events/s', rate, '9.0f')} {say('lag', lag, '7.2f', False)} {say('p50', latency[0], '6.0f')}"
          f" {say('p99', latency[1], '6.0f')} {say('consumers', behind, '12.2f', False)}"
          f" {say('changes/s', (last.changes - first.changes) / seconds, '10.0f')}"
          f" {say('age', largest(sample.age for sample in samples[1:]), '7.2f', False)}"
          f" {say('run MB', least, '6.0f')} {say('to MB', most, '6.0f')} {say('srv MB', last.serve_memory, '6.0f')}"
          f" {cpu[0]:6.2f} {cpu[1]:6.2f} {cpu[2]:6.2f}  {', '.join(problems)}", flush=True)


def print_stages(first, last, report):
    """The latency of each stage, and how many transactions wrote the events."""
    for title, name in (("arrival to queue", "skua_dispatch_latency_seconds"), ("in the queue", "skua_queue_wait_seconds"),
                        ("transaction", "skua_transaction_seconds"), ("arrival to commit", "skua_commit_latency_seconds")):
        before, after = first.run.buckets(name), last.run.buckets(name)
        shares = [(f"p{100 * share:g}", quantile(before, after, share)) for share in (0.5, 0.9, 0.99, 0.999)]
        # A message may reach its queue in less than half a millisecond.
        printed = ", ".join(f"{share} {report.figure(f'{title} {share}', value, '.0f', positive=False)}" for share, value in shares)
        count = max(after.values()) - max(before.values(), default=0)
        print(f"  {title:18} {printed} ms; {report.figure(title, count / (last.at - first.at), '.0f')} a second")


def growth(points):
    """MB per hour, by the line of least squares through points of seconds and MB; of less than two points: nan."""
    return 3600 * statistics.linear_regression(*zip(*points)).slope if len(points) > 1 else math.nan


def least_memory(samples, pace):
    """The smallest memory of `skua run` in each span."""
    size = pace.samples_of(pace.span)
    spans = [samples[at : at + size] for at in range(0, len(samples) - size + 1, size)]
    return [(span[-1].at, min(sample.least_memory for sample in span)) for span in spans]


def measure(installation, seconds, pace, report):
    installation.wait(pace.warm_up)
    samples = [Sample(installation)]
    print("  part  events/s   lag s p50 ms p99 ms consumers s  changes/s   age s run MB to MB srv MB    run  serve     pg  problems",
          flush=True)
    for part in range(max(1, int(seconds / pace.part))):
        begin = len(samples) - 1
        for _ in range(pace.samples_of(min(pace.part, seconds))):
            installation.wait(pace.sample)
            samples.append(Sample(installation))
        print_part(part + 1, samples[begin:], report)
    print("all")
    print_part(0, samples, report)
    print_stages(samples[0], samples[-1], report)
    late = samples[len(samples) // 2 :]
    run, serve = growth(least_memory(late, pace)), growth([(one.at, one.serve_memory) for one in late])
    rows = int(installation.db.run("select count(*) from bsky.all_records"))
    print(f"  memory in the second half: skua run {report.figure('growth of run', run, '+.1f', positive=False)} MB/h, skua serve"
          f" {report.figure('growth of serve', serve, '+.1f', positive=False)} MB/h; rows in bsky:"
          f" {report.figure('rows', rows, 'd')}", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=2_000)
    parser.add_argument("--accounts", type=int, default=50_000)
    parser.add_argument("--outsiders", type=int, default=800_000)
    parser.add_argument("--no-browser", dest="browser", action="store_false")
    options = parse(parser, browser=False, minutes=0.05, rate=300, accounts=50, outsiders=2_000)
    with contextlib.ExitStack() as stack:
        installation = Installation(stack, options)
        with Report("events/s", "p50", "p99", "changes/s", "age", "rows") as report:
            measure(installation, options.minutes * 60, QUICK if options.quick else Pace(), report)


if __name__ == "__main__":
    main()
