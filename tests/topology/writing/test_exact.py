"""Quantities that read back as the same number."""

from hypothesis import given
from hypothesis import strategies as st

from topology.units import Unit, parse, parse_length, parse_link_speed
from topology.writing import exact


@given(value=st.floats(125, 12.5e12))
def test_a_link_speed_reads_back_as_the_same_number(value: float) -> None:
    assert parse_link_speed(exact.link_speed(value)) == value


@given(value=st.floats(1e-6, 1e9))
def test_seconds_and_metres_read_back_as_the_same_number(value: float) -> None:
    assert parse(exact.seconds(value), Unit.SECOND) == value
    assert parse_length(exact.metres(value)) == value


def test_round_numbers_are_short() -> None:
    assert exact.link_speed(1.25e9) == "10 Gb/s"
    assert exact.link_speed(12.5e6) == "100 Mb/s"
    assert exact.link_speed(0.3125e9) == "2.5 Gb/s"
    assert exact.seconds(0.0505) == "50.5 ms"
    assert exact.metres(3.0) == "3 m"
