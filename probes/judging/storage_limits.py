"""What a described storage system allows the nodes of a test, for the operation that a number is of."""

from collections.abc import Iterable, Iterator

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.model.measuring import Labels, Test
from benchconsole.topology.analysis.storage_ceilings import Ceiling
from benchconsole.topology.model.storage import Storage


def find_system(context: JudgingContext, test: Test) -> Storage | None:
    """The storage system that a test was told to use."""
    return context.fabric.storage.get(str(test.target.options.get("shared") or ""))


def name_operation(metric: str, labels: Labels) -> str:
    """``read`` or ``write`` where the label or the name of the metric says so, else empty."""
    said = dict(labels).get("operation", metric.partition(".")[2])
    return said if said in ("read", "write") else ""


def list_ceilings(context: JudgingContext, system: Storage, nodes: Iterable[str], operation: str) -> Iterator[Ceiling]:
    """The ceilings of each set of clients that all of ``nodes`` belong to; none without an operation."""
    every = set(nodes)
    for group in context.ceilings if operation else ():
        clients = next((each for each in system.clients if each.name == group.clients), None)
        if group.storage == system.name and clients is not None and every <= set(clients.nodes):
            yield group.of(operation)
