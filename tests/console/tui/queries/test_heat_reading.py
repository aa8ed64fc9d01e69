"""Values of a heat map as they are read: the numbers of Nodes, what was not judged, facts, and the sense of a metric."""

import json

import pytest

from benchconsole.console.tui.fabric_map.fabric_area import list_fabric
from benchconsole.console.tui.queries.areas import list_nodes
from benchconsole.console.tui.queries.column_reader import ColumnReader
from benchconsole.console.tui.queries.heat_choices import (
    HeatChoice,
    HeatChoiceError,
    find_heat_choice,
    list_heat_choices,
)
from benchconsole.console.tui.queries.heat_reading import HeatReader, Metrics
from benchconsole.console.tui.queries.heat_values import FactHeat, HeatValues, NumberHeat
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, Choice, NodeRow
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.judgement import Yardstick
from benchconsole.probes.model.measuring import Fact, Metric, Reading, labels
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator, NodeId
from benchconsole.topology.units import Shown, Unit
from tests.console.reports import fixture
from tests.console.tui.looking import faulty
from tests.console.tui.queries.test_areas import NASTY
from tests.console.tui.story import Story


def read(view: RunView, name: str, metrics: Metrics | None = None) -> HeatValues:
    return HeatReader(find_heat_choice(list_heat_choices(view), name), metrics or {}).read(view)


def numbers(view: RunView, name: str, metrics: Metrics | None = None) -> NumberHeat:
    found = read(view, name, metrics)
    assert isinstance(found, NumberHeat)
    return found


def unjudged(story: Story) -> RunView:
    """The same session of which no number was judged."""
    closed = [replace(each, verdicts=(), findings=()) for each in story.closed]
    return replace(story, closed=closed, findings=()).view()


def test_metrics_come_by_stage_and_then_facts() -> None:
    names = [each.name for each in list_heat_choices(faulty().view())]
    assert names[:4] == ["stream.triad", "fio.write", "iperf3.throughput legs", "iperf3.throughput leave"]
    assert names[4:] == ["cpu.cores", "cpu.mhz_max", "kernel.release", "memory.total", "nic.mtu", "nic.speed"]


def test_a_fact_that_is_called_as_a_metric_says_so() -> None:
    names = [each.name for each in list_heat_choices(unjudged(faulty()))]
    assert "memory.total" in names
    assert "fact memory.total" in names
    assert len(names) == len({*names})


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("stream.triad", "stream.triad"),
        ("TRIAD", "stream.triad"),
        ("throughput legs", "iperf3.throughput legs"),
        ("legs", "iperf3.throughput legs"),
        (" kernel ", "kernel.release"),
    ],
)
def test_a_name_may_be_a_part_that_only_one_has(typed: str, found: str) -> None:
    assert find_heat_choice(list_heat_choices(faulty().view()), typed).name == found


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("throughput", "throughput may be iperf3.throughput legs, iperf3.throughput leave"),
        ("nonsense", "no metric and no fact is called nonsense, expected one of stream.triad, fio.write,"),
        ("", " may be stream.triad"),
        ("\x1b[31m", "no metric and no fact is called ␛[31m"),
    ],
)
def test_a_name_that_is_none_or_several_is_told(typed: str, said: str) -> None:
    with pytest.raises(HeatChoiceError) as error:
        find_heat_choice(list_heat_choices(faulty().view()), typed)
    assert said in str(error.value)


def test_nothing_measured_is_told() -> None:
    with pytest.raises(HeatChoiceError, match="nothing was measured"):
        find_heat_choice(list_heat_choices(fixture.empty()), "x")


@pytest.mark.parametrize("name", ["stream.triad", "iperf3.throughput legs", "iperf3.throughput leave"])
def test_a_number_is_that_of_the_table_of_nodes(name: str) -> None:
    view = faulty().view()
    column = {"stream.triad": "triad", "iperf3.throughput legs": "legs", "iperf3.throughput leave": "leave"}[name]
    heat = numbers(view, name)
    table = {row.record["node"]: row.number(column) for row in list_nodes(view).rows}
    assert {node: value for node, value in table.items() if value is not None} == dict(heat.numbers)
    assert heat.numbers
    assert heat.missing == sum(value is None for value in table.values())


def test_numbers_that_nobody_judged_are_shown_too() -> None:
    judged, loose = numbers(faulty().view(), "stream.triad"), numbers(unjudged(faulty()), "stream.triad")
    assert loose.numbers == judged.numbers
    assert loose.scale.symbol == "GB/s"


def test_the_sense_is_that_of_the_probe_else_of_the_unit() -> None:
    view = faulty().view()
    assert numbers(view, "stream.triad").sense is Comparator.AT_LEAST
    declared = Metric("stream.triad", Unit.BYTE_RATE, "", Shown.STORAGE, sense=Comparator.AT_MOST)
    assert numbers(view, "stream.triad", {"stream.triad": declared}).sense is Comparator.AT_MOST
    memory = numbers(unjudged(faulty()), "memory.total")
    assert memory.sense is None
    assert memory.scale.symbol == "GiB"


def test_a_number_that_is_none_counts_as_missing() -> None:
    story = faulty()
    closed = [
        replace(
            each,
            verdicts=tuple(
                verdict._replace(value=float("nan") if verdict.nodes == ("n001",) else float("inf"))
                if verdict.metric == "stream.triad" and verdict.nodes in (("n001",), ("n002",))
                else verdict
                for verdict in each.verdicts
            ),
        )
        for each in story.closed
    ]
    before, after = numbers(story.view(), "stream.triad"), numbers(replace(story, closed=closed).view(), "stream.triad")
    assert after.missing == before.missing + 2
    assert not {"n001", "n002"} & {*after.cells}


def test_only_nodes_that_have_changed_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    view = faulty().view()
    reader = HeatReader(find_heat_choice(list_heat_choices(view), "stream.triad"), {})
    first = reader.read(view)
    seen: list[str] = []
    whole = HeatReader._read_node

    def count(self: HeatReader, node: object, *others: object) -> object:
        seen.append(node.node.id)  # type: ignore[attr-defined]
        return whole(self, node, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(HeatReader, "_read_node", count)
    assert reader.read(view).cells == first.cells
    assert seen == []
    changed = replace(
        view, nodes={**view.nodes, NodeId("n001"): replace(view.nodes[NodeId("n001")], verdicts=(), results=())}
    )
    assert reader.read(changed).missing == first.missing + 1
    assert seen == ["n001"]


def test_what_fails_and_what_cannot_be_asked_stays_known() -> None:
    view = faulty().view()
    heat = numbers(view, "stream.triad")
    assert dict(heat.severe) == {
        name: seen.state for name, seen in view.nodes.items() if seen.state in (State.FAIL, State.UNREACHABLE)
    }
    assert {*heat.severe.values()} == {State.FAIL, State.UNREACHABLE}


def test_a_fact_of_several_parts_is_one_value() -> None:
    view = faulty().view()
    node = view.nodes[NodeId("n001")]
    ports = [
        Fact("nic.speed", speed, Unit.BYTE_RATE, labels(nic=f"p{place}"))
        for place, speed in enumerate((12.5e9, 3.125e9, 12.5e9))
    ]
    told = tuple(replace(result, facts=ports) if result.facts else result for result in node.results)
    changed = replace(view, nodes={**view.nodes, NodeId("n001"): replace(node, results=told)})
    heat = read(changed, "nic.speed")
    assert isinstance(heat, FactHeat)
    assert heat.format_value(NodeId("n001")) == "25.0 Gb/s, 2 x 100 Gb/s"
    assert heat.cells[NodeId("n001")].sign == "B"
    assert heat.format_value(NodeId("n120")) == "–"


def test_hostile_facts_are_shown_as_text() -> None:
    view = fixture.poisoned(NASTY)
    for choice in list_heat_choices(view):
        heat = HeatReader(choice, {}).read(view)
        said = [choice.name, *heat.describe_scale(), *map(heat.format_value, view.nodes)]
        assert all(text.isprintable() and "\u202e" not in text for text in said)
        json.dumps(list_fabric(view, heat=heat).records, allow_nan=False)


def test_values_that_a_description_alone_judged_are_facts() -> None:
    view = faulty().view()
    kinds = {verdict.kind for found in view.verdicts.values() for verdict in found if verdict.metric == "memory.total"}
    assert kinds == {Yardstick.HARDWARE}
    assert isinstance(read(view, "memory.total"), FactHeat)


def test_a_choice_of_a_stage_that_is_not_there_has_no_number() -> None:
    view = faulty().view()
    heat = HeatReader(HeatChoice("x", "stream.triad", "elsewhere"), {}).read(view)
    assert heat.cells == {}
    assert heat.missing == len(view.nodes)


def test_what_is_not_judged_beside_what_is_can_be_chosen() -> None:
    view = faulty().view()
    results = {
        name: replace(each, measurements=(*each.measurements, Reading("iperf3.retransmits", 3.0, Unit.ONE)))
        if each.test.probe == "iperf3" and each.failure is None
        else each
        for name, each in view.results.items()
    }
    names = [choice.name for choice in list_heat_choices(replace(view, results=results))]
    assert {"iperf3.throughput legs", "iperf3.retransmits legs"} <= {*names}


def test_what_nothing_judged_has_the_number_of_the_table_of_nodes() -> None:
    """The median of the tests of its own: of one that it took part in as the other end the number is the other's."""
    view = unjudged(faulty())
    given = {
        name: replace(each, measurements=[replace(each.measurements[0], value=value) for value in (1.0, 2.0, 9.0)])
        if each.test.probe == "iperf3" and each.measurements
        else each
        for name, each in view.results.items()
    }
    nodes = {
        name: replace(seen, results=tuple(given[result.test.id] for result in seen.results))
        for name, seen in view.nodes.items()
    }
    changed = replace(view, results=given, nodes=nodes)
    offers = ColumnReader().read(changed)
    (choice,) = (each for each in list_heat_choices(changed) if each.name == "iperf3.throughput legs")
    rows = [NodeRow(seen, "", NO_COLUMNS) for seen in changed.nodes.values()]
    (column,) = offers.make((Choice("metric", choice.metric, choice.stage),), rows)
    expected = {row.view.node.id: column.number(row) for row in rows}
    assert HeatReader(choice, {}).read(changed).cells.keys() == {name for name, value in expected.items() if value}
    assert numbers(changed, choice.name).numbers == {name: value for name, value in expected.items() if value}
    assert {*numbers(changed, choice.name).numbers.values()} == {2.0}
