"""Reads ``/etc/os-release`` (shell assignments) as facts about the distribution."""

import re
from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import said, some

_NAMES = {"PRETTY_NAME": "os.name", "ID": "os.id", "VERSION_ID": "os.version"}
_ESCAPED = re.compile(r"\\([\"$`\\])")


def parse(text: str) -> Sequence[Fact]:
    """``os.name``, ``os.id`` and ``os.version``; values are unquoted and never evaluated."""
    found: list[Fact] = []
    for key, value in fields(whole_lines(text), "="):
        if key in _NAMES:
            found += said(_NAMES[key], _unquoted(value))
    return some(found, "the lines of /etc/os-release")


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if len(value) >= 2 and value.startswith(quote) and value.endswith(quote):
            return _ESCAPED.sub(r"\1", value[1:-1])
    return value
