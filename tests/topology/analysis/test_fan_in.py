"""Many clients and many servers at once: equal ones counted once against all of them one by one."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.fan_in import ALL_LINKS, FanIn, Pattern, group_nodes, list_port_rates
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import fabric

WIRE = 1448 / 1538  # of MTU 1500

RANDOM = """\
schema: 1
fabric: random
switches: {{"spine[1-2]": {{role: spine}}, "leaf[1-3]": {{role: leaf}}}}
nodes: {{"a[1-{a}]": {{}}, "b[1-{b}]": {{}}, "h[1-2]": {{}}, "vm[1-6]": {{host: "h[1-2]"}}, "s[1-3]": {{}}}}
links:
  - {{from: "a[1-{a}]", to: "leaf[1-2]", speed: {na}G}}
  - {{from: "b[1-{b}],h[1-2]", to: leaf3, speed: {nb}G}}
  - {{from: leaf1, to: "spine[1-2]", speed: {u1}G, count: 2}}
  - {{from: leaf2, to: "spine[1-2]", speed: {u2}G}}
  - {{from: leaf3, to: "spine[1-2]", speed: {u3}G, count: 3}}
  - {{from: "s[1-2]", to: "spine[1-2]", speed: {s1}G}}
  - {{from: s3, to: leaf1, speed: {s2}G}}
storage: {{disk: {{servers: "s[1-3]", clients: {{all: {{nodes: "a[1-{a}],b[1-{b}],vm[1-6]"}}}}}}}}
"""
KEYS = ("na", "nb", "u1", "u2", "u3", "s1", "s2")
SPEED = st.sampled_from([1, 10, 25, 40])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.fixed_dictionaries({"a": st.integers(1, 5), "b": st.integers(1, 5)} | dict.fromkeys(KEYS, SPEED)),
    st.booleans(),
)
def test_equal_clients_counted_once_give_what_all_of_them_give(
    tmp_path: Path, sizes: dict[str, int], writing: bool
) -> None:
    described = fabric(tmp_path, RANDOM.format(**sizes))
    system = described.storage["disk"]
    pairs = [(NodeId(c), NodeId(s)) for c in system.clients[0].nodes for s in system.servers]
    flows = [Flow(c, s) if writing else Flow(s, c) for c, s in pairs]
    total = sum(each.value for each in expect(described, flows))
    found = FanIn(described, Routes(described), Pattern(system.clients[0].nodes, system.servers, writing))
    assert found.total() == pytest.approx(total)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({"a": st.integers(1, 4), "b": st.integers(1, 4)} | dict.fromkeys(KEYS, SPEED)))
def test_no_kind_of_link_allows_less_than_all_together(tmp_path: Path, sizes: dict[str, int]) -> None:
    described = fabric(tmp_path, RANDOM.format(**sizes))
    system = described.storage["disk"]
    found = FanIn(described, Routes(described), Pattern(system.clients[0].nodes, system.servers, True))
    layers = dict(found.layers())
    assert min(layers.values()) == pytest.approx(found.total())
    assert (ALL_LINKS in layers) == all(
        rate > found.total() * (1 + 1e-9) for name, rate in layers.items() if name != ALL_LINKS
    )


TWO_VLANS = """\
schema: 1
fabric: vlans
switches: {leaf1: {}, leaf2: {}}
nodes: {"h[1-2]": {}, "vm[1-4]": {host: "h[1-2]"}, "s[1-2]": {}}
links:
  - {from: "h[1-2]", to: leaf1, speed: 10G}
  - {from: "s[1-2]", to: leaf2, speed: 10G}
  - {from: leaf1, to: leaf2, speed: 40G}
vlans: {1: {members: "vm[1,3],s[1-2]"}, 2: {members: "vm[2,4]"}}
"""


def test_guests_of_one_host_are_told_apart_by_their_vlans(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO_VLANS)
    clients, servers = group_nodes(described, ["vm1", "vm2", "vm3", "vm4"], ["s1", "s2"])
    assert [(kind.node, kind.machine, kind.total, kind.together) for kind in clients] == [
        ("vm1", "h1", 2, 1),
        ("vm2", "h1", 2, 1),
    ]
    assert [(kind.node, kind.total) for kind in servers] == [("s1", 2)]


def test_machines_that_are_both_are_one_kind_and_reach_each_other(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO_VLANS)
    clients, servers = group_nodes(described, ["h1", "h2"], ["h1", "h2"])
    assert (clients[0].machine, servers[0].machine) == ("h1", "h2")
    assert servers[0].reached_from(clients[0]) == 1


def test_servers_of_one_host_share_its_ports(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO_VLANS)
    assert list_port_rates(described, ["vm1", "vm2", "s1"]) == pytest.approx(
        [0.625e9 * WIRE, 0.625e9 * WIRE, 1.25e9 * WIRE]
    )


@pytest.mark.parametrize("writing", [True, False])
@pytest.mark.parametrize(
    ("slow", "leaf"),
    [
        ("s1", ""),
        ("s2", ""),
        ("c1", ""),
        ("c8", ""),
        ("", 'card: {ports: "9", rate: 30G}'),
        ("", 'card: {ports: "10", rate: 30G}'),
        ("", 'card: {ports: "[2-3]", rate: 10G}'),
        ("", "plane: {rate: 60G}"),
    ],
)
def test_machines_are_alike_only_where_they_pass_alike_ceilings(
    tmp_path: Path, slow: str, leaf: str, *, writing: bool
) -> None:
    clients, servers = tuple(f"c{number}" for number in range(1, 9)), ("s1", "s2")
    own = {slow: "ceilings: {slot: {rate: 5G}}"}
    nodes = ", ".join(f"{name}: {{{own.get(name, '')}}}" for name in (*clients, *servers))
    described = fabric(
        tmp_path,
        f"schema: 1\nfabric: x\nnodes: {{{nodes}}}\nswitches: {{leaf1: {{ceilings: {{{leaf}}}}}}}\n"
        'links: [{from: "c[1-8],s[1-2]", to: "leaf1:[1-10]", speed: 100G}]\n',
    )
    pairs = [(NodeId(client), NodeId(server)) for client in clients for server in servers]
    total = sum(each.value for each in expect(described, [Flow(*(pair if writing else pair[::-1])) for pair in pairs]))
    assert FanIn(described, Routes(described), Pattern(clients, servers, writing)).total() == pytest.approx(total)
