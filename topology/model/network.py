"""The networks of a machine: what each is made of, what it is for, and the share of its wire that is payload.

Sizes are bytes. Payload is what TCP carries, for the tests of a fabric send TCP unless they are told otherwise;
remote direct memory access (RDMA) carries a little more.
"""

import math
import re
from enum import StrEnum

from msgspec import Struct

from benchconsole.topology.model.routing_rule import RoutingRule

DATA = "data"
"""The name of the network that links belong to where they name none."""


class NetworkKind(StrEnum):
    """The technology of a network. ``OTHER`` is one whose headers are not known, so that its goodput must be stated."""

    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    ROCE = "roce"
    OMNI_PATH = "omni-path"
    OTHER = "other"


class NetworkRole(StrEnum):
    """The purpose of a network: which flows take it where nobody names one."""

    DATA = "data"
    STORAGE = "storage"
    MANAGEMENT = "management"


class Parallel(StrEnum):
    """The relation between several legs of a node that are in no bond: planes stand in for each other, rails not."""

    RAILS = "rails"
    PLANES = "planes"


_KINDS = (
    (NetworkKind.INFINIBAND, re.compile(r"\binfiniband\b")),
    (NetworkKind.OMNI_PATH, re.compile(r"\bomni-?path\b")),
    (NetworkKind.ROCE, re.compile(r"\broce(v[12])?\b")),
    (NetworkKind.ETHERNET, re.compile(r"ethernet\b")),
)
KINDS_IN_WORDS = "ethernet, infiniband, roce or omni-path (a type may have more words), or a goodput beside the type"
_CALLED_BY_SIGNALS = re.compile(r"\b(sdr|ddr|qdr|fdr-?10|fdr)\b")
_ROLES = {
    NetworkRole.MANAGEMENT: {"mgmt", "management", "manage", "oob", "bmc", "ipmi"},
    NetworkRole.STORAGE: {"storage", "stor", "san", "nfs", "nvme"},
}
_WORD = re.compile(r"[a-z]+")

TCP_HEADERS = 52
"""Bytes of IPv4 (20) and of TCP (20) with time stamps (12): RFC 791, RFC 9293, RFC 7323."""
_ETHERNET = 38
"""Bytes of preamble and start (8), header (14), check sequence (4) and gap (12): IEEE 802.3."""
_IB_PACKET = 26
"""Bytes of LRH (8), BTH (12), ICRC (4) and VCRC (2): InfiniBand Architecture Specification, volume 1, 5.2."""
_IB_DATAGRAM = 8
"""Bytes of the datagram header, DETH: InfiniBand Architecture Specification, volume 1, 9.3.3."""
IPOIB_HEADER = 4
"""Bytes before each IP packet: RFC 4391, 6."""
_ROCE_HEADERS = 82
"""Bytes of Ethernet (38), IPv4 (20), UDP (8), BTH (12) and ICRC (4): InfiniBand Architecture, annex A17."""
IB_MTUS = (256, 512, 1024, 2048, 4096)
"""Bytes of payload of an InfiniBand packet: InfiniBand Architecture Specification, volume 1, 5.2."""
_USUAL_IB_MTU = 2048
"""That of IPoIB where a partition of OpenSM names no other; also what a connection is held to have at least."""
_MOST_DATAGRAM = IB_MTUS[-1] - IPOIB_HEADER
ETHERNET_MTU = 1500


class Network(Struct, frozen=True):
    """One of the networks of a machine. ``goodput`` is the payload share of the wire, in (0, 1].

    ``mtu`` is that of IP packets. ``type`` is what the file calls it, ``kind`` what that means. ``basis`` names the
    rule of ``goodput`` (``TCP over Ethernet``), or says that it is stated. ``is_role_inferred``: the role was not
    written down and follows from the name. ``routing`` is None where the file does not say it: then
    ``RoutingRule.SHORTEST`` is taken. ``legs`` is None where the file says neither rails nor planes.
    """

    name: str
    mtu: int
    goodput: float
    type: str | None = None
    kind: NetworkKind = NetworkKind.ETHERNET
    role: NetworkRole = NetworkRole.DATA
    is_role_inferred: bool = False
    basis: str = "TCP over Ethernet"
    routing: RoutingRule | None = None
    legs: Parallel | None = None

    @property
    def is_ethernet(self) -> bool:
        """Whether its cables are of Ethernet, where devices speak LLDP."""
        return self.kind in (NetworkKind.ETHERNET, NetworkKind.ROCE)


def find_kind(text: str | None) -> NetworkKind:
    """The kind that the ``type`` of a network means; Ethernet where there is none."""
    if text is None:
        return NetworkKind.ETHERNET
    return next((kind for kind, words in _KINDS if words.search(text.casefold())), NetworkKind.OTHER)


def infer_role(name: str) -> NetworkRole:
    """The role that a word in the name of a network means; data where none does."""
    words = set(_WORD.findall(name.casefold()))
    return next((role for role, known in _ROLES.items() if known & words), NetworkRole.DATA)


def is_called_by_signals(text: str | None) -> bool:
    """Whether a type names an InfiniBand generation whose usual speed is counted before the code of the wire.

    SDR, DDR and QDR send 10 bits for 8 of data, FDR 66 for 64; later ones are called by their data rate.
    """
    return text is not None and _CALLED_BY_SIGNALS.search(text.casefold()) is not None


def find_ip_mtu(kind: NetworkKind, written: int | None) -> int:
    """The MTU of IP packets for the MTU that a file gives; of InfiniBand it may be that of its own packets."""
    if kind is not NetworkKind.INFINIBAND:
        return ETHERNET_MTU if written is None else written
    mtu = _USUAL_IB_MTU if written is None else written
    return mtu - IPOIB_HEADER if mtu in IB_MTUS else mtu


def tcp_goodput(mtu: int) -> float:
    """TCP payload share of the wire with timestamps over IPv4 and Ethernet: (MTU-52)/(MTU+38)."""
    return (mtu - TCP_HEADERS) / (mtu + _ETHERNET)


def ipoib_goodput(mtu: int) -> float:
    """TCP payload share of an InfiniBand link over IPoIB whose IP packets have ``mtu`` bytes.

    Up to 4,092 bytes a packet is one datagram (RFC 4391). A larger one is a message of a connection (RFC 4755), sent in
    packets of 2,048 bytes: more than that is not certain, and fewer headers would leave more payload.
    """
    message = mtu + IPOIB_HEADER
    if mtu <= _MOST_DATAGRAM:
        return (mtu - TCP_HEADERS) / (message + _IB_PACKET + _IB_DATAGRAM)
    return (mtu - TCP_HEADERS) / (message + _IB_PACKET * math.ceil(message / _USUAL_IB_MTU))


def roce_goodput(mtu: int) -> float:
    """Payload share of the wire that both RoCEv2 and TCP leave: the lower of the two.

    RoCEv2 sends the largest InfiniBand packet that fits into the MTU with its headers.
    """
    inside = _ROCE_HEADERS - _ETHERNET
    payload = max((each for each in IB_MTUS if each + inside <= mtu), default=IB_MTUS[0])
    return min(payload / (payload + _ROCE_HEADERS), tcp_goodput(mtu))


def compute_goodput(kind: NetworkKind, mtu: int) -> tuple[float, str] | None:
    """The payload share of a network of ``kind`` with its rule in words; None where no rule is known."""
    if kind is NetworkKind.ETHERNET:
        return tcp_goodput(mtu), "TCP over Ethernet"
    if kind is NetworkKind.INFINIBAND:
        form = "datagrams" if mtu <= _MOST_DATAGRAM else "connected"
        return ipoib_goodput(mtu), f"TCP over IPoIB, {form}"
    if kind is NetworkKind.ROCE:
        return roce_goodput(mtu), "the lower of RoCEv2 and TCP"
    return None
