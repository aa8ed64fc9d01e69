"""The labels that built-in probes say their numbers may carry, against every transcript that we keep of them."""

import contextlib
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, Probe, ProbeError, ProbeOutputError, Reading
from benchconsole.probes.plugins.registry import load_probes

TRANSCRIPTS = Path(__file__).parent / "transcripts"
PROBES = load_probes(safe_mode=True).probes


def labels_of(probe: Probe, text: bytes) -> set[str]:
    with contextlib.suppress(ProbeOutputError, ProbeError):
        found = probe.parse(Output((probe.name,), text))
        return {name for each in found if isinstance(each, Reading) for name, _ in each.labels}
    return set()


@pytest.mark.parametrize("name", sorted(name for name in PROBES if PROBES[name].metrics))
def test_no_transcript_gives_another_label(name: str) -> None:
    probe = PROBES[name]
    assert probe.label_names is not None
    files = [path for path in (TRANSCRIPTS / name).glob("*") if path.is_file()]
    seen = set().union(*(labels_of(probe, path.read_bytes()) for path in files))
    assert seen <= probe.label_names
