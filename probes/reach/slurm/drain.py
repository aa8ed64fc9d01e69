"""Nodes taken out of Slurm's service and put back, by ``scontrol``, always with a reason that names us.

The reason is the record: it stands in Slurm with its author and time. A drain that somebody else set is neither
overwritten nor lifted, and the state is read again after each change.

Draining is the administrator's: the login must be root or Slurm's own user, or sudo must allow it.
"""

from benchconsole.probes.model.errors import ProbeError, ProbeOutputError
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.reach.slurm.slurm_state import NodeSeen, ask, first_line, nodes
from benchconsole.probes.readers.lines import shorten

PREFIX = "benchconsole "
_TIMEOUT = 30.0
_LONGEST = 200


class DrainError(ProbeError):
    """A node that was not drained or undrained, with the reason."""


def reason_for(session: str, probe: str, words: str) -> str:
    """The written reason: ``benchconsole SESSION PROBE: VALUE < THRESHOLD``, one line of at most 200 characters."""
    return shorten(f"{PREFIX}{session} {probe}: {words}", _LONGEST)


def is_ours(reason: str) -> bool:
    """Whether a reason was written by us."""
    return reason.startswith(PREFIX)


async def drain(remote: Remote, node: str, reason: str) -> None:
    """Let ``node`` take no new job; jobs that run on it end by themselves. DrainError when it is not drained then."""
    if not is_ours(reason):
        raise DrainError(f"{node}: found the reason {reason!r}, expected one that begins with {PREFIX!r}")
    seen = await _seen(remote, node)
    if seen.drained and not is_ours(seen.reason):
        raise DrainError(f"{node} is drained already, not by us ({seen.reason or 'no reason'}); it was left as it is")
    await _update(remote, node, "state=drain", f"reason={reason}")
    if not (await _seen(remote, node)).drained:
        raise DrainError(f"{node}: scontrol said nothing, but Slurm does not show it as drained")


async def undrain(remote: Remote, node: str) -> bool:
    """Take ``node`` back into service; False when it was not drained. DrainError for a drain that is not ours."""
    seen = await _seen(remote, node)
    if not seen.drained:
        return False
    if not is_ours(seen.reason):
        raise DrainError(
            f"{node} was not drained by us but because of {seen.reason or 'no reason'!r}; "
            "who set that lifts it: scontrol update nodename=... state=resume"
        )
    await _update(remote, node, "state=resume")
    if (await _seen(remote, node)).drained:
        raise DrainError(f"{node}: scontrol said nothing, but Slurm still shows it as drained")
    return True


async def _seen(remote: Remote, node: str) -> NodeSeen:
    text = await ask(remote, "sinfo", "--json")
    if text is None:
        raise DrainError(f"{remote.node} belongs to no Slurm cluster (sinfo)")
    try:
        return nodes(text)[node]
    except KeyError:
        raise DrainError(f"Slurm knows no node {node!r}") from None
    except ProbeOutputError as error:
        raise DrainError(f"{node}: {error}") from error


async def _update(remote: Remote, node: str, *changes: str) -> None:
    output = await remote.run(("scontrol", "update", f"nodename={node}", *changes), timeout=_TIMEOUT, privileged=True)
    if output.exit_status != 0:
        raise DrainError(f"{node}: scontrol: {first_line(output) or 'no message'} (exit status {output.exit_status})")
