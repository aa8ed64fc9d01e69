"""The JSON of ``fio --client``: jobs of several hosts in one list, and fio's sum of them.

fio writes the global options of all hosts into one object, so that a name stands there once for each host. It prints
"All clients" when it believes that all have reported, and believes so too early where a host was not reached or a
short job ended before another began. So a sum counts only where it is that of the jobs beside it, and an option only
where all hosts certainly had it.

Source: ``client.c`` of fio 3; fio 3.33 with a host that it could not reach, and one that died.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchconsole.probes.readers.documents import Document, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import read_number

_TOTAL = "All clients"
_GLOBAL = re.compile(r"\"global options\"\s*:\s*(?=\{)")
_BLOCKS = 64
"""Global options that are looked at; bounds the work on hostile text."""
_LONGEST_NAME = 120
"""Of a host; a Unix socket's path has at most 107 bytes."""

Pairs = list[tuple[str, str]]


def listed(document: Document) -> tuple[Sequence[Document], Sequence[Document]]:
    """The jobs of every host, and the sums that fio printed over them. A host with several ports is told by both."""
    entries = [read_mapping(entry) for entry in read_array(document.get("client_stats"))]
    jobs = [entry for entry in entries if entry.get("jobname") != _TOTAL]
    ports = defaultdict(set)
    for job in jobs:
        ports[str(job.get("hostname", ""))].add(str(job.get("port", "")))
    named = []
    for job in jobs:
        host = str(job.get("hostname", ""))
        full = f"{host}:{job.get('port', '')}" if len(ports[host]) > 1 else host
        named.append({**job, "hostname": shorten(full, _LONGEST_NAME)})
    return named, [entry for entry in entries if entry.get("jobname") == _TOTAL]


def agreed(document: Document, text: str) -> Document | None:
    """The global options of ``document``, which ``text`` has as written; None where not every host had all of them.

    One that only some had would stand for a default of the others, so that then none of them is certain.
    """
    if "global options" not in document:  # older versions print none
        return {}
    written = {name: str(value) for name, value in read_mapping(document.get("global options")).items()}
    hosts = {(str(job.get("hostname")), str(job.get("port"))) for job in listed(document)[0]}
    blocks = [pairs for pairs in _written(text) if dict(pairs) == written]
    every = Counter({item: len(hosts) for item in written.items()})
    return written if blocks and all(Counter(pairs) == every for pairs in blocks) else None


def _written(text: str) -> Iterator[Pairs]:
    """Every object of global options in ``text``, with names as often as they stand there."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    for number, match in enumerate(_GLOBAL.finditer(text)):
        if number == _BLOCKS:
            return
        try:
            pairs, _ = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        yield [(name, str(value)) for name, value in pairs]


def holds(total: Document, jobs: Sequence[Document]) -> bool:
    """Whether ``total`` is the sum over exactly these jobs: all their bytes, in the time of the longest."""
    return bool(jobs) and all(_holds(way, total, jobs) for way in ("read", "write"))


def _holds(way: str, total: Document, jobs: Sequence[Document]) -> bool:
    whole, parts = read_mapping(total.get(way)), [read_mapping(job.get(way)) for job in jobs]
    if way not in total and not any(way in job for job in jobs):
        return True
    moved, times = ([read_number(part.get(key)) for part in (whole, *parts)] for key in ("io_bytes", "runtime"))
    if None in moved or None in times:
        return False
    known, lasted = [value or 0.0 for value in moved], [value or 0.0 for value in times]
    # fio 2 rounds every one of them down to KiB
    spare = 0 if "bw_bytes" in whole else len(jobs)
    return abs(known[0] - sum(known[1:])) <= spare and lasted[0] == max(lasted[1:])
