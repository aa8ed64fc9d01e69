"""What the rounds of a plan do, in words, before any of it is sent: to nodes, and to whoever else uses them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.console.session.safety import InUseError
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.plan_text import format_left_out
from benchconsole.console.view.session_control import PlanNotes
from benchconsole.probes.api import Safety
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import disk_size

if TYPE_CHECKING:
    from benchconsole.console.session.session import Session


def make_plan_notes(session: "Session", rounds: Sequence[Round]) -> PlanNotes:
    """What these rounds do to the nodes, and what they leave out."""
    from benchconsole.probes.planning import summarise

    fabric = session.fabric
    summary = summarise(fabric, rounds, session.probes)
    touched = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    loading = {each.probe for each in rounds if session.probes[each.probe].safety is not Safety.READS}
    effects = [f"{count(len(touched), 'node')} asked over SSH"]
    if loading:
        effects.append(f"loads nodes and network: {', '.join(sorted(loading))}")
    if summary.total.writes:
        effects.append(f"up to {disk_size(summary.total.writes)} written to scratch directories, and removed")
    covers = [f"{len(touched):,} of {count(len(fabric.nodes), 'node')}", *format_left_out(fabric, summary)]
    return PlanNotes(tuple(effects), tuple(covers), tuple(_list_in_use(session, rounds)))


def _list_in_use(session: "Session", rounds: Sequence[Round]) -> list[str]:
    """Nodes that the plan leaves alone because somebody else needs them, or why it would be refused."""
    policy = session.choice.policy
    spared = policy.spared(session.fabric)
    if spared:
        return [f"{node}: {sanitize(why)}; not loaded" for node, why in spared.items()]
    try:
        policy.refuse(session.fabric, rounds, session.probes)
    except InUseError as error:
        return [sanitize(line) for line in str(error).splitlines()]
    return []
