"""The question for the password of ``sudo``, from the thread of a session to whoever sits at the screen.

The answer goes back to who asked and is kept nowhere here. Nobody is asked where nobody listens.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from benchconsole.console.session.node_access import make_ssh_reach

if TYPE_CHECKING:
    from benchconsole.probes.model.remote import Reach
    from benchconsole.topology.model.fabric import Fabric

AskOperator = Callable[[str], Awaitable[str | None]]


class PasswordPrompt:
    """Asked on one event loop, answered on another. Nobody answers before ``answered_by``."""

    def __init__(self) -> None:
        self._ask: AskOperator | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def answered_by(self, ask: AskOperator) -> None:
        """From now on ``ask`` is run on the loop of the caller; what it raises, who asked is told."""
        self._ask, self._loop = ask, asyncio.get_running_loop()

    def reach(self, fabric: "Fabric", session: str) -> "Reach":
        """SSH to the nodes; where ``sudo`` wants a password, it is asked for here, once a run."""
        return make_ssh_reach(fabric, session, self.ask)

    async def ask(self, prompt: str) -> str | None:
        """What was answered; None where nothing was, nobody listens, or whoever did has left."""
        if self._ask is None or self._loop is None or self._loop.is_closed():
            return None
        asked = asyncio.run_coroutine_threadsafe(_await_answer(self._ask, prompt), self._loop)
        return await asyncio.wrap_future(asked)


async def _await_answer(ask: AskOperator, prompt: str) -> str | None:
    return await ask(prompt)
