import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Reading, RemoteError, Target
from benchconsole.probes.launch import Options
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote
from benchconsole.probes.tools.imb.probe import Imb, ImbSet
from tests.probes.tools.captures import ROOT, noise, output, read, said, text
from tests.probes.tools.played import Local, node, play
from tests.probes.tools.torn import noise_changes_nothing_and_a_cut_gives_fewer, one_line_lost_or_twice

ALL = sorted(f"imb/{path.name}" for path in (ROOT / "imb").iterdir())
OLD, NEW, BANDS = "imb/3.2-pingpong.txt", "imb/2018-sendrecv.txt", "imb/2021.3-bands-allreduce.txt"
P2P = "imb/2021.3-p2p.txt"
OPTIONS = "imb/2021.3-options.txt"
MEBI = 2**20


def pair(**options: str | int | float) -> Target:
    return Target(node(1), node(2), options)


def found(name: str, metric: str) -> dict[tuple[str, ...], float]:
    """Values of ``metric`` by benchmark, size, processes and statistic."""
    readings = [one for one in Imb().parse(output(name)) if isinstance(one, Reading)]
    keys = ("benchmark", "size", "processes", "statistic")
    return {
        tuple(dict(one.labels).get(key, "") for key in keys): one.value
        for one in readings
        if one.metric == f"imb.{metric}"
    }


@pytest.mark.parametrize(("probe", "names"), [(Imb(), [OLD, NEW]), (ImbSet(), [BANDS])], ids=["imb", "imb-set"])
@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check, probe: Imb, names: list[str]) -> None:
    check(probe, [output(name) for name in names])


def test_up_to_4_1_a_megabyte_is_2_to_the_20() -> None:
    assert found(OLD, "bandwidth")["PingPong", "4194304", "2", ""] == 3536.94 * MEBI
    assert found(OLD, "peak") == {("PingPong", "", "2", "max"): 3536.94 * MEBI}
    newer = found("imb/4.1-pingpong-allreduce.txt", "bandwidth")
    assert newer["PingPong", "4194304", "2", ""] == pytest.approx(4194304 / 1470.20e-6, rel=1e-4)


def test_from_2018_on_it_is_10_to_the_6() -> None:
    assert found(NEW, "bandwidth")["PingPong", "4194304", "2", ""] == pytest.approx(3708.75e6)
    assert found(NEW, "latency")["PingPong", "0", "2", ""] == pytest.approx(1.63e-6)
    assert found(NEW, "latency")["Sendrecv", "65536", "2", "max"] == pytest.approx(24.35e-6)


def test_a_version_that_does_not_tell_is_decided_by_its_own_rows() -> None:
    assert found("imb/2017-u2-pingpong.txt", "peak") == {("PingPong", "", "2", "max"): 3536.94 * MEBI}


def test_a_rate_that_is_not_size_over_time_in_the_unit_of_its_version_is_left_out() -> None:
    wrong = text(OLD).replace("Benchmark Suite V3.2", "Benchmarks 2018")
    assert {name for name, _, _ in read(Imb(), wrong)} == {"imb.latency"}


def test_without_a_heading_and_with_a_single_ambiguous_row_no_unit_is_guessed() -> None:
    table = text(OLD)[text(OLD).index("# Benchmarking") :]
    short = re.sub(r"\n +[0-9]{2,} .*|\n +[248] .*", "", table)
    ambiguous = re.sub(r"\n +1 +1000.*", "\n            1         1000         0.11         8.70", short)
    assert {name for name, _, _ in read(Imb(), table)} == {"imb.latency", "imb.bandwidth", "imb.peak"}
    assert {name for name, _, _ in read(Imb(), ambiguous)} == {"imb.latency"}


def test_sums_of_both_directions_are_told_from_one_way() -> None:
    assert found(NEW, "peak") == {("PingPong", "", "2", "max"): pytest.approx(3708.75e6)}
    assert found(NEW, "peak_both") == {
        ("Sendrecv", "", "2", "max"): pytest.approx(7017.23e6),
        ("Exchange", "", "2", "max"): pytest.approx(6924.55e6),
    }
    both = [one for one in Imb().parse(output(NEW)) if ("direction", "both") in one.labels]
    assert {dict(one.labels)["benchmark"] for one in both} == {"Sendrecv", "Exchange"}


def test_a_peak_is_over_every_size_that_was_asked_for() -> None:
    for lost in ("4194304", "2097152", "1048576"):
        short = re.sub(rf"\n +{lost} .*", "", text(OLD))
        assert {name for name, _, _ in read(Imb(), short)} == {"imb.latency", "imb.bandwidth"}
    untold = re.sub(r"# Maximum message length.*\n", "", text(OLD))
    assert [value for name, value, _ in read(Imb(), untold) if name == "imb.peak"] == [3536.94 * MEBI]


def test_modes_below_one_another_are_told_apart() -> None:
    name = "imb/2019-u3-modes.txt"
    readings = [one for one in Imb().parse(output(name)) if isinstance(one, Reading)]
    modes: list[Any] = [
        (dict(one.labels)["mode"], one.value) for one in readings if dict(one.labels).get("size") == "4"
    ]
    assert modes == [
        ("aggregate", pytest.approx(0.5e-6)), ("aggregate", pytest.approx(8e6)),
        ("non-aggregate", pytest.approx(2e-6)), ("non-aggregate", pytest.approx(2e6)),
    ]  # fmt: skip


@pytest.mark.parametrize("name", [BANDS, NEW, "imb/4.1-pingpong-allreduce.txt"])
def test_rows_below_a_head_that_was_lost_are_not_those_of_the_table_before(name: str) -> None:
    whole = {(metric, marks): value for metric, value, marks in read(ImbSet(), text(name))}
    for spoiled in one_line_lost_or_twice(text(name)):
        assert all(whole.get((metric, marks), value) == value for metric, value, marks in read(ImbSet(), spoiled))


def test_message_rates_and_collectives_are_read_and_one_process_is_not() -> None:
    assert found(BANDS, "message_rate")["Uniband", "1024", "2", ""] == 1501234.0
    assert found(BANDS, "bandwidth")["Uniband", "1024", "2", ""] == pytest.approx(1537.26e6)
    latency = found(BANDS, "latency")
    assert latency["Allreduce", "1048576", "2", "max"] == pytest.approx(460.20e-6)
    assert latency["Allreduce", "4", "4", "mean"] == pytest.approx(3.08e-6)
    assert not [key for key in latency if key[2] == "1"]
    barrier = found("imb/4.1-pingpong-allreduce.txt", "latency")["Barrier", "", "2", "mean"]
    assert barrier == pytest.approx(2.15e-6)


def test_rates_of_p2p_that_sum_up_several_senders_are_no_rates() -> None:
    """IMB-P2P counts what all processes sent: 24 GB/s for a PingPing of two over a link that does 12."""
    found = [(metric, value, dict(marks)) for metric, value, marks in said(Imb().parse(output(P2P)))]
    assert {marks["benchmark"] for metric, _, marks in found if metric != "imb.latency"} == {"PingPong"}
    assert {marks["benchmark"] for metric, _, marks in found if metric == "imb.latency"} == {"PingPong", "PingPing"}
    assert [value for metric, value, _ in found if metric == "imb.peak"] == pytest.approx([11910.96e6])
    assert not any("direction" in marks for _, _, marks in found)


@pytest.mark.parametrize("benchmark", ["PingPong", "PingPing", "Sendrecv_Replace", "Unirandom", "Stencil2D"])
@pytest.mark.parametrize("processes", [2, 4])
def test_of_p2p_a_ping_pong_of_two_processes_alone_has_a_rate(benchmark: str, processes: int) -> None:
    spoiled = text(P2P).replace("# Benchmarking PingPing", f"# Benchmarking {benchmark}")
    spoiled = spoiled.replace("# #processes = 2", f"# #processes = {processes}")
    rated = {dict(marks)["benchmark"] for metric, _, marks in read(Imb(), spoiled) if metric != "imb.latency"}
    assert rated == ({"PingPong"} if processes == 2 else set())


def test_tables_of_mt_are_refused() -> None:
    """IMB-MT says its threads in the line of its processes; its rates count both directions, too."""
    with pytest.raises(ProbeOutputError, match="no table"):
        Imb().parse(Output((), text(OLD).replace("# #processes = 2", "# #processes = 2 (threads: 1)").encode()))


def test_groups_are_told_apart_and_have_no_peak() -> None:
    values: list[Any] = said(Imb().parse(output("imb/2019-u6-multi.txt")))
    assert [(value, dict(marks)["group"]) for name, value, marks in values if name == "imb.bandwidth"] == [
        (pytest.approx(2160.76e6), "0"), (pytest.approx(2139.37e6), "1"),
        (pytest.approx(2291.66e6), "0"), (pytest.approx(2268.97e6), "1"),
    ]  # fmt: skip
    assert "imb.peak" not in {name for name, _, _ in values}


@pytest.mark.parametrize(
    "broken",
    [
        "Invalid benchmark name pingpongg\n",
        "# Benchmarking PingPong\n# #processes = 1\n#----\n       #bytes #repetitions      t[usec]   Mbytes/sec\n",
        text(BANDS)[: text(BANDS).index("# Benchmarking Uniband")],
        text(OLD).replace("# All processes", "Process 0: Got invalid buffer:\n# All processes"),
        text(OLD).replace("# All processes", "[n2:1] *** An error occurred in MPI_Send\n# All processes"),
        "",
    ],
)
def test_what_is_no_result_is_refused_though_imb_ends_with_0(broken: str) -> None:
    with pytest.raises(ProbeOutputError):
        Imb().parse(Output((), broken.encode()))


@pytest.mark.parametrize("tag", ["", "[1,0]<stdout>:"])
def test_tables_that_imb_ran_in_the_place_of_an_unknown_benchmark_are_refused(tag: str) -> None:
    said_before = text(NEW).replace(
        "# Benchmarking PingPong", f"{tag}Invalid benchmark name pngpng\n# Benchmarking PingPong"
    )
    for at_stdout, at_stderr in ((said_before, ""), (text(OLD), f"{tag}Invalid benchmark name pngpng\n")):
        with pytest.raises(ProbeOutputError, match="Invalid benchmark name pngpng"):
            Imb().parse(Output((), at_stdout.encode(), at_stderr.encode()))
    with pytest.raises(ProbeOutputError, match="EXCEPTION: wrong value"):
        Imb().parse(Output((), (text(NEW) + "EXCEPTION: wrong value of `thread_level' option\n").encode()))


def test_message_rates_of_both_ways_say_so() -> None:
    rates = [one for one in Imb().parse(output(BANDS)) if isinstance(one, Reading) and one.metric == "imb.message_rate"]
    ways = {(dict(one.labels)["benchmark"], dict(one.labels).get("direction")) for one in rates}
    assert ways == {("Uniband", None), ("Biband", "both")}


def test_a_second_run_is_told_by_its_number() -> None:
    once = said(Imb().parse(output(OLD)))
    twice = read(Imb(), 2 * text(OLD))
    assert twice[: len(once)] == once
    assert [(name, value) for name, value, _ in twice[len(once) :]] == [(name, value) for name, value, _ in once]
    assert {dict(marks).get("run") for _, _, marks in twice[len(once) :]} == {"2"}


def test_the_numbers_of_a_published_run_are_read_as_they_stand() -> None:
    name = "imb/2018-pingpong-large.txt"
    pair = ("PingPong", "268435456", "2", "")
    assert found(name, "bandwidth")[pair] == pytest.approx(12236.50e6)
    assert found(name, "latency")[pair] == pytest.approx(21937.28e-6)
    assert len(found(name, "bandwidth")) == 2
    assert found(name, "latency")["PingPong", "0", "2", ""] == pytest.approx(1.68e-6)


def test_tables_of_one_process_alone_are_refused_by_name() -> None:
    alone = text(BANDS)[: text(BANDS).index("# Benchmarking Uniband")] + "# Benchmarking Allreduce\n# #processes = 1\n"
    alone += "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n 4 1000 0.05 0.05 0.05\n"
    with pytest.raises(ProbeOutputError, match="tables of one process"):
        Imb().parse(Output((), alone.encode()))


def test_data_that_arrived_wrong_are_an_error() -> None:
    checked = (
        "# Benchmarking PingPong\n# #processes = 2\n"
        "       #bytes #repetitions      t[usec]   Mbytes/sec      defects\n"
        "         4096         1000         4.81       851.56         {}\n"
    )
    assert len(read(Imb(), checked.format("0.00"))) == 2
    with pytest.raises(ProbeOutputError, match="defects"):
        Imb().parse(Output((), checked.format("1.00").encode()))


@settings(max_examples=200)
@given(noise, st.sampled_from(ALL), st.data())
def test_noise_and_cuts_never_give_another_number(around: str, name: str, data: st.DataObject) -> None:
    noise_changes_nothing_and_a_cut_gives_fewer(Imb(), name, around, data)


@settings(max_examples=60)
@given(st.sampled_from([OLD, NEW]), st.data())
def test_a_wrong_digit_never_gives_another_bandwidth(name: str, data: st.DataObject) -> None:
    true = [value for metric, value, _ in said(Imb().parse(output(name))) if metric == "imb.bandwidth"]
    begin = text(name).index("Mbytes/sec")
    at = data.draw(
        st.sampled_from([match.start() for match in re.finditer(r"\d", text(name)) if match.start() > begin])
    )
    spoiled = text(name)[:at] + data.draw(st.sampled_from("0123456789- x")) + text(name)[at + 1 :]
    for metric, value, _ in read(Imb(), spoiled):
        assert metric != "imb.bandwidth" or any(value == pytest.approx(each, rel=0.02) for each in true)


def test_the_job_runs_one_rank_on_each_node_for_one_benchmark() -> None:
    job = Imb().job(pair(benchmark="Sendrecv", largest="1 MiB"))

    assert job.program == ("IMB-MPI1", "Sendrecv", "-npmin", "2", "-msglog", "20", "-time", "1")
    assert (job.ranks, job.options) == (2, Options(slots=1))
    assert Imb().demands(pair()).alone == frozenset(Part)
    assert Imb().estimate({"largest": "1 MiB", "seconds": 2}) == 8 + 22 * 2


def test_a_set_runs_over_all_its_nodes() -> None:
    nodes = (node(1), node(2), node(3))
    job = ImbSet().job(Target(nodes[0], None, {"ranks": 2}, nodes))

    assert (job.ranks, job.program[1], job.options.slots) == (6, "Allreduce", 2)


@pytest.mark.parametrize(
    "options",
    [
        {"largest": "3 MB"}, {"largest": "0 B"}, {"seconds": 0}, {"benchmark": "-help"}, {"ranks": 0},
        {"program": "IMB MPI1"}, {"program": "$(x)"}, {"program": "-x"}, {"bind": "all"},
    ],
)  # fmt: skip
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        Imb().demands(pair(**options))
    with pytest.raises(PlanError):
        asyncio.run(Imb().run(FakeContact(here, there), pair(**options)))
    assert here.calls == []


def test_one_rank_is_refused_before_it_is_started() -> None:
    with pytest.raises(PlanError, match="two ranks"):
        ImbSet().demands(Target(node(1), None, {}, (node(1),)))


def test_a_played_run_is_launched_with_our_words_and_read(tmp_path: Path) -> None:
    mpirun = play(tmp_path, text(NEW))
    target = pair(mpirun=mpirun.path, scratch=str(tmp_path), as_root=1, program="/opt/imb/IMB-MPI1")
    contact = FakeContact(Local(), FakeRemote("n2", lenient=True))
    (ran,) = asyncio.run(Imb().run(contact, target))

    assert contact.gathered == 1
    assert mpirun.told[mpirun.told.index("-np") :] == [
        "-np", "2", "/opt/imb/IMB-MPI1", "PingPong", "-npmin", "2", "-msglog", "22", "-time", "1",
    ]  # fmt: skip
    assert said(Imb().parse(ran)) == said(Imb().parse(output(NEW)))


def test_a_played_run_that_fails_gives_its_words(tmp_path: Path) -> None:
    mpirun = play(tmp_path, text(NEW), complains="There are not enough slots available in the system\n", status=1)
    target = pair(mpirun=mpirun.path, scratch=str(tmp_path), as_root=1)
    with pytest.raises(RemoteError, match="not enough slots"):
        asyncio.run(Imb().run(FakeContact(Local(), FakeRemote("n2", lenient=True)), target))


def test_a_rate_without_a_size_is_no_table() -> None:
    strange = "# Benchmarking PingPong\n# #processes = 2\n#repetitions t[usec] Mbytes/sec\n1000 1.65 0.61\n"
    with pytest.raises(ProbeOutputError):
        Imb().parse(Output((), strange.encode()))


@pytest.mark.parametrize("cut", ["3536.9", "3536.", "3536"])
def test_a_rate_with_fewer_decimals_than_imb_prints_was_cut(cut: str) -> None:
    whole = text(OLD)
    assert "3536.94" in whole
    found = read(Imb(), whole.replace("3536.94", cut))
    assert found
    assert {value for _, value, _ in found} <= {value for _, value, _ in read(Imb(), whole)} - {3536.94 * MEBI}


def test_the_heading_of_one_run_says_nothing_of_the_next() -> None:
    """The second run lost its command line and its data types: their labels are unknown, not those of the first."""
    second = [line for line in text(NEW).splitlines(True) if "MPI_" not in line and line.strip() != "# IMB-MPI1"]
    found = [dict(one.labels) for one in Imb().parse(Output((), (text(OPTIONS) + "".join(second)).encode()))]
    told = {(marks["benchmark"], marks.get("off_cache"), marks.get("datatype")) for marks in found}
    assert told == {
        ("Sendrecv", "16", "MPI_BYTE"), ("Reduce", "16", "MPI_DOUBLE"), ("Barrier", "16", None),
        ("PingPong", None, None), ("Sendrecv", None, None), ("Exchange", None, None),
    }  # fmt: skip
