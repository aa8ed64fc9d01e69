"""A small machine as each foreign format tells it, and what a Document or a Fabric says of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.description.resolve import resolve
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers import import_text, lldp
from benchconsole.topology.importers.draft import Draft
from benchconsole.topology.model.fabric import Fabric

CLAB = """\
name: small
topology:
  defaults:
    kind: nokia_srlinux
  kinds:
    linux: {image: "alpine:3"}
  nodes:
    leaf1: {}
    leaf12:
      kind: arista_ceos
    spine1:
    n1: {kind: linux}
    n16:
      kind: linux
      labels:
        benchconsole.role: storage
  links:
    - endpoints: ["n1:eth1", "leaf1:e1-1"]
    - type: veth
      endpoints:
        - node: n16
          interface: eth1
        - node: leaf12
          interface: e1-16
    - endpoints:
        - leaf1:e1-49
        - spine1:e1-1
    - endpoints: ["leaf12:e1-49", "spine1:e1-12"]
"""

CONF = """\
# a machine
switchname=leaf1 Nodes=n[1-4],n9   # the first
SwitchName=leaf12 nodes="n[10-16]" LinkSpeed=100G
SwitchName=spine1 Switches=\\
leaf[1,12]
"""

TREE = """\
---
- topology: small
  cluster_default: true
  tree:
    switches:
      - switch: spine1
        children: leaf[1,12]
      - switch: leaf1
        nodes: n[1-4],n9
      - switch: leaf12
        nodes: n[10-16]
- topology: blocks
  block:
    block_sizes: [4]
    blocks:
      - block: b1
        nodes: n[1-4]
"""


def heard(
    interface: str, switch: str, port: str, current: str = "10GigBaseSR - R fiber over 850 nm optics"
) -> dict[str, object]:
    """One neighbour as ``json0`` has it."""
    return {
        "name": interface,
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 01:02:03",
        "chassis": [
            {
                "id": [{"type": "mac", "value": "02:00:00:00:00:01"}],
                "name": [{"value": switch}],
                "capability": [{"type": "Bridge", "enabled": True}, {"type": "Router", "enabled": False}],
            }
        ],
        "port": [
            {
                "id": [{"type": "ifname", "value": port}],
                "ttl": [{"value": "120"}],
                "auto-negotiation": [{"supported": True, "enabled": True, "current": [{"value": current}]}],
            }
        ],
    }


def told(*neighbours: dict[str, object]) -> str:
    """The output of ``lldpctl -f json0``."""
    return json.dumps({"lldp": [{"interface": list(neighbours)}] if neighbours else [{}]}, indent=2)


LLDP = told(heard("eth0", "leaf1", "Eth1"), heard("eth1", "leaf12", "Eth16"))


def graph(devices: dict[str, dict[str, object]], cables: list[tuple[str, str, str, str]]) -> str:
    """The CYJS that nrx writes: ``cables`` are (device, interface, device, interface)."""
    nodes: list[dict[str, object]] = []
    edges: list[dict[str, object]] = []
    number = {name: index for index, name in enumerate(devices)}
    for name, body in devices.items():
        device = {"id": 100 + number[name], "type": "device", "name": name, **body}
        nodes.append({"data": {"type": "device", "device": device, "id": str(number[name])}})
    interfaces: dict[tuple[str, str], int] = {}
    for a, at_a, b, at_b in cables:
        for end in ((a, at_a), (b, at_b)):
            interfaces[end] = len(nodes)
            interface = {"id": len(nodes), "type": "interface", "name": end[1]}
            nodes.append({"data": {"type": "interface", "interface": interface, "id": str(len(nodes))}})
            edges.append({"data": {"source": number[end[0]], "target": interfaces[end]}})
        edges.append({"data": {"source": interfaces[a, at_a], "target": interfaces[b, at_b]}})
    return json.dumps({"data": [["name", "small"]], "elements": {"nodes": nodes, "edges": edges}}, indent=1)


CYJS = graph(
    {
        "leaf1": {"role": "leaf", "model_name": "S5248F", "site": "hall 1"},
        "spine1": {"role": "spine", "site": "hall 1"},
        "n1": {"role": "server", "primary_ip4": "10.0.0.1/24", "site": "hall 1"},
    },
    [("n1", "Gig-E 1", "leaf1", "ethernet-1/1"), ("leaf1", "ethernet-1/49", "spine1", "Ethernet1/1")],
)

SSH = """\
Include other
Host *
  User everyone
Host n1 n2 !n3
  HostName %h.example.org
  Port=2222
Host st1
  HostName "10.0.0.9"
Match host foo
  HostName elsewhere
"""

INI = """\
# machines
login1
[compute]
node[01:04] ansible_user=bench
[storage]
st[a:b] ansible_host="{{ lookup('x') }}"
[storage:vars]
ansible_user=bench
[all:vars]
ansible_user=bench
"""

INVENTORY = """\
all:
  vars: {ansible_user: bench, ansible_port: 2222}
  children:
    compute:
      hosts:
        node[01:04]:
    storage:
      hosts:
        st1: {ansible_host: 10.0.1.1}
"""

DUMP = """\
# Topology file: generated on Tue Jun  5 14:15:10 2007

switchguid=0xa1(a1)
Switch\t8 "S-00000000000000a1"\t\t# "MF0;leaf1:SX6036/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0000000000000010"[1](11) \t\t# "n1 mlx5_0" lid 2 4xEDR
[8]\t"S-00000000000000b1"[1]\t\t# "MF0;spine1:SX6036/U1" lid 3 4xEDR

switchguid=0xb1(b1)
Switch\t8 "S-00000000000000b1"\t\t# "MF0;spine1:SX6036/U1" enhanced port 0 lid 3 lmc 0
[1]\t"S-00000000000000a1"[8]\t\t# "MF0;leaf1:SX6036/U1" lid 1 4xEDR

caguid=0x10
Ca\t1 "H-0000000000000010"\t\t# "n1 mlx5_0"
[1](11) \t"S-00000000000000a1"[1]\t\t# lid 2 lmc 0 "MF0;leaf1:SX6036/U1" lid 1 4xEDR
"""

Parse = Callable[[str], Imported]
FORMATS: dict[str, tuple[Parse, str]] = {
    "containerlab": (lambda text: import_text("containerlab", text, "f", "25 Gb/s"), CLAB),
    "slurm": (lambda text: import_text("slurm", text, "f", "25 Gb/s"), CONF),
    "slurm-yaml": (lambda text: import_text("slurm", text, "f", "25 Gb/s"), TREE),
    "lldp": (lambda text: lldp._combine([("n1", text, "n1")], Draft("n1", "")).finish("25 Gb/s"), LLDP),
    "netbox": (lambda text: import_text("netbox", text, "f", "25 Gb/s"), CYJS),
    "ib": (lambda text: import_text("ib", text, "f"), DUMP),
    "ssh-config": (lambda text: import_text("ssh-config", text, "f"), SSH),
    "ansible": (lambda text: import_text("ansible", text, "f"), INI),
    "ansible-yaml": (lambda text: import_text("ansible", text, "f"), INVENTORY),
}
"""Name to the function that reads a text, and a text that it reads."""


def described(imported: Imported) -> Fabric:
    """The fabric of an imported source."""
    return resolve(imported.document, Path("cluster.yaml"))


def problems(parse: Parse, text: str) -> list[str]:
    """Every problem of a source that is wrong, where the source gave it up or where resolving it did."""
    with pytest.raises(TopologyError) as caught:
        described(parse(text))
    return [str(problem) for problem in caught.value.problems]


def cables(fabric: Fabric) -> set[tuple[str, ...]]:
    """Each cable: its devices, and its ports where they are named."""
    found: set[tuple[str, ...]] = set()
    for link in fabric.links.values():
        found.add((link.a, link.b))
        found.update((link.a, link.b, *ends) for ends in zip(link.ports_a, link.ports_b, strict=False))
    return found
