"""Serves the console in a browser, on loopback."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import ENDINGS, db_option, open_store
from benchconsole.console.cli.open import BROWSER_DRIVER
from benchconsole.console.exits import BadInput, complain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchconsole.console.web.console_process import ConsoleCommand
    from benchconsole.console.web.server import ConsoleServer

LOOKING_SECONDS = 10.0
"""How long a console that only looks may take to end; one that may act takes as long as it needs."""


@click.command("web")
@click.argument("session", default="last")
@db_option
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--address", default="127.0.0.1", show_default=True, help="Another address of the loopback interface.")
@click.option(
    "--pages", type=click.IntRange(1, 64), default=4, show_default=True, help="Pages that may be open at once."
)
@click.option("--allow-actions", is_flag=True, help="Let pages run, change and write; without it they only look.")
def command(session: str, db: Path | None, port: int, address: str, pages: int, allow_actions: bool) -> None:
    """Serve the console of a stored session (id, label, last, last-1) to a browser on this machine.

    Each page that is opened is a console of its own, as "open SESSION --read-only" shows it, and ends when the page is
    closed. The address that is printed holds a secret: whoever has it and can reach the port sees the session.
    From another machine: ssh -L 8000:127.0.0.1:8000 THIS-MACHINE, then open the address there. Ctrl-C ends all pages.
    """
    from benchconsole.console.web.page_files import load_page

    page = load_page(f"{session} - benchconsole")
    listening = _listen(address, port)
    with listening:
        with open_store(db, create=False) as store:
            key = store.find_session(session)
        from benchconsole.console.web.access import make_token
        from benchconsole.console.web.server import ConsoleServer

        console = make_console_command(key, db, os.environ, allow_actions=allow_actions)
        token = make_token()
        server = ConsoleServer(console, page, token, limit=pages)
        found = asyncio.run(_serve(server, listening, token, allow_actions=allow_actions))
    raise click.exceptions.Exit(found)


def _listen(address: str, port: int) -> socket.socket:
    """A socket that waits for browsers of this machine; BadInput for an address that others reach, or a port in use."""
    from benchconsole.console.web.access import is_loopback

    if not is_loopback(address):
        raise BadInput(
            f"benchconsole: --address {address} is no address of the loopback interface, and the page is for this "
            f"machine alone. From another machine: ssh -L {port or 8000}:127.0.0.1:{port or 8000} THIS-MACHINE, "
            "then open the printed address there"
        )
    numeric = "127.0.0.1" if address.lower() == "localhost" else address
    try:
        family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
        return socket.create_server((numeric, port), family=family)
    except OSError as error:
        why = error.strerror if error.errno is None else os.strerror(error.errno)
        raise BadInput(f"benchconsole: --port {port} at {numeric}: {why}; --port 0 takes a free one") from error


def make_console_command(
    key: str, db: Path | None, environment: "Mapping[str, str]", *, allow_actions: bool
) -> "ConsoleCommand":
    """The command that opens the console of a page, in words that no shell reads.

    ``key`` is the id of the session: a name such as ``last`` could be that of a file in the folder we are in.
    """
    from benchconsole.console.web.console_process import ConsoleCommand

    context = click.get_current_context(silent=True)
    before = context.find_root().params if context is not None else {}
    words = (
        *(sys.executable, "-P", "-m", "benchconsole.console.cli"),  # -P: nothing is imported from the folder we are in
        *(("--safe-mode",) if before.get("safe_mode") else ()),
        *((f"--log={before['log']}",) if before.get("log") else ()),
        "open",
        *(() if allow_actions else ("--read-only",)),
        *(() if db is None else (f"--db={db}",)),
        *("--", key),
    )
    screen = {
        "TEXTUAL_DRIVER": BROWSER_DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONUTF8": "1",  # a browser shows UTF-8, whatever the locale of this terminal
    }
    return ConsoleCommand(words, {**environment, **screen}, None if allow_actions else LOOKING_SECONDS)


async def _serve(server: "ConsoleServer", listening: socket.socket, token: str, *, allow_actions: bool) -> int:
    """Answer until a signal comes; the exit code. A second signal waits for no console."""
    caught: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(number: int) -> None:
        if caught.done():
            server.kill_consoles()
            return
        caught.set_result(number)
        if server.consoles:
            complain("ending the consoles of all pages; once more ends them at once")

    for number in ENDINGS:
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    runner = await server.listen(listening)
    address, port = listening.getsockname()[:2]
    host = f"[{address}]" if ":" in address else address
    click.echo(f"http://{host}:{port}/{token}/")
    complain("whoever has this address can look at the session" + (" and act on its nodes" if allow_actions else ""))
    complain(f"from another machine: ssh -L {port}:{host}:{port} {socket.gethostname()}; ctrl-c ends all pages")
    signalled = await caught
    await server.close(runner)
    return ENDINGS[signal.Signals(signalled)]
