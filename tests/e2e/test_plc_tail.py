"""`skua run --plc-tail` after `skua identity import`: keys are known before an account's first commit is read."""

import json
import unittest

from harness import wait_for
from test_verification import VerifiedNetwork


class PlcTail(VerifiedNetwork):
    def setUp(self):
        super().setUp()
        self.net = self.network("--oddities", 0, "--records", 0, accounts=12)
        self.plc = self.net.ready["plc"]
        self.data = self.database()
        # All accounts announce themselves with their first records.
        self.net.control("/step", count=300)
        self.skua(self.data, "identity", "import", self.plc)

    def export(self):
        lines = self.net.ask("plc", "/export", count=1000).body.decode().splitlines()
        return [json.loads(line) for line in lines]

    def change(self, *kinds):
        """Makes new operations; returns them."""
        before = len(self.export())
        for kind in kinds:
            self.net.control("/incident", kind=kind)
        return self.export()[before:]

    def tail(self, *arguments):
        return self.indexer(self.data, self.net, "--plc-tail", *arguments)

    def stored(self):
        return {row["did"]: (row["signing_key"], row["pds"], row["handle"]) for row in
                self.data.rows("select did, signing_key, pds, handle from skua.identities")}

    def expected(self):
        found = {}
        for line in self.export():
            operation = line["operation"]
            found[line["did"]] = (operation["verificationMethods"]["atproto"].removeprefix("did:key:"),
                                  operation["services"]["atproto_pds"]["endpoint"],
                                  operation["alsoKnownAs"][0].removeprefix("at://"))
        return found

    def wait_until_current(self, program):
        wait_for("the identities of the directory", lambda: self.stored() == self.expected(), alive=[program])

    def asked(self):
        """The requests for DID documents so far."""
        return [event["target"] for event in self.net.events("request") if event["target"].startswith("/did:")]

    def test_first_commits_need_no_request_and_a_restart_goes_on(self):
        made = self.change("someone_joins", "rotate_key", "rotate_key")
        self.assertIn(None, [line["operation"]["prev"] for line in made])
        self.assertNotEqual(self.stored(), self.expected())
        # The messages of these operations are not read: only the directory tells.
        skua = self.tail("--cursor", "live", "--audit-every", "off")
        wait_for("the connection", lambda: skua.says("live from now on"), alive=[skua])
        self.wait_until_current(skua)
        self.catch_up(skua, self.net.control("/step", count=150)["seq"])
        self.assertEqual(self.asked(), [])
        shown = "\n".join(self.skua(self.data, "status").stdout)
        self.assertRegex(shown, r"identities of the PLC directory\n  current up to \S+, \d+ s ago")
        figures = self.stop(self.data, skua)
        self.assertEqual(figures["dropped"], {})
        self.assertEqual(figures["plc_dropped"], {})
        verified = {row["did"] for row in self.data.rows(
            "select did from skua.repositories where rev is not null")}
        self.assertLessEqual({line["did"] for line in made}, verified)

        made = self.change("rotate_key", "move", "someone_joins")
        skua = self.tail()
        self.wait_until_current(skua)
        self.catch_up(skua, self.net.control("/step", count=10)["seq"])
        self.assertEqual(self.stop(self.data, skua)["plc_operations"], len(made))

    def test_kills_lose_nothing(self):
        for _ in range(2):
            skua = self.tail("--cursor", "live")
            self.change("rotate_key", "someone_joins")
            wait_for("an operation", lambda: self.stored().keys() == self.expected().keys(), alive=[skua])
            self.change("rotate_key")
            skua.kill()
        skua = self.tail()
        self.wait_until_current(skua)
        # A second process waits for the first one.
        other = self.start([self.binary("skua"), "run", "--labeler", "ws://127.0.0.1:1", "--plc", self.plc,
                            "--plc-tail", "--allow-private-hosts"], self.environment(self.data))
        wait_for("the standby", lambda: other.says("follows the PLC directory"), alive=[other])
        skua.kill()
        self.change("someone_joins")
        self.wait_until_current(other)
        self.assertEqual(other.stop(), 0, other.tail())


if __name__ == "__main__":
    unittest.main()
