"""The recorded and written transcripts, and ways of spoiling them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import strategies as st

from benchconsole.probes.api import Fact, Output, Probe, ProbeOutputError, Reading
from benchconsole.probes.testing import PROBE_CHECKS

ROOT = Path(__file__).with_name("transcripts")

Said = tuple[str, str | float, tuple[tuple[str, str], ...]]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def output(name: str, *argv: str) -> Output:
    return Output(argv, (ROOT / name).read_bytes())


def contract_cases(names: Sequence[str]) -> pytest.MarkDecorator:
    """Parametrize by ``check`` and ``names``: every check with all transcripts, the long one of cuts with each alone."""
    cases = [
        pytest.param(check, part, id=f"{check.__name__}-{part[0]}" if len(part) < len(names) else check.__name__)
        for check in PROBE_CHECKS
        for part in ([[name] for name in names] if check.__name__.startswith("cut_") else [list(names)])
    ]
    return pytest.mark.parametrize(("check", "names"), cases)


def said(found: Sequence[Reading | Fact]) -> list[Said]:
    return [(one.metric if isinstance(one, Reading) else one.fact, one.value, one.labels) for one in found]


def read(probe: Probe, stdout: str | bytes) -> list[Said]:
    """The readings and facts of the probe; nothing when it refuses as it should."""
    raw = stdout.encode() if isinstance(stdout, str) else stdout
    return or_nothing(lambda: probe.parse(Output((), raw)))


def or_nothing(parse: Callable[[], Sequence[Reading | Fact]]) -> list[Said]:
    try:
        return said(parse())
    except ProbeOutputError:
        return []


def values(found: Sequence[Reading | Fact]) -> dict[str, list[str | float]]:
    grouped: dict[str, list[str | float]] = {}
    for name, value, _ in said(found):
        grouped.setdefault(name, []).append(value)
    return grouped


# Lines as batch systems, login shells and progress bars put them before and after an output.
noise = st.lists(
    st.sampled_from(
        (
            "slurmstepd: error: *** JOB 17 ON n1 CANCELLED ***",
            "Warning: Permanently added 'n1' (ED25519) to the list of known hosts.",
            "\x1b[31mwelcome {user}\x1b[0m",
            "Jobs: 1 (f=1): [W(1)][50.0%]\rJobs: 1 (f=1): [W(1)][100.0%]",
            "{}",
            "[]",
            "",
            "\t",
            "100 %",
        )
    )
    | st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters='\n"'), max_size=30).filter(
        lambda line: "benchconsole" not in line  # Hypothesis takes words of our source, too: such a line is of a probe
    ),
    max_size=4,
).map(lambda lines: "".join(f"{line}\n" for line in lines))
