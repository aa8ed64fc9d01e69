"""The questions that Slurm is asked: is there one, and which of its nodes are not free.

Asked on the machine that a ``Remote`` stands for: the admin node itself, or a head node. An installed client is not
taken for a cluster with Slurm: without a configuration there is nobody to ask.
"""

from collections.abc import Mapping

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.reach.slurm.slurm_state import occupations

_TIMEOUT = 30.0
_NOT_FOUND = 127
_NO_CLUSTER = ("Could not establish a configuration source", "Unable to process configuration file")


async def occupied(remote: Remote, *, session: str = "") -> Mapping[str, str] | None:
    """Nodes that are not free (see ``occupations``), or None when this machine belongs to no Slurm cluster.

    Raises RemoteError when the machine cannot be asked, ProbeOutputError when Slurm gives no answer.
    """
    squeue = await ask(remote, "squeue", "--json")
    if squeue is None:
        return None
    sinfo = await ask(remote, "sinfo", "--json")
    if sinfo is None:
        raise ProbeOutputError("squeue but no sinfo", "both commands of Slurm's client package")
    return occupations(squeue, sinfo, session=session)


async def ask(remote: Remote, *argv: str) -> str | None:
    """What a command of Slurm prints; None when there is no such command or no cluster behind it."""
    output = await remote.run(argv, timeout=_TIMEOUT)
    if output.exit_status == _NOT_FOUND or (output.exit_status and _lacks_cluster(output)):
        return None
    if output.exit_status != 0 or output.truncated:
        raise ProbeOutputError(f"{argv[0]}: {first_line(output) or 'no message'}", f"{argv[0]} to answer")
    return output.text


def first_line(output: Output) -> str:
    """The first line of what a command complained of, at most 300 characters."""
    lines = (output.error_text + "\n" + output.text).splitlines()
    return next((line.strip()[:300] for line in lines if line.strip()), "")


def _lacks_cluster(output: Output) -> bool:
    return any(words in output.error_text for words in _NO_CLUSTER)
