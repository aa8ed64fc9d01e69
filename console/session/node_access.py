"""The way of a session to its nodes, SSH unless something else is given, and the question for its ``sudo`` password."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.console.view.session_control import AskPassword
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


def refuse_missing_files(fabric: Fabric) -> None:
    """PlanError where a file that ``ssh`` of the topology names cannot be read: it would be told of every node.

    A ``known_hosts`` that is not there trusts nobody, which is told of each node with the way out.
    """
    for key, path in (("config", fabric.access.config), ("identity", fabric.access.identity)):
        try:
            if path is not None:
                Path(path).open("rb").close()
        except OSError as error:
            raise PlanError(
                f"{fabric.file}: ssh: {key}: {path}: {error.strerror}, expected a file that can be read; "
                "no node could be reached, and nothing was started"
            ) from error


class PasswordPrompt:
    """Asked on the event loop of a session, answered on that of the screen. Nobody answers before ``answered_by``.

    The answer goes back to who asked and is kept nowhere here.
    """

    def __init__(self) -> None:
        self._ask: AskPassword | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def answered_by(self, ask: "AskPassword") -> None:
        """From now on ``ask`` is run on the loop of the caller; what it raises, who asked is told."""
        self._ask, self._loop = ask, asyncio.get_running_loop()

    def reach(self, fabric: Fabric, session: str) -> "Reach":
        """SSH to the nodes; where ``sudo`` wants a password, it is asked for here, once a run."""
        return make_ssh_reach(fabric, session, self.ask)

    async def ask(self, prompt: str) -> str | None:
        """The answer; None where there was none, nobody listens, or whoever did has left."""
        if self._ask is None or self._loop is None or self._loop.is_closed():
            return None
        asked = asyncio.run_coroutine_threadsafe(self._ask(prompt), self._loop)
        return await asyncio.wrap_future(asked)
