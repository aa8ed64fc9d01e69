"""The comparison of two sessions of a store: numbers, facts of nodes, records and criteria."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchconsole.console.conclusions.metric_samples import Naming, list_samples
from benchconsole.console.conclusions.session_comparison import (
    ComparisonChoice,
    Senses,
    Side,
    compare_sides,
    part_session,
)
from benchconsole.console.conclusions.session_differences import (
    compare_facts,
    compare_parts,
    list_record_differences,
    read_facts,
)
from benchconsole.console.conclusions.statistic_lines import list_groupings
from benchconsole.console.reports.compared_session import read_compared_session
from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.reports.content import find_name, format_period
from benchconsole.console.session.criteria_changes import list_changes
from benchconsole.console.session.metadata import list_cohorts
from benchconsole.console.session.session import Session
from benchconsole.console.view.run_view import RunView
from benchconsole.store.errors import UnknownSessionError
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import find_near

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store


class ComparisonError(Exception):
    """Two sessions that cannot be compared: one with itself, of two machines, or without a number."""


def list_senses(probes: "Mapping[str, Probe]") -> Senses:
    """Which bound means something, by metric."""
    return {metric.name: metric.meant for probe in probes.values() for metric in probe.metrics}


def compare_sessions(
    store: "Store", one: str, other: str, probes: "Mapping[str, Probe]", choice: ComparisonChoice
) -> ComparisonReport:
    """The session ``other`` as B against ``one`` as A.

    ComparisonError for a session with itself, and for different machines that nobody meant to compare.
    """
    keys = _find_first(store, one, other), store.find_session(other)
    if keys[0] == keys[1]:
        raise ComparisonError(f"{one} and {other} are one session ({keys[0]}): it differs from itself in nothing")
    stored = [store.session(key) for key in keys]
    views = (Session.stored(store, keys[0], probes).view(), Session.stored(store, keys[1], probes).view())
    fabrics = [view.fabric for view in views]
    if not choice.unpaired and (fabrics[0].name != fabrics[1].name or not fabrics[0].nodes.keys() & fabrics[1].nodes):
        raise ComparisonError(
            f"{one} is of {fabrics[0].name}, {other} of {fabrics[1].name}: different machines; "
            "--unpaired compares them as two groups of nodes"
        )
    own = frozenset(name for each in stored for name in _list_cohorts(each))
    choice = replace(choice, varied=choice.varied | own)
    names = (name_session(views[0]), name_session(views[1]))
    sides = [Side(name, list_samples(view)) for name, view in zip(names, views, strict=True)]
    records = [_read_record(each) for each in stored]
    return ComparisonReport(
        names,
        compare_sides(sides[0], sides[1], choice),
        compare_facts(*map(read_facts, views)),
        list(list_record_differences(records[0], records[1], views)),
        list(list_changes(fabrics[0].criteria, fabrics[1].criteria)),
        keys,
        (_name_briefly(views[0]), _name_briefly(views[1])),
        fabrics[1],
        tuple(map(read_compared_session, views)),
    )


def compare_session_parts(
    store: "Store", session: str, by: str, probes: "Mapping[str, Probe]", choice: ComparisonChoice,
    *, swapped: bool = False,
) -> ComparisonReport:  # fmt: skip
    """Two parts of a session, by a grouping (``class``, ``switch=leaf1:leaf2``); the second is B, or A if ``swapped``.

    ComparisonError for a grouping that is none, and where two parts are not there or not named.
    """
    view = Session.stored(store, session, probes).view()
    grouping, _, wanted = by.partition("=")
    ways = list_groupings(view.fabric)
    if grouping not in ways:
        near = find_near(grouping, tuple(ways))
        hint = f", did you mean {near}?" if near else ""
        raise ComparisonError(f"by {grouping}: no such grouping, expected one of {', '.join(ways)}{hint}")
    parts = _choose_parts(view, grouping, ways[grouping], wanted)
    parts = (parts[1], parts[0]) if swapped else parts
    sides = part_session(view, ways[grouping], parts)
    return ComparisonReport(
        (f"{grouping} {parts[0]} of {name_session(view)}", f"{grouping} {parts[1]}"),
        compare_sides(*sides, replace(choice, unpaired=True)),
        compare_parts(view, ways[grouping], parts),
        [],
        [],
        (view.session, view.session),
        (f"{grouping} {parts[0]}", f"{grouping} {parts[1]}"),
        view.fabric,
    )


def _choose_parts(view: RunView, grouping: str, name: Naming, wanted: str) -> tuple[str, str]:
    """The two parts that are meant; ComparisonError where there are not two of these names."""
    found = sorted({part for sample in list_samples(view) for part in sample.part(name)})
    one, _, other = wanted.partition(":")
    parts = [one, other] if wanted else found
    if len(parts) != 2 or one == other != "" or not set(parts) <= set(found):
        told = ", ".join(found[:12]) or "none"
        raise ComparisonError(
            f"by {grouping}{'=' if wanted else ''}{wanted}: expected two of {told}, as {grouping}=A:B"
        )
    return parts[0], parts[1]


def _find_first(store: "Store", one: str, other: str) -> str:
    """The session that ``one`` names; ``baseline`` is that of the machine of the other, unless a label is called so."""
    try:
        return store.find_session(one)
    except UnknownSessionError:
        if one != "baseline":
            raise
    fabric = store.session(store.find_session(other)).describe().new.fabric
    found = store.find_baseline(fabric)
    if found is None:
        raise ComparisonError(f"no session is named as baseline of {fabric}; benchconsole baseline SESSION does")
    return found.session


def name_session(view: RunView) -> str:
    """A session in a comparison: its id, its label, its machine and when it ran."""
    label = f"{view.session} " if view.label else ""
    return f"{label}{find_name(view)}, {view.fabric.name}, {format_period(view)}"


def _name_briefly(view: RunView) -> str:
    """Its label, or its id, and when it began: ``demo default, 29 Nov 06:41``."""
    return f"{view.label or view.session}, {time.strftime('%d %b %H:%M', time.localtime(view.started))}"


def _list_cohorts(session: "SessionStore") -> list[str]:
    """The dimensions of the cohorts that label the whole session."""
    return list_cohorts(session.describe().new.options, session.read_notes())


def _read_record(session: "SessionStore") -> dict[str, str]:
    new = session.describe().new
    return {
        "suite": new.suite,
        "nodes": new.selection or "all",
        "program": new.program,
        **{name: str(value) for name, value in new.options.items()},
    }


def compare_in_order(
    store: "Store", one: str, other: str, probes: "Mapping[str, Probe]", *, swapped: bool = False
) -> ComparisonReport:
    """Two sessions, as A the one that began first, or as B where they are ``swapped``; ``one`` may be ``baseline``.

    ComparisonError as ``compare_sessions``, and where neither has a number.
    """
    keys = _find_first(store, one, other), store.find_session(other)
    started = {key: store.session(key).describe().new.started for key in keys}
    before, after = keys if (started[keys[0]] <= started[keys[1]]) is not swapped else (keys[1], keys[0])
    report = compare_sessions(store, before, after, probes, ComparisonChoice(list_senses(probes)))
    if not report.metrics:
        raise ComparisonError(explain_nothing(report.names))
    return report


def explain_nothing(names: tuple[str, str], metric: str = "") -> str:
    """Why there is nothing to compare, in a sentence; ``metric`` is the one that was asked for."""
    of = f" of {metric}" if metric else ""
    return f"nothing to compare: neither {names[0]} nor {names[1]} has a number{of}"
