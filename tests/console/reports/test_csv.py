"""The CSV report: every row, numbers as numbers, no formulas."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.table_csv import LONGEST, cell
from benchconsole.console.view.result_rows import COLUMNS
from benchconsole.console.view.run_view import RunView
from tests.console.reports import fixture


def table(view: RunView, *, raw: bool = False) -> list[dict[str, str]]:
    """The report read back."""
    out = io.StringIO()
    render("csv", view, out, ReportOptions(raw_csv=raw))
    return list(csv.DictReader(io.StringIO(out.getvalue())))


def test_the_heading_names_every_column_even_without_rows() -> None:
    out = io.StringIO()
    render("csv", fixture.empty(), out)
    assert out.getvalue() == ",".join(column.name for column in COLUMNS) + "\n"


def test_numbers_are_in_base_units_with_their_unit() -> None:
    (row,) = (row for row in table(fixture.hard()) if row["test"] == "t3-n09>n10")
    assert float(row["value"]) == 2.97 * fixture.GBIT
    assert row["unit"] == "B/s"


def test_a_test_without_a_number_has_an_empty_cell_not_zero() -> None:
    (row,) = (row for row in table(fixture.hard()) if row["test"] == "t2-n12")
    assert (row["value"], row["outcome"]) == ("", "unreachable")


def test_zero_is_zero() -> None:
    (row,) = table(fixture.single())
    assert float(row["value"]) == 0.0


@pytest.mark.fault("F36", "I15")
@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1", "\n=1", "＝1+1"])
def test_formulas_become_text(text: str) -> None:
    found = cell(text)
    assert isinstance(found, str)
    assert found.startswith("'")


@pytest.mark.fault("F36", "I15")
@pytest.mark.parametrize("text", ["=1+1", "\t=1+1", "\r=1+1", "@x"])
def test_formulas_become_text_in_every_column(text: str) -> None:
    for row in table(fixture.poisoned(text)):
        assert not [value for value in row.values() if value.startswith(("=", "+", "@", "\t", "\r"))]


@pytest.mark.fault("F36", "I15")
@pytest.mark.parametrize("value", [-5.2e3, -1, 0, 1e30])
def test_numbers_stay_numbers(value: float) -> None:
    assert cell(value) == value


@pytest.mark.parametrize("text", ["-5.2e3", "+3", "-0.5"])
def test_numbers_written_as_text_are_left_alone(text: str) -> None:
    assert cell(text) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_what_is_no_number_is_an_empty_cell(value: float | None) -> None:
    assert cell(value) == ""


@pytest.mark.fault("F51")
def test_a_long_cell_is_cut_and_says_so() -> None:
    found = cell("x" * 40_000)
    assert isinstance(found, str)
    assert len(found) < 32_767
    assert found.endswith("… (cut, 40,000 characters)")
    assert found.startswith("x" * LONGEST)


def test_machines_may_have_it_raw() -> None:
    assert cell("=1+1", raw=True) == "=1+1"
    assert cell("x" * 40_000, raw=True) == "x" * 40_000
    assert any(row["because"].endswith("=SUM(A1)") for row in table(fixture.hard(), raw=True))


def test_one_line_for_each_row_whatever_a_node_says() -> None:
    out = io.StringIO()
    render("csv", fixture.poisoned("a\r\nb\nc"), out)
    assert len(out.getvalue().split("\n")) == len(table(fixture.poisoned("x"))) + 2


@pytest.mark.fault("F36", "I15")
@given(st.text())
def test_no_text_at_all_is_a_formula(text: str) -> None:
    found = cell(text)
    assert isinstance(found, str)
    assert not found.startswith(("=", "@", "\t", "\r"))
    assert not found.startswith(("+", "-")) or float(found) == float(text)
