"""Places on the map that can be chosen, and runs of cells around the cursor."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from benchconsole.console.tui.queries.view_queries import LowestShares, find_link, find_shown_state
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, sign, sign_tone
from benchconsole.console.tui.rows.themes import ACCENT, FAINT, MUTED, TEXT, Ground, Ink, Tone
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, RunView, State, worst
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.model.fabric import Link, LinkId, NodeId, SwitchId

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.heat_values import HeatValues
    from benchconsole.console.tui.queries.node_numbers import WorstNumbers
    from benchconsole.console.view.link_loads import LinkLoads

_RUNNING_CELL = Tone(Ink.RUNNING_CELL)
_FOLDED_PASS = Tone(Ink.FAINT)
HEAT_TONES = (MUTED, Tone(Ink.RAMP5), Tone(Ink.RAMP6), Tone(Ink.RAMP7), Tone(Ink.RAMP8))
"""The shades of a heat map, calm to worst: each reads on its ground as text, for the sign alone carries the value."""


class CellContent(StrEnum):
    """The content of the cells of nodes."""

    STATES = "states"
    SHARES = "shares of expected"
    LOADS = "loads"
    HEAT = "heat"


def find_next_content(here: CellContent, *, is_live: bool) -> CellContent:
    """The content after ``here``; loads only while tests tell them; states after a heat map."""
    every = [CellContent.STATES, CellContent.SHARES, *([CellContent.LOADS] if is_live else [])]
    return every[(every.index(here) + 1) % len(every)] if here in every else CellContent.STATES


class MapSpot(NamedTuple):
    """Something that the cursor can stand on: nodes that share a cell, links that share slots, switches by name."""

    x: int
    width: int
    nodes: tuple[NodeId, ...] = ()
    links: tuple[LinkId, ...] = ()
    switches: tuple[SwitchId, ...] = ()

    def holds(self, other: "MapMark | None") -> bool:
        """Whether the cursor is here."""
        if other is None:
            return False
        return other.node in self.nodes or other.link in self.links or other.switch in self.switches

    @property
    def marks(self) -> Iterator["MapMark"]:
        yield from (MapMark(node=node) for node in self.nodes)
        yield from (MapMark(link=link) for link in self.links)
        yield from (MapMark(switch=switch) for switch in self.switches)


class MapMark(NamedTuple):
    """The place of the cursor, by name, so that it survives another layout. One of the three."""

    node: NodeId | None = None
    link: LinkId | None = None
    switch: SwitchId | None = None


class MapPicture(Struct, frozen=True):
    """Everything that a line of the map is drawn from. ``loads`` are there while tests of a round tell numbers.

    ``heat`` is what a heat map shows, None until it is read; ``numbers`` are the worst of each node, where they are
    drawn. ``matched`` are the nodes that a filter keeps, None without one.
    """

    view: RunView
    mark: MapMark | None = None
    content: CellContent = CellContent.STATES
    faint: bool = False
    shares: LowestShares = field(default_factory=lambda: LowestShares(Blame()))
    busy: frozenset[NodeId] = frozenset()
    loads: "LinkLoads | None" = None
    heat: "HeatValues | None" = None
    numbers: "WorstNumbers | None" = None
    matched: frozenset[NodeId] | None = None

    def leaves_out(self, node: NodeId) -> bool:
        """Whether a filter leaves a node out."""
        return self.matched is not None and node not in self.matched


class MapLine(Struct, frozen=True):
    """One line: what draws it into so many columns, and what the cursor can stand on, from left to right.

    ``heads`` are names of blocks, which stay in sight; ``fold`` says of a caption how many nodes share a cell.
    ``is_live``: it shows loads of links also where its cells show states. ``has_numbers``: it tells those of nodes.
    """

    draw: Callable[[MapPicture, int], Row]
    spots: Sequence[MapSpot] = ()
    heads: bool = False
    fold: int = 0
    is_live: bool = False
    has_numbers: bool = False


MarkIds = tuple[NodeId | None, LinkId | None, SwitchId | None]
"""A ``MapMark`` as a plain tuple, to which it is equal; it is made in a thirtieth of the time."""


def find_places(lines: Iterable[MapLine]) -> dict[MarkIds, tuple[int, int]]:
    """The first place of everything that can be marked: its line, and its spot among those of the line."""
    places: dict[MarkIds, tuple[int, int]] = {}
    for number, line in enumerate(lines):
        for index, spot in enumerate(line.spots):
            place = number, index
            for node in spot.nodes:
                places.setdefault((node, None, None), place)
            for link in spot.links:
                places.setdefault((None, link, None), place)
            for switch in spot.switches:
                places.setdefault((None, None, switch), place)
    return places


BLANK_LINE = MapLine(lambda _picture, _width: ())


class CellSpacing(NamedTuple):
    """How far cells stand apart: ``gap`` between them, ``extra`` more after every fourth; ``fold`` nodes a cell."""

    gap: int = 1
    extra: int = 1
    fold: int = 1

    def x(self, index: int) -> int:
        """Column of cell ``index``."""
        return index * (1 + self.gap) + (index // 4) * self.extra

    def cells(self, count: int) -> int:
        """How many cells ``count`` nodes take."""
        return -(-count // self.fold)

    def width(self, count: int) -> int:
        """Columns that ``count`` nodes take."""
        return self.x(self.cells(count) - 1) + 1 if count else 0


def node_spots(nodes: Sequence[NodeId], x: int, spacing: CellSpacing) -> tuple[MapSpot, ...]:
    """Where the cells of ``nodes`` are when the first one is at ``x``."""
    return tuple(
        MapSpot(x + spacing.x(index), 1, tuple(nodes[index * spacing.fold : (index + 1) * spacing.fold]))
        for index in range(spacing.cells(len(nodes)))
    )


def cell(picture: MapPicture, nodes: Sequence[NodeId]) -> CellText:
    """One cell: the worst of its nodes, as a state or as a value; until a heat map is read, as a state.

    It is blank where a filter keeps none of them.
    """
    if picture.matched is not None:
        nodes = [node for node in nodes if node in picture.matched]
        if not nodes:
            return _LEFT_OUT
    if picture.content is CellContent.HEAT and picture.heat is not None:
        return _heat_cell(picture.heat, nodes)
    seen = [picture.view.nodes.get(node) for node in nodes]
    if picture.content is CellContent.SHARES:
        return _value_cell(picture.shares, [node for node in seen if node is not None])
    if picture.content is CellContent.LOADS:
        return _load_cell(picture, nodes)
    state = worst(State.SKIPPED if node is None else find_shown_state(node, picture.busy) for node in seen)
    if state is State.RUNNING:
        return CellText(SIGNS[state].glyph, _RUNNING_CELL)
    if state is State.PASS and picture.faint:
        return CellText(SIGNS[state].glyph, _FOLDED_PASS)
    return CellText(SIGNS[state].glyph, sign_tone(state))


def _load_cell(picture: MapPicture, nodes: Sequence[NodeId]) -> CellText:
    """The fullest link of the nodes now, in the direction in which it is fuller."""
    if picture.loads is None:
        return link_glyphs.tenths(None)
    return link_glyphs.tenths(picture.loads.find_fuller(chain(*map(picture.view.fabric.legs, nodes))))


def _heat_cell(heat: "HeatValues", nodes: Sequence[NodeId]) -> CellText:
    """The worst value of the nodes. A node that fails or cannot be asked stays recognisable by its tone or sign."""
    found, state, values, severe = None, None, heat.cells, heat.severe
    for node in nodes:
        value = values.get(node)
        if value is not None and (found is None or value.odd > found.odd):
            found = value
        if node in severe and state is not State.FAIL:
            state = severe[node]
    if state is not None and (found is None or state is State.UNREACHABLE):
        return sign(state)
    if found is None:
        return _NO_VALUE
    return _draw_heat(found.sign, found.shade if state is None else -1)


_NO_VALUE = CellText("–", FAINT)
_LEFT_OUT = CellText(" ", TEXT)


@cache
def _draw_heat(character: str, shade: int) -> CellText:
    """A sign in its shade; -1 is that of a node that fails."""
    return CellText(character, sign_tone(State.FAIL) if shade < 0 else HEAT_TONES[shade])


_HIDDEN_BY_A_VALUE = (State.FAIL, State.WATCH, State.UNKNOWN)
"""States that a full value would hide: a node may reach every rate and lack half of its memory."""


def _value_cell(shares: LowestShares, nodes: Sequence[NodeView]) -> CellText:
    lowest: float | None = None
    for node in nodes:
        if node.state is State.UNREACHABLE:
            return CellText(SIGNS[State.UNREACHABLE].glyph, sign_tone(State.UNREACHABLE))
        value = shares.find(node)
        if value is not None and (lowest is None or value < lowest):
            lowest = value
    if nodes and (lowest is None or link_glyphs.step(lowest) == 0):
        state = worst(node.state for node in nodes)
        if state in _HIDDEN_BY_A_VALUE:
            return CellText(SIGNS[state].glyph, sign_tone(state))
    return link_glyphs.ramp(lowest)


def cells(picture: MapPicture, spots: Sequence[MapSpot], origin: int, width: int) -> Row:
    """Cells at their places in ``width`` columns from ``origin``; the cursor in brackets where there is room."""
    characters, tones = [" "] * width, [TEXT] * width
    chosen = None
    for spot in spots:
        at = spot.x - origin
        if not 0 <= at < width:
            continue
        characters[at], tones[at] = cell(picture, spot.nodes)
        if spot.holds(picture.mark):
            chosen = at
    if chosen is not None:
        _bracket(characters, tones, chosen)
    return joined(characters, tones)


def _bracket(characters: list[str], tones: list[Tone], at: int) -> None:
    left, right = at - 1, at + 1
    open_left = left >= 0 and characters[left] == " "
    open_right = right < len(characters) and characters[right] == " "
    if open_left and open_right:
        characters[left], characters[right] = "[", "]"
        tones[left] = tones[right] = ACCENT
    else:
        tone = tones[at]
        tones[at] = tone if tone.ground is Ground.FILL else Tone(Ink.BRIGHT, Ground.SEL, bold=True)
        for side, mark, is_open in ((left, "[", open_left), (right, "]", open_right)):
            if is_open:
                characters[side], tones[side] = mark, ACCENT


def joined(characters: Sequence[str], tones: Sequence[Tone]) -> Row:
    """Single cells as pieces; blanks go with the piece before them."""
    made: list[list[str]] = []
    kinds: list[Tone] = []
    for character, tone in zip(characters, tones, strict=True):
        if made and (kinds[-1] == tone or (character == " " and kinds[-1].ground is tone.ground)):
            made[-1].append(character)
        else:
            made.append([character])
            kinds.append(tone)
    return tuple(CellText("".join(text), tone) for text, tone in zip(made, kinds, strict=True))


def slots_of(view: RunView, link: Link) -> Row:
    """The members of a link as they stand."""
    seen = find_link(view, link.id)
    return link_glyphs.slots(link.count, link.count if seen.members_up is None else seen.members_up, seen.state)


def bracketed(line: CellLine, x: int, width: int, slots: Row, mark: MapMark | None, links: Sequence[Link]) -> None:
    """Slots at the left of their column, in brackets when the cursor is on one of ``links``."""
    inner = row_width(slots)
    if mark is not None and any(link.id == mark.link for link in links):
        line.to(x - 1).put("[", ACCENT).extend(slots).put("]", ACCENT)
    else:
        line.to(x).extend(slots)
        if inner < width:
            line.to(x + width)


def named(line: CellLine, spot: MapSpot, text: str, tone: Tone, mark: MapMark | None) -> None:
    """The name of switches, in brackets when the cursor is on one of them; a column is free at either side."""
    if spot.holds(mark):
        line.to(spot.x - 1).put("[", ACCENT).put(text, tone._replace(ink=Ink.BRIGHT, bold=True)).put("]", ACCENT)
    else:
        line.to(spot.x).put(text, tone)
