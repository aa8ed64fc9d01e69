"""The run of fio on a node: its script, the scratch directory, room, signals and options."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes import scratch
from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import output


def script(root: Path | str, **options: str | int | float) -> list[str]:
    chosen = {"scratch": str(root), "size": "1 MiB", "seconds": 1, **options}
    return list(Fio().command(Target(a_node(), options=MappingProxyType(chosen))))


@pytest.fixture
def played(tmp_path: Path) -> dict[str, str]:
    """An environment whose fio and df are played: they write down how they were called."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "fio").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$*" >> "$CALLS"\n'
        'for word; do case $word in --directory=*) touch "${word#*=}/data";; esac; done\n'
        '[ -z "$HANGS" ] || { echo ready > "$HANGS"; exec sleep 60; }\nexit "${FAILS:-0}"\n'
    )
    (tools / "df").write_text('#!/bin/sh\necho head\necho "some device $DF /a b"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    calls = str(tmp_path / "calls")
    return {"PATH": f"{tools}:{os.environ['PATH']}", "CALLS": calls, "DF": "100000 1000 99000 1%", "HANGS": ""}


def run(argv: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=30)


def test_four_runs_one_after_the_other_in_a_directory_of_its_own(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch with blanks; and 'quotes'"
    root.mkdir()
    done = run(script(root), {**played, "BENCHCONSOLE_SESSION": "s-17"})
    assert (done.returncode, done.stderr, list(root.iterdir())) == (0, "", [])
    calls = Path(played["CALLS"]).read_text().splitlines()
    assert [call.split("--rw=")[1].split()[0] for call in calls] == ["write", "read", "randwrite", "randread"]
    for call in calls:
        assert f"--directory={root}/benchconsole.s-17." in call
        for guard in (
            "--unlink=1",
            "--allow_mounted_write=0",
            "--direct=1",
            "--size=1048576",
            "--time_based",
            "--runtime=1",
        ):
            assert guard in call


def test_jobs_depth_and_mix_are_passed_on(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    assert run(script(root, jobs=3, depth=8, mix=70), played).returncode == 0
    calls = Path(played["CALLS"]).read_text().splitlines()
    assert [call.split("--name=")[1].split()[0] for call in calls] == [
        "sequential-write", "sequential-read", "random-write", "random-read", "random-mixed",
    ]  # fmt: skip
    assert all("--ioengine=libaio --numjobs=3 --iodepth=8 " in call for call in calls)
    assert ["--rwmixread=70" in call for call in calls] == [False] * 4 + [True]
    declared = Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB", "jobs": 3, "mix": 70})))
    assert declared.writes == 5 * 3 * 2**30


def test_room_for_the_files_of_all_jobs_is_asked_for(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    tight = {**played, "DF": "100000 85000 15000 85%"}
    assert run(script(root, jobs=4), tight).returncode == 0
    assert run(script(root, jobs=5), tight).returncode == scratch.REFUSED


@pytest.mark.parametrize(
    ("df", "refused"),
    [
        ("100000 1000 99000 1%", False),
        ("100000 98000 2000 98%", True),  # less than twice the size
        ("100000 89500 10500 90%", True),  # less than a tenth would be left
        ("100000 88000 12000 88%", False),
        ("- - - -", True),
        ("", True),
    ],
)
def test_a_scratch_without_room_is_refused_before_anything_is_written(
    tmp_path: Path, played: dict[str, str], df: str, refused: bool
) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    done = run(script(root), {**played, "DF": df})
    assert (done.returncode == scratch.REFUSED and "refused" in done.stderr) is refused
    assert Path(played["CALLS"]).exists() is not refused
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("root", ["relative", "/nowhere/at/all", "/tmp/with:colon", ""])
def test_a_scratch_that_cannot_be_used_is_refused(played: dict[str, str], root: str) -> None:
    done = run(script(root), played)
    assert (done.returncode, "refused" in done.stderr) == (scratch.REFUSED, True)
    assert not Path(played["CALLS"]).exists()


async def test_a_refusal_of_the_node_is_no_failed_tool() -> None:
    said = Output((), b"", b"benchconsole: refused: /scratch has no room\n", scratch.REFUSED, node="n1")
    with pytest.raises(RemoteError) as raised:
        await Fio().run(FakeContact(FakeRemote("n1").when("sh", answers=said)), Target(a_node()))
    failure = raised.value.failure
    assert (failure.stage, failure.detail, failure.node) == (FailedAt.REFUSED, "/scratch has no room", "n1")
    assert raised.value.output is not None


def test_what_it_writes_is_declared_and_taken_from_what_all_share() -> None:
    alone = Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB"})))
    assert (alone.writes, dict(alone.shared), Part.DISK in alone.alone) == (4 * 2**30, {}, True)
    shared = Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB", "shared": "home"})))
    assert dict(shared.shared) == {"filesystem:home": 2**30}
    with pytest.raises(PlanError):
        Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GB/s"})))


def test_a_failing_run_ends_all_and_removes_the_directory(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    assert run(script(root), {**played, "FAILS": "5"}).returncode == 5
    assert len(Path(played["CALLS"]).read_text().splitlines()) == 1
    assert list(root.iterdir()) == []


def test_a_missing_tool_is_told_as_the_shell_would(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "mktemp", "df", "awk", "rm", "id", "ls", "expr"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    assert run(script(tmp_path), {"PATH": str(tools)}).returncode == 127


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_fio_and_removes_the_directory(tmp_path: Path, played: dict[str, str], number: int) -> None:
    root, ready = tmp_path / "scratch", tmp_path / "ready"
    root.mkdir()
    os.mkfifo(ready)
    with subprocess.Popen(script(root), env={**played, "HANGS": str(ready)}, stdout=-1, stderr=-1) as going:
        assert ready.read_text() == "ready\n"
        assert len(list(root.iterdir())) == 1
        going.send_signal(number)
        assert going.wait(timeout=10) == 128 + number
    assert list(root.iterdir()) == []


@pytest.mark.skipif(
    shutil.which("fio") is None and not os.environ.get("CI"), reason="fio is not installed here (in CI this fails)"
)
def test_a_real_run_is_read(tmp_path: Path) -> None:
    target = Target(
        a_node(), options=MappingProxyType({"scratch": str(tmp_path), "size": "1 MiB", "seconds": 1, "direct": 0})
    )
    done = subprocess.run(Fio().command(target), capture_output=True, check=False, timeout=60)
    found = Fio().parse(Output((), done.stdout, done.stderr, done.returncode))
    assert len(found) == 20
    assert {dict(one.labels)["direct"] for one in found} == {"0"}
    assert list(tmp_path.iterdir()) == []


async def test_the_time_allowed_follows_the_options() -> None:
    here = FakeRemote("n1", lenient=True)
    await Fio().run(FakeContact(here), Target(a_node(), options=MappingProxyType({"seconds": 60})))
    assert here.calls[0].timeout > Fio().estimate({"seconds": 60}) > 240


@pytest.mark.parametrize(
    "options",
    [
        {"size": "much"},
        {"size": 64},
        {"size": "100 B"},
        {"seconds": 0},
        {"seconds": "5 s"},
        {"direct": 2},
        {"large": "1M"},
        {"jobs": 0},
        {"depth": 0},
        {"depth": 4, "direct": 0},
        {"mix": 101},
    ],
)
def test_options_that_cannot_be_read_are_refused(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError):
        Fio().command(Target(a_node(), options=MappingProxyType(options)))


def test_a_failed_script_gives_no_number() -> None:
    with pytest.raises(ProbeOutputError, match="refused"):
        Fio().parse(replace(output("fio/own-3.33.json"), exit_status=3, stderr=b"benchconsole: refused: no room\n"))


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"seconds": 5, "size": "512 B"}, 24.0),
        ({"seconds": 5, "size": "100 MB"}, 26.0),  # a second for the file of each of two runs that read
        ({"seconds": 5, "size": "100 MB", "jobs": 4}, 32.0),
        ({"seconds": 5, "size": "100 MB", "mix": 70}, 33.0),
    ],
)
def test_the_files_of_runs_that_read_are_laid_out_before(options: dict[str, str | int], seconds: float) -> None:
    assert Fio().estimate(options) == pytest.approx(seconds, abs=1e-4)
