"""Reads the JSON of fio 2 and 3, between whatever notices fio or a batch system put around it.

``bw`` is KiB/s, ``bw_bytes`` byte/s; ``clat`` is in microseconds up to version 2 and ``clat_ns``
in nanoseconds from 3 on. With ``--status-interval`` a capture holds several documents of which
only finished ones are results, so a job that was still running is left out. Jobs of several hosts
(``--client``) are labelled with their host, and fio's own sum with ``client=all``. Clones of one job
(``numjobs``) are read one by one, with their sum beside them.

Refuses fio's text for people and its terse lines, whose numbers are rounded or without names.

Source: fio 2.2.10, 3.0 and 3.33, ``stat.c`` and HOWTO.
"""

import re
from collections.abc import Iterator, Sequence

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import Document, decimal, documents, mapping, one_line, positive, real, sequence

_FIRST = "fio version|timestamp|timestamp_ms|time|global options|jobs"
_COMPLAINT = re.compile(r"^(?:<[^>\n]*> )?fio: .*(?:\berr=[1-9]|io_u error|No space left).*$", re.MULTILINE)
_FOR_PEOPLE = re.compile(r"^(?:<[^>\n]*> )?\S+: \(groupid=\d+, jobs=\d+\): err=|^[2-5];fio-", re.MULTILINE)
_KIB = 1024.0
_OWN = re.compile(r"(?:sequential|random)-(?:read|write|mixed)")
_PERCENTILES = {50.0: "p50", 99.0: "p99"}
_SPREAD_SIZES = ("bsrange", "blocksize_range", "bssplit")
_SIZE = re.compile(r"([0-9]+)\s*(k|m|g|t)?(i)?(b)?", re.IGNORECASE)
_TIME = re.compile(r"([0-9]+)\s*(ms|us|s|m|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "m": 60.0, "h": 3600.0}


def readings(text: str, errors: str = "") -> Sequence[Reading]:
    """Every reading of every finished job; ProbeOutputError when a job failed or none is whole.

    ``errors`` is what fio said on its other stream, searched for complaints only.
    """
    if complaint := _COMPLAINT.search(text) or _COMPLAINT.search(errors):
        raise ProbeOutputError(one_line(complaint[0]), "jobs without error")
    found: list[Reading] = []
    for document in documents(text, first=_FIRST):
        found.extend(_document(document))
    if not found and (people := _FOR_PEOPLE.search(text)):
        raise ProbeOutputError(
            one_line(people[0]), "fio --output-format=json: its text rounds and its terse lines vary"
        )
    if not found:
        raise ProbeOutputError("no finished job in a whole JSON document", "fio --output-format=json to its end")
    # two documents that tell the same, as --status-interval ends with
    return tuple(dict.fromkeys(found))


def _document(document: Document) -> Iterator[Reading]:
    shared = mapping(document.get("global options"))
    jobs = [mapping(job) for key in ("jobs", "client_stats") for job in sequence(document.get(key))]
    for job in jobs:
        for key in ("error", "total_err"):
            if job.get(key) not in (0, None):
                raise ProbeOutputError(f"job {_name(job)} with {key} {one_line(str(job[key]))}", "jobs without error")
    alike: dict[tuple[str, str], list[Document]] = {}
    for job in jobs:
        alike.setdefault((_name(job), _client(job)), []).append(job)
    for job in jobs:
        clones = alike[_name(job), _client(job)]
        number = next(index for index, each in enumerate(clones, 1) if each is job) if len(clones) > 1 else None
        options = _options(job, shared)
        if _finished(job, options, len(clones)):
            yield from _job(job, options, number)
    for clones in alike.values():
        yield from _together(clones, shared)


def _options(job: Document, shared: Document) -> Document:
    return {**shared, **mapping(job.get("job options"))}


def _client(job: Document) -> str:
    """The host that a job ran on, where fio drove several; ``all`` for fio's own sum over them."""
    if "hostname" not in job:
        return ""
    return "all" if job.get("jobname") == "All clients" else one_line(str(job["hostname"]), 60)


def _name(job: Document) -> str:
    return one_line(str(job.get("jobname", "")), 60)


def _ways(job: Document) -> Sequence[str]:
    """The directions in which a job moved bytes; the other one of a one-way job is all zeros."""
    found = []
    for way in ("read", "write"):
        got = mapping(job.get(way))
        if {"bw", "bw_bytes"} & got.keys() and not got.get("bw") == got.get("bw_bytes", 0) == 0:
            found.append(way)
    return found


def _job(job: Document, options: Document, number: int | None) -> Iterator[Reading]:
    ways = _ways(job)
    if not ways and not str(options.get("rw", "")).startswith(("trim", "randtrim")):
        raise ProbeOutputError(f"job {_name(job)} with zero bytes", "a job that read or wrote")
    for way in ways:
        marks = _labels(options, way, job)
        if number is not None:
            marks["number"] = number
        elif _clones(options) > 1:  # one entry for all of them: group_reporting
            marks["clients"] = _clones(options)
        yield from _direction(way, mapping(job.get(way)), labels(**marks), _name(job))


def _clones(options: Document) -> int:
    return _size(str(options.get("numjobs", "1"))) or 1


def _together(jobs: Sequence[Document], shared: Document) -> Iterator[Reading]:
    """The sum over all clones of one job: their bytes and operations in the time of the longest."""
    options = _options(jobs[0], shared)
    if not 1 < len(jobs) == _clones(options) or not all(_finished(job, options, len(jobs)) for job in jobs):
        return
    for way in _ways(jobs[0]):
        parts = [mapping(job.get(way)) for job in jobs]
        times = [real(part.get("runtime")) or 0.0 for part in parts]
        if min(times) <= 0:
            continue
        marks = labels(**_labels(options, way, jobs[0]), clients=len(jobs))
        for name, unit, values in (
            (f"fio.{way}", Unit.BYTE_RATE, [_rate(way, part, _name(jobs[0])) for part in parts]),
            (f"fio.{way}_iops", Unit.PER_SECOND, [positive(part.get("iops"), f"iops of {way}") for part in parts]),
        ):
            total = sum(value * time for value, time in zip(values, times, strict=True)) / max(times)
            raw = f"{_name(jobs[0])} {way} " + " + ".join(f"{value:g}" for value in values)
            yield Reading(name, total, unit, marks, one_line(raw))


def _rate(way: str, got: Document, job: str) -> float:
    """Byte/s of one direction."""
    name, factor = ("bw_bytes", 1.0) if "bw_bytes" in got else ("bw", _KIB)
    return positive(got.get(name), f"{name} of {job} {way}") * factor


def _direction(way: str, got: Document, marks: Labels, job: str) -> Iterator[Reading]:
    name = "bw_bytes" if "bw_bytes" in got else "bw"
    yield Reading(f"fio.{way}", _rate(way, got, job), Unit.BYTE_RATE, marks, f"{job} {way} {name} {got[name]}")
    if "iops" in got:
        operations = positive(got["iops"], f"iops of {job} {way}")
        yield Reading(f"fio.{way}_iops", operations, Unit.PER_SECOND, marks, f"{job} {way} iops {got['iops']}")
    for key, factor in (("clat_ns", 1e-9), ("clat", 1e-6)):
        mean = real(mapping(got.get(key)).get("mean"))
        if mean:
            latency = positive(mean, f"{key} of {job} {way}") * factor
            yield Reading(f"fio.{way}_latency", latency, Unit.SECOND, marks, f"{job} {way} {key} mean {mean}")
            yield from _percentiles(way, mapping(got.get(key)), factor, (marks, f"{job} {way} {key}"))
            return


def _percentiles(way: str, spread: Document, factor: float, about: tuple[Labels, str]) -> Iterator[Reading]:
    """Half and nearly all of the operations were done in this time; versions fill the list up with zeros."""
    marks, where = about
    for share, value in mapping(spread.get("percentile")).items():
        word = _PERCENTILES.get(decimal(share) or 0.0)
        if word and value != 0:
            every = labels(**dict(marks), statistic=word)
            time = positive(value, f"{where} {share}") * factor
            yield Reading(f"fio.{way}_percentile", time, Unit.SECOND, every, f"{where} percentile {share} {value}")


def _labels(options: Document, way: str, job: Document) -> dict[str, object]:
    """Pattern and block as the job's options say; jobs that are not ours carry their name as well."""
    found: dict[str, object] = {}
    kind = str(options.get("rw", options.get("readwrite", ""))).partition(":")[0]
    if kind:
        found["pattern"] = "random" if kind.startswith("rand") else "sequential"
        found["block"] = _block(options, way)
    if options.get("direct") == "0":
        found["direct"] = 0
    for key, label in (("rwmixread", "mix"), ("verify", "verify")):
        if key in options:
            found[label] = one_line(str(options[key]), 20)
    if (depth := _size(str(options.get("iodepth", "1"))) or 1) > 1:
        found["depth"] = depth
    if not _OWN.fullmatch(_name(job)):
        found["job"] = _name(job)
    if client := _client(job):
        found["client"] = client
    return found


def _block(options: Document, way: str) -> str:
    """``4k`` as ``4KiB``; of ``4k,64k`` the part for the direction; sizes of which one is drawn as they were given."""
    text = str(options.get("bs", options.get("blocksize", "4k")))
    spread = [str(options[key]) for key in _SPREAD_SIZES if key in options]
    if spread or str(options.get("kb_base", "1024")) != "1024":
        return one_line(spread[0] if spread else text, 20)
    parts = text.split(",")
    part = parts[1] if way == "write" and len(parts) > 1 and parts[1] else parts[0]
    size = _size(part)
    if size is None:
        return one_line(part, 20)
    for letter, factor in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor}{letter}B"
    return f"{size}B"


def _size(text: str) -> int | None:
    """Bytes of a size as fio reads it: ``4k``, ``4KB`` and ``4Ki`` are 4096, but ``4KiB`` is 4000 (its kb_base)."""
    match = _SIZE.fullmatch(text.strip()[:20])
    if match is None:
        return None
    base = 1000 if match[3] and match[4] else 1024
    return int(match[1]) * int(base ** _POWERS[(match[2] or "").lower()])


_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def _finished(job: Document, options: Document, listed: int = 1) -> bool:
    """Whether the job had reached what its options ask for; where they do not tell, its ``eta`` does.

    ``eta`` alone says nothing sure: versions print 0 shortly before the end, and a huge number after it.
    ``listed`` is how many jobs of the name there are: clones that are listed one by one move ``size`` each.
    """
    ways = [mapping(job.get(way)) for way in ("read", "write")]
    size, limit = _asked(options), _limit(options)
    ran = max((real(way.get("runtime")) or 0.0 for way in ways), default=0.0) * 1e-3
    if limit is not None and ran >= 0.99 * limit:
        return True
    jobs = 1 if listed == _clones(options) else _clones(options)
    if (count := _size(str(options.get("number_ios", "")))) and _done(ways) >= count * jobs:
        return True
    # what is verified is written, then read again
    if size and (
        _moved(ways, size * jobs, options)
        or ("verify" in options and all(_moved([way], size * jobs, options) for way in ways))
    ):
        return True
    if size and limit is not None and ran and any("io_bytes" in way for way in ways):
        return False
    return job.get("eta") in (0, None)


def _limit(options: Document) -> float | None:
    match = _TIME.fullmatch(str(options.get("runtime", ""))[:20])
    return float(match[1]) * _SECONDS[match[2]] if match else None


def _asked(options: Document) -> int | None:
    """Bytes that one job is to move; None where its options do not tell in bytes."""
    size = _size(str(options.get("io_size", options.get("size", options.get("filesize", "")))))
    return size * (_size(str(options.get("loops", "1"))) or 1) if size else None


def _done(ways: Sequence[Document]) -> float:
    return sum(real(way.get("total_ios")) or 0.0 for way in ways)


def _moved(ways: Sequence[Document], size: int, options: Document) -> bool:
    """Whether the bytes moved come to ``size`` but for a last block. fio 2 counts ``io_bytes`` in KiB."""
    factor = 1.0 if any("bw_bytes" in way or "io_kbytes" in way for way in ways) else _KIB
    moved = factor * sum(real(way.get("io_bytes")) or 0.0 for way in ways)
    blocks = str(options.get("bs", options.get("blocksize", "4k"))).split(",")
    over = max((_size(block) or 0 for block in blocks), default=0) * _clones(options)
    return 0.999 * size < moved < size + max(over, 1)
