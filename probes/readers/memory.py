"""The memory of the nodes of a test, and the share of it that a test used: below it, a cache may have answered."""

from benchconsole.probes.api import Target


def find_memory(target: Target) -> float | None:
    """Bytes of memory that the description of the fabric has for all nodes of a test; None where one is unknown."""
    told = [node.hardware.facts.get("memory.total") for node in target.nodes]
    known = [float(size) for size in told if isinstance(size, int | float) and size > 0]
    return sum(known) if known and len(known) == len(told) else None


def format_share(used: float, memory: float) -> str:
    """``used`` bytes of ``memory`` as a label, in percent."""
    return f"{100 * used / memory:.2f} %"
