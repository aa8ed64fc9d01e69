"""Owns a simulated InfiniBand fabric: ``ibsim``, whose wrapper lets the real diagnostics run against it.

The fabric is a file in the format of ``ibnetdiscover``. Ports come up as those of a fabric without subnet
manager do, and are brought to active by the real ``ibportstate``. Refuses to know what the diagnostics print.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.host import wait_for
from tests.probes.tools.inventory.simulators import DEADLINE, entered, listens, running

LIDS = {"n1": 12, "n2": 14}
"""Adapters of the fabric; ``n3`` has a port to which nothing is cabled, and no LID."""

FABRIC = f"""\
Hca 2 "n1"
[1](100001) "leaf"[1] # lid {LIDS["n1"]} lmc 0 "leaf" lid 1 4xQDR

Hca 2 "n2"
[1](200001) "leaf"[2] # lid {LIDS["n2"]} lmc 0 "leaf" lid 1 4xDDR

Switch 8 "leaf"
[1] "n1"[1] # "n1" lid {LIDS["n1"]} 4xQDR
[2] "n2"[1] # "n2" lid {LIDS["n2"]} 4xDDR

Hca 1 "n3"
"""
RATES = {"n1": 4 * 10e9 / 8, "n2": 4 * 5e9 / 8}
"""Byte/s of four lanes: QDR signals 10 Gbit/s on each, DDR 5 Gbit/s."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """A fabric that is simulated, and how to ask it."""

    socket: str
    net: Path | None
    console: int
    log: Path

    def argv(self, *command: str) -> list[str]:
        """The command line that runs a diagnostic against the fabric."""
        return [*entered(self.net), "ibsim-run", *command]

    def environment(self, node: str) -> dict[str, str]:
        """The variables that tell a diagnostic at which adapter it runs."""
        return {"IBSIM_SOCKNAME": self.socket, "SIM_HOST": node}

    def ask(self, node: str, *command: str) -> str:
        """The output of a diagnostic; it has to end with 0."""
        environment = {**os.environ, **self.environment(node), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
        done = subprocess.run(
            self.argv(*command), env=environment, capture_output=True, text=True, timeout=DEADLINE, check=True
        )
        return done.stdout

    def activate(self, node: str) -> None:
        """Bring the node's port to active, which takes both ends of its cable."""
        far = str(list(LIDS).index(node) + 1)
        for state in ("arm", "active"):
            for path, port in (("0,1", far), ("0", "1")):
                self.ask(node, "ibportstate", "-D", path, port, state)

    def count(self, node: str, counters: Mapping[str, int]) -> None:
        """Plant counters of the node's port, named as ``PortCounters.Field``."""
        lines = [f'PerformanceSet "{node}"[1] {name}={value}\n' for name, value in counters.items()]
        os.write(self.console, "".join(lines).encode())
        done = [f"{name} has been set to {value}\n" for name, value in counters.items()]
        wait_for(lambda: all(line in self.log.read_text() for line in done), DEADLINE, f"{len(done)} counters")


def alone(*command: str) -> str:
    """The output of a diagnostic here without a fabric, whether it fails or not."""
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
    return done.stdout


@contextmanager
def simulated(directory: Path, *, net: Path | None = None) -> Iterator[Fabric]:
    """The fabric in the network namespace ``net``, for as long as it is asked."""
    (directory / "fabric").write_text(FABRIC)
    socket = f"bc{os.getpid()}"
    argv = [*entered(net), "env", f"IBSIM_SOCKNAME={socket}", "ibsim", "-s", str(directory / "fabric")]
    ready = listens(net, "unix", f"@{socket}:ctl@")
    with running(argv, directory / "ibsim.log", is_ready=ready) as process:
        assert process.stdin is not None
        yield Fabric(socket, net, process.stdin.fileno(), directory / "ibsim.log")
