"""The server of pages, with played consoles: whom it refuses, how a page and its console end, how many there may be."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from tests.console.web.serving import SECONDS, read_to_end, read_until, serving
from tests.lab.host import wait_for


async def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, while the server goes on."""
    await asyncio.to_thread(wait_for, holds, SECONDS, "what the test expects")


async def test_a_page_shows_its_console_and_hands_over_keys_and_size() -> None:
    async with serving() as served, served.console("?width=120&height=40") as console:
        await read_until(console, "screen of the console;")
        await console.send_json(["stdin", "ü\x1b[A"])
        await console.send_json(["resize", {"width": 100, "height": 10**9}])
        await console.send_json(["focus"])
        await console.send_json(["blur"])
        seen = await read_until(console, '"blur"}')
        assert seen.startswith('D:ü\x1b[A;M:{"type": "resize", "width": 100, "height": 1000};M:{"type": "focus"};')
        await console.send_json(["ping", "17"])
        assert await console.receive_json() == ["pong", "17"]


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null"])
async def test_a_console_that_another_page_asks_for_is_refused(origin: str) -> None:
    async with serving() as served:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with served.console(origin=origin):
                pass
        assert refused.value.status == 403
        assert served.server.consoles == 0


async def test_a_console_that_no_page_asks_for_is_refused() -> None:
    async with serving() as served:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with served.client.ws_connect(f"{served.page}console"):
                pass
        assert refused.value.status == 403


@pytest.mark.parametrize("name", ["", "console", "static/page.js", "nothing"])
async def test_a_name_that_was_made_to_mean_loopback_is_refused(name: str) -> None:
    async with serving() as served:
        rebound = f"rebound.example:{served.host.rpartition(':')[2]}"
        headers = {"Host": rebound, "Origin": f"http://{rebound}"}
        async with served.client.get(served.page + name, headers=headers) as answer:
            assert answer.status == 403
            assert "loopback only" in await answer.text()


@pytest.mark.fault("I06")
@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/static/page.js", "/static/page.js"])
async def test_without_the_token_nothing_is_served(path: str) -> None:
    async with serving() as served, served.client.get(served.origin + path) as answer:
        assert answer.status == 403
        assert "lacks the token" in await answer.text()


async def test_a_page_that_is_closed_ends_its_console_and_no_other() -> None:
    async with serving() as served, served.console() as kept:
        async with served.console() as closed:
            await read_until(closed, "screen")
            assert served.server.consoles == 2
        await wait_until(lambda: served.server.consoles == 1)
        await kept.send_json(["stdin", "x"])
        await read_until(kept, "D:x;")


async def test_a_console_that_does_not_end_is_killed_when_its_time_is_over() -> None:
    async with serving("stubborn", patience=0.05) as served:
        async with served.console() as console:
            await read_until(console, "screen")
        await wait_until(lambda: served.server.consoles == 0)


async def test_a_console_that_may_act_takes_as_long_as_it_needs_unless_it_is_killed(tmp_path: Path) -> None:
    async with serving("stubborn", patience=None, mark=tmp_path / "asked to end") as served:
        async with served.console() as console:
            await read_until(console, "screen")
        closing = served.close()
        await wait_until((tmp_path / "asked to end").exists)
        assert not closing.done()
        assert served.server.consoles == 1
        served.server.kill_consoles()
        await closing
        assert served.server.consoles == 0


async def test_the_end_of_the_server_closes_every_page_and_ends_every_console() -> None:
    async with serving() as served, served.console() as one, served.console() as two:
        for console in (one, two):
            await read_until(console, "screen")
        closing = served.close()
        for console in (one, two):
            await read_to_end(console)
            assert console.close_code == aiohttp.WSCloseCode.GOING_AWAY
        await closing
        assert served.server.consoles == 0
        with pytest.raises(aiohttp.ClientConnectorError):
            await served.client.get(served.page)


async def test_a_console_that_is_left_closes_its_page() -> None:
    async with serving() as served, served.console() as console:
        await console.send_json(["stdin", "q"])
        assert "exit code" not in await read_to_end(console)
        assert console.close_code == aiohttp.WSCloseCode.OK


async def test_a_console_that_fails_says_why_on_its_page_and_here(capsys: pytest.CaptureFixture[str]) -> None:
    async with serving("fails") as served, served.console() as console:
        seen = await read_to_end(console)
    assert "a console ended with exit code 1" in seen
    assert "no session ␛[31mred" in seen
    assert "printed before" not in seen
    assert "no session ␛[31mred" in capsys.readouterr().err


async def test_a_console_that_writes_no_packets_is_ended() -> None:
    async with serving("garbage") as served, served.console() as console:
        seen = await read_to_end(console)
        assert "the console wrote a packet b'a' of" in seen
        assert "ended by signal 9" in seen
        await wait_until(lambda: served.server.consoles == 0)


async def test_no_more_consoles_run_than_may_and_a_place_that_is_left_is_taken() -> None:
    async with serving(limit=1, wait_seconds=0.05) as served, served.console() as first:
        await read_until(first, "screen")
        async with served.console() as second:
            assert "As many consoles are open as --pages allows (1)" in await read_to_end(second)
            assert second.close_code == aiohttp.WSCloseCode.TRY_AGAIN_LATER
        assert served.server.consoles == 1


async def test_a_page_that_is_opened_anew_waits_for_the_place_of_the_old_one() -> None:
    async with serving(limit=1) as served, served.console() as first:
        await read_until(first, "screen")
        async with served.console() as second:
            await first.close()
            await read_until(second, "screen")


@pytest.mark.parametrize(
    "message", ["", "{", "[]", '["stdin", 1]', '["resize", {"width": "1"}]', '["open"]', "[" * 100_000, '["stdin"]']
)
async def test_a_page_that_sends_anything_else_is_closed(message: str) -> None:
    async with serving() as served, served.console() as console:
        await read_until(console, "screen")
        await console.send_str(message)
        await read_to_end(console)
        assert console.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION


@pytest.mark.parametrize("query", ["?width=x&height=-1", "?width=999999999999&height=0", "?width=²", ""])
async def test_a_size_that_is_none_opens_a_console_all_the_same(query: str) -> None:
    async with serving() as served, served.console(query) as console:
        await read_until(console, "screen")
