"""The heat map of Fabric: its signs, its two lines, the verdict that stays in sight, and the way in and out."""

import pytest

from benchconsole.console.tui.fabric_map.map_cells import HEAT_TONES, CellContent, MapMark, MapPicture, cell
from benchconsole.console.tui.fabric_map.shape import read_shape
from benchconsole.console.tui.queries.heat_choices import find_heat_choice, list_heat_choices
from benchconsole.console.tui.queries.heat_reading import HeatReader
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.text_rows import sign_tone
from benchconsole.console.tui.rows.themes import THEMES, Depth
from benchconsole.console.tui.screens.command import CommandSheet
from benchconsole.console.tui.widgets.fabric_map import FabricMap
from benchconsole.console.view.events import RoundStarted
from benchconsole.console.view.run_view import State
from benchconsole.store.errors import LockedError
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import Look, colours, faulty, healthy, large, looking, painted
from tests.console.tui.test_live_load import row, shown

SIZES = [(80, 24), (120, 40), (200, 60)]


async def choose(look: Look, name: str) -> None:
    """Show a heat map as its command does, and wait for its values."""
    fabric = look.app.navigation.fabric
    look.app.command_line.perform(f"heat {name}")
    await look.until(lambda: shown(look) is CellContent.HEAT and fabric.map.heat is not None)


def lines_of_heat(look: Look) -> tuple[str, str]:
    at = next(number for number, line in enumerate(look.lines) if line.startswith(" heat "))
    return look.lines[at].strip(), look.lines[at + 1].strip()


@pytest.mark.parametrize("size", SIZES)
async def test_cells_are_tenths_and_the_scale_stands_below(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        await choose(look, "triad")
        scale, place = lines_of_heat(look)
        assert scale.startswith("heat     stream.triad   0 = 87.9")
        assert "9 = 102.0 GB/s   median 100.5" in scale
        assert place.startswith("n093     87.9 GB/s   rank 1 of 127, the lowest first   ✗ fail")
        assert "leaf3 to spine1" in look.lines[3]  # the headline is the verdict still
        six = "".join(row(look, "leaf6").split("▮")[0].split()[1:]) if size[0] < 160 else "".join(look.text.split())
        assert "0" in six
        assert "∅" in look.text


async def test_the_line_tells_the_node_under_the_cursor() -> None:
    async with looking(faulty()) as look:
        await choose(look, "triad")
        for name, said in (
            ("n020", "92.4 GB/s   rank 2 of 127, the lowest first   ▲ watch"),
            ("n120", "–   no value   ∅ no ssh"),
            ("n001", "99.9 GB/s   rank 39 of 127"),
        ):
            look.app.navigation.fabric.map.go(MapMark(node=NodeId(name)))
            await look.settle()
            assert lines_of_heat(look)[1].startswith(f"{name}     {said}"), lines_of_heat(look)[1]


async def test_facts_are_letters_and_the_line_names_each_value() -> None:
    async with looking(faulty()) as look:
        await choose(look, "memory.total")
        scale, place = lines_of_heat(look)
        assert (
            scale
            == "heat     memory.total   A = 128 GiB (126)   B = 64.0 GiB (6)   C = 112 GiB (1)   1 of 134 nodes without (–)"
        )
        assert place.startswith("n093     112 GiB   1 of 133 nodes told it, rank 1 of 3 values, the rarest first")
        assert "A A A A  A A A A" in row(look, "leaf1")
        assert "C" in row(look, "leaf6")
        assert "B B B B" in row(look, "storage")
        assert "A the most frequent value, then B" in look.text


async def test_m_asks_for_a_name_with_completion() -> None:
    async with looking(faulty()) as look:
        await look.press("M")
        await look.until(lambda: isinstance(look.app.screen, CommandSheet))
        assert "heat stream.triad" in look.text
        await look.press("k", "e", "r", "n")
        assert "heat kernel.release" in look.text
        await look.press("enter")
        await look.until(lambda: " A = 6.1.0-28-amd64 (133)" in look.text)


async def test_the_option_that_somebody_went_to_is_taken() -> None:
    async with looking(faulty()) as look:
        await look.press("M")
        await look.until(lambda: isinstance(look.app.screen, CommandSheet))
        await look.press(*"throughput", "down", "enter")
        await look.until(lambda: "iperf3.throughput leave" in look.text)


async def test_a_heat_map_that_cannot_be_read_is_left_and_not_called_being_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise LockedError("another process has locked it", "wait")

    monkeypatch.setattr(HeatReader, "read", refuse)
    async with looking(faulty()) as look:
        look.app.command_line.perform("heat triad")
        await look.until(lambda: "another process has locked it" in look.lines[-1])
        await look.settle()
        assert shown(look) is CellContent.STATES
        assert "being read" not in look.text


async def test_v_and_off_leave_it_and_other_tabs_do_not() -> None:
    async with looking(faulty()) as look:
        await choose(look, "triad")
        await look.press("2", "1")
        assert shown(look) is CellContent.HEAT
        assert "heat     stream.triad" in look.text
        await look.press("v")
        assert shown(look) is CellContent.STATES
        assert "heat     stream" not in look.text
        assert "▲" in row(look, "leaf2")
        await look.press("v")
        assert shown(look) is CellContent.SHARES
        await choose(look, "triad")
        look.app.command_line.perform("heat off")
        await look.settle()
        assert shown(look) is CellContent.STATES
        assert "heat     stream" not in look.text


async def test_a_name_that_is_none_is_told_and_changes_nothing() -> None:
    async with looking(faulty()) as look:
        look.app.command_line.perform("heat nonsense")
        await look.until(lambda: "no metric and no fact is called nonsense" in look.lines[-1])
        assert shown(look) is CellContent.STATES


async def test_nothing_to_show_is_told() -> None:
    async with looking(faulty(), until=1) as look:
        look.app.command_line.perform("heat triad")
        await look.until(lambda: "nothing was measured, and no node told a fact" in look.lines[-1])


async def test_values_follow_the_session() -> None:
    """After one of two rounds of a stage the values are others than at the end."""
    story = faulty()
    every = list(story.events())
    begun = [
        number for number, event in enumerate(every) if isinstance(event, RoundStarted) and event.round.stage == "legs"
    ]
    async with looking(story, until=begun[1]) as look:
        await choose(look, "legs")
        fabric = look.app.navigation.fabric
        whole = HeatReader(find_heat_choice(list_heat_choices(story.view()), "legs"), {}).read(story.view())
        assert fabric.map.heat is not None
        assert fabric.map.heat.cells != whole.cells
        look.player.feed(*every[begun[1] :])
        await look.until(lambda: fabric.map.heat is not None and fabric.map.heat.cells == whole.cells)
        assert lines_of_heat(look)[0].endswith(whole.describe_scale()[1])


async def test_every_sign_reads_in_ascii_and_without_colour() -> None:
    plain = Terminal(ascii=True, depth=Depth.NONE)
    async with looking(faulty(), (80, 24), terminal=plain) as look:
        await choose(look, "triad")
        assert look.text.isascii()
        assert "879U 8988" in row(look, "leaf8")
        assert "--X-" in row(look, "storage")
        look.app.command_line.perform("heat memory.total")
        await look.until(lambda: "A = 128 GiB" in look.text)
        assert "C" in row(look, "leaf6")
        reversed_cells = [part for line in painted(look.app) for part in line if part.style and part.style.reverse]
        assert any(part.text == "C" for part in reversed_cells)  # n093 fails


@pytest.mark.parametrize("theme", THEMES)
async def test_a_heat_map_of_a_healthy_fabric_has_no_colour_of_a_verdict(theme: str) -> None:
    async with looking(healthy(), terminal=Terminal(theme=theme)) as look:
        await choose(look, "triad")
        tokens = THEMES[theme]
        seen = colours(painted(look.app))
        assert seen.isdisjoint({tokens["fail"], tokens["fill"], tokens["watch"], tokens["unreachable"]} - {"#ffffff"})


@pytest.mark.parametrize("theme", THEMES)
def test_every_shade_reads_on_its_ground(theme: str) -> None:
    """WCAG: 4.5 for text."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    tokens = THEMES[theme]
    ground = light(tokens["bg"])
    for tone in HEAT_TONES:
        ink = light(tokens[tone.ink])
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, tone


def test_a_cell_of_several_nodes_is_the_worst_and_keeps_the_verdict() -> None:
    view = faulty().view()
    heat = HeatReader(find_heat_choice(list_heat_choices(view), "triad"), {}).read(view)
    picture = MapPicture(view, content=CellContent.HEAT, heat=heat)

    def drawn(*names: str) -> tuple[str, object]:
        made = cell(picture, tuple(map(NodeId, names)))
        return made.text, made.tone

    assert drawn("n001", "n020")[0] == "3"
    assert drawn("n001", "n020")[1] in HEAT_TONES
    assert drawn("n001", "n093") == ("0", sign_tone(State.FAIL))
    assert drawn("n001", "n120") == ("∅", sign_tone(State.UNREACHABLE))
    assert drawn("n050", "n120", "n020") == ("3", sign_tone(State.FAIL))
    assert drawn("st3") == ("✗", sign_tone(State.FAIL))
    assert drawn("st1")[0] == "–"
    waiting = MapPicture(view, content=CellContent.HEAT)
    assert cell(waiting, (NodeId("n020"),)).text == "▲"  # until the values are read


def test_lines_that_are_kept_are_those_of_the_values_now() -> None:
    view = faulty().view()
    choices = list_heat_choices(view)
    shape, kept = read_shape(view.fabric), FabricMap()
    kept.show(view, shape)
    kept.content = CellContent.HEAT
    for name in ("triad", "memory.total", "kernel"):
        fresh = FabricMap()
        fresh.show(view, shape)
        fresh.content = CellContent.HEAT
        kept.heat = fresh.heat = HeatReader(find_heat_choice(choices, name), {}).read(view)
        assert kept.draw(120, 40) == fresh.draw(120, 40), name


async def test_a_block_says_which_of_its_nodes_is_shown() -> None:
    async with looking(large(), (200, 60)) as look:
        await choose(look, "triad")
        await look.until(lambda: "1 cell = 2 nodes, the lowest is shown" in look.text)
        look.app.navigation.fabric.map.go(MapMark(node=NodeId("p09l05n01")))
        await look.settle()
        said = lines_of_heat(look)[1]
        assert said.startswith("p09l05n02  92.4 GB/s   the lowest of 2 nodes in this cell, rank 2 of 10,239")
        assert said.endswith("▲ watch")
