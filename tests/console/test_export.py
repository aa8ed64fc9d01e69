"""``benchconsole export``: what goes where, and what is bad input."""

from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.topology.description.resolve import load
from benchconsole.topology.exporters import EXPORTERS, find_exporter
from tests.console.test_cli import run, topology

__all__ = ["topology"]


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_goes_to_standard_output(
    name: str, topology: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "export", topology, "--format", name) == Exit.PASSED
    assert capsys.readouterr().out == find_exporter(name)(load(topology))
    assert run(monkeypatch, "export", topology, "--format", name, "-o", "-") == Exit.PASSED
    assert capsys.readouterr().out == find_exporter(name)(load(topology))


def test_a_file_is_written_once_and_replaced_only_by_force(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.dot"
    command = ("export", topology, "--format", "dot", "-o", path)
    assert run(monkeypatch, *command) == Exit.PASSED
    assert capsys.readouterr().out == f"wrote {path}\n"
    assert path.read_text() == find_exporter("dot")(load(topology))
    assert run(monkeypatch, *command) == Exit.BAD_INPUT
    assert "it is there already" in capsys.readouterr().err
    path.write_text("old")
    assert run(monkeypatch, *command, "--force") == Exit.PASSED
    assert path.read_text().startswith('graph "small" {')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "mermiad"], "unknown format 'mermiad', expected one of dot, mermaid, d2"),
        ([], "Missing option '--format'"),
        (["--format", "dot", "-o", "no/where.dot"], "No such file or directory"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(
    arguments: list[str],
    said: str,
    topology: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, "export", topology, *arguments) == Exit.BAD_INPUT
    found = capsys.readouterr()
    assert (said in found.err, found.err.count("\n"), found.out) == (True, 1, "")


def test_a_broken_topology_lists_its_problems_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("schema: 1\nfabric: broken\nnodes: {n1: {role: cmpute}}\nlinks: [{from: n2, to: n1, speed: 10}]\n")
    assert run(monkeypatch, "export", path, "--format", "dot", "-o", tmp_path / "out.dot") == Exit.BAD_INPUT
    assert "broken.yaml:3:" in capsys.readouterr().err
    assert not (tmp_path / "out.dot").exists()


def test_what_a_language_cannot_say_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.yaml"
    path.write_text("schema: 1\nfabric: bare\nnodes: {n1: {}}\nlinks: []\n")
    assert run(monkeypatch, "export", path, "--format", "containerlab") == Exit.BAD_INPUT
    assert capsys.readouterr().err.startswith("benchconsole: bare has no links")
