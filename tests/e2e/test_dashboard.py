"""The dashboard of `skua run` and `skua serve` in Chromium."""

import http.server
import json
import re
import signal
import threading
import unittest
import urllib.parse

from browser import Browser
from changes import ChangeClient
from harness import BIN, closed_port, wait_for
from test_outage import OwnServer
from test_pages import Pages
from test_sim import SimTest
from websocket import Websocket

TOKEN = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
MARKUP = '<img src="x" onerror="document.title=1">'
PHONE = 380

# Elements that are wider than the screen, or that must be scrolled sideways.
TOO_WIDE = """[...document.querySelectorAll('body *')].filter(e => !e.closest('thead') && (e.getBoundingClientRect().right > innerWidth + 1
    || (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible')))
    .map(e => e.outerHTML.slice(0, 100))"""
# The labels that a row of a table shows beside its cells.
LABELS = """[...document.querySelector(arguments[0]).cells].map(cell => [getComputedStyle(cell, '::before').content,
    cell.getBoundingClientRect().width > 0 && cell.innerText !== ''])"""


class InBrowser(SimTest):
    def open(self, program):
        """Opens the dashboard of a program."""
        self.program = program
        self.origin = f"http://{Pages(program).address}"
        self.browser = Browser(self.folder / "chromium")
        self.addCleanup(self.browser.quit)
        self.browser.open(self.origin + "/")

    def script(self, text, *arguments):
        return self.browser.script(text, *arguments)

    def click(self, selector):
        wait_for(selector, lambda: self.script("(e => { if (e) e.click(); return e !== null; })(document.querySelector(arguments[0]))",
                                               selector), alive=[self.program])

    def text(self, selector):
        return self.script("(document.querySelector(arguments[0]) || {}).innerText || ''", selector)

    def count(self, selector):
        return self.script("document.querySelectorAll(arguments[0]).length", selector)

    def shows(self, what, condition):
        return wait_for(what, condition, seconds=60, every=0.2, alive=[self.program])

    def title(self):
        return self.script("document.title")

    def tile(self, name):
        return self.text(f'.tile[data-name="{name}"] dd')

    def marks(self, page):
        """The texts of the sections whose values are marked as old, of a page."""
        return self.script("[...document.querySelectorAll(arguments[0])].map(e => e.innerText)", f'[data-page="{page}"].old > .age')

    def row_with(self, table, text):
        """The selector of the row of a table that contains a text; empty: there is none."""
        number = self.script("[...document.querySelectorAll(arguments[0] + ' tbody tr')].findIndex(row => row.innerText.includes("
                             "arguments[1])) + 1", table, text)
        return f"{table} tbody tr:nth-child({number})" if number else ""

    def cell(self, row, label):
        return self.text(f'{row} td[data-label="{label}"]')

    def icon(self):
        return urllib.parse.urlsplit(self.script("document.querySelector('link[rel=icon]').href")).path

    def check_phone(self, *tables):
        """Nothing is scrolled sideways, and each cell of the first row of a table is there with its label."""
        self.browser.show_as(PHONE)
        for table in tables:
            self.shows(table, lambda row=f"{table} tbody tr": self.count(row + " td") > 1)
        self.assertEqual(self.script("[innerWidth, document.documentElement.scrollWidth]"), [PHONE, PHONE])
        self.assertEqual(self.script(TOO_WIDE), [])
        for table in tables:
            for label, is_shown in self.script(LABELS, f"{table} tbody tr")[:-1]:
                self.assertRegex(label, r"attr|\w", table)
                self.assertTrue(is_shown, (table, label))
        self.browser.show_as(1280)


class Dashboard(InBrowser):
    """Of `skua run`: its figures move, a consumer is paused, a dead letter is replayed."""

    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.db.run("alter table bsky.posts add constraint short check (length(text) < 40)")
        self.skua(self.db, "consumers", "add", "post_stats")
        token_file = self.folder / "admin.token"
        token_file.write_text(TOKEN)
        token_file.chmod(0o600)
        network = self.network("--accounts", "50", "--rate", "40")
        program = self.indexer(self.db, network.url, "--http", "127.0.0.1:0", "--admin-token-file", token_file)
        wait_for("a dead letter", lambda: self.db.value("select count(*) from skua.dead_letter") > 0, alive=[program])
        self.open(program)

    def check_figures(self):
        self.shows("ready", lambda: re.fullmatch(r"ready, 1 warning", self.text("#state")))
        self.assertEqual(self.title(), "ready, 1 warning · skua run")
        self.assertEqual(self.icon(), "/icon-ready.svg")
        self.shows("events/s", lambda: self.tile("events/s") not in ("", "-", "0.0"))
        cursor = self.cell("#sources tbody tr", "cursor")
        self.shows("another cursor", lambda: self.cell("#sources tbody tr", "cursor") not in ("", cursor))
        self.assertEqual(self.count("#workers .queue"), 30)
        self.assertIn("app.bsky.feed.post", self.text("#collections"))
        self.shows("posts", lambda: self.count("#posts li") > 5)
        self.shows("tables", lambda: "posts" in self.text("#tables"))
        self.shows("the change log", lambda: re.fullmatch(r"1-\d+", self.text('[data-name="newest change"] dd')))
        self.assertEqual(self.count("#streams"), 0, "skua run has none")
        self.assertEqual(self.count(".old"), 0)

    def check_nothing_is_loaded_from_elsewhere(self):
        names = self.script("performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertIn(self.origin + "/charts.js", names)
        self.assertIn(self.origin + "/icon-problem.svg", names)
        self.assertEqual([name for name in names if not name.startswith(self.origin + "/")], [])
        self.assertEqual(self.browser.log(), [])

    def check_history(self):
        """The process keeps the points of the charts: another viewer sees them, too."""
        labels = "(Chart.getChart('throughput') || {data: {labels: []}}).data.labels"
        before = self.shows("points", lambda: (found := self.script(labels)) and len(found) > 2 and found)
        self.browser.open(self.origin + "/")
        after = self.shows("the points", lambda: self.script(labels))
        self.assertEqual(after[:len(before)], before)
        self.assertIn("events/s: ", self.script("document.querySelector('#throughput').ariaLabel"))
        self.assertGreater(self.script("Math.max(...Chart.getChart('throughput').data.datasets[0].data)"), 1)

    def sign_in(self, token):
        self.shows("the question for the token", lambda: self.script("document.querySelector('#token-dialog').open && token.value === ''"))
        self.browser.type_into("#token", token)
        self.browser.click('#token-dialog button[value="ok"]')

    def check_pause(self):
        def button():
            return f"{self.row_with('#consumers', 'post_stats')} button"

        self.shows("the consumer", lambda: self.row_with("#consumers", "post_stats"))
        self.assertEqual(self.text(button()), "Pause")
        self.click(button())
        self.sign_in("not this token, but long enough")
        self.shows("a refusal", lambda: self.text("#token-error") != "")
        self.assertFalse(self.db.value("select paused from skua.consumers"))
        self.sign_in(TOKEN)
        self.shows("the pause", lambda: self.db.value("select paused from skua.consumers"))
        self.shows("the problem", lambda: "consumer-stuck" in self.text("#problems"))
        self.assertEqual(self.title(), "1 problem, 1 warning · skua run")
        self.assertEqual(self.icon(), "/icon-problem.svg")
        self.shows("the other button", lambda: self.text(button()) == "Resume")
        self.assertEqual(self.script("document.querySelector(arguments[0]).ariaLabel", button()), "Resume post_stats")
        self.click(button())
        self.shows("the resumption", lambda: not self.db.value("select paused from skua.consumers"))

    def check_the_focus_stays(self):
        """The numbers of a row change, and its button keeps the focus."""
        row = self.row_with("#consumers", "post_stats")
        self.script("document.querySelector(arguments[0]).focus()", row + " button")
        position = self.cell(row, "next position")
        self.shows("another position", lambda: self.cell(row, "next position") != position)
        self.assertIn("post_stats", self.script("document.activeElement.ariaLabel || ''"))

    def check_replay(self):
        self.db.run("alter table bsky.posts drop constraint short")
        letter = self.db.value("select max(id) from skua.dead_letter")
        self.shows("the letter", lambda: self.row_with("#letters", f"{letter}\t"))
        self.click(f"{self.row_with('#letters', f'{letter}' + chr(9))} button")
        self.shows("the replay", lambda: self.db.value("select count(*) from skua.dead_letter where status = 'resolved'") > 0)

    def check_texts_of_the_network_are_texts(self):
        # The name is long and has no blank, and its direction is from right to left.
        consumer = "\u202e" + "x" * 300
        self.db.run(f"insert into skua.dead_letter (consumer, pos, timeline, lane, key, error, payload) values ('{consumer}', 1, 1, 0, 'k', '{MARKUP}', 'x')")
        self.shows("the markup", lambda: MARKUP in self.text("#letters"))
        self.assertEqual(self.count("main img"), 0)
        self.assertRegex(self.title(), " · skua run$")

    def check_dark(self):
        def back():
            return self.script("getComputedStyle(document.body).backgroundColor")

        def line():
            return self.script("Chart.getChart('throughput').data.datasets[0].borderColor")

        light = back(), line()
        self.browser.show_as(1280, scheme="dark")
        self.assertNotEqual(back(), light[0])
        self.shows("a chart with other colours", lambda: line() != light[1])

    def test_in_a_browser(self):
        self.check_figures()
        self.check_nothing_is_loaded_from_elsewhere()
        self.check_history()
        self.check_pause()
        self.check_the_focus_stays()
        self.check_replay()
        self.check_texts_of_the_network_are_texts()
        self.check_dark()
        self.check_phone("#sources", "#workers", "#collections", "#consumers", "#letters", "#tables")
        self.assertEqual(self.script("document.querySelectorAll('th:not([scope=col]), table:not([aria-label])').length"), 0)
        self.assertEqual(self.program.stop(), 0, self.program.tail())
        wait_for("no answer", lambda: self.text("#state").startswith("no answer since "), seconds=30)
        self.assertEqual(self.title(), "no answer · skua run")


class Outage(OwnServer, InBrowser):
    """Values that are not current are marked, with the time and the reason."""

    def setUp(self):
        super().setUp()
        network = self.network("--accounts", "20", "--rate", "50")
        self.open(self.indexer(self.db, network.url, "--http", "127.0.0.1:0"))

    def old(self, page):
        """The time since which the values of a page are old, and the reason; nothing: they are current."""
        found = {re.fullmatch(r"Old: as of ([\d:]+), .* ago\. ?(.*)", text, re.DOTALL).groups() for text in self.marks(page)}
        self.assertLessEqual(len({time for time, _ in found}), 1, found)
        return found.pop() if found else None

    def test_a_database_that_stops(self):
        self.shows("the database", lambda: self.text("#database"))
        self.assertEqual(self.count(".old"), 0)
        colour = "getComputedStyle(document.querySelector('#tables td')).color"
        current = self.script(colour)
        self.cluster.pg("stop")
        time, reason = self.shows("old values", lambda: self.old("/status"))
        self.assertEqual(reason, "database-down.")
        self.assertNotEqual(self.script(colour), current)
        self.shows("old posts", lambda: self.old("/latest"))
        # The values of the process are current.
        self.assertEqual(self.marks("/metrics") + self.marks("/history"), [])
        self.shows("the state", lambda: self.title() == "1 problem · skua run")
        self.assertIn("database-down", self.text("#problems"))
        self.assertEqual(self.old("/status")[0], time)
        # A page that is opened now knows nothing of the database.
        self.browser.open(self.origin + "/")
        self.shows("the reason", lambda: any(text == "Not known. database-down." for text in self.marks("/status")))
        self.assertEqual(self.text("#database") + self.text("#consumers"), "")
        self.cluster.pg("start")
        self.shows("current values", lambda: self.text("#database") and not self.marks("/status") and not self.marks("/latest"))
        self.check_a_process_that_hangs()

    def check_a_process_that_hangs(self):
        self.shows("ready", lambda: self.text("#state") == "ready")
        self.program.signal(signal.SIGSTOP)
        try:
            for page in ("/metrics", "/status", "/latest", "/history"):
                self.shows(page, lambda page=page: self.old(page))
            self.shows("the state", lambda: self.text("#state").startswith("no answer since "))
            self.assertEqual(self.title(), "no answer · skua run")
        finally:
            self.program.signal(signal.SIGCONT)
        self.shows("current values", lambda: self.text("#state") == "ready" and self.count(".old") == 0)


class Refuser(http.server.BaseHTTPRequestHandler):
    """A webhook that refuses each change."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(422)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Serve(InBrowser):
    """Of `skua serve`: its streams, webhooks, pull consumers and the change log."""

    def setUp(self):
        super().setUp()
        self.db = self.database()
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuser)
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.skua(self.db, "consumers", "add", "post_stats")
        self.skua(self.db, "consumers", "add", "refuser", "--webhook", f"http://127.0.0.1:{receiver.server_port}/skua", "--from", "oldest")
        self.skua(self.db, "consumers", "add", "gone", "--webhook", f"http://127.0.0.1:{closed_port()}/skua", "--from", "oldest")
        self.skua(self.db, "consumers", "add", "archive", "--pull", "--from", "oldest")
        self.indexer(self.db, self.network("--accounts", "20", "--rate", "50").url)
        self.open(self.start([BIN / "skua", "serve", "--listen", "127.0.0.1:0"], self.environment(self.db)))
        stream = ChangeClient(self.origin)
        websocket = Websocket(self.origin.replace("http:", "ws:"), "/subscribe")
        for client in (stream, websocket):
            self.addCleanup(client.close)
        threading.Thread(target=self.read, args=(stream.receive,), daemon=True).start()
        threading.Thread(target=self.read, args=(websocket.receive,), daemon=True).start()

    def read(self, receive):
        try:
            while receive():
                pass
        except Exception:  # pylint: disable=broad-except
            pass  # The test has closed the client.

    def check_streams(self):
        def row(name):
            return self.row_with("#streams", name)

        self.shows("the stream", lambda: self.cell(row("server-sent events"), "open") == "1")
        self.shows("the websocket", lambda: self.cell(row("/subscribe"), "open") == "1")
        self.assertEqual(self.cell(row("/changes, websocket"), "open"), "0")
        self.shows("changes", lambda: self.cell(row("server-sent events"), "changes/s") not in ("-", "0.0"))
        self.assertRegex(self.cell(row("/subscribe"), "changes behind (slowest)"), r"^\d")
        self.assertEqual(self.tile("open streams"), "2")
        self.assertEqual(Pages(self.program).get("/changes?cursor=1-999999999")[0], 410)
        self.shows("the refusal", lambda: "CursorInFuture 1" in self.text("#feed-errors"))

    def check_consumers(self):
        def row(name):
            return self.row_with("#consumers", name)

        self.shows("the reason", lambda: "422" in self.cell(row("refuser"), "last reason"))
        self.shows("the failures", lambda: self.cell(row("refuser"), "failures of the next change") not in ("", "0", "-"))
        self.shows("the reason", lambda: self.cell(row("gone"), "last reason") not in ("", "-"))
        self.shows("the next try", lambda: self.cell(row("gone"), "next try").startswith("in "))
        self.assertEqual(self.cell(row("gone"), "state"), "running, with failures")
        self.assertEqual([self.cell(row("archive"), label) for label in ("kind", "state", "next position")], ["pull", "running", "1"])
        self.assertEqual(row("post_stats"), "", "skua run has it")

    def check_charts(self):
        for chart in ("sent", "clients", "consumer-lag"):
            data = f"(Chart.getChart('{chart}') || {{data: {{datasets: [{{data: []}}]}}}}).data.datasets[0].data"
            self.shows(chart, lambda data=data: any(self.script(data)))

    def test_in_a_browser(self):
        self.shows("the state", lambda: self.title().endswith(" · skua serve") and not self.title().startswith("connecting"))
        for absent in ("throughput", "latency", "sources", "workers", "collections", "hosts", "tables", "posts"):
            self.assertEqual(self.count("#" + absent), 0, absent)
        self.check_streams()
        self.check_consumers()
        self.check_charts()
        self.assertRegex(self.text('[data-name="newest change"] dd'), r"^1-\d+$")
        self.check_phone("#streams", "#consumers")
        self.assertEqual(json.loads(Pages(self.program).get("/status")[1])["change_log"]["timeline"], 1)
        # A process that is not ready answers with 503.
        self.assertEqual([message for message in self.browser.log() if "/health/ready - " not in message], [])


if __name__ == "__main__":
    unittest.main()
