import pytest

from probes.api import Output, PlanError, ProbeOutputError
from probes.builtin.mpi_program import input_sent, program, refuse_died
from probes.builtin.printed import fits, plain_lines, span, times
from probes.given import Given
from probes.launch import Job, Options
from probes.launch.running import command
from tests.probes.builtin.played import node


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
    found = span(text)
    assert found is not None
    assert list(found) == pytest.approx([low, high], abs=(high - low) / 40)


@pytest.mark.parametrize("text", ["", "nan", "-1.0", "inf", "1,5", "+++++", "1.2.3", "0x10"])
def test_what_is_no_number_spans_nothing(text: str) -> None:
    assert span(text) is None


def test_products_of_spans_hold_the_product() -> None:
    assert times((1.0, 2.0), (3.0, 4.0)) == (3.0, 8.0)
    assert fits(8.0, (3.0, 8.0))
    assert not fits(8.1, (3.0, 8.0))


def test_lines_lose_colours_and_what_was_not_ended() -> None:
    assert plain_lines(" \x1b[1;31m1 2\x1b[0m\r\nwas 1\rnow 2\ncut") == ["1 2", "now 2"]


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
    assert input_sent(command(job), "HPL.dat") == ["one\\n", "two"]
    assert input_sent(command(job), "other") == []
    assert input_sent(("HPL.dat",), "HPL.dat") == []


@pytest.mark.parametrize("text", ["xhpl", "stream_c.exe", "/opt/hpl-2.3/bin/xhpl", "osu_bw"])
def test_a_program_is_a_name_or_an_absolute_path(text: str) -> None:
    assert program(Given("hpl", {"program": text})) == text


@pytest.mark.parametrize("text", ["", "-x", "a b", "$(x)", "../x", "x/y", "A=1", "/opt/a b", "x\n"])
def test_anything_else_is_no_program(text: str) -> None:
    with pytest.raises(PlanError, match="option program"):
        program(Given("hpl", {"program": text}))
