"""Server of the pages: each page that is opened starts one console, and ends it when it is closed.

The browser's half is the script of textual-serve, whose messages are JSON lists: ``["stdin", text]``,
``["resize", {"width": columns, "height": rows}]``, ``["ping", data]``, ``["focus"]`` and ``["blur"]``.
"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSCloseCode, WSMsgType, web

from benchconsole.console.exits import Exit, complain
from benchconsole.console.web.access import find_refusal
from benchconsole.console.web.console_process import ConsoleCommand, ConsoleProcess, PacketError, Size
from benchconsole.console.web.page_files import Page, make_headers

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEARTBEAT_SECONDS = 15.0
"""A page that answers no ping for so long and a half is taken for closed."""

CLOSE_SECONDS = 2.0
"""How long a page may take to say that it has closed."""

WAIT_SECONDS = 5.0
"""How long a page waits for another to end, where as many are open as may be: a page that is opened anew needs this."""

LARGEST_MESSAGE = 256 * 1024
"""Bytes of a message from a page at most, for instance of a paste."""

_GOOD_ENDINGS = (Exit.PASSED, Exit.INTERRUPTED)
"""Exit codes of a console that somebody left."""

_LEAVE_ALTERNATE_SCREEN = "\x1b[?1049l\x1b[0m\x1b[2J\x1b[H"


@dataclass(eq=False, slots=True)
class OpenPage:
    """A page that is open, and whether its console has ended."""

    socket: web.WebSocketResponse
    over: asyncio.Event = field(default_factory=asyncio.Event)


class ConsoleServer:
    """Answers whoever has ``token``; at most ``limit`` consoles run at once."""

    def __init__(
        self, command: ConsoleCommand, page: Page, token: str, *, limit: int, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        self._command = command
        self._page = page
        self._token = token
        self._limit = limit
        self._wait_seconds = wait_seconds
        self._free = asyncio.Semaphore(limit)
        self._pages: set[OpenPage] = set()
        self._consoles: set[ConsoleProcess] = set()

    @property
    def consoles(self) -> int:
        """How many run now."""
        return len(self._consoles)

    async def listen(self, listening: socket.socket) -> web.AppRunner:
        """Begin to answer on a socket; the runner is for ``close``."""
        application = web.Application(middlewares=[self._guard])
        application.add_routes(
            [
                web.get("/{token}/", self._answer_page),
                web.get("/{token}/static/{name}", self._answer_file),
                web.get("/{token}/console", self._open_console),
            ]
        )
        runner = web.AppRunner(application, access_log=None, handle_signals=False)
        await runner.setup()
        await web.SockSite(runner, listening).start()
        return runner

    async def close(self, runner: web.AppRunner) -> None:
        """Take no more pages, close those that are open, and wait for the end of every console."""
        for site in tuple(runner.sites):
            await site.stop()
        while pages := tuple(self._pages):
            await asyncio.gather(*(page.socket.close(code=WSCloseCode.GOING_AWAY) for page in pages))
            await asyncio.gather(*(page.over.wait() for page in pages))
        await runner.cleanup()

    def kill_consoles(self) -> None:
        """End every console at once."""
        for console in self._consoles:
            console.kill()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what comes from elsewhere, before anything else is looked at."""
        opens_console = request.path.endswith("/console")
        hosts, origins = request.headers.getall("Host", []), request.headers.getall("Origin", [])
        refusal = find_refusal(self._token, request.path, hosts, origins, opens_console=opens_console)
        if refusal:
            return web.Response(status=403, text=f"benchconsole: {refusal}\n")
        return await handler(request)

    async def _answer_page(self, request: web.Request) -> web.Response:
        return web.Response(text=self._page.text, content_type="text/html", headers=make_headers(request.host))

    async def _answer_file(self, request: web.Request) -> web.StreamResponse:
        file = self._page.files.get(request.match_info["name"])
        if file is None:
            raise web.HTTPNotFound
        return web.FileResponse(file.path, headers={**make_headers(request.host), "Content-Type": file.media_type})

    async def _open_console(self, request: web.Request) -> web.WebSocketResponse:
        """A console for as long as the page is open."""
        socket = web.WebSocketResponse(
            heartbeat=HEARTBEAT_SECONDS, timeout=CLOSE_SECONDS, max_msg_size=LARGEST_MESSAGE, compress=False
        )
        await socket.prepare(request)
        page = OpenPage(socket)
        self._pages.add(page)
        try:
            if await self._wait_for_place():
                try:
                    await self._run_console(socket, _read_size(request.query))
                finally:
                    self._free.release()
            else:
                words = f"As many consoles are open as --pages allows ({self._limit}). Close one, then open this again."
                await _say(socket, [words])
                await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
        finally:
            self._pages.remove(page)
            page.over.set()
        return socket

    async def _wait_for_place(self) -> bool:
        """Whether one more console may run, now or soon."""
        try:
            async with asyncio.timeout(self._wait_seconds):
                return await self._free.acquire()
        except TimeoutError:
            return False

    async def _run_console(self, socket: web.WebSocketResponse, size: Size) -> None:
        console = await ConsoleProcess.start(self._command, size)
        self._consoles.add(console)
        showing = asyncio.create_task(_show(console, socket))
        try:
            await _obey(console, socket)
        finally:
            console.hang_up()
            try:
                await asyncio.wait_for(asyncio.shield(showing), self._command.patience)
            except TimeoutError:
                console.kill()
                await showing
            finally:
                self._consoles.discard(console)


async def _show(console: ConsoleProcess, socket: web.WebSocketResponse) -> None:
    """Send what the console draws; at its end close the page, and say why where it did not end in good order."""
    words: list[str] = []
    try:
        async for data in console.read_screen():
            await _send(socket, data)
    except PacketError as error:
        words.append(f"the console wrote {error}")
        console.kill()
    ending = await console.wait()
    if not socket.closed and ending.code not in _GOOD_ENDINGS:
        words += [describe_ending(ending.code), *ending.words]
        for each in words:
            complain(f"benchconsole: {each}")
        await _say(socket, words)
    await socket.close()


def describe_ending(code: int) -> str:
    """How a console ended, in words."""
    return f"a console was ended by signal {-code}" if code < 0 else f"a console ended with exit code {code}"


async def _obey(console: ConsoleProcess, socket: web.WebSocketResponse) -> None:
    """Hand over keys and sizes until the page is closed; one that sends anything else is closed."""
    async for message in socket:
        try:
            order = json.loads(message.data) if message.type is WSMsgType.TEXT else None
        except (ValueError, RecursionError):
            order = None
        match order:
            case ["stdin", str(text)]:
                console.press(text)
            case ["resize", {"width": int(width), "height": int(height)}]:
                console.resize(Size.within_limits(width, height))
            case ["ping", str(data)]:
                with suppress(ConnectionError):
                    await socket.send_json(["pong", data])
            case ["focus" | "blur" as change]:
                console.focus(has_focus=change == "focus")
            case _:
                await socket.close(code=WSCloseCode.POLICY_VIOLATION)


def _read_size(query: Mapping[str, str]) -> Size:
    """The size that a page asks for; 80 columns and 24 rows where it is no number."""
    width, height = query.get("width", ""), query.get("height", "")
    return Size.within_limits(
        int(width) if width.isdecimal() and len(width) < 6 else 80,
        int(height) if height.isdecimal() and len(height) < 6 else 24,
    )


async def _say(socket: web.WebSocketResponse, lines: Sequence[str]) -> None:
    """Show lines of text in place of the console's screen."""
    await _send(socket, "\r\n".join([_LEAVE_ALTERNATE_SCREEN, *lines, ""]).encode())


async def _send(socket: web.WebSocketResponse, data: bytes) -> None:
    """Send what a terminal shows; a page that is closed misses it, and the console is not held up."""
    if not socket.closed:
        with suppress(ConnectionError):
            await socket.send_bytes(data)
