"""Containerlab topologies: kinds and labels, both forms of links, what leads out of the lab, and every mistake."""

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import Fabric, HashPolicy, LinkId, NodeId, NodeRole, SwitchId, SwitchRole
from tests.topology.importers.sources import CLAB, described, problems

SPEED = "25 Gb/s"
TWO = "topology:\n  nodes: {a: {kind: linux}, s: {kind: ceos}}\n  links:\n"


def read(text: str) -> Imported:
    return import_text("containerlab", text, "lab.clab.yml", SPEED)


def lab(nodes: str, links: str = "", more: str = "") -> Fabric:
    return described(read(f"name: lab\ntopology:\n  nodes:\n{nodes}{more}" + (f"  links:\n{links}" if links else "")))


def test_kinds_tell_nodes_from_switches_and_speeds_are_those_given() -> None:
    fabric = described(read(CLAB))
    assert fabric.name == "small"
    assert {node.id: node.role for node in fabric.nodes.values()} == {"n1": "compute", "n16": "storage"}
    assert {switch.id: switch.role for switch in fabric.switches.values()} == {
        "leaf1": "leaf", "leaf12": "leaf", "spine1": "spine",
    }  # fmt: skip
    link = fabric.links[LinkId("n16--leaf12")]
    assert (link.speed, link.ports_a, link.ports_b) == (25e9 / 8, ("eth1",), ("e1-16",))


def test_what_was_inferred_is_noted_beside_it() -> None:
    found = read(CLAB)
    assert found.notes["switches", "leaf1"] == "role inferred from its name"
    assert found.notes["links", 0] == "speed as given"
    assert ("nodes", "n16") not in found.notes
    assert found.remarks == (
        "the source has no speed for n1 to leaf1; n16 to leaf12; leaf[1,12] to spine1: 25 Gb/s was given for them",
    )


def test_without_a_speed_every_link_that_has_none_is_listed_folded_with_what_to_do() -> None:
    found = problems(lambda text: import_text("containerlab", text, "f"), CLAB)
    assert len(found) == 1
    assert found[0].startswith("f:18:7: no speed for n1 to leaf1; n16 to leaf12; leaf[1,12] to spine1, expected")
    assert found[0].endswith('a speed for each, or one for all of them (init --link-speed "25 Gb/s")')


def test_names_that_say_nothing_get_their_role_from_the_cabling() -> None:
    nodes = "".join(f"    x{number}: {{kind: nokia_srlinux}}\n" for number in range(1, 4)) + "    a: {kind: linux}\n"
    found = read(
        f"topology:\n  nodes:\n{nodes}  links:\n"
        '    - endpoints: ["a:eth1", "x1:e1"]\n    - endpoints: ["x1:e2", "x2:e1"]\n    - endpoints: ["x3:e2", "x2:e3"]\n'
    )
    roles = [switch.role for switch in described(found).switches.values()]
    assert roles == [SwitchRole.LEAF, SwitchRole.SPINE, SwitchRole.CORE]
    assert found.notes["switches", "x2"] == "role inferred from the cabling: 2 cables from the nearest node"


def test_kind_and_labels_are_inherited_from_group_kind_and_defaults() -> None:
    more = """\
  defaults: {kind: arista_ceos, labels: {benchconsole.site: everywhere, benchconsole.mtu: 9000}}
  kinds:
    linux: {labels: {benchconsole.class: thin, benchconsole.rack: r1}}
  groups:
    servers: {kind: linux, labels: {benchconsole.class: thick}}
"""
    fabric = lab(
        "    a: {group: servers}\n    b: {kind: linux, labels: {benchconsole.site: here}}\n    s: {}\n", more=more
    )
    assert list(fabric.switches) == ["s"]
    assert fabric.nodes[NodeId("a")].hardware.name == "thick"
    assert fabric.nodes[NodeId("b")].hardware.name == "thin"
    assert {group.name: group.members for group in fabric.groups} == {
        "r1": ("a", "b"), "everywhere": ("a", "s"), "here": ("b",),
    }  # fmt: skip
    assert fabric.mtu == 9000


def test_a_label_makes_a_switch_of_a_linux_container_and_a_node_of_anything() -> None:
    fabric = lab(
        "    r: {kind: linux, labels: {benchconsole.role: spine}}\n"
        "    gw: {kind: arista_ceos, labels: {benchconsole.role: gateway, benchconsole.forwards: 'true'}}\n"
    )
    assert fabric.switches[SwitchId("r")].role is SwitchRole.SPINE
    gateway = fabric.nodes[NodeId("gw")]
    assert (gateway.role, gateway.forwards) == (NodeRole.GATEWAY, True)


def test_links_out_of_the_lab_are_left_out_and_remarked_upon() -> None:
    nodes = "    n1: {kind: linux}\n    s: {kind: bridge}\n"
    links = """\
    - endpoints: ["n1:eth1", "s:p1"]
    - endpoints: ["n1:eth2", "host:veth1"]
    - endpoints: ["mgmt-net:x", "n1:eth3"]
    - endpoints: ["n1:eth4", "macvlan:enp0s3"]
    - endpoints: ["n1:eth9", "macvtap:enp0s3"]
    - {type: host, endpoint: {node: n1, interface: eth5}, host-interface: x}
    - {type: vxlan, endpoint: {node: n1, interface: eth6}, remote: 10.0.0.1, vni: 1}
"""
    found = read(f"topology:\n  nodes:\n{nodes}  links:\n{links}")
    assert list(described(found).links) == ["n1--s"]
    assert found.remarks[0] == "links that leave the lab are left out: host in line 7, and so on"


def test_parallel_cables_are_one_lag_with_ports_that_keep_their_partners() -> None:
    nodes = "    leaf1: {kind: ceos}\n    spine1: {kind: ceos}\n    n: {kind: linux}\n"
    straight = '    - endpoints: ["leaf1:e2", "spine1:e2"]\n    - endpoints: ["spine1:e1", "leaf1:e1"]\n'
    link = lab(nodes, straight).links[LinkId("leaf1--spine1")]
    assert (link.count, link.ports_a, link.ports_b, link.lag) == (2, ("e1", "e2"), ("e1", "e2"), None)
    crossed = '    - endpoints: ["leaf1:e1", "spine1:e2"]\n    - endpoints: ["spine1:e1", "leaf1:e2"]\n'
    link = lab(nodes, crossed).links[LinkId("leaf1--spine1")]
    assert (link.count, link.ports_a, link.ports_b, link.lag) == (2, ("e1", "e2"), ("e2", "e1"), None)


def test_variables_of_ours_say_what_containerlab_cannot() -> None:
    nodes = "    leaf1: {kind: ceos}\n    n: {kind: linux}\n"
    links = (
        '    - endpoints: ["n:eth1", "leaf1:e1"]\n      vars:\n'
        "        benchconsole: {speed: 100 Gb/s, hash: l3l4, from-port: null, to-port: Eth1/1}\n"
    )
    link = lab(nodes, links).links[LinkId("n--leaf1")]
    assert (link.speed, link.hash, link.ports_a, link.ports_b) == (12.5e9, HashPolicy.L3L4, (), ("Eth1/1",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 1\n", "f:1:1: no topology, expected a containerlab file"),
        ("topology: [x]\n", "f:1:1: no topology"),
        ("topology:\n\tnodes: {}\n", "f:2:1: broken YAML"),
        ("topology:\n  nodes: {}\n", "f:1:1: no node and no switch, expected at least one"),
        ("topology:\n  nodes: {a: {}}\n", "f:2:11: no kind for a, expected kind: linux"),
        ("topology:\n  nodes: {a: x}\n", "f:2:14: 'x', expected a mapping"),
        ("topology:\n  nodes: {a: {kind: linux}, a: {kind: linux}}\n", "f:2:29: key 'a' a second time (first in line 2)"),
        ("topology:\n  nodes: {a: {kind: linux}}\n  links: {}\n", "f:3:10: a mapping, expected a list"),
        ("topology:\n  nodes: {a: {kind: linux}}\n  links: [x]\n", "f:3:11: 'x', expected a mapping"),
        ("topology:\n  nodes: {a: {kind: linux}}\n  links: [{endpoints: ['a:e']}]\n", "no pair of endpoints"),
        ("topology:\n  nodes: {a: {kind: linux}}\n  links: [{endpoints: ['a:e', b]}]\n", "f:3:31: 'b' as an endpoint"),
        ("topology:\n  nodes: {a: {kind: linux}}\n  links: [{endpoints: ['a:e', 'b:e']}]\n", "unknown device 'b'"),
        ("topology:\n  nodes: {a: {kind: linux}}\n  links: [{type: weth}]\n",
         "f:3:18: the type 'weth', expected one of veth, veth-stitch, host"),
        (TWO + "    - endpoints: ['a:{{ x }}', 's:e']\n", "f:4:19: a template, a:{{ x }}, expected the file that"),
        ("topology:\n{{ range x }}\n  a: {}\n", "in a template, expected the file that containerlab makes of it"),
        ("topology:\n  nodes: {a: {kind: linux, labels: {benchconsole.rol: x}}}\n",
         "f:2:37: the label 'benchconsole.rol', expected a label of ours; did you mean role?"),
        ("topology:\n  nodes: {a: {kind: linux, labels: {benchconsole.role: spin}}}\n",
         "f:2:56: the role 'spin', expected one of compute, storage"),
        ("topology:\n  nodes: {a: {kind: linux, labels: {benchconsole.host: b}}}\n", "f:2:56: unknown node 'b'"),
        (TWO + "    - endpoints: ['a:e', 's:e']\n      vars: {benchconsole: {speeed: 1G}}\n", "unknown key 'speeed'"),
        (TWO + "    - endpoints: ['a:e', 's:e']\n      vars: {benchconsole: {speed: 1G, to: b}}\n", "f:5:40: the key 'to'"),
        (TWO + "    - endpoints: ['a:e', 's:e']\n    - endpoints: ['a:f', 's:e']\n", "the port s:e a second time"),
        ("topology:\n  nodes:\n    a:", "f:3:5: no kind for a"),
    ],
)  # fmt: skip
def test_every_mistake_is_told_with_its_place(text: str, expected: str) -> None:
    found = problems(lambda each: import_text("containerlab", each, "f", SPEED), text)
    assert any(expected in line for line in found), found


def test_all_mistakes_are_told_at_once() -> None:
    text = CLAB.replace("kind: arista_ceos", "kidn: arista_ceos").replace("n1:eth1", "n2:eth1").replace("e1-49", "")
    found = problems(lambda each: import_text("containerlab", each, "f"), text.replace("leaf1:", "l!:", 1))
    places = [line.partition(" ")[0] for line in found]
    assert places == ["f:8:5:", "f:18:7:", "f:18:7:", "f:19:7:", "f:26:11:", "f:28:19:"]


ROUTERS = """\
name: clos
topology:
  defaults: {kind: linux}
  nodes:
    leaf1: {image: alpine}
    leaf2: {image: alpine}
    spine1: {image: "quay.io/frrouting/frr:10"}
    core1: {image: "docker-sonic-vs:latest"}
    host1: {image: "frrouting/frr"}
    h2: {image: alpine}
    web: {image: nginx}
  links:
    - endpoints: ["host1:eth1", "leaf1:eth1"]
    - endpoints: ["h2:eth1", "leaf2:eth1"]
    - endpoints: ["web:eth1", "leaf2:eth2"]
    - endpoints: ["leaf1:eth3", "spine1:eth1"]
    - endpoints: ["leaf2:eth3", "spine1:eth2"]
    - endpoints: ["spine1:eth3", "core1:eth1"]
"""


def test_containers_of_kind_linux_are_switches_by_name_and_image_and_a_note_says_so() -> None:
    found = import_text("containerlab", ROUTERS, "f", SPEED)
    fabric = described(found)
    assert {switch.id: switch.role for switch in fabric.switches.values()} == {
        "leaf1": SwitchRole.LEAF, "leaf2": SwitchRole.LEAF, "spine1": SwitchRole.SPINE, "core1": SwitchRole.CORE,
    }  # fmt: skip
    assert set(fabric.nodes) == {"host1", "h2", "web"}
    assert found.notes["switches", "leaf1"] == "taken for a switch by its name; role inferred from its name"


@pytest.mark.parametrize(
    ("names", "links", "switches"),
    [
        ("a b c", "a-b b-c", {"b"}),
        ("a b c d", "a-b a-c a-d b-c c-d b-d", {"a", "b", "c", "d"}),
        ("a b", "a-b", set()),
        ("a b c d", "a-b b-c c-d d-a", set()),
        (
            "leaf1 leaf2 leaf3 spline n",
            "leaf1-spline leaf2-spline leaf3-spline n-leaf1 n-leaf2",
            {"leaf1", "leaf2", "leaf3", "spline"},
        ),
        ("r1 r2 pc1 pc2", "pc1-r1 r1-r2 r2-pc2", {"r1", "r2"}),
        ("node1 node2 node3", "node1-node2 node2-node3", set()),
        ("node1 node2 node3 node4", "node1-node2 node1-node3 node1-node4", {"node1"}),
        ("node1 node2 node3 node4 leaf1", "node1-node2 node1-node3 node1-node4 leaf1-node1", {"leaf1"}),
        ("h1-leaf1 leaf1", "h1-leaf1-leaf1", {"leaf1"}),
    ],
)
def test_containers_that_nothing_names_are_told_by_their_cables(names: str, links: str, switches: set[str]) -> None:
    nodes = "".join(f"    {name}: {{kind: linux, image: alpine}}\n" for name in names.split())
    used: dict[str, int] = {}
    lines = ""
    for link in links.split():
        ends = link.rsplit("-", 1)
        for end in ends:
            used[end] = used.get(end, 0) + 1
        lines += f"    - endpoints: [{', '.join(f'{chr(34)}{end}:eth{used[end]}{chr(34)}' for end in ends)}]\n"
    found = import_text("containerlab", f"topology:\n  nodes:\n{nodes}  links:\n{lines}", "f", SPEED)
    assert set(described(found).switches) == switches
    if not switches and len(used) > 2:
        assert "no device is taken for a switch: the label benchconsole.role: leaf makes one" in found.remarks


@pytest.mark.parametrize(
    ("settings", "switch"),
    [
        ('sysctls: {net.ipv4.ip_forward: "1"}', True),
        ('sysctls: {net.ipv4.ip_forward: "0"}', False),
        ("exec: [sysctl -w net.ipv4.ip_forward=1]", True),
        ("exec: [ip link add br0 type bridge]", True),
        ("binds: ['x/daemons:/etc/frr/daemons']", True),
        ("binds: ['x:/etc/free']", False),
    ],
)
def test_a_container_that_forwards_between_two_others_is_a_switch(settings: str, switch: bool) -> None:
    text = f"""\
topology:
  nodes:
    mid: {{kind: linux, image: alpine, {settings}}}
    leaf1: {{kind: ceos}}
    leaf2: {{kind: ceos}}
    one: {{kind: linux, {settings}}}
  links:
    - endpoints: ["mid:eth1", "leaf1:eth1"]
    - endpoints: ["mid:eth2", "leaf2:eth1"]
    - endpoints: ["one:eth1", "leaf2:eth2"]
    - endpoints: ["leaf2:eth3", "leaf1:eth3"]
"""
    fabric = described(import_text("containerlab", text, "f", SPEED))
    assert set(fabric.switches) == {"leaf1", "leaf2"} | ({"mid"} if switch else set())


def test_a_lab_of_switches_only_is_read_with_a_hint_how_to_add_nodes() -> None:
    text = CLAB.replace("kind: linux", "kind: vr-vmx").replace("benchconsole.role: storage", "x: y")
    found = import_text("containerlab", text, "f", SPEED)
    fabric = described(found)
    assert (len(fabric.nodes), len(fabric.switches), len(fabric.links)) == (0, 5, 4)
    assert found.remarks[-1] == (
        "no device is a node, all are taken for switches: leaf[1,12],n[1,16],spine1; the label benchconsole.role: "
        "compute makes a node of a device, or add nodes and their links by hand"
    )


def test_kinds_by_groups_bridges_within_a_node_stitched_cables_and_cables_to_itself() -> None:
    text = """\
topology:
  defaults: {group: g3, kind: ceos}
  kinds: {srl: {group: g2}}
  groups:
    g1: {kind: srl}
    g2: {labels: {benchconsole.rack: r2}}
    g3: {kind: linux, labels: {benchconsole.rack: r3}}
  nodes:
    a: {group: g1}
    b: {}
    "br0|b": {kind: bridge}
    c: &c {kind: srl}
    d: {<<: *c, image: x}
  links:
    - {type: veth-stitch, endpoints: [{node: a, interface: e1-1}, {node: c, interface: e1-1}]}
    - endpoints: ["b:eth1", "br0|b:e1"]
    - endpoints: ["b:eth2", "b:eth3"]
"""
    found = import_text("containerlab", text, "f", SPEED)
    fabric = described(found)
    assert set(fabric.switches) == {"a", "br0-b", "c", "d"}
    assert set(fabric.links) == {"a--c", "b--br0-b"}
    racks = {group.name: set(group.members) for group in fabric.groups}
    assert racks == {"r2": {"c", "d"}, "r3": {"b", "br0-b"}}
    assert "cables from a device to itself are left out: b in line 17, and so on" in found.remarks
    assert any("br0|b is br0-b" in remark for remark in found.remarks)


def test_hosts_that_run_a_system_of_switches_are_nodes_by_their_names() -> None:
    text = """\
topology:
  defaults: {kind: arista_ceos}
  nodes:
    leaf1: {}
    site1-client1: {}
    h2: {}
    host-leaf2: {}
    server-br: {kind: bridge}
    host9: {labels: {benchconsole.role: leaf}}
  links:
    - endpoints: ["site1-client1:eth1", "leaf1:eth1"]
    - endpoints: ["h2:eth1", "leaf1:eth2"]
"""
    found = import_text("containerlab", text, "f", SPEED)
    fabric = described(found)
    assert set(fabric.nodes) == {"site1-client1", "h2"}
    assert found.notes["nodes", "h2"] == "taken for a node by its name"
