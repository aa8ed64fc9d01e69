"""Hosts of unlike numbers of virtual machines: their shares of a host differ, and so may what they reach."""

from collections import Counter
from collections.abc import Iterator

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.equivalence import UNCLASSED
from benchconsole.topology.units import counted


def list_findings(fabric: Fabric) -> Iterator[StaticFinding]:
    """A note for each class of virtual machines that its hosts do not have alike."""
    guests = [node for node in fabric.nodes.values() if node.host is not None]
    for name, own in group_by_key((node.hardware.name, node) for node in guests).items():
        count = Counter(node.host for node in own if node.host is not None)
        if len(set(count.values())) < 2:
            continue
        parts = [
            f"{number} on each of {counted(len(hosts), 'host')} ({fold_names(hosts)})"
            for number, hosts in sorted(group_by_key((number, host) for host, number in count.items()).items())[::-1]
        ]
        of = "" if name == UNCLASSED else f" of class {name}"
        text = f"{counted(len(own), 'virtual machine')}{of} on {counted(len(count), 'host')}: {', '.join(parts)}"
        yield StaticFinding(Severity.NOTE, "uneven-hosts", fold_names(tuple(count)), text)
