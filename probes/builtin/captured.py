"""Owns what can be trusted in a captured output: whole lines, whole JSON documents, real numbers.

Captures come cut, with notices in front, with carriage returns from progress lines. Whatever
is not certainly whole is left out here, so that no parser reads half a number. Refuses to know
any one tool.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from probes.api import Labels, Output, ProbeOutputError, Reading, labels

Document = Mapping[str, object]

ABSURD = 1e15
"""No rate, count or time of a node is as large; what is, was not measured."""

_TRIES = 16
"""Broken documents that are skipped before the search ends; bounds the work on hostile text."""

_REPAIRS = 4
"""Broken documents that are read again with what some versions write in place of valid JSON."""

_NOT_A_NUMBER = re.compile(r"(?<=[:\[,])\s*[-+]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,3})?")
_SPARE_COMMA = re.compile(r",(?=\s*[}\]])")


def one_line(text: str, limit: int = 160) -> str:
    """``text`` without control characters and line ends, at most ``limit`` characters."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: 8 * limit])
    joined = " ".join(printable.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def whole_lines(text: str) -> list[str]:
    """The lines of ``text`` that were ended; of a line overwritten by progress, its last state."""
    ended = text.split("\n")[:-1]
    return [line.rstrip("\r").rpartition("\r")[2] for line in ended]


def fields(lines: Iterable[str], separator: str = ":") -> Iterator[tuple[str, str]]:
    """The ``key: value`` of every line that has both, without the blanks around them."""
    for line in lines:
        key, found, value = line.partition(separator)
        if found and key.strip() and value.strip():
            yield key.strip(), value.strip()


def whole(text: str, most: int = 10**12) -> int | None:
    """``text`` as a whole number from 0 to ``most``, else None."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) and int(text) <= most else None


def real(value: object) -> float | None:
    """``value`` when it is a finite JSON number, else None. True and "1" are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def decimal(text: str) -> float | None:
    """``text`` as a decimal number (``12``, ``1.5``, ``3e+06``) with nothing around it, else None: no nan, no inf."""
    return real(float(text)) if _DECIMAL.fullmatch(text) else None


def positive(value: object, where: str, most: float = ABSURD) -> float:
    """A JSON number, or text that is one, above 0 and below ``most``; ProbeOutputError names ``where`` it stands."""
    number = decimal(value.strip()) if isinstance(value, str) else real(value)
    if number is None or not 0 < number < most:
        raise ProbeOutputError(f"{one_line(str(value))} as {where}", "a positive number")
    return number


def told_apart(readings: Iterable[Reading]) -> list[Reading]:
    """The readings of several runs in one capture: the second of the same test is labelled ``run`` 2, and so on."""
    seen: Counter[tuple[str, Labels]] = Counter()
    found = []
    for reading in readings:
        seen[reading.metric, reading.labels] += 1
        times = seen[reading.metric, reading.labels]
        found.append(replace(reading, labels=labels(**dict(reading.labels), run=times)) if times > 1 else reading)
    return found


def mapping(value: object) -> Document:
    """``value`` when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[object]:
    """``value`` when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def refuse_failed(output: Output, tool: str) -> None:
    """Raise ProbeOutputError when the command failed: what it printed by then is no measurement."""
    if output.signal is None and output.exit_status in (0, None):
        return
    how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
    last = [line for line in output.error_text.splitlines() if line.strip()][-1:]
    said = f": {one_line(last[0])}" if last else ""
    raise ProbeOutputError(f"{how}{said}", f"{tool} to end with exit status 0")


def documents(text: str, *, first: str) -> Iterator[Document]:
    """The whole JSON objects in ``text`` whose first key is one of ``first`` (alternatives with ``|``).

    Notices around them are skipped. An object that begins behind a quote on its own line is part
    of another one and never taken, so the inside of a cut document is not read for the whole.
    """
    for value in _decoded(text, r"^[^\"\n{]*(?P<open>\{)\s*\"(?:" + first + r")\""):
        yield mapping(value)


def arrays(text: str, *, first: str) -> Iterator[list[object]]:
    """The same for JSON arrays of objects; empty objects may stand before the first with a key."""
    for value in _decoded(text, r"^[^\"\n{\[]*(?P<open>\[)\s*(?:\{\s*\}\s*,\s*)*\{\s*\"(?:" + first + r")\""):
        yield sequence(value)


def _decoded(text: str, pattern: str) -> Iterator[object]:
    opening = re.compile(pattern, re.MULTILINE)
    decoder, position, failed = json.JSONDecoder(), 0, 0
    while failed < _TRIES and (match := opening.search(text, position)):
        start = match.start("open")
        value: object
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position, failed = match.end("open"), failed + 1
            value = _repaired(text[start:]) if failed <= _REPAIRS else None
        if value is not None:
            yield value


def begins_document(text: str, *, first: str) -> bool:
    """Whether a JSON object as of ``documents`` begins in ``text``, be it whole or cut."""
    return re.search(r"\{\s*\"(?:" + first + r")\"", text) is not None


def _repaired(text: str) -> object:
    """The JSON value that ``text`` begins with once bare nan and spare commas are mended."""
    mended = _SPARE_COMMA.sub("", _NOT_A_NUMBER.sub(" null", text))
    try:
        value: object = json.JSONDecoder().raw_decode(mended)[0]
    except (ValueError, RecursionError):
        return None
    return value
