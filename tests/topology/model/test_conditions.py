"""Conditions on labels: words as they are, quantities by value and unit, signs only before quantities."""

import pytest

from benchconsole.topology.model.conditions import accept_labels, parse_condition
from benchconsole.topology.units import UnitError


@pytest.mark.parametrize(
    ("written", "label", "accepted"),
    [
        ("read", "read", True),
        ("Read", "read", True),
        ("read", "write", False),
        ("1", "1", True),
        ("1", "1.0", True),
        ("1", "2", False),
        ("1 MiB", "1024 KiB", True),
        ("1 MiB", "1 MB", False),
        ("1 MiB", "1048576", True),  # a bare number of a size is bytes
        (">= 1 MiB", "1048576", True),
        (">= 1 MiB", "1048575.9", True),  # as it was rounded somewhere
        (">= 1 MiB", "1048570", False),
        ("100 MB", "95.37MiB", True),
        ("100 MB", "95.36MiB", False),
        (">= 2 GB", "1.86GiB", True),
        (">= 2 GB", "1.85GiB", False),
        ("1 GiB", "1.004GiB", False),
        ("> 1 MiB", "1 MiB", False),
        ("> 1 MiB", "1.01 MiB", True),
        ("<= 4", "4", True),
        ("< 4", "4", False),
        ("< 4", "3.9", True),
        (">= 50 %", "82.1 %", True),
        (">= 50 %", "0.5", True),
        (">= 50 %", "49 %", False),
        (">= 50 %", "50 GB", False),  # another unit says nothing
        ("> 4", "many", False),
        ("5 s", "5000 ms", True),
        ("4 MiB blocks", "4 MiB blocks", True),
    ],
)
def test_labels_compare_by_value_and_unit(written: str, label: str, accepted: bool) -> None:
    assert parse_condition(written).accepts(label) is accepted


@pytest.mark.parametrize("written", [">= ", "> big", "<= 1 mb", "1 mb", "1 M", ">= 1 M"])
def test_what_has_no_reading_or_several_is_refused(written: str) -> None:
    with pytest.raises(UnitError):
        parse_condition(written)


def test_every_label_is_asked_for() -> None:
    where = (("nodes", "> 4"), ("operation", "read"))
    assert accept_labels(where, {"nodes": "8", "operation": "read", "size": "1"})
    assert not accept_labels(where, {"nodes": "4", "operation": "read"})
    assert not accept_labels(where, {"operation": "read"})
    assert accept_labels((), {})
