"""Which nodes watch: idle ones, on the way that most traffic takes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.measuring import Round, Target, Test
from benchconsole.probes.running.guards.canary_pair import choose_pairs
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import SMALL
from tests.topology.fabrics import networks

FABRIC = load_text(SMALL, "small.yaml")


def rounds(fabric: Fabric, *pairs: tuple[str, str]) -> list[Round]:
    tests = [
        Test(f"t{index}", "iperf3", Target(fabric.nodes[NodeId(one)], fabric.nodes[NodeId(other)]), 1)
        for index, (one, other) in enumerate(pairs)
    ]
    return [Round(1, "s", "iperf3", tuple(tests), 1.0, "because")]


def chosen(fabric: Fabric, each: list[Round]) -> list[set[str]]:
    return [{here.id, there.id} for here, there in choose_pairs(fabric, each)]


def test_idle_nodes_across_the_trunks_that_the_flows_take() -> None:
    (first, *_) = chosen(FABRIC, rounds(FABRIC, ("n1", "n5"), ("n2", "n6")))
    assert len(first & {"n3", "n4"}) == 1
    assert len(first & {"n7", "n8"}) == 1


def test_flows_below_one_leaf_are_watched_from_there() -> None:
    found = chosen(FABRIC, rounds(FABRIC, ("n1", "n5"), ("n2", "st1"), ("n3", "st1")))
    assert all(not pair & {"n1", "n2", "n3", "n5", "st1"} for pair in found)
    assert "n4" in found[0]


def test_when_every_node_is_tested_tested_ones_watch() -> None:
    pairs = [("n1", "n5"), ("n2", "n6"), ("n3", "n7"), ("n4", "n8"), ("st1", "st2")]
    assert chosen(FABRIC, rounds(FABRIC, *pairs))


def test_without_flows_the_longest_way_serves() -> None:
    assert len(chosen(FABRIC, [])) == 4


def test_one_node_makes_no_pair() -> None:
    assert choose_pairs(load_text("schema: 1\nfabric: x\nnodes: {a: {}}\n", "t.yaml"), []) == ()
    assert choose_pairs(load_text("schema: 1\nfabric: x\nnodes: {a: {}, b: {}}\n", "t.yaml"), []) == ()


@settings(max_examples=30, deadline=None)
@given(fabric=networks(), data=st.data())
def test_pairs_are_of_idle_nodes_where_there_are_any_and_no_node_comes_twice(
    fabric: Fabric, data: st.DataObject
) -> None:
    names = list(fabric.nodes)
    pairs = data.draw(
        st.lists(st.tuples(*[st.sampled_from(names)] * 2).filter(lambda two: two[0] != two[1]), max_size=4)
    )
    tested = {name for pair in pairs for name in pair}
    found = choose_pairs(fabric, rounds(fabric, *pairs))
    watching = [node.id for pair in found for node in pair]
    assert len(watching) == len(set(watching))
    assert found
    assert not tested & set(watching) or tested >= set(watching) or len(set(names) - tested) < 2
