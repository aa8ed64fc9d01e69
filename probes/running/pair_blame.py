"""Finds the node of a pair that a failed test is to be booked on: a peer that died, or a data port without a link.

A client only tells that nobody answers. Its peer is asked over the way of the console, which is another one.
"""

import re
from collections.abc import Sequence

from benchconsole.probes import scratch
from benchconsole.probes.model.measuring import FailedAt, Failure, Target
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node

_SECONDS = 10.0
_NO_WAY = re.compile(r"No route to host|Network is unreachable|Cannot assign requested address", re.IGNORECASE)
"""Messages of the kernel where an address cannot be reached, or is not the node's own."""
_LEFT = re.compile(
    r"server has terminated|socket has closed|connection (?:refused|timed out|reset)|broken pipe", re.IGNORECASE
)
"""Messages of a client or its kernel where its server ended, or is not there."""
_BLIND = frozenset((FailedAt.TIMEOUT, FailedAt.TOOL, FailedAt.OUTPUT))
"""Failures of a client that may be the fault of its peer, or of a port."""
_SILENT = frozenset((FailedAt.LOST, FailedAt.REBOOTED, FailedAt.TIMEOUT, FailedAt.UNREACHABLE))
"""Failures of a node that answers nobody."""
_SCRIPT = scratch.one_line(
    """
    ip -o addr show to "$1" 2>/dev/null | while read -r _ port _; do
        case "$(ip -o link show dev "$port" 2>/dev/null)" in
        *[,\\<]LOWER_UP[,\\>]*|"") ;;
        *) echo "down $port";;
        esac;
    done
    """
)
"""Says which port of the address $1 has no link, or is off. Asks the kernel, since /sys may be of another namespace."""
_DOWN = re.compile(r"^down (?P<port>[\w.:@-]{1,32})$", re.MULTILINE)


async def find_blame(target: Target, remotes: Sequence[Remote], failure: Failure) -> Failure:
    """``failure`` of a test between two nodes, booked on the node that it is of, with what was seen there.

    A peer that answers no more, or a data port without a link, takes the place of a client that waited in vain or
    lost its server. Where the kernel found no way the tool has failed, whatever its exit status. Any other failure
    stays as it is.
    """
    is_cut_off = _NO_WAY.search(failure.detail) is not None
    own = failure.stage in _BLIND and failure.node == target.node.id
    is_left = failure.stage is FailedAt.TIMEOUT or _LEFT.search(failure.detail) is not None
    if target.peer is None or len(remotes) != 2 or not own or not (is_cut_off or is_left):
        return failure
    here, there = remotes
    seen = f"{target.node.id} to {target.peer.id}: {failure.detail}"
    blamed = await _examine(target.peer, there, seen)
    if blamed is None and is_cut_off:
        blamed = await _examine(target.node, here, seen) or replace(failure, stage=FailedAt.TOOL)
    return blamed or failure


async def _examine(node: Node, remote: Remote, seen: str) -> Failure | None:
    """The failure of ``node`` where it does not answer or its data port has no link; None where it is not to blame."""
    try:
        output = await remote.run(("sh", "-c", _SCRIPT, "data-port", node.data_address), timeout=_SECONDS)
    except RemoteError as error:
        lost = error.failure
        return replace(lost, detail=f"{lost.detail}; {seen}"[:500]) if lost.stage in _SILENT else None
    down = _DOWN.search(output.text)
    if down is None:
        return None
    where = f"the data address {node.data_address} is not up, its port {down['port']} has no link"
    return Failure(FailedAt.TOOL, f"{where}; {seen}"[:500], node.id)
