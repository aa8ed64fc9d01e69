"""The differences of the criteria that judge a session from those of its own file, in words. Pure."""

from collections.abc import Iterator
from pathlib import Path

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.conditions import format_condition
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import percent, show

_Scope = tuple[object, ...]


def describe_choice(own: Fabric, chosen: Fabric | None, who: str) -> Iterator[str]:
    """Whose criteria count from now on, then each difference from those of the file of the session.

    ``chosen`` is the fabric that brings them, None for those of ``own``.
    """
    by = f" by {who}" if who else ""
    if chosen is None:
        yield f"judged again{by} with the criteria of the file of the session"
        return
    changes = list(list_changes(own.criteria, chosen.criteria))
    differ = "which are not those of the file of the session" if changes else "which asks what the file of it asks"
    yield f"judged again{by} with the criteria of {Path(chosen.file).name}, {differ}"
    yield from changes


def list_changes(own: tuple[Criterion, ...], chosen: tuple[Criterion, ...]) -> Iterator[str]:
    """The criteria of ``chosen`` that differ from ``own``, which are those of a file, in words."""
    before = group_by_key((_scope(each), each) for each in own)
    after = group_by_key((_scope(each), each) for each in chosen)
    for scope, was in before.items():
        now = after.get(scope, [])
        if [_bounds(each) for each in was] == [_bounds(each) for each in now]:
            continue
        asked = "; ".join(map(format_bounds, now)) or "asks nothing"
        yield f"{_name(was[0])}: {asked}, not as the file: {'; '.join(map(format_bounds, was))}"
    for scope, now in after.items():
        if scope not in before:
            yield f"{_name(now[0])}: {'; '.join(map(format_bounds, now))}, of which the file asks nothing"


def _scope(each: Criterion) -> _Scope:
    return each.metric, each.where, each.nodes, each.statistic, each.other


def _bounds(each: Criterion) -> _Scope:
    return each.comparator, each.required, each.basis, each.target, each.rounding, each.rounds_share, each.reference


def _name(each: Criterion) -> str:
    parts = [format_condition(name, value) for name, value in each.where]
    parts += [fold(sorted(each.nodes))] if each.nodes else []
    metric = f"{each.statistic} of {each.metric}" if each.statistic else each.metric
    return f"{metric} ({', '.join(parts)})" if parts else metric


def format_bounds(each: Criterion) -> str:
    """``at least 65.0 GB/s, target 80.0 GB/s, rounded to 1.00 GB/s``."""
    word = "at least" if each.comparator is Comparator.AT_LEAST else "at most"
    text = f"{word} {_format(each, each.required)}"
    if each.target is not None:
        text += f", target {_format(each, each.target)}"
    if each.rounding:
        text += f", rounded to {percent(each.rounding) if each.rounds_share else show(each.rounding, each.unit)}"
    return text


def _format(each: Criterion, value: float) -> str:
    if each.basis is Basis.ABSOLUTE:
        return show(value, each.unit)
    base = show(each.reference, each.unit) if each.basis is Basis.REFERENCE else each.basis.value
    return f"{percent(value)} of {each.other.metric if each.other is not None else base}"
