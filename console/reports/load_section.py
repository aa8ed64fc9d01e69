"""The load of nodes while their tests ran, in reports for people: the fullest core first. JSON has all facts.

All text is safe for a terminal. Nothing is judged by it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.probes.model.load import find_number, group_load
from benchconsole.probes.model.measuring import Fact, Result
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import memory_size, percent

MOST = 60
"""Lines that reports for people show."""

ABOUT = (
    "Medians over the samples of each test, memory at its least. Nothing is judged by them; a full core with more than "
    "half softirq is named where a rate is low."
)
HEADINGS = ("test", "node", "samples", "fullest core", "busy", "softirq", "system", "user", "all cores",
            "interrupts/s", "NET_RX/s", "memory available", "largest process", "sampler")  # fmt: skip
NUMERIC = frozenset((2, *range(4, 12), 13))
"""Columns of numbers, by their place."""

Facts = Mapping[tuple[str, str], Fact]


class LoadSection(NamedTuple):
    """Lines of cells, and the sentences about nodes and lines that are not there."""

    lines: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    about: str = ABOUT
    headings: tuple[str, ...] = HEADINGS
    numeric: frozenset[int] = NUMERIC


def make_section(view: RunView) -> LoadSection:
    """The load of all nodes of all tests that count; empty where none was sampled."""
    lines: list[tuple[float, tuple[str, ...]]] = []
    failed: dict[str, str] = {}
    for result in superseding(view).values():
        for node, facts in group_load(result.facts).items():
            why = facts.get(("load.failed", ""))
            if why is not None:
                failed[sanitize(node)] = sanitize(str(why.value))
            else:
                lines.append((-(find_number(facts, "load.core.busy") or 0.0), _make_cells(result, node, facts)))
    lines.sort(key=lambda line: line[0])
    notes = [f"{node} was not sampled: {why}" for node, why in failed.items()][:MOST]
    if len(lines) > MOST:
        notes.append(f"{count(len(lines) - MOST, 'more line')} in the JSON report")
    return LoadSection(tuple(cells for _, cells in lines[:MOST]), tuple(notes))


def _make_cells(result: Result, node: str, facts: Facts) -> tuple[str, ...]:
    def share(name: str, of: str = "median") -> str:
        value = find_number(facts, name, of)
        return NOT_MEASURED if value is None else percent(value)

    def rate(name: str) -> str:
        value = find_number(facts, name)
        return NOT_MEASURED if value is None else f"{value:,.0f}"

    def size(name: str, of: str) -> str:
        value = find_number(facts, name, of)
        return NOT_MEASURED if value is None else memory_size(value)

    core, largest = facts.get(("load.core.busy", "median")), facts.get(("load.memory.largest", "max"))
    process = dict(largest.labels).get("process", "") if largest is not None else ""
    return (
        sanitize(f"{result.test.probe} {result.test.target.key}"),
        sanitize(node),
        f"{find_number(facts, 'load.samples', '') or 0:.0f}",
        sanitize(dict(core.labels).get("core", "")) if core is not None else NOT_MEASURED,
        *map(share, ("load.core.busy", "load.core.softirq", "load.core.system", "load.core.user", "load.cpu.busy")),
        *map(rate, ("load.interrupts", "load.softirq.net_rx")),
        size("load.memory.available", "min"),
        f"{sanitize(process)} {size('load.memory.largest', 'max')}".strip(),
        share("load.sampler.cpu", "mean"),
    )
