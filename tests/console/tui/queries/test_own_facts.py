"""Facts of nodes: their own alone, the newest answer, and the same for the heat map as for the columns of Nodes."""

import pytest

from benchconsole.console.tui.queries.heat_choices import HeatChoice, list_heat_choices
from benchconsole.console.tui.queries.heat_reading import HeatReader
from benchconsole.console.tui.queries.heat_values import FactHeat
from benchconsole.console.tui.queries.own_facts import find_fact_probes, keep_own_facts, read_newest_fact
from benchconsole.console.tui.queries.told_readings import ReadingsCache
from benchconsole.console.view.run_view import NodeView
from benchconsole.probes.model.measuring import Fact, Result
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import faulty

SEEN = faulty().view()
NODE, PEER = (SEEN.nodes[NodeId(name)].node for name in ("n001", "n002"))
MODEL = "system.product"
LOAD = Fact("load.cpu.busy", 0.5)


def answer(number: int, probe: str, *facts: Fact, of: NodeId = NODE.id) -> Result:
    """The facts that ``of`` told in a round; the other one of the two is the other end of the test."""
    some = next(result for result in SEEN.results.values() if result.test.probe == "iperf3")
    ends = (NODE, PEER) if of == NODE.id else (PEER, NODE)
    target = replace(some.test.target, node=ends[0], peer=ends[1])
    return Result(replace(some.test, id=f"{number}", probe=probe, round=number, target=target), facts=facts)


def read(*results: Result) -> object:
    """The value that counts of what a node told, None for none."""
    seen = NodeView(NODE, results=results)
    probes = find_fact_probes([seen]).get(MODEL, set())
    (facts,) = read_newest_fact([seen], MODEL, probes)
    return facts[0].value if facts else None


@pytest.mark.parametrize(
    ("probe", "names", "own"),
    [
        ("inventory", ["cpu.cores", "load.cpu.busy"], ["cpu.cores"]),
        ("inventory", ["load.cpu.busy"], []),
        ("traceroute", ["traceroute.hop"], []),
        ("memory", ["memory.total"], []),
        ("memory", ["memory.total", "cpu.cores"], ["memory.total", "cpu.cores"]),
        ("inventory", [], []),
    ],
)
def test_facts_of_a_test_and_of_load_are_none_of_a_node(probe: str, names: list[str], own: list[str]) -> None:
    assert [*keep_own_facts(probe, [Fact(name, 1.0) for name in names])] == own


def test_the_newest_answer_counts_and_of_several_probes_the_one_that_told_it_last() -> None:
    old, new, other = (Fact(MODEL, text) for text in ("old", "new", "other"))
    assert read() is None
    assert read(answer(1, "inventory", old)) == "old"
    assert read(answer(1, "inventory", old), answer(2, "inventory", new)) == "new"
    assert read(answer(2, "inventory", new), answer(1, "inventory", old)) == "new"
    assert read(answer(1, "inventory", old), answer(2, "firmware", other)) == "other"
    assert read(answer(1, "firmware", other), answer(2, "inventory", old)) == "old"


def test_what_an_answer_tells_no_more_is_gone_and_load_alone_is_no_answer() -> None:
    told, rest = Fact(MODEL, "old"), Fact("cpu.cores", 4.0)
    first = answer(1, "inventory", told)
    assert read(first, answer(2, "inventory", rest)) is None
    assert read(first, answer(2, "inventory", LOAD)) == "old"
    assert read(first, answer(2, "inventory", rest), answer(3, "inventory", LOAD)) is None
    assert read(first, answer(2, "inventory")) == "old"
    assert read(first, answer(2, "inventory", rest), answer(3, "firmware", told)) == "old"


def test_what_the_other_end_told_is_none_of_the_node() -> None:
    told = Fact(MODEL, "theirs")
    assert read(answer(1, "inventory", told, of=PEER.id)) is None
    assert read(answer(1, "inventory", Fact(MODEL, "mine")), answer(2, "inventory", told, of=PEER.id)) == "mine"


def test_the_heat_map_offers_and_shows_the_facts_of_the_columns() -> None:
    """Where the tests of a node with another one tell a fact of it, and the load of both: newer than the inventory."""

    def sends(one: Result) -> bool:
        return one.test.probe == "iperf3" and one.test.target.node.id == "n001"

    story = faulty()
    facts = (Fact("kernel.release", "7.0"), LOAD)
    closed = [
        replace(each, results=tuple(replace(one, facts=facts) if sends(one) else one for one in each.results))
        for each in story.closed
    ]
    view = replace(story, closed=closed).view()
    columns = ReadingsCache().update(view, ()).facts
    assert {choice.fact for choice in list_heat_choices(view) if choice.fact} == {*columns}
    assert LOAD.fact not in columns
    heat = HeatReader(HeatChoice("x", fact="kernel.release"), {}).read(view)
    assert isinstance(heat, FactHeat)
    assert heat.texts == {node: values[0] for node, values in columns["kernel.release"].told.items()}
    assert {*heat.texts.values()} == {"7.0", "6.1.0-28-amd64"}
