"""JSON documents of a captured output: only whole ones, between notices of others."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

import msgspec

Document = Mapping[str, object]

_TRIES = 16
"""Broken documents that are skipped before the search ends; bounds the work on hostile text."""

_REPAIRS = 4
"""Broken documents that are read again after the invalid JSON of some versions was replaced."""

_NOT_A_NUMBER = re.compile(r"(?<=[:\[,])\s*[-+]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE)
_INVALID = re.compile(r"[\s,]*(?:[-+]?(?:nan|inf)|[}\]])", re.IGNORECASE)
"""Where the decoder stops at one of these two."""
_SPARE_COMMA = re.compile(r",(?=\s*[}\]])")


def read_mapping(value: object) -> Document:
    """``value`` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def read_array(value: object) -> list[object]:
    """``value`` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def find_documents(text: str, *, first: str) -> Iterator[Document]:
    """The whole JSON objects in ``text`` whose first key is one of ``first`` (alternatives with ``|``).

    Notices around them are skipped. An object that begins behind a quote on its own line is part
    of another one and never taken, so the inside of a cut document is not read for the whole.
    """
    for value in _decode(text, r"^[^\"\n{]*(?P<open>\{)\s*\"(?:" + first + r")\""):
        yield read_mapping(value)


def find_arrays(text: str, *, first: str) -> Iterator[list[object]]:
    """The whole JSON arrays of objects, as ``find_documents``; empty objects may stand before the first key."""
    for value in _decode(text, r"^[^\"\n{\[]*(?P<open>\[)\s*(?:\{\s*\}\s*,\s*)*\{\s*\"(?:" + first + r")\""):
        yield read_array(value)


def has_document(text: str, *, first: str) -> bool:
    """Whether a JSON object as of ``find_documents`` begins in ``text``, be it whole or cut."""
    return re.search(r"\{\s*\"(?:" + first + r")\"", text) is not None


def _decode(text: str, pattern: str) -> Iterator[object]:
    opening = re.compile(pattern, re.MULTILINE)
    decoder, position, failed = json.JSONDecoder(), 0, 0
    while failed < _TRIES and (match := opening.search(text, position)):
        start = match.start("open")
        value: object
        try:
            value, position = _read_value(decoder, text, start)
        except (ValueError, RecursionError) as error:
            position, failed = match.end("open"), failed + 1
            # a document that was cut ends in another error, and no repair helps it
            is_invalid = isinstance(error, json.JSONDecodeError) and _INVALID.match(text, error.pos)
            value = _repair(text[start:]) if is_invalid and failed <= _REPAIRS else None
        if value is not None:
            yield value


def _read_value(decoder: json.JSONDecoder, text: str, start: int) -> tuple[object, int]:
    """The JSON value that begins at ``start``, and where it ends; ValueError where it is not whole.

    Mostly it is all that there is, which msgspec reads four times as fast; it refuses all that Python reads otherwise.
    """
    with suppress(ValueError):
        return msgspec.json.decode(text[start:]), len(text)
    return decoder.raw_decode(text, start)


def _repair(text: str) -> object:
    """The JSON value at the begin of ``text`` without bare nan and spare commas; None if there is none."""
    mended = _SPARE_COMMA.sub("", _NOT_A_NUMBER.sub(" null", text))
    try:
        value: object = json.JSONDecoder().raw_decode(mended)[0]
    except (ValueError, RecursionError):
        return None
    return value
