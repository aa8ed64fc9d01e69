"""The map of many racks: a block of rows for each group, a row for each rack, cells without gaps."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import (
    BLANK_LINE,
    CellContent,
    CellSpacing,
    MapLine,
    MapPicture,
    MapSpot,
    cells,
    node_spots,
)
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack, RackGroup
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, sign
from benchconsole.console.tui.rows.themes import ACCENT, BRIGHT, FAIL_CELL, MUTED, SLOT, TEXT, WATCH
from benchconsole.console.view.run_view import NodeView, State, worst
from benchconsole.topology.model.fabric import NodeId

MOST_ROWS = 32
FOLDS = (1, 2, 4, 8, 16)
_LABEL = 6


class RackBlock(Struct, frozen=True):
    """Racks that stand in one column block, under one heading; ``shorter`` are names for where that does not fit."""

    name: str
    racks: tuple[Rack, ...]
    shorter: tuple[str, ...] = ()

    def called(self, room: int) -> str:
        """The longest name that fits, cut where none does."""
        every = (self.name, *self.shorter)
        return next((name for name in every if measure_width(name) <= room), clip_text(every[-1], room))

    @property
    def most(self) -> int:
        """Nodes in the largest rack."""
        return max(len(rack.nodes) for rack in self.racks)


def blocks_of(shape: FabricShape) -> tuple[RackBlock, ...]:
    """One block a group; a group of too many racks is cut into several."""
    made: list[RackBlock] = []
    for group in shape.groups:
        made += _cut(group)
    return tuple(made)


def _cut(group: RackGroup) -> Iterator[RackBlock]:
    for start in range(0, len(group.racks), MOST_ROWS):
        some = group.racks[start : start + MOST_ROWS]
        whole = len(group.racks) <= MOST_ROWS and group.name
        names = (group.name,) if whole else _spans(some[0].name, some[-1].name)
        yield RackBlock(sanitize(names[0]), some, tuple(map(sanitize, names[1:])))


def _spans(first: str, last: str) -> tuple[str, ...]:
    """``leaf001 to leaf032``, and where names differ in their number only ``leaf001-032`` and ``001-032``."""
    if first == last:
        return (first,)
    full, stem = f"{first} to {last}", first.rstrip("0123456789")
    if stem == first or not last.startswith(stem) or not last[len(stem) :].isdigit():
        return (full,)
    return (full, f"{first}-{last[len(stem) :]}", f"{first[len(stem) :]}-{last[len(stem) :]}")


class BlockGrid(Struct, frozen=True):
    """How blocks are set side by side: ``across`` of them, each ``width`` wide, ``spacing`` folds nodes."""

    blocks: tuple[RackBlock, ...]
    spacing: CellSpacing
    across: int
    width: int

    @property
    def bands(self) -> tuple[tuple[RackBlock, ...], ...]:
        return tuple(self.blocks[i : i + self.across] for i in range(0, len(self.blocks), self.across))

    @property
    def height(self) -> int:
        return sum(2 + max(len(block.racks) for block in band) for band in self.bands) - 1

    def x(self, place: int) -> int:
        return _LABEL + place * self.width


def choose_grid(blocks: tuple[RackBlock, ...], width: int, height: int, fold: int = 0) -> BlockGrid:
    """The smallest number of nodes per cell with which everything fits; ``fold`` fixes it."""
    most = max([block.most for block in blocks], default=1)
    made = [_grid(blocks, most, width, candidate) for candidate in ((fold,) if fold else FOLDS)]
    legible = [grid for grid in made if grid.spacing.cells(most) >= 4] or made
    fits = next((grid for grid in legible if grid.height <= height), None)
    return fits or min(legible, key=lambda grid: grid.height)


def _grid(blocks: tuple[RackBlock, ...], most: int, width: int, fold: int) -> BlockGrid:
    spacing = CellSpacing(0, 0, fold)
    wide = max(spacing.width(most) + 3, 7)
    return BlockGrid(blocks, spacing, max(min((width - _LABEL) // wide, len(blocks)), 1), wide)


class BlockStates:
    """How many nodes of each block of a band are in which state.

    They are counted anew when nodes have changed. Ten times a second only those that are tested now are added.
    """

    def __init__(self, band: Sequence[RackBlock]) -> None:
        self._band = band
        self._nodes: Mapping[NodeId, NodeView] | None = None
        self._counts: list[Counter[State]] = []
        self._quiet: dict[NodeId, int] = {}

    def count(self, picture: MapPicture) -> list[Counter[State]]:
        """The states of each block as they are drawn: a node that is tested runs, unless worse is known of it."""
        if self._nodes is not picture.view.nodes:
            self._count_nodes(picture.view.nodes)
        found = [Counter(each) for each in self._counts]
        for place, tested in Counter(map(self._quiet.get, picture.busy)).items():
            if place is not None:
                found[place][State.RUNNING] += tested
        return found

    def _count_nodes(self, nodes: Mapping[NodeId, NodeView]) -> None:
        self._nodes, self._counts, self._quiet = nodes, [], {}
        for place, block in enumerate(self._band):
            counted: Counter[State] = Counter()
            for node in (node for rack in block.racks for node in rack.nodes):
                seen = nodes.get(node)
                if seen is not None and seen.state.rank > State.RUNNING.rank:
                    self._quiet[node] = place
                elif seen is not None:
                    counted[seen.state] += 1
            self._counts.append(counted)


def _draw_heads(
    grid: BlockGrid, band: tuple[RackBlock, ...], states: BlockStates, picture: MapPicture, width: int
) -> Row:
    """Names of the blocks of one band, each with what is wrong in it: ``p06 ✗ 1 ▯ 1``: what is zero is not said."""
    line = CellLine(width)
    counts = states.count(picture)
    for place, block in enumerate(band):
        inner = CellLine(grid.width - 1)
        tally = _tally(picture, block, counts[place])
        if row_width(tally) + 4 > inner.width:
            tally = tally[:1]
        room = inner.width - sum(measure_width(piece.text) for piece in tally) - 1
        inner.put(block.called(max(room, 4)), BRIGHT if tally else MUTED)
        if tally:
            inner.put(" ").extend(tally)
        line.to(grid.x(place)).extend(inner.row())
    return line.row()


def _tally(picture: MapPicture, block: RackBlock, counts: Mapping[State, int]) -> Row:
    made: list[CellText] = []
    for state in (State.FAIL, State.UNREACHABLE, State.RUNNING):
        if counts.get(state):
            mark = sign(state)
            made += [CellText(mark.text, mark.tone), CellText(f" {counts[state]:,} ", TEXT)]
    lost = view_queries.find_lost_members(picture.view)
    bad = sum(1 for rack in block.racks for link in rack.uplinks if link.id in lost)
    if bad:
        made += [CellText("▯", WATCH), CellText(f" {bad}", TEXT)]
    return tuple(made)


def _draw_row(
    grid: BlockGrid,
    racks: tuple[tuple[int, Rack], ...],
    number: int,
    spots: Sequence[MapSpot],
    picture: MapPicture,
    width: int,
) -> Row:
    """The same row of every block of a band."""
    line = CellLine(width)
    line.to(1).put(f"{number:>3}" if number % 4 == 0 or number == 1 else "", MUTED)
    by_node = [spot for spot in spots if spot.nodes]
    for place, rack in racks:
        x = grid.x(place)
        span = grid.spacing.width(len(rack.nodes))
        mine = [spot for spot in by_node if x <= spot.x < x + span]
        origin = max(line.at, x - 1)
        line.to(origin).extend(cells(picture, mine, origin, x + span - origin))
        line.extend(_slot(picture, rack))
    return line.row()


def _slot(picture: MapPicture, rack: Rack) -> Row:
    states = [view_queries.find_link(picture.view, link.id).state for link in rack.uplinks]
    state = worst(states) if states else State.PASS
    mark = picture.mark
    marked = mark is not None and (mark.switch in rack.switches or mark.link in {link.id for link in rack.uplinks})
    slot = CellText("▯", FAIL_CELL if state is State.FAIL else WATCH)
    if state not in (State.FAIL, State.WATCH):
        slot = CellText("▮", SLOT)
        if picture.content is CellContent.LOADS and rack.uplinks:
            slot = link_glyphs.tenths(None if picture.loads is None else picture.loads.find_fuller(rack.uplinks))
        elif not marked:
            return ()
    return (CellText("[", ACCENT), slot, CellText("]", ACCENT)) if marked else (CellText(" "), slot)


def block_lines(grid: BlockGrid) -> list[MapLine]:
    """Every line of the grid."""
    made: list[MapLine] = []
    for band in grid.bands:
        if made:
            made.append(BLANK_LINE)
        made.append(MapLine(partial(_draw_heads, grid, band, BlockStates(band)), heads=True))
        for index in range(max(len(block.racks) for block in band)):
            racks = tuple((place, block.racks[index]) for place, block in enumerate(band) if index < len(block.racks))
            spots = [spot for place, rack in racks for spot in _spots(grid, place, rack)]
            made.append(MapLine(partial(_draw_row, grid, racks, index + 1, spots), spots))
    return made


def _spots(grid: BlockGrid, place: int, rack: Rack) -> Sequence[MapSpot]:
    x = grid.x(place)
    made = list(node_spots(rack.nodes, x, grid.spacing))
    slot = x + grid.spacing.width(len(rack.nodes)) + 1
    made.append(MapSpot(slot, 1, links=tuple(link.id for link in rack.uplinks), switches=rack.switches))
    return made


def describe_fold(fold: int, picture: MapPicture) -> str:
    """How many nodes share a cell."""
    heat = picture.heat if picture.content is CellContent.HEAT else None
    shown = "the worst" if heat is None else heat.worst_word
    return "1 cell = 1 node" if fold == 1 else f"1 cell = {fold} nodes, {shown} is shown"


def draw_caption(fold: int, picture: MapPicture, width: int) -> Row:
    """The meaning of one cell."""
    text = f"{describe_fold(fold, picture)}   row = switch, ▯ after a row = an uplink is not whole"
    return CellLine(width).to(1).put(text, MUTED).row()
