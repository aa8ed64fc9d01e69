"""The question to a node whose connection was lost while a command ran: has it rebooted, and what of ours still runs?

One reconnection and one command for each lost connection, however many commands it carried, in bounded time, because a
round waits for its slowest test. The lost command is not run again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.reach.ssh.connection import SshConnection
from benchconsole.probes.reach.ssh.ssh_remote import SshRemote

_LOG = ModuleLog(__name__)
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


class RebootCheck:
    """Asks nodes that come back within ``seconds`` what became of them."""

    def __init__(self, session: str, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._asked: dict[SshConnection, asyncio.Task[tuple[FailedAt, str]]] = {}

    async def explain(
        self, lost: SshConnection, error: RemoteError, again: Callable[[], Awaitable[Remote]]
    ) -> RemoteError:
        """``error`` with what the node says after it; REBOOTED instead of LOST when it is another boot."""
        if lost not in self._asked:
            self._asked[lost] = asyncio.create_task(self._ask(lost, again))
        task = self._asked[lost]
        await asyncio.wait((task,))
        if task.cancelled():
            return error
        stage, words = task.result()
        _LOG.info(lost.node, "%s: %s", stage, words)
        return RemoteError(replace(error.failure, stage=stage, detail=f"{error.failure.detail}; {words}"), error.output)

    async def close(self) -> None:
        """Stop asking."""
        for task in self._asked.values():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._asked.values(), return_exceptions=True)

    async def _ask(self, lost: SshConnection, again: Callable[[], Awaitable[Remote]]) -> tuple[FailedAt, str]:
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
                    _LOG.debug(lost.node, "retry in %g s%s", _PAUSE, said)
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
