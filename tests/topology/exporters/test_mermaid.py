"""Mermaid: a strict reader, line by line, of the part of a flowchart that is written."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.exporters.diagram import make_diagram
from benchconsole.topology.exporters.mermaid import export
from benchconsole.topology.model.fabric import Fabric
from tests.topology.exporters.drawn import Drawn, same
from tests.topology.exporters.hostile import hostile, large
from tests.topology.wild import MAX_SEED, wild

_STRING = r'"([^"`|;{}<>&%$\\\n]|#\d+;|<br/>)*"'
_BOX = re.compile(rf"(?P<id>b\d+)(?:\[(?P<flat>{_STRING})\]|\[\((?P<drum>{_STRING})\)\])")
_EDGE = re.compile(rf"(?P<a>b\d+) (?P<line>-{{3,}}|-\.+-)(?:\|(?P<label>{_STRING})\|)? (?P<b>b\d+)")
_GROUP = re.compile(rf"subgraph (?P<id>g\d+)\[(?P<label>{_STRING})\]")
_LOOK = re.compile(r"classDef worst stroke-width:4px|class b\d+(?:,b\d+)* worst")
MOST_TEXT = 50_000
"""Characters that Mermaid reads (maxTextSize)."""


def _text(quoted: str | None) -> str:
    """The text that Mermaid shows: its codes for characters last, as it does."""
    if quoted is None:
        return ""
    assert not re.search(r'(?:^"|<br/>)(?:[-+] |\d+\. )', quoted), "would be a list in Markdown"
    return re.sub(r"#(\d+);", lambda code: chr(int(code[1])), quoted[1:-1].replace("<br/>", "\n"))


def _read(text: str) -> Drawn:
    first, *lines = text.removesuffix("\n").split("\n")
    assert first == "flowchart TB"
    drawn = Drawn()
    path: list[str] = []
    for line in map(str.strip, lines):
        if line == "end":
            path.pop()
        elif group := _GROUP.fullmatch(line):
            path.append(group["id"])
            drawn.groups[group["id"]] = _text(group["label"])
        elif box := _BOX.fullmatch(line):
            drawn.box(box["id"], _text(box["flat"] or box["drum"]), tuple(path))
        elif edge := _EDGE.fullmatch(line):
            drawn.edges.append((edge["a"], edge["b"], _text(edge["label"])))
        else:
            assert _LOOK.fullmatch(line), line
    assert path == []
    return drawn


@pytest.mark.parametrize("make", [hostile, large])
def test_it_reads_back_as_what_was_to_be_drawn(make: Callable[[], Fabric]) -> None:
    described = make()
    same(_read(export(described)), make_diagram(described))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, MAX_SEED))
def test_any_fabric_reads_back_and_is_short_enough(seed: int) -> None:
    described = wild(seed, most=80)
    text = export(described)
    assert len(text) < MOST_TEXT
    same(_read(text), make_diagram(described))


def test_a_line_is_as_long_as_the_tiers_it_crosses() -> None:
    described = load_text(
        """\
schema: 1
fabric: lengths
switches: {spine: {role: spine}, leaf: {role: leaf}}
nodes: {n: {}, s: {role: storage}}
links:
  - {from: n, to: leaf, speed: 10 Gb/s, count: 2}
  - {from: leaf, to: spine, speed: 40 Gb/s}
  - {from: s, to: "leaf,spine", speed: 25 Gb/s, bond: active-backup}
storage: {fs: {servers: s}}
""",
        "lengths.yaml",
    )
    assert [line.strip() for line in export(described).splitlines() if re.search(r"-[-.]+", line)] == [
        'b0 ---|"40 Gb/s"| b1',
        'b1 ----|"2 x 10 Gb/s LAG"| b2',
        'b0 -...-|"25 Gb/s<br/>standby<br/>bond active-backup"| b3',
        'b1 ----|"25 Gb/s<br/>bond active-backup"| b3',
        "b3 -.- b4",
    ]
