"""Choice of the drawing that fits: cards, one rack a line, several racks a line, or blocks of many racks."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from benchconsole.console.tui.fabric_map.blocks import block_lines, blocks_of, choose_grid, draw_caption
from benchconsole.console.tui.fabric_map.cards import choose_cards
from benchconsole.console.tui.fabric_map.map_cells import BLANK_LINE, CellSpacing, MapLine, MapPicture
from benchconsole.console.tui.fabric_map.pairs import TIGHT, choose_pairs, pair_lines
from benchconsole.console.tui.fabric_map.rack_rows import (
    MapColumns,
    choose_columns,
    draw_rack,
    draw_rack_heading,
    draw_rack_note,
    rack_spots,
)
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack
from benchconsole.console.tui.fabric_map.tiers import lines_above, lines_below, servers_at
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import FAINT, MUTED
from benchconsole.console.view.run_view import RunView, State
from benchconsole.topology.model.fabric import Fabric

MOST_ROWS = 48
_WIDE = 160


class MapFrame(Struct, frozen=True):
    """The lines above and below the racks, with the blank lines that set them apart."""

    above: tuple[MapLine, ...]
    below: tuple[MapLine, ...]

    @property
    def height(self) -> int:
        return len(self.around([]))

    def around(self, racks: list[MapLine], *, tight: bool = False) -> list[MapLine]:
        """Everything, with a blank line between the regions unless it is ``tight``."""
        made: list[MapLine] = []
        for region in (self.above, racks, self.below):
            made += [BLANK_LINE] if made and region and not tight else []
            made += region
        return made


def _frame(fabric: Fabric, shape: FabricShape, width: int, cells_at: int, spacing: CellSpacing) -> MapFrame:
    below = lines_below(fabric, shape, width, cells_at, spacing)
    return MapFrame(tuple(lines_above(fabric, shape, width)), tuple(below))


def lay_out_map(
    fabric: Fabric, shape: FabricShape, width: int, height: int, *, fold: int = 0, passing: frozenset[str] = frozenset()
) -> list[MapLine]:
    """The richest drawing that fits, else the one that loses least; racks named in ``passing`` may be folded."""
    if len(shape.racks) > MOST_ROWS:
        return _blocks(fabric, shape, width, height, fold)
    columns = choose_columns(fabric, shape, width)
    spaced = columns is not None and columns.spacing.fold == 1
    cards = None
    if width >= _WIDE or shape.mixed or not spaced:
        cards = _cards(fabric, shape, width, height)
    if cards is not None:
        return cards
    if columns is None:
        return _blocks(fabric, shape, width, height, fold)
    return _rows(fabric, shape, columns, width, height, passing)


def count_map_lines(fabric: Fabric, shape: FabricShape, width: int) -> int:
    """Lines of the whole map with one rack a line and nothing folded; 1000 where that is not how it is drawn."""
    columns = choose_columns(fabric, shape, width) if len(shape.racks) <= MOST_ROWS else None
    if columns is None:
        return 1000
    return len(_row_lines(fabric, shape, columns, width))


class MapHeight:
    """How many lines maps take that ``lay_out`` makes; the last one is laid out once."""

    def __init__(self, lay_out: Callable[..., list[MapLine]] | None = None) -> None:
        self._lay_out = lay_out or lay_out_map
        self._laid_out: tuple[tuple[FabricShape, int, int], int] | None = None

    def count(self, fabric: Fabric, shape: FabricShape, width: int, height: int) -> int:
        """Their number."""
        key = (shape, width, height)
        if self._laid_out is None or self._laid_out[0] != key:
            self._laid_out = (key, len(self._lay_out(fabric, shape, width, height)))
        return self._laid_out[1]


def is_passed(view: RunView, rack: Rack) -> bool:
    """Whether every node and every uplink of a rack passed: then it may be folded away."""
    nodes = (view.nodes.get(node) for node in rack.nodes)
    links = (view.links.get(link.id) for link in rack.uplinks)
    return all(seen is not None and seen.state is State.PASS for seen in nodes) and all(
        seen is None or seen.state in (State.PASS, State.SKIPPED) for seen in links
    )


def _cards(fabric: Fabric, shape: FabricShape, width: int, height: int) -> list[MapLine] | None:
    if not shape.racks:
        return None
    frame = _frame(fabric, shape, width, servers_at(shape, width), CellSpacing())
    cards = choose_cards(fabric, shape, width, height - frame.height - (1 if frame.height else 0))
    if cards is None:
        return None
    roomy = _add_numbers(fabric, shape, frame, width) if width >= _WIDE and shape.servers else frame
    frame = roomy if len(roomy.around(cards)) <= height else frame
    wired = _add_wires(shape, frame, width) if width >= _WIDE else frame
    return (wired if len(wired.around(cards)) <= height else frame).around(cards)


def _add_wires(shape: FabricShape, frame: MapFrame, width: int) -> MapFrame:
    """The frame with the spines as wires above the cards."""
    from benchconsole.console.tui.fabric_map.spine_wires import list_spine_wires  # here: few maps have room for it

    wires = list_spine_wires(shape, width)
    return MapFrame((*frame.above, BLANK_LINE, *wires), frame.below) if wires else frame


def _add_numbers(fabric: Fabric, shape: FabricShape, frame: MapFrame, width: int) -> MapFrame:
    """The frame with a card of its number for each node in no rack; as it is where these have more to say."""
    from benchconsole.console.tui.fabric_map.node_cards import list_server_lines  # here: few maps have room for it

    cards = list_server_lines(fabric, shape.servers, width, servers_at(shape, width))
    planes = frame.below[len(frame.below) - len(shape.planes) :]
    return frame if cards is None else MapFrame(frame.above, (*cards, *planes))


def _rows(
    fabric: Fabric, shape: FabricShape, columns: MapColumns, width: int, height: int, passing: frozenset[str]
) -> list[MapLine]:
    for loose in (True, False):
        lines = _row_lines(fabric, shape, columns, width, loose=loose, notes=loose and width >= _WIDE)
        if len(lines) <= height:
            return lines
    pairs = choose_pairs(fabric, shape, width)
    if pairs is not None:
        cells_at = max(pairs.x(0) + pairs.name + 1, 22)
        several = _frame(fabric, shape, width, cells_at, TIGHT).around(list(pair_lines(pairs)))
        if len(several) <= height:
            return several
    return _row_lines(fabric, shape, columns, width, passing=passing) if passing else lines


def _row_lines(
    fabric: Fabric, shape: FabricShape, columns: MapColumns, width: int, *,
    loose: bool = False, notes: bool = False, passing: frozenset[str] = frozenset(),
) -> list[MapLine]:  # fmt: skip
    lines: list[MapLine] = [MapLine(partial(draw_rack_heading, columns), is_live=True)] if shape.racks else []
    for group in shape.groups:
        shown = [rack for rack in group.racks if rack.name not in passing]
        for place, rack in enumerate(shown):
            spots = rack_spots(columns, rack, place, group)
            lines.append(MapLine(partial(draw_rack, columns, rack, group, place, spots), spots, is_live=True))
            if loose:
                lines.append(MapLine(partial(draw_rack_note, columns, rack)) if notes else BLANK_LINE)
    if passing:
        names = [rack.name for rack in shape.racks if rack.name in passing]
        lines.append(MapLine(partial(_draw_folded, names)))
    if loose and lines and lines[-1] is BLANK_LINE:
        lines.pop()
    frame = _frame(fabric, shape, width, columns.cells_at, columns.spacing)
    return frame.around(lines, tight=bool(passing))


def _blocks(fabric: Fabric, shape: FabricShape, width: int, height: int, fold: int) -> list[MapLine]:
    above = lines_above(fabric, shape, width)
    grid = None
    if shape.racks:
        below = len(shape.servers) + len(shape.planes)
        room = height - (len(above) + 1 if above else 0) - (below + 1 if below else 0) - 2
        grid = choose_grid(blocks_of(shape), width, room, fold)
    spacing = CellSpacing(0, 0, grid.spacing.fold) if grid is not None else CellSpacing()
    frame = _frame(fabric, shape, width, servers_at(shape, width), spacing)
    if grid is None:
        return frame.around([])
    fold = grid.spacing.fold
    return [*frame.around(block_lines(grid)), BLANK_LINE, MapLine(partial(draw_caption, fold), fold=fold)]


def _draw_folded(names: Sequence[str], _picture: MapPicture, width: int) -> Row:
    """Racks that pass, in one line: ``leaf1 leaf2 leaf4 to leaf8 all pass``."""
    text = " ".join(names) if len(names) < 6 else f"{names[0]} to {names[-1]}, {len(names)}"
    return CellLine(width).to(1).put("· ", FAINT).put(f"{text} all pass", MUTED).row()
