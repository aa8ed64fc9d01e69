"""The conduct of a session in every report: what was overridden, repeated or stopped, and what is left on nodes.

All text is sanitized. Nodes that were not searched are named, never counted as clean.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.console.reports.repeats import list_replaced_failures
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.wording import format_moment
from benchconsole.probes.model.measuring import Proof
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import storage_rate

if TYPE_CHECKING:
    from benchconsole.console.reports.content import SessionDetails

EXCEPTIONS = 40
"""Kinds of exceptions that reports for people list; what is beyond is counted."""
REPEATED = 20
"""Failures that a repeat replaced and that are told in full; what is beyond is counted."""
NOT_SEARCHED = "The nodes were not searched for anything of ours."

_WORDS: Mapping[str, tuple[str, str]] = {
    "allow_untested": (
        "option", "--allow-untested was given: that something was not tested does not fail this session",
    ),
    "through": ("option", "the tests ran in an allocation of the scheduler: {value}"),
    "careful": ("option", "--careful was given: rounds began small, and a canary pair was watched"),
    "only": ("option", "--only was given: of the suite these stages were run: {value}"),
    "without": ("option", "--without was given: of the suite these stages were not run: {value}"),
    "test": ("option", "--test was given: one test was run in place of a suite: {value}"),
    "sample.load": ("option", "--sample-load was given: the load of the nodes was sampled while their tests ran"),
    "tests.at_once": ("option", "--tests-at-once was given: rounds were planned with at most {value} tests"),
    "confirm.seconds": ("option", "rounds that were added to confirm findings might last {value} s"),
    "watch.every": ("option", "a sample was planned every {value} s"),
    "watch.for": ("option", "samples were planned for {value} s"),
    "override.production": ("override", "nodes tagged production were loaded all the same: {value}"),
    "override.busy": ("override", "nodes with somebody's job on them were loaded all the same: {value}"),
    "override.by": ("override", "that was decided by {value}"),
}  # fmt: skip
"""Options of a session that have a meaning for whoever reads its report; the others are shown as they are."""

_LINK_CAP, _STORAGE_CAP = "cap.link", "cap.storage "
"""The option that records a cap on links, and what stands before the storage system in one on that."""


class ConductLine(NamedTuple):
    """One thing to be known of the run: what kind it is, the words, and when it was (empty: all the time)."""

    kind: str
    text: str
    when: str = ""


class LeftoverGroup(NamedTuple):
    """Nodes of which the same is to be said at the end; ``state`` for the sign."""

    state: State
    text: str
    nodes: str
    number: int


def list_conduct(view: RunView, details: "SessionDetails") -> Iterator[ConductLine]:
    """Options, notes, failures that were repeated, stopped rounds, and what the plan leaves out, in that order."""
    for name, value in details.options.items():
        known = _WORDS.get(name)
        if (name == _LINK_CAP or name.startswith(_STORAGE_CAP)) and not isinstance(value, str):
            yield ConductLine("option", sanitize(f"--cap was given: {_describe_cap(name, value)}"))
        elif known is None:
            yield ConductLine("option", sanitize(f"{name}: {value}"))
        elif value:
            yield ConductLine(known[0], sanitize(known[1].format(value=value)))
    for note in details.notes:
        yield ConductLine(sanitize(note.kind), sanitize(note.text), format_moment(note.at))
    yield from _list_repeated(view)
    stages = {each.number: each.stage for each in view.plan}
    for number, because in sorted(view.stopped.items()):
        stage = f" ({sanitize(stages[number])})" if number in stages else ""
        yield ConductLine("stopped", sanitize(f"round {number}{stage}: {because}"))
    yield from (ConductLine("not covered", sanitize(text)) for text in details.uncovered)
    if view.held:
        yield ConductLine("held", sanitize(view.held))


def _describe_cap(name: str, value: float) -> str:
    """The sentence on an option that records a cap."""
    if name == _LINK_CAP:
        return f"tests were planned to load no link above {value * 100:.6g} % one way"
    return f"tests were planned to ask {name.removeprefix(_STORAGE_CAP)} for at most {storage_rate(value)} together"


def _list_repeated(view: RunView) -> Iterator[ConductLine]:
    lines = list(list_replaced_failures(view))
    yield from (ConductLine("repeated", text) for text in lines[:REPEATED])
    if len(lines) > REPEATED:
        yield ConductLine("repeated", f"and {count(len(lines) - REPEATED, 'more failure')} that a repeat replaced")


def format_cleanliness(proofs: Iterable[Proof]) -> str:
    """The result of the search at the end, in one or two sentences."""
    known = tuple(proofs)
    if not known:
        return NOT_SEARCHED
    clean = sum(proof.clean for proof in known)
    ended = sum(proof.ended for proof in known)
    if not any(proof.asked for proof in known):
        who = "The node could not" if len(known) == 1 else f"None of the {count(len(known), 'node')} could"
        said = f"{who} be searched for anything of ours."
    elif clean == len(known):
        said = f"Nothing of ours is left on {'the' if clean == 1 else 'any of the'} {count(clean, 'node')}."
    else:
        said = f"Nothing of ours is left on {clean:,} of {count(len(known), 'node')}"
        unknown = sum(not proof.asked for proof in known)
        holding = sum(proof.asked and bool(proof.left) for proof in known)
        parts = [f"{unknown:,} could not be searched"] * bool(unknown)
        parts += [f"on {holding:,} something of ours is left"] * bool(holding)
        said = f"{said}; {', '.join(parts)}."
    if ended:
        where = count(sum(bool(proof.ended) for proof in known), "node")
        said += f" Before that, {count(ended, 'leftover')} had to be ended or removed on {where}."
    return said


def list_leftovers(proofs: Iterable[Proof]) -> tuple[LeftoverGroup, ...]:
    """The obstacles to the proof that nodes are clean, folded over nodes: what is left first, then who was not asked.

    Who was not asked folds by the kind of trouble, which stands before a colon; the rest names the node.
    """
    known = tuple(proofs)
    found = group_by_key((words, proof.node) for proof in known for words in proof.left)
    lines = [_make_group(State.WATCH, words, nodes) for words, nodes in found.items()]
    silent = group_by_key((proof.detail.partition(": ")[0] or "not asked", proof) for proof in known if not proof.asked)
    for kind, alike in silent.items():
        details = {proof.detail for proof in alike}
        words = f"{kind}, each for a reason of its own" if len(details) > 1 else details.pop() or kind
        lines.append(_make_group(State.UNREACHABLE, words, [proof.node for proof in alike]))
    return tuple(sorted(lines, key=lambda each: (each.state is State.UNREACHABLE, -each.number)))


def _make_group(state: State, words: str, nodes: Sequence[str]) -> LeftoverGroup:
    return LeftoverGroup(state, sanitize(words), fold_names(nodes), len(nodes))


def format_more(kinds: tuple[LeftoverGroup, ...]) -> str:
    """The kinds of exceptions that are not listed, counted; empty when all are."""
    beyond = kinds[EXCEPTIONS:]
    nodes = sum(each.number for each in beyond)
    return f"and {count(len(beyond), 'more exception')} on {count(nodes, 'node')}" if beyond else ""
