"""What goes wrong in one run of the stress suite, and when: all of it follows from the seed."""

import random

CRASH_POINTS = {
    # name: how often a process passes it in a few seconds, about
    "decoded": 3000,
    "before_commit": 300,
    "after_commit": 300,
    "before_cursor": 1,
    "after_cursor": 1,
    "before_stubs": 100,
    "after_stubs": 100,
    "before_post_stubs": 100,
    "after_post_stubs": 100,
}

# Of a connection and of the stream, a second.
STREAM_FAULTS = {
    "cut": 0.15,
    "stall:1.5": 0.02,
    "slow:2": 0.02,
    "error:ConsumerTooSlow": 0.05,
    "info": 0.05,
    "truncated-frame": 0.3,
    "bad-hash": 0.3,
    "bad-signature": 0.3,
    "wrong-prev-data": 0.3,
    "replayed-rev": 0.3,
    "future-rev": 0.3,
    "repeated-seq": 0.3,
    "missing-seq": 0.3,
}

# These leave a dead letter; the others leave nothing.
DEAD_LETTERS = {"truncated-frame", "bad-hash"}

FIRST_SEQ = 1_000_000_000


class Trouble:
    """`next_life` says how each process of skua ends, one after the other; `server` when the server is hit, in
    seconds after the start, and how."""

    def __init__(self, seed, seconds):
        chance = random.Random(seed)
        self._lives = random.Random(seed + 1)
        self.server = sorted(
            (chance.uniform(2, seconds), chance.choice(["backend", "backend", "immediate", "main"]))
            for _ in range(max(1, int(seconds / 12)))
        )
        self.faults = [f"{kind}={rate * chance.uniform(0.5, 1.5):.3f}" for kind, rate in STREAM_FAULTS.items()]
        # Once: a second time the new numbers could not be told from the first ones.
        self.restart_at = chance.uniform(0.2, 0.8) * seconds if chance.random() < 0.7 else None

    def next_life(self):
        chance = self._lives
        kind = chance.choice(["point", "point", "point", "kill", "stop"])
        life = {"kind": kind, "seconds": chance.uniform(2, 8)}
        if kind == "point":
            name = chance.choice(sorted(CRASH_POINTS))
            passes = 1 + int(chance.random() ** 2 * CRASH_POINTS[name])
            life["crash_at"] = f"{name}:{passes}"
            # The cursor is saved every ten seconds.
            life["seconds"] = 12 if "cursor" in name else 8
        return life
