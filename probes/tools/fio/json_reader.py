"""The JSON of fio 2 and 3, between whatever notices fio or a batch system put around it.

``bw`` is KiB/s, ``bw_bytes`` byte/s; ``clat`` is in microseconds up to version 2 and ``clat_ns``
in nanoseconds from 3 on. With ``--status-interval`` a capture holds several documents of which
only finished ones are results, so a job that was still running is left out. Jobs of several hosts
(``--client``, see ``hosts_reader``) are labelled with their host, and fio's own sum with ``client=all`` and the number
of jobs in it. Clones of one job (``numjobs``) are read one by one, with their sum beside them.

fio's text for people and its terse lines are errors: their numbers are rounded or without names.

Source: fio 2.2.10, 3.0 and 3.33, ``stat.c`` and HOWTO.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import parse_decimal, read_number, require_positive
from benchconsole.probes.tools.fio import hosts_reader

_FIRST = "fio version|timestamp|timestamp_ms|time|global options|jobs"
_COMPLAINT = re.compile(
    r"^(?:<[^>\n]*> )?fio: .*(?:\berr=[1-9]|io_u error|No space left).*$"
    r"|^fio: (?:connect[:;]|failed to connect|client \S+ timed out).*$"
    r"|^client(?: <[^>\n]*>: exited with error|: host=\S+ disconnected).*$",
    re.MULTILINE,
)
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
    if said := complaint(text) or complaint(errors):
        raise ProbeOutputError(said, "jobs without error")
    found: list[Reading] = []
    for document in find_documents(text, first=_FIRST):
        found.extend(_hosts(document, text) if "client_stats" in document else _document(document))
    if not found and (people := _FOR_PEOPLE.search(text)):
        raise ProbeOutputError(shorten(people[0]), "fio --output-format=json: its text rounds and its terse lines vary")
    if not found:
        raise ProbeOutputError("no finished job in a whole JSON document", "fio --output-format=json to its end")
    # two documents that tell the same, as --status-interval ends with
    return tuple(dict.fromkeys(found))


def complaint(text: str) -> str:
    """The first line in which fio, or one of its clients, says that something failed; empty where none does."""
    found = _COMPLAINT.search(text)
    return shorten(found[0]) if found else ""


def _document(document: Document) -> Iterator[Reading]:
    jobs = [read_mapping(job) for job in read_array(document.get("jobs"))]
    yield from _jobs(jobs, read_mapping(document.get("global options")))


def _hosts(document: Document, text: str) -> Iterator[Reading]:
    """The jobs of every host, then fio's own sum where it is that of all of them."""
    jobs, totals = hosts_reader.listed(document)
    if not jobs:  # fio ends with status 0 when its servers started nothing
        raise ProbeOutputError("client_stats without a job", "jobs of every client")
    shared = hosts_reader.agreed(document, text)
    if shared is None:  # what a job leaves to the global options is not known, and what it has itself is not all
        jobs, shared = [{**job, "job options": {}} for job in jobs], {}
    _refuse_errors(totals)
    yield from _jobs(jobs, shared)
    total = next((total for total in totals if hosts_reader.holds(total, jobs)), None)
    listed = Counter(map(_which, jobs))
    if total is not None and all(_finished(job, _options(job, shared), listed[_which(job)]) for job in jobs):
        yield from _total(total, jobs, shared)


def _jobs(jobs: Sequence[Document], shared: Document) -> Iterator[Reading]:
    _refuse_errors(jobs)
    alike: dict[tuple[str, str], list[Document]] = {}
    for job in jobs:
        alike.setdefault(_which(job), []).append(job)
    for job in jobs:
        clones = alike[_which(job)]
        number = next(index for index, each in enumerate(clones, 1) if each is job) if len(clones) > 1 else None
        options = _options(job, shared)
        if _finished(job, options, len(clones)):
            yield from _job(job, options, number)
    for clones in alike.values():
        yield from _together(clones, shared)


def _refuse_errors(jobs: Sequence[Document]) -> None:
    for job in jobs:
        for key in ("error", "total_err"):
            if job.get(key) not in (0, None):
                raise ProbeOutputError(f"job {_name(job)} with {key} {shorten(str(job[key]))}", "jobs without error")


def _which(job: Document) -> tuple[str, str]:
    return _name(job), _client(job)


def _total(total: Document, jobs: Sequence[Document], shared: Document) -> Iterator[Reading]:
    """fio's sum over all hosts, with the labels that all jobs have in common."""
    options, listed = [_options(job, shared) for job in jobs], Counter(map(_which, jobs))
    # one entry for all clones of a job (group_reporting) stands for as many
    counts = [1 if listed[_which(job)] > 1 else _clones(given) for job, given in zip(jobs, options, strict=True)]
    for way in _ways(total):
        marks = [_labels(given, way, job) for job, given in zip(jobs, options, strict=True)]
        common = {name: value for name, value in marks[0].items() if all(each.get(name) == value for each in marks)}
        every = labels(**{**common, "client": "all", "clients": sum(counts)})
        yield from _direction(way, read_mapping(total.get(way)), every, "All clients")


def _options(job: Document, shared: Document) -> Document:
    return {**shared, **read_mapping(job.get("job options"))}


def _client(job: Document) -> str:
    """The host that a job ran on, where fio drove several."""
    return str(job.get("hostname", ""))


def _name(job: Document) -> str:
    return shorten(str(job.get("jobname", "")), 60)


def _ways(job: Document) -> Sequence[str]:
    """The directions in which a job moved bytes; the other one of a one-way job is all zeros."""
    found = []
    for way in ("read", "write"):
        got = read_mapping(job.get(way))
        if {"bw", "bw_bytes"} & got.keys() and not got.get("bw") == got.get("bw_bytes", 0) == 0:
            found.append(way)
    return found


def _job(job: Document, options: Document, number: int | None) -> Iterator[Reading]:
    _refuse_several(job, options)
    ways = _ways(job)
    if not ways and not str(options.get("rw", "")).startswith(("trim", "randtrim")):
        raise ProbeOutputError(f"job {_name(job)} with zero bytes", "a job that read or wrote")
    for way in ways:
        marks = _labels(options, way, job)
        if number is not None:
            marks["number"] = number
        elif _clones(options) > 1:  # one entry for all of them: group_reporting
            marks["clients"] = _clones(options)
        yield from _direction(way, read_mapping(job.get(way)), labels(**marks), _name(job))


def _refuse_several(job: Document, options: Document) -> None:
    """Refuse a group of different jobs in one entry (``group_reporting``): it has the name of its first job and the
    options of its last, so that its numbers would get labels of a job that did not reach them.
    """
    kind = str(options.get("rw", options.get("readwrite", ""))).partition(":")[0].removeprefix("rand")
    ways = _ways(job)
    others = {"read": ["write"], "write": [] if "verify" in options else ["read"]}.get(kind, [])
    several = options.get("name", _name(job)) != _name(job) or any(way in ways for way in others)
    for way in ways:
        got, size = read_mapping(job.get(way)), _one_size(options, way)
        moved, count = read_number(got.get("io_bytes")), read_number(got.get("total_ios"))
        if kind and size and moved and count and "bw_bytes" in got and got.get("short_ios") == 0:
            spare = 0.01 * moved + size * _clones(options)
            several = several or abs(moved - count * size) > spare
    if several:
        raise ProbeOutputError(
            f"{_name(job)} with options of another job", "a group of one job and its clones, or no group_reporting"
        )


def _clones(options: Document) -> int:
    return _size(str(options.get("numjobs", "1"))) or 1


def _together(jobs: Sequence[Document], shared: Document) -> Iterator[Reading]:
    """The sum over all clones of one job: their bytes and operations in the time of the longest."""
    options = _options(jobs[0], shared)
    if not 1 < len(jobs) == _clones(options) or not all(_finished(job, options, len(jobs)) for job in jobs):
        return
    for way in _ways(jobs[0]):
        parts = [read_mapping(job.get(way)) for job in jobs]
        times = [read_number(part.get("runtime")) or 0.0 for part in parts]
        if min(times) <= 0:
            continue
        marks = labels(**_labels(options, way, jobs[0]), clients=len(jobs))
        for name, unit, values in (
            (f"fio.{way}", Unit.BYTE_RATE, [_rate(way, part, _name(jobs[0])) for part in parts]),
            (
                f"fio.{way}_iops",
                Unit.PER_SECOND,
                [require_positive(part.get("iops"), f"iops of {way}") for part in parts],
            ),
        ):
            total = sum(value * time for value, time in zip(values, times, strict=True)) / max(times)
            raw = f"{_name(jobs[0])} {way} " + " + ".join(f"{value:g}" for value in values)
            yield Reading(name, total, unit, marks, shorten(raw))


def _rate(way: str, got: Document, job: str) -> float:
    """Byte/s of one direction."""
    name, factor = ("bw_bytes", 1.0) if "bw_bytes" in got else ("bw", _KIB)
    return require_positive(got.get(name), f"{name} of {job} {way}") * factor


def _direction(way: str, got: Document, marks: Labels, job: str) -> Iterator[Reading]:
    name = "bw_bytes" if "bw_bytes" in got else "bw"
    yield Reading(f"fio.{way}", _rate(way, got, job), Unit.BYTE_RATE, marks, f"{job} {way} {name} {got[name]}")
    if "iops" in got:
        operations = require_positive(got["iops"], f"iops of {job} {way}")
        yield Reading(f"fio.{way}_iops", operations, Unit.PER_SECOND, marks, f"{job} {way} iops {got['iops']}")
    for key, factor in (("clat_ns", 1e-9), ("clat", 1e-6)):
        mean = read_number(read_mapping(got.get(key)).get("mean"))
        if mean:
            latency = require_positive(mean, f"{key} of {job} {way}") * factor
            yield Reading(f"fio.{way}_latency", latency, Unit.SECOND, marks, f"{job} {way} {key} mean {mean}")
            yield from _percentiles(way, read_mapping(got.get(key)), factor, (marks, f"{job} {way} {key}"))
            return


def _percentiles(way: str, spread: Document, factor: float, about: tuple[Labels, str]) -> Iterator[Reading]:
    """Half and nearly all of the operations were done in this time; versions fill the list up with zeros."""
    marks, where = about
    for share, value in read_mapping(spread.get("percentile")).items():
        word = _PERCENTILES.get(parse_decimal(share) or 0.0)
        if word and value != 0:
            every = labels(**dict(marks), statistic=word)
            time = require_positive(value, f"{where} {share}") * factor
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
            found[label] = shorten(str(options[key]), 20)
    if (depth := _size(str(options.get("iodepth", "1"))) or 1) > 1:
        found["depth"] = depth
    if not _OWN.fullmatch(_name(job)):
        found["job"] = _name(job)
    if client := _client(job):
        found["client"] = client
    return found


def _part(options: Document, way: str) -> str:
    """The block of one direction: of ``4k,64k`` one of both."""
    parts = str(options.get("bs", options.get("blocksize", "4k"))).split(",")
    return parts[1] if way == "write" and len(parts) > 1 and parts[1] else parts[0]


def _one_size(options: Document, way: str) -> int | None:
    """Bytes of every block of one direction; None where they differ or cannot be told."""
    is_plain = not any(key in options for key in _SPREAD_SIZES) and str(options.get("kb_base", "1024")) == "1024"
    return _size(_part(options, way)) if is_plain else None


def _block(options: Document, way: str) -> str:
    """``4k`` as ``4KiB``; sizes of which one is drawn, and those that cannot be told, as they were given."""
    size = _one_size(options, way)
    if size is None:
        spread = [str(options[key]) for key in _SPREAD_SIZES if key in options]
        return shorten(spread[0] if spread else str(options.get("bs", options.get("blocksize", "4k"))), 20)
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
    ways = [read_mapping(job.get(way)) for way in ("read", "write")]
    size, limit = _asked(options), _limit(options)
    ran = max((read_number(way.get("runtime")) or 0.0 for way in ways), default=0.0) * 1e-3
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
    return sum(read_number(way.get("total_ios")) or 0.0 for way in ways)


def _moved(ways: Sequence[Document], size: int, options: Document) -> bool:
    """Whether the bytes moved come to ``size`` but for a last block. fio 2 counts ``io_bytes`` in KiB."""
    factor = 1.0 if any("bw_bytes" in way or "io_kbytes" in way for way in ways) else _KIB
    moved = factor * sum(read_number(way.get("io_bytes")) or 0.0 for way in ways)
    blocks = str(options.get("bs", options.get("blocksize", "4k"))).split(",")
    over = max((_size(block) or 0 for block in blocks), default=0) * _clones(options)
    return 0.999 * size < moved < size + max(over, 1)
