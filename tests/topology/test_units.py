"""Units: one reading or a refusal, and never a silent factor of eight."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.topology.units import (
    Shown,
    Unit,
    UnitError,
    digits3,
    duration,
    format_byte_rate,
    format_link_speed,
    format_metres,
    format_seconds,
    memory_size,
    network_rate,
    parse,
    parse_length,
    parse_link_speed,
    read_written,
    show,
    show_change,
    show_with_error,
    storage_rate,
)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10 Gb/s", Unit.BYTE_RATE, 1.25e9),
        ("10Gbps", Unit.BYTE_RATE, 1.25e9),
        ("10 Gbit/s", Unit.BYTE_RATE, 1.25e9),
        ("1 GB/s", Unit.BYTE_RATE, 1e9),
        ("1 GiB/s", Unit.BYTE_RATE, 2.0**30),
        ("128 GiB", Unit.BYTE, 128 * 2.0**30),
        ("4 TB", Unit.BYTE, 4e12),
        ("645 GFLOP/s", Unit.FLOP_RATE, 645e9),
        ("80 °C", Unit.DEGREE_CELSIUS, 80.0),
        ("80 C", Unit.DEGREE_CELSIUS, 80.0),
        ("350 W", Unit.WATT, 350.0),
        ("1.2 kW", Unit.WATT, 1200.0),
        ("80 %", Unit.ONE, 0.8),
        ("30 s", Unit.SECOND, 30.0),
        ("200 us", Unit.SECOND, 2e-4),
        ("20 kIOPS", Unit.PER_SECOND, 2e4),
        ("1e3 MB/s", Unit.BYTE_RATE, 1e9),
    ],
)
def test_reads_what_the_field_writes(text: str, unit: Unit, value: float) -> None:
    assert parse(text, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.fault("F03")
@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("400", Unit.BYTE_RATE),
        ("10 G", Unit.BYTE_RATE),
        ("10 mb/s", Unit.BYTE_RATE),
        ("10 KB/s", Unit.BYTE_RATE),
        ("-1 GB/s", Unit.BYTE_RATE),
        ("nan GB/s", Unit.BYTE_RATE),
        ("1e99 GB/s", Unit.BYTE_RATE),
        ("1,5 GB/s", Unit.BYTE_RATE),
        ("128 GB/s", Unit.BYTE),
        ("128", Unit.BYTE),
        ("30", Unit.SECOND),
        ("", Unit.ONE),
        ("80 % %", Unit.ONE),
    ],
)
def test_refuses_what_can_be_read_two_ways(text: str, unit: Unit) -> None:
    with pytest.raises(UnitError) as caught:
        parse(text, unit)
    assert caught.value.found == text
    assert caught.value.expected


@pytest.mark.parametrize(
    ("text", "value"), [("40G", 5e9), ("10 Gb/s", 1.25e9), ("100 Mb/s", 1.25e7), ("2.5 Gbit/s", 3.125e8)]
)
def test_link_speed(text: str, value: float) -> None:
    assert parse_link_speed(text) == pytest.approx(value)


@pytest.mark.fault("F03")
@pytest.mark.parametrize(("text", "near"), [("25 GB/s", "25 Gb/s"), ("400", "400 Gb/s"), ("10 gb/s", "10 Gb/s")])
def test_link_speed_in_bytes_is_refused_with_the_likely_meaning(text: str, near: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_link_speed(text)
    assert caught.value.suggestion is not None
    assert near in caught.value.suggestion


@given(st.floats(1, 1e14))
def test_what_is_shown_reads_back_within_three_digits(value: float) -> None:
    assert parse(storage_rate(value).replace(",", ""), Unit.BYTE_RATE) == pytest.approx(value, rel=5.1e-3)
    assert parse(network_rate(value).replace(",", ""), Unit.BYTE_RATE) == pytest.approx(value, rel=5.1e-3)


@pytest.mark.fault("F03")
@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    for unit in Unit:
        try:
            value = parse(text, unit)
        except UnitError:
            continue
        assert value >= 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.9, "9.90"), (118.8, "119"), (0.0, "0"), (9.996, "10.0"), (999.6, "1,000"), (-2.5, "-2.50"),
        (math.inf, "inf"), (math.nan, "nan"),
    ],
)  # fmt: skip
def test_three_digits(value: float, text: str) -> None:
    assert digits3(value) == text


def test_shown_with_its_letter() -> None:
    assert show(1.25e9, Unit.BYTE_RATE, Shown.NETWORK) == "10.0 Gb/s"
    assert show(149e6, Unit.BYTE_RATE, Shown.STORAGE) == "149 MB/s"
    assert memory_size(128 * 2.0**30) == "128 GiB"
    assert duration(2286) == "38:06"
    assert duration(1.14e-5) == "11.4 µs"
    assert duration(-1.14e-5) == "-11.4 µs"
    assert show(0.297, Unit.ONE, Shown.PERCENT) == "30 %"


@given(value=st.floats(125, 12.5e12))
def test_a_link_speed_reads_back_as_the_same_number(value: float) -> None:
    assert parse_link_speed(format_link_speed(value)) == value


@given(value=st.floats(1e-3, 1e15))
def test_a_byte_rate_reads_back_as_the_same_number(value: float) -> None:
    assert parse(format_byte_rate(value), Unit.BYTE_RATE) == value


@given(value=st.floats(1e-6, 1e9))
def test_seconds_and_metres_read_back_as_the_same_number(value: float) -> None:
    assert parse(format_seconds(value), Unit.SECOND) == value
    assert parse_length(format_metres(value)) == value


def test_round_numbers_are_short() -> None:
    assert format_link_speed(1.25e9) == "10 Gb/s"
    assert format_link_speed(12.5e6) == "100 Mb/s"
    assert format_link_speed(0.3125e9) == "2.5 Gb/s"
    assert format_seconds(0.0505) == "50.5 ms"
    assert format_metres(3.0) == "3 m"
    assert format_byte_rate(2e9) == "2 GB/s"
    assert format_byte_rate(1.5e6) == "1.5 MB/s"


@pytest.mark.parametrize(
    ("text", "unit", "span", "same", "more"),
    [
        ("1810 MB/s", Unit.BYTE_RATE, (1809.5e6, 1810.5e6), "1,810 MB/s", "1,810.0 MB/s"),
        ("143.7 %", Unit.ONE, (1.4365, 1.4375), "143.7 %", "143.70 %"),
        ("1.2 GB/s", Unit.BYTE_RATE, (1.15e9, 1.25e9), "1.2 GB/s", "1.20 GB/s"),
        ("1.8e3 MB/s", Unit.BYTE_RATE, (1750e6, 1850e6), "1,800 MB/s", "1,800 MB/s"),
        ("10 Gb/s", Unit.BYTE_RATE, (9.5e9 / 8, 10.5e9 / 8), "10 Gb/s", "10.0 Gb/s"),
        ("0", Unit.ONE, (-0.5, 0.5), "0", "0.0"),
    ],
)
def test_a_quantity_of_a_document_keeps_its_unit_and_its_last_decimal(
    text: str, unit: Unit, span: tuple[float, float], same: str, more: str
) -> None:
    found = read_written(text, unit)
    assert found.span == pytest.approx(span)
    assert (found.format(found.value), found.format(found.value, more=1)) == (same, more)


@pytest.mark.parametrize(
    ("least", "most", "agrees"),
    [
        (107.5e6, 107.5e6, True),
        (108.5e6, 108.5e6, True),
        (107.49e6, 107.49e6, False),
        (108.51e6, 108.51e6, False),
        (106.5e6, 107.5e6, False),
        (108.5e6, 109.5e6, False),
        (106.5e6, 107.6e6, True),
        (100e6, 200e6, True),
    ],
)
def test_a_written_number_agrees_with_what_is_rounded_to_it(least: float, most: float, agrees: bool) -> None:
    assert read_written("108 MB/s", Unit.BYTE_RATE).agrees(least, most) is agrees


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("shown", Shown)
@pytest.mark.parametrize("unit", Unit)
def test_numbers_that_are_not_finite_can_be_shown(value: float, shown: Shown, unit: Unit) -> None:
    assert str(value) in show(value, unit, shown)


@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324])
@pytest.mark.parametrize("shown", Shown)
@pytest.mark.parametrize("unit", Unit)
def test_the_largest_and_the_smallest_number_can_be_shown(value: float, shown: Shown, unit: Unit) -> None:
    assert show(value, unit, shown)


@pytest.mark.parametrize(
    ("value", "error", "unit", "shown", "text"),
    [
        (8.15e6, 0.03e6, Unit.BYTE_RATE, Shown.STORAGE, "8.15 ± 0.03 MB/s"),
        (12.55e6, 0.06e6, Unit.BYTE_RATE, Shown.STORAGE, "12.55 ± 0.06 MB/s"),
        (1.25e9, 1.25e7, Unit.BYTE_RATE, Shown.NETWORK, "10.00 ± 0.10 Gb/s"),
        (697.04e9, 1.4e9, Unit.FLOP_RATE, Shown.PLAIN, "697.0 ± 1.4 GFLOP/s"),
        (697.04e9, 26e9, Unit.FLOP_RATE, Shown.PLAIN, "700 ± 30 GFLOP/s"),
        (0.0505, 0.0002, Unit.SECOND, Shown.PLAIN, "50.5 ± 0.2 ms"),
        (1e9, 0.0, Unit.BYTE_RATE, Shown.STORAGE, "1.000 ± 0.000 GB/s"),
        (0.953, 0.004, Unit.ONE, Shown.PERCENT, "95.3 ± 0.4 %"),
        (0.0, 0.5, Unit.ONE, Shown.PLAIN, "0.0 ± 0.5"),
        (2.0**37, 2.0**30, Unit.BYTE, Shown.MEMORY, "128.0 ± 1.0 GiB"),
        (9.9999e9, 0.099e9, Unit.BYTE_RATE, Shown.STORAGE, "10.00 ± 0.10 GB/s"),
        (5e-324, 0.0, Unit.ONE, Shown.PLAIN, f"0.{'0' * 32} ± 0.{'0' * 32}"),
    ],
)
def test_a_value_ends_where_its_error_does(value: float, error: float, unit: Unit, shown: Shown, text: str) -> None:
    assert show_with_error(value, error, unit, shown) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.42, "+42.0 %"),
        (-0.0091, "-0.91 %"),
        (3.0, "+300 %"),
        (0.0, "+0.00 %"),
        (0.09996, "+10.0 %"),
        (0.0999, "+9.99 %"),
    ],
)
def test_changes_have_a_sign_and_three_digits(share: float, text: str) -> None:
    assert show_change(share) == text
