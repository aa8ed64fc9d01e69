"""Files that were cut: each transcript of each tool at any byte, also with other line ends and a byte-order mark.

A cut gives the same numbers as the whole, a refusal, or a word that the output may be partial: never fewer in silence.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, ProbeOutputError
from benchconsole.probes.plugins.captured_output import Ending, read_captured
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.readers.lines import strip_colours
from tests.probes.tools.captures import Said, said

TRANSCRIPTS = Path(__file__).parents[1] / "tools" / "transcripts"
PROBES = load_probes(safe_mode=True).probes
TOOLS = sorted(path.name for path in TRANSCRIPTS.iterdir() if path.name in PROBES and path.name != "inventory")
WITHOUT_END = frozenset(("dd", "h5perf", "netperf", "nuttcp", "osu", "qperf", "traceroute"))
"""Tools that print no last line of their own: whether more lines followed, the whole ones do not show."""
CONTRACT = Path(__file__).parents[3] / "docs" / "reference" / "contract.md"

FORMS: Sequence[Callable[[bytes], bytes]] = (
    lambda raw: raw,
    lambda raw: raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    lambda raw: b"\xef\xbb\xbf" + raw,
    lambda raw: raw.rstrip(b"\r\n"),
)


def read(tool: str, raw: bytes) -> tuple[Sequence[Said], Ending | None] | None:
    """Numbers and ending as a file of them gives; None where it is refused."""
    try:
        return read_captured(lambda output: said(PROBES[tool].parse(output)), Output((), raw), PROBES[tool].closing)
    except ProbeOutputError:
        return None


def ends_whole(tool: str, part: bytes) -> bool:
    """Whether nothing shows that a part is cut: it ends with the last line of the tool, or between two of its lines."""
    closing = PROBES[tool].closing
    if closing is None:
        return part.rstrip(b" \t\r").endswith(b"\n")
    lines = strip_colours(part.decode(errors="replace")).rstrip("\r\n-=*# ").splitlines()
    return bool(lines) and closing.fullmatch(lines[-1].rstrip()) is not None


@cache
def readable(tool: str) -> Sequence[bytes]:
    captures = (path.read_bytes() for path in sorted((TRANSCRIPTS / tool).iterdir()))
    return [raw for raw in captures if read(tool, raw) is not None]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_cut_never_gives_fewer_numbers_in_silence(tool: str) -> None:
    @given(st.sampled_from(readable(tool)), st.sampled_from(FORMS), st.floats(0, 1))
    @settings(max_examples=40, deadline=None)
    def check(raw: bytes, form: Callable[[bytes], bytes], share: float) -> None:
        whole, formed = read(tool, raw), form(raw)
        assert whole is not None
        part = formed[: round(share * len(formed))]
        found = read(tool, part)
        if found is None or found[1] is not None:
            return
        if ends_whole(tool, part):
            assert set(found[0]) <= set(whole[0])
        else:
            assert found[0] == whole[0]

    check()


def test_the_contract_names_the_tools_whose_cuts_do_not_show() -> None:
    named = re.search(r"Tools without a last line of their own \(([^)]*)\)", CONTRACT.read_text(encoding="utf-8"))
    assert named is not None
    assert set(named[1].split(", ")) == WITHOUT_END


@pytest.mark.parametrize("tool", sorted(WITHOUT_END))
def test_a_tool_is_named_only_where_a_cut_is_read_as_whole(tool: str) -> None:
    def is_silent(raw: bytes) -> bool:
        lines, whole = raw.splitlines(keepends=True), read(tool, raw)
        cuts = (read(tool, b"".join(lines[:number])) for number in range(1, len(lines)))
        return any(found is not None and found[1] is None and whole and found[0] != whole[0] for found in cuts)

    assert any(map(is_silent, readable(tool)))


@pytest.mark.parametrize("tool", sorted(set(TOOLS) - WITHOUT_END))
def test_what_is_cut_between_two_lines_is_whole_or_told(tool: str) -> None:
    for raw in readable(tool):
        whole, lines = read(tool, raw), raw.splitlines(keepends=True)
        assert whole is not None
        for number in range(max(len(lines) - 40, 0), len(lines)):
            found = read(tool, b"".join(lines[:number]))
            told = found is None or found[1] is not None or found[0] == whole[0]
            assert told or ends_whole(tool, b"".join(lines[:number])), lines[number - 1]


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("iperf3", "tcp-3.12.txt"), ("iperf3", "tcp-3.12.json"), ("iperf3", "stream-3.17.jsonl"),
        ("ior", "3.3.0.txt"), ("ior", "2.10.3.txt"), ("ior", "3.3.0.json"),
        ("mdtest", "3.3.0.txt"), ("hpl", "2.1-two-tests.txt"), ("imb", "2018-sendrecv.txt"),
        ("iozone", "3.397-desy.txt"), ("sysbench", "1.0.20-fileio.txt"), ("sockperf", "ping-pong-tcp-3.10.txt"),
        ("sockperf", "throughput-tcp-3.7.txt"), ("ping", "loopback-20221126.txt"), ("ping", "no-answer-20221126.txt"),
        ("ping", "mtu.json"), ("fio", "3.0.json"), ("bonnie", "1.97.txt"), ("bonnie", "1.98-two-runs.csv"),
        ("bonnie", "1.03e.txt"), ("bonnie", "1.96-files.csv"),
    ],
)  # fmt: skip
def test_a_whole_file_is_not_called_partial_also_without_its_last_line_end(tool: str, name: str) -> None:
    raw = (TRANSCRIPTS / tool / name).read_bytes()
    for each in (raw, raw.rstrip(b"\r\n")):
        found = read(tool, each)
        assert found is not None
        assert found[1] is None or not found[1].may_be_partial, str(found[1])


def test_a_file_that_ends_before_the_last_line_of_its_tool_says_so() -> None:
    raw = (TRANSCRIPTS / "ior" / "3.3.0.txt").read_bytes()
    cut = raw[: raw.index(b"Max Write")]
    found = read("ior", cut)
    assert found is not None
    assert found[1] is not None
    assert found[1].may_be_partial
    assert "does not end as its tool does" in str(found[1])


@pytest.mark.parametrize(
    "line",
    [
        "1 " * 40_000,
        "9" * 80_000,
        " " * 80_000,
        "WR11C2R4 " + "1" * 80_000,
        "rtt " + "ms, " * 20_000 + "x",
        "Command line : ior " + "-a " * 26_000,
    ],
    ids=lambda line: line[:12],
)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_long_line_behind_an_output_of_any_tool_is_read_to_its_end(tool: str, line: str) -> None:
    raw = readable(tool)[0]
    read(tool, raw + line.encode() + b"\n")
