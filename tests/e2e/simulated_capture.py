"""Captures of the simulated network. Tests that use them need no data from elsewhere."""

import json

import atproto


class SimulatedCapture:
    """A capture that skua-sim writes: `frames` and `documents` are its files, `repositories` are the repositories at
    its end ({did: atproto.Repository}), without those of deleted accounts."""

    def __init__(self, test, events, accounts):
        self.frames, self.documents, dump = (test.folder / name for name in ("frames", "documents", "dump"))
        sim = test.start([test.binary("skua-sim"), "--write-capture", self.frames, "--events", events,
                          "--accounts", accounts, "--oddities", 0, "--one-op-a-path", "--dump", dump,
                          "--did-docs", self.documents])
        test.assertEqual(sim.wait(120), 0, sim.tail())
        states = {account["did"]: account["announced_status"]
                  for account in json.loads((dump / "accounts.json").read_text())}
        self.repositories = {}
        for file in sorted(dump.glob("*.car")):
            repository = atproto.Repository(file.read_bytes())
            if states[repository.did] != "deleted":
                self.repositories[repository.did] = repository
