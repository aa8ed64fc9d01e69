"""A probe is asked whether it would run with some options, on nodes of documentation that nobody reaches."""

import pytest

from benchconsole.probes.planning.design_options import find_refusal
from benchconsole.probes.plugins.registry import load_probes

PROBES = load_probes(safe_mode=True).probes


@pytest.mark.parametrize("name", [name for name in PROBES if name != "fio-device"])
def test_no_probe_refuses_its_own_defaults_unless_it_says_what_is_missing(name: str) -> None:
    assert find_refusal(PROBES[name], {}) == ""


def test_a_disk_that_nobody_named_is_refused() -> None:
    assert "serial" in find_refusal(PROBES["fio-device"], {})


@pytest.mark.parametrize(
    ("name", "options"),
    [("ior", {"tasks": 512}), ("mdtest", {"tasks": 504}), ("fio", {"jobs": 16}), ("detector-stream", {"streams": 16})],
)
def test_how_much_fits_is_a_matter_of_the_nodes_that_are_meant(name: str, options: dict[str, int]) -> None:
    assert find_refusal(PROBES[name], options) == ""


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("iperf3", {"streams": 0}, "streams"), ("dd", {"size": "x"}, "size"), ("ping", {"count": -1}, "count")],
)
def test_what_makes_no_sense_is_refused_in_the_words_of_the_probe(
    name: str, options: dict[str, str | int], words: str
) -> None:
    assert f"{name} option {words}" in find_refusal(PROBES[name], options)
