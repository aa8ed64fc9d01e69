"""Readings of a probe are held against its declaration, and a tool that failed gives no number whatever it printed."""

from collections.abc import Callable, Sequence

import pytest

from benchconsole.probes.api import Metric, Output, Probe, ProbeOutputError, Reading, Target, ToolError, Unit
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.plugins.probe_output import find_missing_tool, find_stage, read_output


class Rate(Probe):
    """Prints a number, or the words of its failure after ``error:``."""

    name = "rate"
    summary = "a rate"
    metrics = (Metric("rate.x", Unit.BYTE_RATE, "x"),)

    def command(self, target: Target) -> Sequence[str]:
        return ["rate"]

    def parse(self, output: Output) -> Sequence[Reading]:
        word, _, rest = output.text.partition(":")
        if word == "error":
            raise ProbeOutputError(rest.strip(), "a rate")
        return (Reading("rate.x", float(output.text), Unit.BYTE_RATE),)


class Lenient(Rate):
    """Ends with 1 where nobody answered, which is a result."""

    exits = frozenset((0, 1))


def said(text: str, status: int | None = 0, stderr: bytes = b"", signal: str | None = None) -> Output:
    return Output(("rate",), text.encode(), stderr, status, signal)


def test_a_number_of_a_tool_that_ended_well_is_a_reading() -> None:
    assert [one.value for one in read_output(Rate(), said("5"))[0]] == [5.0]
    assert [one.value for one in read_output(Lenient(), said("5", 1))[0]] == [5.0]


@pytest.mark.parametrize(
    ("probe", "output", "words"),
    [
        (Rate, said("5", 1, b"disk full\n"), "exit status 1: disk full"),
        (Rate, said("5", None), "exit status None: 5"),
        (Lenient, said("5", 2), "exit status 2: 5"),
        (Lenient, said("5", None, signal="KILL"), "signal KILL: 5"),
        (Rate, said("error: no server there", 1), "found no server there"),
        (Rate, said("error: no server there"), "found no server there"),
    ],
)
def test_a_tool_that_failed_gives_no_number_and_its_own_words_where_it_has_some(
    probe: Callable[[], Probe], output: Output, words: str
) -> None:
    with pytest.raises(ProbeOutputError, match=words):
        read_output(probe(), output)


@pytest.mark.parametrize(
    ("error", "status", "stage"),
    [
        (ProbeOutputError("half a line", "a line"), 0, FailedAt.OUTPUT),
        (ProbeOutputError("half a line", "a line"), 1, FailedAt.TOOL),
        (ToolError("connection reset", "a run without error"), 0, FailedAt.TOOL),
        (ToolError("connection reset", "a run without error"), 1, FailedAt.TOOL),
    ],
)
def test_a_tool_has_failed_where_it_says_so_or_ends_so(error: ProbeOutputError, status: int, stage: FailedAt) -> None:
    outputs = [said("", 0), said("", status)]
    assert find_stage(error, outputs) is stage


def test_what_was_cut_is_not_even_read() -> None:
    with pytest.raises(ProbeOutputError, match="output that was cut"):
        read_output(Rate(), Output(("rate",), b"5", truncated=True))


@pytest.mark.parametrize(
    ("package", "words"), [("fio", "x is not installed (Debian package fio)"), ("", "x is not installed")]
)
def test_a_missing_tool_is_named_with_its_package_where_there_is_one(package: str, words: str) -> None:
    probe = Rate()
    probe.tools = {"x": package}  # type: ignore[misc]
    found = find_missing_tool(probe, Output(("x", "--run"), b"", b"", 127, node="n1"))
    assert found is not None
    assert (found.stage, found.detail) == (FailedAt.MISSING_TOOL, words)
