#!/usr/bin/env python3
"""export_bench.py [--quick] [--rows N] [--rounds N] [--python PROGRAM]

Measures `skua export` of a table and of a view, in each form, with PostgreSQL on the same machine: rows per second, compared
with `\\copy` of psql of the same rows in the same run, and the memory of the process. The files of the first round are read
back and compared with the database; one of them is of an export that was killed several times. bench/README.md explains the
results. Needs the release build of skua.

  --quick    few rows: it takes seconds and shows only that the benchmark works
  --rows     likes (default 1000000)
  --rounds   rounds; the median is printed (default 3)
  --python   a Python that can import duckdb, for Parquet (default: this one; without duckdb there is no line for Parquet)

Example: bench/export_bench.py --rows 200000 --rounds 1
"""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

from live_bench import BIN, Server, migrated
from options import parse, parser_of
from report import Report

# live_bench adds the folder of the end-to-end tests to the path.
import read_back  # noqa: E402

ACCOUNTS = 20_000
FORMATS = {"csv": read_back.read_csv, "jsonl": read_back.read_jsonl}
RELATIONS = {"view": "bsky.likes_view", "table": "bsky.likes"}


def fill(db, rows):
    db.run(f"insert into bsky.actors (did, handle, active, indexed_at) select 'did:plc:' || translate(md5(n::text), '0189', 'wxyz'), "
           f"'n' || n || '.test', true, now() from generate_series(1, {ACCOUNTS}) n; "
           "insert into bsky.likes (rkey, rev, indexed_at, created_at, actor_id, subject_rkey, subject_actor, subject_collection, cid, subject_cid) "
           f"select ((1700000000000000 + n) << 10)::int8, n, now(), now() - n * interval '1 second', 1 + n % {ACCOUNTS}, "
           f"((1600000000000000 + n % 50000) << 10)::int8, 1 + n * 7 % {ACCOUNTS}, 1, sha256(int8send(n)), sha256(int8send(n % 50000)) "
           f"from generate_series(1::int8, {rows}) n")
    db.run("vacuum (freeze, analyze)")


def run(command):
    """The seconds and the peak memory in bytes of a command."""
    start = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    output = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise SystemExit(output.decode())
    return time.monotonic() - start, usage.ru_maxrss * 1024


def export(db, relation, form, file, *more):
    return [BIN / "skua", "export", "--database", db.url, "--quiet", relation, "--format", form, "--output", file, *more]


def compare(db, file, form, relation):
    """Ends the program if the rows of a file are not those of the relation."""
    db.run("drop table if exists public.back")
    FORMATS[form](db, file, relation, "public.back")
    expected, found = (read_back.fingerprint(db, name) for name in (relation, "public.back"))
    if expected != found:
        raise SystemExit(f"{file.name} has other rows than {relation}: {found}, and not {expected}")


def killed(db, file, rows):
    """Exports a view, and kills the process after each of some ranges. Returns the number of kills."""
    kills, checkpoint = 0, pathlib.Path(f"{file}.checkpoint")
    while not file.exists():
        before = json.loads(checkpoint.read_text())["rows"] if checkpoint.exists() else 0
        process = subprocess.Popen(list(map(str, export(db, RELATIONS["view"], "csv", file, "--resume", "--range", max(rows // 40, 50)))),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while process.poll() is None and kills < 10:
            if checkpoint.exists() and json.loads(checkpoint.read_text())["rows"] > before:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.002)
        process.wait()
    return kills


def parquet(db, file, options, rows, report):
    """Makes a Parquet file by the printed steps, reads it back, and prints the time."""
    python = options.python
    if subprocess.run([python, "-c", "import duckdb"], capture_output=True, check=False).returncode != 0:
        print("parquet: this Python cannot import duckdb", flush=True)
        return
    # The steps would not repeat the password of --database.
    environment = {**os.environ, "SKUA_DATABASE_URL": db.url}
    printed = subprocess.run([BIN / "skua", "export", RELATIONS["view"], "--format", "parquet", "--output", file], capture_output=True,
                             text=True, env=environment, check=False).stderr
    steps = printed.split("\n", 1)[1].replace("python3", python)
    begin = time.monotonic()
    subprocess.run(["sh", "-e"], input=steps, text=True, check=True, stderr=subprocess.DEVNULL, env=environment)
    seconds = time.monotonic() - begin
    db.run("drop table if exists public.back")
    read_back.read_parquet(db, python, file, RELATIONS["view"], "public.back")
    if read_back.fingerprint(db, RELATIONS["view"]) != read_back.fingerprint(db, "public.back"):
        raise SystemExit("the Parquet file has other rows than the view")
    print(f"parquet  {report.figure('parquet', rows / seconds, '9.0f')} rows/s by JSON lines and DuckDB; equal when it is read back", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    options = parse(parser, rows=5000, rounds=1)
    server = Server(options.quick)
    try:
        db = migrated(server, "export")
        fill(db, options.rows)
        folder = pathlib.Path(server.folder)
        figures = [f"{name} {form} {what}" for name in RELATIONS for form in ("copy", *FORMATS) for what in ("rate", "memory")
                   if not (form == "copy" and what == "memory")]
        with Report(*figures, *(f"{name} {form} ratio" for name in RELATIONS for form in FORMATS), "kills") as report:
            for name, relation in RELATIONS.items():
                times = {form: [] for form in ("copy", *FORMATS)}
                memory = dict.fromkeys(FORMATS, 0)
                for number in range(options.rounds):
                    file = folder / "copy.csv"
                    times["copy"].append(run(["psql", "-Xq", db.url, "-c", f"\\copy (select * from {relation}) to '{file}' csv header"])[0])
                    for form in FORMATS:
                        file = folder / f"{name}.{form}"
                        seconds, peak = run(export(db, relation, form, file, "--replace"))
                        times[form].append(seconds)
                        memory[form] = max(memory[form], peak)
                        if number == 0 and name == "view":
                            compare(db, file, form, relation)
                rates = {form: options.rows / statistics.median(all_) for form, all_ in times.items() if all_}
                for form, rate in rates.items():
                    line = f"{name:5}  {form:5}  {report.figure(f'{name} {form} rate', rate, '9.0f')} rows/s"
                    if form != "copy":
                        ratio = statistics.median(copy / own for copy, own in zip(times["copy"], times[form]))
                        line += (f"  ratio {report.figure(f'{name} {form} ratio', ratio, '.2f')}"
                                 f"  memory {report.figure(f'{name} {form} memory', memory[form] / 1e6, '.0f')} MB")
                    print(line, flush=True)
            file = folder / "killed.csv"
            kills = killed(db, file, options.rows)
            compare(db, file, "csv", RELATIONS["view"])
            print(f"killed {report.figure('kills', kills, '.0f')} times and continued: equal when it is read back", flush=True)
            parquet(db, folder / "rows.parquet", options, options.rows, report)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
