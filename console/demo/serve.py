"""Owns the child process of the demo: serves one scenario until its standard input ends.

The parent holds the other end of that pipe and nothing else, so when the parent goes, killed or
not, the kernel closes it and this process ends too. Run as ``python -m console.demo.serve``.
"""

import asyncio
import gc
import json
import resource
import signal
import sys
from pathlib import Path

from console.demo.faults import FaultKind, Scenario
from console.demo.machine import Machines
from console.demo.network import Network
from console.demo.scenarios import scenario_named
from console.demo.traffic import STEADY, Pace, Traffic
from probes.testing.server import SEPARATE, Manner, ScriptedSshd
from topology.model import Fabric
from topology.resolve import load_text

_MANNERS = {
    FaultKind.REFUSES: Manner.REFUSES,
    FaultKind.SILENT: Manner.SILENT,
    FaultKind.HOST_KEY_CHANGED: Manner.CHANGED_KEY,
}


def manners(fabric: Fabric, scenario: Scenario) -> dict[str, Manner]:
    """Every node's address and how it meets a client."""
    planted = scenario.of(*_MANNERS)
    return {
        node.address: _MANNERS[planted[node.id].kind] if node.id in planted else Manner.ANSWERS
        for node in fabric.nodes.values()
    }


async def _until_stdin_ends() -> None:
    ended = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ended), sys.stdin)
    while await ended.read(4096):
        pass


async def serve(scenario: Scenario, directory: Path) -> None:
    """Serve ``scenario`` until stdin ends; the port is told on stdout as one line of JSON."""
    fabric = load_text(scenario.describe(), f"{scenario.fabric}.yaml")
    pace = STEADY if len(fabric.nodes) >= SEPARATE else Pace()
    machines = Machines(fabric, scenario, Traffic(Network(fabric, scenario), pace))
    async with ScriptedSshd(machines.answer, manners(fabric, scenario), directory) as sshd:
        sys.stdout.write(json.dumps({"port": sshd.port}) + "\n")
        sys.stdout.flush()
        gc.freeze()  # what serves all connections need not be looked at for each of them
        gc.set_threshold(50_000, 50, 100)
        await _until_stdin_ends()


def main() -> None:
    """Entry point: scenario name, directory, and how many nodes where that is asked for."""
    name, directory, *nodes = sys.argv[1:]
    # A terminal's Ctrl-C and hang-up are for the console, which ends us by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard) if hard > soft else (soft, hard))
    asyncio.run(serve(scenario_named(name, int(nodes[0]) if nodes else None), Path(directory)))


if __name__ == "__main__":
    main()
