import pytest

from benchconsole.probes.readers.numbers import (
    format_bytes,
    format_size,
    is_within,
    multiply_spans,
    parse_count,
    parse_size,
    parse_span,
    read_number,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (2.5, 2.5),
        (True, None),
        ("1", None),
        (None, None),
        (float("inf"), None),
        (float("nan"), None),
        (10**400, None),
    ],
)
def test_only_finite_json_numbers_are_numbers(value: object, expected: float | None) -> None:
    assert read_number(value) == expected


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), ("-1", None), ("1.0", None), ("٣", None), ("9" * 14, None), ("", None)]
)
def test_whole_numbers(text: str, number: int | None) -> None:
    assert parse_count(text) == number


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("12.30", 12.295, 12.305),
        ("4.820e+00", 4.8195, 4.8205),
        ("7", 6.5, 7.5),
        ("0.00", 0.0, 0.005),
        ("1e-3", 5e-4, 1.5e-3),
    ],
)
def test_a_printed_number_spans_what_was_rounded_to_it(text: str, low: float, high: float) -> None:
    found = parse_span(text)
    assert found is not None
    assert list(found) == pytest.approx([low, high], abs=(high - low) / 40)


@pytest.mark.parametrize("text", ["", "nan", "-1.0", "inf", "1,5", "+++++", "1.2.3", "0x10"])
def test_what_is_no_number_spans_nothing(text: str) -> None:
    assert parse_span(text) is None


def test_products_of_spans_hold_the_product() -> None:
    assert multiply_spans((1.0, 2.0), (3.0, 4.0)) == (3.0, 8.0)
    assert is_within(8.0, (3.0, 8.0))
    assert not is_within(8.1, (3.0, 8.0))


@pytest.mark.parametrize(
    ("size", "label"),
    [
        (512, "512B"),
        (1000, "1000B"),
        (1024, "1KiB"),
        (1025, "1025B"),
        (2**20 - 1, "1048575B"),
        (2**20, "1MiB"),
        (1.25 * 2**30, "1.25GiB"),
        (1.254 * 2**30, "1.25GiB"),
        (2**40, "1TiB"),
    ],
)
def test_a_size_has_one_label(size: float, label: str) -> None:
    assert format_size(size) == label


@pytest.mark.parametrize(
    ("size", "label"),
    [(512, "512B"), (4096, "4KiB"), (100_000_000, "100000000B"), (2000 * 2**20, "2000MiB"), (2**31, "2GiB")],
)
def test_a_label_of_bytes_tells_every_one(size: int, label: str) -> None:
    assert format_bytes(size) == label
    assert parse_size(label) == size
