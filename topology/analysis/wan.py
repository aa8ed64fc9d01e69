"""Effects of distance on TCP: bytes in flight, the limit of a socket buffer, and the loss that a rate survives.

Sources: bandwidth-delay product, RFC 1072 and RFC 7323; rate under loss, Mathis, Semke, Mahdavi and Ott, The
Macroscopic Behavior of the TCP Congestion Avoidance Algorithm (1997): rate = MSS/RTT x C/sqrt(p). That is
loss-based congestion control without selective pacing: CUBIC does somewhat better at long distances, BBR does
not follow it at all.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Link, LinkId, NodeId
from benchconsole.topology.selection import fold
from benchconsole.topology.units import digits3, disk_size, duration, network_rate

MATHIS = 1.22
"""C for a loss every 1/p packets and an acknowledgement for each packet: sqrt(3/2)."""
HEADERS = 52
"""Bytes of an IPv4 packet that are no TCP payload: 20 IP, 20 TCP, 12 timestamps."""
RECEIVE_SHARE = 0.5
"""Part of the receive buffer that Linux offers as window: with net.ipv4.tcp_adv_win_scale = 1, the default
since 3.4 (ip-sysctl); since 6.6 the kernel learns the share per socket and starts from the same half."""


@dataclass(frozen=True, slots=True)
class Window:
    """The bytes that one TCP stream between nodes of a kind may have in flight on one line.

    ``size`` is bytes, ``rate`` byte/s (size over round trip, at most the NIC), ``streams`` how
    many of these fill the line; None where nothing is declared. ``basis`` says where from.
    """

    nodes: str
    size: float | None
    rate: float | None
    streams: int | None
    basis: str


@dataclass(frozen=True, slots=True)
class WanLine:
    """One link with a round trip ``rtt`` in seconds.

    ``flow`` is byte/s of the fastest NIC that a single flow can use on it, ``flow_in_flight`` and
    ``line_in_flight`` are the bandwidth-delay products in bytes; ``loss`` is the highest share of
    lost packets at which one flow still reaches ``flow``.
    """

    link: LinkId
    rtt: float
    mtu: int
    capacity: float
    flow: float
    flow_in_flight: float
    line_in_flight: float
    loss: float
    windows: tuple[Window, ...]


def tolerable_loss(rate: float, rtt: float, mtu: int) -> float:
    """The share of lost packets, at most 1, at which one flow still reaches ``rate`` byte/s (Mathis)."""
    return min(1.0, (MATHIS * (mtu - HEADERS) / (rtt * rate)) ** 2)


def read_trip(link: Link) -> float:
    """Seconds of the round trip with which a link is described; 0 where nothing is said."""
    return 0.0 if link.wan is None else link.wan.rtt or 0.0


def analyse_wan(fabric: Fabric, *, buffers: Mapping[NodeId, float] | None = None) -> tuple[WanLine, ...]:
    """Every link with a round trip. ``buffers``: windows in bytes, measured on nodes, for what their class declares."""
    return tuple(
        _make_line(fabric, link, link.wan.rtt, buffers or {})
        for link in fabric.links.values()
        if link.wan is not None and link.wan.rtt
    )


def _make_line(fabric: Fabric, link: Link, rtt: float, buffers: Mapping[NodeId, float]) -> WanLine:
    network = fabric.networks.get(link.network)
    mtu = fabric.mtu if network is None else network.mtu
    # One flow uses one port: the fastest of any node.
    cabled = (each for each in fabric.links.values() if each.a in fabric.nodes or each.b in fabric.nodes)
    fastest = max((max(each.members) for each in cabled), default=math.inf)
    flow = min(fastest, max(link.members), link.capacity)
    return WanLine(
        link=link.id,
        rtt=rtt,
        mtu=mtu,
        capacity=link.capacity,
        flow=flow,
        flow_in_flight=flow * rtt,
        line_in_flight=link.capacity * rtt,
        loss=tolerable_loss(flow, rtt, mtu),
        windows=tuple(_list_windows(fabric, buffers, rtt=rtt, flow=flow, capacity=link.capacity)),
    )


def _list_windows(
    fabric: Fabric, buffers: Mapping[NodeId, float], *, rtt: float, flow: float, capacity: float
) -> Iterator[Window]:
    known: list[tuple[tuple[float | None, str], NodeId]] = []
    for node in fabric.nodes.values():
        if fabric.legs(node.id):
            size, settings = find_window(node.hardware.facts)
            basis = f"{settings} of class {node.hardware.name}" if settings else ""
            measured = buffers.get(node.id)
            known.append(((size, basis) if measured is None else (measured, "measured"), node.id))
    for (size, basis), nodes in group_by_key(known).items():
        rate = None if size is None else min(flow, size / rtt)
        streams = None if rate is None else math.ceil(capacity / rate - 1e-9)
        yield Window(fold(nodes), size, rate, streams, basis)


def find_window(facts: Mapping[str, str | float]) -> tuple[float | None, str]:
    """Bytes that a stream may have in flight by the kernel settings in ``facts``, and their names; None without any."""
    for settings in (_AUTOTUNED, _ASKED_FOR):
        sizes = {name: share * _find_limit(facts, name) for name, share in settings.items()}
        given = {name: size for name, size in sizes.items() if size}
        if given:
            return min(given.values()), " and ".join(given)
    return None, ""


_AUTOTUNED = {"net.ipv4.tcp_rmem": RECEIVE_SHARE, "net.ipv4.tcp_wmem": 1.0}
_ASKED_FOR = {"net.core.rmem_max": 1.0, "net.core.wmem_max": 1.0}
"""Kernel settings that bound a socket buffer, with the part of it that holds payload in flight: the first where the
kernel chooses the buffer (tcp(7)), the second where the program asks for one, which the kernel doubles (socket(7))."""


def _find_limit(facts: Mapping[str, str | float], name: str) -> float:
    """The maximum in bytes, the last number of the setting; 0 where there is none."""
    told = facts.get(f"sysctl.{name}", "")
    if isinstance(told, float):
        return told
    written = str(told).split()
    return float(written[-1]) if written and written[-1].isdecimal() else 0.0


def list_findings(lines: Iterable[WanLine]) -> Iterator[StaticFinding]:
    """For each line: windows that are too small for it or unknown, and the loss that one flow survives."""
    for line in lines:
        rate, rtt = network_rate(line.flow), duration(line.rtt)
        in_flight = f"one {rate} flow over {rtt} has {disk_size(line.flow_in_flight)} in flight"
        for window in line.windows:
            if window.size is None or window.rate is None or window.streams is None:
                missing = "sysctl net.ipv4.tcp_rmem and tcp_wmem of their class"
                text = f"{in_flight}; the TCP buffers of {window.nodes} are not known: declare {missing}"
                yield StaticFinding(Severity.NOTE, "wan-buffers-unknown", line.link, text)
            elif window.size < line.flow_in_flight:
                text = (
                    f"{in_flight}, {window.nodes} may have {disk_size(window.size)} ({window.basis}):"
                    f" {network_rate(window.rate)} per stream,"
                    f" {window.streams} streams to fill {network_rate(line.capacity)}"
                )
                yield StaticFinding(Severity.WARNING, "wan-window", line.link, text)
        text = (
            f"one flow reaches {rate} over {rtt} only if at most 1 packet in {digits3(1.0 / line.loss)} is lost"
            f" (Mathis, MTU {line.mtu}); the whole line holds {disk_size(line.line_in_flight)}"
        )
        yield StaticFinding(Severity.NOTE, "wan-loss", line.link, text)
