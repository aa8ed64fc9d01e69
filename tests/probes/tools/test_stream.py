import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact
from benchconsole.probes.tools.stream.probe import Stream
from tests.probes.tools.captures import ROOT, noise, output, read, said, text, values
from tests.probes.tools.played import Local, node, play
from tests.probes.tools.spoiled import a_line_that_is_lost_gives_no_other_number

ALL = sorted(f"stream/{path.name}" for path in (ROOT / "stream").iterdir())
THREADS, SERIAL, C59, FORTRAN = (
    f"stream/{name}.txt" for name in ("5.10-24-threads", "5.10-serial", "5.9-2-threads", "5.6-fortran")
)


def rates(name: str) -> list[float]:
    """Copy, scale, add and triad."""
    found = values(Stream().parse(output(name)))
    return [float(found[f"stream.{kernel}"][0]) for kernel in ("copy", "scale", "add", "triad")]


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Stream(), [output(name) for name in ALL])


@pytest.mark.parametrize(
    ("name", "megabytes"),
    [
        (THREADS, [100442.5, 99943.6, 112127.0, 112293.1]),
        (SERIAL, [19102.0, 10738.2, 12617.5, 12710.3]),
        (C59, [11081.4835, 10955.1523, 11761.8231, 11706.7460]),
        (FORTRAN, [2186.3897, 2160.7022, 2386.8722, 2373.6525]),
        ("stream/1.8-mpi.txt", [101056.0, 99800.9, 111426.4, 110583.7]),
        ("stream/5.4-rms.txt", [220.6927, 215.8473, 266.8000, 243.0946]),
    ],
)
def test_rates_are_in_powers_of_ten(name: str, megabytes: list[float]) -> None:
    assert rates(name) == pytest.approx([each * 1e6 for each in megabytes], rel=1e-9)


def test_versions_that_did_not_validate_have_no_average() -> None:
    found = said(Stream().parse(output("stream/5.4-rms.txt")))
    copy = [(dict(marks)["statistic"], value) for _, value, marks in found if ("kernel", "copy") in marks]
    assert copy == [("min", 0.1450), ("max", 0.1466)]


def test_threads_are_a_label_and_times_are_read() -> None:
    found = said(Stream().parse(output(THREADS)))

    assert len(found) == 16
    assert {dict(marks)["threads"] for _, _, marks in found} == {"24"}
    copy = [(dict(marks)["statistic"], value) for name, value, marks in found if ("kernel", "copy") in marks]
    assert copy == [("mean", 0.012912), ("min", 0.012744), ("max", 0.013077)]
    assert {dict(marks)["threads"] for _, _, marks in read(Stream(), text(FORTRAN))} == {"4"}
    assert not any(dict(marks).get("threads") for _, _, marks in read(Stream(), text(SERIAL)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Solution Validates: avg error less than 1.000000e-13 on all three arrays", "Failed Validation on array a[]"),
        ("Solution Validates", "Solution"),
        ("Best Rate MB/s", "Best Rate GB/s"),
        ("Best Rate MB/s", "Best Rate MiB/s"),
        ("(= 9098 clock ticks)", "(= 7 clock ticks)"), ("(= 9098 clock ticks)", "(= 7 timer ticks)"),
        ("100442.5", "10044.25"), ("100442.5", "nan"), ("100442.5", "inf"), ("100442.5", "0.0"), ("100442.5", "*******"),
        ("0.012744", "0.000000"), ("0.012744", "0.022744"), ("0.013077", "0.003077"), ("0.012744", "-0.012744"),
        ("Array size = 80000000", "Array size = 8000000"),
        ("Triad:", "Triad"),
        ("Number of Threads counted = 24", "Number of Threads counted = 12"),
        ("Number of Threads counted = 24", "Number of Threads counted = 24\nArray size = 1 (elements)"),
    ],
)  # fmt: skip
def test_an_unsound_run_gives_nothing_whatever_rates_it_printed(old: str, new: str) -> None:
    assert old in text(THREADS)
    with pytest.raises(ProbeOutputError):
        Stream().parse(Output((), text(THREADS).replace(old, new).encode()))


def test_two_runs_in_one_output_are_told_apart() -> None:
    once = said(Stream().parse(output(SERIAL)))
    twice = read(Stream(), 2 * text(SERIAL))
    assert twice[: len(once)] == once
    assert twice[len(once) :] == [(name, value, tuple(sorted((*marks, ("run", "2"))))) for name, value, marks in once]


def test_tables_of_several_ranks_that_were_mixed_are_nobodys() -> None:
    mixed = "".join(line * 2 for line in text(SERIAL).splitlines(keepends=True))
    with pytest.raises(ProbeOutputError, match="2 tables"):
        Stream().parse(Output((), mixed.encode()))


def test_another_program_of_that_name_is_refused() -> None:
    with pytest.raises(ProbeOutputError, match="0 tables"):
        Stream().parse(
            Output((), b"Version: ImageMagick 6.9.11-60\nUsage: stream [options ...] input-image raw-image\n")
        )


def test_a_failed_run_gives_nothing() -> None:
    with pytest.raises(ProbeOutputError, match="signal SEGV"):
        Stream().parse(Output((), text(SERIAL).encode(), exit_status=None, signal="SEGV"))


@settings(max_examples=60)
@given(noise, st.sampled_from(ALL), st.data())
def test_noise_and_cuts_never_give_another_number(around: str, name: str, data: st.DataObject) -> None:
    whole = said(Stream().parse(output(name)))
    lines = text(name).splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines)))
    full = around + "".join(lines[:at]) + around + "".join(lines[at:]) + around
    full = full.replace("\n", data.draw(st.sampled_from(["\n", "\r\n"])))
    assert read(Stream(), full) == whole
    cut = data.draw(st.integers(0, len(full)))
    assert read(Stream(), full[:cut]) in ([], whole)


@settings(max_examples=60)
@given(st.sampled_from([THREADS, SERIAL]), st.data())
def test_a_wrong_digit_never_gives_another_rate(name: str, data: st.DataObject) -> None:
    true = rates(name)
    places = [match.start() for match in re.finditer(r"\d", text(name)) if match.start() > text(name).index("Function")]
    at = data.draw(st.sampled_from(places))
    spoiled = text(name)[:at] + data.draw(st.sampled_from("0123456789- .")) + text(name)[at + 1 :]
    told = [value for metric, value, _ in read(Stream(), spoiled) if metric != "stream.time"]
    assert told in ([], pytest.approx(true, rel=0.005))


def test_threads_and_places_go_into_the_environment() -> None:
    def command(**options: str | int) -> list[str]:
        return list(Stream().command(Target(node(1), None, options)))

    assert command() == ["env", "LC_ALL=C", "stream"]
    assert command(threads=24, bind="spread", places="cores", program="/opt/stream_c.exe") == [
        "env", "LC_ALL=C", "OMP_NUM_THREADS=24", "OMP_PROC_BIND=spread", "OMP_PLACES=cores", "/opt/stream_c.exe",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [{"threads": -1}, {"bind": "x"}, {"places": "0-3"}, {"program": "stream -x"}, {"program": ""}, {"program": "A=1"}],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        Stream().command(Target(node(1), None, options))
    with pytest.raises(PlanError, match="option seconds"):
        Stream().estimate({"seconds": 0})


def test_a_played_run_gets_its_environment_and_is_read(tmp_path: Path) -> None:
    played = play(tmp_path, text(THREADS))
    target = Target(node(1), None, {"program": played.path, "threads": 24, "bind": "close"})
    (ran,) = asyncio.run(Stream().run(FakeContact(Local()), target))

    assert played.environment["OMP_NUM_THREADS"] == "24"
    assert played.environment["OMP_PROC_BIND"] == "close"
    assert played.environment["LC_ALL"] == "C"
    assert said(Stream().parse(ran)) == said(Stream().parse(output(THREADS)))


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(Stream(), ALL)
