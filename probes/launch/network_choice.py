"""The choice of networks: which one the payload takes, and which one the launcher uses for itself.

Pure. Open MPI uses every network it finds: on nodes with two, the payload of a test silently goes over both,
or over management alone. So both are always named, from the addresses of the nodes. Where data and management cannot
be told apart by address, nothing is launched.

Two traps of Open MPI 4.1 decide the form. A /32 is taken for "any address" and matches loopback; and where no
interface of a node is in a named network, the name is ignored with a warning and every network is used
(``probes.launch.launch_result`` takes that warning for a failure).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.readers.numbers import parse_address
from benchconsole.topology.model.fabric import Node

_WIDEST, _NARROWEST = 8, 30
_MOST = 8
"""Networks in one list: each node warns of every one that it has no interface in."""
_INTERFACE = re.compile(r"[A-Za-z][A-Za-z0-9_.:@-]{0,14}")
_REMEDY = "give each node a data_address that is an IPv4 address, or the option network (CIDR or interface)"


class LaunchError(PlanError):
    """A job that cannot be launched as described: options, names or networks that do not fit."""


@dataclass(frozen=True, slots=True)
class Rails:
    """Networks in Open MPI's notation, several with commas: for the payload, and for the launcher's own talk."""

    data: str
    control: str

    @property
    def choices(self) -> int:
        """How many networks the payload may take; a node needs an interface in one of them."""
        return self.data.count(",") + 1


def rails(nodes: Sequence[Node], network: str = "") -> Rails:
    """The networks of ``nodes``: the payload's holds every data address and no management address.

    ``network`` is the operator's own choice, a CIDR that is held against the addresses, or the name of an
    interface. Raises LaunchError.
    """
    apart = [node for node in nodes if node.address != node.data_address]
    management = frozenset(filter(None, (_parse_ipv4(node.address) for node in apart)))
    if network and "/" not in network:
        if not _INTERFACE.fullmatch(network):
            raise LaunchError(f"option network: found {network!r}, expected a CIDR or the name of an interface")
        return Rails(network, _cover(management, frozenset(), "management") or network)
    wanted = frozenset(filter(None, (_parse_ipv4(node.data_address) for node in nodes)))
    if network:
        data = _given(network, wanted, management)
    else:
        _refuse_names(nodes, apart)
        data = _cover(wanted, management, "data")
    return Rails(data, _cover(management, wanted, "management") or data)


def _refuse_names(nodes: Sequence[Node], apart: Sequence[Node]) -> None:
    """LaunchError for a data address, or the other one of a node ``apart``, that says no network of IPv4."""
    if other := [node.id for node in nodes if isinstance(parse_address(node.data_address), IPv6Address)]:
        raise LaunchError(f"{other[0]}: found a data address of IPv6; MPI is launched over IPv4, {_REMEDY}")
    if named := [node.id for node in nodes if _parse_ipv4(node.data_address) is None]:
        raise LaunchError(f"{named[0]}: found a data address that is a name, which tells no network; {_REMEDY}")
    for node in apart:
        if _parse_ipv4(node.address) is None:
            raise LaunchError(
                f"{node.id}: found the name {node.address!r} as its address: whether management lies in the data "
                f"network cannot be told; give addresses, or the option network (CIDR or interface)"
            )


def _given(network: str, wanted: frozenset[IPv4Address], avoid: frozenset[IPv4Address]) -> str:
    try:
        named = IPv4Network(network)
    except ValueError as error:
        raise LaunchError(f"option network: found {network!r} ({error}), expected a CIDR such as 10.1.0.0/16") from None
    if named.prefixlen > _NARROWEST:
        raise LaunchError(f"option network: found {network!r}, expected at most /{_NARROWEST}: Open MPI misreads /32")
    if outside := sorted(address for address in wanted if address not in named):
        raise LaunchError(f"option network: found {network}, without the data address {outside[0]}")
    if inside := sorted(address for address in avoid if address in named):
        raise LaunchError(f"option network: found {network}, which holds the management address {inside[0]} too")
    return str(named)


def _cover(wanted: frozenset[IPv4Address], avoid: frozenset[IPv4Address], what: str) -> str:
    """The fewest networks, each as narrow as it can be, with every wanted address and no other that is known."""
    found: list[IPv4Network] = []
    waiting = [sorted(wanted)] if wanted else []
    while waiting:
        group = waiting.pop()
        network = IPv4Network((group[0], _NARROWEST), strict=False)
        while group[-1] not in network:
            network = network.supernet()
        if network.prefixlen >= _WIDEST and not any(address in network for address in avoid):
            found.append(network)
            continue
        lower = [address for address in group if address in next(network.subnets())]
        upper = group[len(lower) :]
        if network.prefixlen >= _NARROWEST or len(found) + len(waiting) >= _MOST:
            raise LaunchError(
                f"data and management addresses lie among each other around {network}, so the {what} network "
                f"cannot be told from the other; {_REMEDY}"
            )
        waiting += [part for part in (upper, lower) if part]
    return ",".join(map(str, sorted(found)))


def _parse_ipv4(address: str) -> IPv4Address | None:
    found = parse_address(address)
    return found if isinstance(found, IPv4Address) else None
