"""The laboratory as tests and people hold it.

Owned here: bringing one up and down, making faults and healing them, looking in.
Refused here: how any of that is done.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from tests.lab import faults, lldp, slurm
from tests.lab.faults import KINDS, Fault
from tests.lab.host import LabError, LabInUseError, attempt, obstacles
from tests.lab.observe import Counter, Listener, Process, counters_between, listeners_of, processes_of
from tests.lab.plan import Plan
from tests.lab.site import Site, build, claim
from tests.lab.spec import LabSpec, in_slot
from tests.lab.state import StateDirectory, write_json
from tests.lab.teardown import tear_down

SLOTS = 6
"""Laboratories that may exist on one machine at the same time."""


class Injected:
    """A fault in force; leaving it as a context heals it."""

    def __init__(self, lab: Lab, fault: Fault) -> None:
        self._lab = lab
        self.fault = fault

    def heal(self) -> None:
        """Take this fault back; a second time does nothing."""
        self._lab.heal_fault(self.fault)

    def __enter__(self) -> Injected:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.heal()


class Lab:
    """A running laboratory."""

    def __init__(self, site: Site, notes: tuple[str, ...] = ()) -> None:
        self._site = site
        self.notes = notes

    @classmethod
    def up(cls, spec: LabSpec, state: Path, *, stays: bool = False) -> Lab:
        """Build one. With `stays` it outlives this process; otherwise it is up for
        removal by the next laboratory once this process is gone."""
        found = obstacles() + (slurm.missing() if spec.slurm else [])
        if found:
            raise LabError("no laboratory can be built here: " + "; ".join(found))
        directory, record, throttle = claim(spec, state, stays=stays)
        try:
            site, lacking = build(directory, record, throttle)
        except BaseException:
            tear_down(directory, record)
            raise
        notes = tuple(f"this kernel has no net.ipv4.{name}" for name in lacking)
        return cls(site, notes)

    @classmethod
    def up_somewhere(cls, spec: LabSpec) -> Lab:
        """Build one in the first free slot; LabInUseError names who has them all.

        Its files lie outside of pytest's own directories, which later sessions delete although a killed one may
        have left it running.
        """
        refusals: list[str] = []
        for slot in range(SLOTS):
            state = Path(tempfile.mkdtemp(prefix="benchlab-"))
            try:
                return cls.up(in_slot(spec, slot), state)
            except LabInUseError as error:
                refusals.append(str(error))
                state.rmdir()
        raise LabInUseError("every laboratory slot is taken: " + "; ".join(refusals))

    @classmethod
    def attach(cls, state: Path) -> Lab:
        """The laboratory that another process built here."""
        directory = StateDirectory(state)
        record = directory.load()
        if record is None:
            raise LabError(f"there is no laboratory in {directory.root}")
        return cls(Site(directory, record))

    def down(self) -> None:
        """End it; nothing is left, not even its state directory."""
        tear_down(self._site.state, self._site.record)

    # -- what it is ----------------------------------------------------------------------

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

    # -- looking in ----------------------------------------------------------------------

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

    # -- Slurm ---------------------------------------------------------------------------

    def slurm_states(self) -> dict[str, str]:
        """Each node's state as Slurm's controller tells it; empty while it does not answer."""
        return slurm.node_states(self._site, next(iter(self.plan.nodes)))

    # -- LLDP ----------------------------------------------------------------------------

    def announce(self) -> None:
        """Start lldpd wherever it does not run; returns when every node hears its switch."""
        lldp.start(self._site)

    def silence(self) -> None:
        """End every lldpd."""
        lldp.stop(self.state, self._site)

    def neighbours(self, node: str) -> dict[str, str]:
        """Ports of a node and who is heard there."""
        return lldp.heard(self._site, node)

    # -- faults --------------------------------------------------------------------------

    def slow_nic(self, node: str, percent: int, direction: str = faults.OUT) -> Injected:
        """Give a node's data cable a share of its rate, "out" of the node or "in"."""
        return self.inject(faults.SlowNic(node, percent, direction))

    def nic_rate(self, node: str, mbit: int) -> Injected:
        """Give a node's data cable another rate, both ways."""
        return self.inject(faults.NicRate(node, mbit))

    def nic_down(self, node: str) -> Injected:
        """Pull a node's data cable."""
        return self.inject(faults.NicDown(node))

    def member_down(self, switch_a: str, switch_b: str, member: int) -> Injected:
        """Pull one cable of a trunk."""
        return self.inject(faults.MemberDown(switch_a, switch_b, member))

    def member_slow(self, switch_a: str, switch_b: str, member: int, percent: int) -> Injected:
        """Give one cable of a trunk a share of its rate."""
        return self.inject(faults.MemberSlow(switch_a, switch_b, member, percent))

    def slow_switch(self, switch: str, percent: int) -> Injected:
        """Give every port of a switch a share of its rate."""
        return self.inject(faults.SlowSwitch(switch, percent))

    def cable_loss(self, node: str, percent: int) -> Injected:
        """Let a node's data cable lose a share of its packets."""
        return self.inject(faults.CableLoss(node, percent))

    def silent_sshd(self, node: str) -> Injected:
        """Let port 22 accept and never speak."""
        return self.inject(faults.SilentSshd(node))

    def dead_sshd(self, node: str) -> Injected:
        """End a node's sshd with all its sessions, for good."""
        return self.inject(faults.DeadSshd(node))

    def change_host_key(self, node: str) -> Injected:
        """Let a node show a host key that is not the known one."""
        return self.inject(faults.ChangeHostKey(node))

    def remove_tool(self, node: str, tool: str) -> Injected:
        """Uninstall a program on one node."""
        return self.inject(faults.RemoveTool(node, tool))

    def hang_tool(self, node: str, tool: str) -> Injected:
        """Let a program hang silently, deaf to TERM."""
        return self.inject(faults.HangTool(node, tool))

    def flood_tool(self, node: str, tool: str, size: int = 100_000_000) -> Injected:
        """Let a program write this many bytes."""
        return self.inject(faults.FloodTool(node, tool, size))

    def replace_tool(self, node: str, tool: str, script_text: str) -> Injected:
        """Put a script in a program's place."""
        return self.inject(faults.Play(node, {tool: script_text}))

    def play(self, node: str, scripts: Mapping[str, str]) -> Injected:
        """Put texts in the place of programs, or of files under /proc and /sys."""
        return self.inject(faults.Play(node, dict(scripts)))

    def slow_disk(self, node: str, mb_per_second: int) -> Injected:
        """Give a node's scratch disk another rate."""
        return self.inject(faults.SlowDisk(node, mb_per_second))

    def kill_node(self, node: str) -> Injected:
        """Take a node's power; healing boots it again."""
        return self.inject(faults.KillNode(node))

    def reboot(self, node: str) -> Injected:
        """Power-cycle a node; returns when its sshd answers again."""
        return self.inject(faults.Reboot(node))

    def inject(self, fault: Fault) -> Injected:
        """Put a fault in force. It is noted first: one that failed half-way is healed too."""
        self._note([*self.active(), fault])
        fault.apply(self._site)
        return Injected(self, fault)

    def heal_fault(self, fault: Fault) -> None:
        """Take one fault back, if it is in force."""
        active = self.active()
        if fault in active:
            if not self._void(fault):
                fault.undo(self._site)
            active.remove(fault)
            self._note(active)

    def _void(self, fault: Fault) -> bool:
        """A fault of a node without power: its next boot starts from a fresh root anyway."""
        node = getattr(fault, "node", None)
        lasting = isinstance(fault, faults.KillNode | faults.Reboot)
        return node is not None and not lasting and not self.running(node)

    def heal(self) -> None:
        """Take everything back, the youngest first, and boot what is dead."""
        for name in self.plan.nodes:
            faults.KillNode(name).undo(self._site)
        for fault in reversed(self.active()):
            self.heal_fault(fault)

    def active(self) -> list[Fault]:
        """The faults in force, oldest first, whoever made them."""
        try:
            noted = json.loads(self.state.faults_file.read_text())
        except FileNotFoundError:
            return []
        return [KINDS[entry.pop("fault")](**entry) for entry in noted]

    def _note(self, active: list[Fault]) -> None:
        notes = [{"fault": f.kind, **asdict(f)} for f in active]
        write_json(self.state.faults_file, notes)
