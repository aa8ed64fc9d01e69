"""Expressions in topology files: whole numbers only, bounded, and never code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.topology.description.arithmetic import MAX_RESULT, ExpressionError, fill

KNOWN: dict[str, int | str] = {"n": 7, "k": 4, "s": "sea"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("n{n}", "n7"),
        ("{n}", 7),
        ("{n:02}", "07"),
        ("tor{n:3}", "tor  7"),
        ("c-{s}[01-{n}]", "c-sea[01-7]"),
        ("{(n-1)*k+1}-{n*k}", "25-28"),
        ("{20/k}", 5),
        ("{-n % k}", 1),
        ("{{n}}", "{n}"),
        ("{s}", "sea"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert fill(text, KNOWN) == value


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{m}", "unknown name 'm'"),
        ("{20/3}", "not a whole number"),
        ("{1/0}", "1 / 0"),
        ("{1%0}", "1 % 0"),
        ("{n.real}", "n.real"),
        ("{__import__('os')}", "__import__"),
        ("{n**9}", "n ** 9"),
        ("{99999*99999}", "a result of"),
        ("{s+1}", "the word 'sea'"),
        ("{s:02}", "the word 'sea'"),
        ("{True}", "True"),
        ("{1.5}", "1.5"),
        ("{}", "{}"),
        ("a{b", "a single '{'"),
        ("a}b", "a single '}'"),
        ("{" + "(" * 300 + "1" + ")" * 300 + "}", "an expression of 601 letters"),
        ("{" + "-" * 190 + "}", "{---"),
    ],
)
def test_what_has_no_value_is_refused(text: str, what: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        fill(text, KNOWN)
    assert what in str(caught.value)


@given(st.text(alphabet="{}()n+-*/% :0127s'.,x\\[]\n", max_size=40))
def test_any_text_gives_a_bounded_value_or_a_refusal(text: str) -> None:
    try:
        found = fill(text, KNOWN)
    except ExpressionError:
        return
    assert isinstance(found, str) or abs(found) <= MAX_RESULT


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 50))
def test_agrees_with_arithmetic(a: int, b: int, c: int) -> None:
    assert fill("{a+b*c-(a-b)*2}", dict[str, int | str](a=a, b=b, c=c)) == a + b * c - (a - b) * 2
    assert fill("{a*c/c}", dict[str, int | str](a=a, c=c)) == a
