import re
import shutil
import subprocess
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.h5perf.probe import H5perf
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, output, read, said, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

NAMES = sorted(path.name for path in (ROOT / "h5perf").iterdir() if "zeros" not in path.name)
MIB = 2**20


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(H5perf(), [output(f"h5perf/{name}") for name in NAMES])


def rates(name: str) -> dict[tuple[str, str, str, str, str], float]:
    """Throughput by interface, way, timing, statistic and tasks."""
    found = {}
    for metric, value, marks in said(H5perf().parse(output(f"h5perf/{name}"))):
        told = dict(marks)
        key = (told["api"], metric.removeprefix("h5perf."), told["timing"], told["statistic"], told["tasks"])
        assert key not in found
        found[key] = float(value)
    return found


def test_every_number_of_a_serial_report() -> None:
    printed = {
        ("posix", "write", "transfer"): (4327.93, 3364.92, 2423.93),
        ("posix", "write", "open-close"): (4161.27, 3275.09, 2378.14),
        ("posix", "read", "transfer"): (9222.05, 6934.41, 4787.34),
        ("posix", "read", "open-close"): (9174.14, 6904.44, 4767.61),
        ("hdf5", "write", "transfer"): (4143.03, 3408.44, 2566.21),
        ("hdf5", "write", "open-close"): (3890.14, 3080.46, 2219.43),
        ("hdf5", "read", "transfer"): (10349.92, 9063.87, 7407.98),
        ("hdf5", "read", "open-close"): (9744.28, 8126.20, 6252.57),
    }
    expected = {
        (*key, statistic, "1"): value * MIB
        for key, values in printed.items()
        for statistic, value in zip(("max", "mean", "min"), values, strict=True)
    }
    assert rates("serial-iterations-1.10.8.txt") == pytest.approx(expected, rel=1e-9)


def test_a_parallel_report_has_interfaces_tasks_and_times() -> None:
    found = rates("parallel-1.8.5.txt")
    assert len(found) == 24
    assert found["posix", "write", "transfer", "max", "4"] == pytest.approx(812.40 * MIB)
    assert found["posix", "read", "open-close", "min", "4"] == pytest.approx(914.29 * MIB)
    assert found["mpiio", "write", "raw", "mean", "4"] == pytest.approx(690 * MIB)
    assert found["mpiio", "write", "transfer", "max", "4"] == pytest.approx(512 * MIB)
    assert found["mpiio", "write", "transfer", "max", "2"] == pytest.approx(256 * MIB)
    assert found["phdf5", "write", "transfer", "min", "4"] == pytest.approx(380.95 * MIB)
    last = dict(H5perf().parse(output("h5perf/parallel-1.8.5.txt"))[-1].labels)
    assert (last["size"], last["block"], last["method"]) == ("128.00MiB", "1048576B", "collective")
    assert "driver" not in last


def test_raw_reading_of_the_serial_program_is_another_number_again() -> None:
    whole = text("h5perf/serial-raw-1.10.8.txt")
    rows = "Maximum Throughput: 2557.50 MB/s\n                Average Throughput: 2181.13 MB/s"
    assert whole.count(rows) == 2  # under Raw Data Read and under Read Open-Close
    found = rates("serial-raw-1.10.8.txt")
    assert len(found) == 30
    assert found["posix", "write", "raw", "max", "1"] == pytest.approx(1669.04 * MIB)
    assert found["posix", "read", "open-close", "mean", "1"] == pytest.approx(2181.13 * MIB)
    assert ("posix", "read", "raw", "max", "1") not in found


def test_small_buffers_and_files_are_told() -> None:
    labels = dict(H5perf().parse(output("h5perf/serial-1.10.8.txt"))[0].labels)
    assert (labels["block"], labels["size"], labels["iterations"]) == ("200B", "0.02MiB", "1")


def test_a_report_printed_twice_is_told_apart() -> None:
    whole = text("h5perf/serial-1.10.8.txt")
    found = H5perf().parse(Output((), (whole + whole).encode()))
    assert [dict(one.labels).get("run") for one in found] == [None] * 24 + ["2"] * 24


def test_rows_of_zeros_are_a_failure_although_the_exit_status_is_0() -> None:
    with pytest.raises(ProbeOutputError, match="positive"):
        H5perf().parse(output("h5perf/serial-zeros-1.10.8.txt"))


@pytest.mark.parametrize(
    "complaint",
    [
        "*** Assertion failed (do_fopen failed) at line  214 in ../tools/src/h5perf/sio_engine.c",
        "POSIX File Open failed(/nowhere/#sio_tmp.posix)",
        "HDF5-DIAG: Error detected in HDF5 (1.10.8) thread 1:",
    ],
)
def test_a_complaint_on_either_stream_is_a_failure(complaint: str) -> None:
    whole = output("h5perf/serial-1.10.8.txt")
    for spoiled in (
        replace(whole, stderr=f"{complaint}\n".encode()),
        replace(whole, stdout=whole.stdout + f"{complaint}\n".encode()),
    ):
        with pytest.raises(ProbeOutputError, match="without errors"):
            H5perf().parse(spoiled)


@pytest.mark.parametrize("value", ["0.00", "-1.00", "nan", "inf", "-nan", "1e999", "3364.92x", "1.0"])
def test_no_absurd_number_becomes_a_reading(value: str) -> None:
    spoiled = text("h5perf/serial-iterations-1.10.8.txt").replace("3364.92", value)
    assert set(read(H5perf(), spoiled)) <= set(said(H5perf().parse(output("h5perf/serial-iterations-1.10.8.txt"))))


def test_rows_in_another_order_are_refused() -> None:
    spoiled = text("h5perf/serial-iterations-1.10.8.txt").replace("4327.93", "327.93")
    with pytest.raises(ProbeOutputError, match="in this order"):
        H5perf().parse(Output((), spoiled.encode()))


def test_the_page_cache_is_named_where_it_could_hold_the_data() -> None:
    whole = text("h5perf/serial-iterations-1.10.8.txt")
    for memory, found in ((10**9, "possible"), (2**23, None)):
        note = f"benchconsole: h5perf_serial size=16777216 memory={memory}\n"
        assert dict(H5perf().parse(Output((), (note + whole).encode()))[0].labels).get("cached") == found


def test_a_real_report_of_the_parallel_program() -> None:
    found: dict[tuple[str, str, str], list[float]] = {}
    for metric, value, marks in said(H5perf().parse(output("h5perf/real-parallel-1.10.5.txt"))):
        told = dict(marks)
        assert (told["api"], told["tasks"], told["size"]) == ("phdf5", "1", "0.25MiB")
        key = (told["block"], metric.removeprefix("h5perf."), told["timing"])
        found.setdefault(key, []).append(float(value))
    assert {len(values) for values in found.values()} == {3}
    assert len(found) == 8
    assert found["131072B", "write", "transfer"] == pytest.approx([829.18 * MIB, 238.18 * MIB, 54.01 * MIB])
    assert found["131072B", "read", "open-close"] == pytest.approx([457.69 * MIB, 218.49 * MIB, 111.64 * MIB])
    assert found["262144B", "write", "open-close"] == pytest.approx([300.98 * MIB, 186.83 * MIB, 128.78 * MIB])
    assert found["262144B", "read", "transfer"] == pytest.approx([1744.97 * MIB, 905.41 * MIB, 602.51 * MIB])


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(H5perf(), [f"h5perf/{name}" for name in NAMES])


def test_colours_and_indentation_change_nothing() -> None:
    for name in NAMES:
        whole = text(f"h5perf/{name}")
        for each in ("\x1b[32m{}\x1b[0m\n", "    {}\n"):
            assert read(H5perf(), "".join(map(each.format, whole.splitlines()))) == read(H5perf(), whole)


def test_line_ends_of_another_system_change_nothing() -> None:
    for name in NAMES:
        assert read(H5perf(), text(f"h5perf/{name}").replace("\n", "\r\n")) == read(H5perf(), text(f"h5perf/{name}"))


# -- the command


def script(root: Path | str, **options: str | int | float) -> list[str]:
    chosen = {"scratch": str(root), "size": "2 MiB", **options}
    return list(H5perf().command(Target(a_node(), options=MappingProxyType(chosen))))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "-A posix,hdf5 -e 2048K -x 1024K -i 3 -v sec2"),
        ({"apis": "hdf5", "driver": "stdio", "iterations": 1, "write_only": 1, "buffer": "64 KiB"},
         "-A hdf5 -e 2048K -x 64K -i 1 -v stdio -w"),
    ],
)  # fmt: skip
def test_what_h5perf_is_told(tmp_path: Path, options: dict[str, str | int], told: str) -> None:
    tools, root = tmp_path / "bin", tmp_path / "root"
    tools.mkdir()
    root.mkdir()
    (tools / "h5perf_serial").write_text('#!/bin/sh\necho "$LC_ALL $HDF5_PREFIX $*" >&2\n')
    (tools / "h5perf_serial").chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    done = subprocess.run(
        script(root, **options), env=environment, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"C {root}/benchconsole\.none\.\w+ {re.escape(told)}\n", done.stderr)
    assert re.fullmatch(r"benchconsole: h5perf_serial size=2097152 memory=\d+\n", done.stdout)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"size": "1 MB/s"},
        {"size": "3 MiB", "buffer": "2 MiB"},
        {"buffer": "1000 B"},
        {"iterations": 0},
        {"apis": "mpiio"},
        {"driver": "core"},
        {"write_only": 2},
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError):
        script("/tmp", **options)


def test_what_it_writes_and_how_long_is_declared() -> None:
    options: dict[str, str | int | float] = {"size": "1 GiB", "iterations": 2, "shared": "home", "rate": "1 GiB/s"}
    demands = H5perf().demands(Target(a_node(), options=MappingProxyType(options)))
    assert (demands.writes, dict(demands.shared)) == (2**30, {"filesystem:home": 2**30})
    assert H5perf().space(options) == 2**30
    assert H5perf().estimate(options) == pytest.approx(3 + 8)
    assert H5perf().estimate({**options, "apis": "posix", "write_only": 1}) == pytest.approx(3 + 2)


@pytest.mark.skipif(shutil.which("h5perf_serial") is None, reason="h5perf_serial is not installed here")
def test_a_real_run_is_read(tmp_path: Path) -> None:
    done = subprocess.run(script(tmp_path), capture_output=True, check=False, timeout=60)
    found = [one.value for one in H5perf().parse(Output((), done.stdout, done.stderr, done.returncode))]
    printed = re.findall(r"Throughput: +([\d.]+) MB/s", done.stdout.decode())
    assert found == pytest.approx([float(each) * MIB for each in printed])
    assert len(found) == 24
    assert list(tmp_path.iterdir()) == []
