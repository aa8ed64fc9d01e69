"""The tables of an examination: by kind of fault, and in sum with the goals beside."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.attribution.cable_simulator import TRUTHS
from benchmarks.attribution.described import SUITES
from benchmarks.attribution.faults import FaultKind
from benchmarks.attribution.scoring import Grade, Score

SILENT, EXACT, PRECISE, LOCATED, RECALLED, SAID = 0.95, 0.95, 0.95, 0.95, 0.90, 0.99
"""Goals: healthy runs without a finding; exact recall; exact precision; located precision and recall on wrong paths;
faults found, or of a kind that the report says it may not see, where no port chooses a member."""

HARD = "wrong-paths"
"""Truths of this name are held against the goals of located findings."""


class Condition(NamedTuple):
    """The condition that is examined: suite, truth and fabric."""

    suite: str
    truth: str
    fabric: str

    @property
    def is_steered(self) -> bool:
        """Whether source ports choose members, and the file says so."""
        return SUITES[self.suite].steered and not TRUTHS[self.truth].unknown


class ScoredRun(NamedTuple):
    """One run: the kinds of its faults, their score, which of them its report says it may not see, planned minutes."""

    kinds: tuple[FaultKind, ...]
    score: Score
    unseen: tuple[bool, ...]
    minutes: float


_GRADES = ("exact", "or LAG", "node/LAG", "tie", "other", "missed")
_FAULT_HEAD = ("suite", "truth", "fabric", "fault", "k", "n", *_GRADES)
_SUM_HEAD = (
    *("suite", "truth", "fabric", "min", "silent", "findings", "exact", "or LAG", "precision", "or LAG"),
    *("recall", "or said", "located", "unexplained", "warned", "goals"),
)
_SUM_GOALS = ("", "goal", "", "", ">= .95", "", "", ">= .95", "", ">= .95", ">= .90", ">= .99", ">= .95", "", "", "")


def list_fault_rows(condition: Condition, runs: Iterable[ScoredRun]) -> Iterator[tuple[str, ...]]:
    """A row for each kind of fault and number of faults in the run: shares of each grade."""
    counts: dict[tuple[FaultKind, int], Counter[Grade]] = {}
    for run in runs:
        for kind, grade in zip(run.kinds, run.score.grades, strict=True):
            counts.setdefault((kind, len(run.kinds)), Counter())[grade] += 1
    order = list(FaultKind)
    for (kind, count), grades in sorted(counts.items(), key=lambda each: (order.index(each[0][0]), each[0][1])):
        total = grades.total()
        shares = [grades[grade] / total for grade in Grade]
        shares[Grade.LAG] += shares[Grade.EXACT]
        yield (*condition, kind.value, str(count), str(total), *map(_share, shares))


def make_sum_row(condition: Condition, runs: Sequence[ScoredRun]) -> tuple[str, ...]:
    """All runs of a condition in one row. ``findings`` are those of a healthy run, ``unexplained`` of a faulty one.

    Where ports choose members, exact findings are asked for (on wrong paths located ones); elsewhere every fault found,
    or said to be of a kind that may not be seen.
    """
    healthy = [run.score for run in runs if not run.kinds]
    faulty = [run.score for run in runs if run.kinds]
    grades = Counter(grade for each in faulty for grade in each.grades)
    faults = grades.total()
    named, placed = sum(each.named for each in faulty), sum(each.placed for each in faulty)
    exact, lag = (sum(getattr(each, name) for each in faulty) for name in ("exact", "lag"))
    silent = _ratio(sum(not each.findings for each in healthy), len(healthy))
    recall = _ratio(grades[Grade.EXACT] + grades[Grade.LAG], faults)
    precision = _ratio(exact + lag, named)
    recalled, located = (
        _ratio(faults - grades[Grade.MISSED], faults),
        _ratio(sum(each.located for each in faulty), placed),
    )
    missed = (
        said for run in runs for grade, said in zip(run.score.grades, run.unseen, strict=True) if grade is Grade.MISSED
    )
    said = _ratio(faults - grades[Grade.MISSED] + sum(missed), faults)
    goals = [(silent, SILENT)]
    if condition.truth.endswith(HARD):
        goals += [(located, LOCATED), (recalled, RECALLED)]
    elif condition.is_steered:
        goals += [(recall, EXACT), (precision, PRECISE)]
    else:
        goals += [(located, LOCATED), (said, SAID)]
    held = [value is None or value >= goal for value, goal in goals]
    return (
        *condition,
        f"{sum(run.minutes for run in runs) / len(runs):.1f}",
        _share(silent),
        _mean(each.findings for each in healthy),
        *map(_share, (_ratio(grades[Grade.EXACT], faults), recall, _ratio(exact, named), precision)),
        *map(_share, (recalled, said, located)),
        _mean(each.findings - each.placed for each in faulty),
        _share(_ratio(sum(run.score.warned > 0 for run in runs), len(runs))),
        "held" if all(held) else "MISSED",
    )


def format_fault_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Faults of each kind: shares of each grade; ``or LAG`` counts ``exact`` too."""
    return _format([_FAULT_HEAD, *rows])


def format_sum_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Conditions in sum, the goals below the head."""
    return _format([_SUM_HEAD, _SUM_GOALS, *rows])


def _format(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = 4 if rows[0] == _FAULT_HEAD else 3
    lines = (
        "  ".join(
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _mean(values: Iterable[int]) -> str:
    every = list(values)
    return f"{sum(every) / len(every):.1f}" if every else "-"
