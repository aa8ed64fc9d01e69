"""Sweeps in reports: curves drawn with digits and fixed letters only, every number in a table, nothing made up."""

import io
import re

import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.curve_section import HEIGHT, MOST, WIDTH, make_sections
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.topology.copying import replace
from tests.console.curves.test_curve_model import WRONG, Told, failed, view_of
from tests.console.reports.parsing import parsed
from tests.console.reports.test_html import ALLOWED, WORST, page_of

TOLD: Told = {
    "1": [[1e9, 0.5e9], [1.1e9, 0.6e9]],
    "2": [[2e9, 1e9], [2.1e9, failed(FailedAt.TIMEOUT)]],
    "4": [[failed(FailedAt.SKIPPED, "ended at tasks=2"), failed(FailedAt.SKIPPED, "ended at tasks=2")]] * 2,
}
_PATH = re.compile(r"([MLHVmlhvaz]|-?\d+|\s)*")


def swept(required: str = "800000000.0") -> RunView:
    return view_of(TOLD, cohorts=("bare metal", "virtual"), required=required)


def written(kind: str, view: RunView) -> str:
    out = io.StringIO()
    render(kind, view, out, ReportOptions(operator="R. Example", version="1.0.0"))
    return out.getvalue()


def test_the_page_has_the_curve_and_its_numbers() -> None:
    page = page_of(swept())
    assert page.unbalanced == page.open == []
    assert set(page.tags) <= ALLOWED
    headings = [data for tag, data in page.texts if tag == "h2"]
    assert "Sweeps" in headings
    cells = [data.strip() for tag, data in page.texts if tag == "td"]
    assert {"1.05 GB/s", "2.05 GB/s", "550 MB/s", "not needed any more: ended at tasks=2"} <= set(cells)


def test_a_session_without_a_sweep_has_no_such_section() -> None:
    plain = RunView(swept().fabric)
    assert "Sweeps" not in written("html", plain)
    assert "## Sweeps" not in written("md", plain)
    assert make_sections(plain) == ((), "")


@pytest.mark.parametrize("wrong", WRONG)
def test_numbers_that_cannot_be_right_are_no_part_of_a_path(wrong: float) -> None:
    ((section,), _) = make_sections(view_of({"1": [[1e9, wrong]], "2": [[wrong, 2e9]]}))
    assert _PATH.fullmatch(section.curves[0].line)
    assert section.ticks == ("2.00 GB/s", "1.00 GB/s", "0 B/s")


@pytest.mark.parametrize("wrong", [*WRONG, 1e300, 5e-324])
@pytest.mark.parametrize("kind", ["html", "md", "json", "csv", "text"])
def test_every_report_is_written_whatever_a_number_is(kind: str, wrong: float) -> None:
    view = view_of({"1": [[1e9, 1e9]], "2": [[wrong, 2e9]], "4": [[wrong, wrong]]}, required="800000000.0")
    assert written(kind, view)


def test_paths_are_digits_and_fixed_letters_within_the_picture() -> None:
    ((section,), left) = make_sections(swept())
    assert left == ""
    assert len(section.curves) == 2
    for drawn in section.curves:
        for path in (drawn.line, drawn.spreads, drawn.points, drawn.key, section.required):
            assert _PATH.fullmatch(path)
        ends = [(int(x), int(y)) for x, y in re.findall(r"[ML](\d+) (\d+)", drawn.line)]
        assert len(ends) == 2  # from 1 to 2 tasks; none leads to the point that was spared
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in ends)
        assert len(re.findall("M", drawn.points)) == 2


def test_the_required_line_is_there_where_a_verdict_was_made() -> None:
    ((judged,), _), ((unjudged,), _) = make_sections(swept()), make_sections(swept(required="0"))
    assert judged.required
    assert unjudged.required == ""
    assert "dashed: required" in written("html", swept())
    assert "dashed: required" not in written("html", swept(required="0"))


def test_an_axis_of_values_that_is_logarithmic_says_so() -> None:
    wide: Told = {"1": [[1e6]], "2": [[2e9]]}
    assert "the axis of the values is logarithmic" in written("html", view_of(wide))
    assert "the axis of the values is logarithmic" not in written("html", swept())


def test_markdown_has_the_table() -> None:
    text = written("md", swept())
    assert "### ior over tasks: ior.write" in text
    assert "| · | bare metal | 2 | 2 | 2 | 2.05 GB/s | 2.00 GB/s | 2.10 GB/s | +95 % |" in text
    assert "| ✗ | virtual | 1 | 2 | 2 | 550 MB/s | 500 MB/s | 600 MB/s |" in text


@pytest.mark.parametrize("text", WORST)
def test_values_and_reasons_are_text(text: str) -> None:
    told: Told = {text: [[1e9]], "other": [[failed(FailedAt.TOOL, text)]]}
    page = parsed(written("html", view_of(told, axis="pattern")))
    assert page.unbalanced == page.open == []
    assert set(page.tags) <= ALLOWED


def test_curves_that_are_too_many_are_counted() -> None:
    told: Told = {"1": [[1e9]]}
    view = view_of(told)
    (test,) = view.plan[0].tests
    result = view.results[test.id]
    (found,) = result.measurements
    many = tuple(replace(found, id=f"{test.id}/{place}", metric=f"ior.m{place}") for place in range(MOST + 3))
    shown, left = make_sections(replace(view, results={test.id: replace(result, measurements=many)}))
    assert len(shown) == MOST
    assert left == "And 3 more curves; their numbers are in the JSON report."
