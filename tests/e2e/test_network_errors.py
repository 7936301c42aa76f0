"""Network errors name the host, and the flag that helps if there is one."""

import unittest

from harness import EndToEnd, closed_port, free_port, wait_for
from made import Network as Made
from test_sim import Network


class NetworkErrors(EndToEnd):
    def setUp(self):
        super().setUp()
        self.away = f"http://127.0.0.1:{closed_port()}"

    def network(self):
        network = Network("--accounts", 3, "--records", 9, "--rate", "0.001", "--hosts", 1, "--oddities", 0)
        self.addCleanup(network.kill)
        network.control("/pause")
        return network

    def did(self, network):
        return network.accounts(self.folder / "accounts")[0]["did"]

    def said(self, database, *arguments, environment=None, code=1):
        base = {**self.environment(database), "SKUA_VERIFY": "full", "SKUA_ALLOW_PRIVATE_HOSTS": ""}
        program = self.start([self.binary("skua"), *arguments], {**base, **(environment or {})})
        self.assertEqual(program.wait(60), code, program.tail())
        return "\n".join(program.output())

    def test_a_private_host_that_the_network_named(self):
        network, database = self.network(), self.database()
        did, host = self.did(network), network.ready["hosts"][0]
        arguments = ["repo", "resync", did, "--attempts", 1, "--plc", network.ready["plc"], "--handles", "claimed"]
        said = self.said(database, *arguments)
        self.assertIn(f"{host}: the host has only private addresses; --allow-private-hosts", said)
        self.said(database, *arguments, "--allow-private-hosts", code=0)

    def test_a_directory_that_cannot_be_reached(self):
        network, database = self.network(), self.database()
        did = self.did(network)
        expected = f"the PLC directory {self.away}: connection refused: nothing listens at the port; --plc URL"
        self.assertIn(expected, self.said(None, "identity", did, "--plc", self.away))
        said = self.said(database, "repo", "resync", did, "--attempts", 1, "--plc", self.away)
        self.assertIn(expected, said)
        skua = self.start([self.binary("skua"), "run", "--relay", network.url, "--cursor", "oldest", "--plc", self.away],
                          {**self.environment(database), "SKUA_VERIFY": "full"})
        network.steps(3)
        wait_for("the warning", lambda: skua.says(expected), alive=[skua])

    def test_a_dns_server_that_does_not_answer(self):
        database = self.database()
        dns = f"127.0.0.1:{free_port()}"
        expected = "nobody.test: DNS does not answer; --dns ADDRESS"
        self.assertIn(expected, self.said(None, "identity", "nobody.test", "--dns", dns))
        self.assertIn(expected, self.said(database, "backfill", "nobody.test", "--dns", dns))
        self.assertIn(expected, self.said(database, "filter", "add", "--did", "nobody.test", "--dns", dns))
        self.assertEqual(database.value("select count(*) from skua.backfill_jobs"), 0)

    def test_a_certificate_that_is_not_trusted(self):
        capture = self.folder / "a.capture"
        capture.write_bytes(Made().capture())
        relay = self.sim(capture, "--tls")
        host = relay.url.split("/")[2]
        plc = f"https://{host}"
        did = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
        said = self.said(None, "identity", did, "--plc", plc)
        self.assertIn(f"the PLC directory {plc}: the host's TLS certificate is not trusted; --ca-file FILE", said)
        skua = self.indexer(self.database(), relay.url)
        wait_for("the refusal", lambda: skua.says("is not trusted: "), alive=[skua])
        line, = [line for line in skua.output() if "is not trusted: " in line][:1]
        self.assertIn(host.split(":")[0], line)
        self.assertIn("--ca-file FILE", line)

    def test_what_cannot_be_reached_is_named(self):
        database = self.database()
        host = self.away.removeprefix("http://")
        skua = self.indexer(database, f"ws://{host}")
        wait_for("the refusal", lambda: skua.says(f"connection refused by {host}"), alive=[skua])
        # It would also read the list that `skua backfill` adds below.
        self.assertEqual(skua.stop(), 0)
        self.assertIn(self.away, self.said(None, "tap", "stats", "--tap", f"ws://{host}"))
        imported = self.start([self.binary("skua"), "identity", "import", self.away], self.environment(database))
        wait_for("the failure", lambda: imported.says(f"{self.away}: connection refused: nothing listens at the port; retrying"),
                 alive=[imported])
        listed = self.start([self.binary("skua"), "backfill", "--host", self.away], self.environment(database))
        wait_for("the failure", lambda: listed.says(f"of {self.away} failed, retrying later"), alive=[listed])
        status = self.skua(database, "backfill", "status")
        self.assertTrue(status.says(f"{self.away}: connection refused"), status.tail())


if __name__ == "__main__":
    unittest.main()
