#!/usr/bin/env python3
"""import_bench.py [--quick] [--lines N] [--rounds N] [--cache FOLDER]

Measures `skua identity import` of an export of the PLC directory, with PostgreSQL on the same machine: lines per
second, compared with plain COPY of the resulting rows in the same run. bench/README.md explains the results. Needs
the release build of skua.

  --quick    a small export, which takes seconds and shows only that the benchmark works
  --lines    operations in the export (default 500000)
  --rounds   rounds; the median is printed (default 3)
  --cache    the folder that keeps the export for the next run (default: build/bench; with --quick none)

Example: bench/import_bench.py --lines 2000000 --rounds 1
"""

import os
import pathlib
import random
import statistics
import subprocess
import time
from datetime import datetime, timedelta, timezone

from live_bench import BIN, CACHE, Server, migrated
from options import parse, parser_of
from report import Report

BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
KEYS = 20_000

# Shares of lines: of existing accounts, nullified ones, the legacy format, tombstones.
LATER, NULLIFIED, LEGACY, TOMBSTONES = 0.25, 0.005, 0.02, 0.002


# --- the export

def did_keys(count):
    """Points of secp256k1, one after the other, as did:key."""
    p = 2**256 - 2**32 - 977
    gx = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798
    gy = 0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8
    slope = 3 * gx * gx * pow(2 * gy, -1, p) % p
    x = (slope * slope - 2 * gx) % p
    y = (slope * (gx - x) - gy) % p
    keys = []
    for _ in range(count):
        number = int.from_bytes(bytes([0xE7, 1, 2 + y % 2]) + x.to_bytes(32, "big"), "big")
        text = ""
        while number:
            number, digit = divmod(number, 58)
            text = BASE58[digit] + text
        keys.append("did:key:z" + text)
        slope = (y - gy) * pow(x - gx, -1, p) % p
        x, old = (slope * slope - x - gx) % p, x
        y = (slope * (old - x) - y) % p
    return keys


def export(folder, count):
    """An export in the directory's format: oldest operation first, about a kilobyte per line."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"plc-export-{count}.jsonl"
    if path.exists():
        return path
    print(f"preparing {path.name}", flush=True)
    chance = random.Random(1)
    keys = did_keys(min(KEYS, count))
    text = lambda alphabet, length: "".join(chance.choices(alphabet, k=length))
    at = datetime(2023, 4, 1, tzinfo=timezone.utc)
    accounts = []
    unfinished = path.with_suffix(".part")
    with open(unfinished, "w") as out:
        for number in range(count):
            at += timedelta(milliseconds=1 + chance.randrange(1500))
            created = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            later = bool(accounts) and chance.random() < LATER
            if later:
                did, handle, key = chance.choice(accounts)
            else:
                did, handle = "did:plc:" + text(BASE32, 24), f"{text(BASE32, 9)}{number}.bsky.social"
                key = chance.choice(keys)
                accounts.append((did, handle, key))
            prev = f'"bafyrei{text(BASE32, 52)}"' if later else "null"
            sig = text(BASE64, 86)
            host = f"https://host{chance.randrange(80)}.us-west.host.bsky.network"
            recovery = [chance.choice(keys) for _ in range(2)]
            if later and chance.random() < TOMBSTONES / LATER:
                operation = f'{{"sig":"{sig}","prev":{prev},"type":"plc_tombstone"}}'
            elif not later and chance.random() < LEGACY:
                operation = (
                    f'{{"sig":"{sig}","prev":null,"type":"create","handle":"{handle}","service":"{host}",'
                    f'"signingKey":"{key}","recoveryKey":"{recovery[0]}"}}')
            else:
                operation = (
                    f'{{"sig":"{sig}","prev":{prev},"type":"plc_operation","services":{{"atproto_pds":'
                    f'{{"type":"AtprotoPersonalDataServer","endpoint":"{host}"}}}},"alsoKnownAs":["at://{handle}"],'
                    f'"rotationKeys":["{recovery[0]}","{recovery[1]}"],"verificationMethods":{{"atproto":"{key}"}}}}')
            nullified = "true" if later and chance.random() < NULLIFIED / LATER else "false"
            out.write(f'{{"did":"{did}","operation":{operation},"cid":"bafyrei{text(BASE32, 52)}",'
                      f'"nullified":{nullified},"createdAt":"{created}"}}\n')
    unfinished.rename(path)
    return path


# --- measuring

class Measured:
    pass


def measured(server, arguments, lines):
    """Runs a program to its end: lines per second, CPU seconds of the program and of the server, its memory."""
    before, start = server.cpu(), time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    result = Measured()
    result.words = process.stdout.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{arguments[0]} failed: {result.words}")
    result.seconds = time.monotonic() - start
    result.rate = lines / result.seconds
    result.own_cpu = usage.ru_utime + usage.ru_stime
    result.server_cpu = server.cpu() - before
    result.memory = usage.ru_maxrss / 1024
    return result


def show(name, rounds, report):
    middle = sorted(rounds, key=lambda each: each.rate)[len(rounds) // 2]
    print(f"  {name:<16}{report.figure(name, middle.rate, '>9.0f')} lines/s {middle.seconds:>7.1f} s; CPU {middle.own_cpu:.1f} s, server "
          f"{middle.server_cpu:.1f} s; {middle.memory:.0f} MB", flush=True)
    return middle


def rounds_of(server, path, lines, count):
    figures = {"COPY alone": [], "skua": [], "skua, again": []}
    ratios = []
    rows = path.with_suffix(".rows")
    for number in range(count):
        db = migrated(server, f"import_{number}")
        first = measured(server, [BIN / "skua", "identity", "import", path, "--database", db.url], lines)
        if number == 0:
            print(f"  {first.words}", flush=True)
        again = measured(server, [BIN / "skua", "identity", "import", path, "--database", db.url], lines)
        held = int(db.run("select count(*) from skua.identities"))
        # Not sorted by key, as they arrive.
        db.run(f"\\copy (select * from skua.identities order by md5(did)) to '{rows}'")
        db.run("truncate skua.identities; checkpoint")
        alone = measured(server, ["psql", "-XAtq", db.url, "-c", f"\\copy skua.identities from '{rows}'"], lines)
        if int(db.run("select count(*) from skua.identities")) != held:
            raise SystemExit("COPY lost rows")
        for name, each in (("COPY alone", alone), ("skua", first), ("skua, again", again)):
            figures[name].append(each)
        ratios.append(first.rate / alone.rate)
        server.drop(f"import_{number}")
        rows.unlink()
    with Report(*figures, "ratio") as report:
        for name, each in figures.items():
            if each:
                show(name, each, report)
        if ratios:
            print(f"  {'ratio':<16}{report.figure('ratio', statistics.median(ratios), '>9.2f')}", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    options = parse(parser, lines=2_000, rounds=1)
    server = Server(options.quick)
    try:
        path = export(server.cache(options), options.lines)
        print(f"{path.name}: {options.lines} lines of {path.stat().st_size / options.lines:.0f} bytes", flush=True)
        rounds_of(server, path, options.lines, options.rounds)
    finally:
        server.destroy()


if __name__ == "__main__":
    main()
