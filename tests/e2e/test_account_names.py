"""Every command that takes an account accepts a DID, a handle, an at:// URI or a bsky.app URL."""

import json
import unittest

from harness import wait_for
from test_backfill import DONE, Backfill


class AccountNames(Backfill):
    def setUp(self):
        super().setUp()
        self.net = self.network(accounts=12, records=60, arguments=["--tap"])
        named = [account for account in self.accounts(self.net) if account["handle_valid"]]
        self.did, self.handle = named[0]["did"], named[0]["handle"]
        self.forms = (self.did, self.handle, f"@{self.handle}", f"at://{self.handle}",
                      f"at://{self.did}/app.bsky.feed.post/3jzfcijpj2z2a",
                      f"https://bsky.app/profile/{self.handle}",
                      f"https://bsky.app/profile/{self.did}/post/3jzfcijpj2z2a",
                      f"https://bsky.app/profile/{self.handle}/feed/whats-hot",
                      f"https://bsky.app/profile/{self.handle}/lists/3jzfcijpj2z2a")

    def of_all(self, *arguments):
        """A command with all forms of the same account, which must count as one."""
        return self.run_at(self.db, self.net, *arguments, *self.forms)

    def test_backfill_and_repo(self):
        self.db = self.database()
        program = self.of_all("backfill")
        self.assertTrue(program.says("1 repository queued"), program.tail())
        self.assertEqual(self.db.value(DONE), 1)
        program = self.of_all("repo", "info", "--json")
        self.assertEqual([json.loads(line)["did"] for line in program.stdout], [self.did])
        program = self.of_all("repo", "resync")
        self.assertTrue(program.says(f"{self.did}: equal to its repository"), program.tail())
        program = self.of_all("backfill", "retry", "--state", "done")
        self.assertTrue(program.says("1 repository queued again"), program.tail())
        program = self.of_all("backfill", "cancel")
        self.assertTrue(program.says("1 repository cancelled"), program.tail())

    def test_identity(self):
        self.db = self.database()
        for form in self.forms:
            with self.subTest(form):
                program = self.run_at(self.db, self.net, "identity", "--json", form)
                self.assertEqual(json.loads("".join(program.stdout))["did"], self.did)

    def test_a_filter(self):
        self.db = self.database()
        named = [word for form in self.forms for word in ("--did", form)]
        for command, dids in (("set", [self.did]), ("add", [self.did]), ("remove", [])):
            self.run_at(self.db, self.net, "filter", command, *named)
            self.assertEqual(self.filtered(), dids)
        skua = self.begin(self.db, self.net, "run", "--did", f"@{self.handle}", "--relay", self.net.url)
        self.wait_connected(skua)
        self.assertEqual(skua.stop(), 0, skua.tail())
        self.assertEqual(self.filtered(), [self.did])

    def filtered(self):
        program = self.run_at(self.db, self.net, "filter", "show", "--json")
        return json.loads("".join(program.stdout))["dids"]

    def wait_connected(self, skua):
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])

    def test_a_tap(self):
        self.db = self.database()
        tap = self.net.ready["tap"]
        program = self.of_all("tap", "add", "--tap", tap)
        self.assertTrue(program.says("1 account added"), program.tail())
        program = self.of_all("tap", "info", "--tap", tap)
        self.assertTrue(program.says(self.did), program.tail())
        program = self.of_all("tap", "remove", "--tap", tap)
        self.assertTrue(program.says("1 account removed"), program.tail())


if __name__ == "__main__":
    unittest.main()
