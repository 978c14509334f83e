"""A real Chromium for tests, driven by its own driver over HTTP: no library is needed."""

import base64
import contextlib
import json
import shutil
import tempfile
import time
import urllib.request

from parts import program
from servers import free_port, running

_ARGUMENTS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-color-profile=srgb"
).split()
LONGEST_SECONDS = 60


class Browser:
    """One window of it."""

    def __init__(self, address, folder):
        self._address = address
        options = {"binary": program("chromium"), "args": [*_ARGUMENTS, "--user-data-dir=" + folder]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        told = self._ask("/session", {"capabilities": {"alwaysMatch": wanted}})
        self._address += "/session/" + told["sessionId"]

    def _ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self._address + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=LONGEST_SECONDS) as answer:
            return json.load(answer)["value"]

    def go(self, url):
        """Open a page, and wait until it is there."""
        self._ask("/url", {"url": url})

    def run(self, script, *arguments):
        """What a script returns."""
        return self._ask("/execute/sync", {"script": script, "args": list(arguments)})

    def into_frame(self, number):
        """Look into a frame of the page from now on; None: at the page again."""
        self._ask("/frame", {"id": number})

    def run_async(self, script, *arguments):
        """What a script hands to its last argument, a function."""
        return self._ask("/execute/async", {"script": script, "args": list(arguments)})

    def waits_for(self, script):
        """Until a script returns something: what is not false, 0 or empty."""
        until = time.monotonic() + LONGEST_SECONDS
        while not self.run(script):
            assert time.monotonic() < until, script
            time.sleep(0.02)

    def devtools(self, command, **parameters):
        """What the protocol of the developer tools answers."""
        return self._ask("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self):
        """What stands in the console since it was read last: errors, and what the policy has refused."""
        return [entry["message"] for entry in self._ask("/se/log", {"type": "browser"})]

    def keys(self, *keys):
        """Press keys, one after the other."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def looks(self, wide, scheme):
        """How wide its window is, and whether it is light or dark."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        size = {"width": wide, "height": 900, "deviceScaleFactor": 1, "mobile": wide < 500}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)

    def picture(self, high=None):
        """A PNG of the page, from its top."""
        wide = self.run("return innerWidth")
        high = high or self.run("return document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": wide, "height": high, "scale": 1}
        told = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(told["data"])

    def close(self):
        """It is no more."""
        asked = urllib.request.Request(self._address, method="DELETE")
        urllib.request.urlopen(asked, timeout=LONGEST_SECONDS).close()


@contextlib.contextmanager
def started():
    """A browser, for the while."""
    port = free_port()
    driver = [program("chromedriver"), "--port=%d" % port]
    folder = tempfile.mkdtemp()
    try:
        with running(driver, "started successfully"):
            one = Browser("http://127.0.0.1:%d" % port, folder)
            try:
                yield one
            finally:
                one.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # a process of it may still be at its end
