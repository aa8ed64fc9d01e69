"""The memory of the nodes of a test: known only where it is declared of every one."""

import pytest

from benchconsole.probes.api import Target
from benchconsole.probes.readers.memory import find_memory, format_share
from benchconsole.probes.testing import a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node


def node(memory: float | str | None) -> Node:
    bare = a_node()
    facts: dict[str, str | float] = {} if memory is None else {"memory.total": memory}
    return replace(bare, hardware=replace(bare.hardware, facts=facts))


@pytest.mark.parametrize(
    ("memories", "total"),
    [
        ((2.0**30,), 2.0**30),
        ((2.0**30, 2**31), 3 * 2.0**30),
        ((2.0**30, None), None),
        ((2.0**30, 0), None),
        ((2.0**30, "64 GiB"), None),
    ],
)
def test_memory_of_all_nodes(memories: tuple[float | str | None, ...], total: float | None) -> None:
    nodes = tuple(map(node, memories))
    assert find_memory(Target(nodes[0], members=nodes if len(nodes) > 1 else ())) == total


def test_a_share_is_in_percent() -> None:
    assert format_share(2.0**29, 2.0**30) == "50.00 %"
