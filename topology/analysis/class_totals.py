"""Totals over nodes by what their classes declare: processors, cores, memory, disks and peak.

A total is known only where every class in it declares the fact: a part is never taken for the whole.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType

from benchconsole.topology.model.fabric import Fabric, Hardware, Node, NodeId
from benchconsole.topology.units import Unit, counted, disk_size, memory_size, show


@dataclass(frozen=True, slots=True)
class ClassPart:
    """The nodes of one class in a total; ``each`` is what one of them has, None where the class does not say."""

    name: str
    nodes: int
    each: float | None

    @property
    def value(self) -> float | None:
        return None if self.each is None else self.nodes * self.each


def _read_fact(*names: str) -> Callable[[Hardware], float | None]:
    """The product of declared facts; None where one is missing."""

    def read(hardware: Hardware) -> float | None:
        product = 1.0
        for name in names:
            value = hardware.facts.get(name)
            if not isinstance(value, float):
                return None
            product *= value
        return product

    return read


_PER_NODE: Mapping[str, Callable[[Hardware], float | None]] = MappingProxyType(
    {
        "nodes": lambda hardware: 1.0,
        "sockets": _read_fact("cpu.sockets"),
        "cores": _read_fact("cpu.cores"),
        "memory": _read_fact("memory.total"),
        "disk": _read_fact("disk.count", "disk.size"),
        "peak": lambda hardware: hardware.peak,
    }
)
TOTALS = tuple(_PER_NODE)
"""Quantities that can be added up."""


def count_classes(nodes: Iterable[Node]) -> list[tuple[Hardware, int]]:
    """The classes of ``nodes``, and how many are of each; virtual machines have the hardware of others."""
    own = [node.hardware for node in nodes if node.host is None]
    classes = dict(zip(map(attrgetter("name"), own), own, strict=True))
    counts = Counter(map(attrgetter("name"), own))
    return [(classes[name], number) for name, number in counts.items()]


def list_parts(what: str, classes: Iterable[tuple[Hardware, int]]) -> tuple[ClassPart, ...]:
    """Each class with what one of its nodes has of ``what``."""
    return tuple(ClassPart(hardware.name, number, _PER_NODE[what](hardware)) for hardware, number in classes)


def add_up(parts: Iterable[ClassPart]) -> float | None:
    """The sum of all parts; None without any, and where one is not known."""
    values = [part.value for part in parts]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def choose_nodes(fabric: Fabric, names: Iterable[str]) -> list[Node]:
    """The nodes of these names."""
    return [fabric.nodes[NodeId(name)] for name in names]


def format_total(what: str, value: float) -> str:
    """A number of things with its noun, or a quantity; memory as it is sold and as documents write it."""
    if what == "memory":
        return f"{memory_size(value)} ({disk_size(value)})"
    if what == "disk":
        return disk_size(value)
    if what == "peak":
        return show(value, Unit.FLOP_RATE)
    return counted(round(value), what.removesuffix("s"))


def format_part(what: str, part: ClassPart) -> str:
    """``320 nodes of m630 x 24 cores``."""
    nodes = f"{counted(part.nodes, 'node')} of {part.name}"
    if what == "nodes" or part.each is None:
        return nodes
    each = memory_size(part.each) if what == "memory" else format_total(what, part.each)
    return f"{nodes} x {each}"
