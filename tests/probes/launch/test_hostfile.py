from dataclasses import replace
from types import MappingProxyType

import pytest

from benchconsole.probes.launch.hostfile import DEFAULTS, LaunchError, Options, hostfile, slots, tasks_per_node
from benchconsole.probes.testing import a_node
from benchconsole.topology.model.fabric import Hardware, Node


def _node(name: str, address: str, cores: int = 0) -> Node:
    facts = MappingProxyType({"cpu.cores": float(cores)} if cores else {})
    return replace(a_node(name, address), hardware=Hardware("compute", facts))


def test_slots_are_what_was_asked_else_declared_cores_else_one() -> None:
    assert slots(_node("n1", "10.0.0.1", 28), Options()) == 28
    assert slots(_node("n1", "10.0.0.1"), Options()) == 1
    assert slots(_node("n1", "10.0.0.1", 28), Options(slots=4)) == 4


def test_hostfile_names_nodes_as_it_is_asked_and_in_order() -> None:
    nodes = [_node("n2", "10.0.0.2", 28), _node("n1", "10.0.0.1")]

    assert hostfile(nodes, Options()) == "10.0.0.2 slots=28\n10.0.0.1 slots=1\n"
    assert hostfile(nodes, Options(hosts="name")) == "n2 slots=28\nn1 slots=1\n"
    assert hostfile(nodes, Options(), names=True) == "n2 slots=28\nn1 slots=1\n"


@pytest.mark.parametrize("address", ["n1 slots=99", "#n1", "n1\nn2", "$(id)", "", "user@n1"])
def test_a_name_that_is_more_than_a_word_is_refused(address: str) -> None:
    with pytest.raises(LaunchError, match="n1: found"):
        hostfile([_node("n1", address)], Options())


def test_more_nodes_than_an_argument_list_takes_are_refused() -> None:
    with pytest.raises(LaunchError, match="1001 nodes"):
        hostfile([_node("n1", "10.0.0.1")] * 1001, Options())


def test_slots_in_slurms_notation_count_runs() -> None:
    nodes = [_node("n1", "10.0.0.1", 28), _node("n2", "10.0.0.2", 28), _node("n3", "10.0.0.3", 32)]

    assert tasks_per_node(nodes, Options()) == "28(x2),32"


def test_options_have_defaults_and_leave_those_of_the_probe_alone() -> None:
    assert Options.of({}) == Options() == Options.of({**DEFAULTS, "seconds": 3})
    assert Options.of({"slots": "4", "as_root": 1, "bind": "core"}) == Options(slots=4, as_root=1, bind="core")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slots", -1), ("slots", "many"), ("slots", 1.5), ("hosts", "ip"), ("bind", "--oversubscribe"), ("transport", "ucx"),
        ("as_root", 2), ("mpirun", "mpirun --allow-run-as-root"), ("mpirun", "bin/mpirun"), ("scratch", "tmp"),
        ("ports", "80-1000"), ("ports", "20000"), ("ports", "20000-20010"), ("ports", "20000-70000"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_used_is_named(name: str, value: str | int) -> None:
    with pytest.raises(LaunchError, match=f"option {name}: found"):
        Options.of({name: value})


def test_the_launcher_gets_fewer_ports_than_it_can_take_and_the_payload_the_rest() -> None:
    control, payload = Options(ports="20000-31999").port_ranges()

    assert control == (20000, 20500)
    assert payload == (20501, 31999)
