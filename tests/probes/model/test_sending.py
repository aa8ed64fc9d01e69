"""How a probe's own options say what it sends: each role by the name that the probe has for it."""

import pytest

from benchconsole.probes.api import Directions, Given, PlanError, Sending, SendingOptions

ROLES = SendingOptions("parallel", "bandwidth", "cport", "back", "duplex")


def given(**options: str | int | float) -> Given:
    return Given("p", {"parallel": 1, "bandwidth": "", "cport": 0, "back": 0, "duplex": 0, **options})


@pytest.mark.parametrize(
    ("options", "sending"),
    [
        ({}, Sending()),
        ({"parallel": 65_535}, Sending(65_535)),
        ({"bandwidth": "8 Gb/s"}, Sending(rate=1e9)),
        ({"cport": 65_535}, Sending(source_port=65_535)),
        ({"back": 1}, Sending(directions=Directions.REVERSED)),
        ({"duplex": 1}, Sending(directions=Directions.BOTH)),
        ({"duplex": 1, "back": 1}, Sending(directions=Directions.BOTH)),
    ],
)
def test_options_are_read_by_their_role(options: dict[str, str | int | float], sending: Sending) -> None:
    assert ROLES.read(given(**options)) == sending


@pytest.mark.parametrize(
    "options",
    [{"parallel": 0}, {"parallel": 65_536}, {"bandwidth": "8"}, {"cport": -1}, {"cport": 65_536}, {"back": 2}],
)
def test_what_is_out_of_range_is_refused_by_the_name_of_the_option(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError, match=f"p option {next(iter(options))}: found"):
        ROLES.read(given(**options))


def test_without_options_it_is_one_stream_forward_as_fast_as_it_goes() -> None:
    assert SendingOptions().read(Given("p", {"streams": 7, "bitrate": "1 Gb/s"})) == Sending()


def test_the_names_are_those_that_the_probe_has() -> None:
    assert SendingOptions(streams="parallel", both="duplex").names == ("parallel", "duplex")
