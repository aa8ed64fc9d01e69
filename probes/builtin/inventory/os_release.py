"""Reads ``/etc/os-release`` (shell assignments), or ``/etc/redhat-release``, as facts about the distribution."""

import re
from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import once, said, some

_NAMES = {"PRETTY_NAME": "os.name", "ID": "os.id", "VERSION_ID": "os.version"}
_ESCAPED = re.compile(r"\\([\"$`\\])")
_RELEASE = re.compile(r"[A-Z][\w ]+ release [0-9]+(?:\.[0-9]+)* \([^()]+\)\s*", re.ASCII)
"""``Scientific Linux release 6.3 (Carbon)``; systems of that age have nothing else."""


def parse(text: str) -> Sequence[Fact]:
    """``os.name``, ``os.id`` and ``os.version``; values are unquoted and never evaluated."""
    found: list[Fact] = []
    lines = whole_lines(text)
    for key, value in fields(lines, "="):
        if key in _NAMES:
            found += said(_NAMES[key], _unquoted(value))
    if not found:
        found = [fact for line in lines if _RELEASE.fullmatch(line) for fact in said("os.name", line.strip())]
    return some(once(found), "the lines of /etc/os-release")


def _unquoted(value: str) -> str:
    """What a shell would read; nothing where a quotation does not end."""
    for quote in ('"', "'"):
        if value.startswith(quote):
            whole = len(value) >= 2 and value.endswith(quote)
            return _ESCAPED.sub(r"\1", value[1:-1]) if whole else ""
    return value
