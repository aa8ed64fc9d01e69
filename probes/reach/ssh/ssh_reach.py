"""The connections of one session: one for each node, through which jump host, and their end.

Implements ``Reach``. ``probes.reach.ssh.connection.RetriedConnection`` decides when a node is asked again.
"""

import asyncio
import os
import resource
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.reach.ssh.connection import (
    IDLE,
    ConnectionPool,
    JumpHostError,
    RetriedConnection,
    SessionBounds,
    SshConnection,
)
from benchconsole.probes.reach.ssh.failures import ConnectionAttempt
from benchconsole.probes.reach.ssh.known_hosts import OfferedKey
from benchconsole.probes.reach.ssh.limits import SshLimits, run_bounded
from benchconsole.probes.reach.ssh.login import Connector, require_safe_version
from benchconsole.probes.reach.ssh.ssh_config import ConfigError, ConfigLookup, Destination, ResolvedHost, SshConfig
from benchconsole.probes.reach.ssh.ssh_remote import RebootCheck, SshRemote
from benchconsole.probes.reach.ssh.sudo import AskPassword, SudoRunner
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Node, NodeId

_LOG = ModuleLog(__name__)
_DEEPEST_JUMP = 8
_WANTED_FILES = 65536
_CLOSED_AT_ONCE = 128
"""Connections that say goodbye at once: thousands of them would hold more memory than the tests did."""
_PAUSE = 30.0
_PAUSE_OF_JUMPS = 5.0
_KINDS = (
    ("ssh-ed25519",),
    ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    ("rsa-sha2-512", "rsa-sha2-256"),
)


class SshReach:
    """Reaches nodes over SSH with the user's own configuration and keys; host keys are always verified.

    ``session`` is carried by every process that is started on a node; ``also_trusted`` are known_hosts
    files of our own, read beside those of the access or the configuration. ``ask_secret`` asks a person
    for the password of sudo, once at most. Made and closed in one event loop.
    """

    def __init__(
        self,
        access: Access,
        session: str,
        *,
        limits: SshLimits = SshLimits(),  # noqa: B008 - frozen
        also_trusted: Sequence[str] = (),
        ask_secret: AskPassword | None = None,
    ) -> None:
        require_safe_version()
        _allow_many_files()
        self._access = access
        self._session = session
        self._limits = limits
        self._threads = ThreadPoolExecutor(max_workers=min(16, 4 * (os.cpu_count() or 1)), thread_name_prefix="ssh")
        configuration = SshConfig(access, also_trusted, login=limits.login, keepalive=IDLE)
        self._resolver = ConfigLookup(configuration, self._threads)
        self._connector = Connector(limits, self._threads)
        self._administrator = SudoRunner(ask_secret, self._threads)
        self._shared = SessionBounds(limits)
        self._comebacks = RebootCheck(session, limits.comeback)
        self._nodes: dict[NodeId, RetriedConnection] = {}
        self._pools: dict[NodeId, ConnectionPool] = {}
        self._jumps: dict[tuple[Destination, ...], RetriedConnection] = {}
        self._crossings: dict[SshConnection, asyncio.Semaphore] = {}
        self._is_closed = False

    async def remote(self, node: Node) -> Remote:
        """The connection to ``node``, opened at first use; RemoteError says at which stage it failed."""
        if self._is_closed:
            raise RemoteError(Failure(FailedAt.CANCELLED, "the session was closed", node.id))

        async def open_another() -> SshConnection:
            return await self._open(self._make_destination(node), node.id, ())

        if node.id not in self._nodes:
            await self._shared.calls.take_brief_turn()
        link = await self._nodes.setdefault(node.id, RetriedConnection(open_another, _PAUSE)).link(node.id)
        if link.lost is not None:
            raise RemoteError(link.make_lost_failure())
        pool = self._pools.get(node.id)
        if pool is None:
            pool = self._pools[node.id] = ConnectionPool(link, open_another, self._limits.connections)
        elif pool.first is not link:
            pool.replace_first(link)
        return SshRemote(pool, self._administrator, lambda lost, error: self._explain(node, lost, error))

    async def list_host_keys(self, node: Node) -> tuple[OfferedKey, ...]:
        """The host keys that ``node`` offers now, one of each kind; no login is tried."""
        host = await self._resolve(self._make_destination(node), node.id)
        via = await self._jump(host.jumps, node.id, (self._make_destination(node),)) if host.jumps else None
        found = []
        for kinds in _KINDS:
            attempt = ConnectionAttempt(node.id, host, via=str(via.node) if via else "")
            key = await self._connector.find_offered_key(attempt, kinds, via.client if via else None)
            if key is not None:
                kind, encoded = key.export_public_key("openssh").decode().split()[:2]
                found.append(OfferedKey(host.trusted.name, kind, encoded, key.get_fingerprint()))
        if not found:
            detail = f"{host.host} port {host.port} offers no host key of a kind that can be verified"
            raise RemoteError(Failure(FailedAt.UNREACHABLE, detail, node.id))
        return tuple(found)

    def algorithms(self, node: NodeId) -> dict[str, str]:
        """Algorithms negotiated with ``node``: cipher, mac, compression, host key and server software; empty before."""
        link = self._nodes[node].last_connection if node in self._nodes else None
        return link.algorithms if link is not None else {}

    async def close(self) -> None:
        """End everything that was opened; nothing of ours runs on afterwards."""
        self._is_closed = True
        await self._comebacks.close()
        for opened in (self._pools, self._nodes, self._jumps):  # jump hosts last: the others' goodbyes go through them
            await run_bounded([each.close for each in opened.values()], _CLOSED_AT_ONCE)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _make_destination(self, node: Node) -> Destination:
        return Destination(node.address, self._access.user, self._access.port)

    async def _explain(self, node: Node, lost: SshConnection, error: RemoteError) -> RemoteError:
        if lost.via is not None and lost.via.lost is not None:
            return error  # the jump host is the cause, and is not asked once a node

        asked = False

        async def again() -> Remote:
            nonlocal asked
            if asked:  # it refused a moment ago, as a node does that boots
                self._nodes[node.id].allow_retry()
            asked = True
            return await self.remote(node)

        return await self._comebacks.explain(lost, error, again)

    async def _open(self, destination: Destination, node: NodeId, through: tuple[Destination, ...]) -> SshConnection:
        """A link to ``destination``; ``through`` are the places that asked for it as their jump host."""
        host = await self._resolve(destination, node)
        via = await self._jump(host.jumps, node, (*through, destination)) if host.jumps else None
        return await self._connect(host, node, via)

    async def _resolve(self, destination: Destination, node: NodeId) -> ResolvedHost:
        try:
            return await self._resolver.resolve(destination)
        except ConfigError as error:
            raise RemoteError(Failure(error.stage, str(error), node)) from error

    async def _jump(
        self, hops: tuple[Destination, ...], node: NodeId, through: tuple[Destination, ...]
    ) -> SshConnection:
        """The link to the last of ``hops``, shared by all that go through it."""
        if hops[-1] in through or len(through) > _DEEPEST_JUMP:
            detail = f"ProxyJump goes in a circle: {' > '.join(map(str, (*through, hops[-1])))}"
            raise RemoteError(Failure(FailedAt.UNREACHABLE, detail, node))
        retried = RetriedConnection(lambda: self._open_jump(hops, through), _PAUSE_OF_JUMPS)
        try:
            link = await self._jumps.setdefault(hops, retried).link(node)
        except RemoteError as error:
            detail = error.failure.detail
            detail = detail if detail.startswith("jump host ") else f"jump host {hops[-1]}: {detail}"
            raise JumpHostError(Failure(error.failure.stage, detail, node)) from error
        if link.lost is not None:
            raise JumpHostError(Failure(FailedAt.LOST, link.find_root_cause(), node))
        return link

    async def _open_jump(self, hops: tuple[Destination, ...], through: tuple[Destination, ...]) -> SshConnection:
        name = NodeId(str(hops[-1]))
        if len(hops) == 1:
            link = await self._open(hops[0], name, through)
        else:
            via = await self._jump(hops[:-1], name, through)
            link = await self._connect(await self._resolve(hops[-1], name), name, via)
        # asked more often than those behind it, so that its loss is noticed first, as the cause
        link.client.set_keepalive(self._limits.keepalive / 2)
        return link

    async def _connect(self, host: ResolvedHost, node: NodeId, via: SshConnection | None) -> SshConnection:
        """Connect, through a jump host few at a time; when that goes away meanwhile, it is the cause."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        link = SshConnection(node, self._session, self._limits, via, self._shared)
        retried = self._nodes.get(node)
        attempt = ConnectionAttempt(node, host, via=str(via.node) if via else "")
        if retried is not None:
            attempt.on_late_answer = retried.allow_retry
        if via is None:
            link.set_client(await self._connector.connect(attempt, link.on_lost))
        else:
            try:
                async with self._crossings.setdefault(via, asyncio.Semaphore(self._limits.behind_jump)):
                    link.set_client(await self._connector.connect(attempt, link.on_lost, via.client))
            except RemoteError as error:
                # A connection that closes takes no channel any more one turn of the loop before it is known as lost.
                await asyncio.sleep(0)
                if via.lost is None:
                    raise
                raise JumpHostError(Failure(FailedAt.LOST, via.find_root_cause(), node)) from error
        _LOG.info(node, "connected to %s as %s in %.3f s", attempt.where, host.user, loop.time() - began)
        return link


def _allow_many_files() -> None:
    """One connection is one file; the soft limit is often 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
