"""Owns what is said of a curve in words, for screen and reports: its name, its table, the sentence on its knee."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.curves import COUNTS, Chart, Curve, Knee, Point
from console.view import State
from console.wording import NOT_MEASURED, count, plain, quantity
from topology.units import percent

COLUMNS = ("point", "reps", "tests", "median", "min", "max", "gain", "each", "required", "note")
"""The columns of the table of points; ``each`` is what each worker still gives."""


@dataclass(frozen=True, slots=True)
class PointRow:
    """One point of one curve as text, by column; ``curve`` is the place of its curve in the chart.

    ``lacks`` says why tests of it gave no number.
    """

    curve: int
    value: str
    state: State | None
    cells: dict[str, str]
    lacks: str

    @property
    def is_measured(self) -> bool:
        """Whether there is a number."""
        return self.cells["median"] != NOT_MEASURED


def chart_name(chart: Chart) -> str:
    """The metric with what tells it apart, and the axes that are held."""
    words = [plain(chart.metric) or "nothing measured yet", *(_label(*pair) for pair in chart.labels)]
    words += [f"{plain(name)}={plain(value)}" for name, value in chart.held]
    return " ".join(words)


def _label(name: str, value: str) -> str:
    """A label by its value alone, where that does not look like any number."""
    return plain(f"{name}={value}" if value[:1].isdigit() else value)


def cohort_name(chart: Chart, curve: Curve) -> str:
    """What tells a curve from the others of its chart; empty where it is alone."""
    if len(chart.curves) == 1:
        return ""
    if not curve.cohort:
        return "all together" if chart.is_summed else "no cohort"
    return plain(", ".join(value for _, value in curve.cohort))


def value_words(chart: Chart) -> str:
    """What one value of the chart is."""
    if chart.is_summed:
        return "sum of all that ran at once, median over repetitions"
    most = max((point.tests for curve in chart.curves for point in curve.points), default=0)
    turns = max((point.repetitions for curve in chart.curves for point in curve.points), default=0)
    if chart.is_split:
        return "each part of each test, median over all"
    return "each test, median over tests and repetitions" if most > turns else "median over repetitions"


def knee_words(chart: Chart, curve: Curve, knee: Knee | None) -> str:
    """Where growing ends, or that it has not; empty where neither can be said."""
    if len(curve.measured) < 2 or any(point.at is None for point in curve.points):
        return ""
    axis, gain = plain(chart.axis), percent(chart.least_gain)
    so_far = " so far" if curve.is_open else ""
    if knee is None:
        last = curve.measured[-1].value
        return f"no knee{so_far}: {axis}={last}, the last point measured, still gained {gain} or more"
    at = f"knee{so_far} at {axis}={knee.point.value}, {quantity(knee.point.median, chart.unit, chart.shown)}"
    later = curve.points[curve.points.index(knee.point) :]
    rest = f"no later {'point' if all(point.values for point in later) else 'measured point'} gained {gain}"
    return f"{at}: {rest}" if knee.certain else f"{at}: {rest} by its median, but some reach it within their spread"


def sentences(chart: Chart) -> list[str]:
    """What is said of the knees of a chart, the cohort first where there are several."""
    found = []
    for curve, knee in chart.knees():
        words = knee_words(chart, curve, knee)
        if words:
            found.append(": ".join(filter(None, (cohort_name(chart, curve), words))))
    return found


def point_rows(chart: Chart) -> list[PointRow]:
    """Every point of every curve, those of one value below each other."""
    found = [(chart.curves.index(curve), knee) for curve, knee in chart.knees()]
    knees = {index: knee.point.value for index, knee in found if knee is not None}
    return [
        _row(chart, index, point, is_knee=knees.get(index) == point.value)
        for place in range(len(chart.values))
        for index, curve in enumerate(chart.curves)
        for point in (curve.points[place],)
        if point.planned
    ]


def _row(chart: Chart, index: int, point: Point, *, is_knee: bool) -> PointRow:
    cells = _cells(chart, chart.curves[index], point, is_knee=is_knee)
    return PointRow(index, point.value, _state(point), cells, missing_words(point))


def _state(point: Point) -> State | None:
    """How the point was judged; else why it is not whole."""
    if point.state is not None:
        return point.state
    return min((each.state for each in point.missing), key=lambda state: state.rank, default=None)


def _cells(chart: Chart, curve: Curve, point: Point, *, is_knee: bool) -> dict[str, str]:
    knee = "knee so far" if curve.is_open else "knee"
    gain, each = curve.gains.get(point.value), curve.efficiency.get(point.value)
    return {
        "point": point.value,
        "reps": f"{point.repetitions}/{point.of}" if point.repetitions < point.of else f"{point.of}",
        "tests": f"{point.tests:,}/{point.planned:,}" if point.tests < point.planned else f"{point.planned:,}",
        "median": quantity(point.median, chart.unit, chart.shown),
        "min": quantity(point.low, chart.unit, chart.shown),
        "max": quantity(point.high, chart.unit, chart.shown),
        "gain": "" if gain is None else signed(gain),
        "each": percent(each) if each is not None and chart.has_efficiency else "",
        "required": " to ".join(quantity(bound, chart.unit, chart.shown) for bound in _ends(point.bounds)),
        "note": "; ".join(filter(None, (knee if is_knee else "", missing_words(point)))),
    }


def _ends(bounds: Sequence[float]) -> Sequence[float]:
    return bounds if len(bounds) < 2 else (bounds[0], bounds[-1])


def signed(share: float) -> str:
    """A share in percent with its sign."""
    return f"{'+' if share >= 0 else '−'}{percent(abs(share))}"


def missing_words(point: Point) -> str:
    """Why tests of a point gave no number, the worst first; how many, where that is not all of them."""
    if len(point.missing) == 1 and point.missing[0].tests == point.planned:
        return point.missing[0].why
    return "; ".join(f"{count(each.tests, 'test')} {each.why}" for each in point.missing)


def heading(chart: Chart, column: str) -> str:
    """What stands above a column."""
    if column == "point":
        return plain(chart.axis)
    return f"per {COUNTS[chart.axis]}" if column == "each" and chart.axis in COUNTS else column


def wanted_columns(rows: Sequence[PointRow]) -> list[str]:
    """The columns that have something to say."""
    return [name for name in COLUMNS if any(row.cells[name] for row in rows)]


def as_text(chart: Chart) -> str:
    """The whole table, tab-separated."""
    rows = point_rows(chart)
    names = wanted_columns(rows)
    lines = [tuple(heading(chart, name) for name in names)] + [tuple(row.cells[name] for name in names) for row in rows]
    if len(chart.curves) > 1:
        cohorts = ["cohort", *(cohort_name(chart, chart.curves[row.curve]) for row in rows)]
        lines = [(cohort, *line) for cohort, line in zip(cohorts, lines, strict=True)]
    return "".join("\t".join(cells) + "\n" for cells in lines)
