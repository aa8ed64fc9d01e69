"""Reader of what iperf3's JSON says beside its rate: settings, round trip, windows, segments, processors.

Each number of a direction is of all its streams, and is left out where one of them does not tell it. A client that
receives is told nothing of the sender's connection, and writes 0 for it. One process serves all streams before 3.16,
from then on each stream has a thread (iperf3 release notes).
"""

import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Labels, Reading, Unit
from benchconsole.probes.readers.documents import Document, read_mapping
from benchconsole.probes.readers.numbers import format_size, read_number
from benchconsole.probes.readers.readings import add_labels

_VERSION = re.compile(r"iperf (?P<major>[0-9]{1,3})\.(?P<minor>[0-9]{1,3})")
_THREADS = (3, 16)
"""The first version in which each stream has a thread of its own."""
_LONGEST_US = 3.6e9
_MOST_BYTES = 2.0**50
_MOST_MSS = 65_535
_MOST_PERCENT = 1e5
_MOST_SECONDS = 1e6
_MOST_BITS = 1e14
_ALGORITHM = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")


def find_settings(start: Document, end: Document) -> dict[str, str]:
    """Labels of what was asked for, or left as the node has it; none for what a version does not write down.

    Zero copy (``-Z``) is written down nowhere. A server is not told the congestion control of its client.
    """
    test = read_mapping(start.get("test_start"))
    size, streams = _read_positive(test, "blksize", _MOST_BYTES), _read_positive(test, "num_streams", _MOST_MSS)
    found = {"size": f"{size:.0f}"} if size else {}
    for name, key in (("omit", "omit"), ("seconds", "duration"), ("tos", "tos")):
        value = read_number(test.get(key))
        if value is not None and 0 <= value <= _MOST_SECONDS and (value or name == "omit"):
            found[name] = f"{value:g}"
    if any(read_number(test.get(name)) != 0 for name in ("bytes", "blocks")):
        found.pop("seconds", None)  # the test ended, or may have ended, by its bytes
    buffer = read_number(start.get("sock_bufsize"))
    if buffer is not None and 0 <= buffer <= _MOST_BYTES:
        found["window"] = format_size(buffer) if buffer else "default"
    if segment := _read_positive(start, "tcp_mss", _MOST_MSS):
        found["mss"] = f"{segment:.0f}"
    if rate := _read_positive(test, "target_bitrate", _MOST_BITS) * streams:
        found["target_bitrate"] = f"{rate:.0f} b/s"
    algorithm = end.get("sender_tcp_congestion")
    if isinstance(algorithm, str) and _ALGORITHM.fullmatch(algorithm):
        found["congestion"] = algorithm
    return found


def read_connections(start: Document, sent: Document, streams: Sequence[Document], marks: Labels) -> Iterator[Reading]:
    """Of TCP in one direction: round trip, windows, segment size, share of segments sent again.

    ``sent`` is what its streams sent together, ``streams`` are its members of ``end.streams``.
    """
    senders = [read_mapping(stream.get("sender")) for stream in streams]
    trips = [_read_positive(each, "mean_rtt", _LONGEST_US) for each in senders]
    if trips and all(trips):
        trip = sum(trips) / len(trips)
        yield Reading("iperf3.rtt", trip * 1e-6, Unit.SECOND, marks, f"mean_rtt {trip:.0f} of the streams")
    for metric, name in (("iperf3.cwnd", "max_snd_cwnd"), ("iperf3.window", "max_snd_wnd")):
        sizes = [_read_positive(each, name, _MOST_BYTES) for each in senders]
        if sizes and all(sizes):
            yield Reading(metric, sum(sizes), Unit.BYTE, marks, f"{name} {sum(sizes):.0f} of the streams")
    segment = _read_positive(start, "tcp_mss", _MOST_MSS) or _read_positive(start, "tcp_mss_default", _MOST_MSS)
    if not segment:
        return
    yield Reading("iperf3.mss", segment, Unit.BYTE, marks, f"tcp_mss {segment:.0f}")
    resent, size = read_number(sent.get("retransmits")), _read_positive(sent, "bytes", _MOST_BYTES)
    if resent is not None and resent >= 0 and size:
        segments = size / segment + resent
        raw = f"retransmits {resent:.0f}, bytes {size:.0f}, tcp_mss {segment:.0f}"
        yield Reading("iperf3.resent", resent / segments, Unit.ONE, marks, raw)


def read_processors(start: Document, end: Document, marks: Labels, *, streams: int) -> Iterator[Reading]:
    """Share of one processor that each thread of iperf3 used at either end; ``streams`` are those of all directions."""
    direction, version = dict(marks).get("direction"), _VERSION.match(str(start.get("version", "")))
    used = read_mapping(end.get("cpu_utilization_percent"))
    if direction is None or version is None or not streams:
        return
    threads = streams if (int(version["major"]), int(version["minor"])) >= _THREADS else 1
    own, other = ("sender", "receiver") if direction == "out" else ("receiver", "sender")
    for name, place in (("host_total", own), ("remote_total", other)):
        percent = _read_positive(used, name, _MOST_PERCENT)
        if percent:
            raw = f"{name} {percent:.1f} of {threads} threads"
            yield Reading("iperf3.cpu", percent / 100 / threads, Unit.ONE, add_labels(marks, end=place), raw)


def read_reordered(streams: Sequence[Document], marks: Labels) -> Iterator[Reading]:
    """Share of the datagrams of UDP that came after a later one; only the end that received has counted them."""
    told = [read_mapping(stream.get("udp")) for stream in streams]
    late = [read_number(each.get("out_of_order")) for each in told if each.get("sender") is False]
    packets = [_read_positive(each, "packets", _MOST_BYTES) for each in told]
    counted = [count for count in late if count is not None and count >= 0]
    if told and len(counted) == len(told) and all(packets) and sum(counted) <= sum(packets):
        raw = f"out_of_order {sum(counted):.0f} of packets {sum(packets):.0f}"
        yield Reading("iperf3.reordered", sum(counted) / sum(packets), Unit.ONE, marks, raw)


def _read_positive(told: Document, name: str, most: float) -> float:
    """A number in (0, ``most``]; 0 where there is none, which is what iperf3 writes for what it was not told."""
    value = read_number(told.get(name))
    return value if value is not None and 0 < value <= most else 0.0
