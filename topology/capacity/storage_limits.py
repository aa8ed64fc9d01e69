"""Layers of storage systems as limits of flows: what comes to the servers of a system, or leaves them, passes each.

A byte that comes to a server is written, as often as the system has replicas, and a byte that leaves one is read. Which
server stores a byte does not matter: a layer is taken to be reached from all servers alike, as disks behind shared
controllers are. For servers with disks of their own ``topology.analysis.storage_ceilings`` adds up the least of each.
Each operation has the whole of a layer, as of a cable: ``list_read_and_written`` tells where that is too much.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.model.storage import LayerLimit, Storage
from benchconsole.topology.selection import fold
from benchconsole.topology.units import storage_rate

OPERATIONS = ("read", "write")


@dataclass(frozen=True, slots=True)
class UnlimitedLayer:
    """A layer, or all of them (empty), whose rate of an operation nobody described."""

    system: str
    operation: str
    layer: str = ""


def add_storage_limits(fabric: Fabric) -> Fabric:
    """``fabric`` with flows limited by the layers of its storage systems.

    SelectionError without a system with servers, and where servers are virtual machines or forward: what crosses their
    cables is not theirs alone.
    """
    served = [system for system in fabric.storage.values() if system.servers]
    if not served:
        raise SelectionError("no storage system with servers in this file, whose layers could limit flows")
    hosts = {node.host for node in fabric.nodes.values() if node.host is not None}
    for system in served:
        nodes = [fabric.nodes[NodeId(server)] for server in system.servers]
        shared = [node.id for node in nodes if node.host is not None or node.forwards or node.id in hosts]
        if shared:
            raise SelectionError(
                f"servers of {system.name} share their cables with others: {fold(shared)} forwards, is a virtual "
                "machine or has some, so its layers cannot be told to limit single flows"
            )
    return replace(fabric, layer_limits=tuple(limit for system in served for limit in _list_limits(system)))


def _list_limits(system: Storage) -> Iterator[LayerLimit]:
    for layer in system.layers:
        for operation in OPERATIONS:
            rate = layer.rates.of(operation)
            copies = system.replicas if operation == "write" else 1
            if rate is not None:
                made = f"{layer.units:,} x {storage_rate(rate)}" + (f", {copies} copies" if copies > 1 else "")
                yield LayerLimit(system.name, layer.name, operation, layer.units * rate / copies, system.servers, made)


def list_unlimited(fabric: Fabric, asked: Sequence[FlowSet]) -> tuple[UnlimitedLayer, ...]:
    """The layers that flows of ``asked`` meet, and whose rate is not known."""
    return tuple(
        UnlimitedLayer(system.name, operation, name)
        for operation, systems in _find_met(fabric, asked).items()
        for system in systems
        for name in _list_unknown(system, operation)
    )


def list_read_and_written(fabric: Fabric, asked: Sequence[FlowSet]) -> tuple[str, ...]:
    """The systems that flows of ``asked`` read and write at once over a layer that limits both operations."""
    reading, writing = _find_met(fabric, asked).values()
    return tuple(
        system.name
        for system in reading
        if system in writing
        and any(all(layer.rates.of(each) is not None for each in OPERATIONS) for layer in system.layers)
    )


def _find_met(fabric: Fabric, asked: Sequence[FlowSet]) -> dict[str, list[Storage]]:
    """The systems whose servers flows of ``asked`` come from, and go to, by operation."""
    flows = [each for each in asked if len(each)]
    ends = ({node for each in flows for node in each.sources}, {node for each in flows for node in each.sinks})
    return {
        operation: [each for each in fabric.storage.values() if not nodes.isdisjoint(map(NodeId, each.servers))]
        for operation, nodes in zip(OPERATIONS, ends, strict=True)
    }


def _list_unknown(system: Storage, operation: str) -> list[str]:
    if not system.layers:
        return [""]
    return [layer.name for layer in system.layers if layer.rates.of(operation) is None]
