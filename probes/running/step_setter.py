"""Values that are set on nodes between the points of a sweep, and set back when the sweep is over.

Each command runs on its node as a test does: watched, in its time, and ended with the console. A value counts as set
from the moment when its command was begun, for a command that failed may have changed something: so its node is set
back, too. A node where a value could not be set takes no part in the tests of that point.
"""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Failure, Round, SetValue
from benchconsole.probes.model.remote import Reach, RemoteError
from benchconsole.probes.readers.lines import shorten
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Node, NodeId
from benchconsole.topology.selection import expand, fold

_LOG = ModuleLog(__name__)

AT_ONCE = 64
"""Nodes that are set at once."""


def _forget_value(step: SetValue) -> SetValue:
    """The step with a value that is no round's: it may be set, and it is not known to what."""
    return replace(step, value="", run=())


@dataclass(slots=True)
class StepSetter:
    """The values that are set on the nodes of one run.

    ``record`` keeps a sentence before anything of it is done, ``note`` one of what was done.
    """

    reach: Reach
    nodes: Mapping[NodeId, Node]
    record: Callable[[str], Awaitable[None]]
    note: Callable[[str], Awaitable[None]]
    _set: dict[tuple[int, str, NodeId], SetValue] = field(default_factory=dict)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def adopt(self, rounds: Iterable[Round]) -> None:
        """Take what these rounds of a run that died may have set for set, to whatever value."""
        for each in rounds:
            for step in each.swept.steps if each.swept is not None else ():
                for node in map(NodeId, expand(step.nodes)):
                    self._set[each.swept.sweep if each.swept else 0, step.axis, node] = _forget_value(step)

    async def prepare(self, each: Round) -> dict[NodeId, Failure]:
        """Set what ``each`` needs, and set back what another sweep has set; why not, by node."""
        sweep = each.swept.sweep if each.swept is not None else 0
        steps = each.swept.steps if each.swept is not None else ()
        failures = await self.undo(keep=sweep)
        for step in steps:
            nodes = [NodeId(name) for name in expand(step.nodes)]
            wanted = [node for node in nodes if self._set.get((sweep, step.axis, node)) != step]
            if not wanted:
                continue
            await self.record(f"{step.axis}={step.value} on {fold(wanted)}: {shlex.join(step.run)}; "
                              f"set back by: {shlex.join(step.undo)}")  # fmt: skip
            self._set.update(((sweep, step.axis, node), step) for node in wanted)
            found = await self._run_all(wanted, step, step.run, f"{step.axis}={step.value} was not set")
            for node in found:  # to be tried again before the next round
                self._set[sweep, step.axis, node] = _forget_value(step)
            failures.update(found)
        return failures

    async def undo(self, keep: int = 0) -> dict[NodeId, Failure]:
        """Set back all but what the sweep ``keep`` has set, the last axis first; why not, by node.

        It is noted once all is done: a record that refuses would leave nodes changed.
        """
        failures: dict[NodeId, Failure] = {}
        notes: list[str] = []
        left = [(key, step) for key, step in self._set.items() if key[0] != keep]
        by_step = group_by_key(((key[0], step.axis, step.undo, step.sudo, step.timeout), key) for key, step in left)
        try:
            for (_, axis, undo, _, _), keys in reversed(by_step.items()):
                step = self._set[keys[0]]
                nodes = [node for _, _, node in keys]
                found = await self._run_all(nodes, step, undo, f"{axis} was not set back")
                for key in keys:
                    if key[2] not in found:
                        del self._set[key]
                failures.update(found)
                done = [node for node in nodes if node not in found]
                if done:
                    notes.append(f"{axis} set back on {fold(done)}: {shlex.join(undo)}")
        finally:
            for words in notes:
                await self.note(words)
        return failures

    async def _run_all(
        self, nodes: Iterable[NodeId], step: SetValue, argv: tuple[str, ...], what: str
    ) -> dict[NodeId, Failure]:
        async def run_one(node: NodeId) -> Failure | None:
            async with self._slots:
                why = await self._run(node, step, argv)
            if not why:
                return None
            _LOG.warning(node, "%s: %s", what, why)
            return Failure(FailedAt.HELD, f"{what}: {why}", node)

        nodes = list(nodes)
        found = await asyncio.gather(*map(run_one, nodes))
        return {node: failure for node, failure in zip(nodes, found, strict=True) if failure is not None}

    async def _run(self, node: NodeId, step: SetValue, argv: tuple[str, ...]) -> str:
        """Why a command did not do its work on one node; empty where it ended with 0."""
        try:
            remote = await self.reach.remote(self.nodes[node])
            output = await remote.run(argv, timeout=step.timeout, privileged=step.sudo)
        except RemoteError as error:
            return f"{error.failure.stage}: {error.failure.detail}"
        if output.exit_status == 0:
            return ""
        said = (output.error_text.strip() or output.text.strip()).splitlines()
        ending = f"signal {output.signal}" if output.signal else str(output.exit_status)
        return f"{shlex.join(argv)} ended with {ending}" + (f": {shorten(said[-1], 200)}" if said else "")
