"""`skua dead-letters`: letters that the indexer really wrote are listed, shown, replayed, resolved, discarded and
deleted.
"""

import json
import unittest

import atproto
from harness import EndToEnd
from made import BAD_UTF8, Network
from test_backfill import Backfill

POST = "app.bsky.feed.post"
ESCAPE = "\x1b]0;owned\x07"


class DeadLetters(EndToEnd):
    def setUp(self):
        super().setUp()
        self.network = Network()
        self.person = self.network.account("writer")
        self.db = self.database()

    def index(self):
        capture = self.folder / "some.capture"
        capture.write_bytes(self.network.capture())
        self.skua(self.db, "replay", capture)

    def letters(self, *arguments):
        return json.loads("".join(self.skua(self.db, "dead-letters", "list", "--json", *arguments).stdout))

    def show(self, number):
        letter, = json.loads("".join(self.skua(self.db, "dead-letters", "show", number, "--json").stdout))
        return letter

    def command(self, *arguments, code=0):
        return self.skua(self.db, "dead-letters", *arguments, code=code)

    def refuse_posts(self):
        self.db.run("alter table bsky.posts add constraint no_spam check (text not like '%refused%')")

    def accept_posts(self):
        self.db.run("alter table bsky.posts drop constraint no_spam")

    def texts(self):
        return [row["text"] for row in self.db.rows("select text from bsky.posts where cid is not null order by rkey")]

    def test_a_refused_record_is_replayed_when_the_cause_is_mended(self):
        self.refuse_posts()
        uri, cid = self.person.post(f"refused {ESCAPE}\u202e")
        self.person.post("accepted")
        self.index()
        self.assertEqual(self.texts(), ["accepted"])

        letter, = self.letters()
        self.assertEqual((letter["status"], letter["consumer"], letter["sqlstate"]), ("dead", "indexer", "23514"))
        self.assertEqual(f"at://{letter['did']}/{letter['path']}", uri)
        self.assertEqual((letter["operation"], letter["cid"], letter["attempts"]), ("create", cid, 1))
        self.assertRegex(letter["rev"], "^[2-7a-z]{13}$")
        self.assertIn("no_spam", letter["error"])
        shown = self.show(letter["id"])
        self.assertEqual(shown["payload"]["record"]["text"], f"refused {ESCAPE}\u202e")
        for output in (self.command("list"), self.command("show", letter["id"])):
            text = "".join(output.stdout)
            self.assertIn("no_spam", text)
            for bad in ("\x1b", "\x07", "\u202e"):
                self.assertNotIn(bad, text)
        self.assertTrue(self.command("show", letter["id"]).says("owned"))
        self.assertEqual(len(self.letters("--did", self.person.did, "--error", "NO_SPAM")), 1)
        self.assertEqual(self.letters("--error", "something else"), [])
        self.assertEqual(self.letters("--consumer", "webhook"), [])
        self.assertEqual(self.letters("--status", "resolved"), [])

        again = self.command("replay", letter["id"], code=1)
        self.assertTrue(again.says(f"{letter['id']}: failed again: "), again.tail())
        self.assertEqual(self.letters()[0]["attempts"], 2)
        self.accept_posts()
        replayed = self.command("replay", "--all", "--error", "no_spam")
        self.assertTrue(replayed.says(f"{letter['id']}: resolved: written"), replayed.tail())
        self.assertEqual(len(self.texts()), 2)
        rev = self.db.value("select bsky.tid_text(rev) from bsky.posts where text like 'refused%'")
        self.assertEqual(rev, letter["rev"])
        self.assertEqual(self.letters(), [])
        resolved, = self.letters("--status", "resolved")
        self.assertIsNotNone(resolved["finished_at"])
        # A change of content is logged as any other.
        self.assertEqual(self.db.value("select count(*) from skua.changes(0) where op = 'create' and kind = 'record'"), 2)

        refused = self.command("replay", letter["id"], code=1)
        self.assertTrue(refused.says("not replayed: resolved"), refused.tail())
        # The input comes again: nothing changes.
        self.index()
        self.assertEqual(self.letters("--status", "resolved"), [resolved])
        self.assertEqual(len(self.texts()), 2)

    def test_an_older_record_does_not_overwrite_a_newer_one(self):
        self.refuse_posts()
        uri, _ = self.person.post("refused at first")
        self.index()
        path = uri.split("/", 3)[3]
        self.person.commit((path, {"$type": POST, "text": "then corrected", "createdAt": self.network.time()}))
        self.index()
        self.accept_posts()
        letter, = self.letters()
        self.command("replay", letter["id"])
        self.assertEqual(self.texts(), ["then corrected"])

    def test_bytes_that_are_no_record_and_a_frame(self):
        rkey = self.person.tid()
        self.person.commit((f"{POST}/{rkey}", BAD_UTF8))
        self.person.post("damaged")
        frame = bytearray(self.network.frames[-1])
        frame[frame.index(b"damaged")] ^= 1
        self.network.frames[-1] = bytes(frame)
        self.index()
        by_operation = {letter["operation"]: letter for letter in self.letters()}
        self.assertEqual(set(by_operation), {"create", "frame"})
        bad = self.show(by_operation["create"]["id"])
        self.assertEqual(bad["path"], f"{POST}/{rkey}")
        self.assertEqual(bad["payload"]["hex"], bytes(BAD_UTF8).hex())
        whole = self.show(by_operation["frame"]["id"])
        self.assertEqual(whole["payload"]["frame"]["type"], "#commit")
        self.assertEqual(whole["payload"]["frame"]["did"], self.person.did)
        self.assertEqual(whole["payload"]["bytes"], len(frame))

        again = self.command("replay", bad["id"], code=1)
        self.assertTrue(again.says("failed again: the record's block"), again.tail())
        self.assertEqual(self.db.value("select count(*) from skua.backfill_jobs"), 0)
        queued = self.command("replay", whole["id"])
        self.assertTrue(queued.says("a resync of the account is queued"), queued.tail())
        self.assertEqual(self.db.rows("select did, state from skua.backfill_jobs"),
                         [{"did": self.person.did, "state": "queued"}])

        status = json.loads("".join(self.skua(self.db, "status", "--json").stdout))
        self.assertEqual([entry["count"] for entry in status["dead_letters"]], [1])
        self.assertIn("UTF-8", status["dead_letters"][0]["error"])

    def test_letters_are_resolved_discarded_and_deleted(self):
        self.refuse_posts()
        for number in range(4):
            self.person.post(f"refused {number}")
        self.index()
        ids = sorted(letter["id"] for letter in self.letters())
        self.assertEqual(len(ids), 4)
        limited = self.command("list", "--limit", 3)
        self.assertTrue(limited.says("the first 3 are shown"), limited.tail())
        self.command("resolve", ids[0], "--note", f"elsewhere {ESCAPE}")
        self.command("discard", ids[1], ids[2])
        half = self.command("discard", ids[0], 999999, code=1)
        self.assertTrue(half.says(f"{ids[0]}: is resolved already"), half.tail())
        self.assertTrue(half.says("999999: there is no such letter"), half.tail())
        finished = {letter["id"]: letter for letter in self.letters("--status", "resolved", "--status", "discarded")}
        self.assertEqual({number: letter["status"] for number, letter in finished.items()},
                         {ids[0]: "resolved", ids[1]: "discarded", ids[2]: "discarded"})
        self.assertEqual(finished[ids[0]]["note"], "elsewhere \\u{1b}]0;owned\\u{7}")
        status = json.loads("".join(self.skua(self.db, "status", "--json").stdout))
        self.assertEqual([entry["count"] for entry in status["dead_letters"]], [1])

        self.assertTrue(self.command("purge", "--older-than", "30d").says("0 letters deleted"))
        self.assertTrue(self.command("purge", "--older-than", "0s", "--status", "discarded").says("2 letters deleted"))
        kept = self.command("purge", "--older-than", "0s", "--status", "dead", code=2)
        self.assertTrue(kept.says("--force"), kept.tail())
        self.assertEqual(len(self.letters()), 1)
        self.command("purge", "--older-than", "0s", "--status", "dead", "--force")
        self.assertEqual(self.db.rows("select id, status from skua.dead_letter"), [{"id": ids[0], "status": "resolved"}])

    def test_two_replays_at_once(self):
        self.refuse_posts()
        for number in range(20):
            self.person.post(f"refused {number}")
        self.index()
        self.accept_posts()
        letters = self.letters()
        self.assertEqual(len(letters), 20)
        environment = self.environment(self.db)
        arguments = [self.binary("skua"), "dead-letters", "replay", "--all"]
        programs = [self.start(arguments, environment), self.start(arguments, environment)]
        for program in programs:
            self.assertEqual(program.wait(), 0, program.tail())
        lines = [line for program in programs for line in program.stdout if ": resolved: " in line]
        self.assertEqual(sorted(int(line.split(":")[0]) for line in lines), sorted(letter["id"] for letter in letters))
        self.assertEqual(len(self.texts()), 20)
        self.assertEqual(self.db.rows("select status, count(*) n, max(attempts) a from skua.dead_letter group by 1"),
                         [{"status": "resolved", "n": 20, "a": 1}])

    def test_a_letter_that_another_process_holds_is_left_alone_until_its_lease_ends(self):
        self.refuse_posts()
        self.person.post("refused")
        self.index()
        self.accept_posts()
        letter, = self.letters()
        self.db.run("update skua.dead_letter set status = 'replaying', lease_owner = 'other process', "
                    "lease_until = now() + interval '1 hour'")
        held = self.command("replay", letter["id"], code=1)
        self.assertTrue(held.says("not replayed: replaying by other process"), held.tail())
        self.command("discard", letter["id"], code=1)
        self.command("replay", "--all")
        self.assertEqual(self.texts(), [])
        self.db.run("update skua.dead_letter set lease_until = now()")
        self.command("replay", letter["id"])
        self.assertEqual(self.texts(), ["refused"])

    def test_wrong_arguments(self):
        for arguments in (["replay"], ["replay", "1", "--all"], ["replay", "x"], ["list", "--status", "lost"],
                          ["list", "--did", "alice"], ["list", "--limit", "0"], ["list", "--lane", "64"],
                          ["replay", "--lane", "0"], ["purge"],
                          ["purge", "--older-than", "soon"], ["show"]):
            with self.subTest(arguments=arguments):
                self.command(*arguments, code=2)
        self.assertTrue(self.command("show", 1, code=1).says("there is no such letter"))
        self.assertTrue(self.command("list").says("no letters match"))


class Resync(Backfill):
    def test_a_letter_of_a_backfill_is_replayed_by_a_resync(self):
        network = self.network()
        database = self.database()
        did, repository, path = next(
            (did, repository, path) for did, repository in self.repositories(network).items()
            for path in repository.records if path.startswith("app.bsky.feed.like/"))
        number = atproto.rkey_number(path.split("/")[1])
        database.run(f"alter table bsky.likes add constraint not_this_one check (rkey <> {number})")
        self.run_at(database, network, "backfill", did)
        letter, = database.rows("select id, path, bsky.tid_text(rev) rev, status from skua.dead_letter")
        self.assertEqual((letter["path"], letter["status"]), (path, "dead"))
        database.run("alter table bsky.likes drop constraint not_this_one")
        # The repository is complete as of the revision of the letter: what is missing is not newer.
        replayed = self.run_at(database, network, "dead-letters", "replay", letter["id"])
        self.assertTrue(replayed.says("a resync of the account is queued"), replayed.tail())
        self.assertEqual(self.states(database), {"queued": 1})
        self.run_at(database, network, "backfill")
        self.assertEqual(self.states(database), {"done": 1})
        self.check(database, {did: repository})
        self.assertEqual(database.value("select status from skua.dead_letter"), "resolved")


if __name__ == "__main__":
    unittest.main()
