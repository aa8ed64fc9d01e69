"""The options of a session: cohorts of its results, and nodes in use that are meant, named one by one."""

import asyncio
import os
import pwd
import shutil
from collections.abc import Mapping, Sequence

from benchconsole.console.exits import BadInput
from benchconsole.console.session.safety import SafetyPolicy
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.reach.slurm.slurm_state import occupied
from benchconsole.probes.running.guards.in_use import InUseOverride
from benchconsole.topology.model.cohorts import DIMENSION_WORDS, VALUE_WORDS, is_dimension, is_value
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select


def make_safety_policy(
    fabric: Fabric, production: str | None = None, busy: str | None = None, *, careful: bool = False,
    sparing: bool = False, slurm: bool = True,
) -> SafetyPolicy:  # fmt: skip
    """What was asked for, with what Slurm says of the nodes now; SelectionError for names that the fabric lacks.

    Where this machine belongs to no Slurm cluster nobody is asked; a Slurm that gives no answer is bad
    input: an unknown state is not an idle one. ``slurm`` False: an allocation of our own will keep others out.
    """
    override = InUseOverride(_select_nodes(fabric, production), _select_nodes(fabric, busy), find_operator())
    occupied = asyncio.run(_ask_slurm()) if slurm and not fabric.simulated else None
    ask = None if occupied is None else _ask_slurm_again
    return SafetyPolicy(override, occupied or {}, careful=careful, sparing=sparing, ask=ask)


def find_operator() -> str:
    """Who answers for it: the account this runs under, and whose it was before ``sudo``."""
    name = pwd.getpwuid(os.getuid()).pw_name
    before = os.environ.get("SUDO_USER", "")
    return f"{name} (sudo of {before})" if before else name


def _select_nodes(fabric: Fabric, nodes: str | None) -> frozenset[NodeId]:
    return frozenset() if nodes is None else frozenset(select(fabric, nodes))


async def _ask_slurm() -> Mapping[str, str] | None:
    """Who is on which node by Slurm's word; None without a Slurm cluster."""
    if shutil.which("squeue") is None:
        return None
    return await occupied(LocalRemote("slurm"))


async def _ask_slurm_again() -> Mapping[str, str]:
    return await _ask_slurm() or {}


def make_confirm_options(minutes: float | None, *, no_confirm: bool) -> dict[str, str | int | float]:
    """The option that records how long confirmation rounds may last, where that was chosen."""
    from benchconsole.console.session.metadata import CONFIRM

    if minutes is not None and no_confirm:
        raise BadInput("benchconsole: --confirm and --no-confirm, expected one of them")
    return {CONFIRM: 0.0} if no_confirm else {} if minutes is None else {CONFIRM: minutes * 60}


def make_cohort_options(fabric: Fabric, given: Sequence[str]) -> dict[str, str | int | float]:
    """The options that record the cohorts of a session; BadInput for one that could be taken for another label."""
    from benchconsole.console.session.metadata import COHORT

    sweeps = (stage.sweep for suite in fabric.suites.values() for stage in suite.stages if stage.sweep is not None)
    axes = {axis.name for sweep in sweeps for axis in sweep.axes}
    taken = {dimension for node in fabric.nodes.values() for dimension, _ in node.cohorts}
    found: dict[str, str | int | float] = {}
    for text in given:
        dimension, sign, name = text.partition("=")
        if not sign or not is_dimension(dimension, axes):
            raise BadInput(f"benchconsole: --cohort {text}: expected DIMENSION=NAME, the dimension {DIMENSION_WORDS}")
        if not is_value(name):
            raise BadInput(f"benchconsole: --cohort {text}: expected as its name {VALUE_WORDS}")
        if dimension in taken or COHORT + dimension in found:
            where = "the topology file" if dimension in taken else "another --cohort"
            raise BadInput(f"benchconsole: --cohort {text}: {where} has cohorts of {dimension}; use another dimension")
        found[COHORT + dimension] = name
    return found
