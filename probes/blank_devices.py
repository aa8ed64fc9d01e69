"""The guard in front of raw devices: the disk of a serial number, and the proof that nothing is on it.

Public for authors of probes that destroy. A disk may be written to only by such a probe (``Safety.DESTROYS``), only
when the topology lists its serial number for that node (``Node.blank_disks``), only when a person has typed that
serial number (``Confirmation``), and only when the node shows right before that the disk is blank.
``require_agreement`` checks all but the last at planning. The shell function ``BLANK`` is for that last look, in the
same script as the write:

``blank SERIAL``
    leaves the path of the disk in ``$device`` and its bytes in ``$bytes``, or refuses as
    ``probes.scratch`` does. Read-only; must be run as root.

Refused: no disk or several with that serial (two paths to one disk), a partition table or partitions, a
signature of a file system, RAID, LVM or swap (blkid and wipefs must both find none), a holder (device
mapper, md, bcache), a mount in any process's view, use as swap, no size, and a disk that is read-only.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, Node, NodeId, Stage, Suite

SYSFS = "/sys"
"""Where the kernel shows its disks; tests show it others."""

BLANK = r"""
serial_of() {
    for f in "$1/device/serial" "$1/serial"; do
        [ -r "$f" ] && { tr -d "\000" <"$f" | awk '{ $1 = $1; print; exit }'; return; };
    done;
    [ -r "$1/device/vpd_pg80" ] && { tail -c +5 "$1/device/vpd_pg80" | tr -d "\000" | awk '{ $1 = $1; print; exit }';
        return; };
    lsblk -dnro SERIAL -- "/dev/${1##*/}" 2>/dev/null | awk '{ print; exit }';
};
used_by() {
    for d in "$2"/*; do [ -e "$d" ] && refuse "$device ($serial) is $1 ${d##*/}"; done;
};
blank() {
    serial=$1 sys=${2:-/sys} device= name=;
    for tool in blkid wipefs awk tr tail grep readlink; do
        command -v "$tool" >/dev/null 2>&1 || refuse "cannot prove a disk blank: there is no $tool";
    done;
    [ "$(id -u)" = 0 ] || refuse "cannot prove a disk blank: only root may read it";
    [ -r /proc/self/mountinfo ] || refuse "cannot prove a disk blank: there is no /proc to look into";
    [ "$serial" ] || refuse "no serial number was given";
    for b in "$sys"/block/*; do
        [ -e "$b/size" ] && [ "$(serial_of "$b")" = "$serial" ] || continue;
        [ "$device" ] &&
            refuse "two disks have the serial number $serial: $device and /dev/${b##*/} (two paths to one?)";
        name=${b##*/} device=/dev/$name;
    done;
    [ "$device" ] || refuse "no disk has the serial number $serial";
    [ -L "$device" ] && refuse "$device ($serial) is a link";
    [ -b "$device" ] || refuse "$device ($serial) is no block device";
    b=$sys/block/$name;
    [ "$(cat "$b/size")" -gt 0 ] 2>/dev/null || refuse "$device ($serial) has no size";
    [ "$(cat "$b/ro")" = 0 ] || refuse "$device ($serial) is read-only";
    for p in "$b"/*/partition; do [ -e "$p" ] && refuse "$device ($serial) has partitions"; done;
    used_by "held by" "$b/holders";
    used_by "made of" "$b/slaves";
    number=$(cat "$b/dev");
    [ "$number" ] || refuse "cannot tell the number of $device ($serial)";
    at=$(awk -v n="$number" '$3 == n { print $5; exit }' /proc/self/mountinfo);
    [ "$at" ] && refuse "$device ($serial) is mounted at $at";
    grep -qsE "^[0-9]+ [0-9]+ $number " /proc/[0-9]*/mountinfo && refuse "$device ($serial) is mounted in a container";
    while read -r swap rest; do
        [ "$(readlink -f -- "$swap")" = "$device" ] && refuse "$device ($serial) is in use as swap";
    done </proc/swaps;
    found=$(blkid -p -o export -- "$device" 2>&1); s=$?;
    [ $s = 2 ] && [ -z "$found" ] || refuse "$device ($serial) is not blank: blkid says $(echo $found)";
    found=$(wipefs --no-act -- "$device" 2>&1) || refuse "cannot read $device ($serial): $(echo $found)";
    [ -z "$found" ] || refuse "$device ($serial) is not blank: wipefs says $(echo $found)";
    bytes=$(($(cat "$b/size") * 512));
};
"""
"""The shell function ``blank``; it needs ``refuse`` of ``probes.scratch.script`` before it."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The words that a person must type before a plan that destroys may run, and the loss."""

    node: NodeId
    serial: str
    lost: str

    def accepts(self, text: str) -> bool:
        """Whether ``text``, as a person typed it, agrees to the loss."""
        return text == self.serial


def require_agreement(node: Node, options: Mapping[str, str | int | float], probe: str) -> str:
    """The serial number of the disk that a destructive test may overwrite.

    The stage must name it (``serial``), the topology must list it for the node, and a person must have
    typed it (``confirmed``); PlanError says what is missing.
    """
    serial, typed = str(options.get("serial", "")), str(options.get("confirmed", ""))
    if not serial:
        raise PlanError(f"{probe}: the stage names no disk, expected the option serial with one serial number")
    if serial not in node.blank_disks:
        listed = ", ".join(node.blank_disks) or "none"
        raise PlanError(
            f"{probe}: disk {serial} is not listed for node {node.id}, listed are {listed}; "
            "the topology must list every disk that may be overwritten"
        )
    if typed != serial:
        raise PlanError(
            f"{probe}: everything on disk {serial} of node {node.id} would be lost, and nobody has confirmed it; "
            f"expected the option confirmed with {serial} typed out"
        )
    return serial


def list_confirmations(
    fabric: Fabric, suite: Suite, probes: Mapping[str, Probe], *, nodes: Collection[NodeId] | None = None
) -> tuple[Confirmation, ...]:
    """The confirmations that ``suite`` still needs before it can be planned on ``nodes`` (None: all), in its order.

    One for each disk that a stage would overwrite, unless the stage says already that it is confirmed.
    """
    found: dict[tuple[NodeId, str], Confirmation] = {}
    for stage in suite.stages:
        probe, serial = probes.get(stage.probe), str(stage.options.get("serial", ""))
        if probe is None or probe.safety is not Safety.DESTROYS or str(stage.options.get("confirmed")) == serial:
            continue
        for name in stage.nodes:
            if (nodes is None or name in nodes) and serial in fabric.nodes[name].blank_disks:
                lost = f"everything on the disk with serial number {serial} of node {name}"
                found[name, serial] = Confirmation(name, serial, lost)
    return tuple(found.values())


def confirm_disks(suite: Suite, typed: Collection[str]) -> Suite:
    """``suite`` with the serial numbers that a person has typed in its stages, and so in the plan and the session."""

    def confirm(stage: Stage) -> Stage:
        serial = str(stage.options.get("serial", ""))
        if not serial or serial not in typed:
            return stage
        return replace(stage, options=MappingProxyType({**stage.options, "confirmed": serial}))

    return replace(suite, stages=tuple(map(confirm, suite.stages)))
