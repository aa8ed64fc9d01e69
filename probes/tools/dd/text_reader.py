"""Output of dd: GNU coreutils in any language, uutils, busybox, toybox and the BSDs.

The rate is always bytes by seconds, never the rounded one that is printed; the printed one and the sizes in brackets
must agree with it. Whether it wrote or read is known of our own runs only, which are marked.

Sources: coreutils ``src/dd.c`` and its message catalogues, busybox ``coreutils/dd.c``, toybox and FreeBSD ``dd``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import refuse_lines, shorten, split_lines, strip_colours
from benchconsole.probes.readers.numbers import format_size, parse_decimal, require_positive

MARK = "benchconsole-dd"
"""Begins the line that our script prints before each run, with what the run does."""

_MARKED = re.compile(
    MARK + r" operation=(?P<operation>read|write) size=(?P<size>[0-9]{1,15}) block=(?P<block>[0-9]{1,15})"
    r" direct=(?P<direct>[01]) sync=(?P<sync>[01]) cache=(?P<cache>[01])\Z"
)
_NUMBER = r"[0-9]{1,15}(?:[.,][0-9]{1,15})?(?:e[+-]?[0-9]{1,3})?"
_RECORDS = re.compile(r"[^0-9+]*(?P<full>[0-9]{1,15})\+(?P<part>[0-9]{1,15})\s*[^0-9+\s][^0-9+]*")
_GNU = re.compile(
    r"[^0-9(]*(?P<bytes>[0-9]{1,15})(?![0-9.,])[^0-9()]*(?:\((?P<sizes>[^()]*)\)[^0-9()]*)?[,，、]\s*"
    rf"(?P<seconds>{_NUMBER})\s*[^\W\d]{{1,12}}\.?\s*[,，、]\s*"
    rf"(?P<rate>{_NUMBER})(?P<gap>\s*)(?P<unit>[kKMGTPE]?i?[Bo]?)/[^\W\d]{{1,12}}\.?\s*"
)
_BSD = re.compile(
    rf"\s*(?P<bytes>[0-9]{{1,15}}) bytes transferred in (?P<seconds>{_NUMBER}) sec(?:ond)?s"
    rf" \((?P<rate>{_NUMBER}) bytes/sec\)\s*"
)
_SIZE = re.compile(rf"({_NUMBER})(\s*)([kKMGTPE]?i?[Bo]?)(?![\w.])")
_COMPLAINT = re.compile(
    r"^(?:(?:\S*/|\S+: (?:line [0-9]+: |[0-9]+: )?)?g?dd: |\^C)"
    r"|(?:No space left on device|Input/output error|Disk quota exceeded|Read-only file system)"
)
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_TOLERANCE = 0.01
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class _Copied:
    """One summary: bytes, seconds, whether these may be the whole seconds of progress, whether the printed rate
    and sizes agree with them, and the line.
    """

    size: float
    seconds: float
    coarse: bool
    sound: bool
    raw: str


def readings(text: str) -> list[Reading]:
    """The rate of every run in ``text``, none where there is no dd; ProbeOutputError where one failed."""
    refuse_lines(_COMPLAINT, split_lines(text), "dd to copy everything without complaint")
    return [
        Reading("dd.throughput", require_positive(run.size / run.seconds, "a rate"), Unit.BYTE_RATE, marks, run.raw)
        for run, marks in _find_runs(text)
    ]


def _find_runs(text: str) -> Iterator[tuple[_Copied, Labels]]:
    """Every run that ended, with the labels of our mark, or with its number where somebody else ran it."""
    ours, mark, number = MARK in text, None, 0
    records: list[tuple[int, int]] = []
    for line, progress in _read_lines(text):
        if MARK in line:
            mark, records = _MARKED.search(line), []
        elif found := _RECORDS.fullmatch(line):
            records = [*records[-1:], (int(found["full"]), int(found["part"]))]
        elif copied := _read_copied(line):
            if len(records) != 2 and (ours or progress or copied.coarse):
                continue
            _refuse_unsound(copied, records)
            number += 1
            if mark is not None:
                yield copied, _label_ours(mark, copied)
            elif not ours:
                marks: dict[str, object] = {"number": number, "size": format_size(copied.size)}
                if len(records) == 2 and records[0] == records[1] and records[1][1] == 0:
                    marks["block"] = format_size(copied.size / records[1][0])
                yield copied, labels(**marks)
            mark, records = None, []


def _read_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Whole lines without colours, and whether progress stood on them before. Latin-1 blanks arrive as U+FFFD.

    A shell takes the last line end away; a last line is whole when the unit of its rate is.
    """
    lines = strip_colours(text).replace("\ufffd", " ").split("\n")
    for raw in lines if lines[-1].rstrip("\r").endswith(("B/s", "bytes/sec)")) else lines[:-1]:
        _, overwritten, line = raw.rstrip("\r").rpartition("\r")
        yield line, bool(overwritten)


def _read_copied(line: str) -> _Copied | None:
    match = _GNU.fullmatch(line) or _BSD.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None:
        return None
    parts = match.groupdict()
    size, seconds = parse_decimal(parts["bytes"]), parse_decimal(_put_point(parts["seconds"]))
    if not size or not seconds:
        return None
    sizes = _SIZE.findall(parts.get("sizes") or "")
    sound = all(_is_rounded(size, *each) for each in sizes)
    sound = sound and _is_rounded(size / seconds, parts["rate"], parts.get("gap", " "), parts.get("unit", "B"))
    return _Copied(size, seconds, parts["seconds"].isdigit(), sound, shorten(line))


def _is_rounded(value: float, text: str, gap: str, unit: str) -> bool:
    """Whether ``text`` in ``unit`` is ``value`` rounded.

    coreutils writes ``MB`` for powers of 1000 after a blank; busybox for powers of 1024, without one; toybox ``M``.
    """
    number = parse_decimal(_put_point(text))
    if number is None:
        return False
    base = 1000.0 if gap and "i" not in unit and unit[-1:] in ("B", "o") else 1024.0
    last = 0.5 * 10.0 ** -len(_put_point(text).partition(".")[2])
    return abs(value / base ** _POWERS[unit.rstrip("Boi")] - number) <= last + _TOLERANCE * number


def _put_point(text: str) -> str:
    return text.replace(",", ".")


def _refuse_unsound(copied: _Copied, records: Sequence[tuple[int, int]]) -> None:
    """Raise where numbers contradict each other, and where a block was read and not written, or written in part."""
    if not copied.sound:
        raise ProbeOutputError(copied.raw, "bytes, seconds and rate that agree")
    if len(records) != 2:
        return
    read, written = records
    lost = sum(read) - sum(written) == 1
    short = sum(read) == sum(written) and written[1] > read[1]
    damaged = written[1] == 0 and (written[0] == 0 or copied.size % written[0] != 0)
    if lost or short or damaged:
        found = f"{read[0]}+{read[1]} records in, {written[0]}+{written[1]} out, {copied.size:.0f} bytes"
        raise ProbeOutputError(found, "as many records out as in, of whole blocks")


def _label_ours(mark: re.Match[str], copied: _Copied) -> Labels:
    if copied.size != float(mark["size"]):
        raise ProbeOutputError(f"{copied.size:.0f} bytes", f"{mark['size']} bytes as they were asked for")
    usual = {"direct": "1", "sync": "1", "cache": "0"}
    unusual = {name: mark[name] for name, value in usual.items() if mark[name] != value}
    sizes = {"size": format_size(copied.size), "block": format_size(float(mark["block"]))}
    return labels(operation=mark["operation"], **sizes, **unusual)
