"""Completions for the fields of a criterion: metrics and labels that were measured, with the numbers that came."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.result_rows import list_current_rows, list_current_verdicts
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_quantity
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Labels, Reading
from benchconsole.topology.units import Shown, Unit, counted

WORDS = {
    "of": (
        ("capacity", "a share of what the fabric carries"), ("peak", "a share of the stated peak"),
        ("ceiling", "a share of the ceiling of the storage system"), ("rtt", "a share of the described round trip"),
        ("peers", "a share of the median of its peers"), ("baseline", "a share of the baseline"),
    ),
    "statistic": (
        ("mean", "the mean of all numbers"), ("median", "their median"), ("lowest", "the lowest"),
        ("highest", "the highest"), ("sum", "their sum"), ("p95", "a percentile, p1 to p99"),
    ),
}  # fmt: skip
"""Words that a field takes, with what they mean."""


@dataclass
class _Measured:
    """The numbers of one metric."""

    unit: Unit | None = None
    shown: Shown = Shown.PLAIN
    values: list[float] = field(default_factory=list)
    labels: set[Labels] = field(default_factory=set)

    def list_conditions(self) -> list[str]:
        """Each label that any of them carries, as a condition."""
        return sorted({sanitize(f"{name}: {value}") for labels in self.labels for name, value in labels})


@dataclass(frozen=True, slots=True)
class CriterionChoices:
    """Per metric, in the order of names, a sentence on its numbers, and the labels that these carry."""

    metrics: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Sequence[str]] = field(default_factory=dict)
    nodes: Sequence[str] = ()

    def complete(self, name: str, text: str, metric: str) -> list[tuple[str, str]]:
        """The completions of ``text`` in the field ``name``, with the meaning of each; beginnings come first."""
        known = {
            "metric": tuple(self.metrics.items()),
            "where": tuple((each, "") for each in self.labels.get(metric, ())),
            "nodes": tuple((each, "") for each in self.nodes),
            **WORDS,
        }.get(name, ())
        word = text.strip().lower()
        found = [each for each in known if word in each[0].lower()]
        return sorted(found, key=lambda each: not each[0].lower().startswith(word))


def list_choices(view: RunView) -> CriterionChoices:
    """The measured metrics of a session with their labels; groups of its fabric as nodes. Walks every result."""
    measured: dict[str, _Measured] = {}
    for verdict in list_current_verdicts(view):
        _add(measured, verdict, verdict.shown)
    for row in list_current_rows(view, lambda _: True):  # those without a verdict
        if row.measurement is not None:
            _add(measured, row.measurement, row.shown)
    return CriterionChoices(
        {sanitize(name): _describe(measured[name]) for name in sorted(measured)},
        {sanitize(name): each.list_conditions() for name, each in measured.items()},
        tuple(sanitize(f"@{name}") for name in view.fabric.node_groups),
    )


def _add(measured: dict[str, _Measured], about: Verdict | Reading, shown: Shown) -> None:
    if about.value is None:
        return
    found = measured.get(about.metric)
    if found is None:
        found = measured[about.metric] = _Measured(about.unit, shown)
    found.values.append(about.value)
    found.labels.add(about.labels)


def _describe(found: _Measured) -> str:
    low, high = (format_quantity(each, found.unit, found.shown) for each in (min(found.values), max(found.values)))
    many = counted(len(found.values), "number")
    return f"{many}, {low} to {high}" if len(found.values) > 1 else f"{many}, {low}"
