"""``web``: what it refuses, and real consoles behind real pages, each of which ends with its page or with the server."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import click
import pyte
import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command as benchconsole
from benchconsole.console.cli import web
from benchconsole.console.cli.open import BROWSER_DRIVER, has_screen
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.store.errors import StoreError
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from tests.console.cli.test_compare import measure
from tests.console.web.serving import SECONDS, read_until
from tests.lab.host import Identity, wait_for
from tests.scenarios.commands import argv
from tests.scenarios.commands import benchconsole as run_command
from tests.scenarios.test_judging_trials import Site

HOSTILE = 'it\'s $(touch planted); --db=x `id` "s".db'
"""The name of a database file. It is data."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one session."""
    site = Site(tmp_path_factory.mktemp("web"))
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    return (site.folder / "s.db").rename(site.folder / HOSTILE)


@dataclass(frozen=True)
class Started:
    """A ``web`` that runs, and the address that it printed."""

    process: "subprocess.Popen[str]"
    address: str

    def consoles(self) -> list[Identity]:
        """Its consoles that run."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        found = (Identity.of(int(pid)) for pid in children)
        return [each for each in found if each is not None and each.alive()]

    @asynccontextmanager
    async def page(self) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A page, once its console has drawn."""
        async with self.opened() as page:
            await read_until(page, "READ-ONLY")
            yield page

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A page whose console begins."""
        origin = self.address.rpartition("/")[0].rpartition("/")[0]
        address = f"{self.address}console?width=120&height=40"
        async with aiohttp.ClientSession() as client, client.ws_connect(address, headers={"Origin": origin}) as opened:
            yield opened


class Screen:
    """The screen of a page, as a terminal of its size draws it."""

    def __init__(self, page: aiohttp.ClientWebSocketResponse) -> None:
        self._page = page
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)

    async def press(self, text: str) -> None:
        await self._page.send_json(["stdin", text])

    async def wait(self, holds: Callable[[str], bool]) -> None:
        """Draw what comes until something holds of the screen."""
        try:
            async with asyncio.timeout(SECONDS):
                while not holds("\n".join(self._screen.display)):
                    self._stream.feed(await self._page.receive_bytes())
        except TimeoutError as error:
            raise AssertionError("\n".join(self._screen.display)) from error


@contextmanager
def started(db: Path, folder: Path, *options: str) -> Iterator[Started]:
    """``web`` on a free port; killed at the end, where it still runs."""
    process = subprocess.Popen(
        argv("web", "before", "--port", "0", "--db", db, *options), cwd=folder, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            yield Started(process, process.stdout.readline().strip())
        finally:
            process.kill()


def list_names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name not in ("cache", "data", "state")]


def await_end(consoles: list[Identity]) -> None:
    wait_for(lambda: not any(each.alive() for each in consoles), SECONDS, "the end of the consoles")


async def test_a_page_that_is_closed_ends_its_process(db: Path, tmp_path: Path) -> None:
    with started(db, tmp_path) as running:
        async with running.page(), running.page() as second:
            found = running.consoles()
            assert len(found) == 2
            assert all(os.getpgid(each.pid) == each.pid for each in found), "ctrl-c is for the server alone"
            await second.close()
            wait_for(lambda: len(running.consoles()) == 1, SECONDS, "the end of one console")
        await_end(found)
        assert running.process.poll() is None
        assert list_names(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, Exit.INTERRUPTED), (signal.SIGTERM, Exit.TERMINATED), (signal.SIGHUP, Exit.HUNG_UP)],
)
async def test_a_signal_ends_all_consoles(db: Path, tmp_path: Path, number: signal.Signals, code: Exit) -> None:
    with started(db, tmp_path) as running:
        async with running.page(), running.page() as second:
            found = running.consoles()
            running.process.send_signal(number)
            async for _ in second:
                pass
        assert running.process.wait(SECONDS) == code
        assert len(found) == 2
        assert not any(each.alive() for each in found)


async def test_a_run_that_was_begun_on_a_page_is_stopped_when_the_page_is_closed(tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    async with SimulatedCluster("healthy", tmp_path / "cluster") as cluster:
        first = ("--only", "inventory", "--label", "before")
        ran = await asyncio.to_thread(run_command, "run", cluster.topology_path, "--db", db, *first)
        assert ran.code == Exit.UNTESTED, ran.err
        with started(db, tmp_path, "--allow-actions") as running:
            async with running.opened() as page:
                screen = Screen(page)
                await screen.wait(lambda shown: "meridian › fabric" in shown)
                await screen.press("3")
                await screen.wait(lambda shown: "R plan a run" in shown)
                await screen.press("R")
                await screen.wait(lambda shown: "enter start" in shown and "being worked out" not in shown)
                await screen.press("\r")
                await screen.wait(lambda shown: "round 2 started" in shown)
                found = running.consoles()
            await asyncio.to_thread(await_end, found)
    with Store.open(db, create=False) as store:
        (session,) = store.list_sessions()
        assert (session.state, session.because) == (SessionState.INTERRUPTED, "cancelled")
        assert session.rounds == 14


@pytest.mark.parametrize("ignored", [False, True])
async def test_a_server_that_is_killed_leaves_no_console(db: Path, tmp_path: Path, ignored: bool) -> None:
    before = signal.signal(
        signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL
    )  # nohup, and children inherit it
    try:
        with started(db, tmp_path) as running:
            async with running.page():
                found = running.consoles()
                running.process.kill()
                await_end(found)
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_the_address_and_no_other_opens_the_page(db: Path, tmp_path: Path) -> None:
    with started(db, tmp_path, "--address", "::1") as running:
        assert running.address.startswith("http://[::1]:")
        async with aiohttp.ClientSession() as client:
            async with client.get(running.address) as answer:
                assert "<title>before - benchconsole</title>" in await answer.text()
            async with client.get(running.address[:-2] + "/") as answer:
                assert answer.status == 403


@pytest.mark.fault("I06")
@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.1", "::", "admin1", ""])
def test_an_address_that_others_reach_is_refused_with_the_way_to_do_it(db: Path, address: str) -> None:
    done = CliRunner().invoke(benchconsole, ["web", "--db", str(db), "--address", address])
    assert isinstance(done.exception, BadInput)
    assert f"--address {address} is no address of the loopback interface" in str(done.exception)
    assert "ssh -L 8000:127.0.0.1:8000" in str(done.exception)


def test_a_port_that_is_taken_is_named_with_the_cure(db: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(benchconsole, ["web", "--db", str(db), "--port", port])
    assert isinstance(done.exception, BadInput)
    assert f"--port {port} at 127.0.0.1: Address already in use; --port 0 takes a free one" in str(done.exception)


def test_a_session_that_is_not_there_is_refused_before_anything_is_served(db: Path) -> None:
    done = CliRunner().invoke(benchconsole, ["web", "befor", "--db", str(db), "--port", "0"])
    assert isinstance(done.exception, StoreError)
    assert "did you mean before?" in str(done.exception)


def test_names_and_paths_are_words_of_their_own_and_no_options() -> None:
    made = web.make_console_command("--help", Path("-x; id"), {"HOME": "/h"}, allow_actions=False)
    assert made.words == (
        *(sys.executable, "-P", "-m", "benchconsole.console.cli"),
        *("open", "--read-only", "--db=-x; id", "--", "--help"),
    )
    assert made.environment["HOME"] == "/h"
    assert made.environment["TEXTUAL_DRIVER"] == BROWSER_DRIVER
    assert made.patience == web.LOOKING_SECONDS


def test_actions_are_allowed_where_that_is_asked_for_alone() -> None:
    made = web.make_console_command("0123abcd", None, {}, allow_actions=True)
    assert made.words[3:] == ("benchconsole.console.cli", "open", "--", "0123abcd")
    assert made.patience is None


def test_the_options_before_the_command_hold_for_consoles_too(tmp_path: Path) -> None:
    context = click.Context(benchconsole)
    context.params = {"safe_mode": True, "log": "-my log"}
    with context:
        made = web.make_console_command("0123abcd", None, {}, allow_actions=False)
    assert made.words[4:8] == ("--safe-mode", "--log=-my log", "open", "--read-only")


@pytest.mark.parametrize(("driver", "is_one"), [(BROWSER_DRIVER, True), ("other:Driver", False), ("", False)])
def test_a_console_without_a_terminal_is_drawn_in_a_browser_alone(
    monkeypatch: pytest.MonkeyPatch, driver: str, is_one: bool
) -> None:
    monkeypatch.setenv("TEXTUAL_DRIVER", driver)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert has_screen() is is_one


def test_the_server_needs_what_the_extra_brings_and_no_other_command_does() -> None:
    code = "import sys; import benchconsole.console.cli.web, benchconsole.console.web.page_files; print({'aiohttp', 'textual_serve', 'textual'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "set()"
