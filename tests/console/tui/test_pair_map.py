"""The map of pairs: its cells and means, how it is walked, and what a cell opens."""

import re

import pytest

from benchconsole.console.tui.queries.matrix import MOST_NODES, Place
from benchconsole.console.tui.queries.pair_matrix import PairMatrix, list_pair_rows, make_pair_matrix
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.pair_map import PairMapScreen
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView, State
from tests.console.tui.looking import Look, faulty, healthy, looking


def view() -> RunView:
    story = faulty()
    return advance_all(RunView(story.fabric), story.events())


def read_matrix(within: Place | None = None) -> PairMatrix:
    seen = view()
    return make_pair_matrix(seen, list_pair_rows(seen, within), within)


def find_worst() -> Place:
    """The cell that is worst, from the whole matrix."""
    cells = read_matrix().cells
    return min(cells, key=lambda place: (cells[place].state.rank, cells[place].low or 0.0))


async def pair_map(look: Look) -> PairMapScreen:
    await look.press("colon", *"pairs", "enter")
    await look.press("v")
    screen = look.app.screen
    assert isinstance(screen, PairMapScreen)
    return screen


def test_many_nodes_are_grouped_by_switch_and_every_pair_is_in_one_cell() -> None:
    matrix = read_matrix()
    assert matrix.is_grouped
    assert len(matrix.sources) < MOST_NODES
    assert list(matrix.sources)[:3] == ["leaf1", "leaf2", "leaf3"]
    pairs = sum(cell.pairs for cell in matrix.cells.values())
    assert pairs == sum(cell.pairs for cell in matrix.by_source.values())
    assert pairs == sum(cell.pairs for cell in matrix.by_sink.values())


def test_the_nodes_behind_a_cell_are_the_pairs_of_that_cell() -> None:
    whole = read_matrix()
    place = min(whole.cells, key=lambda each: whole.cells[each].low or 1.0)
    part = read_matrix(place)
    assert not part.is_grouped
    assert sum(cell.pairs for cell in part.cells.values()) == whole.cells[place].pairs
    assert min(cell.low or 1.0 for cell in part.cells.values()) == whole.cells[place].low
    assert State.FAIL in {cell.state for cell in part.cells.values()}


def test_a_mean_is_that_of_its_row() -> None:
    matrix = read_matrix(("leaf4", "leaf4"))
    for source in matrix.sources:
        row = [(cell.mean, cell.pairs) for (sender, _), cell in matrix.cells.items() if sender == source]
        whole = sum((mean or 0.0) * pairs for mean, pairs in row) / sum(pairs for _, pairs in row)
        assert matrix.by_source[source].mean == pytest.approx(whole)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_cursor_begins_on_the_worst_cell_and_what_it_holds_is_told(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        screen = await pair_map(look)
        assert screen.map.place == find_worst()
        assert f"{' to '.join(find_worst())}: fail" in look.lines[-2]
        assert "by switch" in look.lines[-2]
        assert all(len(line) <= size[0] for line in look.lines)


async def test_names_of_receivers_lie_in_one_row_where_all_fit_and_stand_upright_elsewhere() -> None:
    async with looking(faulty(), (120, 40)) as look:
        screen = await pair_map(look)
        assert screen.map.matrix is not None
        sinks = screen.map.matrix.sinks
        head = next(line for line in look.lines if sinks[0] in line and sinks[-1] in line)
        assert head.split() == [*sinks, "mean"]
        mean = next(line for line in look.lines if line.startswith(" mean"))
        ends = [at.end() for at in re.finditer(r"\S+", head)]
        assert ends[:-1] == [at.end() for at in re.finditer(r"\S+", mean)][1:]
        assert next(line for line in look.lines if line.startswith(f" {sinks[0]} "))[: ends[-1]].endswith("%")
    async with looking(faulty(), (60, 24)) as look:
        await pair_map(look)
        assert not any(sinks[0] in line and sinks[-1] in line for line in look.lines)


async def test_enter_goes_to_the_nodes_then_to_the_pairs_and_esc_comes_back() -> None:
    async with looking(faulty()) as look:
        screen = await pair_map(look)
        await look.press("enter")
        nodes = look.app.screen
        assert isinstance(nodes, PairMapScreen)
        assert nodes.within == find_worst()
        place = nodes.map.place
        assert place is not None
        assert "n050" in place
        await look.press("enter")
        pairs = look.app.screen
        assert isinstance(pairs, AreaScreen)
        await look.until(lambda: pairs.table.area is not None)
        assert {(row.words("from"), row.words("to")) for row in pairs.table.items} == {place}
        await look.press("escape", "escape")
        assert look.app.screen is nodes
        await look.press("escape")
        assert look.app.screen is screen


async def test_arrows_move_over_cells_where_nothing_was_sent_and_stop_at_the_edges() -> None:
    async with looking(faulty()) as look:
        screen = await pair_map(look)
        await look.press("home")
        assert screen.map.row == 0
        for _ in range(30):
            await look.press("right")
        assert screen.map.matrix is not None
        assert screen.map.column == len(screen.map.matrix.sinks) - 1
        assert "nothing was sent" in look.lines[-2]
        await look.press("enter")
        assert "Nothing was sent there." in look.lines[-1]
        await look.press("end", "left")
        assert screen.map.row == len(screen.map.matrix.sources) - 1


async def test_n_walks_the_faults_round_and_says_where_there_is_none() -> None:
    async with looking(faulty()) as look:
        screen = await pair_map(look)
        assert screen.map.matrix is not None
        bad = {place for place, cell in screen.map.matrix.cells.items() if cell.state is not State.PASS}
        seen = set()
        for _ in bad:
            await look.press("n")
            seen.add(screen.map.place)
        assert seen == bad
    async with looking(healthy()) as look:
        await pair_map(look)
        await look.press("n")
        assert "No pair has a fault." in look.lines[-1]


async def test_v_goes_back_to_the_list_and_other_areas_have_no_map() -> None:
    async with looking(faulty()) as look:
        await pair_map(look)
        await look.press("v")
        assert isinstance(look.app.screen, AreaScreen)
        await look.press("escape", "colon", *"links", "enter", "v")
        assert "Pairs alone have a map." in look.lines[-1]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_causes_stand_below_the_map_and_f_opens_that_of_the_cell(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        screen = await pair_map(look)
        first = screen.causes.found.causes[0]
        (line,) = (each for each in look.lines if each.startswith(" causes "))
        assert first.where in line
        assert f"{first.pairs} pair" in line
        assert first.words[:20] in line
        await look.press("f")
        assert isinstance(look.app.screen, FindingsScreen)
        assert look.app.screen.list.chosen is not None


async def test_a_healthy_map_names_no_cause_and_says_so() -> None:
    async with looking(healthy()) as look:
        screen = await pair_map(look)
        assert screen.causes.size.height == 0
        assert not any(each.startswith(" causes ") for each in look.lines)
        await look.press("f")
        assert "No finding explains this cell." in look.lines[-1]


async def test_a_map_that_is_too_high_leaves_room_for_causes() -> None:
    async with looking(faulty(), (120, 12)) as look:
        screen = await pair_map(look)
        assert screen.map.matrix is not None
        assert len(screen.map.matrix.sources) > screen.map.size.height - 2
        assert any(each.startswith(" causes ") for each in look.lines)
        await look.press("G")
        assert any(each.startswith(f" {screen.map.matrix.sources[-1]} ") for each in look.lines)
