"""Single values of a row: the form of text, numbers and JSON in the database, and the values that are refused.

Writing refuses whatever would come back changed (NaN, infinity, integers beyond 64 bits); the
one exception is text: halves of surrogate pairs, which no UTF-8 can hold, become U+FFFD.
"""

import json
import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from benchconsole.store.errors import RefusedError

if TYPE_CHECKING:
    from msgspec.json import Decoder

E = TypeVar("E", bound=StrEnum)
R = TypeVar("R", bound=NamedTuple)
T = TypeVar("T")


class _Between(NamedTuple):
    """Bounds of an integer, both allowed, as pydantic asks for them; ``annotated_types`` costs 7 ms of start-up."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> Mapping[str, object]:
        from pydantic_core import core_schema

        return core_schema.int_schema(ge=self.least, le=self.most)


Integer = Annotated[int, _Between(-(2**63), 2**63 - 1)]
Count = Annotated[int, _Between(0, 2**63 - 1)]
Flag = Annotated[int, _Between(0, 1)]
"""Integers of a row, with the bounds that are checked where a row comes from outside (``store.spool``)."""

_FIX = "report this as a fault of the probe or the judge that made it"


def replace_surrogates(value: str) -> str:
    """``value`` as UTF-8 can hold it: halves of surrogate pairs become U+FFFD."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    return value


def require_finite(value: float, name: str, owner: str = "") -> float:
    """``value`` as a finite float; RefusedError otherwise, for SQLite would make NULL of a NaN."""
    if type(value) is float and math.isfinite(value):
        return value
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        words = f"{name} of {owner}" if owner else name
        raise RefusedError(f"{words} is {number}, which is no number to keep", _FIX)
    return number


def read_number(value: object) -> float:
    """A number of a column that was made for one; NaN for text and bytes, which SQLite takes there too."""
    return value if isinstance(value, float) else math.nan


def require_integer(value: int, name: str) -> int:
    """``value`` if 64 bits hold it; RefusedError otherwise."""
    if not -(2**63) <= value < 2**63:
        raise RefusedError(f"{name} is a larger number than 64 bits hold", _FIX)
    return int(value)


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def dump_json(value: object, name: str) -> str:
    """JSON in one line; RefusedError for NaN and infinity, which JSON does not have."""
    try:
        dumped = _JSON.encode(value)
    except ValueError as error:
        raise RefusedError(f"{name} holds NaN or infinity", _FIX) from error
    return replace_surrogates(dumped)


def dump_strings(values: Iterable[str]) -> str:
    """Strings as a JSON array in one line, as ``dump_json`` writes it."""
    return replace_surrogates(f"[{','.join(map(json.encoder.encode_basestring, values))}]")


_WORDS = {"started": "start", "seconds": "length", "expected": "expected value", "required": "bound"}
"""Words for a column in errors, where that is not its name."""


def name_column(name: str) -> str:
    """The words for the number in a column in errors."""
    return f"the {_WORDS.get(name, name)}"


def make_row(kind: type[R], source: object, owner: str, **given: object) -> R:
    """A row of ``given`` columns and the attributes of ``source`` that have the names of the others.

    Text, numbers and enumerations as the database keeps them, sequences and mappings as JSON. RefusedError for a
    value that would come back changed.
    """
    values = (given[name] if name in given else getattr(source, name) for name in kind._fields)
    return kind._make(
        _clean_value(value, *column, owner) for value, column in zip(values, _list_columns(kind), strict=True)
    )


@cache
def _list_columns(kind: type[NamedTuple]) -> tuple[tuple[str, bool], ...]:
    """Names of the columns of a row, each with whether it holds a number that is not whole."""
    return tuple((name, kind.__annotations__[name] in (float, float | None)) for name in kind._fields)


def _clean_value(value: object, name: str, is_real: bool, owner: str) -> object:
    if isinstance(value, str):  # of an enumeration: its value
        return replace_surrogates(value if type(value) is str else str(value))
    if value is None or isinstance(value, bytes) or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, bool):
        return int(value)
    word = name_column(name)
    if isinstance(value, int) and not is_real:
        return require_integer(value, f"{word} of {owner}")
    if isinstance(value, (int, float)):
        return require_finite(value, word, owner)
    return dump_json(dict(value) if isinstance(value, Mapping) else value, f"{word} of {owner}")


def dump_document(value: object, name: str) -> str:
    """A dataclass or a struct, a tuple of them or None as JSON; RefusedError for NaN and infinity."""
    from msgspec import to_builtins  # loaded only here, as the decoder below

    return dump_json(to_builtins(value), name)


def parse_document(kind: type[T], dumped: str) -> T:
    """The value of type ``kind`` from JSON; ValueError for anything else."""
    cacheable: Any = kind  # mypy does not take type[T] for hashable
    value: T = _parse(cacheable, dumped)
    return value


@lru_cache(maxsize=1024)  # the rounds of a stage are alike, and nobody can change a document
def _parse(kind: Any, dumped: str) -> Any:  # noqa: ANN401 - any type that msgspec knows
    return _load_decoder(kind).decode(dumped)


@cache
def _load_decoder(kind: Any) -> "Decoder[Any]":  # noqa: ANN401 - any type that msgspec knows
    from msgspec.json import Decoder  # loaded only here: the list of sessions needs none of it

    return Decoder(kind)


def parse_strings(value: str) -> tuple[str, ...]:
    """A JSON array of strings; ValueError for anything else."""
    if value == "[]":
        return ()
    # Nearly all are ``["a"]`` or ``["a","b"]`` with nothing escaped, as many as verdicts: that takes no JSON.
    within = value[2:-2]
    if '"' not in within and "\\" not in within and value == f'["{within}"]':
        return (within,)
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
