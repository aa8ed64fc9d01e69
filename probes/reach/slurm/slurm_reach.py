"""Nodes reached through Slurm: every command is a step of one node inside an allocation of ours.

Implements ``Reach`` over another one, which reaches the machine where ``srun`` is started: the admin node
itself (``probes.reach.slurm.local_steps``) or a head node over SSH. That machine's watchdog surrounds srun;
when it ends, Slurm ends the step. srun's exit status alone decides nothing: a step that never began is recognised
by the absence of our first line.

The allocation is held by ``salloc`` that waits under the same watchdog: when the console dies, salloc ends and Slurm
takes the nodes back. Only a job that carries the name of our session is cancelled. Nodes that Slurm would not give
are left out: one of them would keep all others waiting.

The inner reach must carry another session name than ours: on a head node that is also tested, the holder of the
allocation would otherwise be taken for a leftover of the session and ended.
"""

import asyncio
import re
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from math import ceil

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import Reach, Remote, RemoteError, Running
from benchconsole.probes.reach.slurm.local_steps import LocalReach
from benchconsole.probes.reach.slurm.slurm_state import NodeSeen, ask, first_line, job_name, nodes
from benchconsole.probes.reach.watched_command import record_command
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole
from benchconsole.topology.selection import fold

_LOG = ModuleLog(__name__)
_GRANTED = "Granted job allocation"
_QUICK = 30.0
_HARMLESS = frozenset((
    "IDLE", "MIXED", "ALLOCATED", "COMPLETING", "CLOUD", "PLANNED", "POWERED_DOWN", "POWERING_UP",
    "DYNAMIC", "DYNAMIC_NORM", "DYNAMIC_FUTURE",
))  # fmt: skip
_WORD = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class Wish:
    """The allocation that is asked of Slurm. ``seconds`` bounds the whole session, ``patience`` the waiting for nodes.

    ``partition`` and ``account`` are Slurm's own choice where empty. ``exclusive``: no other job beside ours.
    """

    partition: str = ""
    account: str = ""
    seconds: float = 4 * 3600.0
    patience: float = 300.0
    exclusive: bool = True

    def __post_init__(self) -> None:
        for name, value in (("partition", self.partition), ("account", self.account)):
            if value and not _WORD.fullmatch(value):
                raise ValueError(f"found {value!r} as {name}, expected a name of Slurm")

    def arguments(self, session: str, wanted: Sequence[str]) -> list[str]:
        """The command that asks for ``wanted`` and holds them until it is ended.

        ``--no-kill``: when a node dies the others stay ours, and their tests go on.
        """
        argv = ["salloc", "--no-kill", f"--nodes={len(wanted)}", f"--nodelist={fold(wanted)}"]
        argv += [f"--job-name={job_name(session)}", f"--comment=benchconsole {session}"]
        argv += [f"--time={ceil(self.seconds / 60)}"]
        argv += ["--exclusive"] if self.exclusive else []
        argv += [f"--partition={self.partition}"] if self.partition else []
        argv += [f"--account={self.account}"] if self.account else []
        return [*argv, "sleep", str(ceil(self.seconds))]


class Allocation:
    """Nodes that Slurm has given to ``session``, on request of ``remote``. Open it once, close it once."""

    def __init__(self, remote: Remote, session: str, wish: Wish) -> None:
        self._remote = remote
        self._session = session
        self._wish = wish
        self._held = AsyncExitStack()
        self.job = 0
        self.left_out: dict[NodeId, str] = {}

    async def open(self, wanted: Sequence[NodeId]) -> None:
        """Ask for the nodes of ``wanted`` that Slurm has up, and wait until they are ours.

        The others are in ``left_out``, with the reason. Raises RemoteError when none is up, when Slurm refuses,
        and when others still have the nodes at the end of the patience.
        """
        seen = await self._nodes()
        self.left_out = {name: words for name in wanted if (words := _unfit(seen.get(name)))}
        fit = [name for name in wanted if name not in self.left_out]
        if not fit:
            raise self.error(FailedAt.UNREACHABLE, f"none of {fold(wanted)} is up in Slurm: {self.left_out[wanted[0]]}")
        argv = self._wish.arguments(self._session, fit)
        limit = self._wish.seconds + self._wish.patience + 60.0
        try:
            holder = await self._held.enter_async_context(self._remote.start(argv, timeout=limit))
            await self._granted(holder, fit)
            running = [number for number, _, state in await self._ours() if state == "RUNNING"]
            if not running:
                raise self.error(FailedAt.LOST, "the allocation was granted and is gone already")
            self.job = max(running)
            _LOG.info(self._remote.node, "Slurm gave allocation %d: %s", self.job, fold(fit))
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Give everything back: end the holder, then cancel the job by its number if it is still there and ours."""
        await self._held.aclose()
        for number, name, state in await self._ours():
            if name == job_name(self._session) and state in ("RUNNING", "PENDING", "SUSPENDED", "CONFIGURING"):
                await self._remote.run(("scancel", str(number)), timeout=_QUICK)

    def error(self, stage: FailedAt, detail: str) -> RemoteError:
        return RemoteError(Failure(stage, detail[:500], self._remote.node))

    async def _nodes(self) -> dict[str, NodeSeen]:
        try:
            text = await ask(self._remote, "sinfo", "--json")
            if text is None:
                raise self.error(FailedAt.MISSING_TOOL, f"{self._remote.node} belongs to no Slurm cluster (sinfo)")
            return nodes(text)
        except ProbeOutputError as error:
            raise self.error(FailedAt.OUTPUT, str(error)) from error

    async def _granted(self, holder: Running, wanted: Sequence[NodeId]) -> None:
        try:
            await holder.says(_GRANTED, timeout=self._wish.patience)
        except RemoteError as error:
            if error.failure.stage is FailedAt.TIMEOUT:
                reasons = {reason for _, _, reason in await self._ours("%r")}
                words = f"{fold(wanted)} still in use after {self._wish.patience:g} s: {', '.join(sorted(reasons))}"
                raise self.error(FailedAt.IN_USE, words) from error
            line = first_line(error.output) if error.output else ""
            words = line.removeprefix("salloc: ").removeprefix("error: ") or error.failure.detail
            stage = error.failure.stage if error.failure.stage is not FailedAt.TOOL else FailedAt.UNREACHABLE
            raise self.error(stage, f"Slurm gave no allocation: {words}") from error

    async def _ours(self, last: str = "%T") -> list[tuple[int, str, str]]:
        """Number, name and one thing more of the jobs that carry the session's name; finished ones are not listed."""
        name = job_name(self._session)
        argv = ("squeue", "--noheader", "--name", name, f"--format=%A|%j|{last}")
        output = await self._remote.run(argv, timeout=_QUICK)
        lines = (line.split("|") for line in output.text.splitlines())
        return [(int(number), found, word.strip()) for number, found, word in lines if number.strip().isdigit()]


def _unfit(seen: NodeSeen | None) -> str:
    if seen is None:
        return "Slurm knows no node of this name"
    wrong = sorted(seen.states - _HARMLESS)
    because = f": {seen.reason}" if seen.reason else ""
    return f"Slurm has it {', '.join(wrong).lower()}{because}" if wrong else ""


_STARTING = 15.0
"""Seconds beyond a command's own for Slurm to start and to end its step."""
_NOT_FOUND = 127
_TIMED_OUT = (124, 137)
_KILLED = (137, 143)
_OURS = frozenset((FailedAt.TIMEOUT, FailedAt.FLOODED, FailedAt.CANCELLED))
"""Ends that we brought about: that Slurm then says that the step was cancelled explains nothing."""

# $0 nonce, $1 session, $2 whether as the administrator, $3 seconds. The login shell of the head node reads it too.
_BEGIN = (
    "n=$0 a=$2 l=$3; export BENCHCONSOLE_SESSION=$1; shift 3; "
    'if [ "$a" = 1 ] && [ "$(id -u)" -gt 0 ]; then set -- sudo -n -- "$@"; fi; '
    'echo "$n"; echo "$n" >&2; exec timeout -k 5 "$l" "$@"'
)
_OF_SRUN = re.compile(rb"^(?:srun|slurmstepd(?:-\S+)?): [^\n]*\n?", re.MULTILINE)
_NODE_LOST = re.compile(r"(?:[Nn]ode failure on|DUE TO NODE FAILURE|Communication connection failure)[^\n]*")
_CANCELLED = re.compile(r"CANCELLED AT[^\n]*")
_ENDED = re.compile(r"(?:has expired|Invalid job id|already completing or completed|Expired or invalid job)[^\n]*")
_DOWN = re.compile(
    r"(?:Requested node configuration is not available|Required node not available|Node\(s\) in an invalid state"
    r"|Unable to contact|Communication connection failure|Task launch [^\n]*failed|nodes? [^\n]*not responding)[^\n]*"
)
_TASK_KILLED = re.compile(r"srun: error: \S+: task 0: (?!Exited)([^\n]+)")
"""A task that a signal ended; what it had said last, our first line too, may then be lost."""
_LONGEST = 300


def door_name(session: str) -> str:
    """The session name of the inner reach: what holds the allocation of ``session`` is no leftover of it."""
    return f"{session}.slurm"


def through_slurm(
    session: str, nodes: Sequence[Node], wish: Wish, via: tuple[Reach, Node] | None = None
) -> "SlurmReach":
    """A reach for ``nodes`` through one allocation, asked for on this machine, or ``via`` a head node.

    The reach of ``via`` was made with ``door_name(session)``; it is closed with this one.
    """
    if via is None:
        here = socket.gethostname()
        head = Node(NodeId(here), NodeRole.MANAGEMENT, Hardware("this machine"), here, here)
        via = LocalReach(door_name(session)), head
    return SlurmReach(*via, session, nodes, wish)


class SlurmReach:
    """Reaches ``nodes`` through one allocation for all of them, asked for at first use from ``head``.

    ``inner`` reaches ``head`` (see above) and is closed with this one. The nodes go by their names in the file,
    which must be those of Slurm.
    """

    def __init__(self, inner: Reach, head: Node, session: str, nodes: Sequence[Node], wish: Wish = Wish()) -> None:
        self._inner = inner
        self._head = head
        self._session = session
        self._nodes = tuple(node.id for node in nodes)
        self._wish = wish
        self._opening: asyncio.Task[tuple[Remote, Allocation]] | None = None

    async def remote(self, node: Node) -> Remote:
        """Steps on ``node``; RemoteError when the allocation failed, or has no such node."""
        if node.id not in self._nodes:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "it is not among the nodes of the allocation", node.id))
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        await asyncio.wait((opening,))
        if opening.cancelled():
            raise RemoteError(Failure(FailedAt.CANCELLED, "the session was closed", node.id))
        error = opening.exception()
        if isinstance(error, RemoteError):
            raise RemoteError(replace(error.failure, node=node.id))
        door, allocation = opening.result()
        if node.id in allocation.left_out:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, allocation.left_out[node.id], node.id))
        return SlurmRemote(door, allocation.job, node.id, self._session)

    async def close(self) -> None:
        """Give the allocation back; nothing of ours runs on afterwards.

        RemoteError where Slurm did not answer that it is given back; the way to the head is closed all the same.
        """
        try:
            await self._give_back()
        finally:
            await self._inner.close()

    async def _give_back(self) -> None:
        opening = self._opening
        if opening is None:
            return
        opening.cancel()
        await asyncio.wait((opening,))
        if opening.cancelled() or opening.exception() is not None:
            return
        allocation = opening.result()[1]
        try:
            await allocation.close()
        except RemoteError as error:  # the head may be gone: then its watchdog has ended what held them
            if not (error.failure.stage.means_unreachable or error.failure.stage is FailedAt.LOST):
                _LOG.warning(self._head.id, "allocation %d may not be given back: %s", allocation.job, error)
                raise

    async def _open(self) -> tuple[Remote, Allocation]:
        door = await self._inner.remote(self._head)
        allocation = Allocation(door, self._session, self._wish)
        await allocation.open(self._nodes)
        return door, allocation


class SlurmRemote:
    """One node of allocation ``job``: each command is a step of its own, beside the others (``--overlap``)."""

    def __init__(self, door: Remote, job: int, node: NodeId, session: str) -> None:
        self._door = door
        self._job = job
        self._session = session
        self.node = node

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        step = _Step(self.node, self._job, tuple(argv), timeout)
        command = self._command(step, stdin=bool(stdin), privileged=privileged)
        ending = self.settled(step, self._door.run(command, timeout=timeout + _STARTING, stdin=stdin))
        return await record_command(_LOG, self.node, argv, ending)

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator[Running]:
        step = _Step(self.node, self._job, tuple(argv), timeout)
        command = self._command(step, stdin=False, privileged=False)
        async with self._door.start(command, timeout=timeout + _STARTING) as running:
            yield SlurmRunning(running, step, self)

    async def settled(self, step: "_Step", ending: Awaitable[Output]) -> Output:
        """The command's own output once its step has ended; RemoteError says what of the node, or of Slurm, failed."""
        try:
            output = await ending
        except RemoteError as error:
            raise await self.explained(step.translated(error)) from error
        try:
            return step.result(output)
        except RemoteError as error:
            raise await self.explained(error) from None

    async def explained(self, error: RemoteError) -> RemoteError:
        """A command that somebody killed: when the allocation is gone too, that is the reason."""
        if error.failure.stage is not FailedAt.KILLED:
            return error
        argv = ("squeue", "--noheader", f"--jobs={self._job}", "--format=%T")
        try:
            asked = await self._door.run(argv, timeout=_STARTING)
        except RemoteError:
            return error
        if asked.exit_status == 0 and asked.text.strip() in ("RUNNING", "SUSPENDED"):
            return error
        words = f"allocation {self._job} has ended: {asked.text.strip().lower() or 'it is not in the queue'}"
        return RemoteError(Failure(FailedAt.LOST, words, self.node), error.output)

    def _command(self, step: "_Step", *, stdin: bool, privileged: bool) -> list[str]:
        srun = ["srun", f"--jobid={self._job}", "--overlap", f"--nodelist={self.node}", "--nodes=1", "--ntasks=1"]
        srun += ["--chdir=/", "--mpi=none", "--export=ALL", f"--input={'all' if stdin else 'none'}"]
        begin = ["sh", "-c", _BEGIN, step.nonce, self._session, "1" if privileged else "0", f"{step.seconds:g}"]
        return [*srun, *begin, *step.argv]


class SlurmRunning:
    """A step that goes on while others run."""

    def __init__(self, running: Running, step: "_Step", remote: SlurmRemote) -> None:
        self._running = running
        self._step = step
        self._remote = remote

    async def says(self, text: str, *, timeout: float) -> None:
        try:
            await self._running.says(text, timeout=timeout + _STARTING)
        except RemoteError as error:
            raise await self._remote.explained(self._step.translated(error)) from error

    async def output(self) -> Output:
        return await self._remote.settled(self._step, self._running.output())

    def make_output(self) -> Output:
        """Its output so far, with what the step said before it."""
        return self._running.make_output()


class _Step:
    """One command on one node: what of its output is the command's own, and what Slurm's."""

    def __init__(self, node: NodeId, job: int, argv: tuple[str, ...], seconds: float) -> None:
        self.node = node
        self.seconds = seconds
        self.argv = argv
        self.nonce = secrets.token_hex(12)
        self._job = job

    def result(self, output: Output) -> Output:
        """The command's own output; RemoteError when it did not begin, or was ended with its node or allocation."""
        own, failed = self._own(output), self._find_failure(output)
        if failed is None:
            return own
        stage, detail = failed
        raise RemoteError(Failure(stage, detail.strip()[:_LONGEST], self.node), own)

    def _find_failure(self, output: Output) -> tuple[FailedAt, str] | None:
        said = output.error_text
        if self.nonce.encode() not in output.stdout:
            return self._explain_no_begin(output)
        if lost := _NODE_LOST.search(said):
            return FailedAt.LOST, f"Slurm lost the node: {lost[0]}"
        if output.exit_status and (cancelled := _CANCELLED.search(said)):
            return FailedAt.LOST, f"allocation {self._job} or its step was ended: {cancelled[0]}"
        if output.exit_status in _TIMED_OUT and output.seconds >= self.seconds:
            return FailedAt.TIMEOUT, f"no end within {self.seconds:g} s"
        if output.exit_status in _KILLED:
            return FailedAt.KILLED, f"{self.argv[0]} was killed by SIG{output.signal or 'KILL'}, not by us"
        return None

    def translated(self, error: RemoteError) -> RemoteError:
        """A failure of srun as a failure of the node; what Slurm says of the reason comes first."""
        output, failed = error.output, replace(error.failure, node=self.node)
        if output is None or not output.exit_status or failed.stage in _OURS:
            return RemoteError(failed, self._own(output) if output else None)
        try:
            own = self.result(output)
        except RemoteError as known:
            return known
        return RemoteError(failed, own)

    def _explain_no_begin(self, output: Output) -> tuple[FailedAt, str]:
        said = output.error_text
        if output.exit_status == _NOT_FOUND and "srun: error" not in said:
            return FailedAt.MISSING_TOOL, "srun is not installed where it is started"
        if ended := _ENDED.search(said):
            return FailedAt.LOST, f"allocation {self._job} has ended: {ended[0]}"
        if down := _DOWN.search(said):
            return FailedAt.UNREACHABLE, f"Slurm starts nothing on it: {down[0]}"
        if killed := _TASK_KILLED.search(said):
            return FailedAt.KILLED, f"{self.argv[0]} was killed ({killed[1]}), not by us"
        lines = [line for line in said.splitlines() if line.strip() and "support for cpu binding" not in line]
        return FailedAt.TOOL, f"Slurm started no step: {lines[0] if lines else 'no message'}"

    def _own(self, output: Output) -> Output:
        """The command's own output: from our line on, without the lines that srun and slurmstepd add."""
        mark = self.nonce.encode()
        out = output.stdout.partition(mark)[2].partition(b"\n")[2]
        err = _OF_SRUN.sub(b"", output.stderr.partition(mark)[2].partition(b"\n")[2])
        return replace(output, argv=self.argv, stdout=out, stderr=err, node=self.node)
