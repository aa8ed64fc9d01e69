"""Each transcript of each tool, and every label that its numbers must carry: no label less, none more, none other.

The tables in ``conditions`` hold by transcript the readings that it gives and by label all values that it takes in
them, ``null`` where some of these readings have none. A tool whose command line is known has ``argv``; a transcript
that is refused has ``refused``. A transcript without an entry fails.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml

from benchconsole.probes.api import Output, Probe, ProbeOutputError, Reading
from benchconsole.probes.plugins.registry import load_probes
from tests.probes.tools.captures import ROOT

Labelled = Mapping[str, Mapping[str, frozenset[str | None]]]
"""Values by label, by metric without the name of its probe."""

TABLES = Path(__file__).with_name("conditions")
PROBES = load_probes(safe_mode=True).probes
TOOLS = sorted(name for name in PROBES if PROBES[name].metrics and (ROOT / name).is_dir())


@cache
def table(tool: str) -> Mapping[str, Mapping[str, object]]:
    loaded: Mapping[str, Mapping[str, object]] = yaml.safe_load((TABLES / f"{tool}.yaml").read_text(encoding="utf-8"))
    return loaded


def cases() -> list[tuple[str, str]]:
    return [(tool, entry) for tool in TOOLS for entry in table(tool)]


def capture(tool: str, entry: str) -> Output:
    """The output of an entry: a transcript by its name, or ``NAME with WORDS`` for one whose command is known.

    Of a transcript ``parse`` and ``ingest`` know the probe and no option, which is no command without options.
    """
    name, _, argv = entry.partition(" with ")
    return Output(tuple(argv.split()) or (tool,), (ROOT / tool / name).read_bytes())


def labelled(probe: Probe, output: Output) -> Labelled:
    marks = defaultdict(list)
    for one in probe.parse(output):
        if isinstance(one, Reading):
            marks[one.metric.partition(".")[2]].append(dict(one.labels))
    return {
        metric: {name: frozenset(each.get(name) for each in every) for name in sorted(set().union(*every))}
        for metric, every in marks.items()
    }


def expected(entry: Mapping[str, object]) -> Labelled:
    found: dict[str, dict[str, frozenset[str | None]]] = {}
    for metrics, marks in entry.items():
        assert isinstance(marks, dict), metrics
        values = {name: value if isinstance(value, list) else [value] for name, value in marks.items()}
        told = {name: frozenset(None if one is None else str(one) for one in every) for name, every in values.items()}
        found |= dict.fromkeys(metrics.split(), told)
    return found


@pytest.mark.parametrize(("tool", "entry"), cases(), ids=lambda one: one)
def test_every_number_carries_its_conditions(tool: str, entry: str) -> None:
    wanted = table(tool)[entry]
    if wanted == {"refused": True}:
        with pytest.raises(ProbeOutputError):
            PROBES[tool].parse(capture(tool, entry))
    else:
        assert labelled(PROBES[tool], capture(tool, entry)) == expected(wanted)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_transcript_has_an_entry(tool: str) -> None:
    assert {path.name for path in (ROOT / tool).iterdir()} == {entry.partition(" with ")[0] for entry in table(tool)}


@pytest.mark.parametrize("tool", TOOLS)
def test_criteria_may_ask_for_every_condition(tool: str) -> None:
    told = (expected(entry) for entry in table(tool).values() if "refused" not in entry)
    names = {name for entry in told for marks in entry.values() for name in marks}
    assert names <= (PROBES[tool].label_names or frozenset())


def test_every_tool_with_numbers_has_transcripts() -> None:
    without = {name for name in PROBES if PROBES[name].metrics} - set(TOOLS)
    assert without == {"fio-device", "h5perf-parallel", "imb-set", "osu-set"}  # they read what others print
