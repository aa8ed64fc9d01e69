"""Checks of one probe's declaration: what it must declare to be used."""

import math
import re
from collections.abc import Callable, Iterator, Mapping

from benchconsole.probes.api import Against, Comparator, Metric, Probe, ProbeError, Safety, SendingOptions, Shape, Unit
from benchconsole.topology.units import Shown

SLUG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
"""The form of a probe's name: lower-case words and digits joined by hyphens."""

VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*")
"""The form of a version."""

_PART = re.compile(r"[a-z][a-z0-9_-]*")


def check_declaration(probe: Probe) -> None:
    """Raise ProbeError with everything that is missing or of the wrong kind in ``probe``'s declaration."""
    faults = list(_find_faults(probe))
    if faults:
        raise ProbeError("; ".join(faults))


def _find_faults(probe: Probe) -> Iterator[str]:
    kind = type(probe)
    name: object = getattr(probe, "name", None)
    if not isinstance(name, str) or not SLUG.fullmatch(name):
        yield f"name: found {name!r}, expected a slug such as clock-offset"
        return
    summary: object = getattr(probe, "summary", None)
    if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
        yield f"summary: found {summary!r}, expected one line of text"
    yield from _find_metric_faults(probe, name)
    yield from _find_sending_faults(probe)
    exits = probe.exits if isinstance(probe.exits, frozenset) else frozenset()
    tools = _maps(probe.tools, lambda _, package: isinstance(package, str))
    versions = _maps(
        probe.versions,
        lambda tool, version: tool in probe.tools and isinstance(version, str) and bool(VERSION.fullmatch(version)),
    )
    options = _maps(probe.options, lambda _, value: isinstance(value, str) or is_number(value))
    marks = probe.label_names
    named = marks is None or (isinstance(marks, frozenset) and all(isinstance(mark, str) for mark in marks))
    for attribute, is_fine, expected in (
        ("label_names", named, "a frozenset of names, or None"),
        ("closing", probe.closing is None or isinstance(probe.closing, re.Pattern), "a compiled pattern, or None"),
        ("tools", tools, "programs and the packages that bring them"),
        ("versions", versions, "tools of the probe with a version such as 3.10 each"),
        ("options", options, "names with a text or a finite number each"),
        ("safety", isinstance(probe.safety, Safety), "a Safety"),
        ("shape", isinstance(probe.shape, Shape), "a Shape"),
        ("source", isinstance(probe.source, str) and "\n" not in probe.source, "one line of text, or none"),
        ("exits", 0 in exits and all(map(_is_exit_status, exits)), "a frozenset of exit statuses with 0"),
        ("privileged", isinstance(probe.privileged, bool), "True or False"),
        ("timeout", is_number(probe.timeout) and probe.timeout > 0, "seconds above 0"),
    ):
        if not is_fine:
            yield f"{attribute}: found {getattr(probe, attribute)!r}, expected {expected}"
    if kind.command is Probe.command and kind.run is Probe.run:
        yield "neither command() nor run() is defined"


def _find_metric_faults(probe: Probe, name: str) -> Iterator[str]:
    seen: set[str] = set()
    for metric in probe.metrics:
        if not isinstance(metric, Metric) or not isinstance(metric.unit, Unit) or not isinstance(metric.shown, Shown):
            yield f"metrics: found {metric!r}, expected a Metric with a Unit"
            continue
        owner, _, rest = metric.name.partition(".")
        if owner != name or not all(_PART.fullmatch(part) for part in rest.split(".")):
            yield f"metrics: found {metric.name!r}, expected a name such as {name}.rate"
        if metric.against is not None and not isinstance(metric.against, Against):
            yield f"metrics: found {metric.name} held against {metric.against!r}, expected an Against or None"
        elif metric.against is Against.FABRIC and (metric.unit is not Unit.BYTE_RATE or probe.shape is not Shape.PAIR):
            yield f"metrics: found {metric.name} held against the fabric, expected B/s of a probe between two nodes"
        if metric.sense is not None and not isinstance(metric.sense, Comparator):
            yield f"metrics: found {metric.name} in the sense {metric.sense!r}, expected a Comparator or None"
        if metric.name in seen:
            yield f"metrics: {metric.name!r} is declared twice"
        seen.add(metric.name)


def _find_sending_faults(probe: Probe) -> Iterator[str]:
    if not isinstance(probe.sending_options, SendingOptions):
        yield f"sending_options: found {probe.sending_options!r}, expected SendingOptions"
        return
    for name in probe.sending_options.names:
        if name not in probe.options:
            yield f"sending_options: found {name!r}, expected names of options that the probe declares"


def _maps(value: object, fits: Callable[[str, object], bool]) -> bool:
    """Whether ``value`` maps texts, each to what fits it."""
    return isinstance(value, Mapping) and all(isinstance(key, str) and fits(key, each) for key, each in value.items())


def _is_exit_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255


def is_number(value: object) -> bool:
    """Whether a probe gave a finite number."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False
