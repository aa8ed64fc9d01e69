"""A server of pages on a free port of loopback, with played consoles, and a browser's requests to it."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from benchconsole.console.web.console_process import ConsoleCommand
from benchconsole.console.web.page_files import load_page
from benchconsole.console.web.server import ConsoleServer

TOKEN = "token-of-the-test"
PLAYED = Path(__file__).parent / "played_console.py"
SECONDS = 30.0
"""A test that waits longer has failed."""


@dataclass(frozen=True)
class Served:
    """The server, its host with the port, and a client."""

    server: ConsoleServer
    host: str
    client: aiohttp.ClientSession
    close: Callable[[], "asyncio.Task[None]"]

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @property
    def page(self) -> str:
        return f"{self.origin}/{TOKEN}/"

    @asynccontextmanager
    async def console(
        self, query: str = "", origin: str = "", headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """The websocket of a page."""
        given = {"Origin": origin or self.origin, **(headers or {})}
        async with self.client.ws_connect(f"{self.page}console{query}", headers=given) as opened:
            yield opened


@asynccontextmanager
async def serving(
    mood: str = "good",
    *,
    limit: int = 4,
    wait_seconds: float = SECONDS,
    patience: float | None = None,
    mark: Path = Path(os.devnull),
) -> AsyncIterator[Served]:
    """A server whose consoles are played in this mood; at the end nothing of it runs."""
    command = ConsoleCommand((sys.executable, str(PLAYED), mood, str(mark)), dict(os.environ), patience)
    server = ConsoleServer(command, load_page("a <title>"), TOKEN, limit=limit, wait_seconds=wait_seconds)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        runner = await server.listen(listening)
        async with aiohttp.ClientSession() as client, asyncio.timeout(SECONDS):
            host = f"127.0.0.1:{listening.getsockname()[1]}"
            try:
                yield Served(server, host, client, lambda: asyncio.create_task(server.close(runner)))
            finally:
                server.kill_consoles()
                await server.close(runner)


async def read_until(console: aiohttp.ClientWebSocketResponse, text: str) -> str:
    """The text that the terminal of a page was sent, once it holds ``text``; fails where the page is closed before."""
    seen = ""
    while text not in seen:
        message = await console.receive(SECONDS)
        assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (message, seen)
        if message.type is aiohttp.WSMsgType.BINARY:
            seen += message.data.decode()
    return seen


async def read_to_end(console: aiohttp.ClientWebSocketResponse) -> str:
    """Everything that the terminal of a page is sent until it is closed by the server."""
    return "".join([message.data.decode() async for message in console if message.type is aiohttp.WSMsgType.BINARY])
