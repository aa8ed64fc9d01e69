"""Looking into a laboratory that runs: what it is, what its nodes do and say.

Owned here: names for every look that tests take.
Refused here: changing anything (`injection.py`), and how a look is taken (`observe.py`).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.lab import lldp, slurm
from tests.lab.host import attempt
from tests.lab.observe import Counter, Listener, Process, counters_between, listeners_of, processes_of
from tests.lab.plan import Plan
from tests.lab.site import Site
from tests.lab.state import StateDirectory


class InspectedLab:
    """A running laboratory, looked at."""

    def __init__(self, site: Site, notes: tuple[str, ...] = ()) -> None:
        self._site = site
        self.notes = notes

    @property
    def plan(self) -> Plan:
        """Names, addresses and cables."""
        return self._site.plan

    @property
    def state(self) -> StateDirectory:
        """Where its files lie."""
        return self._site.state

    @property
    def topology(self) -> Path:
        """The topology file that the console is pointed at."""
        return self.state.topology

    @property
    def disk_throttled(self) -> bool:
        """Whether every scratch disk is held to its rate; without that, disk numbers
        are those of the machine and mean nothing."""
        return all((self.state.node(name) / "throttled").exists() for name in self.plan.nodes)

    def running(self, node: str) -> bool:
        """Whether a node has power."""
        return self._site.running(node)

    def ssh(self, node: str, command: str, *, seconds: float = 30) -> subprocess.CompletedProcess[str]:
        """Run a shell command on a node by OpenSSH with the laboratory's own settings."""
        return attempt(self.ssh_argv(node, command), seconds=seconds)

    def ssh_argv(self, node: str, *command: str) -> list[str]:
        """The `ssh` command line for a node."""
        return ["ssh", "-F", str(self.state.ssh_config), node, *command]

    def inside(self, node: str, *command: str) -> str:
        """Run a command on a node without SSH; it must succeed."""
        return self._site.inside(node, *command)

    def enter_argv(self, node: str, *command: str) -> list[str]:
        """The command line that enters a node without SSH."""
        return self._site.enter(node, *command)

    def root(self, node: str) -> Path:
        """A node's root directory, seen from outside."""
        return self._site.root(node)

    def processes(self, node: str) -> list[Process]:
        """Everything that runs on a node; nothing when it is dead."""
        return processes_of(self._site.pid(node)) if self.running(node) else []

    def listeners(self, node: str) -> list[Listener]:
        """Sockets that wait on a node."""
        return listeners_of(self._site.pid(node))

    def counters(self, end_a: str, end_b: str) -> list[Counter]:
        """Bytes per member between two switches, or a switch and its node."""
        return counters_between(self.plan, end_a, end_b)

    def slurm_states(self) -> dict[str, str]:
        """Each node's state as Slurm's controller tells it; empty while it does not answer."""
        return slurm.node_states(self._site, next(iter(self.plan.nodes)))

    def neighbours(self, node: str) -> dict[str, str]:
        """Ports of a node and who is heard there."""
        return lldp.heard(self._site, node)
