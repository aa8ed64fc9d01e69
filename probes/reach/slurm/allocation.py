"""An allocation of ours in Slurm: asked for, held while a session runs, given back.

It is held by ``salloc`` that waits under the watchdog of the machine it was asked on: when the console dies,
salloc ends and Slurm takes the nodes back. Only a job that carries the name of our session is cancelled. Nodes that
Slurm would not give are left out: one of them would keep all others waiting.
"""

import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from math import ceil

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError, Running
from benchconsole.probes.reach.slurm.slurm_state import NodeSeen, ask, first_line, job_name, nodes
from benchconsole.topology.model.fabric import NodeId
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
    """What is asked of Slurm. ``seconds`` bounds the whole session, ``patience`` the waiting for nodes.

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
            self.job = await self._number()
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

    async def _number(self) -> int:
        found = [number for number, name, state in await self._ours() if state == "RUNNING"]
        if not found:
            raise self.error(FailedAt.LOST, "the allocation was granted and is gone already")
        return max(found)

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
