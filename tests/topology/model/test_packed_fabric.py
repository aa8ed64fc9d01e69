"""A packed fabric is the fabric again: every value, its type, its order, and what is one object."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec import Struct
from msgspec.structs import astuple

from benchconsole import topology
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.baseline import BaselineNumbers
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId
from benchconsole.topology.model.packed_fabric import pack_fabric, unpack_fabric
from tests.topology.exporters.machines import machines

EXAMPLES = sorted(
    (*(Path(topology.__file__).parent / "examples").glob("*.yaml"), *Path("docs/reference/fabrics").glob("*.yaml"))
)


def spell(value: object) -> object:
    """Everything that a value holds, with the type of each part and the order of each mapping."""
    kind = type(value).__name__
    if isinstance(value, Mapping):
        return "mapping", [(spell(key), spell(each)) for key, each in value.items()]
    if is_dataclass(value) and not isinstance(value, type):
        return kind, [(field.name, spell(getattr(value, field.name))) for field in fields(value)]
    if isinstance(value, Struct):
        return kind, [spell(each) for each in astuple(value)]
    if isinstance(value, frozenset):
        return kind, sorted(map(repr, map(spell, value)))
    if isinstance(value, tuple):
        return kind, [spell(each) for each in value]
    return kind, repr(value)


def pack_again(fabric: Fabric) -> Fabric:
    return unpack_fabric(pack_fabric(fabric), fabric.text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_fabrics_of_the_documents(path: Path) -> None:
    fabric = load_text(path.read_text(), path)
    assert spell(pack_again(fabric)) == spell(fabric)


@settings(max_examples=60, deadline=None)
@given(machines())
def test_machines_of_every_kind(text: str) -> None:
    fabric = load_text(text, "drawn.yaml")
    assert spell(pack_again(fabric)) == spell(fabric)


def describe(nodes: int) -> Fabric:
    """A fabric of so many nodes, with more different names than a byte can number."""
    return load_text(
        "schema: 1\nfabric: wide\nclasses: {big: {memory: 1 TiB}}\nswitches: {leaf1: {role: leaf}}\n"
        f"nodes: {{'n[0001-{nodes:04}]': {{role: compute, class: big}}}}\n"
        f"links: [{{from: 'n[0001-{nodes:04}]', to: leaf1, speed: 10 Gb/s}}]\n",
        "wide.yaml",
    )


@pytest.mark.parametrize("nodes", [1, 255, 256, 257, 300])
def test_columns_of_few_and_of_many_values(nodes: int) -> None:
    fabric = describe(nodes)
    again = pack_again(fabric)
    assert spell(again) == spell(fabric)
    assert {id(node.hardware) for node in again.nodes.values()} == {id(again.nodes[NodeId("n0001")].hardware)}
    for link in again.links.values():
        assert link.a is again.nodes[NodeId(link.a)].id
    with pytest.raises(TypeError):
        again.links[LinkId("other")] = next(iter(again.links.values()))  # type: ignore[index]


def test_a_fabric_that_is_no_file_is_refused() -> None:
    fabric = describe(2)
    for other in (replace(fabric, whole=fabric), replace(fabric, baseline=BaselineNumbers("before"))):
        with pytest.raises(ValueError, match="expected one as its file describes it"):
            pack_fabric(other)


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_other_bytes_are_refused(cut: int) -> None:
    packed = pack_fabric(describe(3))
    with pytest.raises(ValueError, match=r"."):
        unpack_fabric(packed[:cut], "")
    with pytest.raises(ValueError, match=r"."):
        unpack_fabric(b"\x93" + packed, "")
