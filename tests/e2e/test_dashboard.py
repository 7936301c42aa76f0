"""The dashboard of `skua run` in Chromium: its figures move, a consumer is paused, a dead letter is replayed."""

import unittest

from browser import Browser
from harness import wait_for
from test_pages import Pages
from test_sim import SimTest

TOKEN = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
MARKUP = '<img src="x" onerror="document.title=1">'


class Dashboard(SimTest):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        self.db.run("alter table bsky.posts add constraint short check (length(text) < 40)")
        self.skua(self.db, "consumers", "add", "post_stats")
        token_file = self.folder / "admin.token"
        token_file.write_text(TOKEN)
        token_file.chmod(0o600)
        network = self.network("--accounts", "50", "--rate", "40")
        self.program = self.indexer(self.db, network.url, "--http", "127.0.0.1:0", "--admin-token-file", token_file)
        self.origin = f"http://{Pages(self.program).address}"
        wait_for("a dead letter", lambda: self.db.value("select count(*) from skua.dead_letter") > 0, alive=[self.program])
        self.browser = Browser(self.folder / "chromium")
        self.addCleanup(self.browser.quit)
        self.browser.open(self.origin + "/")

    def script(self, text, *arguments):
        return self.browser.script(text, *arguments)

    def click(self, selector):
        # The rows are replaced every four seconds, so that an element may be gone at a click.
        wait_for(selector, lambda: self.script("(e => { if (e) e.click(); return e !== null; })(document.querySelector(arguments[0]))",
                                               selector), alive=[self.program])

    def text(self, selector):
        return self.script("(document.querySelector(arguments[0]) || {}).innerText || ''", selector)

    def shows(self, what, condition):
        return wait_for(what, condition, seconds=60, every=0.2, alive=[self.program])

    def tile(self, name):
        return self.text(f'.tile[data-name="{name}"] b')

    def row_with(self, table, text):
        """The number of the row of a table that contains a text, for :nth-child; 0: there is none."""
        return self.script("[...document.querySelectorAll(arguments[0] + ' tr')].findIndex(row => row.innerText.includes("
                           "arguments[1])) + 1", table, text)

    def check_figures(self):
        self.shows("ready", lambda: self.text("#state") == "ready")
        self.shows("events/s", lambda: self.tile("events/s") not in ("", "-", "0.0"))
        cursor = self.text("#sources tr:nth-child(2) td:nth-child(3)")
        self.shows("another cursor", lambda: self.text("#sources tr:nth-child(2) td:nth-child(3)") not in ("", cursor))
        self.shows("points", lambda: self.script("Chart.getChart('throughput').data.labels.length > 3"))
        self.assertEqual(self.script("document.querySelectorAll('#workers .queue').length"), 30)
        self.assertIn("app.bsky.feed.post", self.text("#collections"))
        self.shows("posts", lambda: self.script("document.querySelectorAll('#posts li').length > 5"))
        self.shows("tables", lambda: "bsky.posts" in self.text("#tables") or "posts" in self.text("#tables"))

    def check_nothing_is_loaded_from_elsewhere(self):
        names = self.script("performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertIn(self.origin + "/charts.js", names)
        self.assertEqual([name for name in names if not name.startswith(self.origin + "/")], [])
        self.assertEqual([message for message in self.browser.log() if "favicon.ico" not in message], [])

    def sign_in(self, token):
        self.shows("the question for the token", lambda: self.script("document.querySelector('#token-dialog').open && token.value === ''"))
        self.browser.type_into("#token", token)
        self.browser.click('#token-dialog button[value="ok"]')

    def check_pause(self):
        def button():
            return f"#consumers tr:nth-child({self.row_with('#consumers', 'post_stats')}) button"

        self.shows("the consumer", lambda: self.row_with("#consumers", "post_stats") > 0)
        self.assertEqual(self.text(button()), "Pause")
        self.click(button())
        self.sign_in("not this token, but long enough")
        self.shows("a refusal", lambda: self.text("#token-error") != "")
        self.assertFalse(self.db.value("select paused from skua.consumers"))
        self.sign_in(TOKEN)
        self.shows("the pause", lambda: self.db.value("select paused from skua.consumers"))
        self.shows("the problem", lambda: "consumer-stuck" in self.text("#problems"))
        self.shows("the other button", lambda: self.text(button()) == "Resume")
        self.click(button())
        self.shows("the resumption", lambda: not self.db.value("select paused from skua.consumers"))

    def check_replay(self):
        self.db.run("alter table bsky.posts drop constraint short")
        letter = self.db.value("select max(id) from skua.dead_letter")
        self.shows("the letter", lambda: self.row_with("#letters", f"{letter}\t") > 0)
        self.click(f"#letters tr:nth-child({self.row_with('#letters', f'{letter}' + chr(9))}) button")
        self.shows("the replay", lambda: self.db.value("select count(*) from skua.dead_letter where status = 'resolved'") > 0)

    def check_texts_of_the_network_are_texts(self):
        self.db.run(f"insert into skua.dead_letter (consumer, key, error, payload) values ('test', 'k', '{MARKUP}', 'x')")
        self.shows("the markup", lambda: MARKUP in self.text("#letters"))
        self.assertEqual(self.script("document.images.length"), 0)
        self.assertEqual(self.script("document.title"), "Skua")

    def check_dark_and_narrow(self):
        def back():
            return self.script("getComputedStyle(document.body).backgroundColor")

        light = back()
        self.browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertNotEqual(back(), light)
        self.browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        self.browser.open(self.origin + "/")
        self.shows("the letters", lambda: MARKUP in self.text("#letters"))
        self.assertEqual(self.script("[innerWidth, document.documentElement.scrollWidth]"), [390, 390])

    def test_in_a_browser(self):
        self.check_figures()
        self.check_nothing_is_loaded_from_elsewhere()
        self.check_pause()
        self.check_replay()
        self.check_texts_of_the_network_are_texts()
        self.check_dark_and_narrow()
        self.assertEqual(self.program.stop(), 0, self.program.tail())
        wait_for("no answer", lambda: self.text("#state") == "no answer", seconds=30)


if __name__ == "__main__":
    unittest.main()
