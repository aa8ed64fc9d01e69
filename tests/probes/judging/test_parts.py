"""Numbers of parts: directed links first, then each member of each LAG both ways; what each carries, and paths."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.planning.stream_placement import FIRST_PORT, PortForks, StreamPaths
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, Flow
from benchconsole.topology.routing.hashed_paths import CableStep
from benchconsole.topology.routing.routes import Routes
from tests.probes.judging.rounds import PAIRED, RATE, STAR, way
from tests.probes.planning.suites import clos


def number(described: Fabric) -> Parts:
    return Parts(Routes(described).graph)


PARTS = number(load_text(PAIRED, "paired.yaml"))


def find_way(link: str, source: str) -> int:
    found = way(link, source)
    return PARTS.graph.way(PARTS.graph.fabric.links[found.link], source)


def test_members_of_lags_follow_after_all_directed_links() -> None:
    assert PARTS.ways == 2 * 13
    assert PARTS.size == 2 * (13 + 2 + 2 + 2 + 3)  # wide--tor, two LAGs of the pair, that of tor
    assert PARTS.capacity.shape == (PARTS.size,)


def test_a_fabric_without_lags_has_no_members() -> None:
    parts = number(load_text(STAR, "star.yaml"))
    assert (parts.ways, parts.size) == (16, 16)
    assert parts.capacity.tolist() == [RATE] * 16
    assert [parts.member(each, 0) for each in range(16)] == list(range(16))


@pytest.mark.parametrize(
    ("link", "source", "member", "part", "rate"),
    [
        ("wide--tor", "wide", 0, 26, 1),
        ("wide--tor", "tor", 0, 27, 1),
        ("wide--tor", "wide", 1, 28, 1),
        ("wide--tor", "tor", 1, 29, 1),
        ("leaf1--spine1", "leaf1", 0, 30, 1),
        ("leaf2--spine1", "spine1", 1, 37, 1),
        ("tor--spine1", "tor", 0, 38, 1),
        ("tor--spine1", "tor", 2, 42, 2),  # one member is twice as fast as its neighbours
        ("tor--spine1", "spine1", 2, 43, 2),
    ],
)
def test_a_member_has_a_number_and_a_speed_of_its_own(
    link: str, source: str, member: int, part: int, rate: int
) -> None:
    assert PARTS.member(find_way(link, source), member) == part
    assert PARTS.capacity[part] == rate * RATE


@pytest.mark.parametrize(("link", "rate"), [("tor--spine1", 4), ("leaf1--spine1", 2), ("b1--leaf1", 1)])
def test_a_directed_link_carries_what_all_members_do(link: str, rate: int) -> None:
    up = find_way(link, link.split("--", maxsplit=1)[0])
    assert PARTS.capacity[[up, up + 1]].tolist() == [rate * RATE] * 2


def test_payload_is_counted_and_not_the_wire() -> None:
    text = PAIRED.replace("goodput: 100 %", "goodput: 75 %")
    assert number(load_text(text, "paired.yaml")).capacity.tolist() == (0.75 * PARTS.capacity).tolist()


def check_round_trip(parts: Parts) -> None:
    met = []
    for each in range(parts.ways):
        link = parts.graph.links[each >> 1]
        assert (parts.way(each), parts.member_of(each)) == (each, None)
        members = [parts.member(each, index) for index in range(link.count)]
        if link.is_lag:
            assert [(parts.way(part), parts.member_of(part)) for part in members] == [
                (each, index) for index in range(link.count)
            ]
            assert parts.capacity[members].tolist() == [parts.graph.fabric.payload(link, one) for one in link.members]
            met += members
        else:
            assert members == [each]
    assert sorted(met) == list(range(parts.ways, parts.size))


def test_members_lead_back_to_their_directed_link() -> None:
    check_round_trip(PARTS)


@given(clos(steered=True), st.data())
@settings(max_examples=25, deadline=None)
def test_a_path_is_its_directed_links_then_its_members(text: str, data: st.DataObject) -> None:
    described = load_text(text, "drawn.yaml")
    routes = Routes(described)
    parts = Parts(routes.graph)
    check_round_trip(parts)
    nodes = sorted(described.nodes)
    if len(nodes) < 2:
        return
    source, sink = data.draw(st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True))
    path = StreamPaths(routes).path(Flow(source, sink), PortForks(FIRST_PORT + data.draw(st.integers(0, 500))))
    found = parts.on_path(iter(path)).tolist()
    ways, members = found[: len(path)], found[len(path) :]
    assert ways == [step.way for step in path]
    assert all(part >= parts.ways for part in members)
    lags = [step for step in path if parts.graph.links[step.way >> 1].is_lag]
    assert [(parts.way(part), parts.member_of(part)) for part in members] == [(step.way, step.member) for step in lags]
    ends = [(one.source, described.links[one.link].other(one.source)) for one in map(parts.graph.direction, ways)]
    assert [ends[0][0], ends[-1][1]] == [source, sink]
    assert all(before[1] == after[0] for before, after in pairwise(ends))


def test_a_path_of_no_steps_has_no_parts() -> None:
    assert PARTS.on_path([]).tolist() == []
    assert PARTS.on_path([CableStep(0, 0)]).tolist() == [0]
