"""The options ``--through`` and ``--head``: a run inside an allocation of Slurm instead of straight over SSH."""

from collections.abc import Callable, Sequence

import click

from benchconsole.console.exits import BadInput
from benchconsole.console.session.node_access import MakeReach, make_ssh_reach
from benchconsole.probes.hygiene.leftover_proof import touched
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.remote import Reach
from benchconsole.probes.reach.slurm.allocation import Wish
from benchconsole.probes.reach.slurm.slurm_reach import door_name, through_slurm
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Fabric

through_option = click.option(
    "--through", metavar="slurm[:PARTITION]", default=None, help="Run inside an allocation of our own."
)
head_option = click.option(
    "--head", metavar="NODE", default=None, help="With --through: speak to Slurm on this node, over SSH [this machine]."
)

_TWICE = 2.0
_SPARE = 900.0
"""Seconds that an allocation lasts beyond twice the plan's time: nodes answer late, rounds are run again."""


def make_reach(through: str, head: str | None, rounds: Callable[[], Sequence[Round]]) -> MakeReach:
    """What makes the reach of a run through Slurm on the nodes of ``rounds``; BadInput for what cannot be meant."""
    scheduler, _, partition = through.partition(":")
    if scheduler != "slurm":
        raise BadInput(f"benchconsole: --through {through}: found {scheduler!r}, expected slurm or slurm:PARTITION")
    try:
        Wish(partition)
    except ValueError as error:
        raise BadInput(f"benchconsole: --through {through}: {error}") from error

    def make(fabric: Fabric, session: str) -> Reach:
        planned = tuple(rounds())
        wish = Wish(partition, seconds=_TWICE * sum(each.seconds for each in planned) + _SPARE)
        door = None
        if head is not None:
            door = (make_ssh_reach(fabric, door_name(session)), next(n for n in fabric.nodes.values() if n.id == head))
        return through_slurm(session, touched(planned).nodes, wish, door)

    return make


def refuse_unknown_head(fabric: Fabric, through: str | None, head: str | None) -> None:
    """BadInput for a head node that the file does not have, or that nobody asked for."""
    if head is None:
        return
    if through is None:
        raise BadInput("benchconsole: --head is for --through")
    if head not in fabric.nodes:
        hint = find_near(head, fabric.nodes)
        raise BadInput(f"benchconsole: --head {head}: no such node" + (f"; did you mean {hint}?" if hint else ""))
