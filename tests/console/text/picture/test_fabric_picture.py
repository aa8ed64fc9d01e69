"""The picture of a fabric: two as they are to look, and what holds for any: nothing is lost, no line leads astray."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole import topology
from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.picture.box_layout import PORT, Layout, Place
from benchconsole.console.text.picture.canvas import _JOINTS, Canvas
from benchconsole.console.text.picture.captions import Captions, wrap_caption
from benchconsole.console.text.picture.fabric_picture import _Painter, draw
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.boxes import Box
from benchconsole.topology.outline.fold import make_outline, make_unfolded_outline
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import SMALL, fabric
from tests.topology.exporters.hostile import hostile
from tests.topology.wild import MAX_SEED, wild

DEMO = Path(topology.__file__).parents[1] / "console/simulator/fabric.yaml"
JETSTREAM = Path(topology.__file__).parent / "examples/jetstream.yaml"

SMALL_PICTURE = """\
┌ spine[1-2] ─ ×2 ┐
│ spine switches  │
│ down 160 Gb/s   │
└─┬───────────────┘
  ├───────────────────────────────┐
  │ 2 x 10 Gb/s LAG to each of 2  │
  │ 8 cables, 80 Gb/s             │
┌─┴ leaf[1-2] ───────────── ×2 ┐  │
│ leaf switches                │  │
│ down 80 Gb/s, up 80 Gb/s     │  │
│ 1.00:1 down:up               │  │
└─┬────────────────────────────┘  │
  │                               └─┐
  │ 10 Gb/s to 1 of 2, 4 on each    │ 40 Gb/s to 1 of 2, 1 on each
  │ 8 cables, 80 Gb/s               │ 2 cables, 80 Gb/s
┌─┴ n[1-8] ──────────────── ×8 ┐  ┌─┴ st[1-2] ─────────────── ×2 ┐
│ compute nodes                │  │ storage nodes                │
│ 10 Gb/s each                 │  │ 40 Gb/s each                 │
└──────────────────────────────┘  └──────────────────────────────┘
"""

DEMO_PICTURE = """\
+ spine1 -----------------+                  + spine2 -----------------+
| spine switch, S5232F-ON +==================+ spine switch, S5232F-ON |
| down 1.05 Tb/s          | 2 x 100 Gb/s LAG | down 1 Tb/s             |
+-+-----------------------+ 2 cables         +-+-----------------------+
  |                         200 Gb/s           |
  | +------------------------------------------+
  +-|---------------------------+              |
  | | spine1: 2 x 50 Gb/s LAG   |              |
  | | 16 cables, 800 Gb/s       |              |
  | | spine2: 2 x 50 Gb/s LAG   |              |
  | | 16 cables, 800 Gb/s       |              |
#=+=+ leaf[1-8] ========= x8 #  |              |
# leaf switches, S5248F-ON   #  |              |
# down 3.2 Tb/s, up 1.6 Tb/s #  |              |
# 2.00:1 down:up < worst     #  |              |
#=+==========================#  |              |
  |                             |              +------------------------------------+
  |                             +----+-----------------------+                      |
  | 25 Gb/s to 1 of 8, 16 on each    | 100 Gb/s              | 25 Gb/s              | 100 Gb/s
  | 128 cables, 3.2 Tb/s             | 2 cables, 200 Gb/s    | 2 cables, 50 Gb/s    | 2 cables, 200 Gb/s
+-+ n[001-128] ----------- x128 +  +-+ st[1-2] ----- x2 +  +-+ mgmt[1-2] -- x2 +  +-+ st[3-4] ----- x2 +
| compute nodes                 |  | storage nodes      |  | management nodes  |  | storage nodes      |
| 25 Gb/s each                  |  | 100 Gb/s each      |  | 25 Gb/s each      |  | 100 Gb/s each      |
+-------------------------------+  +--------------------+  +-------------------+  +--------------------+
"""


def _picture(described: Fabric, width: int = 80, *, ascii_only: bool = False) -> str:
    return "\n".join(draw(make_outline(make_tables(described)), width, ascii_only=ascii_only)) + "\n"


def test_a_small_fabric(tmp_path: Path) -> None:
    assert _picture(fabric(tmp_path, SMALL)) == SMALL_PICTURE


def test_the_demo_in_ascii() -> None:
    assert _picture(topology.load(DEMO), 120, ascii_only=True) == DEMO_PICTURE


SIDES = """\
schema: 1
fabric: sides
switches: {ra: {role: core}, rb: {role: core}}
nodes: {"a[1-3]": {}, b1: {}}
links:
  - {from: "a[1-3]", to: ra, speed: 10 Gb/s}
  - {from: b1, to: rb, speed: 10 Gb/s}
  - {from: ra, to: rb, speed: 100 Gb/s, rtt: 50.5 ms, channels: {265: 50 Gb/s, 266: 50 Gb/s}}
"""


def test_a_line_between_two_boxes_of_a_tier_has_its_words_below_it(tmp_path: Path) -> None:
    assert _picture(fabric(tmp_path, SIDES)).split("\n")[:6] == [
        "┌ ra ────────────┐                   ┌ rb ────────────┐",
        "│ core switch    ╞═══════════════════╡ core switch    │",
        "│ down 30 Gb/s   │ 100 Gb/s          │ down 10 Gb/s   │",
        "└─┬──────────────┘ rtt 50.5 ms       └─┬──────────────┘",
        "  │                VLAN 265: 50 Gb/s   │",
        "  │                VLAN 266: 50 Gb/s   │",
    ]


ONE = """\
schema: 1
fabric: one
switches: {sw: {role: leaf}}
nodes: {"n[1-8]": {}}
links: [{from: "n[1-8]", to: sw, speed: 10 Gb/s}]
"""

ONE_PICTURE = """\
┌ sw ────────────┐
│ leaf switch    │
│ down 80 Gb/s   │
└─┬──────────────┘
  │ 10 Gb/s
  │ 8 cables, 80 Gb/s
┌─┴ n[1-8] ───── ×8 ┐
│ compute nodes     │
│ 10 Gb/s each      │
└───────────────────┘
"""

NONE = """\
schema: 1
fabric: none
nodes: {"n[1-8]": {}, s: {role: storage}}
links: []
"""

NONE_PICTURE = """\
┌ n[1-8] ──── ×8 ┐  ┌ s ─────────────┐
│ compute nodes  │  │ storage node   │
│ no cable       │  │ no cable       │
└────────────────┘  └────────────────┘
"""


def test_one_switch_and_none(tmp_path: Path) -> None:
    assert _picture(fabric(tmp_path, ONE)) == ONE_PICTURE
    assert _picture(fabric(tmp_path, NONE)) == NONE_PICTURE


def test_jetstream_at_eighty_columns() -> None:
    lines = _picture(topology.load(JETSTREAM)).split("\n")
    picture = "\n".join(lines)
    for words in (
        "8.38:1 down:up ◂ worst",
        "4.00:1 down:up",
        "2.00:1 down:up",
        "= 3 x 40 Gb/s LAG between the two",
        "MLAG pairs vlt[01-20]",
        "2 x 40 Gb/s LAG to 1 of 5, 8 on each",
        "10 Gb/s to 2 of 40, 16",
        "640 cables, 6.4 Tb/s",
        "×320",
    ):
        assert words in picture, words
    heavy = [line for line in lines if "┏" in line]
    assert heavy == ["┏━┷ spine[1-2] ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ ×2 ┓"]


def test_parts_without_a_cable_and_devices_that_differ_are_said(tmp_path: Path) -> None:
    islands = 'schema: 1\nfabric: two\nswitches: {"sw[1-2]": {role: leaf}}\nnodes: {n1: {}, n2: {}}\nlinks: [{from: n1, to: sw1, speed: 1 Gb/s}, {from: n2, to: sw2, speed: 1 Gb/s}]\n'
    assert _picture(fabric(tmp_path, islands)).endswith("\n\n2 parts that no cable joins.\n")
    uneven = ["schema: 1", "fabric: uneven", 'switches: {"leaf[1-20]": {role: leaf}}']
    nodes = [f'"r{rack}n[1-{rack}]": {{}}' for rack in range(1, 21)]
    links = [f"  - {{from: 'r{rack}n[1-{rack}]', to: leaf{rack}, speed: 10 Gb/s}}" for rack in range(1, 21)]
    text = "\n".join([*uneven, f"nodes: {{{', '.join(nodes)}}}", "links:", *links, ""])
    picture = _picture(fabric(tmp_path, text))
    assert "│ not all alike" in picture
    assert "10 Gb/s to 1 of 20, 1-20 on each" in picture
    assert "\nRanges are least to most: " in picture


def test_a_name_that_does_not_fit_goes_on_and_keeps_its_number(tmp_path: Path) -> None:
    names = ",".join(f"host-{letter * 9}" for letter in "abcdefghijklmnop")
    text = f'schema: 1\nfabric: long\nswitches: {{sw: {{role: leaf}}}}\nnodes: {{"{names}": {{}}}}\nlinks: [{{from: "{names}", to: sw, speed: 10 Gb/s}}]\n'
    lines = _picture(fabric(tmp_path, text)).split("\n")
    at = next(index for index, line in enumerate(lines) if "×16" in line)
    assert lines[at + 1 : at + 4] == [
        "│ host-aaaaaaaaa,host-bbbbbbbbb,host-ccccccccc,        │",
        "│ host-ddddddddd,host-eeeeeeeee,host-fffffffff,        │",
        "│ host-ggggggggg,host-hhhhhhhhh,host-iiiiiiiii,host-j… │",
    ]


def test_text_of_a_file_is_only_text() -> None:
    for ascii_only in (False, True):
        picture = _picture(hostile(), 100, ascii_only=ascii_only)
        assert all(line.isprintable() for line in picture.split("\n"))
        assert max(map(measure_width, picture.split("\n"))) <= 100
        assert not ascii_only or picture.isascii()


@pytest.mark.parametrize("width", [20, 60])
def test_narrower_than_sixty_is_drawn_for_sixty(tmp_path: Path, width: int) -> None:
    assert _picture(fabric(tmp_path, SMALL), width) == _picture(fabric(tmp_path, SMALL), 60)


def test_wrapping_keeps_quantities_together_and_breaks_sets_at_commas() -> None:
    assert wrap_caption("2 x 40 Gb/s LAG to each of 2", 12) == ["2 x 40 Gb/s", "LAG to each", "of 2"]
    assert wrap_caption("a[01-02,05-07],b[1-2]", 10) == ["a[01-02,", "05-07],", "b[1-2]"]
    assert wrap_caption("abcdefgh", 3) == ["abc", "def", "gh"]
    assert wrap_caption("", 9) == [""]


class _Seen(_Painter):
    """A painter that remembers where it put each box."""

    def __init__(self, canvas: Canvas, captions: Captions, layout: Layout) -> None:
        super().__init__(canvas, captions, layout)
        self.boxes: dict[str, tuple[Place, int, int]] = {}

    def _box(self, place: Place, box: Box, row: int) -> int:
        height = super()._box(place, box, row)
        self.boxes[box.id] = (place, row, row + height - 1)
        return height


def _reached(lines: Sequence[str], hooks: Mapping[tuple[int, int], str], row: int, column: int) -> set[str]:
    """The boxes that the line reaches which leaves downward at a place: followed sign by sign, over crossings."""
    ways = {sign: strokes for strokes, sign in _JOINTS.items() if strokes not in (1, 2, 4, 8)}
    steps = {1: (-1, 0, 2), 2: (1, 0, 1), 4: (0, -1, 8), 8: (0, 1, 4)}
    found: set[str] = set()
    seen: set[tuple[int, int, int]] = set()
    open_ = [(row, column, 2)]
    while open_:
        row, column, way = open_.pop()
        down, right, back = steps[way]
        row, column = row + down, column + right
        if (row, column, way) in seen:
            continue
        seen.add((row, column, way))
        sign = lines[row][column]
        if (row, column) in hooks:
            assert (sign in "┴┷", way) == (True, 2)
            found.add(hooks[row, column])
        elif sign == "│" and way in (4, 8):
            open_.append((row, column, way))  # a crossing
        else:
            assert ways[sign] & back, (row, column, sign)
            open_ += [(row, column, each) for each in steps if ways[sign] & each and each != back]
    return found


@settings(max_examples=150, deadline=None)
@given(st.integers(0, MAX_SEED), st.sampled_from([60, 80, 120, 200]), st.booleans())
def test_every_line_leads_where_the_cables_lead(seed: int, width: int, fold: bool) -> None:
    described = wild(seed, most=40 if fold else 8)
    drawn = make_outline(make_tables(described)) if fold else make_unfolded_outline(make_tables(described))
    canvas, captions = Canvas(), Captions(drawn)
    painter = _Seen(canvas, captions, Layout(captions, width))
    assume(painter.layout.fits)
    painter.paint()
    lines = [line.ljust(width + 1) for line in canvas.lines()]
    hooks = {(first, at): id_ for id_, (place, first, _) in painter.boxes.items() for at in place.hooks}
    shown: Counter[frozenset[str]] = Counter()
    for id_, (place, first, last) in painter.boxes.items():
        if place.goes_on:
            shown.update(frozenset((id_, other)) for other in _reached(lines, hooks, last, place.x + PORT))
        # Two devices that stand apart in one row are named in both boxes.
        shown.update(frozenset((id_, other)) for other in place.apart if id_ < other)
        if place.aside:
            left = next(each for each, (other, *_) in painter.boxes.items() if _beside(other, place, painter, first))
            shown[frozenset((left, id_))] += 1
    assert shown == Counter({frozenset((edge.lower, edge.upper)) for edge in drawn.edges if not edge.inside})


def _beside(left: Place, right: Place, painter: _Seen, row: int) -> bool:
    """Whether the double line at the left of a box ends at the other."""
    return painter.boxes[left.net][1] == row and left.x + left.width + right.gap == right.x


@settings(max_examples=100, deadline=None)
@given(st.integers(0, MAX_SEED), st.sampled_from([60, 80, 120, 200]))
def test_nothing_is_wider_than_asked_and_no_number_is_lost(seed: int, width: int) -> None:
    drawn = make_outline(make_tables(wild(seed)))
    lines = draw(drawn, width)
    assert max(map(measure_width, lines)) <= width
    picture = "\n".join(lines)
    for edge in drawn.edges:
        assert all(part in picture for part in edge.totals.split(", "))
    for box in drawn.boxes:
        assert box.count == 1 or f" ×{box.count:,} " in picture
        assert all(part in picture for word in box.carried for part in re.split(", | to ", word))


def test_more_lines_than_fit_are_words(tmp_path: Path) -> None:
    switches = ", ".join(f"s{number}: {{role: leaf, model: m{number}}}" for number in range(12))
    nodes = ", ".join(f"n{number}: {{}}" for number in range(12))
    links = "".join(
        f"  - {{from: n{node}, to: s{switch}, speed: {1 + node * 12 + switch} Gb/s}}\n"
        for node in range(12)
        for switch in range(12)
    )
    text = f"schema: 1\nfabric: mesh\nswitches: {{{switches}}}\nnodes: {{{nodes}}}\nlinks:\n{links}"
    described = fabric(tmp_path, text)
    picture = _picture(described, 60)
    assert max(map(measure_width, picture.split("\n"))) <= 60
    assert all(
        f"= to s{switch}: {1 + node * 12 + switch} Gb/s" in picture for node in range(12) for switch in range(12)
    )
    assert picture.endswith("\n\nMore lines than fit into this width: each box names what it\nis joined to.\n")
