"""A probe is asked whether it would run with some options, on nodes of documentation that nobody reaches."""

import pytest

from benchconsole.probes.planning.design_options import find_refusal
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.testing.fake import a_node
from benchconsole.topology.copying import replace

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


@pytest.mark.parametrize(
    ("number", "options", "refused"),
    [
        (1, {"tasks": 2, "slots": 2}, False),
        (140, {"tasks": 280, "slots": 2}, False),
        (140, {"tasks": 281, "slots": 2}, True),
        (21, {"tasks": 504, "slots": 24}, False),
        (140, {"tasks": 140, "slots": 1, "network": "192.0.2.0/24"}, False),
        (140, {"tasks": 140, "slots": 1, "network": "198.51.100.0/24"}, True),
    ],
)
def test_slots_and_networks_are_held_against_the_nodes_of_the_stage(
    number: int, options: dict[str, str | int], refused: bool
) -> None:
    nodes = [a_node(f"n{index}", f"192.0.2.{index}") for index in range(1, number + 1)]
    assert bool(find_refusal(PROBES["ior"], options, nodes)) is refused


@pytest.mark.parametrize("network", ["", "10.1.0.0/16"])
def test_nodes_without_addresses_are_no_reason_to_refuse(network: str) -> None:
    nodes = [a_node(f"n{index}", f"n{index}") for index in range(1, 9)]
    assert find_refusal(PROBES["ior"], {"tasks": 32, "slots": 4, "network": network}, nodes) == ""


def test_a_disk_is_looked_for_on_the_node_of_the_stage() -> None:
    options = {"serial": "S3Z8NX0K", "confirmed": "S3Z8NX0K"}
    listed = replace(a_node(), blank_disks=("S3Z8NX0K",))
    assert find_refusal(PROBES["fio-device"], options, [listed]) == ""
    assert "not listed for node n1" in find_refusal(PROBES["fio-device"], options, [a_node()])
