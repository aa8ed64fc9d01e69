"""A relay between two nodes' Unix sockets through the console.

Both ends are sockets that only the login's own user can open where they lie in a directory of that user. No port
is opened, and no node logs in to another. A node whose sshd forwards no sockets is named in the error.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import asyncssh

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.connection import SshConnection

_GOODBYE = 2.0
_UNABLE = (asyncssh.Error, asyncssh.ChannelListenError, OSError)
_FORBIDDEN = "does its configuration say AllowStreamLocalForwarding no or DisableForwarding yes, or its key restrict?"


@asynccontextmanager
async def join_sockets(here: SshConnection, path: str, there: SshConnection, far: str) -> AsyncIterator[None]:
    """Inside the context ``path`` of ``here`` leads to ``far`` of ``there``; RemoteError REFUSED where one may not."""
    for link in (here, there):
        if link.lost is not None or link.is_closing:
            raise RemoteError(link.make_lost_failure())
    await _check_socket(there, far)
    opened: list[asyncssh.SSHForwarder] = []

    async def accept() -> asyncssh.SSHForwarder:
        opened.append(asyncssh.SSHForwarder(await _connect(there, far)))
        return opened[-1]

    listener = await _listen(here, accept, path)
    try:
        yield
    finally:
        for end in opened:
            end.close()
        listener.close()
        if here.lost is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GOODBYE):
                    await listener.wait_closed()


async def _check_socket(link: SshConnection, path: str) -> None:
    """Connect once and hang up, so that a refusal is told by the node and not by the tool that runs into it."""
    try:
        async with asyncio.timeout(link.limits.login):
            (await _connect(link, path)).close()
    except _UNABLE as error:
        raise _refusal(link, f"did not connect to {path} ({_words(error)})") from error


async def _connect(link: SshConnection, path: str) -> asyncssh.SSHForwarder:
    session = cast("Callable[[], Any]", asyncssh.SSHForwarder)
    _, end = await link.client.create_unix_connection(session, path)
    return cast(asyncssh.SSHForwarder, end)


async def _listen(
    link: SshConnection, accept: Callable[[], Awaitable[asyncssh.SSHForwarder]], path: str
) -> asyncssh.SSHListener:
    try:
        async with asyncio.timeout(link.limits.login):
            return await link.client.create_unix_server(cast("Callable[[], Any]", accept), path)
    except _UNABLE as error:
        raise _refusal(link, f"does not listen at {path} ({_words(error)})") from error


def _refusal(link: SshConnection, what: str) -> RemoteError:
    if link.lost is not None:
        return RemoteError(link.make_lost_failure())
    return RemoteError(link.failure(FailedAt.REFUSED, f"its sshd {what}: {_FORBIDDEN}"))


def _words(error: Exception) -> str:
    """What sshd says, cut to a line; of a time that is over, that."""
    return str(error)[:100] or "no answer"
