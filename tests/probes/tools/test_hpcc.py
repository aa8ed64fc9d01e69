import asyncio
import re
from types import MappingProxyType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.hpcc.probe import Hpcc, format_input
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, Node
from tests.probes.tools.captures import noise, output, read, said, text, values

WHOLE = "hpcc/1.5.0-two-nodes.txt"


def _node(index: int, cores: int = 0) -> Node:
    made = replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}")
    return replace(made, hardware=Hardware("c", MappingProxyType({"cpu.cores": float(cores)} if cores else {})))


def _set(*nodes: Node, **options: str | int) -> Target:
    return Target(nodes[0], None, options, nodes)


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Hpcc(), [output(WHOLE)])


def test_a_recorded_run_is_read_in_base_units() -> None:
    found = Hpcc().parse(output(WHOLE))

    assert len(found) == len(Hpcc.metrics) == 19
    grid = {"n": "200", "nb": "32", "p": "1", "q": "2", "tasks": "2"}
    assert all(grid.items() <= dict(reading.labels).items() for reading in found)
    numbers = values(found)
    assert numbers["hpcc.hpl"] == [pytest.approx(4.82024e9)]
    assert numbers["hpcc.stream_triad"] == [pytest.approx(11.0854e9)]
    assert numbers["hpcc.pingpong_latency"] == [pytest.approx(9.80053e-6)]
    assert numbers["hpcc.ptrans"] == [pytest.approx(0.701262e9)]
    assert numbers["hpcc.random_access"] == [pytest.approx(0.00187166e9)]


def test_version_1_4_differs_in_its_number_only() -> None:
    older = text(WHOLE).replace("VersionMinor=5", "VersionMinor=4").replace("version 1.5.0", "version 1.4.3")

    assert read(Hpcc(), older) == read(Hpcc(), text(WHOLE))


def test_versions_that_do_not_count_ranks_are_read_by_the_grid_of_hpl() -> None:
    older = text(WHOLE).replace("VersionMinor=5", "VersionMinor=0").replace("CommWorldProcs=2\n", "")
    older = re.sub(r"(?m)^\w*LCG\w*=.*\n|^VersionMicro=.*\n", "", older)

    assert read(Hpcc(), older) == read(Hpcc(), text(WHOLE))


def test_an_input_that_was_not_read_refuses_the_problem_that_hpcc_made_up() -> None:
    job = Hpcc().job(_set(_node(1), _node(2), problem=200, block=32))
    same = output(WHOLE, "sh", "hpccinf.txt", job.files["hpccinf.txt"].replace("\n", "\\n"), "--")
    assert len(Hpcc().parse(same)) == 19
    other = Hpcc().job(_set(_node(1), _node(2), problem=400, block=32))
    sent = output(WHOLE, "sh", "hpccinf.txt", other.files["hpccinf.txt"].replace("\n", "\\n"), "--")
    with pytest.raises(ProbeOutputError, match="HPL_N=200, expected 400, as in the input"):
        Hpcc().parse(sent)


def test_numbers_say_the_threads_of_their_ranks_and_stream_its_own() -> None:
    job = Hpcc().job(_set(_node(1), _node(2), problem=200, block=32, threads=4))
    assert set(job.environment.values()) == {"4"}
    found = Hpcc().parse(output(WHOLE, *job.arguments()))
    told = {one.metric: dict(one.labels).get("threads") for one in found}
    assert {told[metric] for metric in told if "stream" not in metric} == {"4"}
    assert {told[metric] for metric in told if "stream" in metric} == {"1"}  # hpcc of Debian has no OpenMP
    assert set(Hpcc().job(_set(_node(1), problem=200)).environment.values()) == {"1"}


@pytest.mark.parametrize(
    "complaint",
    [
        b"HPL WARNING from process # 0, on line 313 of function HPL_pdinfo:\n>>> cannot open file hpccinf.txt <<<\n",
        b"HPL ERROR from process # 0, on line 352 of function HPL_pdinfo:\n>>> Number of values of N is less <<<\n",
    ],
)
def test_a_complaint_about_the_input_refuses_what_was_run_instead(complaint: bytes) -> None:
    with pytest.raises(ProbeOutputError, match=r"cannot open file|Number of values"):
        Hpcc().parse(replace(output(WHOLE), stderr=complaint))


def test_parts_that_were_not_run_are_left_out() -> None:
    without = re.sub(r"MPIFFT_Gflops=.*\n", "MPIFFT_Gflops=-1\n", text(WHOLE))
    without = re.sub(r"PTRANS_GBs=.*\n", "", without)

    left = {name for name, _, _ in read(Hpcc(), without)}
    assert {metric.name for metric in Hpcc.metrics} - left == {"hpcc.fft", "hpcc.ptrans"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Success=1", "Success=0"),
        ("Success=1\n", ""),
        ("...... PASSED", "...... FAILED"),
        ("0.00 PASSED    0.701", "0.00 FAILED    0.701"),
        ("0 tests completed and failed residual checks", "1 tests completed and failed residual checks"),
        ("Found 0 errors in 32768 locations (passed)", "Found 900 errors in 32768 locations (failed)"),
        ("Node(s) with error 0\nMinimum Copy", "Node(s) with error 1\nMinimum Copy"),
        ("Solution Validates: avg error", "Failed Validation on array a[], avg error"),
        ("Rate (GB/s)", "Rate (MB/s)"),
        ("MPIFFT_Gflops=", "MPIFFT_Gflops=-0.5 "),
        ("HPL_Tflops=0.00482024", "HPL_Tflops=0.0482024"),
        ("HPL_Tflops=", "HPL_Tflops=x"),
        ("HPL_Tflops=", "HPL_Tflops=nan #"),
        ("StarDGEMM_Gflops=", "StarDGEMM_Gflops=0 "),
        ("HPL_N=200", "HPL_N="),
        ("Begin of Summary section.", "Begin of Summary"),
        ("End of Summary section.", "End of Summary section"),
        ("CommWorldProcs=2", "CommWorldProcs=2\nCommWorldProcs=4"),
    ],
)
def test_an_unsound_run_gives_nothing_whatever_rates_it_printed(old: str, new: str) -> None:
    assert old in text(WHOLE)

    with pytest.raises(ProbeOutputError):
        Hpcc().parse(Output((), text(WHOLE).replace(old, new).encode()))


def test_results_that_were_appended_to_are_not_read() -> None:
    with pytest.raises(ProbeOutputError, match="2 beginnings"):
        Hpcc().parse(Output((), 2 * text(WHOLE).encode()))


@settings(max_examples=60)
@given(noise, st.data())
def test_noise_and_cuts_never_give_another_number(around: str, data: st.DataObject) -> None:
    assume("FAILED" not in around)  # which is what hpcc itself says of a test that went wrong
    whole = said(Hpcc().parse(output(WHOLE)))
    full = around + text(WHOLE) + around
    assert read(Hpcc(), full) == whole
    summary = full.index("End of Summary section.")
    cut = data.draw(st.one_of(st.integers(0, len(full)), st.integers(summary - 400, summary + 40)))
    assert read(Hpcc(), full[:cut]) in ([], whole)


@settings(max_examples=60)
@given(st.data())
def test_a_changed_letter_never_gives_an_unlike_metric(data: st.DataObject) -> None:
    begin = text(WHOLE).index("Begin of Summary section.")
    at = data.draw(st.integers(begin, len(text(WHOLE)) - 1))
    letter = data.draw(st.sampled_from("\n\r =-+.x\x00"))
    spoiled = text(WHOLE)[:at] + letter + text(WHOLE)[at:]
    assert {name for name, _, _ in read(Hpcc(), spoiled)} <= {metric.name for metric in Hpcc.metrics}


@pytest.mark.parametrize(
    ("ranks", "grid"), [(1, (1, 1)), (2, (1, 2)), (12, (3, 4)), (16, (4, 4)), (7, (1, 7)), (56, (7, 8))]
)
def test_the_grid_is_as_square_as_can_be(ranks: int, grid: tuple[int, int]) -> None:
    lines = format_input(2000, 64, ranks).splitlines()

    assert [lines[index].split()[0] for index in (5, 7, 10, 11)] == ["2000", "64", *map(str, grid)]
    assert lines[31].startswith("##### This line (no. 32) is ignored")


def test_ranks_fill_the_declared_cores_unless_asked_otherwise() -> None:
    assert Hpcc().job(_set(_node(1, 28), _node(2, 28))).ranks == 56
    assert Hpcc().job(_set(_node(1, 28), _node(2, 28), ranks=2)).ranks == 4
    assert Hpcc().job(_set(_node(1), _node(2))).ranks == 2


def test_the_job_reads_our_input_and_its_result_only() -> None:
    job = Hpcc().job(_set(_node(1), _node(2), problem=400))

    assert (job.program, job.results) == (("hpcc",), ("hpccoutf.txt",))
    assert job.files == {"hpccinf.txt": format_input(400, 64, 2)}
    assert Hpcc().demands(_set(_node(1))).alone == frozenset(Part)


def test_the_time_limit_follows_the_link_rate() -> None:
    slow, fast = (Hpcc().estimate({"rate": rate, "problem": 100}) for rate in ("100 Mb/s", "10 Gb/s"))

    assert slow > 127 > fast
    assert Hpcc().job(_set(_node(1), rate="100 Mb/s")).seconds > 3 * 127
    assert Hpcc().estimate({"problem": 20_000}) > 3600


@pytest.mark.parametrize(
    "options", [{"problem": 1}, {"block": 0}, {"ranks": -1}, {"rate": "fast"}, {"rate": "0 Gb/s"}, {"speed": "1 GB"}]
)
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        Hpcc().demands(replace(_set(_node(1)), options=options))


def test_it_waits_for_its_round_and_asks_the_head_alone() -> None:
    remotes = [FakeRemote(f"n{index}", lenient=True) for index in (1, 2, 3)]
    contact = FakeContact(*remotes)
    asyncio.run(Hpcc().run(contact, _set(_node(1), _node(2), _node(3))))

    assert contact.gathered == 1
    assert [len(remote.calls) for remote in remotes] == [1, 0, 0]
