from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.slowly import lower, machines, numbered, sums, usable
from tests.topology.wild import MAX_SEED, wild

BACKUP = """\
schema: 1
fabric: backup
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {"n[1-3]": {}, lone: {}, vm: {host: n1}}
networks: {gige: {}}
links:
  - {from: "n[1-2]", to: "leaf[1-2]", speed: 10 Gb/s, bond: active-backup}
  - {from: n3, to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp, count: 2}
  - {from: n3, to: spine, speed: 1 Gb/s, network: gige}
  - {from: "leaf[1-2]", to: spine, speed: 40 Gb/s}
"""


def test_a_standby_leg_is_not_counted(tmp_path: Path) -> None:
    found = make_tables(fabric(tmp_path, BACKUP))
    leaf = found.index["leaf1"]
    # Active legs of n1 and n2 and two cables of n3 on the one, two cables of n3 on the other.
    assert found.down[leaf : leaf + 2].tolist() == [4 * 1.25e9, 2 * 1.25e9]
    assert found.up[found.index["n1"]] == 1.25e9
    assert found.capacity[found.ids.index("n1--leaf2")] == 1.25e9


def test_nodes_that_are_cabled_alike_are_one_group(tmp_path: Path) -> None:
    found = make_tables(fabric(tmp_path, BACKUP))
    groups = found.node_groups
    # n1 carries a virtual machine, n2 none, lone has no cable.
    assert groups.group.tolist() == [0, 1, 2, -1, -1]
    assert groups.nodes.tolist() == [2, 1, 1]
    assert groups.size.tolist() == [1, 1, 1]
    assert found.devices(groups.switch[groups.start[2] : groups.start[3]]) == ("leaf1", "leaf2", "spine")


def test_a_lag_loses_its_fastest_member(tmp_path: Path) -> None:
    text = (
        "schema: 1\nfabric: x\nswitches: {a: {role: leaf}, b: {role: spine}, c: {role: core}}\nnodes: {n: {}}\nlinks:\n"
        "  - {from: n, to: a, speed: 10G}\n"
        "  - {from: a, to: b, speed: 10G, lag: x}\n  - {from: a, to: b, speed: 40G, lag: x}\n"
        "  - {from: b, to: c, speed: 100G, count: 2, available: 150 Gb/s}\n"
    )
    found = make_tables(fabric(tmp_path, text))
    assert found.capacity.tolist() == [1.25e9, 6.25e9, 18.75e9]
    assert found.fastest.tolist() == [1.25e9, 5e9, 6.25e9]
    assert found.members.tolist() == [1, 2, 2]


def test_an_empty_fabric_has_empty_tables(tmp_path: Path) -> None:
    found = make_tables(fabric(tmp_path, "schema: 1\nfabric: x\nnodes: {n: {}}\n"))
    assert found.names == ("n",)
    assert len(found.node_groups) == len(found.trunks.low) == 0
    assert found.down.tolist() == [0.0]


@pytest.mark.parametrize("attribute", ["down", "up", "side"])
@given(st.integers(0, MAX_SEED))
@settings(max_examples=60, deadline=None)
def test_sums_are_those_of_the_links(attribute: str, seed: int) -> None:
    described = wild(seed)
    found = make_tables(described)
    expected = [sums(described, name)[("down", "up", "side").index(attribute)] for name in found.names]
    assert getattr(found, attribute).tolist() == pytest.approx(expected)


@given(st.integers(0, MAX_SEED))
@settings(max_examples=100, deadline=None)
def test_every_link_and_every_node_is_where_the_fabric_has_it(seed: int) -> None:
    described = wild(seed)
    found = make_tables(described)
    capacity = usable(described)
    for number, link in enumerate(described.links.values()):
        assert found.ids[number] == link.id
        assert found.names[found.low[number]] == lower(described, link)
        assert {found.names[found.low[number]], found.names[found.high[number]]} == {link.a, link.b}
        assert found.usable[number] == capacity[link.id]
    assert found.index == numbered(described)
    counted = machines(described)
    assert found.machines[: found.nodes].tolist() == [counted.get(name, 0) for name in described.nodes]
    check_groups(described)


def check_groups(described: Fabric) -> None:
    """Two nodes are in one group exactly when their legs and their machines are alike."""
    found = make_tables(described)
    groups = found.node_groups
    counted = machines(described)
    legs = {
        name: sorted(
            (link.other(name), link.speed, link.count, link.mixed, link.standby, link.network, str(link.wan))
            for link in described.links_at[name]
            if link.other(name) in described.switches
        )
        for name in described.nodes
    }
    alike: dict[object, int] = {}
    for number, name in enumerate(described.nodes):
        if not legs[name]:
            assert groups.group[number] == -1
            continue
        key = (tuple(legs[name]), counted[name])
        assert groups.group[number] == alike.setdefault(key, len(alike))
    assert len(groups) == len(alike)
    for leg, entry in zip(groups.legs.tolist(), groups.leg_of.tolist(), strict=True):
        assert groups.group[found.low[leg]] == groups.owner[entry]
        assert (found.high[leg], found.kind[leg]) == (groups.switch[entry], found.kind[groups.link[entry]])
        assert found.usable[leg] == groups.capacity[entry]
    assert np.bincount(groups.leg_of, minlength=len(groups.owner)).tolist() == groups.size[groups.owner].tolist()
