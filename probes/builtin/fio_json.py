"""Reads the JSON of fio 2 and 3, between whatever notices fio or a batch system put around it.

``bw`` is KiB/s, ``bw_bytes`` byte/s; ``clat`` is in microseconds up to version 2 and ``clat_ns``
in nanoseconds from 3 on. With ``--status-interval`` a capture holds several documents of which
only finished ones are results, so a job that was still running is left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import Document, documents, mapping, one_line, positive, real, sequence

_FIRST = "fio version|timestamp|timestamp_ms|time|global options|jobs"
_COMPLAINT = re.compile(r"^fio: .*(?:\berr=[1-9]|io_u error|No space left).*$", re.MULTILINE)
_KIB = 1024.0
_OWN = re.compile(r"(?:sequential|random)-(?:read|write)")
_SIZE = re.compile(r"([0-9]+)\s*(k|m|g|t)?(?:i?b)?", re.IGNORECASE)
_TIME = re.compile(r"([0-9]+)\s*(ms|us|s|m|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "m": 60.0, "h": 3600.0}


def readings(text: str) -> Sequence[Reading]:
    """Every reading of every finished job; ProbeOutputError when a job failed or none is whole."""
    if complaint := _COMPLAINT.search(text):
        raise ProbeOutputError(one_line(complaint[0]), "jobs without error")
    found: list[Reading] = []
    for document in documents(text, first=_FIRST):
        found.extend(_document(document))
    if not found:
        raise ProbeOutputError("no finished job in a whole JSON document", "fio --output-format=json to its end")
    # two documents that tell the same, as --status-interval ends with
    return tuple(dict.fromkeys(found))


def _document(document: Document) -> Iterator[Reading]:
    shared = mapping(document.get("global options"))
    jobs = [mapping(job) for job in sequence(document.get("jobs"))]
    for job in jobs:
        if job.get("error") not in (0, None):
            raise ProbeOutputError(f"job {_name(job)} with error {one_line(str(job['error']))}", "jobs without error")
    alike, seen = Counter(_name(job) for job in jobs), Counter[str]()
    for job in jobs:
        seen[_name(job)] += 1
        number = seen[_name(job)] if alike[_name(job)] > 1 else None
        if _finished(job, {**shared, **mapping(job.get("job options"))}):
            yield from _job(job, shared, number)


def _name(job: Document) -> str:
    return one_line(str(job.get("jobname", "")), 60)


def _job(job: Document, shared: Document, number: int | None) -> Iterator[Reading]:
    options, count = {**shared, **mapping(job.get("job options"))}, 0
    for way in ("read", "write"):
        got = mapping(job.get(way))
        if got.get("bw") == got.get("bw_bytes", 0) == 0 or not {"bw", "bw_bytes"} & got.keys():
            continue  # the other direction of a one-way job is all zeros
        count += 1
        yield from _direction(way, got, _labels(options, way, _name(job), number), _name(job))
    if not count and not str(options.get("rw", "")).startswith(("trim", "randtrim")):
        raise ProbeOutputError(f"job {_name(job)} with zero bytes", "a job that read or wrote")


def _direction(way: str, got: Document, marks: Labels, job: str) -> Iterator[Reading]:
    name, factor = ("bw_bytes", 1.0) if "bw_bytes" in got else ("bw", _KIB)
    rate = positive(got.get(name), f"{name} of {job} {way}") * factor
    yield Reading(f"fio.{way}", rate, Unit.BYTE_RATE, marks, f"{job} {way} {name} {got[name]}")
    if "iops" in got:
        operations = positive(got["iops"], f"iops of {job} {way}")
        yield Reading(f"fio.{way}_iops", operations, Unit.PER_SECOND, marks, f"{job} {way} iops {got['iops']}")
    for key, factor in (("clat_ns", 1e-9), ("clat", 1e-6)):
        mean = real(mapping(got.get(key)).get("mean"))
        if mean:
            latency = positive(mean, f"{key} of {job} {way}") * factor
            yield Reading(f"fio.{way}_latency", latency, Unit.SECOND, marks, f"{job} {way} {key} mean {mean}")
            return


def _labels(options: Document, way: str, job: str, number: int | None) -> Labels:
    """Pattern and block as the job's options say; jobs that are not ours carry their name as well."""
    found: dict[str, object] = {}
    kind = str(options.get("rw", options.get("readwrite", ""))).partition(":")[0]
    if kind:
        found["pattern"] = "random" if kind.startswith("rand") else "sequential"
        found["block"] = _block(str(options.get("bs", options.get("blocksize", "4k"))), way)
    if options.get("direct") == "0":
        found["direct"] = 0
    if not _OWN.fullmatch(job):
        found["job"] = job
    if number is not None:
        found["number"] = number
    return labels(**found)


def _block(text: str, way: str) -> str:
    """``4k`` as ``4KiB``; of ``4k,64k`` the part for the direction."""
    parts = text.split(",")
    part = parts[1] if way == "write" and len(parts) > 1 else parts[0]
    size = _size(part)
    if size is None:
        return one_line(part, 20)
    for letter, factor in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor}{letter}B"
    return f"{size}B"


def _size(text: str) -> int | None:
    match = _SIZE.fullmatch(text.strip()[:20])
    return int(match[1]) * _KIB_POWERS[(match[2] or "").lower()] if match else None


_KIB_POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def _finished(job: Document, options: Document) -> bool:
    """Whether the job had reached what its options ask for; where they do not tell, its ``eta`` does.

    ``eta`` alone says nothing sure: versions print 0 shortly before the end, and a huge number after it.
    """
    ways = [mapping(job.get(way)) for way in ("read", "write")]
    size, limit = _size(str(options.get("size", ""))), _limit(options)
    ran = max((real(way.get("runtime")) or 0.0 for way in ways), default=0.0) * 1e-3
    if limit is not None and ran >= 0.99 * limit:
        return True
    jobs = _size(str(options.get("numjobs", "1"))) or 1
    if size and _moved(ways, size * jobs):
        return True
    if size and limit is not None and ran and any("io_bytes" in way for way in ways):
        return False
    return job.get("eta") in (0, None)


def _limit(options: Document) -> float | None:
    match = _TIME.fullmatch(str(options.get("runtime", ""))[:20])
    return float(match[1]) * _SECONDS[match[2]] if match else None


def _moved(ways: Sequence[Document], size: int) -> bool:
    """Whether the bytes moved come to ``size`` but for a last block. fio 2 counts ``io_bytes`` in KiB."""
    factor = 1.0 if any("bw_bytes" in way or "io_kbytes" in way for way in ways) else _KIB
    moved = factor * sum(real(way.get("io_bytes")) or 0.0 for way in ways)
    return 0.999 * size < moved <= size
