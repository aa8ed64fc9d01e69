"""A laboratory as machinery: building it, and the few moves that faults are made of.

Owned here: the order of building, booting a node again, who may use a prefix.
Refused here: what faults there are (`faults.py`) and what a test sees (`lab.py`).
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from tests.lab import network, nodes, slurm
from tests.lab.files import write_files
from tests.lab.host import Identity, LabError, LabInUseError, attempt, run, together, wait_for
from tests.lab.plan import NodePlan, Plan
from tests.lab.spec import LabSpec
from tests.lab.state import (
    IO_MARK,
    NETNS,
    NETNS_MARK,
    Record,
    StateDirectory,
    entry,
    is_mount_point,
    leave_mark,
    register,
    registered,
)
from tests.lab.teardown import tear_down
from tests.lab.throttle import Throttle, find_throttle


class Site:
    """One laboratory that is built, seen from inside."""

    def __init__(self, state: StateDirectory, record: Record) -> None:
        self.state = state
        self.record = record
        self.plan = Plan(record.spec)

    def pid(self, name: str) -> int:
        """The pid, outside, of a node's PID 1."""
        self.plan.node(name)
        found = self.state.pid(name)
        if found is None or not found.alive():
            raise LabError(f"{name} is not running")
        return found.pid

    def running(self, name: str) -> bool:
        """Whether the node's PID 1 lives."""
        found = self.state.pid(name)
        return found is not None and found.alive()

    def root(self, name: str) -> Path:
        """The node's root directory as seen from outside."""
        return Path(f"/proc/{self.pid(name)}/root")

    def space(self, name: str) -> network.Space:
        """The network namespace of a node."""
        return network.Space.of_process(self.pid(name))

    def switch(self, name: str) -> network.Space:
        """The network namespace of a switch."""
        return network.Space.of_switch(self.plan, name)

    def enter(self, name: str, *command: str) -> list[str]:
        """The command line that runs a command inside a node, not by SSH."""
        return ["nsenter", "-t", str(self.pid(name)), "-m", "-u", "-i", "-n", "-p", *command]

    def inside(self, name: str, *command: str) -> str:
        """Run a command inside a node, not by SSH; it must succeed."""
        return run(self.enter(name, *command))

    def start_nodes(self, names: list[str]) -> None:
        """Boot nodes, plug them in and wait until their sshd answers."""
        for name in names:
            nodes.boot(name, self.state)
        pids = {name: nodes.await_pid(name, self.state).pid for name in names}
        network.wire_nodes(self.plan, pids)
        together(self._await_ssh, [self.plan.node(name) for name in names])
        if self.plan.spec.slurm:
            slurm.start(self, names)

    def _await_ssh(self, node: NodePlan) -> None:
        try:
            wait_for(lambda: greets(node.management), 30, f"sshd of {node.name}")
        except LabError as error:
            trouble = nodes.boot_trouble(node.name, self.state)
            raise LabError(f"{error}; its boot said: {trouble}") from error

    def stop_node(self, name: str) -> None:
        """Take a node's power: silent first, then dead, so that nobody hears it go."""
        network.unwire_node(self.plan, self.plan.node(name))
        nodes.end(name, self.state)


def greets(address: str) -> bool:
    """Whether an SSH server at this address says what it is."""
    try:
        with socket.create_connection((address, 22), timeout=1) as connection:
            return connection.recv(8).startswith(b"SSH-2.0")
    except OSError:
        return False


def claim(spec: LabSpec, root: Path, *, stays: bool) -> tuple[StateDirectory, Record, Throttle]:
    """Take the prefix for a new laboratory; end a dead one that still holds it."""
    state, throttle = StateDirectory(root), find_throttle()
    end_leftovers(spec.prefix, state)
    record = _new_record(spec, throttle, None if stays else Identity.of(os.getpid()))
    with register():
        if registered(spec.prefix) is not None:
            raise LabInUseError(f"another laboratory took the prefix {spec.prefix!r} just now")
        _refuse_foreign_names(spec)
        state.root.mkdir(parents=True, exist_ok=True)
        state.root.chmod(0o700)  # a private key will lie here
        state.save(record)
        entry(spec.prefix).write_text(str(state.root))
        if not is_mount_point(NETNS):
            leave_mark(NETNS_MARK)
        if throttle.io_off:
            leave_mark(IO_MARK, throttle.root)
    return state, record, throttle


def end_leftovers(prefix: str, *others: StateDirectory) -> None:
    """End a dead laboratory of this prefix or place; one that is in use is an error."""
    with register():
        places = {s.root: s for s in (registered(prefix), *others) if s is not None}
        found = [(state, state.load()) for state in places.values()]
        if found[0][1] is None:
            entry(prefix).unlink(missing_ok=True)  # its directory is gone, and so is the lab
    for state, record in found:
        if record is None:
            continue
        if in_use(state, record):
            raise LabInUseError(
                f"a laboratory with the prefix {record.spec.prefix!r} is running from "
                f"{state.root}; end it first: python -m tests.lab down --state {state.root}"
            )
        tear_down(state, record)


def in_use(state: StateDirectory, record: Record) -> bool:
    """Whether somebody still wants this laboratory."""
    if record.owner is not None:
        return record.owner.alive()
    # Made to stay: wanted as long as it was finished and something of it lives.
    pids = [state.pid(name) for name in record.nodes]
    return record.complete and any(pid is not None and pid.alive() for pid in pids)


def _refuse_foreign_names(spec: LabSpec) -> None:
    if attempt(["ip", "link", "show", "dev", spec.bridge]).returncode == 0:
        raise LabInUseError(
            f"there is an interface {spec.bridge} that belongs to no recorded laboratory of "
            f"the prefix {spec.prefix!r}; choose another bridge and management network"
        )


def _new_record(spec: LabSpec, throttle: Throttle, owner: Identity | None) -> Record:
    plan = Plan(spec)
    cgroups = [throttle.cgroup(f"{spec.prefix}-{name}") for name in plan.nodes]
    return Record(
        spec=spec,
        owner=owner,
        complete=False,
        bridge=spec.bridge,
        links=tuple(node.management_port for node in plan.nodes.values()),
        namespaces=tuple(switch.namespace for switch in plan.switches.values()),
        nodes=tuple(plan.nodes),
        cgroups=tuple(filter(None, cgroups)),
        cgroup_kind=throttle.kind,
    )


def build(state: StateDirectory, record: Record, throttle: Throttle) -> tuple[Site, list[str]]:
    """Make everything the record names; gives what this kernel could not do."""
    site = Site(state, record)
    # A container may show a cgroup tree that it lets nobody change; then discs stay as fast
    # as they are, each node notices by itself and `disk_throttled` tells.
    with suppress(OSError):
        throttle.enable()
        for cgroup in record.cgroups:
            Path(cgroup).mkdir()
    nodes.prepare(site.plan, state, record)
    write_files(site.plan, state)
    lacking = network.build_switches(site.plan)
    site.start_nodes(list(site.plan.nodes))
    network.await_carriers(site.plan)
    state.finished(record)
    return site, lacking
