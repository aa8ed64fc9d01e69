"""The area of the fabric: every node once, the numbers that the map draws, and text of nodes as text."""

import json

from benchconsole.console.text.table import format_table
from benchconsole.console.tui.fabric_map.fabric_area import list_fabric
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView
from tests.console.reports import fixture
from tests.console.tui.looking import faulty, looking
from tests.console.tui.queries.test_areas import NASTY


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


def test_hostile_text_is_shown_as_text_and_records_are_json() -> None:
    area = list_fabric(fixture.poisoned(NASTY))
    assert area.rows
    assert all(line.isprintable() and "\u202e" not in line for line in format_table(area.table, 120))
    json.dumps(area.records, allow_nan=False)
