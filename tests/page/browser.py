"""Chromium, driven through its debugging pipe: no driver and no package needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of one headless browser; every console error, exception and request is kept."""

    def __init__(self, program: str) -> None:
        self.profile = tempfile.mkdtemp()
        reading, self.commands = os.pipe()
        self.events, writing = os.pipe()

        def connect() -> None:
            # The pipe is expected at these two numbers. Whatever stands there must not be closed too early.
            one, other = os.dup(reading), os.dup(writing)
            os.dup2(one, 3)
            os.dup2(other, 4)

        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        flags += ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        self.process = subprocess.Popen(
            [program, *flags, "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=connect,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reading)
        os.close(writing)
        self.buffer = b""
        self.number = 0
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.loaded = False
        self.session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def next(self, seconds: float = 60.0) -> dict[str, Any]:
        end = monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.events], [], [], max(0.0, end - monotonic()))
            assert ready, "the browser does not answer"
            chunk = os.read(self.events, 1 << 20)
            assert chunk, "the browser has gone"
            self.buffer += chunk
        frame, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(frame)
        self.note(message)
        return message

    def note(self, message: dict[str, Any]) -> None:
        values = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(values["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if values["type"] in ("error", "warning"):
                self.errors.append(json.dumps(values["args"]))
            case "Log.entryAdded" if values["entry"]["level"] == "error":
                self.errors.append(values["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(values["request"]["url"])
            case "Page.loadEventFired":
                self.loaded = True

    def open(self, path: Path, width: int, height: int = 900, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.loaded = False
        self.call("Page.navigate", url=path.as_uri())
        while not self.loaded:
            self.next()

    def run(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def key(self, name: str, code: int, text: str = "") -> None:
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def click(self, selector: str) -> None:
        """A click with the mouse in the middle of an element."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def screenshot(self, path: Path) -> None:
        size = self.run("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        area = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 6000), "scale": 1}
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=area)["data"]
        path.write_bytes(base64.b64decode(picture))

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        os.close(self.commands)
        os.close(self.events)
        shutil.rmtree(self.profile, ignore_errors=True)
