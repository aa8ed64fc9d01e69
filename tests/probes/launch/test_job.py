from types import MappingProxyType

import pytest

from benchconsole.probes.launch import DEFAULTS, Job, LaunchError, Options, Rails
from benchconsole.probes.launch.job import HOSTS, SLURM_HOSTS, hostfile, slots, tasks_per_node
from benchconsole.probes.testing import a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, Node


def _named(name: str, address: str, cores: int = 0) -> Node:
    facts = MappingProxyType({"cpu.cores": float(cores)} if cores else {})
    return replace(a_node(name, address), hardware=Hardware("compute", facts))


def _node(index: int, cores: int = 0) -> Node:
    return replace(_named(f"n{index}", f"10.0.0.{index}", cores), data_address=f"10.1.0.{index}")


def test_slots_are_what_was_asked_else_declared_cores_else_one() -> None:
    assert slots(_named("n1", "10.0.0.1", 28), Options()) == 28
    assert slots(_named("n1", "10.0.0.1"), Options()) == 1
    assert slots(_named("n1", "10.0.0.1", 28), Options(slots=4)) == 4


def test_hostfile_names_nodes_as_it_is_asked_and_in_order() -> None:
    nodes = [_named("n2", "10.0.0.2", 28), _named("n1", "10.0.0.1")]

    assert hostfile(nodes, Options()) == "10.0.0.2 slots=28\n10.0.0.1 slots=1\n"
    assert hostfile(nodes, Options(hosts="name")) == "n2 slots=28\nn1 slots=1\n"
    assert hostfile(nodes, Options(), names=True) == "n2 slots=28\nn1 slots=1\n"


@pytest.mark.parametrize("address", ["n1 slots=99", "#n1", "n1\nn2", "$(id)", "", "user@n1"])
def test_a_name_that_is_more_than_a_word_is_refused(address: str) -> None:
    with pytest.raises(LaunchError, match="n1: found"):
        hostfile([_named("n1", address)], Options())


def test_more_nodes_than_an_argument_list_takes_are_refused() -> None:
    with pytest.raises(LaunchError, match="1001 nodes"):
        hostfile([_named("n1", "10.0.0.1")] * 1001, Options())


def test_slots_in_slurms_notation_count_runs() -> None:
    nodes = [_named("n1", "10.0.0.1", 28), _named("n2", "10.0.0.2", 28), _named("n3", "10.0.0.3", 32)]

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


def _mca(argv: list[str]) -> dict[str, str]:
    return {argv[i + 1]: argv[i + 2] for i, word in enumerate(argv) if word == "--mca"}


def test_the_command_line_names_networks_ports_keepalives_and_spreads_ranks() -> None:
    argv = Job((_node(1), _node(2)), ("hpcc", "-x"), 2, 59.2).arguments()

    assert argv[:3] == ["mpirun", "--hostfile", HOSTS]
    assert argv[-4:] == ["-np", "2", "hpcc", "-x"]
    words = " ".join(argv)
    for expected in ("--map-by node", "--stdin none", "--timeout 60", "-x BENCHCONSOLE_SESSION"):
        assert expected in words
    assert "--bind-to" not in argv
    assert "--allow-run-as-root" not in argv
    found = _mca(argv)
    assert found["btl_tcp_if_include"] == "10.1.0.0/30"
    assert found["oob_tcp_if_include"] == "10.0.0.0/30"
    keepalive = [found[f"oob_tcp_keepalive_{name}"] for name in ("time", "intvl", "probes")]
    assert keepalive == ["5", "2", "3"]
    assert found["oob_tcp_dynamic_ipv4_ports"] == "20000-20500"
    assert (found["btl_tcp_port_min_v4"], found["btl_tcp_port_range_v4"]) == ("20501", "11499")


def test_ranks_get_the_environment_of_their_job() -> None:
    told = {"OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "4"}
    words = " ".join(Job((_node(1), _node(2)), ("xhpl",), 2, 60.0, environment=told).arguments())
    assert "-x BENCHCONSOLE_SESSION -x OMP_NUM_THREADS=4 -x MKL_NUM_THREADS=4 " in words


def test_tcp_is_pinned_unless_open_mpi_shall_choose() -> None:
    nodes = (_node(1), _node(2))

    assert _mca(Job(nodes, ("x",), 2, 1).arguments())["pml"] == "ob1"
    assert "pml" not in _mca(Job(nodes, ("x",), 2, 1, Options(transport="auto")).arguments())


def test_binding_is_an_option() -> None:
    argv = Job((_node(1),), ("x",), 1, 1, Options(bind="none")).arguments()

    assert argv[argv.index("--bind-to") + 1] == "none"


def test_more_ranks_than_slots_are_refused_before_anything_is_started() -> None:
    nodes = (_node(1, 28), _node(2, 28))

    assert Job(nodes, ("x",), 56, 1).room == 56
    with pytest.raises(LaunchError, match="57 ranks for 56 slots on 2 nodes"):
        Job(nodes, ("x",), 57, 1)
    with pytest.raises(LaunchError, match="0 ranks"):
        Job(nodes, ("x",), 0, 1)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", ".profile", "a b", "$(id)", ""])
def test_files_of_a_run_stay_in_its_directory(name: str) -> None:
    with pytest.raises(LaunchError, match="as the name of a file"):
        Job((_node(1),), ("x",), 1, 1, files={name: "text"})
    with pytest.raises(LaunchError, match="as the name of a file"):
        Job((_node(1),), ("x",), 1, 1, results=(name,))


def test_hostfiles_are_among_the_files_and_cannot_be_replaced() -> None:
    texts = Job((_node(1),), ("x",), 1, 1, files={"in.txt": "a\n", HOSTS: "evil\n"}).texts()

    assert texts == {"in.txt": "a\n", HOSTS: "10.0.0.1 slots=1\n", SLURM_HOSTS: "n1 slots=1\n"}


def test_of_one_node_nothing_leaves_it_whatever_its_addresses_are_called() -> None:
    nodes, options = (a_node("n1", "n1", "n1"), a_node("n2", "n2", "n2")), Options.of(DEFAULTS)
    assert Job(nodes[:1], ("hpcc",), 1, 10.0, options).rails == Rails("lo", "lo")
    with pytest.raises(LaunchError, match="a name"):
        _ = Job(nodes, ("hpcc",), 2, 10.0, options).rails
