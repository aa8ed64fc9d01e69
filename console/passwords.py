"""Owns the way of one question from the engine to whoever sits at the screen: the password of ``sudo``.

The answer goes back to who asked and stays nowhere here. Refuses to draw, and to ask where nobody listens.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from console.session import ssh_reach

if TYPE_CHECKING:
    from probes.remote import Reach
    from topology.model import Fabric

Ask = Callable[[str], Awaitable[str | None]]


class Passwords:
    """Asked on one event loop, answered on another. Nobody answers before ``answered_by``."""

    def __init__(self) -> None:
        self._ask: Ask | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def answered_by(self, ask: Ask) -> None:
        """From now on ``ask`` is run on the loop of the caller; what it raises, who asked is told."""
        self._ask, self._loop = ask, asyncio.get_running_loop()

    def reach(self, fabric: "Fabric", session: str) -> "Reach":
        """SSH to the nodes; where ``sudo`` wants a password, it is asked for here, once a run."""
        return ssh_reach(fabric, session, self.ask)

    async def ask(self, prompt: str) -> str | None:
        """What was answered; None where nothing was, nobody listens, or whoever did has left."""
        if self._ask is None or self._loop is None or self._loop.is_closed():
            return None
        asked = asyncio.run_coroutine_threadsafe(_answered(self._ask, prompt), self._loop)
        return await asyncio.wrap_future(asked)


async def _answered(ask: Ask, prompt: str) -> str | None:
    return await ask(prompt)
