"""How a session reaches its nodes: over SSH, unless something else is given."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.probes.model.remote import Reach

MakeReach = Callable[[Fabric, str], "Reach"]
"""Makes what reaches the nodes of a fabric for a session, given the id of that session."""

AskSecret = Callable[[str], "str | Awaitable[str | None] | None"]
"""Asks a person; called in a thread of the reach, or on its loop where it is a coroutine function."""


def make_ssh_reach(fabric: Fabric, session: str, ask_secret: AskSecret | None = None) -> "Reach":
    """SSH to the nodes of ``fabric``; imported here, for asyncssh costs a fifth of a second.

    ``ask_secret`` is asked at most once, for the password that ``sudo`` wants on a node; None: nobody can be asked.
    """
    from benchconsole.probes.reach.ssh import SshReach
    from benchconsole.store.files.paths import trusted_hosts_path

    return SshReach(fabric.access, session, also_trusted=(str(trusted_hosts_path()),), ask_secret=ask_secret)
