"""Reads ``lscpu`` and ``lscpu -J`` (flat or nested) as facts about processors.

``CPU(s)`` counts those that are off-line too, as a kernel without simultaneous multithreading leaves half
of them: what runs is counted from the list of those that are on-line.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import begins_document, documents, fields, mapping, sequence, whole, whole_lines
from probes.builtin.inventory.facts import counted, firsts, measured, on, said, some

_AFTER_CORES = ("NUMA node(s)", "L1d cache", "L1d", "L2 cache", "L2", "L3 cache", "L3")
"""Lines that stand below the last block of a processor; before one of them another block may follow."""

_OWN = re.compile(r"\s*[A-Z][\w ()/.-]*:(?:\s{2,}\S|\s*$)|On-line CPU\(s\) |Vulnerability |\s*Flags:")
"""The longest key has one blank behind it: that of the processors that are on-line in many versions."""
_CPUS = re.compile(r"[0-9]{1,5}(?:-[0-9]{1,5})?(?:,[0-9]{1,5}(?:-[0-9]{1,5})?)*")
_NODE = re.compile(r"NUMA node(?P<node>[0-9]+) CPU\(s\)")


def parse(text: str) -> Sequence[Fact]:
    """``cpu.*``, ``numa.nodes``, ``numa.cpus`` with the label ``numa``;

    ProbeOutputError when no line of lscpu's is there. How large a cache is says of one or of all, by version: left out.
    """
    json = begins_document(text, first="lscpu")
    lines = whole_lines(text)
    pairs = list(_from_json(text) if json else fields(lines))
    first = firsts([f"{key}:  {value}" for key, value in pairs] if json else lines, _OWN)
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
    online = _counted(first.get("On-line CPU(s) list", ""))
    threads = whole(first.get("Thread(s) per core", "")) or 0
    return [
        *said("cpu.model", first.get("Model name")),
        *said("cpu.vendor", first.get("Vendor ID")),
        *said("cpu.architecture", first.get("Architecture")),
        *_there("cpu.threads", online),
        *_there("cpu.sockets", first.get("Socket(s)")),
        *_there("cpu.cores", cores if cores and cores * threads == online else None),
        *_there("cpu.threads_per_core", first.get("Thread(s) per core")),
        *_there("numa.nodes", first.get("NUMA node(s)")),
        *measured("cpu.mhz_max", first.get("CPU max MHz", "").replace(",", ".") + " MHz", Unit.PER_SECOND),
        *said("cpu.hypervisor", first.get("Hypervisor vendor")),
        *_nodes(first),
    ]


def _there(name: str, value: object) -> list[Fact]:
    """A count above 0: what ran ``lscpu`` has at least one of everything that is counted here."""
    return [fact for fact in counted(name, value) if fact.value]


def _counted(cpus: str) -> int | None:
    """How many processors a list names (``0-3,8``); None where it is not one in rising order."""
    if not _CPUS.fullmatch(cpus):
        return None
    parts = [part.partition("-") for part in cpus.split(",")]
    ends = [(int(first), int(last or first)) for first, _, last in parts]
    rising = all(first <= last for first, last in ends) and all(
        before[1] < after[0] for before, after in itertools.pairwise(ends)
    )
    return sum(last - first + 1 for first, last in ends) if rising else None


def _nodes(first: dict[str, str]) -> Iterator[Fact]:
    for key, value in first.items():
        if node := _NODE.fullmatch(key):
            yield from said("numa.cpus", value, on("numa", node["node"]))


def _cores(pairs: Sequence[tuple[str, str]]) -> int | None:
    """Physical cores of all sockets; None while a second kind of processor might follow, or when one does."""
    per_socket = [whole(value) for key, value in pairs if key == "Core(s) per socket"]
    sockets = [whole(value) for key, value in pairs if key == "Socket(s)"]
    keys = [key for key, _ in pairs]
    if len(per_socket) != 1 or len(sockets) != 1 or per_socket[0] is None or sockets[0] is None:
        return None
    both = max(keys.index("Core(s) per socket"), keys.index("Socket(s)"))
    return per_socket[0] * sockets[0] if any(key in _AFTER_CORES for key in keys[both:]) else None
