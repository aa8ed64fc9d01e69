"""dd: every language and family of its one line, what may not be read from it, and the script run for real."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Target
from benchconsole.probes.readers.numbers import format_size
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.dd.probe import Dd
from tests.probes.tools.captures import ROOT, output, read, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

FULL = "dd/9.1-full.txt"
NAMES = sorted(f"dd/{path.name}" for path in (ROOT / "dd").iterdir() if path.name != "9.1-full.txt")
TWO_GIB = 2147483648
# bytes and seconds as they stand in each transcript
SAYS = {
    "5.97.txt": [(1073741824, 5.02513)],
    "8.4.txt": [(TWO_GIB, 10.1158)],
    "8.22-ja-last-line.txt": [(TWO_GIB, 10.1158)],
    "8.30-two-runs.txt": [(TWO_GIB, 19.8841), (TWO_GIB, 10.2261)],
    "8.32-commands.txt": [(TWO_GIB, 19.8841), (TWO_GIB, 10.2261)],
    "9.1-de.txt": [(67108864, 0.0499782)],
    "9.1-fr.txt": [(67108864, 0.0476836)],
    "9.1-fr-latin1.txt": [(67108864, 0.0525367)],
    "9.1-nl.txt": [(67108864, 0.0518404)],
    "9.1-uk.txt": [(67108864, 0.0488177)],
    "9.1-zh.txt": [(67108864, 0.0477802)],
    "9.1-progress.txt": [(50331648, 3.28359)],
    "busybox-1.36.txt": [(TWO_GIB, 10.1158)],
    "toybox-0.8.txt": [(TWO_GIB, 10.115)],
    "uutils-0.0.26.txt": [(TWO_GIB, 10.1)],
    "freebsd-14.txt": [(TWO_GIB, 10.1158)],
    "real-5.2-seconds.txt": [(10485760, 0.028418)],
    "own-9.1.txt": [(67108864, 0.0656832), (67108864, 0.10292)],
    "own-9.1-cached.txt": [(67108864, 0.0964603), (67108864, 0.0558961)],
    "own-9.1-from-cache.txt": [(67108864, 0.0854288), (67108864, 0.00461765)],
}


def _text(name: str) -> str:
    return (ROOT / name).read_bytes().decode(errors="replace")


def _parsed(stdout: str, stderr: str = "", status: int = 0) -> list[float]:
    return [one.value for one in Dd().parse(Output((), stdout.encode(), stderr.encode(), status))]


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Dd(), [output(name) for name in NAMES])


def test_every_transcript_is_known_here() -> None:
    assert [f"dd/{name}" for name in sorted(SAYS)] == NAMES


@pytest.mark.parametrize("name", SAYS)
def test_the_rate_is_bytes_by_seconds_in_every_language_and_family(name: str) -> None:
    found = Dd().parse(output(f"dd/{name}"))
    assert [one.value for one in found] == [pytest.approx(size / seconds, rel=1e-9) for size, seconds in SAYS[name]]
    assert {one.metric for one in found} == {"dd.throughput"}


def test_a_shell_that_took_the_last_line_end_away_took_no_number() -> None:
    for name in ("dd/8.4.txt", "dd/freebsd-14.txt"):
        assert _parsed(text(name).rstrip("\n")) == _parsed(text(name))
        with pytest.raises(ProbeOutputError):
            _parsed(text(name).rstrip("\n")[:-1])


def test_standard_error_is_read_like_standard_output() -> None:
    assert _parsed("", text("dd/8.4.txt")) == _parsed(text("dd/8.4.txt"))


def test_our_marks_say_what_was_done_and_others_are_numbered() -> None:
    ours = [dict(one.labels) for one in Dd().parse(output("dd/own-9.1.txt"))]
    sizes = {"size": "64MiB", "block": "1MiB", "direct": "1"}
    assert ours == [{"operation": "write", "end_fsync": "1", **sizes}, {"operation": "read", **sizes}]
    cached = [dict(one.labels) for one in Dd().parse(output("dd/own-9.1-from-cache.txt"))]
    conditions = [(one["direct"], one.get("end_fsync"), one.get("cached")) for one in cached]
    assert conditions == [("0", "0", None), ("0", None, "possible")]
    others = [dict(one.labels) for one in Dd().parse(output("dd/8.30-two-runs.txt"))]
    assert others == [{"number": number, "size": "2GiB", "block": "1MiB"} for number in ("1", "2")]


def test_a_command_says_what_was_done() -> None:
    sizes = {"size": "2GiB", "block": "1MiB"}
    assert [dict(one.labels) for one in Dd().parse(output("dd/8.32-commands.txt"))] == [
        {"number": "1", "operation": "write", "direct": "1", "end_fsync": "1", **sizes},
        {"number": "2", "operation": "read", "direct": "0", "cached": "possible", **sizes},
    ]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("dd if=/dev/zero of=/mnt/f bs=1M", {"operation": "write", "direct": "0", "end_fsync": "0"}),
        ("dd if=/dev/urandom of=f oflag=dsync", {"operation": "write", "direct": "0", "end_fsync": "1"}),
        ("dd if=/dev/zero of=f conv=notrunc,fdatasync", {"operation": "write", "direct": "0", "end_fsync": "1"}),
        ("sudo dd of=/dev/null if=/dev/sdb iflag=direct", {"operation": "read", "direct": "1"}),
        ("dd if=/mnt/f of=/dev/null", {"operation": "read", "direct": "0", "cached": "possible"}),
        ("dd if=/dev/zero of=/dev/null", {}),
        ("dd if=/dev/zero of=/dev/shm/f", {}),
        ("dd if=/mnt/f of=/mnt/g", {}),
        ("dd of=/mnt/f", {}),
        ("dd if=/dev/zero of=f if=/mnt/g", {}),
        ("dd if=/dev/zero of=f; dd if=f of=/dev/null", {}),
        ("dd if=/dev/zero of=f | cat", {}),
        ("echo dd if=/dev/zero of=f", {}),
    ],
)
def test_what_a_command_tells(command: str, told: dict[str, str]) -> None:
    printed = f"2048+0 records in\n2048+0 records out\n{GOOD}"
    (above,) = Dd().parse(Output((), f"$ {command}\n{printed}".encode()))
    assert {k: v for k, v in above.labels if k not in ("number", "size", "block")} == told


def test_a_command_that_was_said_is_that_of_all_runs_and_one_above_a_run_of_its_own() -> None:
    printed = f"2048+0 records in\n2048+0 records out\n{GOOD}"
    argv = ("dd", "if=/dev/zero", "of=/mnt/f")
    for stdout, stderr in ((printed * 2, ""), ("", printed * 2)):
        found = Dd().parse(Output(argv, stdout.encode(), stderr.encode()))
        assert [dict(one.labels)["operation"] for one in found] == ["write", "write"]
    found = Dd().parse(Output((), f"$ dd if=f of=/dev/null\n{printed * 2}".encode()))
    assert [dict(one.labels).get("operation") for one in found] == ["read", None]


GOOD = "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 10.1158 s, 212 MB/s\n"


@pytest.mark.parametrize(
    "line",
    [
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 10.1158 s, 202 MB/s",
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 1.1158 s, 212 MB/s",
        "214748364 bytes (2.1 GB, 2.0 GiB) copied, 10.1158 s, 212 MB/s",
        "2147483648 bytes (1.1 GB, 2.0 GiB) copied, 10.1158 s, 212 MB/s",
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 0.1 s, 14.2 GB/s",
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 0 s, Infinity B/s",
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, nan s, 212 MB/s",
        "0 bytes copied, 0.000172 s, 0.0 kB/s",
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, -10.1158 s, 212 MB/s",
        "2 147 483 648 octets (2,1 GB, 2,0 GiB) copiés, 10,1158 s, 212 MB/s",
    ],
)
def test_numbers_that_contradict_each_other_or_cannot_be_are_refused(line: str) -> None:
    assert _parsed(GOOD) == [pytest.approx(TWO_GIB / 10.1158)]
    with pytest.raises(ProbeOutputError):
        _parsed(f"2048+0 records in\n2048+0 records out\n{line}\n")


@pytest.mark.parametrize(
    "records",
    [
        "513+0 records in\n512+0 records out\n",
        "2048+0 records in\n2047+1 records out\n",
        "2048+0 records in\n2049+0 records out\n",
    ],
)
def test_a_block_that_was_read_and_not_written_is_a_failure(records: str) -> None:
    with pytest.raises(ProbeOutputError, match="records"):
        _parsed(records + GOOD)


@pytest.mark.parametrize(
    "complaint",
    [
        "dd: error writing 'data': No space left on device",
        "/usr/bin/dd: Fehler beim Schreiben von 'data': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        "bash: line 1: dd: command not found",
        "^C513+0 records in",
        "cp: Input/output error",
    ],
)
def test_a_complaint_is_a_failure_whatever_rate_was_printed(complaint: str) -> None:
    with pytest.raises(ProbeOutputError):
        _parsed(f"{complaint}\n2048+0 records in\n2048+0 records out\n{GOOD}")
    with pytest.raises(ProbeOutputError):
        _parsed(GOOD, complaint + "\n")


def test_a_full_disk_and_a_failed_run_give_their_reason() -> None:
    with pytest.raises(ProbeOutputError, match="No space left on device"):
        Dd().parse(output(FULL))
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        _parsed(GOOD, status=1)


def test_progress_is_no_result() -> None:
    progress = text("dd/9.1-progress.txt").split("\n", 1)[0]
    for line in (progress, progress.replace("\r", "\n"), progress + "\r"):
        assert read(Dd(), line + "\n") == []


def test_a_run_that_moved_less_than_was_asked_for_is_refused() -> None:
    short = text("dd/own-9.1.txt").replace("size=67108864", "size=134217728", 1)
    with pytest.raises(ProbeOutputError, match="134217728 bytes as they were asked for"):
        Dd().parse(Output((), short.encode()))


def test_records_that_contradict_each_other_tell_no_block() -> None:
    whole = text("dd/5.97.txt")
    spoiled = whole.replace("1024+0 records out", "4+0 records out")
    assert spoiled != whole
    ((metric, value, marks),) = read(Dd(), whole)
    assert dict(marks)["block"] == "1MiB"
    assert read(Dd(), spoiled) == [(metric, value, tuple(mark for mark in marks if mark[0] != "block"))]


def test_a_mark_that_is_glued_to_what_stands_before_is_still_a_mark() -> None:
    whole = text("dd/own-9.1.txt")
    glued = whole.replace("\nbenchconsole-dd operation=read", "benchconsole-dd operation=read")
    assert read(Dd(), glued) == [one for one in read(Dd(), whole) if ("operation", "read") in one[2]]
    cut = whole.replace("operation=read size=67108864", "operation=read size=")
    assert read(Dd(), cut) == [one for one in read(Dd(), whole) if ("operation", "write") in one[2]]


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Dd(), NAMES)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (512, "512B"),
        (262144, "256KiB"),
        (1000, "1000B"),
        (2**20, "1MiB"),
        (1.25 * 2**30, "1.25GiB"),
        (1342177281, "1.25GiB"),
        (3 * 2**40, "3TiB"),
    ],
)
def test_sizes_are_told_the_same_whether_exact_or_rounded(size: float, told: str) -> None:
    assert format_size(size) == told


# The script itself, run here: it is the part that could hurt a node.


def _target(root: Path | str, **options: str | int) -> Target:
    return Target(
        a_node(), options=MappingProxyType({"scratch": str(root), "size": "1 MiB", "block": "64 KiB", **options})
    )


def _run(target: Target, **environment: str) -> Output:
    argv = list(Dd().command(target))
    done = subprocess.run(argv, env={**os.environ, **environment}, capture_output=True, check=False, timeout=60)
    return Output(tuple(argv), done.stdout, done.stderr, done.returncode)


@pytest.fixture
def called(tmp_path: Path) -> dict[str, str]:
    """An environment in which dd writes down its arguments before it does what it is told, without direct I/O."""
    tools = tmp_path / "bin"
    tools.mkdir()
    script = (
        '#!/bin/sh\necho "$*" >> "$CALLS"\n'
        'for word; do shift; case $word in [io]flag=direct) ;; *) set -- "$@" "$word";; esac; done\n'
        f'exec {shutil.which("dd")} "$@"\n'
    )
    (tools / "dd").write_text(script)
    (tools / "dd").chmod(0o755)
    return {"PATH": f"{tools}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls"), "BENCHCONSOLE_SESSION": "s-7"}


def test_it_writes_and_reads_past_the_cache_in_a_directory_of_its_own(tmp_path: Path, called: dict[str, str]) -> None:
    root = tmp_path / "scratch with blanks; and 'quotes'"
    root.mkdir()
    ended = _run(_target(root), **called)
    assert (ended.exit_status, ended.error_text, list(root.iterdir())) == (0, "", [])
    write, reading = Path(called["CALLS"]).read_text().splitlines()
    assert write.startswith(f"if=/dev/zero of={root}/benchconsole.s-7.")
    assert write.endswith("/data bs=65536 count=16 oflag=direct conv=fsync")
    assert re.fullmatch(r"if=.*/data of=/dev/null bs=65536 count=16 iflag=direct", reading)
    assert [dict(one.labels)["operation"] for one in Dd().parse(ended)] == ["write", "read"]


def test_without_direct_io_the_file_is_forgotten_before_it_is_read(tmp_path: Path, called: dict[str, str]) -> None:
    ended = _run(_target("/var/tmp", direct=0), **called)
    write, forget, reading = Path(called["CALLS"]).read_text().splitlines()
    assert ended.exit_status == 0, ended.text
    assert (write.endswith("conv=fsync"), "count=0" in forget, reading.endswith("iflag=nocache")) == (True, True, True)
    assert {dict(one.labels)["direct"] for one in Dd().parse(ended)} == {"0"}


def test_a_file_that_the_kernel_keeps_is_not_read(tmp_path: Path, called: dict[str, str]) -> None:
    keeps = tmp_path / "bin" / "fincore"
    keeps.write_text("#!/bin/sh\necho 1048576\n")
    keeps.chmod(0o755)
    ended = _run(_target(tmp_path, direct=0), **called)
    assert ended.exit_status == 1
    with pytest.raises(ProbeOutputError, match="page cache keeps 1048576 of 1048576 bytes"):
        Dd().parse(ended)
    assert _run(_target(tmp_path, direct=0, drop=0), **called).exit_status == 0


def test_a_failing_run_is_told_and_leaves_nothing(tmp_path: Path, called: dict[str, str]) -> None:
    failing = tmp_path / "bin" / "dd"
    failing.write_text("#!/bin/sh\necho \"dd: failed to open 'x': Invalid argument\" >&2; exit 1\n")
    root = tmp_path / "scratch"
    root.mkdir()
    ended = _run(_target(root), **called)
    assert (ended.exit_status, list(root.iterdir())) == (1, [])
    with pytest.raises(ProbeOutputError, match="Invalid argument"):
        Dd().parse(ended)


def test_a_missing_tool_is_told_as_the_shell_would(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "mktemp", "df", "awk", "rm", "id", "ls", "expr"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    ended = _run(_target(tmp_path), PATH=str(tools))
    assert (ended.exit_status, "dd: command not found" in ended.error_text) == (127, True)


def test_the_defaults_are_those_of_the_report_and_what_it_takes_is_declared() -> None:
    target = Target(a_node(), options=MappingProxyType({"shared": "home"}))
    assert list(Dd().command(target))[4:] == ["/tmp", "2147483648", "1048576", "1", "1", "1"]
    demands = Dd().demands(target)
    assert (demands.writes, dict(demands.shared)) == (2**31, {"filesystem:home": 2**31})
    assert Part.DISK in demands.alone
    assert Dd().estimate({"rate": "200 MB/s"}) == pytest.approx(2 + 2 * 2**31 / 200e6)


@pytest.mark.parametrize(
    "options",
    [
        {"size": "3 MB", "block": "1 MiB"},
        {"size": "much"},
        {"block": "1000 B", "size": "1000 B"},
        {"direct": 2},
        {"end_fsync": "yes"},
        {"scratch": "relative"},
        {"rate": "fast"},
        {"rate": "0 MB/s"},
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, str | int]) -> None:
    target = Target(a_node(), options=MappingProxyType(options))
    with pytest.raises(PlanError, match=f"dd option (?:{'|'.join(options)})"):
        Dd().demands(target)
