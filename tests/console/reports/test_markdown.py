"""The Markdown report read by a real parser: tables keep their shape, text stays text."""

import io
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.markdown import make_cell, make_inline
from tests.console.reports import fixture
from tests.console.reports.test_html import WORST

ACTIVE = ("link_open", "html_inline", "html_block", "image", "em_open", "s_open", "footnote_ref", "hr", "fence")


def tokens(text: str) -> list[Token]:
    """Every token, those within lines included."""
    found: list[Token] = []
    for token in MarkdownIt("gfm-like").parse(text):
        found += [token, *(token.children or ())]
    return found


def report(text: str) -> str:
    """The report of the session with ``text`` in every field."""
    out = io.StringIO()
    render("md", fixture.poisoned(text), out, ReportOptions(operator="x", version="1"))
    return out.getvalue()


@pytest.mark.fault("F36")
@pytest.mark.parametrize("text", WORST)
def test_nothing_becomes_a_link_or_markup(text: str) -> None:
    assert {token.type for token in tokens(report(text))}.isdisjoint(ACTIVE)


@pytest.mark.parametrize("text", [*WORST, "|", "\\|", "a\\", "`", "``|``", "a | b \\", "| --- |", "www.x.org|`"])
def test_tables_keep_their_shape(text: str) -> None:
    shape = Counter(
        token.type for token in tokens(report("harmless")) if token.type in ("tr_open", "td_open", "th_open")
    )
    found = Counter(token.type for token in tokens(report(text)) if token.type in ("tr_open", "td_open", "th_open"))
    assert found == shape


@pytest.mark.parametrize(
    "text", ["n[01-12]", "n01>n05", "119 Gb/s", "95 % of capacity", "a_b.c_d", "50 - 60", "iperf3.throughput", "8.2b"]
)
def test_tame_text_stays_readable(text: str) -> None:
    assert make_inline(text) == make_cell(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "*x*",
        "_x_",
        "~~x~~",
        "`x`",
        "a|b",
        "\\*",
        "**",
        "@root",
        "<b>",
        "`` ` ``",
        "x`",
        "[a](b)",
        "1.ba",
        "n1.example.com.",
    ],
)
def test_text_reads_as_it_was(text: str) -> None:
    """A reader sees the text itself in a paragraph and in a cell."""
    for written in (f"x: {make_inline(text)}", f"| h |\n|---|\n| x: {make_cell(text)} |"):
        shown = [
            t.content for t in tokens(written) if t.type in ("text", "code_inline", "text_special") and t.content != "h"
        ]
        assert "".join(shown) == f"x: {text}"


@pytest.mark.fault("F36")
@example("1.ba")
@example("n1.example.COM:22")
@given(st.text(alphabet=st.sampled_from("ab1 .:/@#<>&;|`*_~[]()!\\\"'=-+\n\t\x1b\u202e")))
def test_no_text_at_all_becomes_active(text: str) -> None:
    paragraph, row = f"- x: {make_inline(text)}", f"| h | k |\n|---|---|\n| x {make_cell(text)} | end |"
    found = [token.type for token in (*tokens(paragraph), *tokens(row))]
    assert set(found).isdisjoint(ACTIVE)
    assert found.count("td_open") == 2
