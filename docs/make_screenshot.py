"""Picture of MLflow's compare page for the two newest compiles of a home.

    python docs/make_screenshot.py HOME OUT.png

Needs Chromium, and two finished compiles in HOME. The page draws only the rows of its table that are in view,
so the browser is driven over its DevTools protocol: close the side panel, scroll to ``test.tau_b``, shoot.
"""

import asyncio
import base64
import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from judgec.connect.tracking.server.ui import compare_url, free_port, ui_server
from judgec.connect.tracking.store import tracking_store

TIMEOUT = 300  # seconds; the page draws a row at a time on a busy machine
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--window-size=1300,2500",
]
ROWS = "[...document.querySelectorAll('a')].filter(a => /^[a-z_]+[.][a-z_.]+$/.test(a.textContent.trim()))"
PREPARE = f"""(async () => {{
  const pause = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
  while (!{ROWS}.length) await pause(0.2);
  document.querySelectorAll('button[aria-label*="lose"]').forEach(button => button.click());
  await pause(2);
  return {ROWS}[0].getBoundingClientRect().top;
}})()"""
LOOK = f"""(async () => {{
  await new Promise(done => setTimeout(done, 200));
  const row = {ROWS}.find(a => a.textContent.trim() === 'test.tau_b');
  const table = {ROWS}[0].closest('.ReactVirtualized__Grid');
  const end = !table || table.scrollTop + table.clientHeight >= table.scrollHeight - 2;
  return !!row && (end || row.getBoundingClientRect().top - table.getBoundingClientRect().top < 220);
}})()"""
NOTCH = 90  # pixels that one turn of the wheel scrolls: two rows


async def capture(url: str, browser: str) -> bytes:
    """Open ``url`` in a new browser; the PNG of what it shows.

    Args:
        url: The compare page.
        browser: Path of Chromium.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            browser, *FLAGS, f"--user-data-dir={profile}", "about:blank", stderr=asyncio.subprocess.PIPE
        )
        try:
            assert process.stderr is not None
            said = await process.stderr.readuntil(b"/devtools/browser/")
            port = re.findall(rb"ws://127\.0\.0\.1:(\d+)/", said)[-1].decode()
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json") as reply:
                    tab = next(tab for tab in await reply.json(content_type=None) if tab["type"] == "page")
                async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    await command(socket, "Page.navigate", url=url)
                    top = float(str(await evaluate(socket, PREPARE)))
                    while not await evaluate(socket, LOOK):
                        await turn(socket, top, NOTCH)
                    for _ in range(3):  # the names follow the values by one turn: end in small ones
                        await turn(socket, top, 1)
                    return base64.b64decode((await command(socket, "Page.captureScreenshot"))["data"])
        finally:
            process.terminate()
            await process.wait()


async def turn(socket: aiohttp.ClientWebSocketResponse, top: float, pixels: int) -> None:
    """Turn the mouse wheel over the table's values."""
    wheel = {"type": "mouseWheel", "x": 500, "y": top + 60, "deltaX": 0, "deltaY": pixels}
    await command(socket, "Input.dispatchMouseEvent", **wheel)
    await evaluate(socket, "new Promise(done => setTimeout(done, 200))")


# DevTools answers in JSON of many shapes, hence Any.
async def command(socket: aiohttp.ClientWebSocketResponse, method: str, **params: object) -> dict[str, Any]:
    """The result of one DevTools command; a script's exception ends the program."""
    await socket.send_json({"id": 1, "method": method, "params": params})
    reply = await socket.receive_json()
    if "error" in reply or "exceptionDetails" in reply["result"]:
        sys.exit(f"{method}: {reply}")
    return dict(reply["result"])


async def evaluate(socket: aiohttp.ClientWebSocketResponse, script: str) -> object:
    """What a script's promise resolves to."""
    reply = await command(socket, "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    return reply["result"].get("value")


def main() -> None:
    """Start the UI on the home, take the picture, stop the UI."""
    home, out = Path(sys.argv[1]), Path(sys.argv[2])
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("chromium: not found; a headless browser is needed. Install Debian's package chromium.")
    store = tracking_store(home, None, os.environ)
    with free_port("127.0.0.1", None) as port, ui_server(store, "127.0.0.1", port, os.environ) as server:
        url = compare_url(server.url)
        if url is None:
            sys.exit(f"{home}: fewer than two finished compiles. Run judgec compile-judge LABELS twice.")
        out.write_bytes(asyncio.run(asyncio.wait_for(capture(url, browser), TIMEOUT)))


if __name__ == "__main__":
    main()
