"""Everything that can be made to go wrong, and right again.

Owned here: one small frozen class per kind of fault with `apply` and `undo`. A fault is
data, so it can be written down and undone by another process than the one that made it.
Refused here: which faults are active (`lab.py` keeps that list).
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tests.lab import network, tools
from tests.lab.files import make_key
from tests.lab.host import LabError, attempt, run, wait_for
from tests.lab.observe import Process, processes_of
from tests.lab.plan import Member
from tests.lab.site import Site, greets

OUT, IN = "out", "in"


@dataclass(frozen=True)
class Fault(ABC):
    """Something that can be done to a laboratory and taken back."""

    kind: ClassVar[str]  # the name people use for it

    @abstractmethod
    def apply(self, site: Site) -> None:
        """Do it; returns when it is in force."""

    @abstractmethod
    def undo(self, site: Site) -> None:
        """Take it back; harmless when a reboot did so already."""


def _share(percent: int) -> float:
    if not 1 <= percent <= 100:
        raise LabError(f"a share must be 1 to 100 percent, not {percent}")
    return percent / 100


@dataclass(frozen=True)
class SlowNic(Fault):
    """A node's data cable carries less in one direction, seen from the node."""

    node: str
    percent: int
    direction: str = OUT
    kind: ClassVar[str] = "slow_nic"

    def apply(self, site: Site) -> None:
        self._shape(site, _share(self.percent))

    def undo(self, site: Site) -> None:
        self._shape(site, 1)

    def _shape(self, site: Site, share: float) -> None:
        plan = site.plan.node(self.node)
        if self.direction == OUT:
            site.space(self.node).tc([network.shape("eth0", plan.mbit * share)])
        elif self.direction == IN:
            site.switch(plan.switch).tc([network.shape(plan.name, plan.mbit * share)])
        else:
            raise LabError(f"a direction is {OUT!r} or {IN!r}, not {self.direction!r}")


@dataclass(frozen=True)
class NicRate(Fault):
    """A node's data cable carries another rate, both ways, also a higher one."""

    node: str
    mbit: int
    kind: ClassVar[str] = "nic_rate"

    def apply(self, site: Site) -> None:
        self._shape(site, self.mbit)

    def undo(self, site: Site) -> None:
        self._shape(site, site.plan.node(self.node).mbit)

    def _shape(self, site: Site, mbit: int) -> None:
        plan = site.plan.node(self.node)
        site.space(self.node).tc([network.shape("eth0", mbit)])
        site.switch(plan.switch).tc([network.shape(plan.name, mbit)])


@dataclass(frozen=True)
class NicDown(Fault):
    """A node's data cable is pulled; management still reaches it."""

    node: str
    kind: ClassVar[str] = "nic_down"

    def apply(self, site: Site) -> None:
        self._set(site, "down")

    def undo(self, site: Site) -> None:
        self._set(site, "up")
        wait_for(lambda: self._carrier(site), 10, f"{self.node} to have its carrier again")

    def _set(self, site: Site, state: str) -> None:
        plan = site.plan.node(self.node)
        site.switch(plan.switch).ip([f"link set {plan.name} {state}"])

    def _carrier(self, site: Site) -> bool:
        return site.space(self.node).ports()["eth0"]


@dataclass(frozen=True)
class MemberDown(Fault):
    """One cable of a trunk is pulled; every switch routes round it."""

    switch_a: str
    switch_b: str
    member: int
    kind: ClassVar[str] = "member_down"

    def apply(self, site: Site) -> None:
        network.set_member(site.plan, self._member(site), up=False)

    def undo(self, site: Site) -> None:
        network.set_member(site.plan, self._member(site), up=True)
        network.await_carriers(site.plan)

    def _member(self, site: Site) -> Member:
        return site.plan.member(self.switch_a, self.switch_b, self.member)


@dataclass(frozen=True)
class MemberSlow(Fault):
    """One cable of a trunk carries less, both ways; nobody routes round it."""

    switch_a: str
    switch_b: str
    member: int
    percent: int
    kind: ClassVar[str] = "member_slow"

    def apply(self, site: Site) -> None:
        self._shape(site, _share(self.percent))

    def undo(self, site: Site) -> None:
        self._shape(site, 1)

    def _shape(self, site: Site, share: float) -> None:
        member = site.plan.member(self.switch_a, self.switch_b, self.member)
        for switch in (member.leaf, member.spine):
            line = network.shape(member.port(switch), member.mbit * share)
            site.switch(switch).tc([line])


@dataclass(frozen=True)
class SlowSwitch(Fault):
    """Every port of a switch carries less, both ways."""

    switch: str
    percent: int
    kind: ClassVar[str] = "slow_switch"

    def apply(self, site: Site) -> None:
        self._shape(site, _share(self.percent))

    def undo(self, site: Site) -> None:
        self._shape(site, 1)

    def _shape(self, site: Site, share: float) -> None:
        members, nodes = site.plan.members_of(self.switch), site.plan.nodes_on(self.switch)
        own = [network.shape(member.port(self.switch), member.mbit * share) for member in members]
        site.switch(self.switch).tc([*own, *(network.shape(node.name, node.mbit * share) for node in nodes)])
        for member in members:
            far = member.far(self.switch)
            site.switch(far).tc([network.shape(member.port(far), member.mbit * share)])
        for node in nodes:
            site.space(node.name).tc([network.shape("eth0", node.mbit * share)])


@dataclass(frozen=True)
class CableLoss(Fault):
    """A node's data cable loses packets by chance, both ways.

    A packet here is up to 64 KiB: what a sender hands over in one piece is lost in one piece.
    """

    node: str
    percent: int
    kind: ClassVar[str] = "cable_loss"

    def apply(self, site: Site) -> None:
        _share(self.percent)
        for space, port in self._ends(site):
            space.lose(port, self.percent)

    def undo(self, site: Site) -> None:
        for space, port in self._ends(site):
            space.keep(port)

    def _ends(self, site: Site) -> tuple[tuple[network.Space, str], ...]:
        plan = site.plan.node(self.node)
        return (site.space(self.node), "eth0"), (site.switch(plan.switch), plan.name)


@dataclass(frozen=True)
class SilentSshd(Fault):
    """Port 22 accepts connections (the kernel does) and never says a word."""

    node: str
    kind: ClassVar[str] = "silent_sshd"

    def apply(self, site: Site) -> None:
        _listener(site, self.node).identity.signal(signal.SIGSTOP)

    def undo(self, site: Site) -> None:
        _listener(site, self.node).identity.signal(signal.SIGCONT)


@dataclass(frozen=True)
class DeadSshd(Fault):
    """The node's sshd ends with all its sessions, and cannot be started again."""

    node: str
    kind: ClassVar[str] = "dead_sshd"

    def apply(self, site: Site) -> None:
        tools.remove(site, self.node, "sshd")
        wait_for(lambda: self._end(site), 10, f"the end of the sshd of {self.node}")

    def _end(self, site: Site) -> bool:
        """Kill every sshd; whether none was there. One that was just forked shares the socket that listens."""
        found = [
            process
            for process in processes_of(site.pid(self.node))
            if process.argv[:1] and process.argv[0].partition(":")[0].endswith("sshd")
        ]
        for process in found:
            process.identity.signal(signal.SIGKILL)
        return not found

    def undo(self, site: Site) -> None:
        tools.restore(site, self.node, "sshd")
        address = site.plan.node(self.node).management
        wait_for(lambda: greets(address), 30, f"sshd of {self.node}")


@dataclass(frozen=True)
class ChangeHostKey(Fault):
    """The node shows a host key that nobody was told about."""

    node: str
    kind: ClassVar[str] = "change_host_key"

    def apply(self, site: Site) -> None:
        fresh = site.state.node(self.node) / "changed_host_key"
        make_key(fresh, self.node)
        _show_key(site, self.node, fresh)

    def undo(self, site: Site) -> None:
        _show_key(site, self.node, site.state.node(self.node) / "host_key")


@dataclass(frozen=True)
class RemoveTool(Fault):
    """A program is not installed on the node: true `command not found`."""

    node: str
    tool: str
    kind: ClassVar[str] = "remove_tool"

    def apply(self, site: Site) -> None:
        tools.remove(site, self.node, self.tool)

    def undo(self, site: Site) -> None:
        tools.restore(site, self.node, self.tool)


@dataclass(frozen=True)
class HangTool(Fault):
    """A program says nothing, never ends and ignores TERM."""

    node: str
    tool: str
    kind: ClassVar[str] = "hang_tool"

    def apply(self, site: Site) -> None:
        tools.play(site, self.node, self.tool, tools.HANG)

    def undo(self, site: Site) -> None:
        tools.restore(site, self.node, self.tool)


@dataclass(frozen=True)
class FloodTool(Fault):
    """A program writes this many bytes and succeeds."""

    node: str
    tool: str
    size: int = 100_000_000
    kind: ClassVar[str] = "flood_tool"

    def apply(self, site: Site) -> None:
        tools.play(site, self.node, self.tool, tools.FLOOD.format(size=self.size))

    def undo(self, site: Site) -> None:
        tools.restore(site, self.node, self.tool)


@dataclass(frozen=True)
class Play(Fault):
    """Programs or files of the node are replaced by given texts."""

    node: str
    scripts: dict[str, str]
    kind: ClassVar[str] = "play"

    def apply(self, site: Site) -> None:
        for path, text in self.scripts.items():
            tools.play(site, self.node, path, text)

    def undo(self, site: Site) -> None:
        for path in self.scripts:
            tools.restore(site, self.node, path)


@dataclass(frozen=True)
class KillNode(Fault):
    """The node loses its power, without a farewell to anyone."""

    node: str
    kind: ClassVar[str] = "kill_node"

    def apply(self, site: Site) -> None:
        site.stop_node(self.node)

    def undo(self, site: Site) -> None:
        if not site.running(self.node):
            site.stop_node(self.node)
            site.start_nodes([self.node])
            network.await_carriers(site.plan)


@dataclass(frozen=True)
class Reboot(Fault):
    """The node loses its power and comes back, with a fresh root and a new boot id."""

    node: str
    kind: ClassVar[str] = "reboot"

    def apply(self, site: Site) -> None:
        site.stop_node(self.node)
        site.start_nodes([self.node])
        network.await_carriers(site.plan)

    def undo(self, site: Site) -> None:
        KillNode(self.node).undo(site)


@dataclass(frozen=True)
class SlowDisk(Fault):
    """The node's scratch disk reads and writes at another rate."""

    node: str
    mb_per_second: int
    kind: ClassVar[str] = "slow_disk"

    def apply(self, site: Site) -> None:
        self._limit(site, self.mb_per_second)

    def undo(self, site: Site) -> None:
        self._limit(site, site.plan.spec.disk_mb_per_second)

    def _limit(self, site: Site, rate: int) -> None:
        record = site.record
        if not (site.state.node(self.node) / "throttled").exists():
            raise LabError("this machine has no way to throttle a disk")
        cgroup = Path(dict(zip(record.nodes, record.cgroups, strict=True))[self.node])
        number = (site.state.node(self.node) / "loop").read_text().split()[1]
        limit = rate * 1_000_000
        if record.cgroup_kind == "v2":
            (cgroup / "io.max").write_text(f"{number} rbps={limit} wbps={limit}")
            return
        for way in ("read", "write"):
            (cgroup / f"blkio.throttle.{way}_bps_device").write_text(f"{number} {limit}")


_ALL: tuple[type[Fault], ...] = (
    SlowNic,
    NicRate,
    NicDown,
    MemberDown,
    MemberSlow,
    SlowSwitch,
    CableLoss,
    SilentSshd,
    DeadSshd,
    ChangeHostKey,
    RemoveTool,
    HangTool,
    FloodTool,
    Play,
    KillNode,
    Reboot,
    SlowDisk,
)
KINDS: dict[str, type[Fault]] = {kind.kind: kind for kind in _ALL}


def _listener(site: Site, node: str) -> Process:
    init = site.pid(node)
    for process in processes_of(init):
        if process.ppid == init and "[listener]" in " ".join(process.argv):
            return process
    raise LabError(f"{node} has no sshd that listens")


def _show_key(site: Site, node: str, key: Path) -> None:
    target = site.root(node) / "etc/ssh/ssh_host_ed25519_key"
    fresh = target.with_suffix(".new")
    fresh.write_bytes(key.read_bytes())
    fresh.chmod(0o600)
    fresh.replace(target)
    # HUP makes the listener read its keys again; sessions that are open stay.
    _listener(site, node).identity.signal(signal.SIGHUP)
    public = run(["ssh-keygen", "-y", "-f", str(key)]).split()[1]
    address = site.plan.node(node).management
    wait_for(lambda: public in _scan(address), 10, f"{node} to show its other host key")


def _scan(address: str) -> str:
    return attempt(["ssh-keyscan", "-T", "2", "-t", "ed25519", address]).stdout
