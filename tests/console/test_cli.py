"""The command line, in process: what it reads, what it says, and the exit code of each ending."""

import io
import json
from pathlib import Path

import click
import pytest

from benchconsole.console.cli import main
from benchconsole.console.cli.run import command as run_command
from benchconsole.console.exits import Exit
from benchconsole.probes.planning.suites import OURS
from tests.fabrics import SMALL

TRANSCRIPT = Path(__file__).parents[1] / "probes/tools/transcripts"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    """The exit code of one command."""
    monkeypatch.setattr("sys.argv", ["benchconsole", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def test_init_writes_a_file_that_passes_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    assert run(monkeypatch, "init", path) == Exit.PASSED
    assert run(monkeypatch, "check", path) == Exit.PASSED
    assert "leaf1" in capsys.readouterr().out
    assert run(monkeypatch, "init", path) == Exit.BAD_INPUT


def test_check_json_is_in_bits(
    topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "check", topology, "--json") == Exit.PASSED
    found = json.loads(capsys.readouterr().out)
    leaf = next(each for each in found["switches"] if each["name"] == "leaf1")
    assert (leaf["down_bps"], leaf["up_bps"], leaf["ratio"]) == (40e9, 40e9, 1.0)
    assert found["fabric"]["cables"] == 8 + 8 + 2


def test_dry_run_prints_the_plan_and_stores_nothing(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "run", topology, "--dry-run", "--db", tmp_path / "s.db") == Exit.PASSED
    assert "fills leaf1 to spine1" in capsys.readouterr().out
    assert run(monkeypatch, "sessions", "--db", tmp_path / "s.db") == Exit.PASSED
    assert "no session yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["chekc"],
        ["check", "absent.yaml"],
        ["show", "nothing"],
        ["report", "last"],
        ["parse", "ipref3", "x"],
        ["demo", "nosuch"],
        ["run"],
    ],
)
def test_bad_input_ends_with_2_and_one_readable_message(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *arguments) == Exit.BAD_INPUT
    said = capsys.readouterr().err
    assert said.strip()
    assert "Traceback" not in said


def test_parse_gives_base_units_and_refuses_what_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = next(path for path in sorted(TRANSCRIPT.rglob("*.json")) if "iperf3" in str(path) and "3.12" in path.name)
    assert run(monkeypatch, "parse", "iperf3", whole, "--json") == Exit.PASSED
    found = json.loads(capsys.readouterr().out)
    throughput = next(each for each in found if each["metric"] == "iperf3.throughput")
    assert set(throughput) == {"metric", "value", "unit", "labels", "raw"}
    assert throughput["unit"] == "B/s"
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert run(monkeypatch, "parse", "iperf3", cut, "--json") == Exit.BAD_INPUT
    assert run(monkeypatch, "parse", "iperf3", whole, "--exit-status", "1") == Exit.BAD_INPUT
    capsys.readouterr()
    assert run(monkeypatch, "parse", "iperf3", whole, cut, "--json") == Exit.BAD_INPUT
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(line) for line in lines] == [{"file", "measurements"}, {"file", "error"}]


def test_parse_tells_a_last_line_without_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (TRANSCRIPT / "ping/comma-20190709.txt").read_bytes().rstrip(b"\n")
    kept, cut = tmp_path / "kept.txt", tmp_path / "cut.txt"
    kept.write_bytes(b"\xef\xbb\xbf" + whole)
    cut.write_bytes(whole[: whole.rindex(b"rtt") + 20])
    assert run(monkeypatch, "parse", "ping", kept) == Exit.PASSED
    said = capsys.readouterr()
    assert "ping.rtt" in said.out
    assert f"{kept}: its last line has no end and was read as it is: rtt min/avg" in said.err
    assert run(monkeypatch, "parse", "ping", kept, cut, "--json") == Exit.UNTESTED
    said = capsys.readouterr()
    assert [json.loads(line)["unended"]["was_read"] for line in said.out.splitlines()] == [True, False]
    assert [json.loads(line)["unended"]["partial"] for line in said.out.splitlines()] == [False, True]
    assert f"{cut}: its last line has no end and gave nothing, so the result may be partial: rtt min" in said.err


def test_parse_of_a_part_of_an_output_ends_with_3_and_of_none_of_it_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (TRANSCRIPT / "iperf3/tcp-3.12.txt").read_bytes()
    part, none = tmp_path / "part.txt", tmp_path / "none.txt"
    part.write_bytes(whole[: whole.index(b"iperf Done.")])
    none.write_bytes(whole[:200])
    assert run(monkeypatch, "parse", "iperf3", part) == Exit.UNTESTED
    said = capsys.readouterr()
    assert "iperf3.throughput" in said.out
    assert f"{part}: it does not end as its tool does, so the result may be partial; its last line: [SUM]" in said.err
    assert run(monkeypatch, "parse", "iperf3", part, none) == Exit.BAD_INPUT
    (tmp_path / "whole.txt").write_bytes(whole)
    assert run(monkeypatch, "parse", "iperf3", tmp_path / "whole.txt") == Exit.PASSED


def test_parse_names_the_tools_that_the_inventory_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "lscpu.txt"
    alone.write_bytes((TRANSCRIPT / "inventory/lscpu-2.38.txt").read_bytes())
    assert run(monkeypatch, "parse", "inventory", alone) == Exit.BAD_INPUT
    assert "the output of one tool is read under its own name, one of " in capsys.readouterr().err
    assert run(monkeypatch, "parse", "lscpu", alone) == Exit.PASSED
    capsys.readouterr()
    assert run(monkeypatch, "parse", "--help") == Exit.PASSED
    assert "a tool that the inventory asks, such as lscpu" in " ".join(capsys.readouterr().out.split())


def test_the_console_needs_a_terminal(
    topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, topology) == Exit.BAD_INPUT
    assert "no terminal" in capsys.readouterr().err


def test_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == Exit.PASSED
    assert capsys.readouterr().out.startswith("benchconsole ")


WIPING = (
    SMALL.replace("st[1-2]: {role: storage}", "st1: {role: storage, blank_disks: [WD-1]}\n  st2: {role: storage}")
    + "  disks:\n    - {probe: inventory, nodes: st1}\n"
    + "    - {probe: fio-device, nodes: st1, serial: WD-1, size: 8 GiB, seconds: 30}\n"
)


def test_a_dry_run_shows_the_disks_that_would_be_lost_and_asks_nobody(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topology.write_text(WIPING)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    words = ("run", topology, "--suite", "disks", "--db", tmp_path / "s.db")
    assert run(monkeypatch, *words, "--dry-run") == Exit.PASSED
    said = capsys.readouterr().out
    assert "asks before it starts: everything on the disk with serial number WD-1 of node st1 would be lost" in said
    assert "fio-device" in said
    assert run(monkeypatch, *words) == Exit.BAD_INPUT
    assert "only a person at a terminal can confirm that" in capsys.readouterr().err


def test_without_a_terminal_no_page_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(monkeypatch) == Exit.BAD_INPUT
    assert "standard input or output is no terminal, expected one to draw on" in capsys.readouterr().err


def test_the_help_names_the_suites_that_come_with_the_console() -> None:
    (option,) = (each for each in run_command.params if each.name == "suite")
    assert isinstance(option, click.Option)
    assert (option.help or "").endswith(f"or one of ours: {', '.join(OURS)}.")
