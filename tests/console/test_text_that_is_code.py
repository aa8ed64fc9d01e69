"""Text that templates, formats, SQL or a browser would act on: kept and shown letter by letter, and never followed."""

import html
import io
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.console.reports import FORMATS, render
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import SessionEnded
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.console.reports import fixture
from tests.console.reports.test_every_format import OPTIONS
from tests.console.tui.looking import looking
from tests.console.tui.test_hostile import poisoned, walk
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES, PlayedReach

CODE = "{{7*7}} {0.__class__} %s %(x)d {x!r} __import__('os') $(id)"
SQL = "x'); DROP TABLE result; --"

AS_WRITTEN: dict[str, Callable[[str], str]] = {
    "html": html.unescape,
    "md": lambda text: html.unescape(text).replace("\\", ""),
    "json": lambda text: json.dumps(json.loads(text), ensure_ascii=False),
    "csv": str,
    "text": str,
}
"""Format to what takes its own escapes back."""


@pytest.mark.fault("I04")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_report_shows_code_as_it_was_told(kind: str) -> None:
    out = io.StringIO()
    render(kind, fixture.poisoned(CODE), out, OPTIONS)
    assert CODE in AS_WRITTEN[kind](out.getvalue())


@pytest.mark.fault("I04")
async def test_the_screen_shows_code_as_it_was_told() -> None:
    async with looking(poisoned(CODE)) as look:
        assert all(CODE in line for line in (look.lines[1], look.lines[3]))


@pytest.mark.fault("I04")
async def test_sql_in_a_label_is_a_label(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with Store.open(path) as store:
        session = Session(
            fabric(tmp_path, SMALL), PROBES, store, SessionChoice(label=SQL), make_reach=lambda *_: PlayedReach()
        )
        session.start(session.propose())
        async for event in session.live():
            if isinstance(event, SessionEnded):
                break
        assert [each.label for each in store.list_sessions()] == [SQL]
    with closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM result").fetchone()[0] > 0


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Somebody who waits to be connected to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.mark.fault("I11")
async def test_an_address_in_a_text_is_connected_to_by_no_screen_and_no_report(listener: socket.socket) -> None:
    place = "{}:{}".format(*listener.getsockname())
    text = f"http://{place}/x [link](http://{place}) <img src=http://{place}/y> {place}"
    async with looking(poisoned(text)) as look:
        assert any(place in seen for seen in await walk(look))
    for kind in FORMATS:
        render(kind, fixture.poisoned(text), io.StringIO(), OPTIONS)
    with pytest.raises(BlockingIOError):
        listener.accept()
    with socket.create_connection(listener.getsockname()):
        listener.accept()[0].close()  # a connection would have been seen
