"""A curve in words, for screens and reports: its name, its table, the sentence on its knee."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchconsole.console.curves.curve_model import COUNTS, Chart, Curve, Knee, Point
from benchconsole.console.curves.curve_shape import FEWEST, TOLERANCE, Place, find_shape
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import format_quantity
from benchconsole.probes.model.labels import tell_labels
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import percent

COLUMNS = ("point", "reps", "tests", "median", "min", "max", "gain", "each", "required", "note")
"""The columns of the table of points; ``each`` is what each worker still gives."""


class PointRow(NamedTuple):
    """One point of the curve at place ``curve`` of its chart, by column; ``lacks`` says why tests gave no number."""

    curve: int
    value: str
    state: State | None
    cells: dict[str, str]
    lacks: str


def format_chart_name(chart: Chart) -> str:
    """The metric with what tells it apart, and the axes that are held."""
    held = (f"{name}={value}" for name, value in chart.held)
    return " ".join(map(sanitize, (chart.metric or "nothing measured yet", *tell_labels(chart.labels), *held)))


def format_cohort_name(chart: Chart, curve: Curve) -> str:
    """The name that tells a curve from the others of its chart; empty where it is alone."""
    if len(chart.curves) == 1:
        return ""
    if not curve.cohort:
        return "all together" if chart.is_summed else "no cohort"
    return sanitize(", ".join(value for _, value in curve.cohort))


def format_value(chart: Chart) -> str:
    """The meaning of one value of the chart."""
    if chart.is_summed:
        return "sum of all that ran at once, median over repetitions"
    most = max((point.tests for curve in chart.curves for point in curve.points), default=0)
    turns = max((point.repetitions for curve in chart.curves for point in curve.points), default=0)
    if chart.is_split:
        return "each part of each test, median over all"
    return "each test, median over tests and repetitions" if most > turns else "median over repetitions"


def format_knee(chart: Chart, curve: Curve, knee: Knee | None) -> str:
    """Where growing ends, or that it has not; empty where neither can be said."""
    if len(curve.measured) < 2 or any(point.at is None for point in curve.points):
        return ""
    axis, gain = sanitize(chart.axis), percent(chart.least_gain)
    so_far = " so far" if curve.is_open else ""
    if knee is None:
        last = curve.measured[-1].value
        return f"no knee{so_far}: {axis}={last}, the last point measured, still gained {gain} or more"
    at = f"knee{so_far} at {axis}={knee.point.value}, {format_quantity(knee.point.median, chart.unit, chart.shown)}"
    later = curve.points[curve.points.index(knee.point) :]
    rest = f"no later {'point' if all(point.values for point in later) else 'measured point'} gained {gain}"
    return f"{at}: {rest}" if knee.certain else f"{at}: {rest} by its median, but some reach it within their spread"


def format_sentences(chart: Chart) -> list[str]:
    """The sentences on the knees of a chart, the cohort first where there are several."""
    said = ((curve, format_knee(chart, curve, knee)) for curve, knee in chart.knees())
    return [_say_of_curve(chart, curve, words) for curve, words in said if words]


def format_shapes(chart: Chart) -> list[str]:
    """The sentences on the shape of each curve that grows, the cohort first where there are several."""
    said = ((curve, "; ".join(_list_marks(chart, curve))) for curve, _ in chart.knees())
    return [_say_of_curve(chart, curve, words) for curve, words in said if words]


def _say_of_curve(chart: Chart, curve: Curve, words: str) -> str:
    """The ``words`` on a curve, the cohort before them, and after them the points that the plan left out."""
    without = ", ".join(point.value for point in curve.left_out)
    fewer = f"; it rests on fewer points, without {sanitize(chart.axis)}={without}" if without else ""
    return ": ".join(filter(None, (format_cohort_name(chart, curve), f"{words}{fewer}")))


def _list_marks(chart: Chart, curve: Curve) -> Iterator[str]:
    """Maximum, plateau, saturation, collapse and dips of a curve, in words."""
    shape = find_shape(curve) if len(curve.measured) > 1 else None
    if shape is None:
        return
    yield f"maximum {_show(chart, shape.maximum)}"
    if shape.is_short:
        yield f"plateau n/a: {count(len(curve.measured), 'measured point')}, {FEWEST} are needed"
        return
    if shape.plateau is not None:
        first, last = shape.plateau
        unsure = "" if first.certain and last.certain else _UNSURE
        axis, near = sanitize(chart.axis), percent(TOLERANCE)
        yield f"plateau from {axis}={first.point.value} to {last.point.value} (within {near} of the maximum{unsure})"
    elif shape.is_rising:
        yield "no plateau: the last point measured is the maximum"
    for name, place in (("saturation", shape.saturation), ("collapse", shape.collapse)):
        if place is not None:
            yield f"{name} at {_show_place(chart, place)}"
    yield from (f"dip at {_show_place(chart, dip)}" for dip in shape.dips)


_UNSURE = ", by medians: spreads overlap"


def _show(chart: Chart, point: Point) -> str:
    return f"{sanitize(chart.axis)}={point.value}, {format_quantity(point.median, chart.unit, chart.shown)}"


def _show_place(chart: Chart, place: Place) -> str:
    return _show(chart, place.point) + ("" if place.certain else " (by its median: spreads overlap)")


def make_point_rows(chart: Chart) -> list[PointRow]:
    """Every point of every curve, those of one value below each other."""
    knees = {chart.curves.index(curve): knee.point.value for curve, knee in chart.knees() if knee is not None}
    return [
        _make_row(chart, index, point, is_knee=knees.get(index) == point.value)
        for place in range(len(chart.values))
        for index, curve in enumerate(chart.curves)
        for point in (curve.points[place],)
        if point.planned or point.missing
    ]


def _make_row(chart: Chart, index: int, point: Point, *, is_knee: bool) -> PointRow:
    cells = _make_cells(chart, chart.curves[index], point, is_knee=is_knee)
    why_not_whole = min((each.state for each in point.missing), key=lambda state: state.rank, default=None)
    return PointRow(index, point.value, point.state or why_not_whole, cells, format_missing(point))


def _make_cells(chart: Chart, curve: Curve, point: Point, *, is_knee: bool) -> dict[str, str]:
    knee = "knee so far" if curve.is_open else "knee"
    gain, each = curve.gains.get(point.value), curve.efficiency.get(point.value)
    return {
        "point": point.value,
        "reps": f"{point.repetitions}/{point.of}" if point.repetitions < point.of else f"{point.of}",
        "tests": f"{point.tests:,}/{point.planned:,}" if point.tests < point.planned else f"{point.planned:,}",
        "median": format_quantity(point.median, chart.unit, chart.shown),
        "min": format_quantity(point.low, chart.unit, chart.shown),
        "max": format_quantity(point.high, chart.unit, chart.shown),
        "gain": "" if gain is None else f"{'+' if gain >= 0 else '−'}{percent(abs(gain))}",
        "each": percent(each) if each is not None and chart.has_efficiency else "",
        "required": " to ".join(
            format_quantity(bound, chart.unit, chart.shown) for bound in (*point.bounds[:1], *point.bounds[1:][-1:])
        ),
        "note": "; ".join(filter(None, (knee if is_knee else "", format_missing(point)))),
    }


def format_missing(point: Point) -> str:
    """Why tests of a point gave no number, the worst first; how many, where that is not all of them."""
    if len(point.missing) == 1 and point.missing[0].tests == point.planned:
        return point.missing[0].why
    return "; ".join(f"{count(each.tests, 'test')} {each.why}" for each in point.missing)


def format_heading(chart: Chart, column: str) -> str:
    """The heading of a column."""
    if column == "point":
        return sanitize(chart.axis)
    return f"per {COUNTS[chart.axis]}" if column == "each" and chart.axis in COUNTS else column


def select_columns(rows: Sequence[PointRow]) -> list[str]:
    """The columns that have something to say."""
    return [name for name in COLUMNS if any(row.cells[name] for row in rows)]


def format_chart(chart: Chart) -> str:
    """The whole table, tab-separated."""
    headings, rows = make_point_table(chart)
    return "".join("\t".join(cells) + "\n" for cells in (headings, *(cells for _, cells in rows)))


def make_point_table(chart: Chart) -> tuple[list[str], list[tuple[PointRow, list[str]]]]:
    """The headings that have something below them, and each point with its cells; the cohort first where several."""
    rows = make_point_rows(chart)
    names = select_columns(rows)
    headings = [format_heading(chart, name) for name in names]
    cells = [[row.cells[name] for name in names] for row in rows]
    if len(chart.curves) > 1:
        headings = ["cohort", *headings]
        cohorts = [format_cohort_name(chart, curve) for curve in chart.curves]
        cells = [[cohorts[row.curve], *texts] for row, texts in zip(rows, cells, strict=True)]
    return headings, list(zip(rows, cells, strict=True))
