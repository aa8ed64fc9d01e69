"""The areas of what can be run: the suites that can be planned, and the probes that are installed."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.measuring import TestOutcome
from benchconsole.probes.planning.suites import find_suite, list_suite_names
from benchconsole.topology.units import duration

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.topology.model.fabric import Suite

# -- suites


def list_suites(view: RunView, probes: "Mapping[str, Probe]") -> Area:
    """Every suite that can be planned: where it is from, its stages, and the nodes that these name."""
    columns = {
        "suite": Column("suite"), "runs": words("runs", 24), "is": words("is", 8), "stages": number("stages"),
        "nodes": number("nodes"), "from": Column("from"),
    }  # fmt: skip
    default = find_suite(view.fabric, None).name
    suites = (find_suite(view.fabric, name) for name in list_suite_names(view.fabric))
    return Area("Suites", columns, tuple(_make_suite(view, each, probes, default) for each in suites), {})


def _make_suite(view: RunView, suite: "Suite", probes: "Mapping[str, Probe]", default: str) -> Row:
    from benchconsole.probes.planning.stage_choice import list_stage_names  # here: it brings what planning needs

    stages = list_stage_names(suite, probes)
    marks = [
        word
        for word, holds in (("default", suite.name == default), ("of this session", suite.name == view.suite))
        if holds
    ]
    is_own = suite.name in view.fabric.suites
    nodes = {node for stage in suite.stages for node in stage.nodes}
    record: Record = {
        "suite": suite.name, "from": "file" if is_own else "benchconsole", "default": suite.name == default,
        "shown": suite.name == view.suite, "stages": list(stages), "nodes": len(nodes),
    }  # fmt: skip
    text = {
        "suite": sanitize(suite.name), "runs": sanitize("; ".join(stages)), "is": ", ".join(marks),
        "stages": f"{len(stages):,}", "nodes": f"{len(nodes):,}", "from": "the file" if is_own else "benchconsole",
    }  # fmt: skip
    return Row(text, {}, record)


# -- probes


def list_probes(view: RunView, probes: "Mapping[str, Probe]") -> Area:
    """Every installed probe, those of the session first: its effect, how long a test takes by default, its tests."""
    columns = {
        "probe": Column("probe"), "on": Column("on"), "in use": Column("in use"), "about": number("about"),
        "planned": number("planned"), **{each.value: number(each.value) for each in TestOutcome},
        "measures": words("measures", 24),
    }  # fmt: skip
    planned: Counter[str] = Counter(test.probe for each in view.plan for test in each.tests)
    ended: Counter[tuple[str, TestOutcome]] = Counter(
        (result.test.probe, result.outcome) for result in view.results.values()
    )
    ordered = sorted(probes.items(), key=lambda each: (not planned[each[0]], each[0]))
    rows = tuple(_make_probe(each, planned[name], ended) for name, each in ordered)
    return Area("Probes", columns, rows, {})


def _make_probe(probe: "Probe", planned: int, ended: Mapping[tuple[str, TestOutcome], int]) -> Row:
    seconds = probe.estimate(probe.options)
    counts = {outcome.value: ended[probe.name, outcome] for outcome in TestOutcome}
    record: Record = {
        "probe": probe.name, "shape": probe.shape.value, "safety": probe.safety.value, "seconds": seconds,
        "planned": planned, **counts, "summary": probe.summary, "metrics": [each.name for each in probe.metrics],
    }  # fmt: skip
    text = {
        "probe": sanitize(probe.name), "on": probe.shape.value, "in use": probe.safety.value,
        "about": duration(seconds), "planned": f"{planned:,}" if planned else "",
        **{name: f"{count:,}" if count else "" for name, count in counts.items()},
        "measures": sanitize(probe.summary),
    }  # fmt: skip
    return Row(text, {}, record)
