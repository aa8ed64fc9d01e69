from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from tests.fabrics import fabric
from tests.topology.slowly import Ways
from tests.topology.wild import MAX_SEED, wild

HEAD = "schema: 1\nfabric: x\n"


def tops(found: Tables) -> set[str]:
    return set(found.devices(np.flatnonzero(found.uplinks.top & (np.arange(len(found.names)) >= found.nodes))))


def test_a_border_router_is_above_the_top(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}, border: {role: core}}\nnodes: {"n[1-4]": {}}\nlinks:\n'
        '  - {from: "n[1-2]", to: leaf1, speed: 10G}\n  - {from: "n[3-4]", to: leaf2, speed: 10G}\n'
        '  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10G}\n  - {from: "spine[1-2]", to: border, speed: 40G}\n'
    )
    found = make_tables(fabric(tmp_path, text))
    assert found.uplinks.meet.tolist() == [3]
    assert found.devices(found.trunks.high[found.uplinks.exits]) == ("border", "border")
    assert "leaf1" not in tops(found)


def test_nodes_on_one_switch_meet_there(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {leaf: {role: leaf}, spine: {role: spine}}\nnodes: {"n[1-4]": {}}\n'
        'links: [{from: "n[1-4]", to: leaf, speed: 10G}, {from: leaf, to: spine, speed: 40G}]\n'
    )
    found = make_tables(fabric(tmp_path, text))
    assert found.uplinks.meet.tolist() == [2]
    assert len(found.uplinks.low) == 0
    assert len(found.uplinks.exits) == 1


def test_a_switch_behind_its_peer_link_climbs_over_it(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-3]": {role: leaf}, spine: {role: spine}}\nnodes: {"n[1-3]": {}}\nlinks:\n'
        '  - {from: "n[1-3]", to: "leaf[1-3]", speed: 10G, wiring: one-to-one}\n'
        '  - {from: leaf2, to: leaf1, speed: 40G}\n  - {from: "leaf[1,3]", to: spine, speed: 10G}\n'
    )
    found = make_tables(fabric(tmp_path, text))
    uplinks, index = found.uplinks, found.index
    ways = set(zip(found.devices(uplinks.low), found.devices(uplinks.high), strict=True))
    assert ways == {("leaf2", "leaf1"), ("leaf1", "spine"), ("leaf3", "spine")}
    assert uplinks.down[index["leaf1"]] == 1.25e9 + 5e9
    assert uplinks.ratio()[index["leaf1"]] == 5


def test_two_networks_that_a_gateway_joins_are_one(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {one: {role: leaf}, two: {role: spine}}\nnodes: {"a[1-2]": {}, "b[1-2]": {}, gw: {role: gateway, forwards: FORWARDS}}\n'
        'links: [{from: "a[1-2],gw", to: one, speed: 10G}, {from: "b[1-2]", to: two, speed: 10G}, {from: gw, to: two, speed: 10G}]\n'
    )
    joined = make_tables(fabric(tmp_path, text.replace("FORWARDS", "true")))
    assert (len(joined.uplinks.meet), joined.uplinks.meet.tolist()) == (1, [3])
    apart = make_tables(fabric(tmp_path, text.replace("FORWARDS", "false")))
    assert apart.uplinks.meet.tolist() == [2, 3]


@given(st.integers(0, MAX_SEED))
@settings(max_examples=120, deadline=None)
def test_ways_up_are_those_of_the_fabric(seed: int) -> None:
    described = wild(seed, 15)
    found = make_tables(described)
    slow = Ways(described)
    uplinks = found.uplinks
    for name in described.switches:
        number = found.index[name]
        assert bool(uplinks.top[number]) == slow.top(name)
        ways = {
            (found.names[uplinks.high[way]], uplinks.capacity[way]) for way in np.flatnonzero(uplinks.low == number)
        }
        assert ways == set(slow.up(name))
    seen: set[int] = set()
    for batch in uplinks.batches:
        assert seen.isdisjoint(uplinks.low[batch].tolist())
        seen.update(uplinks.low[batch].tolist())
        assert seen.isdisjoint(uplinks.high[batch].tolist())
