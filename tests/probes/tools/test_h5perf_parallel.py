"""The parallel h5perf: what is launched on a set of nodes, and what its report gives."""

import pytest

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Reading, Target, Unit, labels
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.h5perf.parallel_probe import ParallelH5perf
from benchconsole.probes.tools.h5perf.probe import H5perf
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node
from tests.probes.tools.captures import output, text

NAMES = ["h5perf/parallel-1.8.5.txt", "h5perf/real-parallel-1.10.5.txt"]


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(ParallelH5perf(), [output(name) for name in NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_its_report_is_read_as_a_capture_is(name: str) -> None:
    ours, captured = ParallelH5perf().parse(output(name)), H5perf().parse(output(name))
    assert [(each.metric.partition(".")[2], each.value, each.labels) for each in ours] == [
        (each.metric.partition(".")[2], each.value, each.labels) for each in captured
    ]
    assert {each.metric.partition(".")[0] for each in ours} == {"h5perf-parallel"}


def test_other_tasks_than_were_started_are_refused() -> None:
    whole = text(NAMES[1]).encode()
    assert ParallelH5perf().parse(Output(("mpirun", "-np", "1", "h5perf"), whole))
    with pytest.raises(ProbeOutputError, match="1 tasks"):
        ParallelH5perf().parse(Output(("mpirun", "-np", "4", "h5perf"), whole))


@pytest.mark.parametrize("words", ["HDF5-DIAG: Error detected", "MPI_ABORT was invoked", "Open failed"])
def test_a_complaint_on_either_stream_refuses_all(words: str) -> None:
    whole = output(NAMES[0])
    for spoiled in (
        replace(whole, stderr=words.encode()),
        replace(whole, stdout=whole.stdout + words.encode() + b"\n"),
    ):
        with pytest.raises(ProbeOutputError):
            ParallelH5perf().parse(spoiled)


# The launched command.


def _set(**options: str | int) -> Target:
    nodes: tuple[Node, ...] = tuple(
        replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}") for index in (1, 2)
    )
    return Target(nodes[0], None, options, nodes)


def _words(**options: str | int) -> str:
    program = ParallelH5perf().job(_set(**options)).program
    return " ".join(program[program.index("env") :])


def test_all_tasks_share_one_file_in_the_directory_of_the_run() -> None:
    prefix = "env HDF5_PREFIX=. HDF5_PARAPREFIX=. "
    assert _words() == prefix + ("h5perf -A posix,mpiio,phdf5 -i 3 -e 262144K -x 1024K -X 1024K -B 1024K -p 2 -P 2")
    options: dict[str, str | int] = {"apis": "phdf5", "method": "collective", "pattern": "interleaved"}
    assert _words(**options, tasks=8, slots=4, size="18 MiB", buffer="9 MiB", iterations=1, write_only=1) == prefix + (
        "h5perf -A phdf5 -i 1 -e 18432K -x 9216K -X 9216K -B 9216K -p 8 -P 8 -C -w -I"
    )
    assert ParallelH5perf().job(_set(tasks=8, slots=4)).ranks == 8


def test_what_it_takes_of_all_is_declared() -> None:
    demands = ParallelH5perf().demands(_set(shared="home", size="100 MiB"))
    assert demands.alone == frozenset(Part)
    assert demands.writes == 2 * 100 * 2**20 + 1e6
    assert dict(demands.shared) == {"filesystem:home": demands.writes}
    once: dict[str, str | int | float] = {"size": "100 MiB", "buffer": "1 MiB", "rate": "1000 MiB/s", "tasks": 10}
    once |= {"apis": "mpiio", "iterations": 2}
    assert ParallelH5perf().estimate(once) == 20 + 2 * 2 * 1
    assert ParallelH5perf().estimate({**once, "write_only": 1}) == 20 + 2


def test_the_share_of_memory_is_a_condition() -> None:
    nodes = tuple(
        replace(node, hardware=replace(node.hardware, facts={"memory.total": 2.0**30})) for node in _set().nodes
    )
    target = Target(nodes[0], None, {"size": "256 MiB"}, nodes)
    reading = Reading("h5perf-parallel.write", 1.0, Unit.BYTE_RATE, labels(tasks=4))
    assert dict(ParallelH5perf().conditions(reading, target)) == {"memory_share": "50.00 %"}
    assert ParallelH5perf().conditions(replace(reading, labels=()), target) == ()
    assert ParallelH5perf().conditions(reading, _set()) == ()


@pytest.mark.parametrize(
    "options",
    [
        {"tasks": 3},
        {"size": "3 MiB", "buffer": "2 MiB"},
        {"buffer": "1500 B", "size": "3000 B"},
        {"apis": "hdf5"},
        {"apis": "posix,posix"},
        {"apis": ""},
        {"method": "both"},
        {"pattern": "random"},
        {"iterations": 0},
        {"write_only": 2},
        {"h5perf": "h5perf -C"},
    ],
)
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError):
        ParallelH5perf().demands(_set(**options))
