"""The summary on a terminal: within its width, ASCII on request, the badge never dropped."""

import io

import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.tables import LABEL_SETS
from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Level, Yardstick
from benchconsole.topology.units import Unit
from tests.console.reports import fixture


def lines(view: RunView, **options: object) -> list[str]:
    """The summary by lines."""
    out = io.StringIO()
    render("text", view, out, ReportOptions(**options))  # type: ignore[arg-type]
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", fixture.EDGES)
def test_no_line_is_wider_than_asked(name: str, width: int) -> None:
    assert max(map(measure_width, lines(fixture.EDGES[name](), width=width))) <= width


@pytest.mark.parametrize("text", [fixture.HOSTILE, "x" * 5_000, "漢字" * 300, "a,b," * 400, ""])
def test_no_text_of_a_node_widens_it(text: str) -> None:
    assert max(map(measure_width, lines(fixture.poisoned(text)))) <= 80


def test_ascii_means_ascii() -> None:
    for view in (fixture.hard(), fixture.poisoned(fixture.HOSTILE), fixture.poisoned("é漢")):
        assert "\n".join(lines(view, ascii=True)).isascii()


def test_the_badge_is_there_at_sixty_columns() -> None:
    assert lines(fixture.poisoned("x" * 200), width=60)[0].endswith("SIMULATED")


def test_what_is_cut_ends_in_an_ellipsis() -> None:
    assert clip_text("漢字漢字", 5) == "漢字…"
    assert clip_text("short", 5) == "short"


def test_the_worst_finding_comes_first() -> None:
    found = lines(fixture.hard())
    first = found[found.index("findings") + 1]
    assert first.startswith(" ✗ lag      leaf1 to sp1")


def test_labels_are_told_whole_and_what_is_left_out_is_counted() -> None:
    story = fixture.Story(fixture.fabric())
    (test,) = story.round("storage", "fio", ["n01"])
    settings = {"ioengine": "libaio", "pattern": "sequential", "block": "64KiB", "end_fsync": "1", "verify": "crc32c"}
    for depth in range(1, LABEL_SETS + 3):
        measured = story.answer(test, "fio.write", 1e9, Unit.BYTE_RATE, raw="", depth=depth, **settings)
        story.judge(test, fixture.verdict(test, measured, Level.PASS, kind=Yardstick.CRITERION, required=1e8))
    found = " ".join(" ".join(lines(story.view(), width=60)).split())
    assert found.count("block=64KiB depth=") == LABEL_SETS
    assert found.count("libaio sequential crc32c") == LABEL_SETS
    assert "fio.write: 2 more sets of labels not listed" in found
