"""The HTML page: complete, balanced, self-contained, and deaf to what nodes say."""

import io
import re
from pathlib import Path

import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.content import CoverageLine
from benchconsole.console.reports.html import make_bar
from benchconsole.console.view.run_view import RunView
from tests.console.reports import fixture
from tests.console.reports.parsing import Page, parsed

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
DOCUMENT = ("html", "head", "meta", "title", "style", "body", "section", "article", "header", "div", "span", "p", "pre")
TEXT = (
    "br",
    "strong",
    "h1",
    "h2",
    "h3",
    "h4",
    "dl",
    "dt",
    "dd",
    "ul",
    "li",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
)
ALLOWED = frozenset((*DOCUMENT, *TEXT, "svg", "rect", "path"))
WORST = (
    fixture.HOSTILE,
    "</script><img onerror>",
    "javascript:alert(1)",
    '" onmouseover="alert(1)',
    "' style='position:fixed'",
    "</style><style>*{display:none}</style>",
    "<!--",
    "]]>",
    "</title><meta http-equiv=refresh content=0>",
    "</pre></td></table>",
)


def page_of(view: RunView) -> Page:
    """A view as a parsed page."""
    out = io.StringIO()
    render("html", view, out, ReportOptions(operator="R. Example", version="1.0.0"))
    return parsed(out.getvalue())


@pytest.fixture(scope="module")
def hard() -> Page:
    return page_of(fixture.hard())


@pytest.mark.parametrize("name", fixture.EDGES)
def test_tags_are_balanced_and_known(name: str) -> None:
    page = page_of(fixture.EDGES[name]())
    assert page.unbalanced == page.open == []
    assert set(page.tags) <= ALLOWED


@pytest.mark.fault("F36", "I04", "I16")
@pytest.mark.parametrize("text", WORST)
def test_no_text_of_a_node_becomes_markup(text: str) -> None:
    page, clean = page_of(fixture.poisoned(text)), page_of(fixture.poisoned("harmless"))
    assert page.unbalanced == page.open == []
    assert set(page.tags) <= ALLOWED
    assert page.tags.count("style") == page.tags.count("title") == 1
    assert page.tags.count("meta") == clean.tags.count("meta") == 4


@pytest.mark.fault("F36", "I11", "I16")
@pytest.mark.parametrize("text", WORST)
def test_no_handler_and_nothing_from_elsewhere(text: str) -> None:
    for tag, name, value in page_of(fixture.poisoned(text)).attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("href", "src", "action", "srcset", "formaction", "xlink:href"), (tag, name)
        if name == "style":
            assert re.fullmatch(r"--cells: [0-9]+px", value)


@pytest.mark.fault("F36", "I16")
def test_the_policy_forbids_everything_but_the_style(hard: Page) -> None:
    assert ("meta", "content", POLICY) in hard.attributes
    assert ("meta", "http-equiv", "Content-Security-Policy") in hard.attributes


@pytest.mark.fault("F36", "I16")
def test_templates_never_switch_escaping_off() -> None:
    for template in (Path(__file__).parents[3] / "console" / "reports" / "templates").iterdir():
        source = template.read_text(encoding="utf-8")
        for word in ("|safe", "| safe", "autoescape", "url(", "@import", "http://", "https://", "<script", "href"):
            assert word not in source


def test_the_title_block_is_whole(hard: Page) -> None:
    for text in (
        "jetstream",
        "20231114-221320-7f3a",
        "acceptance 12",
        "2023-11-14 22:13:20 UTC",
        "2023-11-14 22:51:26 UTC",
        "R. Example",
        "benchconsole 1.0.0",
        "SIMULATED",
        "7d0fbc77ac95a4e98baf3bb1902c6ae3878eb91bb33fd8b9977b752e62169b97",
    ):
        assert text in hard.text


def test_the_sections_are_there_in_order(hard: Page) -> None:
    headings = [data for tag, data in hard.texts if tag == "h2"]
    assert headings == [
        "Conduct",
        "Coverage",
        "Fabric",
        "Findings",
        "Not judged",
        "Criteria",
        "System",
        "Oversubscription as built",
        "Inventory",
        "Checklist: cloud: PEP 4.2",
        "Left on nodes",
        "Signatures",
        "Results",
        "Statistics",
        "Appendix: commands and output",
    ]


def test_a_finding_is_told_whole(hard: Page) -> None:
    for part in (
        *fixture.LAG.because,
        *fixture.LAG.rules_out,
        fixture.LAG.cannot_tell,
        fixture.LAG.means,
        fixture.LAG.do,
    ):
        assert part in hard.text
    assert "119 Gb/s measured, 158 Gb/s expected" in hard.text


def test_untested_is_said_not_to_be_passed(hard: Page) -> None:
    assert "Untested parts are not counted as passed." in hard.text
    assert "None of these counts as passed." in hard.text


def test_criteria_without_a_test_say_so(hard: Page) -> None:
    assert "PEP 5.1.1.1 hpl.rate all nodes at least 80 % of peak – none 0 – – – – - not tested" in hard.text


def test_failing_tests_show_command_status_and_output(hard: Page) -> None:
    assert "n07$ stream -n 80000000" in hard.text
    assert "exit status 127" in hard.text
    assert "n09$ iperf3 --of 'n09>n10'" in hard.text
    assert "2.97 Gbits/sec sender" in hard.text


def test_there_is_a_line_to_sign_for_each_side(hard: Page) -> None:
    assert "for the customer name place and date signature" in hard.text
    assert "for the vendor name place and date signature" in hard.text


def test_a_single_unreachable_test_of_many_is_visible_in_the_bar() -> None:
    pieces = make_bar((CoverageLine("tested", 9_999, ""), CoverageLine("unreachable", 1, "")))
    assert [width for _, width, _ in pieces] == [999, 4]
    assert make_bar((CoverageLine("tested", 0, ""),)) == []
