"""Faults of a running laboratory: put in force, noted, taken back by whoever comes later.

Owned here: a name for every fault that tests make, and the list of those in force.
Refused here: what a fault does (`faults.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from types import TracebackType

from tests.lab import faults
from tests.lab.faults import KINDS, Fault
from tests.lab.inspection import InspectedLab
from tests.lab.state import write_json


class Injected:
    """A fault in force; leaving it as a context heals it."""

    def __init__(self, lab: FaultyLab, fault: Fault) -> None:
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


class FaultyLab(InspectedLab):
    """A running laboratory that things go wrong in."""

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
