from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, Probe, ProbeOutputError
from benchconsole.probes.plugins.captured_output import Ending, read_captured
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.tools.inventory.sources import SOURCES

TRANSCRIPTS = Path(__file__).parents[1] / "tools" / "transcripts"


def numbers(output: Output) -> list[str]:
    """Ended lines that are numbers, and records that a blank line ended; a reader that refuses words and nothing."""
    lines = read_lines(output.text)
    if "refused" in lines or not any(lines):
        raise ProbeOutputError("refused", "numbers")
    return [line for line in lines if line.isdigit()] + (["record"] if "" in lines else [])


@pytest.mark.parametrize(
    ("stdout", "found", "ending"),
    [
        (b"1\n2\n", ["1", "2"], None),
        (b"1\n2", ["1", "2", "record"], Ending("2", was_read=True)),
        (b"1\n2x", ["1", "record"], Ending("2x", was_read=False)),
        (b"1\n\n2x", ["1", "record"], Ending("2x", was_read=False)),
        (b"1\n\n   ", ["1", "record"], None),
        (b"1\n}]", ["1", "record"], None),
        (b"2", ["2", "record"], Ending("2", was_read=True)),
        (b"1\nrefused", ["1", "record"], Ending("refused", was_read=False)),
        (b"\xef\xbb\xbf1\n", ["1"], None),
    ],
)
def test_the_end_of_a_file_is_the_end_of_its_last_line(stdout: bytes, found: list[str], ending: Ending | None) -> None:
    assert read_captured(numbers, Output((), stdout)) == (found, ending)


@pytest.mark.parametrize("stdout", [b"", b"refused\n", b"refused"])
def test_what_is_refused_with_and_without_its_last_line_is_refused(stdout: bytes) -> None:
    with pytest.raises(ProbeOutputError, match="refused"):
        read_captured(numbers, Output((), stdout))


def readers() -> Sequence[tuple[str, Path, Callable[[Output], object]]]:
    probes = load_probes().probes
    found: list[tuple[str, Path, Callable[[Output], object]]] = []
    for path in sorted(TRANSCRIPTS.glob("*/*")):
        if path.parent.name in probes and (path.parent.name != "inventory" or path.name.startswith("whole")):
            found.append((f"{path.parent.name}/{path.name}", path, _reader(probes[path.parent.name])))
        names = [name for name in SOURCES if path.parent.name == "inventory" and path.name.startswith(name)]
        if names:
            found.append((f"inventory/{path.name}", path, _source(max(names, key=len))))
    return found


def _reader(probe: Probe) -> Callable[[Output], object]:
    return lambda output: tuple(probe.parse(output))


def _source(name: str) -> Callable[[Output], object]:
    return lambda output: tuple(SOURCES[name](output.text))


def test_every_transcript_gives_the_same_without_its_last_line_end_and_with_a_byte_order_mark() -> None:
    checked = 0
    for name, path, read in readers():
        raw = path.read_bytes()
        try:
            whole = read(Output((), raw))
        except ProbeOutputError:
            continue
        assert read_captured(read, Output((), raw.rstrip(b"\r\n")))[0] == whole, name
        assert read(Output((), b"\xef\xbb\xbf" + raw)) == whole, name
        checked += 1
    assert checked > 350


HOSTILE = ["1" * 80_000, " " * 80_000 + "x", "\t" * 80_000 + "x", "a" + " " * 80_000 + "1", "1" * 80_000 + " tests x"]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: f"{line[:2]!r}..{line[-2:]!r}")
@pytest.mark.parametrize(
    "name",
    [
        "hpl/2.1-two-tests.txt", "ior/3.3.0.txt", "osu/7.1-latency.txt", "inventory/cpuinfo-6.18.txt",
        "inventory/ibstat-28.0.txt", "inventory/lscpu-2.38.txt", "inventory/ethtool-5.9.txt",
    ],
)  # fmt: skip
def test_a_hostile_line_is_read_to_its_end(name: str, line: str) -> None:
    """Patterns that try each part of a line again took minutes for these: the test would not end."""
    (read,) = [read for known, _, read in readers() if known == name]
    raw = (TRANSCRIPTS / name).read_text(encoding="utf-8")
    with suppress(ProbeOutputError):
        read(Output((), f"{raw}{line}\n".encode()))
