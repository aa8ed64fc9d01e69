"""Single values of a row: the form of text, numbers and JSON in the database, and the values that are refused.

Writing refuses whatever would come back changed (NaN, infinity, integers beyond 64 bits); the
one exception is text: halves of surrogate pairs, which no UTF-8 can hold, become U+FFFD.
"""

import json
import math
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, TypeVar

from annotated_types import Interval

from benchconsole.store.errors import RefusedError

E = TypeVar("E", bound=StrEnum)

Integer = Annotated[int, Interval(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Interval(ge=0, lt=2**63)]
Flag = Annotated[int, Interval(ge=0, le=1)]
"""Integers of a row, with the bounds that are checked where a row comes from outside (``store.spool``)."""

_FIX = "report this as a fault of the probe or the judge that made it"


def replace_surrogates(value: str) -> str:
    """``value`` as UTF-8 can hold it: halves of surrogate pairs become U+FFFD."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    return value


def require_finite(value: float, name: str) -> float:
    """``value`` as a finite float; RefusedError otherwise, for SQLite would make NULL of a NaN."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RefusedError(f"{name} is {number}, which is no number to keep", _FIX)
    return number


def require_integer(value: int, name: str) -> int:
    """``value`` if 64 bits hold it; RefusedError otherwise."""
    if not -(2**63) <= value < 2**63:
        raise RefusedError(f"{name} is a larger number than 64 bits hold", _FIX)
    return int(value)


def dump_json(value: object, name: str) -> str:
    """JSON in one line; RefusedError for NaN and infinity, which JSON does not have."""
    try:
        dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise RefusedError(f"{name} holds NaN or infinity", _FIX) from error
    return replace_surrogates(dumped)


def parse_strings(value: str) -> tuple[str, ...]:
    """A JSON array of strings; ValueError for anything else."""
    # Nearly all are ``["a","b"]`` with nothing escaped, and there are as many as verdicts: that is a split.
    within = value[2:-2]
    parts = within.split('","')
    if value == f'["{within}"]' and "\\" not in within and within.count('"') == 2 * (len(parts) - 1):
        return tuple(parts)
    parsed = json.loads(value)
    if not isinstance(parsed, list) or not all(isinstance(item, str) for item in parsed):
        raise ValueError(f"{value[:80]!r} is no array of strings")
    return tuple(parsed)


@lru_cache(maxsize=16)
def members_by_value(kind: type[E]) -> dict[str, E]:
    """The members of an enumeration by their values; a look-up here is several times as fast as ``kind(value)``."""
    return {member.value: member for member in kind}
