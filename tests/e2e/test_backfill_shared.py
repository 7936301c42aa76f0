"""Compares backfills with listings and with the live path: whole repositories from CAR files, in the tables as `skua
inspect repo` lists them and as the messages of the same accounts leave them. The repositories belong to real accounts,
to a real PDS and to the simulated network; one has a record that cannot be stored.

Every collection is indexed: records of collections without their own table are in bsky.records. So every listed record
is in a table, or in the dead letters with the reason.
"""

import collections
import json
import os
import unittest

import atproto
import comparison
import two_databases
from harness import EndToEnd, need_shared
from made import BAD_UTF8, Network

# The rejected records of the test repositories; the others become rows, with this total.
REFUSED_FILES = {"carv1-basic": "its first root is not a commit: it is not a repository"}
FAILED_JOBS = {
    "paul_staging.repo":
        "the repository is of version 2 of the format, which has no revisions: its host must bring it up to date",
}
RECORDS = {
    "arroba_snarfed2": 5, "empty": 0, "greenground.repo": 2, "hagoromo_getrepo": 559, "little": 278,
    "php_car_repo": 83, "rsky_valid_repo": 6, "tiny": 8,
}


class Histories(EndToEnd):
    def backfill(self, database, *arguments, code=0):
        """Its output."""
        return self.skua(database, "backfill", *arguments, code=code).output()

    def listing(self, car):
        """{path: cid}, as `skua inspect repo` prints it."""
        program = self.skua(None, "inspect", "repo", car)
        return dict(line.split("\t") for line in program.stdout)

    def dead_letters(self, database):
        """{URI: reason}."""
        # Each key has two words for the origin of the record, and its path.
        rows = database.rows("select key, error from skua.dead_letter")
        letters = {"at://" + row["key"].split(" ")[2]: row["error"] for row in rows}
        self.assertEqual(len(letters), len(rows))
        return letters

    def check_listings(self, database, cars, unstored=None):
        """Checks that the tables contain exactly the listed records. `cars`: {DID: file}, all that are in the
        database; `unstored`: the dead letters, {URI: reason}."""
        unstored = unstored or {}
        stored, jobs = comparison.current_paths(database), self.jobs(database)
        self.assertEqual(self.dead_letters(database), unstored)
        self.assertEqual(stored.keys() - cars.keys(), set())
        records = 0
        for did, car in cars.items():
            with self.subTest(did, car=car.name):
                listed = self.listing(car)
                rest = {path: cid for path, cid in listed.items() if f"at://{did}/{path}" not in unstored}
                self.assertEqual(stored.get(did, {}), rest)
                self.assertEqual((jobs[did]["state"], jobs[did]["records"]), ("done", len(listed)))
                records += len(listed)
        return records

    def jobs(self, database):
        return {row["did"]: row for row in
                database.rows("select did, state, records, error, file from skua.backfill_jobs")}

    def check_columns(self, database, cars):
        repositories = {did: atproto.Repository(car.read_bytes()) for did, car in cars.items()}
        compared = comparison.ColumnComparison(database, repositories)
        self.assertEqual(compared.differences, [])


class RealRepositories(Histories):
    def test_each_becomes_what_its_listing_says(self):
        folder = need_shared() / "repos"
        database = self.database()
        said = self.backfill(database, "--car-dir", folder, code=1)
        cars = {file.stem: file for file in folder.glob("*.car")}
        self.assertEqual(cars.keys(), RECORDS.keys() | REFUSED_FILES.keys() | FAILED_JOBS.keys())
        for name, words in REFUSED_FILES.items():
            with self.subTest(name):
                self.assertIn(f"skua: {cars[name]}: {words}", said)
        jobs = self.jobs(database)
        failed = {job["file"]: job["error"] for job in jobs.values() if job["state"] != "done"}
        self.assertEqual(failed, {os.path.abspath(cars[name]): words for name, words in FAILED_JOBS.items()})
        named = {job["file"]: did for did, job in jobs.items()}
        whole = {named[os.path.abspath(cars[name])]: cars[name] for name in RECORDS}
        self.assertEqual({name: len(self.listing(cars[name])) for name in RECORDS}, RECORDS)
        self.assertEqual(self.check_listings(database, whole), sum(RECORDS.values()))
        self.check_columns(database, whole)

    def test_who_cannot_be_verified_is_not_stored(self):
        folder = need_shared() / "repos"
        car = folder / "greenground.repo.car"
        did = atproto.Repository(car.read_bytes()).did
        # The document in the test data has the key, but for another DID.
        document = self.folder / "document.json"
        text = (folder / "greenground.didDoc.json").read_text()
        document.write_text(text.replace(json.loads(text)["id"], did))
        database = self.database()
        self.backfill(database, "--car-dir", folder, "--did-docs", document, "--verify", "full", code=1)
        jobs = self.jobs(database)
        self.assertEqual(len(jobs), len(RECORDS) + len(FAILED_JOBS))
        others = {(job["state"], job["error"]) for other, job in jobs.items() if other != did}
        self.assertEqual(others, {("unavailable", "the account's key cannot be had: there is no such DID")})
        self.check_listings(database, {did: car})


def cars_below(folder):
    """{DID: file} for files that are named after their accounts."""
    return {file.stem.replace("_", ":"): file for file in folder.glob("*.car")}


class BothPaths(Histories):
    """Repositories, and the stream of the same accounts from its beginning, in two databases."""

    def live(self, capture, *verification):
        """Indexes a capture."""
        database = self.database()
        self.skua(database, "replay", capture, *verification)
        return database

    def check_equal(self, history, live, statuses):
        """`statuses`: {DID: the last status on the stream}. Returns what was compared."""
        here, there = two_databases.Content(history), two_databases.Content(live)
        deleted = {did for did, status in statuses.items() if status == "deleted"}
        shown = {did for did, status in statuses.items() if status == "active"}
        compared = two_databases.Comparison(here, there, statuses.keys() - deleted, shown)
        self.assertEqual(compared.differences, [])
        with self.subTest("what a deleted account had is only in its old repository"):
            self.assertEqual([key for rows in there.current.values() for key in rows if key[0] in deleted], [])
        with self.subTest("stubs"):
            # The backfill finds references to posts that were never seen. The stream has also seen posts that were
            # deleted later.
            self.assertEqual(here.stubs, here.posts_without_content())
            self.assertEqual(there.posts_without_content() - there.stubs, set())
            self.assertEqual(here.deleted, set())
        return compared

    def check_handles(self, history, live, contested=()):
        """Checks that documents and messages agree. `contested`: handles that several accounts claimed, one after the
        other; after a handle was taken and released again, only a look-up returns it to its old owner."""
        here, there = ({did: (claim, None if claim in contested else held)
                        for did, (claim, held) in two_databases.handles(database).items()}
                       for database in (history, live))
        self.assertTrue(here)
        self.assertEqual(here, there)


class RealPds(BothPaths):
    def test_repositories_and_frames_leave_the_same(self):
        data = need_shared() / "pds"
        keys = ["--did-docs", data / "did-docs.json", "--verify", "full"]
        history, cars = self.database(), {}
        # Three accounts have two repositories each: the later one counts.
        for folder, count in (("repos-before-removal", 8), ("repos", 75)):
            found = cars_below(data / folder)
            self.assertEqual(len(found), count)
            self.backfill(history, "--car-dir", data / folder, *keys)
            cars.update(found)
        self.assertEqual(len(cars), 80)
        self.assertEqual(self.check_listings(history, cars), 9258 + 443)
        answers = json.loads((data / "repo-status.json").read_text())
        statuses = {did: answer.get("status", "active") if answer else "deleted" for did, answer in answers.items()}
        live = self.live(data / "frames.bin", *keys)
        rows = self.check_equal(history, live, statuses).rows
        self.assertEqual(rows["all_records"], 9258)
        self.assertEqual([len(rows), [name for name, count in rows.items() if count == 0]], [21 + 26, []])
        self.check_handles(history, live)
        with self.subTest("what is older than what is stored changes nothing, and is named"):
            before = comparison.current_paths(history)
            self.backfill(history, "--car-dir", data / "repos-before-removal", *keys, code=1)
            errors = [job["error"] for job in self.jobs(history).values() if job["state"] != "done"]
            self.assertEqual(len(errors), 2)
            for error in errors:
                self.assertRegex(error, "^stale: the CAR is of revision .*, and the account is known at .* already")
            self.assertEqual(comparison.current_paths(history), before)


class SimulatedNetwork(BothPaths):
    def test_repositories_and_frames_leave_the_same(self):
        capture, dump, documents = (self.folder / name for name in ("frames", "dump", "documents"))
        sim = self.start([self.binary("skua-sim"), "--write-capture", capture, "--events", 6000, "--accounts", 60,
                          "--dump", dump, "--did-docs", documents])
        self.assertEqual(sim.wait(120), 0, sim.tail())
        accounts = json.loads((dump / "accounts.json").read_text())
        cars = cars_below(dump)
        self.assertEqual(cars.keys(), {account["did"] for account in accounts})
        history = self.database()
        self.backfill(history, "--car-dir", dump, "--did-docs", documents, "--verify", "full")
        records = self.check_listings(history, cars)
        self.assertEqual(records, sum(account["records"] for account in accounts))
        statuses = {account["did"]: account["announced_status"] for account in accounts}
        self.assertGreater(len(set(statuses.values())), 2)
        # Some accounts have changed their keys: the documents are the final ones.
        live = self.live(capture)
        self.check_equal(history, live, statuses)
        claimed = collections.Counter(name for account in accounts for name in account["claims"])
        contested = {name for name, claimants in claimed.items() if claimants > 1}
        self.assertLess(len(contested), len(claimed) / 2)
        self.check_handles(history, live, contested)
        with self.subTest("one row less, and one that says something else, are seen"):
            active = ", ".join(f"'{did}'" for did, status in statuses.items() if status == "active")
            among = f"actor_id in (select id from bsky.actors where did in ({active}))"
            history.run(f"delete from bsky.likes where ctid = (select ctid from bsky.likes where {among} limit 1)")
            live.run(f"update bsky.follows set created_at = now() "
                     f"where ctid = (select ctid from bsky.follows where {among} limit 1)")
            self.assertEqual(self.changed(history, live, statuses), [
                "all_records", "follows", "follows_view", "follows_view", "likes", "likes_view"])

    def changed(self, history, live, statuses):
        """The tables and views of all differences."""
        shown = {did for did, status in statuses.items() if status == "active"}
        here, there = two_databases.Content(history), two_databases.Content(live)
        return sorted(line.split(" ")[0] for line in two_databases.Comparison(here, there, shown, shown).differences)


class MadeNetwork(BothPaths):
    def test_what_cannot_be_stored_is_in_the_dead_letters_of_both(self):
        network = Network()
        folder = self.folder / "cars"
        folder.mkdir()
        bad = []
        for name in ("first", "second"):
            account = network.account(name)
            post = {"$type": "app.bsky.feed.post", "text": name, "createdAt": network.time()}
            tid = account.tid()
            ops = [("app.bsky.feed.post/" + tid, post), ("com.example.note/" + tid, {"note": name}),
                   ("app.bsky.feed.post/" + tid[:-1] + "3", BAD_UTF8)]
            account.commit(*ops)
            bad.append(f"at://{account.did}/{ops[-1][0]}")
            # The first commit of a repository contains all of it.
            (folder / f"{account.did}.car").write_bytes(atproto.decode_frame(network.frames[-1])[1]["blocks"])
        capture = self.folder / "frames"
        capture.write_bytes(network.capture())
        history, live, cars = self.database(), self.live(capture), cars_below(folder)
        self.backfill(history, "--car-dir", folder)
        why = "the record's block: DAG-CBOR text that is not UTF-8"
        self.assertEqual(self.dead_letters(live), dict.fromkeys(bad, why))
        self.check_listings(history, cars, dict.fromkeys(bad, why))
        self.check_equal(history, live, dict.fromkeys(cars, "active"))


if __name__ == "__main__":
    unittest.main()
