import pytest

from benchconsole.probes.api import Labels, Output, PlanError, ProbeOutputError, Reading, Unit
from benchconsole.probes.launch import Job, Options
from benchconsole.probes.launch.launcher import command
from benchconsole.probes.model.options import Given
from benchconsole.probes.tools.mpi.program import export_threads, find_input, label_threads, read_program, refuse_died
from tests.probes.tools.played import node


@pytest.mark.parametrize(
    "line",
    [
        "[n1:7] *** An error occurred in MPI_Send", "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
        "Fatal error in PMPI_Recv: Other MPI error", "srun: error: n1: task 1: Exited with exit code 1",
        "mpirun noticed that process rank 1 with PID 0 on node n2 exited on signal 9 (Killed).",
        "[n1:10190] MPI_ABORT invoked on rank 0 in communicator MPI_COMM_WORLD",
        "[n2:31808] *** Process received signal ***", "Abort(1) on node 0 (rank 0 in comm 0): application called",
    ],
)  # fmt: skip
def test_ranks_that_died_are_noticed_on_either_stream(line: str) -> None:
    for streams in ((line.encode(), b""), (b"1 2\n", line.encode())):
        with pytest.raises(ProbeOutputError, match="every rank of IMB to end well"):
            refuse_died(Output((), *streams), "IMB")
    refuse_died(Output((), b"slurmstepd: error: *** JOB 17 ON n1 CANCELLED ***\n"), "IMB")


def test_the_input_that_a_launch_carries_is_found_again() -> None:
    job = Job((node(1),), ("xhpl",), 1, 10, Options(), {"HPL.dat": "one\\n\ntwo\n"})
    assert find_input(command(job), "HPL.dat") == ["one\\n", "two"]
    assert find_input(command(job), "other") == []
    assert find_input(("HPL.dat",), "HPL.dat") == []


@pytest.mark.parametrize(
    ("threads", "told"),
    [
        (1, {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}),
        (24, {"OMP_NUM_THREADS": "24", "OPENBLAS_NUM_THREADS": "24", "MKL_NUM_THREADS": "24"}),
        (0, {}),  # left to the library
    ],
)
def test_every_library_is_told_the_threads_of_a_rank(threads: int, told: dict[str, str]) -> None:
    assert dict(export_threads(Given("hpl", {"threads": threads}))) == told


@pytest.mark.parametrize(
    ("argv", "own", "marks"),
    [
        ((), (), ()),
        (("mpirun", "-x", "OMP_NUM_THREADS=4", "xhpl"), (), (("threads", "4"),)),
        (("mpirun", "-x", "OMP_NUM_THREADS=4", "xhpl"), (("n", "8"),), (("n", "8"), ("threads", "4"))),
        (("mpirun", "-x", "OMP_NUM_THREADS=4", "hpcc"), (("threads", "1"),), (("threads", "1"),)),
        (("mpirun", "-x", "OMP_NUM_THREADS", "xhpl"), (), ()),
        (("mpirun", "-x", "OMP_NUM_THREADS=0", "xhpl"), (), ()),
        (("mpirun", "-x", "OMP_NUM_THREADS=4,2", "xhpl"), (), ()),
        (("OMP_NUM_THREADS=4", "mpirun", "xhpl"), (), ()),  # of the first node alone
    ],
)
def test_a_number_says_the_threads_that_its_ranks_were_told(argv: tuple[str, ...], own: Labels, marks: Labels) -> None:
    (found,) = label_threads([Reading("hpl.rate", 1.0, Unit.FLOP_RATE, own, "")], argv)
    assert found.labels == marks


@pytest.mark.parametrize("text", ["xhpl", "stream_c.exe", "/opt/hpl-2.3/bin/xhpl", "osu_bw"])
def test_a_program_is_a_name_or_an_absolute_path(text: str) -> None:
    assert read_program(Given("hpl", {"program": text})) == text


@pytest.mark.parametrize("text", ["", "-x", "a b", "$(x)", "../x", "x/y", "A=1", "/opt/a b", "x\n"])
def test_anything_else_is_no_program(text: str) -> None:
    with pytest.raises(PlanError, match="option program"):
        read_program(Given("hpl", {"program": text}))
