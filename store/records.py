"""Owns what a spool keeps, as JSON and back: every record checked value by value, as if a stranger had written it.

A record is what the writer would have been given, in rows: it needs no fabric to be understood.
Reading raises ValueError for whatever no console of ours can have written. Refuses to know files
(``store.spool``) and the database (``store.absorbing``).
"""

import base64
import binascii
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, CloseReason, FailedAt, Labels, Proof, Result
from store import rows
from store.results import Kept, fact_of, kept, output_of
from store.rounds import End, end_of
from store.values import number, strings, text
from store.writing import Judged, Judgement, judged
from topology.units import Unit

_LARGEST = sys.float_info.max
Json = Any
"""What ``json`` gives: nothing is known of it yet."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which attempt at which round of which session."""

    session: str
    round: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Begun:
    """A round was begun."""

    place: Place
    at: float


@dataclass(frozen=True, slots=True)
class Finished:
    """One result."""

    place: Place
    kept: Kept


@dataclass(frozen=True, slots=True)
class Closed:
    """A round was closed and judged. ``results`` counts those that must be stored by then."""

    place: Place
    end: End
    results: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Noted:
    """Something was decided, or happened."""

    session: str
    kind: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Shown:
    """The nodes were searched for anything of ours; ``proofs`` are rows."""

    session: str
    at: float
    proofs: tuple[rows.Row, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """The stretch of work of one console, known by its token, came to its end."""

    session: str
    token: str
    at: float
    complete: bool
    because: str


Record = Begun | Finished | Closed | Noted | Shown | Ended


# -- from what the session has


def finished(place: Place, result: Result) -> Finished:
    """The record of a result; RefusedError for a number that cannot be kept."""
    return Finished(place, kept(result))


def closed(place: Place, found: ClosedRound, verdicts: Sequence[Verdict], *, judged_by: str, at: float) -> Closed:
    """The record of a closed round, without its results."""
    judgement = Judgement(text(judged_by), number(at, "the time of a judgement"), tuple(map(judged, verdicts)))
    return Closed(place, end_of(found), len(found.results), judgement)


def shown(session: str, proofs: Sequence[Proof], at: float) -> Shown:
    """The record of what the nodes showed."""
    return Shown(session, number(at, "the time of a proof"), tuple(map(rows.proof_row, proofs)))


# -- to JSON


def to_json(record: Record) -> Mapping[str, Json]:
    """The fields of a record as ``json`` takes them; bytes in base64."""
    match record:
        case Begun(place, at):
            return {"kind": "begun", **_place(place), "at": at}
        case Finished(place, found):
            outputs = [[row[0], row[1], _bytes(row[2]), _bytes(row[3]), *row[4:]] for row in found.outputs]
            fields = {"test": found.test, "result": found.result, "outputs": outputs}
            numbers = {"measurements": found.measurements, "facts": found.facts}
            return {"kind": "result", **_place(place), **fields, **numbers}
        case Closed(place, end, results, judgement):
            whole = {"results": results, **judgement._asdict()}
            return {"kind": "closed", **_place(place), "end": end, **whole}
        case Noted(session, kind, words, at):
            return {"kind": "note", "session": session, "what": kind, "text": words, "at": at}
        case Shown(session, at, proofs):
            return {"kind": "proofs", "session": session, "at": at, "proofs": proofs}
        case Ended(session, token, at, complete, because):
            how = {"complete": complete, "because": because}
            return {"kind": "ended", "session": session, "token": token, "at": at, **how}


def _place(place: Place) -> Mapping[str, Json]:
    return {"session": place.session, "round": place.round, "attempt": place.attempt}


def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


# -- and back


def from_json(found: Json) -> Record:
    """The record of these fields; ValueError, TypeError or KeyError for what is none."""
    if not isinstance(found, dict):
        raise ValueError("a record is an object")
    kinds: Mapping[str, Callable[[Mapping[str, Json]], Record]] = {
        "begun": lambda each: Begun(_place_of(each), _float(each["at"])),
        "result": _finished_of,
        "closed": _closed_of,
        "note": lambda each: Noted(_str(each["session"]), _str(each["what"]), _str(each["text"]), _float(each["at"])),
        "proofs": _shown_of,
        "ended": _ended_of,
    }
    kind = _str(found["kind"])
    if kind not in kinds:
        raise ValueError(f"there are no records of kind {kind[:40]!r}")
    return kinds[kind](found)


def _place_of(found: Mapping[str, Json]) -> Place:
    return Place(_str(found["session"]), _int(found["round"]), _int(found["attempt"]))


def _finished_of(found: Mapping[str, Json]) -> Finished:
    started, seconds, drift, stage, detail, node = _list(found["result"], 6)
    failure: rows.Row = (None, None, None)
    if stage is not None:
        failure = (FailedAt(_str(stage)).value, _str(detail), _str(node))
    elif detail is not None or node is not None:
        raise ValueError("a failure without a stage")
    result = (_float(started), _float(seconds), _float(drift), *failure)
    measurements = tuple(_measurement_of(each) for each in _list(found["measurements"]))
    if len({each[3] for each in measurements}) < len(measurements):
        raise ValueError("a measurement comes twice")
    return Finished(
        _place_of(found),
        Kept(
            _str(found["test"]),
            result,
            tuple(_output_of(each) for each in _list(found["outputs"])),
            measurements,
            tuple(_fact_of(each) for each in _list(found["facts"])),
        ),
    )


def _output_of(found: Json) -> rows.Row:
    node, argv, stdout, stderr, status, signal, seconds, truncated = _list(found, 8)
    said = (_str(node), _str(argv), _bytes_of(stdout), _bytes_of(stderr))
    how = (None if status is None else _int(status), None if signal is None else _str(signal))
    row = (*said, *how, _float(seconds), _bit(truncated))
    output_of(row)
    return row


def _measurement_of(found: Json) -> tuple[str, str, Labels, str, float, str, float]:
    metric, unit, labels, key, value, raw, at = _list(found, 7)
    named = (_str(metric), Unit(_str(unit)).value, _labels(labels))
    return (*named, _str(key), _float(value), _str(raw), _float(at))


def _fact_of(found: Json) -> tuple[Labels, str, str | None, float | None, str | None]:
    labels, name, words, value, unit = _list(found, 5)
    row = (
        _str(name),
        None if words is None else _str(words),
        None if value is None else _float(value),
        None if unit is None else Unit(_str(unit)).value,
    )
    if (row[1] is None) == (row[2] is None):
        raise ValueError("a fact is a text or a number")
    fact_of((*row, "[]"))
    return _labels(labels), *row


def _closed_of(found: Mapping[str, Json]) -> Closed:
    started, ended, reason, because, *counts = _list(found["end"], 8)
    tested, failed, unreachable, skipped = (_count(each) for each in counts)
    how = (CloseReason(_str(reason)).value, _str(because))
    end = End(_float(started), _float(ended), *how, tested, failed, unreachable, skipped)
    place = _place_of(found)
    verdicts = tuple(_verdict_of(each, place.round) for each in _list(found["verdicts"]))
    judgement = Judgement(_str(found["judged_by"]), _float(found["at"]), verdicts)
    return Closed(place, end, _count(found["results"]), judgement)


def _verdict_of(found: Json, round_number: int) -> Judged:
    metric, unit, labels, row = _list(found, 4)
    values = _list(row, 17)
    numbers = (8, 9, 10)
    sound = tuple(
        (None if value is None else _float(value)) if index in numbers else _str(value)
        for index, value in enumerate(values)
    )
    pairs = _labels(labels)
    rows.verdict_of((*sound, _str(metric), _str(unit), "[]"), round_number)
    return _str(metric), _str(unit), pairs, sound


def _shown_of(found: Mapping[str, Json]) -> Shown:
    proofs = []
    for each in _list(found["proofs"]):
        node, asked, remains, ended, detail = _list(each, 5)
        strings(_str(remains))
        proofs.append((_str(node), _bit(asked), remains, _count(ended), _str(detail)))
    return Shown(_str(found["session"]), _float(found["at"]), tuple(proofs))


def _ended_of(found: Mapping[str, Json]) -> Ended:
    complete = found["complete"]
    if not isinstance(complete, bool):
        raise ValueError("complete is true or false")
    return Ended(_str(found["session"]), _str(found["token"]), _float(found["at"]), complete, _str(found["because"]))


def _str(value: Json) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is expected, not {str(value)[:40]!r}")
    return text(value)


def _int(value: Json) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError(f"a whole number of 64 bits is expected, not {str(value)[:40]!r}")
    return value


def _count(value: Json) -> int:
    if _int(value) < 0:
        raise ValueError(f"a count is expected, not {value}")
    return int(value)


def _bit(value: Json) -> int:
    if type(value) is not int or value not in (0, 1):
        raise ValueError(f"0 or 1 is expected, not {str(value)[:40]!r}")
    return value


def _float(value: Json) -> float:
    if type(value) not in (int, float) or not -_LARGEST <= value <= _LARGEST:
        raise ValueError(f"a number is expected, not {str(value)[:40]!r}")
    return float(value)


def _list(value: Json, length: int | None = None) -> list[Json]:
    if not isinstance(value, list) or length not in (None, len(value)):
        raise ValueError(f"a list of {'any' if length is None else length} values is expected")
    return value


def _labels(value: Json) -> Labels:
    pairs = [_list(pair, 2) for pair in _list(value)]
    return tuple((_str(name), _str(word)) for name, word in pairs)


def _bytes_of(value: Json) -> bytes:
    try:
        return base64.b64decode(_str(value), validate=True)
    except binascii.Error as error:
        raise ValueError("bytes that are no base64") from error
