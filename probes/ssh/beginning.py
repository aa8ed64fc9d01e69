"""Owns the sending of a command: a slot of a connection, a channel on it, the wrapper's text.

What a node refuses because it runs enough already waits its turn. A call that gives up while its channel is being
opened leaves nothing open behind it. Refuses to wait for the command's end.
"""

import asyncio
import secrets
from functools import partial

import asyncssh

from probes.model import FailedAt
from probes.remote import RemoteError
from probes.ssh.link import Link
from probes.ssh.speech import Listener, Speech
from probes.ssh.watchdog import Wrapped

_REFUSALS = 20
_REFUSAL_PAUSE = 0.05
_CLOSING_PATIENCE = 2.0


class _RefusedError(Exception):
    """The node runs as many commands on the connection as it allows."""


def nonce() -> str:
    """A word that no login script says."""
    return secrets.token_hex(12)


async def begun(link: Link, wrapped: Wrapped, listener: Listener | None) -> Speech:
    """The command, sent, in a slot of the connection that ``Call.end`` gives back."""
    refused = 0
    while True:
        await link.take_slot()
        try:
            async with link.start():
                return await _begin(link, wrapped, listener)
        except BaseException as error:
            link.give_slot_back()
            if not isinstance(error, _RefusedError):
                raise
            if link.speeches:
                link.slots.shrink(len(link.speeches))
            else:  # it may still be busy with closing the last one
                refused += 1
            if refused > _REFUSALS:
                raise RemoteError(link.failure(FailedAt.LOST, str(error))) from error
        await asyncio.sleep(_REFUSAL_PAUSE)


async def _begin(link: Link, wrapped: Wrapped, listener: Listener | None) -> Speech:
    """Send the command, in a task of its own: nobody who gives up waiting may leave a half-open channel."""
    opening = asyncio.get_running_loop().create_task(_open(link, wrapped, listener))
    try:
        await asyncio.wait((opening,), timeout=link.limits.login)
    except asyncio.CancelledError:
        opening.add_done_callback(partial(_drop, link))
        await asyncio.wait((opening,), timeout=_CLOSING_PATIENCE)
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result().end(link.limits.ending)
        raise
    if not opening.done():
        opening.add_done_callback(partial(_drop, link))
        detail = f"the node did not start a command within {link.limits.login:g} s"
        raise RemoteError(link.failure(FailedAt.LOST, detail))
    return opening.result()


async def _open(link: Link, wrapped: Wrapped, listener: Listener | None) -> Speech:
    if link.lost is not None or link.is_closing:
        raise RemoteError(link.lost_failure())
    try:
        speech = await Speech.begin(link.connection, wrapped.text, wrapped.nonce, link.limits.output, listener)
    except asyncssh.ChannelOpenError as error:
        if link.lost is None and not link.connection.is_closed():
            raise _RefusedError(f"the node refused to start a command: {error.reason}") from error
        raise RemoteError(link.lost_failure()) from error
    except (asyncssh.Error, OSError) as error:
        raise RemoteError(link.failure(FailedAt.LOST, link.lost or str(error))) from error
    link.speeches.add(speech)
    if wrapped.feed and listener is None:
        speech.channel.write(wrapped.feed)
    return speech


def _drop(link: Link, opening: "asyncio.Task[Speech]") -> None:
    """Nobody waits for this command any more. Its watchdog takes the end of stdin for an order to end."""
    if not opening.cancelled() and opening.exception() is None:
        link.speeches.discard(opening.result())
        opening.result().channel.write_eof()
