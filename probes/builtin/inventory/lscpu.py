"""Reads ``lscpu`` and ``lscpu -J`` (flat or nested) as facts about processors."""

from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import begins_document, documents, fields, mapping, sequence, whole, whole_lines
from probes.builtin.inventory.facts import counted, measured, said, some

_AFTER_CORES = ("NUMA node(s)", "L1d cache", "L1d", "L2 cache", "L2", "L3 cache", "L3")
"""Lines that stand below the last block of a processor; before one of them another block may follow."""


def parse(text: str) -> Sequence[Fact]:
    """``cpu.*`` and ``numa.nodes``; ProbeOutputError when no line of lscpu's is there."""
    json = begins_document(text, first="lscpu")
    pairs = list(_from_json(text) if json else fields(whole_lines(text)))
    first: dict[str, str] = {}
    for key, value in pairs:
        first.setdefault(key.removesuffix(":"), value)
    return some(_facts(first, cores=_cores(pairs)), "lscpu's table")


def _from_json(text: str) -> Iterator[tuple[str, str]]:
    for document in documents(text, first="lscpu"):
        yield from _walk(sequence(document.get("lscpu")))


def _walk(entries: Sequence[object]) -> Iterator[tuple[str, str]]:
    waiting = list(reversed(entries))
    while waiting:
        entry = mapping(waiting.pop())
        if isinstance(entry.get("data"), str):
            yield str(entry.get("field", "")).removesuffix(":"), str(entry["data"])
        waiting.extend(reversed(sequence(entry.get("children"))))


def _facts(first: dict[str, str], *, cores: int | None) -> list[Fact]:
    return [
        *said("cpu.model", first.get("Model name")),
        *said("cpu.vendor", first.get("Vendor ID")),
        *said("cpu.architecture", first.get("Architecture")),
        *counted("cpu.threads", first.get("CPU(s)")),
        *counted("cpu.sockets", first.get("Socket(s)")),
        *counted("cpu.cores", cores),
        *counted("cpu.threads_per_core", first.get("Thread(s) per core")),
        *counted("numa.nodes", first.get("NUMA node(s)")),
        *measured("cpu.mhz_max", first.get("CPU max MHz", "").replace(",", ".") + " MHz", Unit.PER_SECOND),
        *said("cpu.hypervisor", first.get("Hypervisor vendor")),
    ]


def _cores(pairs: Sequence[tuple[str, str]]) -> int | None:
    """Physical cores of all sockets; None while a second kind of processor might follow, or when one does."""
    per_socket = [whole(value) for key, value in pairs if key == "Core(s) per socket"]
    sockets = [whole(value) for key, value in pairs if key == "Socket(s)"]
    keys = [key for key, _ in pairs]
    if len(per_socket) != 1 or len(sockets) != 1 or per_socket[0] is None or sockets[0] is None:
        return None
    both = max(keys.index("Core(s) per socket"), keys.index("Socket(s)"))
    return per_socket[0] * sockets[0] if any(key in _AFTER_CORES for key in keys[both:]) else None
