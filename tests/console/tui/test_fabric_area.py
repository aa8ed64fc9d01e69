"""The area of the fabric: every node once, the numbers that the map draws, and text of nodes as text."""

import json

from benchconsole.console.text.table import format_table
from benchconsole.console.tui.fabric_map.fabric_area import list_fabric
from benchconsole.console.tui.fabric_map.map_section import list_named_sections
from benchconsole.console.tui.fabric_map.shape import read_shape
from benchconsole.console.tui.queries.heat_choices import find_heat_choice, list_heat_choices
from benchconsole.console.tui.queries.heat_reading import HeatReader
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView
from tests.console.reports import fixture
from tests.console.tui.looking import boxes, faulty, looking
from tests.console.tui.queries.test_areas import NASTY
from tests.console.tui.test_heat import choose


def view() -> RunView:
    story = faulty()
    return advance_all(RunView(story.fabric), story.events())


def test_every_node_stands_in_exactly_one_row() -> None:
    seen = view()
    records = list_fabric(seen).records
    placed = [node for record in records for node in record["nodes"]]  # type: ignore[attr-defined]
    assert sorted(placed) == sorted(seen.fabric.nodes)
    for record in records:
        assert sum(record["stand"].values()) == len(record["nodes"])  # type: ignore[attr-defined, arg-type]


async def test_a_rack_has_the_numbers_of_the_map() -> None:
    area = list_fabric(view())
    (lost,) = [row for row in area.rows if row.words("kind") == "rack" and row.words("down")]
    assert lost.record["state"] == "fail"
    async with looking(faulty(), (120, 40)) as look:
        lines = "\n".join(look.lines)
        assert lost.words("ratio") in lines
        assert lost.words("ratio") != lost.words("built")
        assert f"{lost.number('leaves') * 8e-9:.1f}" in lines  # type: ignore[operator]


def test_a_rack_passes_only_where_its_nodes_and_its_uplinks_do() -> None:
    seen = view()
    for row in list_fabric(seen).rows:
        if row.record["state"] == "pass":
            assert {*row.record["stand"]} <= {"pass"}  # type: ignore[misc]
            assert all(seen.links[link].state.value == "pass" for link in row.record["links"])  # type: ignore[attr-defined]
    assert "pass" not in {row.record["state"] for row in list_fabric(fixture.empty()).rows}


async def test_a_heat_map_has_the_cells_of_the_screen() -> None:
    seen = view()
    heat = HeatReader(find_heat_choice(list_heat_choices(seen), "triad"), {}).read(seen)
    area = list_fabric(seen, heat=heat)
    assert area.note == f"heat: stream.triad: {heat.describe_scale()[0]}"
    async with looking(faulty(), (120, 40)) as look:
        await choose(look, "triad")
        lines = ["".join(line.split("▮")[0].split()) for line in look.lines]
        for row in area.rows:
            if row.words("kind") == "rack":
                assert row.words("name") + row.words("heat") in lines
    (leaf,) = [row for row in area.rows if row.words("name") == "leaf6"]
    assert leaf.words("worst") == "87.9 GB/s n093"
    (failed,) = [each for each in leaf.record["heat"] if each["node"] == "n093"]  # type: ignore[attr-defined]
    assert failed == {"node": "n093", "sign": "0", "value": 87.9e9, "unit": "B/s", "rank": 1}
    assert area.filter("kind=rack").note == area.note


def test_a_part_has_its_own_rows_and_the_innermost_one_its_links_and_nodes() -> None:
    seen = view()
    section = list_named_sections(seen.fabric, read_shape(seen.fabric))["leaf4"]
    area = list_fabric(seen, section)
    assert area.title == "Fabric > leaf4"
    assert [row.words("kind") for row in area.rows] == ["rack", "uplink", "uplink", *["node"] * 16]
    (slow,) = [row for row in area.rows if row.words("name") == "n050"]
    assert (slow.words("metric"), slow.words("value"), slow.words("share")) == ("throughput", "2.97 Gb/s", "30 %")
    assert slow.record["value"] == 2.97e9 / 8
    assert "2.97 of 9.90 Gb/s" in slow.words("why")
    json.dumps(area.records, allow_nan=False)
    pod = list_named_sections(boxes().fabric, read_shape(boxes().fabric))["t2"]
    assert [row.words("kind") for row in list_fabric(boxes().view(), pod).rows] == ["group", *["rack"] * 4]


def test_hostile_text_is_shown_as_text_and_records_are_json() -> None:
    area = list_fabric(fixture.poisoned(NASTY))
    assert area.rows
    assert all(line.isprintable() and "\u202e" not in line for line in format_table(area.table, 120))
    json.dumps(area.records, allow_nan=False)
