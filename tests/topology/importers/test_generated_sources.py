"""Generated labs and Slurm trees: as many devices and cables as a count that shares nothing with the readers.

The description that is written of each is read again as the same fabric; an export gives the same counts.
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.exporters import find_exporter
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.writing.topology_file import write
from tests.topology.importers.sources import described

BATCHES = range(10)
IN_BATCH = 20
"""Two hundred of each kind, in ten tests."""
SWITCH_KINDS = ("nokia_srlinux", "arista_ceos", "sonic-vs", "bridge")
ROUTER_IMAGES = ("quay.io/frrouting/frr:10", "ghcr.io/holo-routing/holo", "docker-sonic-vs:latest")
HOST_IMAGES = ("alpine:3", "ghcr.io/hellt/network-multitool", "nginx")
HOST_NAMES = ("host", "srv", "client", "h", "node-a", "vm")


@dataclass
class Counted:
    """The elements of a source, counted while it is made: ``cables`` by pair, ``uncounted`` pairs among them."""

    nodes: set[str] = field(default_factory=set)
    switches: set[str] = field(default_factory=set)
    cables: Counter[frozenset[str]] = field(default_factory=Counter)
    uncounted: set[frozenset[str]] = field(default_factory=set)


def count(fabric: Fabric) -> Counted:
    """The same of a fabric."""
    found = Counted({*fabric.nodes}, {*fabric.switches})
    for link in fabric.links.values():
        pair = frozenset((str(link.a), str(link.b)))
        found.cables[pair] += len(link.members)
        if not link.counted:
            found.uncounted.add(pair)
    return found


def make_lab(random: Random) -> tuple[str, Counted]:
    """A lab of one to three tiers, of kinds that are switches or of containers that are told by name or image."""
    made = Counted()
    lines, links = ["name: lab", "topology:", "  nodes:"], []
    used: Counter[str] = Counter()

    def cable(a: str, b: str) -> None:
        used[a] += 1
        used[b] += 1
        made.cables[frozenset((a, b))] += 1
        ends = [f"{a}:eth{used[a]}", f"{b}:eth{used[b]}"]
        random.shuffle(ends)
        links.append(f'    - endpoints: ["{ends[0]}", "{ends[1]}"]')

    tiers: list[list[str]] = []
    for tier, word in enumerate(("leaf", "spine", "core")[: random.randint(1, 3)]):
        by_name = random.random() < 0.5
        names = [f"{word if by_name else 'x' + 'abc'[tier]}{number}" for number in range(random.randint(1, 4))]
        for name in names:
            image = random.choice(HOST_IMAGES if by_name else ROUTER_IMAGES)
            kind = random.choice((f'{{kind: linux, image: "{image}"}}', f"{{kind: {random.choice(SWITCH_KINDS)}}}"))
            lines.append(f"    {name}: {kind}")
        made.switches.update(names)
        for lower in tiers[-1] if tiers else ():
            for upper in names:
                for _ in range(random.choice((1, 1, 2))):
                    cable(lower, upper)
        tiers.append(names)
    for number in range(random.randint(0, 12)):
        name = f"{random.choice(HOST_NAMES)}{number}"
        lines.append(f'    {name}: {{kind: linux, image: "{random.choice(HOST_IMAGES)}"}}')
        made.nodes.add(name)
        for leaf in random.sample(tiers[0], min(len(tiers[0]), random.choice((1, 1, 2)))):
            cable(name, leaf)
    random.shuffle(links)
    return "\n".join([*lines, "  links:" if links else "", *links]) + random.choice(("\n", "")), made


def make_tree(random: Random) -> tuple[str, Counted]:
    """A tree of Slurm of one to three tiers, as topology.conf or topology.yaml."""
    made = Counted()
    entries: list[tuple[str, str, str]] = []
    below: list[str] = []
    first = random.choice((1, 8, 95))
    for leaf in range(random.randint(1, 6)):
        size = random.randint(1, 9)
        width = random.choice((1, 3))
        numbers = [f"{first + each:0{width}}" for each in range(size)]
        first += size
        kind = f"n{leaf}-"
        made.nodes.update(kind + number for number in numbers)
        made.cables.update(frozenset((kind + number, f"s{leaf}")) for number in numbers)
        several = len({len(number) for number in numbers}) > 1
        text = ",".join(kind + number for number in numbers) if several else f"{kind}[{','.join(numbers)}]"
        entries.append((f"s{leaf}", "nodes", text))
        below.append(f"s{leaf}")
    made.switches.update(below)
    for tier in range(random.randint(0, 2)):
        parents: list[str] = []
        while below:
            taken, below = below[: (size := random.randint(1, 4))], below[size:]
            parent = f"t{tier}-{len(parents)}"
            pairs = [frozenset((child, parent)) for child in taken]
            made.cables.update(pairs)
            made.uncounted.update(pairs)
            entries.append((parent, "children", ",".join(taken)))
            parents.append(parent)
        made.switches.update(parents)
        below = parents
    random.shuffle(entries)
    if random.random() < 0.5:
        keys = {"nodes": "Nodes", "children": "Switches"}
        text = "\n".join(f"SwitchName={name} {keys[key]}={value}" for name, key, value in entries)
    else:
        items = "\n".join(f"      - switch: {name}\n        {key}: {value}" for name, key, value in entries)
        text = f"- topology: t\n  tree:\n    switches:\n{items}"
    return text + random.choice(("\n", "")), made


@pytest.mark.parametrize("batch", BATCHES)
def test_labs_have_the_devices_and_cables_that_they_were_made_of(batch: int) -> None:
    for seed in range(batch * IN_BATCH, (batch + 1) * IN_BATCH):
        text, made = make_lab(Random(seed))
        imported = import_text("containerlab", text, "lab", "10 Gb/s")
        fabric = described(imported)
        assert count(fabric) == made, text
        again = load_text(write(imported, []), "w")
        assert (again.nodes, again.switches, again.links) == (fabric.nodes, fabric.switches, fabric.links), text
        if fabric.links:
            exported = find_exporter("containerlab")(fabric)
            assert count(described(import_text("containerlab", exported, "e"))) == made, exported


@pytest.mark.parametrize("batch", BATCHES)
def test_trees_have_the_devices_and_cables_that_they_were_made_of(batch: int) -> None:
    for seed in range(batch * IN_BATCH, (batch + 1) * IN_BATCH):
        text, made = make_tree(Random(seed))
        imported = import_text("slurm", text, "tree", "10 Gb/s")
        fabric = described(imported)
        assert count(fabric) == made, text
        again = load_text(write(imported, []), "w")
        assert (again.nodes, again.switches, again.links) == (fabric.nodes, fabric.switches, fabric.links), text
        for name in ("slurm", "containerlab"):
            exported = find_exporter(name)(fabric)
            found = count(described(import_text(name, exported, "e", "10 Gb/s")))
            assert found == made, exported
