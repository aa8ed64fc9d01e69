"""Options of the probes beside the labels that their parsers give: one name means one thing, so every point of a sweep
over an option has its numbers, with what was asked for and what the tool did."""

import pytest

from benchconsole.probes.api import Output, ProbeOutputError, Target
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.testing import a_node
from tests.probes.tools.captures import text

PROBES = load_probes(safe_mode=True).probes


def told(probe: str, stdout: str, option: str, value: int | str) -> list[dict[str, str]]:
    """The labels of what a point of a sweep over ``option`` printed."""
    target = Target(a_node(), None, {option: value}, labels=((option, str(value)),))
    readings, _ = read_output(PROBES[probe], Output((probe,), stdout.encode()), target)
    return [dict(one.labels) for one in readings]


@pytest.mark.parametrize(
    ("probe", "name", "option", "value", "label", "others"),
    [
        ("mdtest", "3.3.0.txt", "items", 100, "items", {"100"}),
        ("mdtest", "3.3.0.txt", "items", 100, "total_items", {"50400"}),
        ("bonnie", "2.00-direct.txt", "files", 16384, "files", {"16384"}),
        ("bonnie", "2.00-own-cached.txt", "direct_write", 0, "direct", {"0", None}),
        ("ior", "3.3.0.txt", "end_fsync", 1, "end_fsync", {"1"}),
        ("ior", "3.3.0.txt", "end_fsync", 1, "fsync", {None}),
        ("dd", "own-9.1.txt", "end_fsync", 1, "end_fsync", {"1"}),
        ("iozone", "3.507-random.txt", "end_fsync", 1, "end_fsync", {"1"}),
    ],
)
def test_a_point_has_what_was_asked_for_and_what_was_done(
    probe: str, name: str, option: str, value: int, label: str, others: set[str | None]
) -> None:
    assert {one.get(label) for one in told(probe, text(f"{probe}/{name}"), option, value)} == others


@pytest.mark.parametrize(
    ("probe", "name", "option", "value"),
    [
        ("bonnie", "2.00-direct.txt", "files", 1024),
        ("ior", "3.3.0.txt", "end_fsync", 0),
        ("dd", "own-9.1.txt", "end_fsync", 0),
        ("iozone", "3.507-random.txt", "end_fsync", 0),
    ],
)
def test_a_tool_that_did_something_else_is_no_point(probe: str, name: str, option: str, value: int) -> None:
    with pytest.raises(ProbeOutputError, match=f"expected {option}={value}, which the tool was told"):
        told(probe, text(f"{probe}/{name}"), option, value)


@pytest.mark.parametrize(("option", "value"), [("size", "100 MB"), ("block", "1 MB")])
def test_sizes_in_powers_of_ten_are_points(option: str, value: str) -> None:
    mark = "benchconsole-dd operation=write size=100000000 block=1000000 direct=0 sync=1 cache=0\n"
    ran = "100+0 records in\n100+0 records out\n100000000 bytes (100 MB, 95 MiB) copied, 0.5 s, 200 MB/s\n"
    (marks,) = told("dd", mark + ran, option, value)
    assert (marks["size"], marks["block"]) == ("100000000B", "1000000B")


def test_bonnie_reads_through_the_cache_whatever_it_was_told_for_writing() -> None:
    own = text("bonnie/2.00-own-cached.txt").replace("direct=0", "direct=1")
    found = {one["operation"]: one.get("direct") for one in told("bonnie", own, "direct_write", 1)}
    large = {"write": "1", "rewrite": "0", "read": "0", "seeks": "0"}
    assert {name: found[name] for name in large} == large
