"""Cards of nodes on the map: each with its sign, its name, the number that gave it that sign, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import CellContent, MapLine, MapPicture, MapSpot, cell
from benchconsole.console.tui.fabric_map.shape import VIRTUAL, ServerRow
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, set_ground, value_tone
from benchconsole.console.tui.rows.themes import ACCENT, FAINT, MUTED, STRONG, TEXT, Ground
from benchconsole.console.view.run_view import NodeView, State
from benchconsole.topology.model.fabric import Fabric, NodeId

_LONGEST_NAME = 24
_SHARE = 5
_VALUE = 12
_METRIC = 14
_EXPECTED = 15
_LEAST_REASON = 16
"""Columns from which on a card says why a node does not pass."""


@dataclass(frozen=True, slots=True)
class CardGrid:
    """Cards in columns of ``lines``, read from above: a card takes ``width`` columns, a name ``name``.

    The first one begins at the column ``at``, which is free for the cursor.
    """

    width: int
    name: int
    across: int
    lines: int
    at: int = 0

    def x(self, column: int) -> int:
        return self.at + 1 + column * self.width


def choose_grid(nodes: Sequence[NodeId], width: int, height: int) -> CardGrid:
    """The widest cards with which all lines are in sight, else the narrowest that still have a number."""
    name = _find_name_width(nodes)
    least = 2 + name + 2 + _VALUE + 1
    most = max((width - 1) // least, 1)
    for across in range(1, most + 1):
        lines = -(-len(nodes) // across)
        if lines <= height or across == most:
            break
    return CardGrid(max((width - 1) // across, 1), name, across, lines)


def _find_name_width(nodes: Sequence[NodeId]) -> int:
    return min(max((measure_width(sanitize(node)) for node in nodes), default=1), _LONGEST_NAME)


def list_card_lines(nodes: Sequence[NodeId], grid: CardGrid) -> Iterator[MapLine]:
    """The lines of a grid of ``nodes``."""
    for spots in _place_cards(nodes, grid):
        yield MapLine(partial(_draw_cards, grid, spots), spots, has_numbers=True)


def _place_cards(nodes: Sequence[NodeId], grid: CardGrid) -> Iterator[tuple[MapSpot, ...]]:
    for index in range(grid.lines):
        places = (column * grid.lines + index for column in range(grid.across))
        yield tuple(
            MapSpot(grid.x(column), 1, (nodes[place],)) for column, place in enumerate(places) if place < len(nodes)
        )


# -- nodes in no rack


def list_server_lines(fabric: Fabric, rows: Sequence[ServerRow], width: int, at: int) -> list[MapLine] | None:
    """Cards of nodes in no rack, each row behind its name; None where a row has more to say than its numbers.

    That are rows of virtual machines, of nodes that forward, and of those without a cable.
    """
    nodes = [node for row in rows for node in row.nodes]
    if any(row.kind == VIRTUAL for row in rows) or any(
        fabric.nodes[node].forwards or not fabric.legs(node) for node in nodes
    ):
        return None
    name, room = _find_name_width(nodes), width - at - 1
    across = min(
        room // (2 + name + 2 + _METRIC + _VALUE + _SHARE + 2), max((len(row.nodes) for row in rows), default=0)
    )
    if across < 1:
        return None
    made: list[MapLine] = []
    for row in rows:
        grid = CardGrid(room // across, name, across, -(-len(row.nodes) // across), at - 1)
        for index, spots in enumerate(_place_cards(row.nodes, grid)):
            title = "" if index else sanitize(row.name)
            made.append(MapLine(partial(_draw_titled, title, grid, spots), spots, has_numbers=True))
    return made


def _draw_titled(title: str, grid: CardGrid, spots: Sequence[MapSpot], picture: MapPicture, width: int) -> Row:
    line = CellLine(width).to(1).put(clip_text(title, max(grid.at - 1, 0)), MUTED)
    return line.extend(_draw_cards(grid, spots, picture, width, line.at)).row()


# -- one card


def _draw_cards(grid: CardGrid, spots: Sequence[MapSpot], picture: MapPicture, width: int, at: int = 0) -> Row:
    """Cards side by side, from the column ``at`` on."""
    line = CellLine(width - at)
    for spot in spots:
        line.to(spot.x - 1 - at).extend(_draw_card(grid, spot, picture))
    return line.row()


def _draw_card(grid: CardGrid, spot: MapSpot, picture: MapPicture) -> Row:
    """``✗ n050  throughput   2.97 Gb/s  30 %``, one column of it before the sign, for the cursor."""
    node = spot.nodes[0]
    seen = picture.view.nodes.get(node)
    is_here = spot.holds(picture.mark)
    card = CellLine(grid.width).put("[" if is_here else " ", ACCENT).extend((cell(picture, spot.nodes),))
    card.put("]" if is_here else " ", ACCENT)
    state = State.SKIPPED if seen is None else view_queries.find_shown_state(seen, picture.busy)
    if picture.leaves_out(node):
        return card.put(clip_text(sanitize(node), grid.name), FAINT).row()
    card.put(clip_text(sanitize(node), grid.name), STRONG if is_here else TEXT, grid.name).put("  ")
    made = card.extend(_draw_value(node, seen, state, picture, card.room - 1)).row()
    return set_ground(made, Ground.SEL) if is_here else made


def _draw_value(node: NodeId, seen: NodeView | None, state: State, picture: MapPicture, room: int) -> Row:
    """The value of the heat map, else the worst of the node; why it has none."""
    tone = value_tone(state) if state not in (State.PASS, State.UNKNOWN, State.SKIPPED) else MUTED
    if picture.content is CellContent.HEAT and picture.heat is not None:
        return (CellText(clip_text(picture.heat.format_value(node), room), MUTED),)
    if seen is None or picture.numbers is None:
        return ()
    said = picture.numbers.describe(seen)
    line = CellLine(max(room, 0))
    if not said.metric:
        return line.put(clip_text(said.why, line.room), tone).row()
    if line.room >= _METRIC + _VALUE + _SHARE:
        line.put(clip_text(said.metric, _METRIC - 1), MUTED, _METRIC)
    line.put(said.value, tone, max(min(_VALUE - 1, line.room), measure_width(said.value)), ">")
    if line.room >= _EXPECTED + _SHARE + _LEAST_REASON and said.expected:
        line.put(f" of {said.expected}", MUTED, _EXPECTED)
    if line.room > _SHARE and said.share:
        line.put(said.share, tone, _SHARE + 1, ">")
    if line.room >= _LEAST_REASON and said.why:
        line.put("  ").put(clip_text(said.why, line.room), MUTED)
    return line.row()
