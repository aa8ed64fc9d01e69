import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote
from benchconsole.probes.tools.osu.probe import Osu, OsuSet
from tests.probes.tools.captures import ROOT, noise, output, read, said, text
from tests.probes.tools.played import Local, node, play
from tests.probes.tools.spoiled import a_line_that_is_lost_gives_no_other_number
from tests.probes.tools.torn import noise_changes_nothing_and_a_cut_gives_fewer

ALL = sorted(f"osu/{path.name}" for path in (ROOT / "osu").iterdir())
LATENCY, BW, MANY = "osu/5.3.2-latency.txt", "osu/3.1.1-bw.txt", "osu/5.0-mbw-mr.txt"


def pair(**options: str | int | float) -> Target:
    return Target(node(1), node(2), options)


def found(name: str, *argv: str) -> list[Any]:
    return [(one[0], one[1], dict(one[2])) for one in said(Osu().parse(output(name, *argv)))]


@pytest.mark.parametrize("probe", [Osu(), OsuSet()], ids=lambda probe: probe.name)
@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check, probe: Osu) -> None:
    check(probe, [output(name) for name in ALL] + [output(BW, "osu_bw", "-m", "1:4194304")])


def test_latency_is_in_microseconds_and_bandwidth_in_powers_of_ten() -> None:
    marks = {"benchmark": "latency", "statistic": "mean"}
    assert found(LATENCY)[0] == ("osu.latency", pytest.approx(0.98e-6), {**marks, "size": "0"})
    assert found(LATENCY)[-1] == ("osu.latency", pytest.approx(381.77e-6), {**marks, "size": "4194304"})
    assert [value for _, value, _ in found(BW)] == pytest.approx([1.48e6, 3.07e6, 701.25e6, 9120.66e6, 11021.87e6])


def test_both_directions_of_the_oldest_version_are_told_as_such() -> None:
    marks = {"benchmark": "bi-directional bandwidth", "direction": "both", "size": "1024"}
    assert found("osu/2.1-bibw.txt")[2] == ("osu.bandwidth", pytest.approx(512.650711e6), marks)


def test_notes_between_heading_and_rows_are_passed_over_and_message_rates_read() -> None:
    marks = {"benchmark": "multiple bandwidth / message rate", "pairs": "1", "size": "1024", "window": "64"}
    assert found(MANY)[2:4] == [
        ("osu.bandwidth", pytest.approx(946.99e6), marks),
        ("osu.message_rate", 924797.36, marks),
    ]


def test_collectives_tell_mean_least_and_most() -> None:
    told: list[Any] = [
        (value, marks["statistic"]) for _, value, marks in found("osu/6.2-allreduce-full.txt") if marks["size"] == "8"
    ]
    assert told == [(pytest.approx(9.57e-6), "mean"), (pytest.approx(9.01e-6), "min"), (pytest.approx(10.40e-6), "max")]
    others: list[Any] = [(value, marks) for _, value, marks in found("osu/5.6.3-iallreduce-barrier.txt")]
    assert [marks["statistic"] for _, marks in others] == ["overall", "pure", "overall", "pure", "mean"]
    assert others[-1] == (pytest.approx(1.57e-6), {"benchmark": "barrier latency", "statistic": "mean"})
    assert others[1][0] == pytest.approx(4.43e-6)


def test_the_data_type_is_read_before_or_after_the_heading() -> None:
    assert {marks["datatype"] for _, _, marks in found("osu/7.1-latency.txt")} == {"MPI_CHAR"}
    types = [marks["datatype"] for _, _, marks in found("osu/7.5-bw-checked.txt")]
    assert types == ["MPI_CHAR"] * 3 + ["MPI_INT"] * 2


def test_the_greatest_of_all_sizes_is_read_where_the_last_one_is_known() -> None:
    asked = ("mpirun", "osu_bw", "-m", "1:4194304")
    assert found(BW, *asked)[-1] == (
        "osu.peak",
        pytest.approx(11021.87e6),
        {"benchmark": "bandwidth", "largest": "4194304", "statistic": "max"},
    )
    assert "osu.peak" not in {name for name, _, _ in found(BW)}
    assert "osu.peak" not in {name for name, _, _ in found(BW, "osu_bw", "-m", "1:8388608")}
    assert found("osu/2.1-bibw.txt", *asked)[-1][:2] == ("osu.peak_both", pytest.approx(1789.333333e6))


def test_the_same_benchmark_again_is_told_by_its_run() -> None:
    told: list[Any] = [
        (value, marks["size"], marks.get("run")) for _, value, marks in found("osu/7.5-rocm-two-pairs.txt")
    ]
    assert told[4:8] == [
        (pytest.approx(206.46e6), "2048", None),
        (pytest.approx(139961.80e6), "134217728", None),
        (pytest.approx(1.43e6), "1", "2"),
        (pytest.approx(2.94e6), "2", "2"),
    ]
    assert {run for _, _, run in told[6:]} == {"2"}  # a size that the first run left out too


def test_the_cells_of_f_are_known_where_the_heading_of_7_3_leaves_them_out() -> None:
    told: list[Any] = [(value, marks["statistic"]) for _, value, marks in found("osu/7.3-reduce-full.txt")]
    assert len(told) == 12
    assert told[6:9] == [
        (pytest.approx(49.70e-6), "mean"), (pytest.approx(17.48e-6), "min"), (pytest.approx(105.89e-6), "max"),
    ]  # fmt: skip


def test_all_columns_of_a_non_blocking_collective_are_known() -> None:
    told: list[Any] = [(value, marks["statistic"]) for _, value, marks in found("osu/5.6.3-ialltoall-full.txt")]
    assert told == [
        (pytest.approx(11.09e-6), "overall"), (pytest.approx(5.18e-6), "pure"),
        (pytest.approx(10.87e-6), "overall"), (pytest.approx(5.10e-6), "pure"),
    ]  # fmt: skip


def test_the_columns_of_7_are_known() -> None:
    """Least and greatest of the communication, which 7.x prints beside its mean."""
    assert found("osu/7.5-ialltoall-full.txt") == [
        (metric, value, {**marks, "datatype": "MPI_CHAR"})
        for metric, value, marks in found("osu/5.6.3-ialltoall-full.txt")
    ]


def test_of_derived_types_the_bytes_that_were_sent_are_told() -> None:
    name, asked = "osu/7.5-derived-types.txt", ("osu_mbw_mr", "-m", "1:1048576")
    assert [(marks["size"], marks["transmit_size"]) for _, _, marks in found(name)] == [
        ("1024", "512"), ("1024", "512"), ("1048576", "524288"), ("1048576", "524288"),
        ("1024", "512"), ("2048", "1024"),
    ]  # fmt: skip
    assert [value for _, value, _ in found(name)][:2] == pytest.approx([630.11e6, 1230683.59])
    assert "osu.peak" not in {metric for metric, _, _ in found(name, *asked)}
    with pytest.raises(ProbeOutputError, match="messages times their size"):
        Osu().parse(Output((), text(name).replace(" 524288", " 104857").encode()))


def test_any_percentile_is_told_and_those_of_a_bandwidth_left_out() -> None:
    title = "# OSU MPI {} Test v7.5\n"
    tail = title.format("Latency") + "# Size  Latency (us)  P75 Tail Lat(us)\n8  1.21  1.40\n"
    assert [dict(marks)["statistic"] for _, _, marks in read(Osu(), tail)] == ["mean", "p75"]
    tail = title.format("Bandwidth") + "# Size  Bandwidth (MB/s)  P99 Tail BW(MB/s)\n8  12.21  1.40\n"
    assert [value for _, value, _ in read(Osu(), tail)] == pytest.approx([12.21e6])


@pytest.mark.parametrize("tag", ["[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-n1-17@1,0]<stdout>: "])
def test_the_tag_of_a_rank_does_not_hide_a_row(tag: str) -> None:
    tagged = "".join(f"{tag}{line}" for line in text(BW).splitlines(keepends=True))
    assert read(Osu(), tagged) == said(Osu().parse(output(BW)))


def test_gpu_buffers_are_a_label() -> None:
    played = text(LATENCY).replace("OSU MPI Latency", "OSU MPI-CUDA Latency")
    assert {dict(marks)["device"] for _, _, marks in read(Osu(), played)} == {"cuda"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("24101.90              Pass", "24101.90              Fail"),
        ("1024                 2410.22", "1                 2410.22"),
        ("# Size      Bandwidth (MB/s)", "# Size      Bandwidth (GB/s)"),
        ("# Size      Bandwidth (MB/s)", "# Size      Speed (MB/s)"),
        ("# OSU MPI Bandwidth Test v7.5\n", ""),
        ("# Datatype: MPI_INT.\n", ""),
        ("4194304             24101.90", "[n1:1] *** Process received signal ***\n4194304             24101.90"),
    ],
)
def test_what_is_in_doubt_is_refused_though_it_ended_with_0(old: str, new: str) -> None:
    assert old in text("osu/7.5-bw-checked.txt")
    with pytest.raises(ProbeOutputError):
        Osu().parse(Output((), text("osu/7.5-bw-checked.txt").replace(old, new, 1).encode()))


@pytest.mark.parametrize("name", [LATENCY, "osu/2.1-bibw.txt"])
def test_a_table_whose_title_was_lost_is_not_of_the_benchmark_before(name: str) -> None:
    untitled = text(name)[text(name).index("# Size") :]
    assert read(Osu(), text(BW) + untitled) == read(Osu(), text(BW))
    typed = text(BW).replace("# Size", "# Datatype: MPI_CHAR.\n# Size")
    assert read(Osu(), typed + "# Datatype: MPI_CHAR.\n" + untitled) == read(Osu(), typed) != []


@pytest.mark.parametrize(
    "said_instead",
    ["This test requires exactly two processes\n", "# OSU MPI Latency Test v5.3.2\n# Size          Latency (us)\n", ""],
)
def test_the_wrong_number_of_ranks_is_refused_by_its_words(said_instead: str) -> None:
    with pytest.raises(ProbeOutputError, match=r"exactly two processes|no table"):
        Osu().parse(Output((), said_instead.encode()))


def test_messages_that_do_not_make_the_rate_are_refused() -> None:
    with pytest.raises(ProbeOutputError, match="messages times their size"):
        Osu().parse(Output((), text(MANY).replace("924797.36", "92479.36").encode()))


def test_numbers_that_are_none_are_left_out() -> None:
    for word in ("nan", "inf", "-1.02", "+++++", "1,05", "12"):
        spoiled = text(LATENCY).replace("1.03\n2 ", f"{word}\n2 ")
        assert len(read(Osu(), spoiled)) == len(read(Osu(), text(LATENCY))) - 1
    assert len(read(Osu(), text(LATENCY).replace("0.98", "0.00"))) == len(read(Osu(), text(LATENCY))) - 1


@settings(max_examples=60)
@given(noise, st.sampled_from(ALL), st.data())
def test_noise_and_cuts_never_give_another_number(around: str, name: str, data: st.DataObject) -> None:
    noise_changes_nothing_and_a_cut_gives_fewer(Osu(), name, around, data)


def test_colours_do_not_hide_a_row() -> None:
    coloured = re.sub(r"(?m)^(.*)$", "\x1b[32m\\1\x1b[0m", text(BW))
    assert read(Osu(), coloured) == said(Osu().parse(output(BW)))


def test_the_job_asks_for_sizes_and_its_time_follows_the_rate() -> None:
    job = Osu().job(pair(largest="1 MiB", iterations=50, check=1))
    assert job.program == ("osu_bw", "-m", "1:1048576", "-i", "50", "-c")
    assert job.ranks == 2
    assert Osu().estimate({}) == pytest.approx(8 + 2 * 4194304 * 64 * 20 / 125e6)
    assert Osu().demands(pair()).alone == frozenset(Part)
    nodes = (node(1), node(2), node(3))
    assert OsuSet().job(Target(nodes[0], None, {}, nodes)).program == ("osu_allreduce", "-m", "4:1048576")


@pytest.mark.parametrize(
    "options",
    [
        {"largest": "x"}, {"smallest": "8 MiB"}, {"iterations": -1}, {"check": 2}, {"ranks": 0}, {"rate": "fast"},
        {"program": "osu bw"}, {"program": "../osu_bw"}, {"slots": -1}, {"transport": "ib"},
    ],
)  # fmt: skip
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        Osu().demands(pair(**options))
    with pytest.raises(PlanError):
        asyncio.run(Osu().run(FakeContact(here, there), pair(**options)))
    assert here.calls == []
    with pytest.raises(PlanError, match="two ranks"):
        OsuSet().demands(Target(node(1), None, {}, (node(1),)))


def test_a_played_run_is_launched_with_our_words_and_read(tmp_path: Path) -> None:
    mpirun = play(tmp_path, text(BW))
    target = pair(mpirun=mpirun.path, scratch=str(tmp_path), as_root=1)
    (ran,) = asyncio.run(Osu().run(FakeContact(Local(), FakeRemote("n2", lenient=True)), target))

    assert mpirun.told[mpirun.told.index("-np") :] == ["-np", "2", "osu_bw", "-m", "1:4194304"]
    told: list[Any] = said(Osu().parse(ran))
    assert told[:-1] == said(Osu().parse(output(BW)))
    assert told[-1][:2] == ("osu.peak", pytest.approx(11021.87e6))


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    says = "mpirun was unable to find the specified executable file, and therefore did not launch\n\nNode:       n1\n"
    mpirun = play(tmp_path, "", complains=says, status=1)
    target = pair(mpirun=mpirun.path, scratch=str(tmp_path), as_root=1)
    with pytest.raises(RemoteError, match="osu_bw is not installed"):
        asyncio.run(Osu().run(FakeContact(Local(), FakeRemote("n2", lenient=True)), target))


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(Osu(), ALL)


def test_the_start_of_all_processes_is_timed() -> None:
    said_by_osu = "# OSU MPI Init Test v5.6.2\nnprocs: 144, min: 2032 ms, max: 2054 ms, avg: 2048 ms\n"
    assert {dict(marks)["statistic"]: value for _, value, marks in read(Osu(), said_by_osu)} == {
        "min": 2.032, "mean": 2.048, "max": 2.054,
    }  # fmt: skip
    assert {dict(marks)["processes"] for *_, marks in read(Osu(), said_by_osu)} == {"144"}
    with pytest.raises(ProbeOutputError, match="avg: 9048"):
        Osu().parse(Output((), said_by_osu.replace("2048", "9048").encode()))


@pytest.mark.parametrize("cut", ["4.", "4.1", "4"])
def test_a_number_with_fewer_decimals_than_osu_prints_was_cut(cut: str) -> None:
    whole = "# OSU MPI Latency Test v7.1\n# Size          Latency (us)\n1                       1.51\n"
    assert len(read(Osu(), whole + "2                       4.12\n")) == 2
    assert len(read(Osu(), f"{whole}2                       {cut}\n")) == 1
