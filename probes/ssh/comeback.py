"""Owns the question to a node whose connection was lost while a command ran: has it rebooted, is anything left?

One reconnection and one command for each lost connection, however many commands it carried; in
bounded time, for a round waits for its slowest test. Refuses to run the lost command again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from probes.model import FailedAt
from probes.remote import Remote, RemoteError
from probes.ssh.link import Link
from probes.ssh.process import SshRemote

_TIMEOUT = 10.0
_PAUSE = 0.5
"""Seconds before a node that refused is asked again, within the time that it has."""
_LEFT = (
    "for w in 0 .1 .2 .5 1 1; do sleep $w; n=0; "
    'for f in $(grep -lsF "BENCHCONSOLE_SESSION=$1" /proc/[0-9]*/environ); do '
    'grep -qsF "BENCHCONSOLE_RUN=$BENCHCONSOLE_RUN" "$f" || { [ -e "$f" ] && n=$((n+1)); }; done; '
    "[ $n = 0 ] && break; done; echo $n"
)
"""How many processes carry the session's marker, besides those of this search, when their watchdogs have had time."""


class Comebacks:
    """Asks nodes that come back within ``seconds`` what became of them."""

    def __init__(self, session: str, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._asked: dict[Link, asyncio.Task[tuple[FailedAt, str]]] = {}

    async def explain(self, lost: Link, error: RemoteError, again: Callable[[], Awaitable[Remote]]) -> RemoteError:
        """``error`` with what the node says after it; REBOOTED instead of LOST when it is another boot."""
        if lost not in self._asked:
            self._asked[lost] = asyncio.create_task(self._ask(lost, again))
        task = self._asked[lost]
        await asyncio.wait((task,))
        if task.cancelled():
            return error
        stage, words = task.result()
        return RemoteError(replace(error.failure, stage=stage, detail=f"{error.failure.detail}; {words}"), error.output)

    async def close(self) -> None:
        """Stop asking."""
        for task in self._asked.values():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._asked.values(), return_exceptions=True)

    async def _ask(self, lost: Link, again: Callable[[], Awaitable[Remote]]) -> tuple[FailedAt, str]:
        said = ""
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    try:
                        remote = await again()
                        break
                    except RemoteError as error:
                        if error.failure.stage is not FailedAt.UNREACHABLE:
                            raise
                        said = f": {error.failure.detail}"  # a node that boots refuses for a while
                    await asyncio.sleep(_PAUSE)
                output = await remote.run(("sh", "-c", _LEFT, "left", self._session), timeout=_TIMEOUT)
        except TimeoutError:
            return FailedAt.LOST, f"the node did not come back within {self._seconds:g} s{said}"
        except RemoteError as error:
            return FailedAt.LOST, f"the node did not come back: {error.failure.detail}"
        boot = remote.boot if isinstance(remote, SshRemote) else ""
        left = output.text.strip()
        leftovers = f"{left} processes of this session run there" if left not in ("0", "") else "nothing of ours runs"
        if boot and lost.boot and boot != lost.boot:
            return FailedAt.REBOOTED, f"the node has rebooted meanwhile; {leftovers}"
        return FailedAt.LOST, f"the node is there again and has not rebooted; {leftovers}"
