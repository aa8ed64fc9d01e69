"""The differences between two sessions, or two parts of one, beside their numbers: facts of nodes, options, file.

A fact that each node changes in its own way (a counter, an uptime) changes by itself, and is only named.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from benchconsole.console.conclusions.metric_samples import Naming
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.console.view.wording import format_fact
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import counted

ABSENT = "not told"
MAJORITY = 0.8
"""A part of a session has a fact where this share of its nodes tells the same."""

Facts = Mapping[str, Mapping[str, str]]
"""By node, what it told of each fact."""


class FactChange(NamedTuple):
    """One fact that is another one in B; ``nodes`` is a node set."""

    fact: str
    before: str
    after: str
    nodes: str
    number: int


class FactChanges(NamedTuple):
    """The changes that nodes share, most nodes first, and the facts that change by themselves."""

    shared: tuple[FactChange, ...]
    by_themselves: tuple[str, ...]
    nodes: int


def read_facts(view: RunView) -> dict[str, dict[str, str]]:
    """The facts that each node told, by name, safe for a terminal."""
    results = (each for each in superseding(view).values() if each.test.probe == INVENTORY and each.failure is None)
    return {result.test.target.node.id: _read(result) for result in results}


def _read(result: Result) -> dict[str, str]:
    found = {}
    for fact in result.facts:
        labels = " ".join(value for _, value in fact.labels)
        found[sanitize(f"{fact.fact} {labels}".rstrip())] = format_fact(fact)
    return found


def compare_facts(before: Facts, after: Facts) -> FactChanges:
    """The facts of the nodes of both that changed."""
    common = [node for node in before if node in after]
    changes: dict[str, list[tuple[tuple[str, str], str]]] = {}
    for node in common:
        mine, theirs = before[node], after[node]
        for fact in {**mine, **theirs}:
            pair = mine.get(fact, ABSENT), theirs.get(fact, ABSENT)
            if pair[0] != pair[1]:
                changes.setdefault(fact, []).append((pair, node))
    shared, alone = list[FactChange](), list[str]()
    for fact, found in changes.items():
        alike = group_by_key(found)
        if len(found) > 1 and max(map(len, alike.values())) * 2 < len(found) + 1:
            alone.append(fact)
            continue
        shared += (FactChange(fact, *pair, fold_names(nodes), len(nodes)) for pair, nodes in alike.items())
    shared.sort(key=lambda each: (-each.number, each.fact))
    return FactChanges(tuple(shared), tuple(sorted(alone)), len(common))


def compare_parts(view: RunView, name: Naming, parts: tuple[str, str]) -> FactChanges:
    """The facts that most nodes of one part share, and those of the other do not."""
    facts = read_facts(view)
    tests = {
        str(test.target.node.id): name(test) for each in view.plan for test in each.tests if len(test.target.nodes) == 1
    }
    members = [[node for node in facts if tests.get(node) == part] for part in parts]
    usual = [_find_usual(facts[node] for node in own) for own in members]
    number = sum(map(len, members))
    shared = tuple(
        FactChange(fact, usual[0][fact], usual[1][fact], "all of both", number)
        for fact in usual[0]
        if fact in usual[1] and usual[0][fact] != usual[1][fact]
    )
    return FactChanges(shared, (), number)


def _find_usual(told: Iterable[Mapping[str, str]]) -> dict[str, str]:
    every = list(told)
    values: dict[str, Counter[str]] = {}
    for own in every:
        for fact, value in own.items():
            values.setdefault(fact, Counter())[value] += 1
    most = {fact: count.most_common(1)[0] for fact, count in values.items()}
    return {fact: value for fact, (value, number) in most.items() if number >= MAJORITY * len(every)}


class RecordDifference(NamedTuple):
    """One thing of the record of two sessions that differs: the file, the criteria, an option, the program."""

    what: str
    before: str
    after: str


def list_record_differences(
    one: Mapping[str, str], other: Mapping[str, str], views: tuple[RunView, RunView]
) -> Iterator[RecordDifference]:
    """``one`` and ``other`` are the records of the sessions: options, program and the like, by name."""
    for what in {**one, **other}:
        pair = one.get(what, "none"), other.get(what, "none")
        if pair[0] != pair[1]:
            yield RecordDifference(sanitize(what), *map(sanitize, pair))
    before, after = (each.fabric for each in views)
    if before.text != after.text:
        yield RecordDifference("topology file", *(_count(view) for view in views))


def _count(view: RunView) -> str:
    digest = hashlib.sha256(view.fabric.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{digest}, {counted(len(view.fabric.nodes), 'node')}, {counted(len(view.fabric.links), 'link')}"
