"""How a part of the fabric stands: its nodes by state, its links, and one sentence on both. Pure."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.view.run_view import RunView, State, worst
from benchconsole.console.view.wording import name_state
from benchconsole.topology.model.fabric import Link, NodeId
from benchconsole.topology.units import counted


def tally_nodes(view: RunView, nodes: Sequence[NodeId]) -> dict[State, int]:
    """``nodes`` by state, worst first; only states that occur."""
    seen = (view.nodes.get(node) for node in nodes)
    found = Counter(State.SKIPPED if each is None else each.state for each in seen)
    return {state: found[state] for state in State if found[state]}


def count_words(view: RunView, nodes: Sequence[NodeId]) -> dict[str, int]:
    """``nodes`` by the word of their state, worst first; only words that occur."""
    seen = [view.nodes.get(node) for node in nodes]
    states = [(State.SKIPPED, False) if each is None else (each.state, each.was_asked) for each in seen]
    states.sort(key=lambda pair: (pair[0].rank, not pair[1]))
    return dict(Counter(name_state(state, was_asked=was_asked) for state, was_asked in states))


def describe_section(
    view: RunView, name: str, nodes: Sequence[NodeId], uplinks: Sequence[Link]
) -> tuple[State | None, str, str]:
    """The worst state, the name, and how many of its nodes and of the members of its links stand how."""
    counts = tally_nodes(view, nodes)
    said = ", ".join(f"{number:,} {word}" for word, number in count_words(view, nodes).items())
    words = f" {counted(len(nodes), 'node')}" + (f": {said}" if said else "")
    lost = view_queries.find_lost_members(view)
    total = sum(link.count for link in uplinks)
    up = sum(lost.get(link.id, link.count) for link in uplinks)
    if uplinks:
        links = f"{counted(len(uplinks), 'link')} of {counted(total, 'member')}"
        words += f"; {links}, {total - up:,} of them down" if up < total else f"; {links}, none known to be down"
    states = (view_queries.find_link(view, link.id).state for link in uplinks)
    state = worst(chain(counts, states))
    return None if state is State.SKIPPED else state, f"{sanitize(name)}:", f"{words}."
