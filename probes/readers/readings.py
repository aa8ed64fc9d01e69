"""Readings of a captured output: refusal of failed commands, labels, and numbers for runs of the same test."""

from collections.abc import Iterable

from benchconsole.probes.api import Labels, Output, ProbeOutputError, Reading, labels
from benchconsole.probes.readers.reasons import find_reason
from benchconsole.topology.copying import replace


def refuse_failed(output: Output, tool: str) -> None:
    """Raise ProbeOutputError in the tool's own words if it failed: its output is then no measurement."""
    if output.signal is None and output.exit_status in (0, None):
        return
    how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
    said = find_reason(output)
    detail = f": {said}" if said else ""
    raise ProbeOutputError(f"{how}{detail}", f"{tool} to end with exit status 0")


def known_labels(**values: object) -> Labels:
    """``labels`` of the values that are known: None and empty text give no label."""
    return labels(**{name: value for name, value in values.items() if value not in (None, "")})


def add_labels(marks: Labels, **values: object) -> Labels:
    """``marks`` with labels added, sorted again."""
    return tuple(sorted((*marks, *labels(**values))))


def number_runs(readings: Iterable[Reading]) -> list[Reading]:
    """The readings of several runs in one capture: the second of the same test is labelled ``run`` 2, and so on."""
    seen: dict[tuple[str, Labels], int] = {}
    numbered = []
    for reading in readings:
        test = reading.metric, reading.labels
        seen[test] = run = seen.get(test, 0) + 1
        numbered.append(replace(reading, labels=add_labels(reading.labels, run=run)) if run > 1 else reading)
    return numbered
