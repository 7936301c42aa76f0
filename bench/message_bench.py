#!/usr/bin/env python3
"""message_bench.py [--quick] [--messages N] [--producers N] [--keys N] [--bytes N] [--events N] [--cache FOLDER]

Measures own messages (docs/messages.md). Producers: transactions a second that insert a row, without and with a call
of skua.enqueue, and the CPU time of PostgreSQL for each. Sequencer: messages a second that `skua consumers
run-until-idle` moves to the change log, and the CPU time for each, also while a snapshot as that of a backup is open
and other messages were moved before. Delay: the time from a call to the change, while `skua serve` runs and the
producers enqueue as fast as they can. Comparison: the CPU time of `skua run` and PostgreSQL for an event of the network, as
in live_bench with full verification and an empty database. bench/README.md explains the results. Needs a release build.

  --quick      a small workload, which takes seconds and shows only that the benchmark works
  --messages   messages of each part (default 100000)
  --producers  sessions that enqueue at the same time (default 4)
  --keys       the number of keys (default 10000)
  --bytes      the size of a payload (default 300)
  --events     events of the network that are indexed for comparison (default 100000)
  --cache      the folder that keeps their capture for the next run (default: build/bench; with --quick none)

Example: bench/message_bench.py --messages 20000
"""

import concurrent.futures
import pathlib
import resource
import subprocess
import time

from live_bench import BIN, CACHE, Server, capture, check_complete, index, migrated, people
from harness import Program, free_port
from options import parse, parser_of
from report import Report

ROW = "insert into orders (customer) values ('c' || {key});"
MESSAGE = "select skua.enqueue('orders', 'c' || {key}, to_jsonb(repeat('x', {bytes})));"


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def produce(server, db, options, statements):
    """(transactions a second, CPU seconds of PostgreSQL for each) of producers that commit one by one."""
    each = options.messages // options.producers
    # Each producer has keys of its own: the lock of a key is not what this part measures.
    scripts = ["set synchronous_commit = off; set client_min_messages = error;\n" + "".join(
        "begin;" + "".join(statement.format(key=producer + options.producers * (n % options.keys), bytes=options.bytes)
                           for statement in statements) + "commit;\n" for n in range(each))
        for producer in range(options.producers)]
    before, start = server.cpu(), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.producers) as pool:
        list(pool.map(db.run, scripts))
    seconds = time.monotonic() - start
    return each * options.producers / seconds, (server.cpu() - before) / (each * options.producers)


def fill(db, options):
    """Fills the inbox."""
    db.run("update skua.message_limits set transaction_messages = 1000")
    for first in range(0, options.messages, 500):
        db.run("select count(skua.enqueue('orders', 'c' || (n % {0}), to_jsonb(repeat('x', {1})))) from "
               "generate_series({2}, {3}) as n".format(options.keys, options.bytes, first,
                                                       min(first + 500, options.messages) - 1))


def move(server, db):
    """(messages a second, CPU seconds of skua and PostgreSQL for each) of the sequencer."""
    count = int(db.run("select count(*) from skua.message_inbox"))
    before, own, start = server.cpu(), children_cpu(), time.monotonic()
    subprocess.run([BIN / "skua", "consumers", "run-until-idle", "--database", db.url], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    return count / seconds, (server.cpu() - before + children_cpu() - own) / count


def index_events(server, options):
    """(events a second, CPU seconds of skua and PostgreSQL for each) of `skua run`."""
    frames = capture(server.cache(options), options.events, people(options).most_subjects_new())
    measured = index(server, migrated(server, "events"), frames, verify="full")
    check_complete(measured)
    return measured.rate, (measured.skua_cpu + measured.server_cpu) / measured.figures["events"]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--producers", type=int, default=4)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--bytes", type=int, default=300)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    options = parse(parser, messages=2_000, keys=100, events=1_000)
    server = Server(options.quick)
    try:
        with Report("a row", "a row and a message", "moved", "moved beside a snapshot", "delay", "an event", "ratio") as report:
            db = migrated(server, "messages")
            db.run("create table orders (id int8 generated always as identity primary key, customer text)")
            for name, statements in (("a row", [ROW]), ("a row and a message", [ROW, MESSAGE])):
                rate, cpu = produce(server, db, options, statements)
                print(f"{name:24} {report.figure(name, rate, '8.0f')} transactions/s, CPU: PostgreSQL {cpu * 1e6:.0f} us",
                      flush=True)
            for name in ("moved", "moved beside a snapshot"):
                snapshot = None
                if name != "moved":
                    # psql keeps the transaction open until its input ends.
                    snapshot = subprocess.Popen(["psql", "-XAtq", db.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                    snapshot.stdin.write("begin isolation level repeatable read; select 1;\n")
                    snapshot.stdin.flush()
                    snapshot.stdout.readline()
                    fill(db, options)
                    move(server, db)
                    fill(db, options)
                rate, cpu = move(server, db)
                print(f"{name:24} {report.figure(name, rate, '8.0f')} messages/s, CPU: skua and PostgreSQL {cpu * 1e6:.0f} us",
                      flush=True)
                if snapshot:
                    snapshot.communicate()
                else:
                    moved = cpu
            program = Program([BIN / "skua", "serve", "--listen", f"127.0.0.1:{free_port()}", "--database", db.url])
            try:
                last = int(db.run("select skua.change_log_end()"))
                produce(server, db, options, [ROW, MESSAGE])
                while int(db.run("select count(*) from skua.message_inbox")):
                    time.sleep(0.1)
            finally:
                program.stop()
            delays = db.rows("select p as part, percentile_cont(p) within group (order by extract(epoch from l.at - m.enqueued_at)) "
                             "as seconds from skua.messages m join lateral (select at from skua.change_log l where l.pos <= m.pos "
                             f"order by pos desc limit 1) l on true, unnest(array[0.5, 0.99]) as p where m.pos >= {last} group by 1 order by 1")
            print(f"delay                    p50 {report.figure('delay', delays[0]['seconds'] * 1e3, '6.1f')} ms, "
                  f"p99 {delays[1]['seconds'] * 1e3:.1f} ms", flush=True)
            rate, cpu = index_events(server, options)
            print(f"an event                 {report.figure('an event', rate, '8.0f')} events/s, CPU: skua and PostgreSQL {cpu * 1e6:.0f} us",
                  flush=True)
            print(f"ratio                    {report.figure('ratio', moved / cpu, '8.3f')}   CPU of a message that is moved by CPU of an event",
                  flush=True)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
