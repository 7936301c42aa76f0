"""Shared by programs that run many seeds: runs several at a time, counts results, and reports them for
scripts/test.
"""

import concurrent.futures
import json
import time


def print_result(seed, started, differences, outcome):
    """Prints the outcome of a seed that began at `started`, and its first differences."""
    words = "equal" if not differences else f"{len(differences)} DIFFERENCES"
    print(f"seed {seed}: {words}, {time.monotonic() - started:.0f} s, {json.dumps(outcome)}", flush=True)
    for line in differences[:20]:
        print(f"  {line[-1500:]}", flush=True)


def run_seeds(name, seed_name, run_seed, options):
    """Calls `run_seed(seed, options)`, which returns the seed and its differences, for `options.seeds` seeds from
    `options.seed` on. Returns the exit code."""
    seeds = range(options.seed, options.seed + options.seeds)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda seed: run_seed(seed, options), seeds))
    failed = [(f"{seed_name} {seed}", "\n".join(differences[:50])) for seed, differences in results if differences]
    print(f"{name}: {len(results) - len(failed)} seeds equal, {len(failed)} not")
    if options.report:
        options.report.write_text(json.dumps({"passed": len(results) - len(failed), "failed": failed, "skipped": []}))
    return 1 if failed else 0
