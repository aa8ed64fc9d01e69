"""Owns the connections of one session: which node has one, which has failed, and their end.

Implements ``Reach``. A node is logged in to once; its failure is remembered and told again, so that
nothing that asks often can lock an account. Refuses to run anything itself.
"""

import asyncio
import os
import resource
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from probes.model import FailedAt, Failure
from probes.remote import Remote, RemoteError
from probes.ssh.config import ConfigError, Configuration, Place, Route
from probes.ssh.connecting import Connector
from probes.ssh.failures import Attempt, config_failure
from probes.ssh.lanes import Lanes
from probes.ssh.limits import Limits
from probes.ssh.link import Link
from probes.ssh.process import SshRemote
from probes.trust import Offer
from topology.model import Access, Node, NodeId

_DEEPEST_JUMP = 8
_WANTED_FILES = 65536
_KINDS = (
    ("ssh-ed25519",),
    ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    ("rsa-sha2-512", "rsa-sha2-256"),
)


class SshReach:
    """Reaches nodes over SSH with the user's own configuration and keys; host keys are always verified.

    ``session`` is carried by every process that is started on a node; ``also_trusted`` are known_hosts
    files of our own, read beside those of the access or the configuration. Made and closed in one event loop.
    """

    def __init__(
        self,
        access: Access,
        session: str,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        also_trusted: Sequence[str] = (),
    ) -> None:
        _allow_many_files()
        self._access = access
        self._session = session
        self._limits = limits
        self._threads = ThreadPoolExecutor(max_workers=min(16, 4 * (os.cpu_count() or 1)), thread_name_prefix="ssh")
        self._configuration = Configuration(access, also_trusted, login=limits.login, keepalive=limits.keepalive)
        self._connector = Connector(limits, self._threads)
        self._opening: dict[NodeId, asyncio.Task[Link]] = {}
        self._lanes: dict[NodeId, Lanes] = {}
        self._reopened: set[NodeId] = set()
        self._jumps: dict[tuple[Place, ...], asyncio.Task[Link]] = {}
        self._crossings: dict[Link, asyncio.Semaphore] = {}
        self._refusals = 0
        self._has_logged_in = False
        self._is_closed = False

    async def remote(self, node: Node) -> Remote:
        """The connection to ``node``, opened at first use; RemoteError says at which stage it failed."""
        if self._is_closed:
            raise RemoteError(Failure(FailedAt.CANCELLED, "the session was closed", node.id))
        opening = self._opening.get(node.id)
        if opening is None or (self._is_lost(opening) and node.id not in self._reopened):
            if opening is not None:
                self._reopened.add(node.id)
            opening = self._opening[node.id] = asyncio.create_task(self._open(self._place(node), node.id, ()))
        link = await self._opened(opening, node.id)
        if link.lost is not None:
            raise RemoteError(link.lost_failure())
        lanes = self._lanes.get(node.id)
        if lanes is None or lanes.first is not link:
            lanes = self._lanes[node.id] = Lanes(
                link, lambda: self._open(self._place(node), node.id, ()), self._limits.lanes
            )
        return SshRemote(lanes)

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

    async def close(self) -> None:
        """End everything that was opened; nothing of ours runs on afterwards."""
        self._is_closed = True
        await asyncio.gather(*(lanes.close() for lanes in self._lanes.values()))
        for openings in (self._opening, self._jumps):  # jump hosts last: the others' goodbyes go through them
            for opening in openings.values():
                opening.cancel()
            await asyncio.gather(*openings.values(), return_exceptions=True)
            links = [o.result() for o in openings.values() if not o.cancelled() and o.exception() is None]
            await asyncio.gather(*(link.close() for link in links))
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _place(self, node: Node) -> Place:
        return Place(node.address, self._access.user, self._access.port)

    @staticmethod
    def _is_lost(opening: "asyncio.Task[Link]") -> bool:
        if not opening.done() or opening.cancelled() or opening.exception() is not None:
            return False
        return opening.result().lost is not None

    @staticmethod
    async def _opened(opening: "asyncio.Task[Link]", node: NodeId) -> Link:
        """The link, or its failure as an exception of its own for everyone who asks."""
        await asyncio.wait((opening,))
        if opening.cancelled():
            raise RemoteError(Failure(FailedAt.CANCELLED, "the session was closed", node))
        error = opening.exception()
        if isinstance(error, RemoteError):
            raise RemoteError(error.failure)
        return opening.result()

    async def _open(self, place: Place, node: NodeId, through: tuple[Place, ...]) -> Link:
        """A link to ``place``; ``through`` are the places that asked for it as their jump host."""
        self._give_up_after_refusals(node)
        route = await self._resolve(place, node)
        via = await self._jump(route.jumps, node, (*through, place)) if route.jumps else None
        return await self._connect(route, node, via)

    async def _resolve(self, place: Place, node: NodeId) -> Route:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._configuration.resolve, place)
        except ConfigError as error:
            raise RemoteError(config_failure(error, node)) from error

    async def _jump(self, hops: tuple[Place, ...], node: NodeId, through: tuple[Place, ...]) -> Link:
        """The link to the last of ``hops``, shared by all that go through it."""
        if hops[-1] in through or len(through) > _DEEPEST_JUMP:
            detail = f"ProxyJump goes in a circle: {' > '.join(map(str, (*through, hops[-1])))}"
            raise RemoteError(Failure(FailedAt.UNREACHABLE, detail, node))
        if hops not in self._jumps or self._is_lost(self._jumps[hops]):
            self._jumps[hops] = asyncio.create_task(self._open_jump(hops, through))
        try:
            link = await self._opened(self._jumps[hops], node)
        except RemoteError as error:
            failed = error.failure
            raise RemoteError(Failure(failed.stage, f"jump host {hops[-1]}: {failed.detail}", node)) from error
        if link.lost is not None:
            raise RemoteError(Failure(FailedAt.LOST, f"the jump host {hops[-1]} went away: {link.lost}", node))
        return link

    async def _open_jump(self, hops: tuple[Place, ...], through: tuple[Place, ...]) -> Link:
        name = NodeId(str(hops[-1]))
        if len(hops) == 1:
            return await self._open(hops[0], name, through)
        via = await self._jump(hops[:-1], name, through)
        return await self._connect(await self._resolve(hops[-1], name), name, via)

    async def _connect(self, route: Route, node: NodeId, via: Link | None) -> Link:
        link = Link(node, self._session, self._limits, via)
        attempt = Attempt(node, route, via=str(via.node) if via else "")
        try:
            if via is None:
                connection = await self._connector.connect(attempt, link.on_lost)
            else:
                async with self._crossings.setdefault(via, asyncio.Semaphore(self._limits.behind_jump)):
                    connection = await self._connector.connect(attempt, link.on_lost, via.connection)
        except RemoteError as error:
            if error.failure.stage is FailedAt.LOGIN:
                self._refusals += 1
            raise
        self._has_logged_in = True
        link.connected(connection)
        return link

    def _give_up_after_refusals(self, node: NodeId) -> None:
        """With nothing but refusals the key or the user is wrong everywhere: do not go on knocking."""
        if self._refusals >= self._limits.refusals and not self._has_logged_in:
            detail = f"not tried: {self._refusals} nodes refused the login and none accepted it"
            raise RemoteError(Failure(FailedAt.LOGIN, detail, node))


def _allow_many_files() -> None:
    """One connection is one file; the soft limit is often 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
