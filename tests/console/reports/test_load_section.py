"""The load of nodes in reports: the fullest core first, what was not sampled by name, nothing where nobody asked."""

import io

import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.load_section import HEADINGS, MOST, make_section
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_fact
from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.readers.load_samples import read_samples, summarize
from benchconsole.topology.copying import replace
from tests.console.reports import fixture
from tests.probes.readers.test_load_samples import OUTPUT, make_sample

LOAD = tuple(summarize("n1", *read_samples(OUTPUT)))
QUIET = tuple(summarize("n2", *read_samples("".join(make_sample(n, busy=5, packets=1) for n in range(4)))))


def sampled(*facts: Fact) -> RunView:
    """The session of the fixture, in which each result has these facts of load."""
    view = fixture.poisoned("harmless")
    results = {key: replace(each, facts=(*each.facts, *facts)) for key, each in view.results.items()}
    return replace(view, results=results)


def write(view: RunView, form: str) -> str:
    out = io.StringIO()
    render(form, view, out, ReportOptions(operator="x", version="1"))
    return out.getvalue()


def test_the_fullest_core_comes_first() -> None:
    lines = make_section(sampled(*QUIET, *LOAD)).lines
    first = dict(zip(HEADINGS, lines[0], strict=True))
    assert first["node"] == "n1"
    assert lines[-1][1] == "n2"
    assert (first["fullest core"], first["busy"], first["softirq"]) == ("3", "98 %", "97 %")
    assert (first["NET_RX/s"], first["samples"]) == ("30,000", "3")
    assert first["largest process"].startswith("nfsd ")


def test_what_is_beyond_the_lines_is_counted_and_what_was_not_sampled_is_named() -> None:
    failed = Fact("load.failed", "tool missing: sh\x1b[2J", None, labels(node="n7"))
    many = [fact for n in range(MOST + 5) for fact in summarize(f"m{n}", *read_samples(OUTPUT))]
    section = make_section(sampled(failed, *many))
    assert len(section.lines) == MOST
    assert section.notes[0].startswith("n7 was not sampled: tool missing: sh")
    assert "\x1b" not in section.notes[0]
    assert section.notes[-1].endswith("more lines in the JSON report")


@pytest.mark.parametrize("form", ["html", "md", "text"])
def test_reports_for_people_show_the_load_only_where_it_was_sampled(form: str) -> None:
    assert "load during tests" in write(sampled(*LOAD), form).lower()
    assert "97 %" in write(sampled(*LOAD), form)
    assert "load during tests" not in write(sampled(), form).lower()


def test_the_json_report_has_every_fact() -> None:
    assert '"load.softirq.net_rx"' in write(sampled(*LOAD), "json")


@pytest.mark.parametrize(
    ("name", "value", "unit", "words"),
    [
        ("load.core.busy", 0.98, Unit.ONE, "98 %"), ("load.samples", 9.0, Unit.ONE, "9"),
        ("load.nfsd.threads", 16.0, Unit.ONE, "16"), ("load.softirq.net_rx", 41234.4, Unit.PER_SECOND, "41,234/s"),
        ("load.nic.received", 1.25e9, Unit.BYTE_RATE, "10.0 Gb/s"), ("load.disk.read", 5e8, Unit.BYTE_RATE, "500 MB/s"),
        ("load.memory.largest", 2.0**30, Unit.BYTE, "1.00 GiB"),
    ],
)  # fmt: skip
def test_facts_of_load_are_written_in_their_units(name: str, value: float, unit: Unit, words: str) -> None:
    assert format_fact(Fact(name, value, unit, labels(node="n1"))) == words
