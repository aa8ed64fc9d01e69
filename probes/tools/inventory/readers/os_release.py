"""``/etc/os-release`` (shell assignments), or ``/etc/redhat-release``, as facts about the distribution."""

import re
from collections.abc import Sequence

from benchconsole.probes.api import Fact
from benchconsole.probes.readers.lines import find_match, read_lines, split_fields
from benchconsole.probes.tools.inventory.facts import make_text

EXPECTED = "the lines of /etc/os-release"

_NAMES = {"PRETTY_NAME": "os.name", "ID": "os.id", "VERSION_ID": "os.version"}
_ESCAPED = re.compile(r"\\([\"$`\\])")
_RELEASE = re.compile(r"[A-Z][\w ]+ release [0-9]+(?:\.[0-9]+)* \([^()]+\)\s*", re.ASCII)
"""``Scientific Linux release 6.3 (Carbon)``; systems of that age have nothing else."""


def find_facts(text: str) -> Sequence[Fact]:
    """``os.name``, ``os.id`` and ``os.version``; values are unquoted and never evaluated."""
    lines = read_lines(text)
    fields = [(_NAMES[key], _unquote(value)) for key, value in split_fields(lines, "=") if key in _NAMES]
    release = find_match(_RELEASE, lines)
    # the other form only where nothing is told in this one
    return [fact for name, value in fields for fact in make_text(name, value)] or make_text(
        "os.name", release and release[0]
    )


def _unquote(value: str) -> str:
    """What a shell would read; nothing where a quotation does not end."""
    if value[:1] not in ('"', "'"):
        return value
    return _ESCAPED.sub(r"\1", value[1:-1]) if len(value) >= 2 and value.endswith(value[0]) else ""
