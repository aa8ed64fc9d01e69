"""A plan leaves nothing behind but itself: no reference cycle keeps what was made on the way to it."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchconsole.console.cli.common import read_topology
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.store import Store
from tests.fabrics import SMALL

FILE = f"""{SMALL.replace("{role: compute}", "{class: blade}")}\
    - {{probe: iperf3, design: permutation, streams: 4}}
    - {{probe: fio}}
classes:
  blade: {{facts: {{"fs.available mount=/data": ">= 3 TB"}}}}
"""


@pytest.fixture
def collected() -> Iterator[list[object]]:
    """The objects that the search for cycles finds, filled by ``gc.collect``."""
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def list_ours(found: list[object]) -> list[str]:
    names = {f"{type(each).__module__}.{type(each).__qualname__}" for each in found}
    return sorted(name for name in names if name.startswith("benchconsole."))


def test_reading_and_planning_leave_no_cycle(tmp_path: Path, collected: list[object]) -> None:
    file = tmp_path / "cycles.yaml"
    file.write_text(FILE)
    probes = load_probes().probes
    with Store.open(tmp_path / "sessions.db") as store:
        session = Session(read_topology(file, probes), probes, store, SessionChoice())
        assert len(session.propose()) > 6
        gc.collect()
        assert list_ours(collected) == []
