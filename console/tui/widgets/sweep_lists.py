"""The two lists of the page of sweeps: every chart with its knees, and every point of the chosen one."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.console.curves.curve_model import Chart
from benchconsole.console.curves.curve_text import (
    PointRow,
    format_chart_name,
    format_cohort_name,
    format_heading,
    format_sentences,
    make_point_rows,
    select_columns,
)
from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.filtering import Fields
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.rows.text_rows import REMARKED, CellLine, Row, sign, value_tone
from benchconsole.console.tui.rows.themes import ACTIVE, BOLD, BRIGHT, MUTED, TEXT
from benchconsole.console.tui.widgets.curve import mark
from benchconsole.console.tui.widgets.listing import FilteredListing, Listing, find_again
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.topology.units import counted as count

COLUMNS: Mapping[str, Scale | None] = dict.fromkeys(("stage", "metric", "axis", "cohort"))
"""The columns that a filter may name."""


@dataclass(frozen=True, slots=True)
class ChartRow(Fields):
    """One chart as text."""

    chart: Chart
    name: str
    points: str
    knees: str

    def words(self, column: str) -> str:
        cohorts = " ".join(format_cohort_name(self.chart, curve) for curve in self.chart.curves)
        return {
            "stage": sanitize(self.chart.stage), "metric": self.name, "axis": sanitize(self.chart.axis),
            "cohort": cohorts,
        }[column]  # fmt: skip

    @property
    def everything(self) -> str:
        """All its text, lower case."""
        return "\n".join((*map(self.words, COLUMNS), self.knees)).lower()


def chart_row(chart: Chart) -> ChartRow:
    """The row of one chart in the list."""
    values = chart.values
    seen = {point.value for curve in chart.curves for point in curve.measured}
    spared = f"{len(seen)} of {count(len(values), 'point')}" if len(seen) < len(values) else count(len(seen), "point")
    return ChartRow(chart, format_chart_name(chart), spared, "; ".join(format_sentences(chart)))


class ChartList(FilteredListing[ChartRow]):
    """Charts that pass the filter."""

    filter_columns = COLUMNS

    def show(self, charts: Sequence[Chart]) -> None:
        """Other charts; the cursor stays on its own."""
        here = self.chosen
        self.every = [chart_row(chart) for chart in charts]
        self.apply_filter()
        self.cursor = find_again(here, self.items, lambda row: row.chart.question, self.cursor)
        self.redraw()

    def empty(self, width: int) -> list[Row]:
        why = "no curve passes the filter" if self.every else "nothing of this session was swept"
        return [CellLine(width).to(1).put(clip_text(why, width - 2), MUTED).row()]

    def heading(self, width: int) -> list[Row]:
        stage, name, points = self._places(width)
        line = CellLine(width).to(1).put("sweep", ACTIVE if self.has_focus else MUTED).to(stage).put("metric", MUTED)
        return [line.to(name).put("points", MUTED).to(points).put("knee", MUTED).row()]

    def row(self, index: int, width: int) -> Row:
        each = self.items[index]
        stage, name, points = self._places(width)
        line = CellLine(width).to(1).put(clip_text(sanitize(each.chart.stage), stage - 2), MUTED).to(stage)
        line.put(clip_text(each.name, name - stage - 1), BRIGHT).to(name).put(each.points, MUTED).to(points)
        return line.put(clip_text(each.knees, max(line.room - 1, 0)), TEXT).row()

    def _places(self, width: int) -> tuple[int, int, int]:
        """Where metric, points and knee begin; what is longer than its share of the width is cut."""
        stage = min(
            max((measure_width(sanitize(row.chart.stage)) for row in self.every), default=0), max(width // 4, 12)
        )
        name = min(max((measure_width(row.name) for row in self.every), default=0), max(width // 3, 20))
        points = max((measure_width(row.points) for row in self.every), default=0)
        return stage + 3, stage + name + 5, stage + name + points + 7


class PointTable(Listing[PointRow]):
    """Every point of one chart with its numbers, or why it has none; those of the values ``remarked`` are marked."""

    chart: Chart | None = None
    columns: Sequence[str] = ()
    remarked: Container[str] = ()

    def show(self, chart: Chart | None) -> None:
        """Another chart, or more of it."""
        self.chart = chart
        self.items = make_point_rows(chart) if chart is not None else ()
        self.columns = select_columns(self.items)
        self.redraw()

    @property
    def wanted(self) -> int:
        """Columns that it would fill."""
        return max((x + wide for name, x, wide in self._placed(1_000) if name != "note"), default=0) + 2 + self._note

    @property
    def _note(self) -> int:
        """Columns of the longest note."""
        return max((measure_width(row.cells["note"]) + 2 for row in self.items if row.cells["note"]), default=0)

    def heading(self, width: int) -> list[Row]:
        line = CellLine(width)
        for name, x, wide in self._placed(width):
            word = format_heading(self.chart, name) if self.chart is not None and name != "note" else ""
            tone = ACTIVE if name == "point" and self.has_focus else MUTED
            line.to(x).put(word, tone, wide, "<" if name == "note" else ">")
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        each = self.items[index]
        line = CellLine(width).put(REMARKED if each.value in self.remarked else " ", MUTED)
        if each.state is not None:
            line.extend((sign(each.state),))
        if self.chart is not None and len(self.chart.curves) > 1:
            line.to(3).extend((mark(each.curve, ascii_only=self.painter.ascii),))
        for name, x, wide in self._placed(width):
            tone = TEXT if name in ("min", "max", "gain", "each") else MUTED
            if name in ("point", "median"):
                tone = BRIGHT if name == "point" else BOLD
                if name == "median" and each.state is not None and each.cells[name] != NOT_MEASURED:
                    tone = value_tone(each.state)._replace(bold=True)
            line.to(x).put(clip_text(each.cells[name], wide), tone, wide, "<" if name == "note" else ">")
        return line.row()

    def _placed(self, width: int) -> list[tuple[str, int, int]]:
        """Name, column and width; what matters less goes first where it is tight."""
        if self.chart is None:
            return []
        wide = {
            name: max(map(measure_width, (format_heading(self.chart, name), *(row.cells[name] for row in self.items))))
            for name in self.columns
            if name != "note"
        }
        start = 5 if len(self.chart.curves) > 1 else 3
        room = width - start - min(self._note, 12)
        for dropped in ("required", "tests", "reps", "each", "min", "max"):
            if sum(wide.values()) + 2 * len(wide) <= room:
                break
            wide.pop(dropped, None)
        made, x = [], start
        for name, cells in wide.items():
            made.append((name, x, cells))
            x += cells + 2
        return [*made, ("note", x, max(width - x - 1, 0))] if self._note else made
