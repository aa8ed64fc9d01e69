"""``web`` in a real browser: the fabric is drawn, keys work, keys that act are refused, nothing is asked of other hosts."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from benchconsole.console.tui.app.console_app import LOOKS_ONLY
from tests.console.cli.test_compare import measure
from tests.console.cli.test_web import await_end, started
from tests.lab.fixtures import require_browser
from tests.lab.host import wait_for
from tests.scenarios.browser import SECONDS, browsing
from tests.scenarios.test_judging_trials import Site

pytestmark = pytest.mark.lab

OPEN_SOCKET = """
new Promise(resolve => {
  const socket = new WebSocket("%s");
  socket.onopen = () => resolve("opened");
  socket.onerror = () => resolve("refused");
})
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one session of four nodes."""
    require_browser()
    site = Site(tmp_path_factory.mktemp("web"))
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    return site.folder / "s.db"


async def test_the_fabric_is_looked_at_in_a_browser_and_no_order_is_taken(db: Path, tmp_path: Path) -> None:
    with started(db, tmp_path) as running:
        async with browsing(tmp_path) as browser:
            await browser.open(running.address)
            await browser.wait_for_screen("1 Fabric", "nodes 1-4", "READ-ONLY")
            assert await browser.evaluate("document.title") == "before - benchconsole"
            await browser.press("2")
            shown = await browser.wait_for_screen("› nodes", "rows 1 to 4 of 4", "measured")
            assert "repeat" not in shown
            await browser.press("R")
            await browser.wait_for_screen(LOOKS_ONLY)
            await browser.press("y")
            await browser.wait_for_screen("sent the row of", "to the clipboard")
            assert "measured\tn1\tleaf" in await browser.read_clipboard()
            assert {urlsplit(each).netloc for each in browser.asked if not each.startswith("data:")} == {
                urlsplit(running.address).netloc
            }
            assert browser.errors == []
            found = running.consoles()
            assert len(found) == 1
        await_end(found)


async def test_a_console_that_is_left_is_opened_again_with_a_click(db: Path, tmp_path: Path) -> None:
    with started(db, tmp_path) as running:
        async with browsing(tmp_path) as browser:
            await browser.open(running.address)
            await browser.wait_for_screen("READ-ONLY")
            (first,) = running.consoles()
            await browser.press("q")
            await browser.wait_for_page("This console has ended.")
            await_end([first])
            await browser.evaluate("document.getElementById('again').click()")
            await asyncio.to_thread(wait_for, lambda: len(running.consoles()) == 1, SECONDS, "another console")
            await browser.wait_for_screen("READ-ONLY")


async def _answer_foreign(_: web.Request) -> web.Response:
    return web.Response(text="another page")


async def test_what_is_on_the_screen_opens_no_page_and_no_other_page_opens_a_console(db: Path, tmp_path: Path) -> None:
    foreign = web.Application()
    foreign.router.add_get("/", _answer_foreign)
    with started(db, tmp_path) as running:
        async with browsing(tmp_path) as browser, TestServer(foreign, host="127.0.0.1") as other:
            await browser.open(running.address)
            await browser.wait_for_screen("READ-ONLY")
            assert await browser.evaluate("String(window.open('about:blank'))") == "null"
            socket = await browser.evaluate("document.getElementById('terminal').dataset.sessionWebsocketUrl")
            await browser.open(str(other.make_url("/")))
            await browser.wait_for_page("another page")
            assert await browser.evaluate(OPEN_SOCKET % socket) == "refused"
            assert len(running.consoles()) == 1
