"""Rules that hold for every format: the edges render, hostile text stays text, large views stay small."""

import io
import re
import tracemalloc
from functools import cache

import pytest

from benchconsole.console.reports import FORMATS, ReportOptions, render
from benchconsole.console.reports.content import SessionDetails
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.topology.copying import replace
from tests.console.reports import fixture
from tests.console.reports.golden import FILES, FOLDER, rendered

OPTIONS = ReportOptions(operator="R. Example", version="1.0.0")
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FORMAT_NAMES = tuple(FORMATS)


@cache
def ten_thousand_passed() -> RunView:
    """A view of ten thousand nodes, made once."""
    return fixture.all_passed(leaves=250, per_leaf=40)


def text_of(kind: str, view: RunView, options: ReportOptions = OPTIONS) -> str:
    """A view in one format."""
    out = io.StringIO()
    render(kind, view, out, options)
    return out.getvalue()


@pytest.mark.parametrize("file", FILES)
def test_golden(file: str) -> None:
    kind, options = FILES[file]
    assert rendered(kind, options) == (FOLDER / file).read_text(encoding="utf-8")


@pytest.mark.fault("F38")
@pytest.mark.parametrize("name", fixture.EDGES)
@pytest.mark.parametrize("kind", FORMAT_NAMES)
def test_edges_render(kind: str, name: str) -> None:
    found = text_of(kind, fixture.EDGES[name]())
    assert found.endswith("\n")
    assert "nan" not in found.lower().replace("nanosecond", "")


@pytest.mark.parametrize("kind", ["html", "json", "md", "text"])
def test_how_small_a_fault_would_have_been_seen_is_said(kind: str) -> None:
    losses = DetectableLoss(Fault.NIC, 4, 4, 0.2), DetectableLoss(Fault.SWITCH_HALF, 2, 0, None)
    found = " ".join(text_of(kind, fixture.hard(), replace(OPTIONS, details=SessionDetails(losses=losses))).split())
    assert "any NIC below 80 % one way would have been seen" in found
    assert "a switch at half speed would not have been seen" in found


LONG = " ".join(f"word{number}" for number in range(120))


HEADLINE, REST = ("what", "do", "cannot_tell", "where"), ("means", "because", "rules_out")
"""Parts of a finding that every report gives, and those that the text summary leaves to the others."""


@pytest.mark.parametrize(
    ("kind", "place"),
    [(kind, place) for kind in ("html", "json", "md") for place in HEADLINE + REST]
    + [("text", place) for place in HEADLINE],
)
def test_no_sentence_of_a_finding_is_cut(kind: str, place: str) -> None:
    hard = fixture.hard()
    words: str | tuple[str, ...] = (LONG,) if place in ("because", "rules_out") else LONG
    view = replace(hard, findings=(replace(hard.findings[0], **{place: words}), *hard.findings[1:]))  # type: ignore[arg-type]
    assert LONG in " ".join(text_of(kind, view).split())


@pytest.mark.parametrize("kind", ["html", "json", "md", "text"])
def test_every_gap_is_told_in_full_though_the_sentence_names_few_in_part(kind: str) -> None:
    for gaps in ((LONG,), tuple(f"gap {number} of 40" for number in range(40))):
        omissions = tuple(Omission(gap, OmissionReason.CAPPED) for gap in gaps)
        view = replace(fixture.all_passed(), left_out=omissions)
        found = " ".join(text_of(kind, view).split())
        assert all(f"left out: {gap}" in found for gap in gaps)


@pytest.mark.parametrize("kind", ["html", "json", "md", "text"])
def test_options_notes_and_what_is_not_covered_are_told_in_full(kind: str) -> None:
    told = SessionDetails(options={"reason": LONG}, uncovered=(f"not covered {LONG}",))
    found = " ".join(text_of(kind, fixture.hard(), replace(OPTIONS, details=told)).split())
    assert f"reason: {LONG}" in found or kind == "json"
    assert f"not covered {LONG}" in found


@pytest.mark.parametrize("kind", FORMAT_NAMES)
def test_rendering_twice_gives_the_same(kind: str) -> None:
    assert text_of(kind, fixture.hard()) == text_of(kind, fixture.hard())


@pytest.mark.fault("F36", "I12", "X16")
@pytest.mark.parametrize("kind", FORMAT_NAMES)
def test_no_control_character_of_a_node_gets_out(kind: str) -> None:
    found = text_of(
        kind, fixture.poisoned(fixture.HOSTILE), replace(OPTIONS, details=fixture.poisoned_told(fixture.HOSTILE))
    )
    assert FORBIDDEN.search(found) is None
    found.encode("utf-8")


@pytest.mark.fault("F38")
@pytest.mark.parametrize("kind", ["html", "md", "text"])
def test_nothing_tested_is_never_a_pass(kind: str) -> None:
    for name in ("empty", "all failed", "all unreachable"):
        found = text_of(kind, fixture.EDGES[name]())
        assert "Not judged" in found
        assert "neither passed nor failed" in found
        assert "passed:" not in found


@pytest.mark.parametrize("kind", FORMAT_NAMES)
def test_simulated_is_said(kind: str) -> None:
    said = {"json": '"simulated": true', "csv": ""}.get(kind, "SIMULATED")
    assert said in text_of(kind, fixture.hard())
    if kind in ("html", "md", "text"):
        assert "SIMULATED" not in text_of(kind, fixture.all_passed())


@pytest.mark.parametrize("kind", ["html", "md", "text"])
def test_ten_thousand_nodes_fold(kind: str) -> None:
    found = text_of(kind, ten_thousand_passed())
    assert len(found) < 20_000
    assert "10,000" in found


@pytest.mark.parametrize("kind", ["html", "md", "text"])
def test_ten_thousand_nodes_in_trouble_stay_readable(kind: str) -> None:
    found = text_of(kind, fixture.all_below(leaves=250, per_leaf=40))
    assert len(found) < 1_000_000
    assert "10,000" in found


@pytest.mark.fault("F51")
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_ten_thousand_nodes_are_all_there(kind: str) -> None:
    view = ten_thousand_passed()
    found = text_of(kind, view)
    assert found.count("t1-n7777") >= 1
    assert found.count('"level": "pass"' if kind == "json" else ",pass,node") == 10_000


@pytest.mark.fault("F51")
@pytest.mark.parametrize("kind", FORMAT_NAMES)
def test_memory_stays_bounded(kind: str) -> None:
    view = ten_thousand_passed()

    class Nowhere(io.StringIO):
        def write(self, text: str, /) -> int:
            return len(text)

    tracemalloc.start()
    try:
        render(kind, view, Nowhere(), OPTIONS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000
