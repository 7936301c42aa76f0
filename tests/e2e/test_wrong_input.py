"""Wrong input ends with exit code 2 at once: the message names the argument and the expected form, and skua neither
connects to the database nor queues anything.
"""

import os
import socket
import unittest

from harness import EndToEnd

DID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
RELAY = ["--relay", "ws://127.0.0.1:1"]


class WrongInput(EndToEnd):
    def setUp(self):
        super().setUp()
        # A database server that would accept connections and records each one.
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)
        self.addCleanup(self.listener.close)
        self.url = f"postgresql://127.0.0.1:{self.listener.getsockname()[1]}/nothing"
        (self.folder / "text").write_text("no account, no CAR, no capture and no certificate\n")
        self.text = str(self.folder / "text")
        self.missing = str(self.folder / "missing")

    def refused(self, *arguments, environment=None):
        """skua's error message for these arguments."""
        clean = {name: "" for name in os.environ if name.startswith("SKUA_")}
        program = self.start([self.binary("skua"), *arguments],
                             {**clean, "SKUA_DATABASE_URL": self.url, **(environment or {})})
        said = "\n".join(program.stderr if program.wait(60) == 2 else [f"exit code {program.process.returncode}"])
        self.assertRaises(BlockingIOError, self.listener.accept)
        return said

    def check(self, cases):
        for arguments, *words in cases:
            with self.subTest(" ".join(arguments)):
                said = self.refused(*arguments)
                for word in words:
                    self.assertIn(word, said)

    def test_a_malformed_url_of_a_database(self):
        commands = (["run", *RELAY], ["replay", self.text], ["migrate"], ["status"], ["backfill", DID],
                    ["backfill", "status"], ["backfill", "retry"], ["backfill", "cancel", "--all"],
                    ["repo", "info", DID], ["repo", "resync", DID], ["filter", "show"],
                    ["filter", "set", "--collection", "app.bsky.feed.post"], ["identity", DID],
                    ["identity", "import", self.text], ["source", "list"], ["source", "forget", "relay:x"])
        self.check([(command + ["--database", "localhost/skua"], "--database: 'localhost/skua'",
                     "expected postgresql://USER@HOST:PORT/DATABASE") for command in commands])
        for url, word in (("http://localhost/skua", "missing"), ("postgresql://localhost:99999/skua", "99999"),
                          ("postgresql://localhost/skua?sslmode=on", "sslmode"), ("postgresql://[::1/skua", "]")):
            with self.subTest(url):
                said = self.refused("run", *RELAY, environment={"SKUA_DATABASE_URL": url})
                self.assertIn(f"SKUA_DATABASE_URL: '{url}'", said)
                self.assertIn(word, said)

    def test_a_password_is_not_shown(self):
        said = self.refused("status", "--database", "postgresql://somebody:secret@localhost:port/skua")
        self.assertIn("'postgresql://somebody:***@localhost:port/skua'", said)
        self.assertNotIn("secret", said)

    def test_a_malformed_url_of_a_host(self):
        wrong = "ftp://host.test"
        expected = "the scheme must be"
        self.check((
            (["run", "--relay", wrong], "--relay", wrong, expected),
            (["run", *RELAY, "--tap", wrong], "--tap", wrong, expected),
            (["run", "--jetstream", wrong], "--jetstream", wrong, expected),
            (["run", *RELAY, "--labeler", wrong], "--labeler", wrong, expected),
            (["run", *RELAY, "--plc", wrong], "--plc", wrong, "http:// or https://"),
            (["run", *RELAY, "--backfill-host", wrong], "--backfill-host", wrong, expected),
            (["run", *RELAY, "--dns", "dns.test"], "--dns", "dns.test", "ADDRESS:PORT"),
            (["backfill", "--host", wrong], "--host", wrong, expected),
            (["backfill", "--host", "https://pds test"], "--host", "https://pds test", "host name"),
            (["backfill", "--network", "--relay", wrong], "--relay", wrong, expected),
            (["backfill", DID, "--plc", "plc"], "--plc", "'plc'", "http:// or https://"),
            (["backfill", DID, "--dns", "127.0.0.1:dns"], "--dns", "127.0.0.1:dns", "ADDRESS:PORT"),
            (["backfill", "cancel", "--host", wrong], "--host", wrong, expected),
            (["repo", "resync", DID, "--plc", wrong], "--plc", wrong, "http:// or https://"),
            (["identity", DID, "--plc", wrong], "--plc", wrong, "http:// or https://"),
            (["identity", "import", "https://plc directory"], "SOURCE", "host name"),
            (["identity", "import", wrong], "SOURCE", wrong, "http:// or https://"),
            (["tap", "add", DID, "--tap", wrong], "--tap", wrong, expected),
            (["record", wrong, self.missing], "URL", wrong, expected),
        ))

    def test_a_word_is_no_host(self):
        expected = "a host name needs a dot"
        plain = "http:// or https://"
        commands = (
            (["run", "--relay", "notaurl"], "--relay: 'notaurl'", expected, "wss://relay1.us-east.bsky.network"),
            (["run", *RELAY, "--relay", "relay:2470"], "--relay: 'relay:2470'", expected),
            (["run", "--relay", "wss://1.2.3"], "--relay: 'wss://1.2.3'", "host name"),
            (["run", *RELAY, "--tap", "tap:2480"], "--tap", expected, "ws://localhost:2480"),
            (["run", "--jetstream", "jetstream"], "--jetstream", expected, "wss://"),
            (["run", *RELAY, "--labeler", "mod"], "--labeler", expected, "wss://mod.bsky.app"),
            (["run", *RELAY, "--plc", "plc"], "--plc", plain),
            (["run", *RELAY, "--backfill-host", "pds"], "--backfill-host", expected, "https://pds.example"),
            (["backfill", "--host", "pds"], "--host", expected),
            (["backfill", "--network", "--relay", "notaurl"], "--relay", expected),
            (["backfill", "retry", "--host", "pds"], "--host", expected),
            (["record", "notaurl", self.missing], "URL: 'notaurl'", expected),
            (["tap", "stats", "--tap", "tap"], "--tap", expected),
            (["doctor", "--relay", "notaurl"], "--relay: 'notaurl'", expected),
            (["doctor", "--plc", "plc"], "--plc", plain),
        )
        self.check(commands)
        config = self.folder / "skua.toml"
        for key, variable, command in (("relay", "SKUA_RELAY", "run"), ("tap", "SKUA_TAP", "doctor"),
                                       ("jetstream", "SKUA_JETSTREAM", "run"), ("labeler", "SKUA_LABELER", "doctor")):
            with self.subTest(key):
                said = self.refused(command, environment={variable: "notaurl"})
                self.assertIn(f"{variable}: 'notaurl': ", said)
                config.write_text(f'{key} = "notaurl"\n')
                said = self.refused(command, "--config", config)
                self.assertIn(f"skua.toml: {key}: 'notaurl': ", said)
                self.assertIn(expected, said)

    def test_settings_that_name_several_kinds_of_sources(self):
        several = {"SKUA_RELAY": "wss://relay.example", "SKUA_JETSTREAM": "wss://jetstream.example",
                   "SKUA_LABELER": "wss://labeler.example"}
        expected = "settings name several kinds of sources: select sources with the flags --relay, --jetstream"
        for command in ("run", "doctor"):
            self.assertIn(expected, self.refused(command, environment=several))
        # The source of the command line is the only one.
        self.assertIn("--relay: 'notaurl'", self.refused("run", "--relay", "notaurl", environment=several))

    def test_a_did_of_no_account(self):
        plc, reason = "did:plc:xxxx", "is malformed: did:plc: is followed by 24 characters"
        listed = self.folder / "dids"
        listed.write_text(f"# some\n{DID}\n{plc}\n")
        file = str(listed)
        tap = ["--tap", "ws://127.0.0.1:1"]
        one = f"'{plc}' {reason}"
        line = f"line 3 of {file}: {one}"
        self.check((
            (["backfill", plc], one), (["backfill", "--file", file], line), (["backfill", "retry", plc], one),
            (["backfill", "cancel", "--file", file], line), (["backfill", f"at://{plc}"], reason),
            (["backfill", f"https://bsky.app/profile/{plc}"], reason), (["backfill", "did:key:abc"], "did:plc: or did:web:"),
            (["backfill", "did:web:pds"], "did:web: is followed by a domain name"),
            (["run", *RELAY, "--backfill", plc], one), (["run", *RELAY, "--backfill-file", file], line),
            (["run", *RELAY, "--did", plc], one), (["run", *RELAY, "--filter-file", file], f"{file}:3: {one}"),
            (["repo", "info", plc], one), (["repo", "resync", plc], one), (["repo", "resync", "--file", file], line),
            (["identity", plc], one), (["tap", "add", *tap, plc], one), (["tap", "info", *tap, "--file", file], line),
            (["filter", "add", "--did", plc], one), (["filter", "set", "--file", file], f"{file}:3: {one}"),
            (["filter", "exclude", "--file", file], line),
            (["filter", "add", "--list", f"at://{plc}/app.bsky.graph.list/3kabc"], reason),
            (["consumers", "add", "some", "--pull", "--did", plc], one),
        ))

    def test_what_is_not_an_account(self):
        expected = "DID, handle, at:// URI or https://bsky.app URL"
        self.check((
            (["backfill", "alice"], "'alice'", expected),
            (["backfill", DID, "did:plc:"], "'did:plc:'", expected),
            (["backfill", "https://example.com/profile/alice.test"], "https://example.com/", expected),
            (["backfill", "--file", self.text], "--file: line 1 of " + self.text, expected),
            (["backfill", "cancel", "alice"], "'alice'", expected),
            (["backfill", "retry", "at://alice"], "'at://alice'", expected),
            (["run", *RELAY, "--backfill", "alice"], "'alice'", expected),
            (["run", *RELAY, "--backfill-file", self.text], "--backfill-file", expected),
            (["run", *RELAY, "--did", "alice"], "'alice'", expected),
            (["repo", "info", "alice"], "'alice'", expected),
            (["repo", "resync", "alice"], "'alice'", expected),
            (["filter", "add", "--did", "alice"], "'alice'", expected),
            (["identity", "alice"], "WHO: 'alice'", "bsky.app"),
            (["tap", "add", "--tap", "ws://127.0.0.1:1", "alice"], "'alice'", expected),
            (["tap", "remove", "--tap", "ws://127.0.0.1:1", "alice"], "'alice'", expected),
            (["tap", "info", "--tap", "ws://127.0.0.1:1", "alice"], "'alice'", expected),
        ))

    def test_a_missing_file(self):
        missing = (self.missing, "No such file")
        self.check((
            (["replay", self.missing], "FILE", *missing),
            (["replay", self.text, "--did-docs", self.missing], "--did-docs", *missing),
            (["backfill", "--file", self.missing], "--file", *missing),
            (["backfill", "--car", self.missing], "--car", *missing),
            (["backfill", "--car-dir", self.missing], "--car-dir", *missing),
            (["backfill", DID, "--did-docs", self.missing], "--did-docs", *missing),
            (["backfill", DID, "--ca-file", self.missing], "--ca-file", *missing),
            (["backfill", "cancel", "--file", self.missing], "--file", *missing),
            (["run", *RELAY, "--backfill-file", self.missing], "--backfill-file", *missing),
            (["run", *RELAY, "--filter-file", self.missing], "--filter-file", *missing),
            (["run", *RELAY, "--ca-file", self.missing], "--ca-file", *missing),
            (["run", "--jetstream", "ws://127.0.0.1:1", "--zstd-dictionary", self.missing], "--zstd-dictionary",
             self.missing),
            (["run", "--tap", "ws://127.0.0.1:1", "--tap-password-file", self.missing], "--tap-password-file",
             self.missing),
            (["run", *RELAY, "--config", self.missing], "--config", self.missing),
            (["repo", "resync", "--car", self.missing], "--car", *missing),
            (["repo", "resync", DID, "--did-docs", self.missing], "--did-docs", *missing),
            (["repo", "info", DID, "--ca-file", self.missing], "--ca-file", *missing),
            (["filter", "set", "--file", self.missing], "--file", *missing),
            (["identity", DID, "--ca-file", self.missing], "--ca-file", *missing),
            (["identity", "import", self.missing], "SOURCE", *missing),
            (["identity", "import", str(self.folder)], "SOURCE", "Is a directory"),
            (["tap", "info", DID, "--tap", "ws://127.0.0.1:1", "--ca-file", self.missing], "--ca-file", *missing),
            (["record", "ws://127.0.0.1:1", self.missing, "--ca-file", self.missing], "--ca-file", *missing),
            (["inspect", "frames", self.missing], "FILE", *missing),
            (["inspect", "frames", self.text, "--did-docs", self.missing], "--did-docs", *missing),
            (["inspect", "repo", self.missing], "FILE", *missing),
        ))
        said = self.refused("run", *RELAY, environment={"SKUA_CA_FILE": self.missing})
        self.assertIn("SKUA_CA_FILE: '" + self.missing, said)

    def test_a_file_of_something_else(self):
        self.check((
            (["run", *RELAY, "--ca-file", self.text], "--ca-file", self.text, "PEM"),
            (["run", *RELAY, "--filter-file", self.text], "--filter-file", self.text),
            (["backfill", DID, "--did-docs", self.text], "--did-docs", self.text, "DID document"),
        ))

    def test_a_consumer_that_no_database_allows(self):
        self.check((
            (["consumers", "add", "post_stats", "--lanes", "3"], "a power of two"),
            (["consumers", "add", "notifications", "--policy", "block_key"], "block_key is for webhooks"),
            (["consumers", "add", "post_stats", "--profile", "quick"], "no profile 'quick'", "low_latency"),
            (["consumers", "add", "Search", "--pull"], "lower-case letters"),
            (["consumers", "add", "indexer", "--pull"], "'indexer' is reserved"),
            (["consumers", "add", "search", "--pull", "--lanes", "3"], "a power of two"),
            (["consumers", "add", "search", "--pull", "--kind", "post"], "kind", "rules"),
            (["consumers", "add", "search", "--webhook", "search.example"], "--webhook", "http:// or https://"),
            (["consumers", "add", "search", "--pull", "--webhook", "http://x/"], "not both"),
            (["consumers", "reset", "search", "--from", "soon"], "--from"),
        ))
        # The help lists what the message names.
        kinds = self.refused("consumers", "add", "search", "--pull", "--kind", "post").split("not one of ")[1].split(", ")
        self.assertTrue(self.skua(None, "consumers", "add", "--help").says("--kind " + "|".join(kinds)))

    def test_nothing_is_queued(self):
        database = self.database()
        good = ["did:plc:bbbbbbbbbbbbbbbbbbbbbbbb", "--host", "http://127.0.0.1:1"]
        for wrong in (["alice"], ["--file", self.missing], ["--car", self.missing], ["--host", "ftp://x"],
                      ["--did-docs", self.missing], ["--plc", "plc"], ["--ca-file", self.missing]):
            with self.subTest(wrong):
                self.skua(database, "backfill", *good, *wrong, code=2)
        self.assertEqual(database.value("select count(*) from skua.backfill_jobs"), 0)
        self.assertEqual(database.value("select count(*) from skua.backfill_hosts"), 0)


if __name__ == "__main__":
    unittest.main()
