"""Captures that lost, repeated or coloured some of their lines on the way: a parser makes the same numbers of them, or fewer."""

from collections.abc import Iterator

from hypothesis import strategies as st

from benchconsole.probes.api import Probe
from tests.probes.tools.captures import output, read, said, text


def coloured(capture: str) -> str:
    """``capture`` as a terminal with bracketed paste and colours leaves it."""
    return "".join(f"\x1b[?2004l\x1b[0m{line}\x1b[K\n" for line in capture.splitlines())


def one_line_lost_or_twice(capture: str) -> Iterator[str]:
    """``capture`` without each of its lines in turn, and with each of them twice."""
    lines = capture.splitlines(keepends=True)
    for number, line in enumerate(lines):
        yield "".join(lines[:number] + lines[number + 1 :])
        yield "".join([*lines[:number], line, *lines[number:]])


def line_ends_and_colours_change_nothing(probe: Probe, name: str) -> None:
    """Assert that the transcript ``name`` gives the same with other line ends, and with colours around its lines."""
    whole, expected = text(name), said(probe.parse(output(name)))
    assert read(probe, whole.replace("\n", "\r\n")) == expected
    assert read(probe, "".join(f"\x1b[0;32m{line}\x1b[0m\n" for line in whole.splitlines())) == expected
    assert read(probe, coloured(whole)) == expected


def noise_changes_nothing_and_a_cut_gives_fewer(probe: Probe, name: str, around: str, data: st.DataObject) -> None:
    """Assert it of outputs that lines of others, ``around``, may stand before, behind and in the middle of."""
    lines, whole = text(name).splitlines(keepends=True), said(probe.parse(output(name)))
    at = data.draw(st.integers(0, len(lines)))
    full = around + "".join(lines[:at]) + around + "".join(lines[at:]) + around
    full = full.replace("\n", data.draw(st.sampled_from(["\n", "\r\n"])))
    assert read(probe, full) == whole
    assert all(one in whole for one in read(probe, full[: data.draw(st.integers(0, len(full)))]))
