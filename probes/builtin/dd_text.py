"""Reads what dd says of itself: GNU coreutils in any language, uutils, busybox, toybox and the BSDs.

The rate is always bytes by seconds, never the rounded one that is printed; the printed one and the sizes in
brackets must agree with it. Whether it wrote or read is known of our own runs only, which are marked. Refuses
progress, a run that moved less than it was told to, and a capture in which dd or the kernel complained.

Sources: coreutils ``src/dd.c`` and its message catalogues, busybox ``coreutils/dd.c``, toybox ``dd.c``,
FreeBSD ``bin/dd/misc.c``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import decimal, one_line, positive
from probes.builtin.ior_sizes import binary

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
    r"(?:\S*/|\S+: (?:line [0-9]+: |[0-9]+: )?)?g?dd: |\^C"
    r"|.*(?:No space left on device|Input/output error|Disk quota exceeded|Read-only file system)"
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
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


_Records = tuple[int, int]


def readings(text: str) -> list[Reading]:
    """The rate of every run in ``text``, none where there is no dd; ProbeOutputError where one failed."""
    for line in _COLOUR.sub("", text).splitlines():
        if _COMPLAINT.match(line):
            raise ProbeOutputError(one_line(line), "dd to copy everything without complaint")
    return [_reading(copied, marks) for copied, marks in _runs(text)]


def _reading(copied: _Copied, marks: Labels) -> Reading:
    rate = positive(copied.size / copied.seconds, "bytes by seconds")
    return Reading("dd.throughput", rate, Unit.BYTE_RATE, marks, copied.raw)


def _runs(text: str) -> Iterator[tuple[_Copied, Labels]]:
    """Every run that ended, with the labels of our mark, or with its number where somebody else ran it."""
    ours, mark, number = MARK in text, None, 0
    records: list[_Records] = []
    for line, progress in _lines(text):
        if MARK in line:
            mark, records = _MARKED.search(line), []
        elif found := _RECORDS.fullmatch(line):
            records = [*records[-1:], (int(found["full"]), int(found["part"]))]
        elif copied := _copied(line):
            if len(records) != 2 and (ours or progress or copied.coarse):
                continue
            _refuse_unsound(copied, records)
            number += 1
            if mark is not None:
                yield copied, _ours(mark, copied)
            elif not ours:
                yield copied, _others(copied, records, number)
            mark, records = None, []


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Whole lines without colours, and whether progress stood on them before. Latin-1 blanks arrive as U+FFFD.

    A shell takes the last line end away; a last line is whole when the unit of its rate is.
    """
    lines = _COLOUR.sub("", text).replace("\ufffd", " ").split("\n")
    for raw in lines if lines[-1].rstrip("\r").endswith(("B/s", "bytes/sec)")) else lines[:-1]:
        _, overwritten, line = raw.rstrip("\r").rpartition("\r")
        yield line, bool(overwritten)


def _copied(line: str) -> _Copied | None:
    """The summary in ``line``; None where it is none."""
    match = _GNU.fullmatch(line) or _BSD.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None:
        return None
    parts = match.groupdict()
    size, seconds = decimal(parts["bytes"]), decimal(_point(parts["seconds"]))
    if not size or not seconds:
        return None
    sizes = _SIZE.findall(parts.get("sizes") or "")
    sound = all(_agree(size, *each) for each in sizes)
    sound = sound and _agree(size / seconds, parts["rate"], parts.get("gap", " "), parts.get("unit", "B"))
    return _Copied(size, seconds, parts["seconds"].isdigit(), sound, one_line(line))


def _agree(value: float, text: str, gap: str, unit: str) -> bool:
    """Whether ``text`` in ``unit`` is ``value`` rounded.

    coreutils writes ``MB`` for powers of 1000 after a blank; busybox for powers of 1024, without one; toybox ``M``.
    """
    number = decimal(_point(text))
    if number is None:
        return False
    base = 1000.0 if gap and "i" not in unit and unit[-1:] in ("B", "o") else 1024.0
    last = 0.5 * 10.0 ** -len(_point(text).partition(".")[2])
    return abs(value / base ** _POWERS[unit.rstrip("Boi")] - number) <= last + _TOLERANCE * number


def _point(text: str) -> str:
    return text.replace(",", ".")


def _refuse_unsound(copied: _Copied, records: Sequence[_Records]) -> None:
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


def _ours(mark: re.Match[str], copied: _Copied) -> Labels:
    if copied.size != float(mark["size"]):
        raise ProbeOutputError(f"{copied.size:.0f} bytes", f"{mark['size']} bytes as they were asked for")
    marks: dict[str, object] = {"operation": mark["operation"], "size": binary(copied.size)}
    marks["block"] = binary(float(mark["block"]))
    marks.update({name: mark[name] for name, usual in _USUAL.items() if mark[name] != usual})
    return labels(**marks)


_USUAL = {"direct": "1", "sync": "1", "cache": "0"}


def _others(copied: _Copied, records: Sequence[_Records], number: int) -> Labels:
    marks: dict[str, object] = {"number": number, "size": binary(copied.size)}
    if len(records) == 2 and records[0] == records[1] and records[1][1] == 0:
        marks["block"] = binary(copied.size / records[1][0])
    return labels(**marks)
