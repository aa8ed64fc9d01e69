"""The catalogue: every probe on a line, everything of one, and a page for each that comes with the console."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli.probes import command, list_alone
from benchconsole.console.exits import BadInput
from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.units import duration

PAGES = Path(__file__).parents[2] / "docs/probes"
PROBES = load_probes(safe_mode=True).probes


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_probe_says_what_it_does_and_where_it_comes_from_in_the_width_of_the_terminal(width: int) -> None:
    lines = CliRunner().invoke(command, [], env={"COLUMNS": str(width)}).stdout.splitlines()
    assert max(map(len, lines)) <= width
    starts = [index for index, line in enumerate(lines) if line.split()[0] in PROBES and not line.startswith(" ")]
    assert [lines[index].split()[0] for index in starts] == list(PROBES)
    for probe, begin, end in zip(PROBES.values(), starts, [*starts[1:], len(lines) - 1], strict=True):
        words = " ".join(lines[begin:end]).split()
        assert words[1:3] == [probe.shape.value, probe.safety.value]
        said = {word.rstrip(",") for word in words}
        first, last = probe.summary.split()[0].rstrip(","), probe.source.split()[-1]
        assert {first, last, *list_alone(probe)} <= said
        assert duration(probe.estimate(probe.options)) in " ".join(words)


def test_of_a_named_probe_everything_is_told() -> None:
    said = CliRunner().invoke(command, ["iperf3"]).stdout
    assert "runs on two nodes; loads what it tests" in said
    assert "iperf3 (Debian package iperf3)" in said
    assert "iperf3.throughput [B/s]" in said


def test_the_json_has_what_a_scheduler_of_ones_own_would_want() -> None:
    found = json.loads(CliRunner().invoke(command, ["--json", "fio"]).stdout)["probes"]
    assert [each["name"] for each in found] == ["fio"]
    assert found[0]["alone_on"] == ["cpu", "disk", "memory"]
    assert found[0]["seconds"] == PROBES["fio"].estimate(PROBES["fio"].options)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown probe 'fioo'"):
        CliRunner().invoke(command, ["fioo"], catch_exceptions=False, standalone_mode=False)


@pytest.mark.parametrize("probe", PROBES.values(), ids=lambda probe: probe.name)
def test_each_says_what_it_is_taken_from_what_it_loads_and_has_a_page(probe: Probe) -> None:
    assert probe.source, "expected the report, paper or manual that it is taken from"
    page = (PAGES / f"{probe.name.removesuffix('-set')}.md").read_text()
    assert probe.safety.value in page
    assert "```yaml" in page
    if probe.safety is Safety.READS:
        assert list_alone(probe) == ()
