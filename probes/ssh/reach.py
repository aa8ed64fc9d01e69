"""Owns the connections of one session: which node has one, through which jump host, and their end.

Implements ``Reach``. When a node is asked again is decided by ``probes.ssh.way``. Refuses to run
anything itself but the one question to a node that came back: what became of it.
"""

import asyncio
import os
import resource
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import asyncssh

from probes.model import FailedAt, Failure
from probes.remote import Remote, RemoteError
from probes.ssh.comeback import Comebacks
from probes.ssh.config import ConfigError, Configuration, Place, Route
from probes.ssh.connecting import Connector
from probes.ssh.failures import Attempt, config_failure
from probes.ssh.floor import require
from probes.ssh.lanes import Lanes
from probes.ssh.limits import Limits
from probes.ssh.link import Link, Shared
from probes.ssh.privilege import Administrator, AskSecret
from probes.ssh.process import SshRemote
from probes.ssh.pulse import IDLE
from probes.ssh.resolving import Resolver
from probes.ssh.way import BehindError, Way
from probes.trust import Offer
from topology.model import Access, Node, NodeId

_DEEPEST_JUMP = 8
_WANTED_FILES = 65536
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
        limits: Limits = Limits(),  # noqa: B008 - frozen
        also_trusted: Sequence[str] = (),
        ask_secret: AskSecret | None = None,
    ) -> None:
        require()
        _allow_many_files()
        self._access = access
        self._session = session
        self._limits = limits
        self._threads = ThreadPoolExecutor(max_workers=min(16, 4 * (os.cpu_count() or 1)), thread_name_prefix="ssh")
        configuration = Configuration(access, also_trusted, login=limits.login, keepalive=IDLE)
        self._resolver = Resolver(configuration, self._threads)
        self._connector = Connector(limits, self._threads)
        self._administrator = Administrator(ask_secret, self._threads)
        self._shared = Shared.of(limits)
        self._comebacks = Comebacks(session, limits.comeback)
        self._ways: dict[NodeId, Way] = {}
        self._lanes: dict[NodeId, Lanes] = {}
        self._jumps: dict[tuple[Place, ...], Way] = {}
        self._crossings: dict[Link, asyncio.Semaphore] = {}
        self._is_closed = False

    async def remote(self, node: Node) -> Remote:
        """The connection to ``node``, opened at first use; RemoteError says at which stage it failed."""
        if self._is_closed:
            raise RemoteError(Failure(FailedAt.CANCELLED, "the session was closed", node.id))
        way = self._ways.get(node.id)
        if way is None:
            way = self._ways[node.id] = Way(lambda: self._open(self._place(node), node.id, ()), _PAUSE)
        link = await way.link(node.id)
        if link.lost is not None:
            raise RemoteError(link.lost_failure())
        lanes = self._lanes.get(node.id)
        if lanes is None or lanes.first is not link:
            lanes = self._lanes[node.id] = Lanes(
                link, lambda: self._open(self._place(node), node.id, ()), self._limits.lanes
            )
        return SshRemote(lanes, self._administrator, lambda lost, error: self._explain(node, lost, error))

    async def offers(self, node: Node) -> tuple[Offer, ...]:
        """The host keys that ``node`` offers now, one of each kind; no login is tried."""
        route = await self._resolve(self._place(node), node.id)
        via = await self._jump(route.jumps, node.id, (self._place(node),)) if route.jumps else None
        found = []
        for kinds in _KINDS:
            attempt = Attempt(node.id, route, via=str(via.node) if via else "")
            key = await self._connector.offered(attempt, kinds, via.connection if via else None)
            if key is not None:
                kind, encoded = key.export_public_key("openssh").decode().split()[:2]
                found.append(Offer(route.trusted.name, kind, encoded, key.get_fingerprint()))
        if not found:
            detail = f"{route.host} port {route.port} offers no host key of a kind that can be verified"
            raise RemoteError(Failure(FailedAt.UNREACHABLE, detail, node.id))
        return tuple(found)

    def algorithms(self, node: NodeId) -> dict[str, str]:
        """What was negotiated with ``node``: cipher, mac, compression, host key and server software; empty before."""
        link = self._ways[node].opened if node in self._ways else None
        return link.algorithms if link is not None else {}

    async def close(self) -> None:
        """End everything that was opened; nothing of ours runs on afterwards."""
        self._is_closed = True
        await self._comebacks.close()
        await asyncio.gather(*(lanes.close() for lanes in self._lanes.values()))
        for ways in (self._ways, self._jumps):  # jump hosts last: the others' goodbyes go through them
            await asyncio.gather(*(way.close() for way in ways.values()))
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _place(self, node: Node) -> Place:
        return Place(node.address, self._access.user, self._access.port)

    async def _explain(self, node: Node, lost: Link, error: RemoteError) -> RemoteError:
        if lost.via is not None and lost.via.lost is not None:
            return error  # the jump host is the cause, and is not asked once a node

        asked = False

        async def again() -> Remote:
            nonlocal asked
            if asked:  # it refused a moment ago, as a node does that boots
                self._ways[node.id].forgive()
            asked = True
            return await self.remote(node)

        return await self._comebacks.explain(lost, error, again)

    async def _open(self, place: Place, node: NodeId, through: tuple[Place, ...]) -> Link:
        """A link to ``place``; ``through`` are the places that asked for it as their jump host."""
        route = await self._resolve(place, node)
        via = await self._jump(route.jumps, node, (*through, place)) if route.jumps else None
        return await self._connect(route, node, via)

    async def _resolve(self, place: Place, node: NodeId) -> Route:
        try:
            return await self._resolver.resolve(place)
        except ConfigError as error:
            raise RemoteError(config_failure(error, node)) from error

    async def _jump(self, hops: tuple[Place, ...], node: NodeId, through: tuple[Place, ...]) -> Link:
        """The link to the last of ``hops``, shared by all that go through it."""
        if hops[-1] in through or len(through) > _DEEPEST_JUMP:
            detail = f"ProxyJump goes in a circle: {' > '.join(map(str, (*through, hops[-1])))}"
            raise RemoteError(Failure(FailedAt.UNREACHABLE, detail, node))
        way = self._jumps.get(hops)
        if way is None:
            way = self._jumps[hops] = Way(lambda: self._open_jump(hops, through), _PAUSE_OF_JUMPS)
        try:
            link = await way.link(node)
        except RemoteError as error:
            failed = error.failure
            raise BehindError(Failure(failed.stage, _of_jump(hops, failed.detail), node)) from error
        if link.lost is not None:
            raise BehindError(Failure(FailedAt.LOST, link.root_cause(), node))
        return link

    async def _open_jump(self, hops: tuple[Place, ...], through: tuple[Place, ...]) -> Link:
        name = NodeId(str(hops[-1]))
        if len(hops) == 1:
            link = await self._open(hops[0], name, through)
        else:
            via = await self._jump(hops[:-1], name, through)
            link = await self._connect(await self._resolve(hops[-1], name), name, via)
        link.carries_others()
        return link

    async def _connect(self, route: Route, node: NodeId, via: Link | None) -> Link:
        link = Link(node, self._session, self._limits, via, self._shared)
        way = self._ways.get(node)
        attempt = Attempt(node, route, via=str(via.node) if via else "", is_late=way.forgive if way else lambda: None)
        if via is None:
            connection = await self._connector.connect(attempt, link.on_lost)
        else:
            connection = await self._cross(attempt, link, via)
        link.connected(connection)
        return link

    async def _cross(self, attempt: Attempt, link: Link, via: Link) -> asyncssh.SSHClientConnection:
        """Connect through a jump host, few at a time; when it goes away meanwhile, that is the cause."""
        try:
            async with self._crossings.setdefault(via, asyncio.Semaphore(self._limits.behind_jump)):
                return await self._connector.connect(attempt, link.on_lost, via.connection)
        except RemoteError as error:
            if via.lost is None:
                raise
            raise BehindError(Failure(FailedAt.LOST, via.root_cause(), attempt.node)) from error


def _of_jump(hops: tuple[Place, ...], detail: str) -> str:
    prefix = f"jump host {hops[-1]}: "
    return detail if detail.startswith("jump host ") else f"{prefix}{detail}"


def _allow_many_files() -> None:
    """One connection is one file; the soft limit is often 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
