"""Plans: what runs together shares no link unless sharing is the test, and everything is covered."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import FULL, Round
from benchconsole.probes.planning.plan_rounds import plan, rerun
from benchconsole.probes.planning.plan_summary import list_uncrossed_links
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES


def planned(described: Fabric, nodes: list[str] | None = None) -> tuple[Round, ...]:
    chosen = None if nodes is None else [NodeId(name) for name in nodes]
    return plan(described, find_suite(described, None), PROBES, nodes=chosen)


def loads(described: Fabric, each: Round) -> dict[Direction, set[str]]:
    """Directed link to the names of the loads (bundle, or lone target) that use it in a round."""
    routes = Routes(described)
    used: dict[Direction, set[str]] = {}
    for test in each.tests:
        assert test.target.peer
        for way in routes.shares(test.target.node.id, test.target.peer.id):
            used.setdefault(way, set()).add(test.bundle or test.target.key)
    return used


def test_every_nic_sends_and_receives_with_two_partners(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    partners: dict[str, set[str]] = {}
    for each in planned(described):
        if each.stage == "iperf3 neighbours":
            senders = [test.target.node.id for test in each.tests]
            receivers = [test.target.peer.id for test in each.tests if test.target.peer]
            assert sorted(senders) == sorted(receivers) == [f"n{i}" for i in range(1, 9)]
            for sender, receiver in zip(senders, receivers, strict=True):
                partners.setdefault(sender, set()).add(receiver)
    assert all(len(found) == 2 for found in partners.values())


def test_every_trunk_is_filled_in_both_directions(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    filled = {
        way for each in planned(described) for bundle in each.bundles if bundle.fill >= FULL for way in bundle.elements
    }
    trunks = [LinkId(f"leaf{i}--spine{j}") for i in (1, 2) for j in (1, 2)]
    assert {Direction(link, end) for link in trunks for end in link.split("--")} <= filled
    assert {Direction(LinkId("st1--spine1"), "st1"), Direction(LinkId("st1--spine1"), "spine1")} <= filled


def test_a_trunk_that_nothing_can_fill_says_how_far_it_is_loaded(tmp_path: Path) -> None:
    text = SMALL.replace('to: "spine[1-2]", speed: 10 Gb/s', 'to: "spine[1-2]", speed: 100 Gb/s')
    bundles = [bundle for each in planned(fabric(tmp_path, text)) for bundle in each.bundles]
    trunks = [bundle for bundle in bundles if "leaf1 to spine1" in bundle.name]
    assert trunks
    assert all(0.1 < bundle.fill < 0.3 for bundle in trunks)


@st.composite
def fabrics(draw: st.DrawFn) -> str:
    """Two-tier fabrics of random size, with and without storage on the spines."""
    leaves, spines, each = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    members, speed = draw(st.integers(1, 3)), draw(st.sampled_from(["10G", "40G"]))
    lines = ["schema: 1", "fabric: drawn", "switches:"]
    lines += [f"  leaf[1-{leaves}]: {{role: leaf}}", f"  spine[1-{spines}]: {{role: spine}}", "nodes:"]
    links = [f'  - {{from: "leaf[1-{leaves}]", to: "spine[1-{spines}]", speed: {speed}, count: {members}}}']
    for leaf in range(1, leaves + 1):
        lines.append(f"  l{leaf}n[1-{each}]: {{}}")
        links.append(f'  - {{from: "l{leaf}n[1-{each}]", to: leaf{leaf}, speed: 10G}}')
    if draw(st.booleans()):
        lines.append("  st1: {role: storage}")
        links.append(f"  - {{from: st1, to: spine1, speed: {draw(st.sampled_from(['10G', '100G']))}}}")
    suites = [
        "suites:",
        "  default:",
        "    - {probe: iperf3, design: neighbours}",
        "    - {probe: iperf3, design: trunks}",
    ]
    return "\n".join([*lines, "links:", *links, *suites]) + "\n"


@given(fabrics())
@settings(max_examples=60, deadline=None)
def test_loads_of_one_round_share_no_directed_link(text: str) -> None:
    described = load_text(text, "drawn.yaml")
    try:
        rounds = planned(described)
    except PlanError:
        assert len(described.nodes) == 1
        return
    for each in rounds:
        shared = {way: names for way, names in loads(described, each).items() if len(names) > 1}
        assert shared == {}
        assert len({test.id for test in each.tests}) == len(each.tests)


def test_a_selection_plans_only_its_nodes(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path), ["n1", "n2"])
    assert {node.id for each in rounds for test in each.tests for node in test.target.nodes} == {"n1", "n2"}


def test_nothing_to_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="nothing to run"):
        planned(fabric(tmp_path), ["n1"])


def test_unknown_suite_suggests_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="did you mean default"):
        find_suite(fabric(tmp_path), "defalt")


def test_without_a_suite_ours_is_run(tmp_path: Path) -> None:
    described = fabric(tmp_path, SMALL[: SMALL.index("suites:")])
    assert find_suite(described, None) == find_suite(described, "default")


def test_a_repeat_takes_lone_tests_alone_and_bundles_whole(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path))
    lone = rounds[0].tests[0]
    bundled = next(test for each in rounds for test in each.tests if test.bundle)
    again = rerun([lone, bundled], rounds, first=100)
    assert [each.number for each in again] == [100, 101]
    assert [test.target.key for test in again[0].tests] == [lone.target.key]
    whole = [
        test for each in rounds for test in each.tests if test.bundle == bundled.bundle and test.round == bundled.round
    ]
    assert len(again[1].tests) == len(whole)
    assert {bundle.name for bundle in again[1].bundles} == {bundled.bundle}


def test_links_that_no_flow_crosses_are_told(tmp_path: Path) -> None:
    text = SMALL.replace("criteria:", "  - {from: spine1, to: far, speed: 40 Gb/s}\ncriteria:")
    text = text.replace("switches:", "switches:\n  far: {role: core}")
    described = fabric(tmp_path, text)
    rounds = plan(described, find_suite(described, None), PROBES)
    assert [link.id for link in list_uncrossed_links(described, rounds)] == ["spine1--far"]
    some = planned(described, ["n1", "n2"])
    assert {"n3--leaf1", "leaf1--spine1"} <= {link.id for link in list_uncrossed_links(described, some)}
    assert list_uncrossed_links(described, ()) == ()
