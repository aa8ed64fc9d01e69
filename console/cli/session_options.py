"""The options of a session that only a command knows: who is at the terminal, and what Slurm says of the nodes."""

import asyncio
import os
import pwd
import shutil
from collections.abc import Mapping

from benchconsole.console.exits import BadInput
from benchconsole.console.session.safety import SafetyPolicy
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.reach.slurm.slurm_state import occupied
from benchconsole.topology.model.fabric import Fabric


def make_safety_policy(fabric: Fabric, *, sparing: bool = False, slurm: bool = True) -> SafetyPolicy:
    """The policy by the state of the nodes in Slurm now, before anything is asked for.

    Where this machine belongs to no Slurm cluster nobody is asked; a Slurm that gives no answer is bad
    input: an unknown state is not an idle one. ``slurm`` False: an allocation of our own will keep others out.
    """
    occupied = asyncio.run(_ask_slurm()) if slurm and not fabric.simulated else None
    ask = None if occupied is None else _ask_slurm_again
    return SafetyPolicy(occupied=occupied or {}, sparing=sparing, ask=ask)


def make_later_policy() -> SafetyPolicy:
    """The policy of a stored session that is only read as yet: Slurm is asked when something is planned."""
    return SafetyPolicy(sparing=True, ask=_ask_slurm_again)


def find_operator() -> str:
    """Who answers for it: the account this runs under, and whose it was before ``sudo``."""
    name = pwd.getpwuid(os.getuid()).pw_name
    before = os.environ.get("SUDO_USER", "")
    return f"{name} (sudo of {before})" if before else name


async def _ask_slurm() -> Mapping[str, str] | None:
    """Who is on which node by Slurm's word; None without a Slurm cluster."""
    if shutil.which("squeue") is None:
        return None
    return await occupied(LocalRemote("slurm"))


async def _ask_slurm_again() -> Mapping[str, str]:
    return await _ask_slurm() or {}


def choose_confirm(minutes: str | None, *, no_confirm: bool) -> str | None:
    """How long confirmation rounds may last, in minutes, where that was chosen; BadInput for two answers."""
    if minutes is not None and no_confirm:
        raise BadInput("benchconsole: --confirm and --no-confirm, expected one of them")
    return "0" if no_confirm else minutes
