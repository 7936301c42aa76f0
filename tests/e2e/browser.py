"""Chromium without a window, by the WebDriver protocol (w3.org/TR/webdriver2) of chromedriver."""

import http.client
import json
import shutil
import subprocess

from harness import free_port, missing, wait_for

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--window-size=1400,1000")


class Browser:
    def __init__(self, folder):
        """A browser with a profile in a folder. It loads nothing by itself."""
        driver, browser = shutil.which("chromedriver"), shutil.which("chromium")
        if driver is None or browser is None:
            missing("Chromium (scripts/setup --with-e2e)", "SKUA_REQUIRE_CHROMIUM")
        self.port = free_port()
        self.driver = subprocess.Popen([driver, f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        wait_for("chromedriver", self._is_up)
        options = {"binary": browser, "args": [*ARGUMENTS, f"--user-data-dir={folder}"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{session['sessionId']}"

    def _is_up(self):
        try:
            return self._call("GET", "/status")["ready"]
        except ConnectionError:
            return False

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            value = json.loads(answer.read())["value"]
        finally:
            connection.close()
        if answer.status != 200:
            raise AssertionError(f"{path}: {value}")
        return value

    def _post(self, path, **body):
        return self._call("POST", self.session + path, body)

    def quit(self):
        if self.session:
            self._call("DELETE", self.session)
        self.driver.terminate()
        self.driver.wait(timeout=30)

    def open(self, url):
        self._post("/url", url=url)

    def show_as(self, width, height=900, scheme="light"):
        """The size of the window, and the colour scheme that the user prefers."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def script(self, expression, *arguments):
        """The value of an expression of JavaScript; `arguments` are its arguments."""
        return self._post("/execute/sync", script=f"return {expression}", args=arguments)

    def type_into(self, selector, text):
        self._post(f"/element/{self._find(selector)}/value", text=text)

    def click(self, selector):
        self._post(f"/element/{self._find(selector)}/click")

    def _find(self, selector):
        return self._post("/element", **{"using": "css selector", "value": selector})[ELEMENT]

    def devtools(self, command, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self._post("/goog/cdp/execute", cmd=command, params=parameters)

    def log(self):
        """The messages of the console since the last call."""
        return [entry["message"] for entry in self._post("/se/log", type="browser")]
