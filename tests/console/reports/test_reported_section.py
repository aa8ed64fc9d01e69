"""The reported numbers of a document beside the measured ones: every statistic, unmeasured ones, and differences."""

from types import MappingProxyType

import pytest

from benchconsole.console.reports.document_json import make_reported_record
from benchconsole.console.reports.reported_section import ReportedLine, compare_reported, make_lines
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.analysis.reported_results import CellOutcome
from benchconsole.topology.copying import replace
from benchconsole.topology.model.claims import ReportedResult, ShareOf, Statistic
from benchconsole.topology.units import Unit, read_written
from tests.console.reports.building import Story, fabric

AGREES, DIFFERS, UNKNOWN = CellOutcome.AGREES, CellOutcome.DIFFERS, CellOutcome.UNKNOWN


def reported(value: str, statistic: Statistic = Statistic.MEAN, **changes: object) -> ReportedResult:
    made = ReportedResult("hpl.rate", read_written(value, Unit.FLOP_RATE), Unit.FLOP_RATE, statistic=statistic)
    return replace(made, **changes)  # type: ignore[arg-type]


def measured(*results: ReportedResult) -> RunView:
    """Three blades at 690, 695 and 706 GFLOP/s of 806.4, with another label each."""
    story = Story(replace(fabric(), reported=results))
    for number, rate in enumerate((690e9, 695e9, 706e9), 1):
        (test,) = story.round("hpl", "hpl", [f"n{number:02}"])
        story.answer(test, "hpl.rate", rate, Unit.FLOP_RATE, run=number)
        story.answer(test, "hpl.time", 1.0, Unit.SECOND)
    return story.view()


@pytest.mark.parametrize(
    ("statistic", "written", "here", "outcome"),
    [
        (Statistic.MEAN, "697 GFLOP/s", "697 GFLOP/s", AGREES),
        (Statistic.MEAN, "698 GFLOP/s", "697.0 GFLOP/s", DIFFERS),
        (Statistic.MEAN, "0.7 TFLOP/s", "0.7 TFLOP/s", AGREES),
        (Statistic.MEDIAN, "695 GFLOP/s", "695 GFLOP/s", AGREES),
        (Statistic.LOWEST, "690 GFLOP/s", "690 GFLOP/s", AGREES),
        (Statistic.HIGHEST, "706 GFLOP/s", "706 GFLOP/s", AGREES),
        (Statistic.HIGHEST, "697 GFLOP/s", "706.0 GFLOP/s", DIFFERS),
    ],
)
def test_one_number_for_several(statistic: Statistic, written: str, here: str, outcome: CellOutcome) -> None:
    (line,) = make_lines(measured(reported(written, statistic)))
    assert (line.reported, line.computed, line.outcome) == (written, here, outcome)
    assert line.how == f"{statistic} of 3 measurements"


@pytest.mark.parametrize(
    ("changes", "here", "how"),
    [
        ({"nodes": ("n01", "n02")}, "692 GFLOP/s", "mean of 2 measurements"),
        ({"where": (("run", "3"),)}, "706 GFLOP/s", "mean of 1 measurement"),
        ({"where": (("run", ">= 2"),)}, "700 GFLOP/s", "mean of 2 measurements"),
        ({"where": (("nodes", "1"),)}, "697 GFLOP/s", "mean of 3 measurements"),
        ({"where": (("nodes", "2"),)}, "–", "nothing was measured for it"),
        ({"nodes": ("n09",)}, "–", "nothing was measured for it"),
        ({"metric": "hpl.residual"}, "–", "nothing was measured for it"),
    ],
)
def test_it_stands_for_its_own_nodes_and_labels(changes: dict[str, object], here: str, how: str) -> None:
    value = here if here != "–" else "1 GFLOP/s"
    (line,) = make_lines(measured(replace(reported(value), **changes)))  # type: ignore[arg-type]
    assert (line.computed, line.how) == (here, how)


def test_a_share_is_that_of_the_measured_number() -> None:
    share = MappingProxyType({ShareOf.PEAK: read_written("87 %", Unit.ONE)})
    nodes = ("n01", "n02", "n03")
    assert make_lines(measured(reported("697 GFLOP/s", nodes=nodes, shares=share, source="5.1")))[1] == ReportedLine(
        "5.1", "hpl.rate", "n[01-03]", "87 % of peak", "86.4 %", "697 GFLOP/s of 806.4 GFLOP/s", DIFFERS
    )


def test_what_was_not_measured_is_unknown_with_all_its_shares() -> None:
    share = MappingProxyType({ShareOf.PEAK: read_written("87 %", Unit.ONE)})
    cells = list(compare_reported(measured(reported("1 GFLOP/s", metric="hpl.residual", shares=share))))
    assert [(cell.of, cell.computed, cell.outcome) for cell in cells] == [
        (None, None, UNKNOWN),
        (ShareOf.PEAK, None, UNKNOWN),
    ]


def test_the_json_gives_base_units() -> None:
    (cell,) = compare_reported(measured(reported("0.7 TFLOP/s", source="5.1", nodes=("n02", "n01"))))
    assert make_reported_record(cell) == {
        "metric": "hpl.rate", "statistic": "mean", "unit": "FLOP/s", "of": None, "where": {}, "nodes": ["n01", "n02"],
        "source": "5.1", "reported": 0.7e12, "computed": 692.5e9, "how": "mean of 2 measurements", "outcome": "agrees",
    }  # fmt: skip


def test_without_reported_results_there_is_no_line() -> None:
    assert make_lines(measured()) == ()
