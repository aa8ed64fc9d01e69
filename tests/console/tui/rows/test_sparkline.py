"""Sparklines: eight heights, blanks for what is missing, and no mountain out of chance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.rows.sparkline import HEIGHTS, draw_sparkline
from benchconsole.console.tui.rows.strips import to_ascii


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ((), ""),
        ((None, None), "  "),
        ((5.0,), "▅"),
        ((0.0, 0.0), "▅▅"),
        ((9.4, None, 9.4), "▅ ▅"),
        ((100.0, 50.0), "█▁"),
        ((0.0, 1.0), "▁█"),
        ((-1.0, 1.0), "▁█"),
        ((100.0, 99.9, 100.1), "▅▅▅"),
        ((100.0, 80.0), "█▁"),
        ((100.0, 90.0), "▇▃"),
        ((1.0, math.nan, 2.0, math.inf), "▁?█?"),
        ((math.nan,), "?"),
        ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0), HEIGHTS),
    ],
)
def test_each_value_has_a_cell(values: tuple[float | None, ...], drawn: str) -> None:
    assert draw_sparkline(values) == drawn


def test_eight_heights_are_eight_characters_in_ascii_too() -> None:
    plain = to_ascii(HEIGHTS)
    assert plain.isascii()
    assert len(set(plain) - {" ", "?"}) == 8


@given(st.lists(st.none() | st.floats(allow_nan=True, allow_infinity=True), max_size=30))
def test_a_higher_value_is_never_drawn_lower(values: list[float | None]) -> None:
    drawn = draw_sparkline(values)
    assert len(drawn) == measure_width(drawn) == len(values)
    known = [
        (value, HEIGHTS.index(sign))
        for value, sign in zip(values, drawn, strict=True)
        if value is not None and math.isfinite(value)
    ]
    assert all(one[1] <= other[1] for one in known for other in known if one[0] <= other[0])
