"""Owns the single values of a row: what text, numbers and JSON become, and what is refused.

Writing refuses whatever would come back changed (NaN, infinity, integers beyond 64 bits); the
one exception is text: halves of surrogate pairs, which no UTF-8 can hold, become U+FFFD.
Refuses to know domain objects (``store.rows``).
"""

import json
import math
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from store.errors import RefusedError

E = TypeVar("E", bound=StrEnum)

_FIX = "report this as a fault of the probe or the judge that made it"


def text(value: str) -> str:
    """``value`` as UTF-8 can hold it: halves of surrogate pairs become U+FFFD."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    return value


def number(value: float, what: str) -> float:
    """``value`` as a finite float; RefusedError otherwise, for SQLite would make NULL of a NaN."""
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise RefusedError(f"{what} is {found}, which is no number to keep", _FIX)
    return found


def maybe(value: float | None, what: str) -> float | None:
    """``number``, or None for None."""
    return None if value is None else number(value, what)


def integer(value: int, what: str) -> int:
    """``value`` if 64 bits hold it; RefusedError otherwise."""
    if not -(2**63) <= value < 2**63:
        raise RefusedError(f"{what} is a larger number than 64 bits hold", _FIX)
    return int(value)


def dump(value: object, what: str) -> str:
    """JSON in one line; RefusedError for NaN and infinity, which JSON does not have."""
    try:
        found = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise RefusedError(f"{what} holds NaN or infinity", _FIX) from error
    return text(found)


def strings(value: str) -> tuple[str, ...]:
    """A JSON array of strings."""
    # Nearly all are ``["a","b"]`` with nothing escaped, and there are as many as verdicts: that is a split.
    within = value[2:-2]
    parts = within.split('","')
    if value == f'["{within}"]' and "\\" not in within and within.count('"') == 2 * (len(parts) - 1):
        return tuple(parts)
    found = json.loads(value)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"{value[:80]!r} is no array of strings")
    return tuple(found)


@lru_cache(maxsize=16)
def members(kind: type[E]) -> dict[str, E]:
    """The members of an enumeration by their values; a look-up here is several times as fast as ``kind(value)``."""
    return {member.value: member for member in kind}
