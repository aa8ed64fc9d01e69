"""Writes plain values as YAML that every reader of YAML 1.1 and 1.2 takes for the same value.

Characters that a terminal or an editor could act on are escaped.
"""

import re
from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_QUANTITY = re.compile(r"[0-9]+(?:\.[0-9]+)? (?:[A-Za-z]+(?:/s)?|%)")
_SET = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?:\[[0-9,-]+\][A-Za-z0-9_./-]*)*")
_SPECIAL = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "none"}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def format_scalar(value: object, *, flow: bool = True) -> str:
    """One value; ``flow`` for inside braces and brackets, where node sets need quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if text.lower() not in _SPECIAL and (_PLAIN.fullmatch(text) or _QUANTITY.fullmatch(text)):
        return text
    if not flow and text.lower() not in _SPECIAL and _SET.fullmatch(text):
        return text
    return quote(text)


def quote(text: str) -> str:
    """``text`` in double quotes, escaped where it is not printed as itself, or in single ones where those spare
    escapes.
    """
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def format_flow(value: object) -> str:
    """A value in one line: ``{role: leaf, ports: {"Eth[1-4]": 10 Gb/s}}``."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{format_scalar(str(key))}: {format_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(format_flow(item) for item in value) + "]"
    return format_scalar(value)


def format_comment(text: str) -> str:
    """``text`` fit to stand behind ``#``: one line, and nothing in it that a terminal acts on."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
