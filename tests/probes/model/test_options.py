"""Options are read exactly as they were written, or refused with one sentence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.api import Given, PlanError, Unit


def of(value: str | float) -> Given:
    return Given("fio", {"x": value})


@given(st.integers(0, 86_400))
def test_whole_numbers_come_back(number: int) -> None:
    assert of(number).whole("x") == of(str(number)).whole("x") == of(float(number)).whole("x") == number


@pytest.mark.parametrize("value", ["", "a", "1.5", 1.5, -1, "nan", "inf", math.inf, math.nan, 86_401, "1 2", "0x10"])
def test_what_is_no_whole_number_in_range_is_refused(value: str | float) -> None:
    with pytest.raises(PlanError, match=r"^fio option x: found .*, expected a whole number 0 to 86400$"):
        of(value).whole("x")


def test_numbers_flags_and_choices() -> None:
    assert of("0.5").number("x", 0.0, 1.0) == 0.5
    assert (of(1).flag("x"), of("0").flag("x")) == (True, False)
    assert of("udp").choice("x", ("tcp", "udp")) == "udp"
    assert of("").choice("x", ("", "udp")) == ""
    for refused in (lambda: of(1.5).number("x", 0.0, 1.0), lambda: of(2).flag("x"), lambda: of("no").number("x")):
        with pytest.raises(PlanError, match="fio option x"):
            refused()
    with pytest.raises(PlanError, match="expected one of nothing, udp"):
        of("tcp").choice("x", ("", "udp"))


def test_sizes_and_rates_carry_their_unit() -> None:
    assert of("64 MiB").size("x") == 64 * 2**20
    assert of("8 Mb/s").rate("x") == of("1 MB/s").rate("x") == 1e6
    assert of("").rate("x") is None
    assert of("2 GFLOP/s").quantity("x", Unit.FLOP_RATE) == 2e9
    for value in ("64", "1.5 B", "64 MB/s", "-1 MiB", "", "9 EB"):
        with pytest.raises(PlanError, match="fio option x"):
            of(value).size("x")
    for value in ("8", "0 Mb/s", "8 MB"):
        with pytest.raises(PlanError, match="fio option x"):
            of(value).rate("x")
    with pytest.raises(PlanError, match="expected whole bytes, 512 to"):
        of("1 B").size("x", 512)


@pytest.mark.parametrize("value", ["tmp", "./x", "/a\nb", "/a\0b", ""])
def test_paths_are_absolute_and_on_one_line(value: str) -> None:
    assert of("/scratch/a b").path("x") == "/scratch/a b"
    with pytest.raises(PlanError, match="an absolute path"):
        of(value).path("x")
