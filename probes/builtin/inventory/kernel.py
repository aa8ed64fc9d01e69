"""Reads ``uname -r``, ``uname -srm``, ``uname -a`` or ``/proc/version`` as facts about the kernel."""

import re
from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import said, some

_RELEASE = r"(?P<release>[0-9]+\.[0-9]+[\w.+~-]*)"
_FORMS = (
    re.compile(_RELEASE, re.ASCII),
    re.compile(rf"Linux {_RELEASE} (?P<machine>\w+)", re.ASCII),
    re.compile(rf"Linux version {_RELEASE} .*", re.ASCII),
    re.compile(rf"Linux \S+ {_RELEASE} #.*", re.ASCII),
)


def parse(text: str) -> Sequence[Fact]:
    """``kernel.release`` and ``kernel.machine`` from the first line that has one of these forms."""
    for line in whole_lines(text):
        for form in _FORMS:
            if match := form.fullmatch(line.strip()):
                named = match.groupdict()
                return [*said("kernel.release", named["release"]), *said("kernel.machine", named.get("machine"))]
    return some((), "what uname -r prints")
