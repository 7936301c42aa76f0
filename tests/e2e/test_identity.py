"""`skua identity`: the identity of an account from a simulated PLC directory, DNS on loopback and an export."""

import http.server
import json
import os
import socket
import struct
import subprocess
import threading
import unittest

from harness import BIN, EndToEnd, wait_for
from test_sim import Network


class DnsServer:
    """TXT records over UDP on loopback; unknown names do not exist."""

    def __init__(self, texts):
        self.texts = texts
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:{}".format(self.socket.getsockname()[1])
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                question, sender = self.socket.recvfrom(512)
            except OSError:
                return
            if not question:
                return
            at, labels = 12, []
            while question[at]:
                labels.append(question[at + 1 : at + 1 + question[at]].decode())
                at += question[at] + 1
            text = self.texts.get(".".join(labels))
            header = question[:2] + struct.pack(">HHHHH", 0x8400 | (0 if text else 3), 1, 1 if text else 0, 0, 0)
            answer = header + question[12 : at + 5]
            if text:
                data = bytes([len(text)]) + text.encode()
                answer += struct.pack(">HHHIH", 0xC00C, 16, 1, 60, len(data)) + data
            self.socket.sendto(answer, sender)

    def close(self):
        self.socket.sendto(b"", self.socket.getsockname())
        self.thread.join()
        self.socket.close()


class DocumentServer:
    """A directory on loopback with one DID document."""

    def __init__(self, document):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(document).encode()
                self.send_response(200 if self.path == "/" + document["id"] else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:{}".format(self.server.server_address[1])
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Identity(EndToEnd):
    def setUp(self):
        super().setUp()
        self.network = Network("--seed", 7, "--accounts", 12, "--rate", 0.001)
        self.addCleanup(self.network.kill)
        self.plc = self.network.ready["plc"]
        export = self.network.ask("plc", "/export", count=1000).body.decode()
        self.export = export
        self.dids = list(dict.fromkeys(json.loads(line)["did"] for line in export.splitlines()))

    def document(self, did):
        return self.network.ask("plc", "/" + did).json()

    def show(self, who, *more, database=None, code=0):
        program = self.skua(database, "identity", who, "--plc", self.plc, "--json", *more, code=code)
        return json.loads("\n".join(program.stdout)) if code == 0 else "\n".join(program.stderr)

    def handle(self, did):
        return self.document(did)["alsoKnownAs"][0].removeprefix("at://")

    def dns(self, texts):
        """Looks only known names up: no test may use the network outside this machine."""
        server = DnsServer(texts)
        self.addCleanup(server.close)
        return server.address

    def test_a_did_and_its_handle_both_ways(self):
        did = self.dids[0]
        document, handle = self.document(did), self.handle(did)
        dns = self.dns({"_atproto." + handle: "did=" + did})
        for who in (did, handle):
            shown = self.show(who, "--dns", dns)
            self.assertEqual(shown["did"], did)
            self.assertEqual(shown["handle"], handle)
            self.assertTrue(shown["handle_verified"])
            key = document["verificationMethod"][0]["publicKeyMultibase"]
            self.assertEqual(shown["signing_key"], "did:key:" + key)
            self.assertEqual(shown["pds"], document["service"][0]["serviceEndpoint"])
            self.assertEqual(shown["source"], f"{self.plc}/{did}")
        program = self.skua(None, "identity", did, "--plc", self.plc, "--dns", dns)
        self.assertIn(f"{handle} (verified both ways)", "\n".join(program.stdout))

    def test_a_labeler_without_a_repository(self):
        did = "did:plc:" + "l" * 24
        key = self.document(self.dids[0])["verificationMethod"][0]["publicKeyMultibase"]
        directory = DocumentServer({
            "id": did, "verificationMethod": [
                {"id": did + "#atproto_label", "type": "Multikey", "controller": did, "publicKeyMultibase": key}],
            "service": [{"id": "#atproto_labeler", "type": "AtprotoLabeler", "serviceEndpoint": "https://l.example"}]})
        self.addCleanup(directory.close)
        program = self.skua(None, "identity", did, "--plc", directory.url, "--json")
        shown = json.loads("\n".join(program.stdout))
        self.assertEqual((shown["signing_key"], shown["pds"], shown["handle"]), (None, None, None))
        self.assertEqual(shown["label_key"], "did:key:" + key)
        lines = self.skua(None, "identity", did, "--plc", directory.url).output()
        self.assertIn("signing key  none", lines)
        self.assertIn("pds          none", lines)
        self.assertIn("label key    did:key:" + key, lines)

    def test_a_handle_that_belongs_to_somebody_else(self):
        did, other = self.dids[:2]
        handle = self.handle(did)
        shown = self.show(did, "--dns", self.dns({"_atproto." + handle: "did=" + other}))
        self.assertFalse(shown["handle_verified"])
        self.assertIn("another DID", shown["handle_problem"])

    def test_what_is_not_there(self):
        dns = self.dns({})
        self.assertIn("no such DID", self.show("did:plc:" + "a" * 24, "--dns", dns, code=1))
        self.assertIn("WHO", self.show("nobody", code=2))
        self.assertIn("WHO", "\n".join(self.skua(None, "identity", code=2).stderr))
        self.assertIn("--plc", "\n".join(self.skua(None, "identity", self.dids[0], "--plc", "plc", code=2).stderr))

    def test_hosts_from_the_network_are_public_ones(self):
        port = self.plc.rsplit(":", 1)[1]
        self.assertIn("--allow-private-hosts", self.show(f"did:web:localhost%3A{port}", code=1))
        # With permission it asks, and the answer is that there is none.
        said = self.show(f"did:web:localhost%3A{port}", "--allow-private-hosts", code=1)
        self.assertIn("no such DID", said)

    def test_a_database_keeps_what_was_fetched(self):
        database = self.database()
        did = self.dids[0]
        dns = self.dns({"_atproto." + self.handle(did): "did=" + did})
        first = self.show(did, "--dns", dns, database=database)
        self.assertEqual(first["source"], f"{self.plc}/{did}")
        second = self.show(did, "--dns", dns, database=database)
        self.assertEqual(second["source"], "skua.identities")
        self.assertEqual(second["fetched_at"], first["fetched_at"])
        self.assertEqual(second["signing_key"], first["signing_key"])

    def test_import_of_an_export(self):
        by_url = self.database()
        program = self.skua(by_url, "identity", "import", self.plc)
        self.assertIn("0 bad", "\n".join(program.stdout))
        query = "select did, signing_key, pds, handle from skua.identities order by did"
        rows = by_url.rows(query)
        self.assertEqual([row["did"] for row in rows], sorted(self.dids))
        for row in rows:
            document = self.document(row["did"])
            self.assertEqual(row["signing_key"], document["verificationMethod"][0]["publicKeyMultibase"])
            self.assertEqual(row["pds"], document["service"][0]["serviceEndpoint"])
            self.assertEqual("at://" + row["handle"], document["alsoKnownAs"][0])
        file = self.folder / "export.jsonl"
        file.write_text(self.export)
        by_file = self.database()
        self.skua(by_file, "identity", "import", file)
        self.assertEqual(by_file.rows(query), rows)
        # Imported accounts are known without a request.
        dns = self.dns({"_atproto." + self.handle(self.dids[0]): "did=" + self.dids[0]})
        self.network.stop()
        shown = self.show(self.dids[0], "--dns", dns, database=by_file)
        self.assertEqual(shown["source"], "skua.identities")
        self.assertIn("missing", "\n".join(self.skua(by_file, "identity", "import", "missing", code=2).stderr))

    def test_an_import_that_was_killed_is_made_again(self):
        key = self.document(self.dids[0])["verificationMethod"][0]["publicKeyMultibase"]

        def line(number, handle):
            did = "did:plc:" + f"{number:024x}".translate(str.maketrans("0189", "wxyz"))
            operation = {
                "type": "plc_operation", "verificationMethods": {"atproto": "did:key:" + key},
                "alsoKnownAs": [f"at://{handle}.example"],
                "services": {"atproto_pds": {"type": "AtprotoPersonalDataServer", "endpoint": "https://pds.example"}}}
            at = f"2026-01-01T00:00:0{1 if handle == 'new' else 0}.000Z"
            return json.dumps({"did": did, "operation": operation, "nullified": False, "createdAt": at}) + "\n"

        accounts = 45_000
        text = "".join(line(number, "old") for number in range(accounts)) + line(0, "new") + line(1, "new")
        pipe, file = self.folder / "pipe", self.folder / "export.jsonl"
        file.write_text(text)
        os.mkfifo(pipe)
        database = self.database()
        self.skua(database, "migrate")
        program = self.start([BIN / "skua", "identity", "import", pipe], self.environment(database))
        count = "select count(*) as count from skua.identities"
        with open(pipe, "w") as feed:
            feed.write(text)
            feed.flush()
            # A batch is waiting there, and more lines wait for the end of the input.
            wait_for("the first batch", lambda: database.rows(count)[0]["count"] > 0, alive=(program,))
            program.kill()
        self.assertLess(database.rows(count)[0]["count"], accounts)
        with open(file) as export:
            done = subprocess.run(
                [BIN / "skua", "identity", "import", "-"], stdin=export, capture_output=True, text=True, check=True,
                env={**os.environ, **self.environment(database)})
        self.assertIn(f"{accounts + 2} lines", done.stdout)
        rows = database.rows("select handle, count(*) as count from skua.identities group by handle order by handle")
        self.assertEqual({row["handle"]: row["count"] for row in rows},
                         {"new.example": 2, "old.example": accounts - 2})


if __name__ == "__main__":
    unittest.main()
