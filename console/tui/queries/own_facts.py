"""Facts that nodes told of themselves: which those are, which probes tell them, and which answer of several counts.

Facts about a test (``traceroute.hop``), about load, and those that the other end of a test told are none of a node.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from benchconsole.console.view.run_view import NodeView
from benchconsole.probes.judging.yardsticks.hardware import tells_of_node
from benchconsole.probes.model.kept_facts import read_facts_together
from benchconsole.probes.model.load import is_load
from benchconsole.probes.model.measuring import Fact, Result
from benchconsole.topology.grouping import group_by_key


def keep_own_facts(probe: str, facts: Iterable[Fact]) -> Mapping[str, Sequence[Fact]]:
    """The facts that one answer to ``probe`` tells of its node, by name; empty for an answer about a test."""
    own = group_by_key((fact.fact, fact) for fact in facts if not is_load(fact))
    return own if tells_of_node(probe, own) else {}


def find_fact_probes(nodes: Iterable[NodeView]) -> dict[str, set[str]]:
    """The facts that nodes told of themselves, each with the probes that told it.

    By one answer to each probe for each role and hardware. StoreError where these cannot be read.
    """
    some: dict[tuple[str, str, str], Result] = {}
    for seen in nodes:
        for result in seen.results:
            key = (seen.node.role.value, seen.node.hardware.name, result.test.probe)
            if key not in some and _is_answer(seen, result):
                some[key] = result
    found: dict[str, set[str]] = {}
    told = read_facts_together([result.facts for result in some.values()])
    for (_, _, probe), facts in zip(some, told, strict=True):
        for name in keep_own_facts(probe, facts):
            found.setdefault(name, set()).add(probe)
    return found


def read_newest_fact(nodes: Sequence[NodeView], name: str, probes: Collection[str]) -> list[tuple[Fact, ...]]:
    """The newest fact ``name`` of each of ``nodes``, one for each of its parts; ``probes`` may tell it.

    As the columns of Nodes have it: the newest answer to each probe counts, also where it tells the fact no more, and
    of several probes the one that told it last. StoreError where facts cannot be read.
    """
    found: dict[int, tuple[int, tuple[Fact, ...]]] = {}
    asked = [(place, answers) for place, seen in enumerate(nodes) for answers in _list_answers(seen, probes)]
    while asked:
        silent = []
        told = read_facts_together([answers[-1].facts for _, answers in asked], name)
        for (place, answers), facts in zip(asked, told, strict=True):
            at = answers[-1].test.round
            if facts and (place not in found or found[place][0] < at):
                found[place] = at, facts
            elif not facts and len(answers) > 1:
                silent.append((place, answers))
        # An older answer counts only where the newest is none: its load alone was told.
        every = read_facts_together([answers[-1].facts for _, answers in silent])
        asked = [
            (place, answers[:-1])
            for (place, answers), facts in zip(silent, every, strict=True)
            if not keep_own_facts(answers[-1].test.probe, facts)
        ]
    return [found[place][1] if place in found else () for place in range(len(nodes))]


def _is_answer(seen: NodeView, result: Result) -> bool:
    return result.test.target.node.id == seen.node.id and bool(result.facts)


def _list_answers(seen: NodeView, probes: Collection[str]) -> Iterable[list[Result]]:
    """The answers of a node to each of ``probes``, in the order of their rounds."""
    own = [result for result in seen.results if result.test.probe in probes and _is_answer(seen, result)]
    own.sort(key=lambda result: result.test.round)
    return group_by_key((result.test.probe, result) for result in own).values()
