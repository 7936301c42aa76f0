"""The tables of `skua query` on terminals of several widths."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import unicodedata
import unittest

from harness import BIN, EndToEnd

# Wide characters, an emoji of several code points, and combining marks; a long text, and a short one.
TEXTS = ("漢字かな交じり文の投稿です。とても長いので端末の幅に入りません。まだ続きます。", "👩‍👩‍👧‍👦 family e\u0301e\u0301 한국어", "plain " * 40, "short")
POST = "3l6oveex3ii2l"


def width(line):
    """The columns of a line of these texts: a cluster of emoji takes two."""
    line = line.replace("👩‍👩‍👧‍👦", "漢")
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class QueryTable(EndToEnd):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        values = ", ".join(f"(1, bsky.tid_number('{POST}') + {n}::int8 * 1024000000, 1, now(), '2026-01-02T03:04:0{n}.5Z', sha256(''), '{text}')"
                           for n, text in enumerate(TEXTS))
        self.db.run("insert into bsky.actors (did, handle, indexed_at) values ('did:plc:z72i7hdynmk6r22z27h6tvur', 'a.test', now());"
                    f"insert into bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text) values {values};"
                    "insert into bsky.profiles (actor_id, rkey, rev, indexed_at, cid, display_name, description) values "
                    f"(1, bsky.rkey_number('self'), 1, now(), sha256(''), 'Ann', '{'word ' * 60}');"
                    "insert into skua.repositories (did, state) values ('did:plc:z72i7hdynmk6r22z27h6tvur', 'complete')")

    def on_terminal(self, columns, *arguments):
        """The lines of stdout on a terminal, and those of stderr."""
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen([BIN / "skua", "query", *arguments], stdout=terminal, stderr=subprocess.PIPE,
                                   env={**os.environ, **self.environment(self.db)}, text=True)
        os.close(terminal)
        output = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            output += part
        os.close(main)
        error = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(30), 0, error)
        return output.decode().split("\r\n")[:-1], error.splitlines()

    def test_it_fits_the_terminal(self):
        for columns, shortened, hidden in ((60, 2, True), (80, 2, True), (110, 1, True), (120, 2, False), (200, 1, False), (400, 0, False)):
            with self.subTest(columns=columns):
                lines, notes = self.on_terminal(columns, "latest")
                self.assertLessEqual(max(map(width, lines)), columns)
                self.assertEqual(lines[0].split(), ["sort_at", "name", "text"] + ([] if hidden else ["uri"]))
                begin = lines[0].index("text")
                self.assertEqual(width(lines[1].split("short")[0]), begin)
                self.assertEqual(sum("…" in line for line in lines), shortened, lines)
                if not hidden:
                    self.assertEqual({width(line.split("at://")[0]) for line in lines[1:-1]}, {lines[0].index("uri")})
                self.assertEqual([note for note in notes if "uri" in note],
                                 [f"note: {columns} columns are too few for uri: --wide prints all"] if hidden else [])

    def test_wide_shows_everything(self):
        lines, notes = self.on_terminal(80, "latest", "--wide")
        self.assertEqual(lines[0].split(), ["sort_at", "name", "text", "uri"])
        self.assertIn(TEXTS[2].strip(), lines[2])
        self.assertEqual([line for line in lines + notes if "…" in line or "too few" in line], [])
        # Without a terminal nothing is left out either.
        self.assertEqual(list(self.skua(self.db, "query", "latest").stdout), lines)

    def test_a_row_that_does_not_fit_becomes_lines(self):
        lines, _ = self.on_terminal(80, "account", "a.test")
        self.assertLessEqual(max(map(width, lines)), 80)
        self.assertEqual(lines[0].split(), ["name", "a.test"])
        self.assertEqual(" ".join(lines).count("word"), 60)
        self.assertEqual(lines[-1], "(1 row)")

    def test_a_record_keeps_its_lines(self):
        lines, _ = self.on_terminal(80, "record", f"at://a.test/app.bsky.feed.post/{POST}")
        self.assertEqual((lines[0], lines[-1]), ("{", "}"))


if __name__ == "__main__":
    unittest.main()
