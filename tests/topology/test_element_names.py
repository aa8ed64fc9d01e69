from pathlib import Path

from benchconsole.topology.element_names import direction_name, link_name
from benchconsole.topology.model.fabric import Direction
from tests.fabrics import fabric


def test_parallel_lines_have_names_of_their_own(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        "schema: 1\nfabric: x\nswitches: {ra: {}, rb: {}}\nnodes: {a: {}, b: {}}\nlinks:\n"
        "  - {from: a, to: ra, speed: 1G}\n  - {from: b, to: rb, speed: 1G}\n"
        "  - {from: ra, to: rb, speed: 1G, lag: north}\n  - {from: ra, to: rb, speed: 1G, lag: south}\n",
    )
    names = {link_name(described, link) for link in described.links.values()}
    assert names == {"a NIC", "b NIC", "ra to rb", "ra to rb/south"}
    south = next(link for link in described.links.values() if link.lag == "south")
    assert direction_name(described, Direction(south.id, "rb")) == "rb to ra/south"


def test_of_a_node_with_several_cables_the_port_is_named(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        'schema: 1\nfabric: x\nswitches: {"r[1-2]": {}}\nnodes: {a: {}, b: {}}\nlinks:\n'
        '  - {from: "a:p[1-2]", to: "r[1-2]", speed: 1G}\n  - {from: "b:p1", to: r1, speed: 1G}\n',
    )
    names = [direction_name(described, Direction(link.id, link.a)) for link in described.links.values()]
    assert names == ["a:p1 out", "a:p2 out", "b out"]
    assert link_name(described, next(iter(described.links.values()))) == "a:p1 NIC"
