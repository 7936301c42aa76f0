"""The faults of one run of the stress suite, and their times: everything depends on the seed."""

import random

CRASH_POINTS = {
    # name: the approximate number of passes in a few seconds
    "decoded": 3000,
    "before_commit": 300,
    "after_commit": 300,
    "after_append": 300,
    "before_fold_commit": 100,
    "after_fold_commit": 100,
    "before_cursor": 1,
    "after_cursor": 1,
    "before_stubs": 100,
    "after_stubs": 100,
    "before_post_stubs": 100,
    "after_post_stubs": 100,
}

# Faults of a connection and of the stream, per second.
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

# These leave a dead letter; the others leave no trace.
DEAD_LETTERS = {"truncated-frame", "bad-hash"}

FIRST_SEQ = 1_000_000_000


# The maximum error of a clock in minutes: less than the hour of future-rev.
MOST_SHIFT = 40


class Trouble:
    """`next_life` returns how each process of skua ends, one after the other, and when its clock jumps. `hits` are the
    faults of other parts: (seconds after the start, kind, duration in seconds).

    Some runs also have: wrong clocks, the same process number again and again, a network between skua and the server
    that fails, a fail-over, stolen handles, an account whose host is silent.
    """

    def __init__(self, seed, seconds):
        chance = random.Random(seed)
        self._lives = random.Random(seed + 1)
        self.hits = [
            (chance.uniform(2, seconds), chance.choice(["backend", "backend", "immediate", "main"]), 0)
            for _ in range(max(1, int(seconds / 12)))
        ]
        self.faults = [f"{kind}={rate * chance.uniform(0.5, 1.5):.3f}" for kind, rate in STREAM_FAULTS.items()]
        # Only once: a second time the new numbers could not be distinguished from the first ones.
        self.restart_at = chance.uniform(0.2, 0.8) * seconds if chance.random() < 0.7 else None
        # Each of the others is drawn independently, so that they do not change the faults above.
        self._shifts = random.Random(f"shifts {seed}")
        self.has_wrong_clocks = self._shifts.random() < 0.4
        self.has_same_number = random.Random(f"number {seed}").random() < 0.4
        self.has_failing_network = self._add_silence(random.Random(f"silence {seed}"), seconds)
        self._add_fail_over(random.Random(f"fail-over {seed}"), seconds)
        self._add_thefts(random.Random(f"thefts {seed}"), seconds)
        self.hits.sort()
        # The size of each of its messages in KB.
        silent = random.Random(f"silent account {seed}")
        self.silent_account = silent.randint(300, 1200) if silent.random() < 0.5 else None

    def _add_silence(self, chance, seconds):
        if chance.random() > 0.5:
            return False
        for _ in range(max(1, int(seconds / 15))):
            self.hits.append((chance.uniform(2, seconds), "silence", chance.uniform(1, 4)))
        return True

    def _add_fail_over(self, chance, seconds):
        if chance.random() > 0.4:
            return
        copied_at = chance.uniform(0.1, 0.6) * seconds
        self.hits.append((copied_at, "copy", 0))
        self.hits.append((copied_at + chance.uniform(2, 6), "fail-over", chance.uniform(0, 2)))

    def _add_thefts(self, chance, seconds):
        if chance.random() < 0.5:
            self.hits += [(chance.uniform(1, seconds), "theft", 0) for _ in range(int(seconds))]

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
        life["shifts"] = self._next_shifts(life["seconds"])
        return life

    def _next_shifts(self, seconds):
        """The error of a clock: (seconds after the start, minutes), from the start of the process."""
        if not self.has_wrong_clocks:
            return []
        chance = self._shifts
        shifts = [(0, chance.choice([0, chance.randint(-MOST_SHIFT, MOST_SHIFT)]))]
        while shifts[-1][0] < seconds:
            minutes = chance.choice([0, chance.randint(-MOST_SHIFT, MOST_SHIFT)])
            shifts.append((shifts[-1][0] + chance.uniform(0.5, 4), minutes))
        return shifts
