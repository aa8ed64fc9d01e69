"""Quantities that read back as the same number."""

from hypothesis import given
from hypothesis import strategies as st

from benchconsole.topology.units import Unit, parse, parse_length, parse_link_speed
from benchconsole.topology.writing import exact_quantities


@given(value=st.floats(125, 12.5e12))
def test_a_link_speed_reads_back_as_the_same_number(value: float) -> None:
    assert parse_link_speed(exact_quantities.format_link_speed(value)) == value


@given(value=st.floats(1e-6, 1e9))
def test_seconds_and_metres_read_back_as_the_same_number(value: float) -> None:
    assert parse(exact_quantities.format_seconds(value), Unit.SECOND) == value
    assert parse_length(exact_quantities.format_metres(value)) == value


def test_round_numbers_are_short() -> None:
    assert exact_quantities.format_link_speed(1.25e9) == "10 Gb/s"
    assert exact_quantities.format_link_speed(12.5e6) == "100 Mb/s"
    assert exact_quantities.format_link_speed(0.3125e9) == "2.5 Gb/s"
    assert exact_quantities.format_seconds(0.0505) == "50.5 ms"
    assert exact_quantities.format_metres(3.0) == "3 m"
