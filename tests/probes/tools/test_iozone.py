"""iozone: which column is which, in which unit, and the script run against a played tool."""

import os
import re
import subprocess
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.iozone.probe import Iozone
from tests.probes.tools.captures import ROOT, output, read, said, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

BROKEN = {"3.506-zeros.txt", "3.506-verify.txt"}
NAMES = sorted(f"iozone/{path.name}" for path in (ROOT / "iozone").iterdir() if path.name not in BROKEN)
ALL = (
    "write rewrite read reread random-read random-write backward-read record-rewrite stride-read"
    " fwrite frewrite fread freread"
)
KIB = 1024


def _by_operation(name: str, metric: str, **marks: str) -> dict[str, float]:
    found = Iozone().parse(output(f"iozone/{name}"))
    chosen = [one for one in found if one.metric == f"iozone.{metric}" and marks.items() <= dict(one.labels).items()]
    grouped = {dict(one.labels)["operation"]: one.value for one in chosen}
    assert len(grouped) == len(chosen)
    return grouped


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Iozone(), [output(name) for name in NAMES])


def test_the_run_of_the_report_is_read_without_the_retests_that_it_left_out() -> None:
    assert _by_operation("3.397-desy.txt", "throughput") == {"write": 812345 * KIB, "read": 934567 * KIB}
    labels = [dict(one.labels) for one in Iozone().parse(output("iozone/3.397-desy.txt"))]
    same = {"block": "2MiB", "direct": "0", "size": "300GiB"}
    assert labels == [{"operation": "write", "end_fsync": "0", **same}, {"operation": "read", **same}]


@pytest.mark.parametrize("name", ["3.507-random.txt", "3.430-table-only.txt"])
def test_tests_that_were_not_chosen_shift_nothing(name: str) -> None:
    expected = {"write": 388250, "rewrite": 392446, "random-read": 290025, "random-write": 392099}
    assert _by_operation(name, "throughput") == {way: value * KIB for way, value in expected.items()}


def test_a_full_table_is_read_once_and_the_excel_part_not_again() -> None:
    first = (55907, 68813, 43361, 42502, 34044, 64746, 33578, 61774, 30137, 235263, 233180, 3905668, 3824589)
    second = (81221, 100104, 69678, 70623, 59293, 90806, 56909, 106010, 54285, 239120, 245316, 5734840, 5483605)
    for block, row in (("4KiB", first), ("8KiB", second)):
        expected = dict(zip(ALL.split(), (value * KIB for value in row), strict=True))
        assert _by_operation("3.492-full.txt", "throughput", block=block) == expected


def test_gaps_between_the_tests_shift_nothing() -> None:
    row = {"write": 31782, "rewrite": 22524, "random-read": 816017, "random-write": 10411, "stride-read": 3779260}
    assert _by_operation("real-3.4-gaps.txt", "throughput") == {way: value * KIB for way, value in row.items()}


def test_the_throughput_mode_of_old_versions() -> None:
    found = _by_operation("real-3.169-throughput.txt", "throughput", tasks="1", size="2GiB", block="128KiB")
    assert found == {"write": 109333.84 * KIB, "reread": 167226.5 * KIB}


def test_runs_of_the_same_test_are_told_apart() -> None:
    first = text("iozone/real-3.4-gaps.txt")
    found = Iozone().parse(Output((), (first + first.replace("10411", "10412")).encode()))
    told = [
        (one.value / KIB, dict(one.labels).get("run")) for one in found if ("operation", "random-write") in one.labels
    ]
    assert told == [(10411, None), (10412, "2")]


def test_operations_and_microseconds_stand_under_the_same_headings() -> None:
    operations = dict(zip(ALL.split()[:6], (999, 1165, 1126, 1131, 246, 1107), strict=True))
    assert _by_operation("3.263-ops.txt", "operations") == operations
    latencies = _by_operation("3.507-microseconds.txt", "latency")
    assert latencies == pytest.approx({"write": 12e-6, "rewrite": 10e-6, "read": 8e-6, "reread": 7e-6})


def test_processes_are_summed_and_the_slowest_is_told() -> None:
    sums = {
        "write": 1234567.52,
        "rewrite": 1300000,
        "read": 2400000,
        "reread": 2440000,
        "random-read": 800000,
        "random-write": 640000,
    }
    name = "3.506-throughput.txt"
    assert _by_operation(name, "throughput", tasks="4", size="1GiB", block="1MiB") == pytest.approx(
        {way: value * KIB for way, value in sums.items()}
    )
    each = {statistic: _by_operation(name, "process_throughput", statistic=statistic) for statistic in ("min", "max")}
    assert (each["min"]["write"], each["max"]["write"]) == (300000.13 * KIB, 320000.5 * KIB)
    mean = _by_operation(name, "process_throughput", statistic="mean")
    assert mean["random-read"] == 200000 * KIB


def test_threads_and_operations_of_other_versions_are_read() -> None:
    assert _by_operation("3.257-threads.txt", "throughput", tasks="12") == {"write": 90172.08 * KIB}
    assert _by_operation("3.257-threads.txt", "process_throughput", statistic="min") == {"write": 7510.7 * KIB}
    assert _by_operation("3.507-throughput-ops.txt", "operations") == {"write": 3159.44}
    assert _by_operation("3.507-throughput-ops.txt", "process_operations", statistic="max") == {"write": 1659.22}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_zeros_and_rates_that_iozone_calls_invalid_are_refused(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Iozone().parse(output(f"iozone/{name}"))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("3.507-random.txt", "\tOutput is in kBytes/sec\n", ""),
        ("3.507-random.txt", "Output is in kBytes/sec", "Output is in furlongs/sec"),
        ("3.507-random.txt", "290025", "     0"),
        ("3.507-random.txt", "-i 0 -i 2", "-i 0 -i 1"),
        ("3.397-desy.txt", "\tNo retest option selected\n", ""),
        ("3.492-full.txt", "kB  reclen    write  rewrite", "kB  reclen  rewrite    write"),
        ("3.506-throughput.txt", "1234567.52 kB/sec", "1234567.52 ops/sec"),
        ("3.506-throughput.txt", "1234567.52 kB/sec", "   nan kB/sec"),
        ("3.506-throughput.txt", "1234567.52 kB/sec", "      0.00 kB/sec"),
        ("3.506-throughput.txt", " 300000.13 kB/sec", " 310000.13 kB/sec"),
        ("3.506-throughput.txt", "\n\tParent", "\nError writing block 17, fd= 3\n\tParent"),
        ("3.506-throughput.txt", "Output is in", "OPS Mode. Output is in operations per second.\n\tOutput is in"),
    ],
)
def test_what_cannot_be_known_is_refused(name: str, old: str, new: str) -> None:
    whole = text(f"iozone/{name}")
    assert old in whole
    with pytest.raises(ProbeOutputError):
        Iozone().parse(Output((), whole.replace(old, new, 1).encode()))


def test_a_row_that_was_interrupted_gives_what_stands_below_its_title_but_for_the_last() -> None:
    cut = re.sub(r"(102400    1024   388250   392446).*", r"\1", text("iozone/3.507-random.txt"))
    assert [value for _, value, _ in read(Iozone(), cut)] == [388250 * KIB]
    digits = re.sub(r"(102400    1024   388250   3924).*", r"\1", text("iozone/3.507-random.txt"))
    assert read(Iozone(), digits) == read(Iozone(), cut)
    moved = re.sub(r" +102400    1024   388250.*", "102400 1024 388250", text("iozone/3.507-random.txt"))
    assert read(Iozone(), moved) == []


def test_the_unit_of_one_run_is_not_that_of_the_next() -> None:
    one, other = text("iozone/3.507-random.txt"), text("iozone/3.507-microseconds.txt")
    assert read(Iozone(), one + other) == read(Iozone(), one) + read(Iozone(), other)


def test_tests_that_were_left_out_at_the_end_shift_nothing() -> None:
    first = (309500, 346052, 741827, 692543, 668591, 342610, 943661, 375120, 986910)
    second = (359506, 390935, 608138, 870010, 493423, 310893, 783716, 391109, 654727)
    for block, row in (("64KiB", first), ("128KiB", second)):
        expected = dict(zip(ALL.split(), (value * KIB for value in row), strict=False))
        assert _by_operation("real-3.3-no-stdio.txt", "throughput", block=block) == expected


@pytest.mark.parametrize("other", ["3.492-full.txt", "3.257-threads.txt"])
def test_one_run_inside_another_does_not_lend_it_its_unit(other: str) -> None:
    head, words, table = text("iozone/3.507-microseconds.txt").partition("\tTime Resolution")
    with pytest.raises(ProbeOutputError, match="a line above the table that says what it is in"):
        Iozone().parse(Output((), (head + text(f"iozone/{other}") + words + table).encode()))


def test_numbers_behind_the_end_of_a_run_are_not_its_row() -> None:
    whole = text("iozone/3.507-random.txt")
    row = next(line for line in whole.splitlines() if line.split()[:2] == ["102400", "1024"])
    assert read(Iozone(), whole + row + "\n") == read(Iozone(), whole)


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Iozone(), NAMES)


# The script itself, run here against a played iozone.


def _target(root: Path | str, **options: str | int) -> Target:
    return Target(a_node(), options=MappingProxyType({"scratch": str(root), "size": "4 MiB", **options}))


@pytest.fixture
def played(tmp_path: Path) -> dict[str, str]:
    """An environment whose iozone writes down where it was called with what, and prints a run."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tmp_path / "said").write_text(text("iozone/3.397-desy.txt"))
    script = '#!/bin/sh\necho "$PWD: $*" >> "$CALLS"\ntouch data\ncat "$SAID"\nexit "${FAILS:-0}"\n'
    (tools / "iozone").write_text(script)
    (tools / "iozone").chmod(0o755)
    here = {"CALLS": str(tmp_path / "calls"), "SAID": str(tmp_path / "said"), "BENCHCONSOLE_SESSION": "s-7"}
    return {**here, "PATH": f"{tools}:{os.environ['PATH']}"}


def _run(target: Target, environment: dict[str, str]) -> Output:
    argv = list(Iozone().command(target))
    done = subprocess.run(argv, env={**os.environ, **environment}, capture_output=True, check=False, timeout=30)
    return Output(tuple(argv), done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, "-i0 -i1 -I -e -+n -r2048k -s4096k -f data"),
        ({"random": 1, "retest": 1, "direct": 0, "block": "64 KiB"}, "-i0 -i1 -i2 -e -r64k -s4096k -f data"),
        ({"streams": 3, "end_fsync": 0}, "-i0 -i1 -I -+n -r2048k -s4096k -t 3 -F data.1 data.2 data.3"),
    ],
)
def test_it_runs_in_a_directory_of_its_own(
    tmp_path: Path, played: dict[str, str], options: dict[str, str | int], arguments: str
) -> None:
    root = tmp_path / "scratch with blanks"
    root.mkdir()
    ended = _run(_target(root, **options), played)
    assert (ended.exit_status, ended.error_text, list(root.iterdir())) == (0, "", [])
    (call,) = Path(played["CALLS"]).read_text().splitlines()
    place, _, given_ = call.rpartition(": ")
    assert place.startswith(f"{root}/benchconsole.s-7.")
    assert given_ == arguments
    assert said(Iozone().parse(ended)) == said(Iozone().parse(output("iozone/3.397-desy.txt")))


def test_a_failing_run_gives_no_number_and_leaves_nothing(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    ended = _run(_target(root), {**played, "FAILS": "3"})
    assert (ended.exit_status, list(root.iterdir())) == (3, [])
    with pytest.raises(ProbeOutputError, match="exit status 3"):
        Iozone().parse(ended)


def test_a_missing_tool_is_told_as_the_shell_would(tmp_path: Path) -> None:
    ended = _run(_target(tmp_path, iozone="/nowhere/iozone"), {})
    assert (ended.exit_status, "/nowhere/iozone: command not found" in ended.error_text) == (127, True)


def test_what_it_takes_is_declared() -> None:
    target = _target("/scratch", streams=3, shared="home")
    demands = Iozone().demands(target)
    assert (demands.writes, dict(demands.shared)) == (3 * 2**22, {"filesystem:home": 3 * 2**22})
    assert Iozone().estimate({"size": "1 GB", "rate": "100 MB/s", "random": 1}) == pytest.approx(3 + 40)


@pytest.mark.parametrize(
    "options",
    [
        {"size": "3 MB"},
        {"size": "fast"},
        {"block": "1 KiB"},
        {"block": "32 MiB"},
        {"streams": 0},
        {"random": 2},
        {"scratch": "relative"},
        {"iozone": "iozone -x"},
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match=f"iozone option (?:{next(iter(options))}|size)"):
        Iozone().demands(Target(a_node(), options=MappingProxyType(options)))


def test_a_process_that_moved_nothing_marks_its_group_and_no_other() -> None:
    whole = text("iozone/3.506-throughput.txt")
    idle = whole.replace("=  320000.00 kB/sec", "=       0.00 kB/sec", 1)
    assert idle != whole
    found = read(Iozone(), idle)
    marked = {dict(marks)["operation"] for *_, marks in found if ("idle", "some") in marks}
    assert marked == {"rewrite"}
    assert [one for one in found if dict(one[2])["operation"] == "write"] == [
        one for one in read(Iozone(), whole) if dict(one[2])["operation"] == "write"
    ]
    assert not [one for one in found if ("statistic", "min") in one[2] and ("operation", "rewrite") in one[2]]


@pytest.mark.parametrize(
    ("option", "stated", "told"),
    [
        ("", "", {"direct": "0", "end_fsync": "0"}), (" -I", "", {"direct": "1", "end_fsync": "0"}),
        (" -ceIT", "", {"direct": "1", "end_fsync": "1", "close": "timed"}),
        (" -oB", "", {"direct": "0", "end_fsync": "0", "sync": "1", "mmap": "1"}),
        ("", "\tO_DIRECT feature enabled\n", {"direct": "1", "end_fsync": "0"}),
        ("", "\tSYNC Mode. \n", {"direct": "0", "end_fsync": "0", "sync": "1"}),
        ("", "\tInclude fsync in write timing\n", {"direct": "0", "end_fsync": "1"}),
        (" -@", "\tUsing mmap files\n", {"mmap": "1"}),
    ],
)  # fmt: skip
def test_a_run_says_how_it_wrote(option: str, stated: str, told: dict[str, str]) -> None:
    whole = text("iozone/3.506-throughput.txt")
    capture = whole.replace("\tCommand line used: iozone", f"{stated}\tCommand line used: iozone{option}")
    for *_, marks in read(Iozone(), capture):
        flushes = () if dict(marks)["operation"].endswith("write") else ("end_fsync", "sync")
        found = {key: value for key, value in marks if key in ("direct", "sync", "mmap", "end_fsync", "close")}
        assert found == {key: value for key, value in told.items() if key not in flushes}
