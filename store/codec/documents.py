"""Dataclasses as JSON columns: written field by field, read back and checked by pydantic."""

from dataclasses import asdict
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from benchconsole.store.codec.values import dump_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def dump_document(value: Any, name: str) -> str:  # noqa: ANN401 - dataclasses have no common type
    """A dataclass, a tuple of them or None as JSON; RefusedError for NaN and infinity."""
    if isinstance(value, tuple):
        return dump_json([asdict(item) for item in value], name)
    return dump_json(None if value is None else asdict(value), name)


def parse_document(kind: type[T], dumped: str) -> T:
    """The value of type ``kind`` from JSON; ValueError for anything else."""
    cacheable: Any = kind  # mypy does not take type[T] for hashable
    value: T = _parse(cacheable, dumped)
    return value


@lru_cache(maxsize=1024)  # the rounds of a stage are alike, and nobody can change a document
def _parse(kind: Any, dumped: str) -> Any:  # noqa: ANN401 - any type that pydantic knows
    return _load_adapter(kind).validate_json(dumped)


@cache
def _load_adapter(kind: Any) -> "TypeAdapter[Any]":  # noqa: ANN401 - any type that pydantic knows
    from pydantic import TypeAdapter  # loaded only here: the list of sessions needs none of it

    return TypeAdapter(kind)
