"""Criteria that differ from those in the file of the session, told sentence by sentence."""

import pytest

from benchconsole.console.session.criteria_changes import describe_choice
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric

TRIAD = "metric: stream.triad, at_least: 65 GB/s"
READ = "metric: dd.throughput, where: {operation: read}"


def described(*criteria: str) -> Fabric:
    lines = "".join(f"  - {{{each}}}\n" for each in criteria)
    text = 'schema: 1\nfabric: toy\nnodes: {"n[1-4]": {}}\n'
    return load_text(f"{text}criteria:\n{lines}" if criteria else text, "/somewhere/other.yaml")


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        ([TRIAD], [TRIAD], []),
        (
            [TRIAD],
            [f"{TRIAD}, round: 1 GB/s"],
            ["stream.triad: at least 65.0 GB/s, rounded to 1.00 GB/s, not as the file: at least 65.0 GB/s"],
        ),
        ([TRIAD], [], ["stream.triad: asks nothing, not as the file: at least 65.0 GB/s"]),
        ([], [TRIAD], ["stream.triad: at least 65.0 GB/s, of which the file asks nothing"]),
        (
            [f"{READ}, at_least: 200 MB/s", f"{READ}, at_least: 100 MB/s, nodes: n1"],
            [f"{READ}, at_least: 200 MB/s, target: 300 MB/s", f"{READ}, at_least: 100 MB/s, nodes: n1"],
            ["dd.throughput (operation=read): at least 200 MB/s, target 300 MB/s, not as the file: at least 200 MB/s"],
        ),
        (
            ["metric: hpl.rate, at_least: 80 %, of: peak, nodes: 'n[1-2]'"],
            ["metric: hpl.rate, at_least: 70 %, of: peak, round: 1 %, nodes: 'n[1-2]'"],
            ["hpl.rate (n[1-2]): at least 70 % of peak, rounded to 1 %, not as the file: at least 80 % of peak"],
        ),
    ],
)
def test_every_difference_is_said_once(own: list[str], other: list[str], said: list[str]) -> None:
    first, *rest = describe_choice(described(*own), described(*other), "jane")
    assert rest == said
    assert first.startswith("judged again by jane with the criteria of other.yaml, which ")
    assert ("are not those of the file of the session" in first) is bool(said)


def test_the_criteria_of_the_session_come_back() -> None:
    assert list(describe_choice(described(TRIAD), None, "jane")) == [
        "judged again by jane with the criteria of the file of the session"
    ]
