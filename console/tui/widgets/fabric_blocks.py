"""Owns the map of many racks: a block of rows for each group, a row for each rack, cells without gaps."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from console.tui import reading
from console.tui.drawing import (
    ACCENT,
    BRIGHT,
    FAIL_CELL,
    MUTED,
    SLOT,
    TEXT,
    WATCH,
    Line,
    Piece,
    Row,
    clip,
    row_width,
    sign,
    width_of,
)
from console.tui.shape import Group, Rack, Shape
from console.tui.widgets.spots import Picture, Spacing, Spot, cells, node_spots
from console.view import State, worst
from console.wording import plain

MOST_ROWS = 32
FOLDS = (1, 2, 4, 8, 16)
_LABEL = 6


@dataclass(frozen=True, slots=True)
class Block:
    """Racks that stand in one column block, under one heading; ``shorter`` are names for where that does not fit."""

    name: str
    racks: tuple[Rack, ...]
    shorter: tuple[str, ...] = ()

    def called(self, room: int) -> str:
        """The longest name that fits, cut where none does."""
        every = (self.name, *self.shorter)
        return next((name for name in every if width_of(name) <= room), clip(every[-1], room))

    @property
    def most(self) -> int:
        """Nodes in the largest rack."""
        return max(len(rack.nodes) for rack in self.racks)


def blocks_of(shape: Shape) -> tuple[Block, ...]:
    """One block a group; a group of too many racks is cut into several."""
    made: list[Block] = []
    for group in shape.groups:
        made += _cut(group)
    return tuple(made)


def _cut(group: Group) -> Iterator[Block]:
    for start in range(0, len(group.racks), MOST_ROWS):
        some = group.racks[start : start + MOST_ROWS]
        whole = len(group.racks) <= MOST_ROWS and group.name
        names = (group.name,) if whole else _spans(some[0].name, some[-1].name)
        yield Block(plain(names[0]), some, tuple(map(plain, names[1:])))


def _spans(first: str, last: str) -> tuple[str, ...]:
    """``leaf001 to leaf032``, and where names differ in their number only ``leaf001-032`` and ``001-032``."""
    if first == last:
        return (first,)
    full, stem = f"{first} to {last}", first.rstrip("0123456789")
    if stem == first or not last.startswith(stem) or not last[len(stem) :].isdigit():
        return (full,)
    return (full, f"{first}-{last[len(stem) :]}", f"{first[len(stem) :]}-{last[len(stem) :]}")


@dataclass(frozen=True, slots=True)
class Grid:
    """How blocks are set side by side: ``across`` of them, each ``width`` wide, ``spacing`` folds nodes."""

    blocks: tuple[Block, ...]
    spacing: Spacing
    across: int
    width: int

    @property
    def bands(self) -> tuple[tuple[Block, ...], ...]:
        """Rows of blocks."""
        return tuple(self.blocks[i : i + self.across] for i in range(0, len(self.blocks), self.across))

    @property
    def height(self) -> int:
        """Lines that all bands take."""
        return sum(2 + max(len(block.racks) for block in band) for band in self.bands) - 1

    def x(self, place: int) -> int:
        """Column of block ``place`` of a band."""
        return _LABEL + place * self.width


def choose_grid(blocks: tuple[Block, ...], width: int, height: int, fold: int = 0) -> Grid:
    """The smallest number of nodes per cell with which everything fits; ``fold`` fixes it."""
    most = max([block.most for block in blocks], default=1)
    made = [_grid(blocks, most, width, candidate) for candidate in ((fold,) if fold else FOLDS)]
    legible = [grid for grid in made if grid.spacing.cells(most) >= 4] or made
    fits = next((grid for grid in legible if grid.height <= height), None)
    return fits or min(legible, key=lambda grid: grid.height)


def _grid(blocks: tuple[Block, ...], most: int, width: int, fold: int) -> Grid:
    spacing = Spacing(0, 0, fold)
    wide = max(spacing.width(most) + 3, 7)
    return Grid(blocks, spacing, max(min((width - _LABEL) // wide, len(blocks)), 1), wide)


@dataclass(frozen=True, slots=True)
class BlockHeads:
    """Names of the blocks of one band, each with what is wrong in it."""

    grid: Grid
    band: tuple[Block, ...]
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """``p06 ✗ 1 ▯ 1``: what is zero is not said."""
        line = Line(width)
        for place, block in enumerate(self.band):
            inner = Line(self.grid.width - 1)
            tally = _tally(picture, block)
            if row_width(tally) + 4 > inner.width:
                tally = tally[:1]
            room = inner.width - sum(width_of(piece.text) for piece in tally) - 1
            inner.put(block.called(max(room, 4)), BRIGHT if tally else MUTED)
            if tally:
                inner.put(" ").extend(tally)
            line.to(self.grid.x(place)).extend(inner.row())
        return line.row()


def _tally(picture: Picture, block: Block) -> Row:
    made: list[Piece] = []
    found = (picture.view.nodes.get(node) for rack in block.racks for node in rack.nodes)
    counts = Counter(reading.standing(seen, picture.busy) for seen in found if seen is not None)
    for state in (State.FAIL, State.UNREACHABLE, State.RUNNING):
        if counts.get(state):
            mark = sign(state)
            made += [Piece(mark.text, mark.tone), Piece(f" {counts[state]:,} ", TEXT)]
    lost = reading.members(picture.view)
    bad = sum(1 for rack in block.racks for link in rack.uplinks if link.id in lost)
    if bad:
        made += [Piece("▯", WATCH), Piece(f" {bad}", TEXT)]
    return tuple(made)


@dataclass(frozen=True, slots=True)
class BlockRow:
    """The same row of every block of a band."""

    grid: Grid
    racks: tuple[tuple[int, Rack], ...]
    number: int
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """Cells, and after them a slot where an uplink is not whole."""
        line = Line(width)
        line.to(1).put(f"{self.number:>3}" if self.number % 4 == 0 or self.number == 1 else "", MUTED)
        by_node = [spot for spot in self.spots if spot.nodes]
        for place, rack in self.racks:
            x = self.grid.x(place)
            span = self.grid.spacing.width(len(rack.nodes))
            mine = [spot for spot in by_node if x <= spot.x < x + span]
            origin = max(line.at, x - 1)
            line.to(origin).extend(cells(picture, mine, origin, x + span - origin))
            line.extend(self._slot(picture, rack))
        return line.row()

    def _slot(self, picture: Picture, rack: Rack) -> Row:
        states = [reading.link_of(picture.view, link.id).state for link in rack.uplinks]
        state = worst(states) if states else State.PASS
        mark = picture.mark
        marked = mark is not None and (mark.switch in rack.switches or mark.link in {link.id for link in rack.uplinks})
        slot = Piece("▯", FAIL_CELL if state is State.FAIL else WATCH)
        if state not in (State.FAIL, State.WATCH):
            slot = Piece("▮", SLOT)
            if not marked:
                return ()
        return (Piece("[", ACCENT), slot, Piece("]", ACCENT)) if marked else (Piece(" "), slot)


def block_lines(grid: Grid) -> list[BlockHeads | BlockRow | None]:
    """Every line of the grid; None is a blank one."""
    made: list[BlockHeads | BlockRow | None] = []
    for band in grid.bands:
        if made:
            made.append(None)
        made.append(BlockHeads(grid, band))
        for index in range(max(len(block.racks) for block in band)):
            racks = tuple((place, block.racks[index]) for place, block in enumerate(band) if index < len(block.racks))
            spots = [spot for place, rack in racks for spot in _spots(grid, place, rack)]
            made.append(BlockRow(grid, racks, index + 1, tuple(spots)))
    return made


def _spots(grid: Grid, place: int, rack: Rack) -> Sequence[Spot]:
    x = grid.x(place)
    made = list(node_spots(rack.nodes, x, grid.spacing))
    slot = x + grid.spacing.width(len(rack.nodes)) + 1
    made.append(Spot(slot, 1, links=tuple(link.id for link in rack.uplinks), switches=rack.switches))
    return made


@dataclass(frozen=True, slots=True)
class Caption:
    """What one cell stands for."""

    fold: int
    spots: tuple[Spot, ...] = ()

    @property
    def words(self) -> str:
        """How many nodes share a cell."""
        return "1 cell = 1 node" if self.fold == 1 else f"1 cell = {self.fold} nodes, the worst is shown"

    def draw(self, picture: Picture, width: int) -> Row:
        """One muted line."""
        text = f"{self.words}   row = switch, ▯ after a row = an uplink is not whole"
        return Line(width).to(1).put(text, MUTED).row()
