"""D2: a strict reader, line by line, of the part of the language that is written."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.exporters.d2 import export
from benchconsole.topology.exporters.diagram import make_diagram
from benchconsole.topology.model.fabric import Fabric
from tests.topology.exporters.drawn import Drawn, same
from tests.topology.exporters.hostile import hostile, large
from tests.topology.wild import MAX_SEED, wild

_STRING = r'"(?:[^"\\$\n]|\\["\\$n])*"'
_BOX = re.compile(rf"(?P<id>b\d+): (?P<label>{_STRING})(?P<style> {{(?:shape: cylinder|style\.stroke-width: 4)}})?")
_GROUP = re.compile(rf"(?P<id>g\d+): (?P<label>{_STRING}) {{")
_PATH = r"(?:g\d+\.)*b\d+"
_STYLE = r"{style\.stroke-dash: 4}"
_EDGE = re.compile(rf"(?P<a>{_PATH}) -- (?P<b>{_PATH})(?:: (?P<label>{_STRING})(?: {_STYLE})?|: {_STYLE})?")


def _text(quoted: str | None) -> str:
    """The text that D2 reads: in a double-quoted string a backslash makes the next sign plain, except ``n``."""
    return "" if quoted is None else re.sub(r"\\(.)", lambda sign: "\n" if sign[1] == "n" else sign[1], quoted[1:-1])


def _read(text: str) -> Drawn:
    comment, direction, *lines = text.removesuffix("\n").split("\n")
    assert comment.startswith("# ")
    assert direction == "direction: down"
    drawn = Drawn()
    path: list[str] = []
    ends: list[tuple[str, ...]] = []
    for line in map(str.strip, lines):
        if line == "}":
            path.pop()
        elif group := _GROUP.fullmatch(line):
            path.append(group["id"])
            drawn.groups[group["id"]] = _text(group["label"])
        elif box := _BOX.fullmatch(line):
            drawn.box(box["id"], _text(box["label"]), tuple(path))
        else:
            edge = _EDGE.fullmatch(line)
            assert edge is not None, line
            ends += [tuple(edge[end].split(".")) for end in "ab"]
            drawn.edges.append((ends[-2][-1], ends[-1][-1], _text(edge["label"])))
    assert path == []
    # A path that leads elsewhere would make a second box of the same name.
    assert all(drawn.within[box] == tuple(around) for *around, box in ends)
    return drawn


@pytest.mark.parametrize("make", [hostile, large])
def test_it_reads_back_as_what_was_to_be_drawn(make: Callable[[], Fabric]) -> None:
    described = make()
    same(_read(export(described)), make_diagram(described))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, MAX_SEED))
def test_any_fabric_reads_back(seed: int) -> None:
    described = wild(seed, most=80)
    same(_read(export(described)), make_diagram(described))


def test_edges_lead_into_groups() -> None:
    assert 'g0.b1 -- g0.b3: "10 Gb/s\\n120 cables, 1.2 Tb/s"\n' in export(large())
