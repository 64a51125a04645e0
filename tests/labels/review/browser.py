"""A real browser over its debugging pipe, without any package: JSON messages that end with NUL."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120.0


class Browser:
    """One headless browser with one page; ``tab`` opens more, which share what the browser keeps.

    Args:
        folder: Its profile.
        size: Of the window.
    """

    def __init__(self, folder: Path, size: tuple[int, int] = (1200, 900)) -> None:
        assert CHROMIUM is not None
        command_read, self._write = os.pipe()
        self._read, command_write = os.pipe()

        def wire() -> None:
            spare = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (command_read, command_write)]  # out of the way
            for number, end in enumerate(spare, 3):
                os.dup2(end, number)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        flags += ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        self._process = subprocess.Popen(
            [CHROMIUM, *flags, f"--window-size={size[0]},{size[1]}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=wire,  # noqa: PLW1509 -- the browser takes its pipe at these two numbers
            close_fds=False,
        )
        os.close(command_read)
        os.close(command_write)
        self._count, self._buffer, self._session = 0, b"", ""
        found = next(one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._attach(found["targetId"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def tab(self) -> str:
        """A new tab, which is used from now on; ``to`` gets back to it."""
        self._session = ""
        return self._attach(self._call("Target.createTarget", url="about:blank")["targetId"])

    def to(self, tab: str) -> None:
        self._session = tab

    def crash(self) -> None:
        """The tab dies without a word to its page; ``to`` gets to another."""
        crash = {"id": 0, "sessionId": self._session, "method": "Page.crash"}  # nothing is left that could answer
        os.write(self._write, json.dumps(crash).encode() + b"\0")

    def _attach(self, target: str) -> str:
        self._session = str(self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        self._call("Page.enable")
        return self._session

    def open(self, url: str) -> None:
        self._call("Page.navigate", url=url)

    def run(self, script: str) -> Any:  # what a script returns has no type here
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < end, f"never: {script}; the page says {self.run('document.body.innerText')}"

    def press(self, key: str) -> None:
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "")

    def type(self, text: str) -> None:
        self._call("Input.insertText", text=text)

    def resize(self, width: int, height: int) -> None:
        """Exactly this size, as a phone; a window is never so narrow."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def colours(self, scheme: str) -> None:
        """``light`` or ``dark``, as a person's system asks for."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def print_media(self, media: str = "print") -> None:
        self._call("Emulation.setEmulatedMedia", media=media)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))

    def _call(self, method: str, **parameters: object) -> Any:  # as in ``run``
        self._count += 1
        message: dict[str, object] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                self._buffer += os.read(self._read, 1 << 16)
            first, self._buffer = self._buffer.split(b"\0", 1)
            reply = json.loads(first)
            if reply.get("method") == "Page.javascriptDialogOpening":  # "leave this page?"
                yes = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                os.write(self._write, json.dumps({**yes, "sessionId": self._session}).encode() + b"\0")
            if reply.get("id") == self._count:
                assert "error" not in reply, reply
                return reply["result"]
