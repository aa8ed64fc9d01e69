"""The child process of the demo: it serves one scenario until its standard input ends.

The parent holds the other end of that pipe and nothing else, so when the parent goes, killed or
not, the kernel closes it and this process ends too. Run as ``python -m benchconsole.console.simulator.serve``.
"""

import asyncio
import gc
import json
import resource
import signal
import sys
from pathlib import Path

from benchconsole.console.simulator.network import SimulatedNetwork
from benchconsole.console.simulator.nodes import SimulatedNodes
from benchconsole.console.simulator.scenarios import REAL_TIME, FaultKind, Scenario, find_scenario
from benchconsole.console.simulator.traffic import REAL, STEADY, TimeScale, Traffic
from benchconsole.probes.testing.server import SEPARATE, Manner, ScriptedSshd
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric

_MANNERS = {
    FaultKind.REFUSES: Manner.REFUSES,
    FaultKind.SILENT: Manner.SILENT,
    FaultKind.HOST_KEY_CHANGED: Manner.CHANGED_KEY,
}


def list_manners(fabric: Fabric, scenario: Scenario) -> dict[str, Manner]:
    """Every node's address and how it meets a client."""
    planted = scenario.select(*_MANNERS)
    return {
        node.address: _MANNERS[planted[node.id].kind] if node.id in planted else Manner.ANSWERS
        for node in fabric.nodes.values()
    }


async def _wait_for_stdin() -> None:
    ended = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ended), sys.stdin)
    while await ended.read(4096):
        pass


async def serve(scenario: Scenario, directory: Path, *, real_time: bool = False) -> None:
    """Serve ``scenario`` until stdin ends; it writes the port to stdout as one line of JSON."""
    fabric = load_text(scenario.describe(), f"{scenario.fabric}.yaml")
    time_scale = REAL if real_time else STEADY if len(fabric.nodes) >= SEPARATE else TimeScale()
    nodes = SimulatedNodes(fabric, scenario, Traffic(SimulatedNetwork(fabric, scenario), time_scale))
    async with ScriptedSshd(nodes.answer, list_manners(fabric, scenario), directory) as sshd:
        sys.stdout.write(json.dumps({"port": sshd.port}) + "\n")
        sys.stdout.flush()
        gc.freeze()  # the objects that serve every connection need no look by the collector
        gc.set_threshold(50_000, 50, 100)
        await _wait_for_stdin()


def main() -> None:
    """Entry point: scenario name, directory, how many nodes where that is asked for, and ``REAL_TIME`` or nothing."""
    name, directory, nodes, pace = sys.argv[1:]
    # A terminal's Ctrl-C and hang-up are for the console, which ends us by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard) if hard > soft else (soft, hard))
    found = find_scenario(name, int(nodes) if nodes else None)
    asyncio.run(serve(found, Path(directory), real_time=pace == REAL_TIME))


if __name__ == "__main__":
    main()
