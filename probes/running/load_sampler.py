"""The load of nodes while the tests of a round run: one command of ours on each, which reads ``/proc`` now and then.

It runs under the watchdog as every command does, ends by itself after a number of samples, and is ended with the round.
A node on which it does not run says so in a fact (``load.failed``); its tests go on.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence

from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import Fact, Failure, Test, labels
from benchconsole.probes.model.remote import Remote, RemoteError, Running
from benchconsole.probes.readers.load_samples import (
    LAST_LINE,
    count_samples,
    find_last_load,
    read_samples,
    summarize,
)
from benchconsole.topology.model.fabric import Fabric, Node, NodeId

_LOG = ModuleLog(__name__)

MOST_SAMPLES = 240
"""Samples of one round; of 128 cores they take about 3 MB."""
PLANNED_SAMPLES = 120
"""Samples that the planned time of a round is divided into where it is longer than as many seconds."""
FIRST_SECONDS = 15.0
"""How long the first sample may take, before which no test begins."""
_SPARE = 60.0
_TAIL = 128 * 1024
"""Bytes of the end of an output, in which the last two samples are looked for; of 512 cores they take 100 kB."""

SCRIPT = f"""\
LC_ALL=C; export LC_ALL
sed -n 's/^ *\\([0-9]*\\):[ 0-9]* \\([^ 0-9].*\\)/irq \\1 \\2/p' /proc/interrupts 2>/dev/null
n=0
while [ "$n" -lt "$2" ]; do
  echo "sample $n"
  grep -sE '^(cpu|intr|ctxt|softirq|MemAvail|th |rpc )|: *[0-9]+ .*[0-9] *$|^ *[0-9]+ +[0-9]+ [a-z]|^[0-9.]+ [0-9.]+$|^[0-9]+ [(]' \
    /proc/uptime /proc/stat /proc/meminfo /proc/net/dev /proc/diskstats /proc/net/rpc/nfsd /proc/net/rpc/nfs /proc/$$/stat
  case $n in
    1|*1) set -- "$1" "$2" $(grep -s '^VmRSS' /proc/[0-9]*/status 2>/dev/null | sort -k2n | tail -n 1)
       if [ -n "$4" ] && read -r name <"${{3%%/status*}}/comm"; then printf 'largest %s %s\\n' "$4" "$name"; fi ;;
  esac 2>/dev/null
  echo '{LAST_LINE}'
  n=$((n + 1)); sleep "$1"
done
"""  # noqa: E501 - lines of a shell
"""Its arguments are seconds between samples and their number. Every tenth sample looks for the largest process."""


def list_sampled(fabric: Fabric, test: Test) -> tuple[Node, ...]:
    """The nodes of a test, and the servers of the storage system that its option ``shared`` names."""
    nodes = {node.id: node for node in test.target.nodes}
    system = fabric.storage.get(str(test.target.options.get("shared") or ""))
    for name in system.servers if system is not None else ():
        server = fabric.nodes.get(NodeId(name))
        if server is not None:
            nodes.setdefault(server.id, server)
    return tuple(nodes.values())


class LoadSampler:
    """The samplers of one round that is planned to take ``seconds``. ``tasks`` end them when they are cancelled."""

    def __init__(self, seconds: float) -> None:
        self.tasks: list[asyncio.Task[object]] = []
        interval = max(1, math.ceil(seconds / PLANNED_SAMPLES))
        self.argv = ("sh", "-c", SCRIPT, "sh", str(interval), str(MOST_SAMPLES))
        self._timeout = interval * MOST_SAMPLES + _SPARE
        self._running: dict[str, Running] = {}
        self._failed: dict[str, str] = {}
        self._read: dict[str, int] = {}

    async def start(self, remotes: Mapping[NodeId, Remote | Failure]) -> None:
        """Begin on every node that is reached, and wait for a first sample of each, or for why there is none."""
        ready = []
        for node, remote in remotes.items():
            if isinstance(remote, Failure):
                self._failed[node] = f"{remote.stage}: {remote.detail}"
                continue
            ready.append(asyncio.Event())
            self.tasks.append(asyncio.create_task(self._sample(node, remote, ready[-1])))
        await asyncio.gather(*(each.wait() for each in ready))

    async def _sample(self, node: str, remote: Remote, ready: asyncio.Event) -> None:
        try:
            async with remote.start(self.argv, timeout=self._timeout) as running:
                await running.says(LAST_LINE, timeout=FIRST_SECONDS)
                self._running[node] = running
                ready.set()
                await asyncio.Event().wait()
        except RemoteError as error:
            _LOG.warning(node, "its load is not sampled: %s: %s", error.failure.stage, error.failure.detail)
            self._failed[node] = f"{error.failure.stage}: {error.failure.detail}"
        finally:
            ready.set()

    def count(self) -> dict[str, int]:
        """The samples of every node so far."""
        return {node: count_samples(running.make_output().stdout) for node, running in self._running.items()}

    def read_last(self, most: int) -> list[NodeLoad]:
        """The load over the last step of at most ``most`` nodes, those first that were not read for longest.

        Of a node that has not said more since it was read there is none.
        """
        found = []
        for node in [*self._running][:most]:
            running = self._running.pop(node)
            self._running[node] = running  # behind all others
            said = running.make_output().stdout
            if len(said) > self._read.get(node, 0):
                self._read[node] = len(said)
                load = find_last_load(node, said[-_TAIL:].decode(errors="replace"))
                found += [load] if load is not None else []
        return found

    async def read(self, nodes: Sequence[Node], since: Mapping[str, int]) -> tuple[Fact, ...]:
        """The facts of load of ``nodes`` from the last sample of ``since`` (``count``) until now."""
        facts: list[Fact] = []
        for node in nodes:
            if node.id in self._running:
                text = self._running[node.id].make_output().text
                facts += await asyncio.to_thread(_read, node.id, text, since.get(node.id, 1))
            else:
                why = self._failed.get(node.id, "not reached")
                facts.append(Fact("load.failed", why[:300], None, labels(node=node.id)))
        return tuple(facts)


def _read(node: str, text: str, since: int) -> list[Fact]:
    samples, names = read_samples(text)
    return summarize(node, samples[max(since - 1, 0) :], names)
