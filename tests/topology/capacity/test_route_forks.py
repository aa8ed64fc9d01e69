"""Forks and cuts of routes: legs, LAGs, pairs, unequal ways, channels, and what a simplified chain leaves out."""

from math import inf

import pytest

from benchconsole.topology.capacity.placements import Fork, Paths, compute_paths
from benchconsole.topology.capacity.route_forks import RouteForks, read_forks, simplify_forks
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.routing.routes import Routes

HEAD = "schema: 1\nfabric: forks\nnetworks: {flat: {goodput: 100 %}}\nnodes: {'n[1-4]': {}}\n"


def _flat(line: str) -> str:
    return line.replace("}", ", network: flat}") if "speed" in line else line


def read(text: str, source: str = "n1", sink: str = "n3") -> RouteForks:
    """The forks from one node to another, on links that carry payload only."""
    routes = Routes(load_text(HEAD + "\n".join(_flat(line) for line in text.splitlines()), "forks.yaml"))
    flow = Flow(NodeId(source), NodeId(sink))
    return read_forks(routes, flow, routes.route(flow))


def in_gigabits(rates: tuple[float, ...]) -> list[float]:
    return [round(8 * each / 1e9, 6) for each in rates]


LAGS = """switches: {'leaf[1-2]': {role: leaf}, spine: {role: spine}}
links:
  - {from: 'n[1-2]', to: leaf1, speed: 10G, count: 2, hash: l2}
  - {from: 'n[3-4]', to: leaf2, speed: 10G, count: 2}
  - {from: 'leaf[1-2]', to: spine, speed: 40G, count: 4, hash: l3l4}
"""


def test_a_chain_of_lags_has_one_fork_and_one_cut_at_each_device() -> None:
    found = read(LAGS)
    assert [len(fork.chance) for fork in found.forks] == [2, 4, 4, 2]
    assert [fork.after for fork in found.forks] == [(1, 1), (2,) * 4, (3,) * 4, (4, 4)]
    assert [fork.by_stream for fork in found.forks] == [False, True, True, True]
    assert [in_gigabits(cut.capacity) for cut in found.cuts] == [[10] * 2, [40] * 4, [40] * 4, [10] * 2]
    assert [cut.called for cut in found.cuts] == ["legs", "members", "members", "legs"]
    assert [cut.chance for cut in found.cuts] == [(0.5,) * 2, (0.25,) * 4, (0.25,) * 4, (0.5,) * 2]
    assert [cut.is_unequal for cut in found.cuts] == [False] * 4


PAIR = """switches: {'mxl[1-2]': {role: leaf}, spine: {role: spine}}
mlag: {vlt: {switches: 'mxl[1-2]'}}
links:
  - {from: 'n[1-3]', to: 'mxl[1-2]', speed: 10G}
  - {from: n4, to: mxl2, speed: 10G}
  - {from: mxl1, to: mxl2, speed: 40G}
  - {from: 'mxl[1-2]', to: spine, speed: 40G}
"""


def test_legs_at_both_of_a_pair_are_one_choice_for_the_whole_way() -> None:
    """Traffic that arrives at one of a pair leaves by its own leg: the second leg is no second choice."""
    found = read(PAIR)
    assert sorted(len(fork.chance) for fork in found.forks) == [1, 1, 2]
    (leg, *_) = simplify_forks(found.forks, 20e9 / 8)
    assert len(leg.chance) == 2
    assert compute_paths(Paths(2, 20e9 / 8, simplify_forks(found.forks, 20e9 / 8))).mean == pytest.approx(15e9 / 8)


def test_a_detour_over_the_peer_link_crosses_each_cut_once() -> None:
    found = read(PAIR, "n1", "n4")
    assert [round(sum(cut.chance), 9) for cut in found.cuts] == [1.0] * len(found.cuts)
    assert in_gigabits(found.cuts[-1].capacity) == [10]
    assert min(cut.total for cut in found.cuts) == pytest.approx(10e9 / 8)


UNEQUAL = """switches: {'leaf[1-2]': {role: leaf}, 'spine[1-2]': {role: spine}}
links:
  - {from: 'n[1-2]', to: leaf1, speed: 100G}
  - {from: 'n[3-4]', to: leaf2, speed: 100G}
  - {from: 'leaf[1-2]', to: spine1, speed: 40G}
  - {from: 'leaf[1-2]', to: spine2, speed: 10G}
"""


def test_unequal_ways_are_known_by_their_chances() -> None:
    """Half of the streams on each: 20 Gb/s fill the way of 10, 50 are what both carry."""
    (_, up, down, _) = read(UNEQUAL).cuts
    for cut in (up, down):
        assert cut.is_unequal
        assert (cut.called, in_gigabits((cut.fluid, cut.total))) == ("paths", [20, 50])


def test_members_of_unlike_speed_are_taken_one_by_one() -> None:
    each = "  - {from: 'leaf[1-2]', to: spine, speed: 40G, lag: po1}\n"
    found = read(
        LAGS.replace(
            "  - {from: 'leaf[1-2]', to: spine, speed: 40G, count: 4, hash: l3l4}\n", each + each.replace("40G", "10G")
        )
    )
    assert sorted(in_gigabits(found.cuts[1].capacity)) == [10, 40]
    assert found.cuts[1].chance == (0.5, 0.5)
    assert found.cuts[1].is_unequal


def test_what_cannot_hold_a_flow_up_is_left_out_of_the_chain() -> None:
    forks = read(LAGS).forks
    assert [len(each.chance) for each in simplify_forks(forks, 20e9 / 8)] == [2, 2]
    assert [each.after for each in simplify_forks(forks, 20e9 / 8)] == [(1, 1), (2, 2)]
    assert simplify_forks(forks, 10e9 / 8) == ()


def test_a_way_with_room_is_kept_where_it_leads_elsewhere() -> None:
    split = Fork((40.0, 40.0), (0.5, 0.5), (1, 2))
    narrow = Fork((5.0,), (1.0,), (2,))
    (first, second) = simplify_forks((split, narrow), 10.0)
    assert first == Fork((inf, inf), (0.5, 0.5), (1, 2))
    assert second == narrow
