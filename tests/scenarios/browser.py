"""A real browser: headless Chromium, driven over the DevTools protocol, and the terminal on the page that it shows."""

import asyncio
import itertools
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

SECONDS = 60.0
"""A test that waits longer has failed."""

KEEP_TERMINAL = """
Object.defineProperty(Object.prototype, "_core", {
  configurable: true,
  set(core) {
    if (this.loadAddon) window.shownTerminal = this;
    Object.defineProperty(this, "_core", {value: core, writable: true, configurable: true});
  },
});
"""
"""Run before the page's own scripts: xterm.js draws on a canvas, and its terminal, whose rows are read, is private."""

READ_ROWS = """
(() => {
  const buffer = window.shownTerminal?.buffer.active;
  if (!buffer) return "";
  return Array.from({length: window.shownTerminal.rows}, (_, row) => buffer.getLine(row)?.translateToString() ?? "").join("\\n");
})()
"""


class Browser:
    """One page of a browser. ``asked`` holds every address that it asked for, ``errors`` what it complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.asked: list[str] = []
        self.errors: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session = ""

    async def call(self, method: str, **parameters: object) -> Any:
        """A command of the protocol, and its answer; events that come meanwhile are noted."""
        number = next(self._numbers)
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": number, "method": method, "params": parameters, **session})
        while (message := await self._socket.receive_json(timeout=SECONDS)).get("id") != number:
            self._note(message)
        assert "error" not in message, (method, message)
        return message["result"]

    async def open(self, address: str) -> None:
        """Open a page of its own, in the place of the one that was driven before."""
        self._session = ""
        target = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=KEEP_TERMINAL)
        await self.call("Page.navigate", url=address)

    async def close(self) -> None:
        """End the browser as its user does."""
        self._session = ""
        await self.call("Browser.close")

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression on the page, as if its user had just clicked there."""
        options = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = await self.call("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def press(self, key: str) -> None:
        """Press and release a key that writes a character, as a keyboard does."""
        upper = {"modifiers": 8} if key.isupper() else {}
        code = ord(key.upper())
        await self.call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, text=key, windowsVirtualKeyCode=code, **upper
        )
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, **upper)

    async def wait_for_screen(self, *texts: str) -> str:
        """The rows of the terminal, once they hold these texts."""
        return await self._wait_for(
            READ_ROWS, lambda rows: all(text in rows for text in texts), f"{texts} on the screen"
        )

    async def wait_for_page(self, text: str) -> str:
        """The text that the page shows, once it holds this one."""
        return await self._wait_for("document.body.innerText", lambda shown: text in shown, f"{text!r} on the page")

    async def read_clipboard(self) -> str:
        """The text that a page copied."""
        return str(await self.evaluate("navigator.clipboard.readText()"))

    async def _wait_for(self, expression: str, holds: Callable[[str], bool], what: str) -> str:
        """The value of an expression, asked for again at each frame that the page paints, until ``holds`` of it."""
        found = ""
        try:
            async with asyncio.timeout(SECONDS):
                while not holds(found := str(await self.evaluate(expression) or "")):
                    await self.evaluate("new Promise(resolve => requestAnimationFrame(resolve)).then(() => 0)")
        except TimeoutError as error:
            raise AssertionError(f"waited in vain for {what}:\n{found}\n{self.errors}") from error
        return found

    def _note(self, message: dict[str, Any]) -> None:
        match message.get("method"), message.get("params", {}):
            case "Network.requestWillBeSent", {"request": {"url": str(address)}}:
                self.asked.append(address)
            case "Network.webSocketCreated", {"url": str(address)}:
                self.asked.append(address)
            case "Runtime.exceptionThrown", thrown:
                self.errors.append(str(thrown))
            case "Log.entryAdded", {"entry": {"level": "error"} as entry}:
                self.errors.append(str(entry))


@asynccontextmanager
async def browsing(folder: Path) -> AsyncIterator[Browser]:
    """A browser with a profile of its own; its processes end with the context."""
    program = shutil.which("chromium")
    assert program is not None, "require_browser says so before"
    words = [
        program,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1400,900",
        "--no-first-run",
        "--disable-extensions",
    ]
    words += [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
    ]
    words += ["--remote-debugging-port=0", f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = await asyncio.create_subprocess_exec(
        *words,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "HOME": str(folder)},
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(SECONDS):
            said = b""
            while not (line := await process.stderr.readline()).startswith(b"DevTools listening on "):
                said += line
                assert line, said.decode()
        address = line.decode().removeprefix("DevTools listening on ").strip()
        async with aiohttp.ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
            browser = Browser(socket)
            yield browser
            await browser.close()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, 9)
        await process.wait()
