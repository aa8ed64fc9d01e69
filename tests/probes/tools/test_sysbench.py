import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.sysbench.probe import Sysbench
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, output, read, said, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

NAMES = sorted(path.name for path in (ROOT / "sysbench").iterdir() if "fatal" not in path.name)
MIB = 2**20


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Sysbench(), [output(f"sysbench/{name}") for name in NAMES])


# Rates in the order of the report, computed by hand from its text.
RATES: Mapping[str, Sequence[tuple[str, float]]] = {
    "0.4.8-cpu.txt": [("cpu", 10000 / 16)],
    "0.4.12-cpu-memory.txt": [("cpu", 10000 / 6.25), ("memory", 12800 * MIB)],
    "0.4.12-fileio.txt": [("moved", 12.504 * MIB), ("moved_iops", 800.26)],
    "real-0.4.12-rndrw.txt": [("moved", 2.9644 * MIB), ("moved_iops", 189.72)],
    "0.5-fileio.txt": [("read", 1.3671 * 2**30), ("read_iops", 358381.12)],
    "1.0.20-cpu.txt": [("cpu", 2432.04)],
    "1.0.20-memory.txt": [("memory", 4288.18 * MIB)],
    "1.0.20-own-threads.txt": [("events", 2706 / 1.0004)],
    "1.1.0-threads.txt": [("events", 20550 / 10.001)],
    "1.0.20-fileio.txt": [
        ("write", 239.81 * MIB),
        ("write_iops", 15347.99),
        ("read", 216.17 * MIB),
        ("read_iops", 13834.80),
        ("read", 240.83 * MIB),
        ("read_iops", 15413.18),
        ("write", 260.53 * MIB),
        ("write_iops", 16674.15),
        ("read", 169.11 * MIB),
        ("read_iops", 10823.16),
        ("write", 112.75 * MIB),
        ("write_iops", 7216.11),
    ],
    "1.1.0-fileio.txt": [("read", 1280 * MIB), ("read_iops", 20480)],
    "0.4.12-random.txt": [("moved", 2.4999 * MIB), ("moved_iops", 159.99)],
    "1.0-before-release.txt": [
        ("read", 129.05 * MIB), ("read_iops", 8259.22), ("write", 85.93 * MIB), ("write_iops", 5499.26),
    ],
}  # fmt: skip
LATENCIES: Mapping[str, Mapping[str, float]] = {
    "0.4.8-cpu.txt": {"min": 0.0015, "mean": 0.0016, "max": 0.0121, "p95": 0.0017},
    "0.4.12-fileio.txt": {"min": 0.01e-3, "mean": 8.57e-3, "max": 412.22e-3, "p95": 41.2e-3},
    "0.5-fileio.txt": {"mean": 0.02e-3, "max": 18.04e-3, "p95": 0.03e-3},
    "1.0.20-cpu.txt": {"min": 0.22e-3, "mean": 0.82e-3, "max": 94.94e-3, "p95": 2.39e-3},
    "1.0.20-memory.txt": {"max": 40.41e-3},
    "real-0.4.12-rndrw.txt": {"min": 0.01e-3, "mean": 43.48e-3, "max": 1105.16e-3, "p95": 180.46e-3},
    "0.4.12-random.txt": {"mean": 2.86e-3, "max": 86.53e-3, "p95": 11.77e-3},
    "1.0-before-release.txt": {"mean": 0.18e-3, "max": 1.98e-3, "p95": 0.54e-3},
    "1.1.0-fileio.txt": {"min": 0.08e-3, "mean": 0.19e-3, "max": 7.41e-3, "p99": 0.49e-3},
}


@pytest.mark.parametrize("name", sorted(RATES))
def test_rates_of_every_version(name: str) -> None:
    found = said(Sysbench().parse(output(f"sysbench/{name}")))
    rates = [(metric.removeprefix("sysbench."), value) for metric, value, _ in found if "latency" not in metric]
    assert [one[0] for one in rates] == [one[0] for one in RATES[name]]
    assert [one[1] for one in rates] == pytest.approx([one[1] for one in RATES[name]], rel=1e-9)


@pytest.mark.parametrize("name", sorted(LATENCIES))
def test_latencies_of_every_version(name: str) -> None:
    found = [one for one in Sysbench().parse(output(f"sysbench/{name}")) if one.metric == "sysbench.latency"]
    assert {dict(one.labels)["statistic"]: one.value for one in found} == pytest.approx(LATENCIES[name], rel=1e-9)


def test_a_percentile_that_sysbench_calls_inaccurate_is_left_out() -> None:
    found = Sysbench().parse(output("sysbench/0.4.12-cpu-memory.txt"))
    kept = [dict(one.labels) for one in found if one.metric == "sysbench.latency"]
    assert [one["statistic"] for one in kept if one["test"] == "memory"] == ["max"]
    assert [one["statistic"] for one in kept if one["test"] == "cpu"] == ["min", "mean", "max", "p95"]


def test_every_test_of_files_says_what_it_did_and_past_which_cache() -> None:
    def told(name: str) -> set[tuple[str | None, ...]]:
        readings = [one for one in Sysbench().parse(output(f"sysbench/{name}")) if "iops" in one.metric]
        return {tuple(dict(one.labels).get(key) for key in ("pattern", "operation", "direct")) for one in readings}

    assert told("1.0.20-own-fileio.txt") == {
        ("sequential", "write", "1"), ("sequential", "read", "1"), ("random", "read", "1"), ("random", "write", "1"),
        ("random", "read+write", "1"),
    }  # fmt: skip
    assert {direct for *_, direct in told("1.0.20-own-cached.txt")} == {"0"}
    assert {direct for *_, direct in told("real-0.4.12-rndrw.txt")} == {"0"}
    assert {direct for *_, direct in told("0.5-fileio.txt")} == {None}


def test_labels_tell_runs_apart() -> None:
    own = Sysbench().parse(output("sysbench/1.0.20-own-fileio.txt"))
    assert len({(one.metric, one.labels) for one in own}) == len(own)
    assert dict(own[0].labels) == {
        "pattern": "sequential",
        "threads": "2",
        "block": "16KiB",
        "size": "16MiB",
        "flags": "directio",
        "direct": "1",
        "fsync": "100",
        "operation": "write",
    }
    once = text("sysbench/1.0.20-cpu.txt")
    twice = Sysbench().parse(Output((), (once + once.replace("2432.04", "2500.00")).encode()))
    assert [(one.value, dict(one.labels).get("run")) for one in twice if one.metric == "sysbench.cpu"] == [
        (2432.04, None),
        (2500.0, "2"),
    ]


def test_the_page_cache_is_named_where_it_could_hold_the_files() -> None:
    cached = text("sysbench/1.0.20-own-cached.txt")
    small = re.sub(r"memory=\d+", "memory=1024", cached)
    for whole, found in ((cached, "possible"), (small, None), (cached.partition("\n")[2], None)):
        assert dict(Sysbench().parse(Output((), whole.encode()))[0].labels).get("cached") == found


def test_a_test_that_prints_nothing_of_its_own_is_named_only_where_something_names_it() -> None:
    own = text("sysbench/1.0.20-own-threads.txt")
    bare = Sysbench().parse(Output((), own.partition("\n")[2].encode()))
    assert {dict(one.labels).get("test") for one in bare} == {"unnamed"}
    assert {dict(one.labels)["test"] for one in Sysbench().parse(output("sysbench/1.0.20-own-threads.txt"))} == {
        "threads"
    }
    queries = own.replace("Threads started!", "Threads started!\n\nSQL statistics:\n    queries performed:\n")
    with pytest.raises(ProbeOutputError):
        Sysbench().parse(Output((), queries.partition("\n")[2].encode()))


def test_events_of_new_versions_are_not_computed() -> None:
    hidden = text("sysbench/1.0.20-cpu.txt").replace("    events per second:  2432.04\n", "")
    assert "sysbench.cpu" not in [one[0] for one in read(Sysbench(), hidden)]
    older = hidden.replace("sysbench 1.0.20", "sysbench 1.0.7")
    rates = [value for metric, value, _ in read(Sysbench(), older) if metric == "sysbench.cpu"]
    assert rates == [pytest.approx(2437 / 1.0014)]


@pytest.mark.parametrize(
    "spoiling",
    [
        lambda whole: "FATAL: Cannot open file errno = 2 (No such file or directory)\n" + whole,
        lambda whole: whole.replace("Threads started!", "[  10s] Checkpoint report:"),
        lambda whole: whole.replace("read, MiB/s:                  216.17", "read, MiB/s:                  0.00"),
        lambda whole: whole.replace("216.17", "216.17\n    read, MiB/s:                  300.00"),
    ],
)
def test_what_failed_is_an_error(spoiling: object) -> None:
    assert callable(spoiling)
    with pytest.raises(ProbeOutputError):
        Sysbench().parse(Output((), spoiling(text("sysbench/1.0.20-fileio.txt")).encode()))


def test_a_full_disk_is_a_failure_although_rates_are_printed() -> None:
    with pytest.raises(ProbeOutputError, match="No space left"):
        Sysbench().parse(output("sysbench/fatal-1.0.20.txt"))
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        Sysbench().parse(replace(output("sysbench/1.0.20-fileio.txt"), exit_status=1))


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "1e999", "239.81x", "239,81", ""])
def test_no_absurd_number_becomes_a_reading(value: str) -> None:
    spoiled = text("sysbench/1.0.20-fileio.txt").replace("239.81", value)
    assert set(read(Sysbench(), spoiled)) <= set(said(Sysbench().parse(output("sysbench/1.0.20-fileio.txt"))))


@pytest.mark.parametrize(
    ("name", "old", "new", "metric"),
    [
        (
            "1.0.20-fileio.txt",
            "written, MiB/s:               112.75",
            "written, MiB/s:               11",
            "sysbench.write",
        ),
        (
            "1.0.20-fileio.txt",
            "reads/s:                      10823.16",
            "reads/s:                      108",
            "read_iops",
        ),
        ("1.0.20-cpu.txt", "events per second:  2432.04", "events per second:  243", "sysbench.cpu"),
        ("0.5-fileio.txt", "358381.12 Requests/sec", "8381.12 Requests/sec", "sysbench.read_iops"),
    ],
)
def test_a_rate_that_lost_digits_is_not_read(name: str, old: str, new: str, metric: str) -> None:
    whole = text(f"sysbench/{name}")
    assert old in whole
    found = read(Sysbench(), whole.replace(old, new))
    assert set(found) < set(read(Sysbench(), whole))
    assert sum(metric in one[0] for one in found) < sum(metric in one[0] for one in read(Sysbench(), whole))


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("0.4.12-fileio.txt", "20Gb total file size", "0.2Gb total file size", "their sum"),
        (
            "0.4.12-cpu-memory.txt",
            "total number of events:              10000\n",
            "total number of events: 100\n",
            "all threads",
        ),
        ("1.0.20-cpu.txt", "Latency (ms):", "Latency (ms):\nLatency (ms):", "one run after the other"),
        ("1.0.20-cpu.txt", "CPU speed:", "Doing random r/w test\nCPU speed:", "one run after the other"),
    ],
)
def test_what_contradicts_itself_is_refused(name: str, old: str, new: str, words: str) -> None:
    whole = re.sub(r"(total number of events:) +", r"\1              ", text(f"sysbench/{name}"))
    assert old in whole
    spoiled = whole.replace(old, new.replace("events: ", "events:              "), 1)
    with pytest.raises(ProbeOutputError, match=words):
        Sysbench().parse(Output((), spoiled.encode()))


def test_flags_that_were_cut_are_no_label() -> None:
    cut = text("sysbench/1.0.20-own-cached.txt").replace("(none)", "direct")
    assert all("flags" not in dict(marks) for _, _, marks in read(Sysbench(), cut))


def test_a_time_too_short_for_its_decimals_gives_no_rate() -> None:
    short = text("sysbench/1.0.20-own-threads.txt")
    told = re.sub(r"total time: +\S+", "total time:                          0.0001s", short)
    assert {one[0] for one in read(Sysbench(), told)} == {"sysbench.latency"}


def test_a_note_is_of_the_run_that_follows_it() -> None:
    both = text("sysbench/1.0.20-own-cached.txt") + text("sysbench/0.4.12-fileio.txt")
    assert read(Sysbench(), both) == [
        *read(Sysbench(), text("sysbench/1.0.20-own-cached.txt")),
        *read(Sysbench(), text("sysbench/0.4.12-fileio.txt")),
    ]


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    # without our note, which is a line, nothing names the test of threads
    check(Sysbench(), [f"sysbench/{name}" for name in NAMES if "threads" not in name])


def test_line_ends_of_another_system_change_nothing() -> None:
    for name in NAMES:
        whole = text(f"sysbench/{name}")
        assert read(Sysbench(), whole.replace("\n", "\r\n")) == read(Sysbench(), whole)


def test_colours_blanks_at_the_end_and_indentation_change_nothing() -> None:
    for name in NAMES:
        whole = text(f"sysbench/{name}")
        for each in ("\x1b[32m{}\x1b[0m\n", "    {}\n"):
            assert read(Sysbench(), "".join(map(each.format, whole.splitlines()))) == read(Sysbench(), whole)


def test_files_whose_mode_was_not_seen_are_no_other_test() -> None:
    assert read(Sysbench(), text("sysbench/0.4.12-random.txt").replace("Doing random r/w test\n", "")) == []


# -- the command


def script(root: Path | str, **options: str | int | float) -> list[str]:
    chosen = {"scratch": str(root), "size": "1 MiB", "files": 4, "seconds": 1, **options}
    return list(Sysbench().command(Target(a_node(), options=MappingProxyType(chosen))))


def run_played(tmp_path: Path, **options: str | int | float) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the script with a sysbench that writes down how it was called and where."""
    tools, root, calls = tmp_path / "bin", tmp_path / "root", tmp_path / "calls"
    tools.mkdir()
    root.mkdir()
    (tools / "sysbench").write_text(f'#!/bin/sh\necho "$LC_ALL $PWD $*" >> {calls}\n')
    (tools / "sysbench").chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    done = subprocess.run(
        script(root, **options), env=environment, capture_output=True, text=True, check=False, timeout=30
    )
    assert list(root.iterdir()) == []
    return done, calls.read_text().splitlines()


def test_files_are_made_measured_and_removed_in_a_directory_of_its_own(tmp_path: Path) -> None:
    done, calls = run_played(tmp_path, threads=3)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(call.startswith(f"C {tmp_path}/root/benchconsole.none.") for call in calls)
    told = [call.split("--file-test-mode=")[1].split() for call in calls]
    assert [(words[0], words[-1]) for words in told] == [
        ("seqwr", "run"),
        *((mode, word) for mode in ("seqrd", "rndrd", "rndwr", "rndrw") for word in ("prepare", "run")),
    ]
    for call in calls:
        assert "fileio --file-num=4 --file-total-size=1048576 --file-block-size=16384" in call
        assert ("--file-extra-flags=direct --threads=3 --time=1 --percentile=99" in call) is call.endswith(" run")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"test": "cpu", "primes": 500}, "cpu --threads=1 --time=1 --cpu-max-prime=500 --percentile=99 run"),
        ({"test": "threads", "threads": 8}, "threads --threads=8 --time=1 --percentile=99 run"),
        (
            {"test": "memory", "operation": "read", "memory_block": "8 KiB"},
            "memory --threads=1 --time=1 --memory-block-size=8192 --memory-oper=read .* --percentile=99 run",
        ),
        ({"mode": "rndrd", "direct": 0}, "fileio .* --file-test-mode=rndrd --threads=1 --time=1 --percentile=99 run"),
    ],
)
def test_what_sysbench_is_told(tmp_path: Path, options: dict[str, str | int], told: str) -> None:
    done, calls = run_played(tmp_path, **options)
    assert done.returncode == 0
    assert re.search(rf" {told}$", calls[-1]), calls
    assert done.stdout.startswith(f"benchconsole: sysbench {options.get('test', 'fileio')} size=")


@pytest.mark.parametrize(
    "options",
    [
        {"test": "oltp"},
        {"mode": "rnd"},
        {"threads": 0},
        {"seconds": 0},
        {"size": "1 MB"},
        {"block": "8 MiB"},
        {"files": 0},
        {"direct": 2},
        {"test": "cpu", "primes": 1},
        {"test": "memory", "operation": "none"},
        {"test": "memory", "memory_block": "fast"},
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError):
        script("/tmp", **options)


def test_only_files_are_written() -> None:
    files = Sysbench().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB", "shared": "home"})))
    assert (files.writes, dict(files.shared), Part.DISK in files.alone) == (2**30, {"filesystem:home": 2**30}, True)
    cpu = Sysbench().demands(Target(a_node(), options=MappingProxyType({"test": "cpu"})))
    assert (cpu.writes, dict(cpu.shared), Part.DISK in cpu.alone) == (0, {}, False)


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed here")
def test_a_real_run_is_read(tmp_path: Path) -> None:
    argv = script(tmp_path, mode="rndrw", direct=0, size="4 MiB")
    done = subprocess.run(argv, capture_output=True, check=False, timeout=60)
    found = {one.metric: one.value for one in Sysbench().parse(Output((), done.stdout, done.stderr, done.returncode))}
    printed = dict(re.findall(r"^ +(read|written), MiB/s: +([\d.]+)$", done.stdout.decode(), re.MULTILINE))
    assert found["sysbench.read"] == pytest.approx(float(printed["read"]) * MIB)
    assert found["sysbench.write"] == pytest.approx(float(printed["written"]) * MIB)
    assert list(tmp_path.iterdir()) == []
