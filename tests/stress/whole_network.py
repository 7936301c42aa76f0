"""Compares a database that was filled by a backfill with its simulated network."""

import concurrent.futures
import json
import multiprocessing
import subprocess
import threading

import atproto
import comparison

# Data for the forked workers of the comparison; several seeds may use it at the same time.
_stored = {}
_comparing = threading.Lock()


class Comparison:
    """`oracle`: the folder of the network's dump. With `live`, a second process has read the stream meanwhile. With
    `is_found`, the accounts were found on the lists of hosts, which contain only active accounts."""

    def __init__(self, database, oracle, folder, live, is_found=False):
        self.db, self.oracle, self.folder, self.live = database, oracle, folder, live
        self.is_found = is_found
        self.accounts = json.loads((oracle / "accounts.json").read_text())
        rows = database.rows("select did, state, rev, records, error from skua.backfill_jobs")
        self.jobs = {row["did"]: row for row in rows}
        self.figures = {}

    def differences(self, columns, chance):
        """The differences as messages. `columns`: the number of records that are compared column by column."""
        # The accounts that can be complete here, and those whose expected state is unknown.
        whole, unknown = [], set()
        found = []
        for account in self.accounts:
            job = self.jobs.get(account["did"])
            if account["status"] == "deleted":
                continue
            if job is None and self.is_found and account["status"] != "active":
                if self.live:
                    unknown.add(account["did"])
                continue
            if job is None and self.live and account["announced_status"]:
                whole.append(account)  # It joined, and all of its events were received.
            elif job and job["state"] == "done":
                whole.append(account)
            elif job and job["state"] == "unavailable" and job["error"] and account["status"] != "active":
                unknown.add(account["did"])
            else:
                found.append(f"{account['did']} ({account['status']}): its job is {job}")
        self.figures["unavailable"] = len(unknown)
        with _comparing:
            found += self._paths(whole, unknown if self.live else set())
        found += self._columns(whole, columns, chance)
        found += self._states(whole)
        letters = self.db.rows("select key, error from skua.dead_letter limit 50")
        found += [f"a dead letter that nobody provoked, {row['key']}: {row['error']}" for row in letters]
        return found

    def _paths(self, whole, unknown):
        """Every record by path and CID."""
        global _stored
        _stored = self._stored_paths()
        names = [self.oracle / f"{account['did']}.car" for account in whole]
        with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
            results = list(pool.map(compare_paths, names, chunksize=4))
        self.figures["records"] = sum(count for count, _ in results)
        expected = {account["did"] for account in whole} | unknown
        too_many = [f"{did}: records of an account that can have none" for did in _stored.keys() - expected]
        _stored = {}
        return [line for _, lines in results for line in lines] + too_many

    def _stored_paths(self):
        file = self.folder / "stored"
        query = "copy (select did, collection || '/' || rkey, cid from bsky.all_records) to stdout"
        with file.open("wb") as out:
            subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.db.url, "-c", query], stdout=out,
                           check=True, timeout=600)
        stored = {}
        with file.open() as lines:
            for line in lines:
                did, path, cid = line.rstrip("\n").split("\t")
                stored.setdefault(did, []).append((path, cid))
        file.unlink()
        return stored

    def _columns(self, whole, most, chance):
        """Every column of the records of some accounts, of all if there are few records."""
        chosen, count = {}, 0
        for account in chance.sample(whole, len(whole)):
            if count + account["records"] <= most:
                count += account["records"]
                chosen[account["did"]] = atproto.Repository((self.oracle / f"{account['did']}.car").read_bytes())
        columns = comparison.ColumnComparison(self.db, chosen, list(chosen))
        self.figures["compared by column"] = sum(columns.checked.values())
        return columns.differences

    def _states(self, whole):
        """Compares the data about each repository besides its records."""
        rows = self.db.rows("select a.did, a.floor_rev, a.active, a.status, r.state, r.rev from bsky.actors a "
                            "left join skua.repositories r using (did)")
        stored = {row["did"]: row for row in rows}
        found = []
        for account in whole:
            did, job = account["did"], self.jobs.get(account["did"])
            row = stored.get(did)
            rev = atproto.tid_number(account["rev"])
            if row is None:
                if job:
                    found.append(f"{did}: no such account, although its job is done")
                continue
            if job is None:
                if row["state"] != "complete":
                    found.append(f"{did}: the repository is {row['state']}, though all of it was heard")
                continue
            if row["state"] != "complete":
                found.append(f"{did}: the repository is {row['state']}, it should be complete")
            if row["floor_rev"] < job["rev"]:
                found.append(f"{did}: the floor is {row['floor_rev']}, below the job's revision {job['rev']}")
            if not self.live and (row["rev"], job["rev"], job["records"]) != (rev, rev, account["records"]):
                found.append(f"{did}: repository at {row['rev']}, job {job}, but it is {account}")
            if self.live and row["rev"] != rev:
                found.append(f"{did}: repository at {row['rev']}, it should be {rev}")
        return found


def compare_paths(car):
    """(records, differences) of one account."""
    repository = atproto.Repository(car.read_bytes())
    expected = {path: cid.text() for path, (cid, _) in repository.records.items()}
    stored = dict(_stored.get(repository.did, []))
    lines = [f"at://{repository.did}/{path}: the repository has {expected.get(path)}, the database {stored.get(path)}"
             for path in sorted(expected.keys() | stored.keys()) if expected.get(path) != stored.get(path)]
    if len(stored) != len(_stored.get(repository.did, [])):
        lines.append(f"{repository.did}: one path has several rows")
    return len(expected), lines[:20]
