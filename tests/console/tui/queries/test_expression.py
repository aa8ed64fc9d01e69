"""Regular expressions of a filter: they mean what Python's mean, and none takes more time or memory than there is."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.tui.queries import expression
from benchconsole.console.tui.queries.expression import Expression, ExpressionError, SlowExpressionError


def finds(text: str, *inside: str) -> list[bool]:
    return list(Expression(text).find_in(inside))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("n0[12]", [True, False, True]),
        ("^N0[12]$", [True, False, False]),
        ("n.*leaf", [False, False, True]),
        ("leaf[12]|^n03", [True, True, True]),
        (r"\bleaf1\b", [True, False, True]),
        (r"n\d{2}$", [True, True, False]),
        (r"x\{", [False, False, False]),
    ],
)
def test_an_expression_is_looked_for_line_by_line(text: str, kept: list[bool]) -> None:
    assert finds(text, "n01\nleaf1", "n03\nspine", "n02 leaf1") == kept


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("n[12", 2, "unterminated character set"),
        ("n1)", 3, "unbalanced parenthesis"),
        ("*n", 1, "nothing to repeat"),
        ("n\\", 2, "bad escape"),
        ("n{1,200}", 3, "a repeat of more than 100"),
        ("n{100000000}", 3, "a repeat of more than 100"),
        (r"\\{999}", 4, "a repeat of more than 100"),
        ('"a": {"b"', 6, "a repeat such as {2,5}"),
        ("(?:node){e<=3}", 9, "a repeat such as {2,5}"),
        ("(?R)", 2, "unknown extension"),
        ("n" * 201, None, "longer than 200 characters"),
        ("(" * 100 + ")" * 99, 1, "missing )"),
    ],
)
def test_what_is_no_expression_is_told_with_its_place(text: str, place: int | None, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression(text)
    assert caught.value.place == place
    assert said in str(caught.value)
    assert place is None or str(caught.value).startswith(f"character {place} of the expression: ")


@pytest.mark.parametrize("text", ["(.*a){30}b", "((a{1,100}){1,100}){1,100}c", r"(a?){60}(a*)*\1b|(.*a){30}b"])
def test_an_exponential_expression_gives_up_in_time(text: str) -> None:
    began = time.process_time()
    with pytest.raises(SlowExpressionError, match=r"takes too long: 0.05 s for a row"):
        finds(text, *["a" * 3000] * 1000)
    assert time.process_time() - began < 2 * expression.SECONDS


def test_many_rows_share_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter(at * 0.01 for at in range(1000))
    monkeypatch.setattr(time, "process_time", lambda: next(spent))
    with pytest.raises(SlowExpressionError):
        finds("a+b", *["a" * 20] * 900)
    assert next(spent) < expression.SECONDS + 0.1


_TEXT = st.text(r"ab1 .*+?(){}[]|^$\-,:!<>=PRe", max_size=14)


@settings(max_examples=300, deadline=None)
@given(_TEXT, st.lists(st.text("ab1 \n.", max_size=6), max_size=3))
def test_any_text_finds_what_python_finds_or_is_refused(text: str, inside: list[str]) -> None:
    try:
        found = finds(text, *inside)
    except ExpressionError:
        return
    pattern = re.compile(text, re.IGNORECASE | re.MULTILINE)
    assert found == [pattern.search(each) is not None for each in inside]
