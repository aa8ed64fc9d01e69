"""Machines of every kind that a topology file can describe, for tests that write and read them again."""

from hypothesis import strategies as st

from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, Hardware

SPEEDS = st.sampled_from(["10 Gb/s", "25 Gb/s", "100 Mb/s", "40G", "2.5 Gb/s", "123456789 b/s", "1.7 Tb/s"])
WORDS = st.sampled_from(["S5248F", "a 'b' \"c\"", "[bold]x[/]", "null", "yes", "12", "ü: #", "x\\y", "\N{SNOWMAN}"])


@st.composite
def links(draw: st.DrawFn, leaves: int, spines: int, nodes: int) -> list[str]:
    """Entries of ``links`` for leaf1 ..., spine1 ... and n1 ...; leaves[0:2] may be a pair."""
    found = []
    for number in range(1, nodes + 1):
        speed = draw(SPEEDS)
        if leaves > 1 and draw(st.booleans()):
            bond = draw(st.sampled_from(["lacp", "balance-xor", "active-backup"]))
            ports = draw(st.sampled_from(["", ":eth[0-1]"]))
            upper = draw(st.sampled_from(["", f":Eth{number}"]))
            pair = draw(st.sampled_from(["leaf[1-2]", "leaf2,leaf1"]))
            found.append(f'{{from: "n{number}{ports}", to: "{pair}{upper}", speed: "{speed}", bond: {bond}}}')
        else:
            leaf = draw(st.integers(1, leaves))
            count = draw(st.integers(1, 3))
            lower = draw(st.sampled_from(["", f":p[1-{count}]"]))
            upper = draw(
                st.sampled_from(
                    [
                        "",
                        f":Te{number}/[1-{count}]",
                        f":{','.join(f'z{number}-{each}' for each in range(count, 0, -1))}",
                        f":{number}-x[01-{count:02}]",
                    ]
                )
            )
            found.append(
                f'{{from: "n{number}{lower}", to: "leaf{leaf}{upper}", speed: "{speed}", count: {count}'
                f", cable: {{type: DAC, length: {draw(st.sampled_from(['3 m', '50 cm', '0.7 m']))}}}}}"
            )
    for leaf in range(1, leaves + 1):
        for spine in range(1, spines + 1):
            pair = f"from: leaf{leaf}, to: spine{spine}"
            found.append(
                f'{{{pair}, speed: "{draw(SPEEDS)}", hash: {draw(st.sampled_from(["l2", "l3l4", "unknown"]))}}}'
            )
            names = draw(st.lists(st.sampled_from(["po1", "po2", "po1"]), max_size=3))
            counts = draw(st.lists(st.integers(1, 2), min_size=3, max_size=3))
            speeds = draw(st.lists(SPEEDS, min_size=3, max_size=3))
            found += [
                f'{{{pair}, speed: "{speed}", count: {count}, lag: {name}}}'
                for name, count, speed in zip(names, counts, speeds, strict=False)
            ]
    if leaves > 1 and draw(st.booleans()):
        found.append("{from: leaf1, to: leaf2, speed: 40 Gb/s, network: ib}")
    if spines > 1 and draw(st.booleans()):
        line = "rtt: 50.5 ms, available: 3 Gb/s, channels: {265: 5 Gb/s, 266: 1 Gb/s}"
        found.append(f"{{from: spine1, to: spine2, speed: 100 Gb/s, {line}}}")
    return found


@st.composite
def machines(draw: st.DrawFn) -> str:
    """The text of a topology file."""
    leaves, spines, nodes = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.integers(1, 4))
    role = draw(st.sampled_from(["compute", "storage", "gateway"]))
    model = draw(WORDS).replace("'", "''")
    lines = [
        "schema: 1",
        f"fabric: '{model}'",
        f"network: {{mtu: {draw(st.sampled_from([1500, 9000]))}, hash: {draw(st.sampled_from(['l3', 'unknown']))}}}",
        "networks: {ib: {type: Infiniband, mtu: 2044, goodput: 80 %}, gige: {mtu: 1500}}",
        "classes: {big: {memory: 1 TiB}}",
        "switches:",
        f"  leaf[1-{leaves}]: {{role: leaf, model: '{model}'}}",
        *([f"  spine[1-{spines}]: {{role: spine, ports: {draw(_PORTS)}}}"] if spines else []),
        "nodes:",
        f"  n[1-{nodes}]: {{role: {role}, class: big, address: '10.0.0.[1-{nodes}]', data_address: 'd[1-{nodes}].x'}}",
        *([f"  vm[1-{nodes}]: {{host: 'n[1-{nodes}]'}}"] if draw(st.booleans()) else []),
        "  m[1-2]: {forwards: true}",
        "links:",
        *(f"  - {link}" for link in draw(links(leaves, spines, nodes))),
        *(["mlag: {vlt1: {switches: 'leaf[1-2]'}}"] if leaves > 1 and draw(st.booleans()) else []),
        f"vlans: {{265: {{name: odd, members: 'n[1-{nodes}]'}}, 266: {{members: m1}}, 9: {{}}}}",
        f"racks: {{'r[1-{nodes}]': {{members: 'n[1-{nodes}]', model: '{model}'}}}}",
        f"sites: {{here: {{members: 'leaf[1-{leaves}],m1'}}}}",
    ]
    return "\n".join(lines) + "\n"


_PORTS = st.sampled_from(
    ["32", '{"Eth[1-32]": 40 Gb/s}', '{"Eth[1-8]": {speed: 40 Gb/s, breakout: 4}, "x/[09-10]": 1G}']
)


def carried(fabric: Fabric) -> dict[str, object]:
    """The parts of a fabric that a containerlab topology holds (see ``topology.exporters.containerlab``)."""
    return {
        "name": fabric.name,
        "nodes": {
            name: replace(node, hardware=Hardware(node.hardware.name), cohorts=())
            for name, node in fabric.nodes.items()
        },
        "switches": dict(fabric.switches),
        "links": dict(fabric.links),
        "mtu": fabric.mtu,
        "networks": dict(fabric.networks),
        "mlags": {pair.name: pair for pair in fabric.mlags},
        "vlans": dict(fabric.vlans),
        "groups": {(group.kind, group.name): group for group in fabric.groups},
    }
