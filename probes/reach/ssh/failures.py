"""The table from an error on the way to a node to the failure that a report names."""

import errno
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

import asyncssh

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.known_hosts import HostKeyState, fingerprint
from benchconsole.probes.reach.ssh.ssh_config import ResolvedHost
from benchconsole.topology.model.fabric import NodeId

HEARD = 64
"""Bytes that are kept of what a server sends first."""


@dataclass(slots=True)
class ConnectionAttempt:
    """How far one attempt to reach a node has come, and what the node has shown on the way.

    ``heard`` are the first ``HEARD`` bytes that it sent. ``on_late_answer`` is called when the node answers after it
    was given up, ``at_end`` with its connection's end.
    """

    node: NodeId
    host: ResolvedHost
    connected: bool = False
    logging_in: bool = False
    connection: asyncssh.SSHClientConnection | None = None
    heard: bytearray = field(default_factory=bytearray)
    offered: asyncssh.SSHKey | None = None
    offered_authority: asyncssh.SSHKey | None = None
    via: str = ""
    tries: int = 1
    on_late_answer: Callable[[], None] = lambda: None
    at_end: list[Callable[[], None]] = field(default_factory=list)

    @property
    def greeted(self) -> bool:
        return self.connection is not None and bool(self.connection.get_extra_info("server_version"))

    @property
    def speaks_otherwise(self) -> bool:
        """Whether a whole line came, and no SSH banner. Lines may stand before one (RFC 4253, 4.2); none followed."""
        has_line = b"\n" in self.heard or len(self.heard) >= HEARD
        return not self.greeted and has_line and not self.heard.startswith(b"SSH-")

    @property
    def where(self) -> str:
        return f"{self.host.host} port {self.host.port}{f' through {self.via}' if self.via else ''}"

    @property
    def tried(self) -> str:
        return f" ({self.tries} tries)" if self.tries > 1 else ""

    @property
    def keys(self) -> str:
        if self.host.keys.pairs:
            return f"none of {len(self.host.keys.pairs)} keys from files, nor any that an agent holds, was accepted"
        return "there is no key file that can be used, and an agent holds none that was accepted"

    @property
    def phase(self) -> str:
        if not self.connected:
            return "no answer"
        if self.speaks_otherwise:
            return f"port {self.host.port} answers, but not as SSH does: it sent {str(bytes(self.heard))[1:]}"
        if not self.greeted:
            return f"accepted the connection on port {self.host.port} but sent no banner"
        if not self.logging_in:
            return "sent its banner but did not finish the key exchange"
        return "did not finish the login"


def failure(error: BaseException, attempt: ConnectionAttempt) -> Failure:
    """The failure that ``error`` means for the attempt."""
    for kind, stage, wording in _TABLE:
        if isinstance(error, kind):
            has_no_route = isinstance(error, OSError) and error.errno in _NO_ROUTE
            words = "no route to {a.where}: {error}" if has_no_route else wording
            if attempt.speaks_otherwise:
                words = "{a.where}: {a.phase}{a.tried}"
            detail = words.format(error=_reason(error), a=attempt, user=attempt.host.user)
            return Failure(stage, detail, attempt.node)
    raise error


def make_host_key_failure(error: asyncssh.HostKeyNotVerifiable, attempt: ConnectionAttempt) -> Failure:
    """Tell a key that was never seen from one that contradicts what is known.

    ``HostKeyState`` opens the detail where the stage does not say the same.
    """
    state, words = _host_key(error, attempt)
    stage = FailedAt.HOST_KEY_UNKNOWN if state is HostKeyState.UNKNOWN else FailedAt.HOST_KEY_CHANGED
    return Failure(stage, words if state.value == stage.value else f"{state}: {words}", attempt.node)


def _host_key(error: asyncssh.HostKeyNotVerifiable, attempt: ConnectionAttempt) -> tuple[HostKeyState, str]:
    trusted, offered, name = attempt.host.trusted, attempt.offered, attempt.host.trusted.name
    if "revoked" in error.reason:
        return HostKeyState.REVOKED, f"the host key of {name} is marked @revoked in known_hosts; do not log in there"
    if attempt.offered_authority is not None:
        known = ", ".join(map(fingerprint, trusted.authorities))
        words = (
            f"the host certificate of {name} is signed by {fingerprint(attempt.offered_authority)},"
            f" trusted for it is {known or 'no authority'}"
        )
        return HostKeyState.WRONG_AUTHORITY if known else HostKeyState.UNKNOWN, words
    if offered is None and trusted.authorities:
        words = f"the host certificate of {name} does not hold ({error.reason}); have its authority sign it anew"
        return HostKeyState.EXPIRED if "expired" in error.reason else HostKeyState.INVALID, words
    if offered is None:
        return HostKeyState.UNKNOWN, f"the host key of {name} cannot be verified: {error.reason}"
    if trusted.keys and not trusted.inherited:
        same = [key for key in trusted.keys if key.get_algorithm() == offered.get_algorithm()] or trusted.keys
        words = (
            f"the host key of {name} has changed: known is {', '.join(map(fingerprint, same))}"
            f" ({', '.join(trusted.places)}), offered {fingerprint(offered)}"
        )
        return HostKeyState.CHANGED, words
    words = (
        f"the host key of {name} is not in known_hosts: it offers {fingerprint(offered)}; compare this fingerprint"
        " with the node's own (ssh-keygen -lf on its console), then accept it with the trust command"
    )
    return HostKeyState.UNKNOWN, words


def make_timeout_error(attempt: ConnectionAttempt, seconds: float) -> RemoteError:
    """A node that stopped answering on the way."""
    detail = f"{attempt.where}: {attempt.phase} within {seconds:g} s"
    return RemoteError(Failure(FailedAt.UNREACHABLE, detail, attempt.node))


CONNECTION_ERRORS = (asyncssh.Error, OSError, ValueError)
"""Errors that asyncssh and the network raise on the way to a node; ValueError for garbage that it decodes."""
_LONGEST = 300
_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)


def _reason(error: BaseException) -> str:
    """The error's own words; a node may have chosen them, so not more than a line of them."""
    words = error.reason if isinstance(error, asyncssh.Error) else getattr(error, "strerror", None) or str(error)
    return words[:_LONGEST] or type(error).__name__


_TABLE: tuple[tuple[type[BaseException], FailedAt, str], ...] = (
    (asyncssh.PermissionDenied, FailedAt.LOGIN, "the login of {user} at {a.where} was refused: {a.keys}"),
    (asyncssh.KeyExchangeFailed, FailedAt.UNREACHABLE, "no common way of key exchange with {a.where}: {error}"),
    (asyncssh.ProtocolNotSupported, FailedAt.UNREACHABLE, "{a.where} does not speak SSH 2: {error}"),
    (asyncssh.ConnectionLost, FailedAt.UNREACHABLE, "{a.where} closed the connection: {a.phase}{a.tried}"),
    (asyncssh.ChannelOpenError, FailedAt.UNREACHABLE, "{a.via} could not connect to {a.where}: {error}"),
    (asyncssh.DisconnectError, FailedAt.UNREACHABLE, "{a.where} ended the connection: {error}"),
    (asyncssh.Error, FailedAt.UNREACHABLE, "{a.where}: {error}"),
    (socket.gaierror, FailedAt.UNREACHABLE, "the name {a.host.host} cannot be resolved: {error}"),
    (ConnectionRefusedError, FailedAt.UNREACHABLE, "{a.where} refused the connection: nothing listens there"),
    (ConnectionResetError, FailedAt.UNREACHABLE, "{a.where} reset the connection: {a.phase}{a.tried}"),
    (OSError, FailedAt.UNREACHABLE, "{a.where}: {error}"),
    (ValueError, FailedAt.UNREACHABLE, "{a.where} sent what cannot be understood: {error}"),
)
"""First match counts. Host keys have a function of their own, because one exception means several things."""
