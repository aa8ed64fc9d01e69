"""``lscpu``, ``lscpu -J`` (flat or nested) and ``/proc/cpuinfo`` as facts about processors.

``CPU(s)`` counts those that are off-line too, as a kernel without simultaneous multithreading leaves half of them: what
runs is counted from the list of those that are on-line. ``/proc/cpuinfo`` has no end that could be seen, so a count of
its entries could be that of a cut: only the first is read.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.documents import find_documents, has_document, read_array
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.numbers import parse_count
from benchconsole.probes.tools.inventory import facts

_NAMES = {
    "Model name": "cpu.model", "Vendor ID": "cpu.vendor", "Architecture": "cpu.architecture",
    "Hypervisor vendor": "cpu.hypervisor",
}  # fmt: skip

_AFTER_CORES = ("NUMA node(s)", "L1d cache", "L1d", "L2 cache", "L2", "L3 cache", "L3")
"""Lines that stand below the last block of a processor; before one of them another block may follow."""

_OF_LSCPU = re.compile(r"\s*[A-Z][\w ()/.-]*:(?:\s{2,}\S|\s*$)|On-line CPU\(s\) |Vulnerability |\s*Flags:")
"""The longest key has one blank behind it: that of the processors that are on-line in many versions."""
_CPUS = re.compile(r"[0-9]{1,5}(?:-[0-9]{1,5})?(?:,[0-9]{1,5}(?:-[0-9]{1,5})?)*")
_NODE = re.compile(r"NUMA node(?P<node>[0-9]+) CPU\(s\)")

_CACHE_FILE = re.compile(
    r"/sys/devices/system/cpu/cpu0/cache/index(?P<index>[0-9])/(?P<name>level|type|size|shared_cpu_list)"
)
_CACHE_SIZE = re.compile(r"(?P<number>[0-9]{1,9})(?P<letter>[KM])")

_CPUINFO_NAMES = {"model name": "cpu.model", "vendor_id": "cpu.vendor", "microcode": "cpu.microcode"}
_OF_CPUINFO = re.compile(r"[\w ]{1,60}\s{0,20}:|\s*$")


def find_first_processor(text: str) -> Iterator[Fact]:
    """``cpu.model``, ``cpu.vendor``, ``cpu.microcode``, ``.cores_per_socket``; of virtual machines ``virt.flag``."""
    fields = facts.read_whole_fields(read_lines(text), _OF_CPUINFO)
    yield from facts.make_texts(_CPUINFO_NAMES, fields)
    yield from facts.make_count("cpu.cores_per_socket", fields.get("cpu cores"))
    if "hypervisor" in fields.get("flags", "").split():
        yield Fact("virt.flag", "hypervisor")


def find_processors(text: str) -> Iterator[Fact]:
    """``cpu.*``, ``numa.nodes``, ``numa.cpus`` with the label ``numa``.

    How large a cache is says of one or of all, by version: left out.
    """
    lines = read_lines(text)
    if has_document(text, first="lscpu"):
        documents = find_documents(text, first="lscpu")
        entries = [entry for each in documents for entry in facts.walk_tree(read_array(each.get("lscpu")))]
        pairs = [(str(one.get("field", "")).removesuffix(":"), one.get("data")) for one in entries]
        lines = [f"{key}:  {value}" for key, value in pairs if isinstance(value, str)]
    fields = facts.read_whole_fields(lines, _OF_LSCPU)
    online = _count_processors(fields.get("On-line CPU(s) list", ""))
    threads = parse_count(fields.get("Thread(s) per core", "")) or 0
    cores = _count_cores(list(split_fields(lines)))
    counts = {
        "cpu.threads": online,
        "cpu.sockets": fields.get("Socket(s)"),
        "cpu.cores": cores if cores and cores * threads == online else None,
        "cpu.threads_per_core": threads,
        "numa.nodes": fields.get("NUMA node(s)"),
    }
    yield from facts.make_texts(_NAMES, fields)
    for name, count in counts.items():
        # the processor that ran lscpu is there: none is 0
        yield from (fact for fact in facts.make_count(name, count) if fact.value)
    fastest = fields.get("CPU max MHz", "").replace(",", ".")
    yield from facts.make_quantity("cpu.mhz_max", f"{fastest} MHz", Unit.PER_SECOND)
    for key, value in fields.items():
        if node := _NODE.fullmatch(key):
            yield from facts.make_text("numa.cpus", value, facts.label_part("numa", node["node"]))


def find_caches(text: str) -> Iterator[Fact]:
    """``cpu.cache_size`` and ``cpu.cache_cpus`` (how many processors share it) with the label ``cache``: L1d, L2 ...

    Of the caches that the first processor uses (the kernel's ``cacheinfo``); others of a hybrid processor are unlike.
    """
    files = (
        (file["index"], file["name"], value)
        for path, value in split_fields(read_lines(text))
        if (file := _CACHE_FILE.fullmatch(path))
    )
    caches: dict[str, dict[str, str]] = {}
    for index, name, value in files:
        caches.setdefault(index, {})[name] = value
    for cache in caches.values():
        letter = {"Data": "d", "Instruction": "i", "Unified": ""}.get(cache.get("type", ""))
        size = _CACHE_SIZE.fullmatch(cache.get("size", ""))
        if letter is None or size is None or cache.get("level", "") not in ("1", "2", "3", "4"):
            continue
        marks = facts.label_part("cache", f"L{cache['level']}{letter}")
        yield from facts.make_size("cpu.cache_size", facts.scale_binary(size["number"], size["letter"]), marks)
        yield from facts.make_count("cpu.cache_cpus", _count_processors(cache.get("shared_cpu_list", "")), marks)


def _count_processors(cpus: str) -> int | None:
    """How many processors a list names (``0-3,8``); None where it is not one in rising order."""
    if not _CPUS.fullmatch(cpus):
        return None
    parts = [part.partition("-") for part in cpus.split(",")]
    ends = [(int(first), int(last or first)) for first, _, last in parts]
    rising = all(first <= last for first, last in ends)
    rising = rising and all(before[1] < after[0] for before, after in itertools.pairwise(ends))
    return sum(last - first + 1 for first, last in ends) if rising else None


def _count_cores(pairs: Sequence[tuple[str, str]]) -> int | None:
    """Physical cores of all sockets; None while a second kind of processor might follow, or when one does."""
    per_socket = [parse_count(value) for key, value in pairs if key == "Core(s) per socket"]
    sockets = [parse_count(value) for key, value in pairs if key == "Socket(s)"]
    keys = [key for key, _ in pairs]
    if len(per_socket) != 1 or len(sockets) != 1 or per_socket[0] is None or sockets[0] is None:
        return None
    both = max(keys.index("Core(s) per socket"), keys.index("Socket(s)"))
    return per_socket[0] * sockets[0] if any(key in _AFTER_CORES for key in keys[both:]) else None
