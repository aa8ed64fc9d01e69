"""A simulated iperf3 3.12: its command line, and the JSON that it prints.

Only what the console's probes use: TCP, ``-c`` and ``-s``, ``-J``. Other options are refused as
iperf3 refuses what it does not know, so that a gap here shows as an error and not as a number.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchconsole.console.simulator.network import noise

VERSION = "iperf 3.12"
SYSTEM = "Linux {node} 6.1.0-28-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22) x86_64"
_HEADER = 52  # IPv4 and TCP with timestamps, bytes of every segment

_VALUED: Mapping[str, tuple[str, Callable[[str], object]]] = MappingProxyType(
    {
        "-c": ("client", str), "--client": ("client", str), "-p": ("port", int), "--port": ("port", int),
        "-t": ("seconds", int), "--time": ("seconds", int), "-P": ("streams", int), "--parallel": ("streams", int),
        "-O": ("omit", int), "--omit": ("omit", int), "-i": ("interval", float), "--interval": ("interval", float),
    }
)  # fmt: skip
_FLAGS = {
    "-s": "server", "--server": "server", "-1": "once", "--one-off": "once", "-R": "reverse", "--reverse": "reverse",
}  # fmt: skip
_IGNORED_VALUED = (
    "-B", "--bind", "-l", "--length", "-w", "--window", "-C", "--congestion", "-f", "--format", "-T", "--title",
    "--connect-timeout", "--idle-timeout", "--rcv-timeout", "--snd-timeout", "-M", "--set-mss", "--cport", "-A",
    "--affinity", "--pidfile", "-I",
)  # fmt: skip
_IGNORED_FLAGS = (
    "-J", "--json", "-4", "--version4", "--forceflush", "-N", "--no-delay", "-Z", "--zerocopy", "-V", "--verbose",
    "--get-server-output", "--repeating-payload",
)  # fmt: skip


class UsageError(Exception):
    """A command line that this iperf3 does not take."""


@dataclass(frozen=True, slots=True)
class Iperf3Options:
    """The options of one command line that change the answer."""

    server: bool = False
    once: bool = False
    reverse: bool = False
    client: str = ""
    port: int = 5201
    seconds: int = 10
    omit: int = 0
    streams: int = 1
    interval: float = 1.0


def parse_options(argv: Sequence[str]) -> Iperf3Options:
    """The options of an ``iperf3`` command line; UsageError for what this one does not take."""
    values: dict[str, Any] = {}
    words = list(argv[1:])
    while words:
        word, _, value = words.pop(0).partition("=")
        if word in _FLAGS:
            values[_FLAGS[word]] = True
        elif word in _VALUED or word in _IGNORED_VALUED:
            if not value and not words:
                raise UsageError(word)
            value = value or words.pop(0)
            name, convert = _VALUED.get(word, ("", str))
            try:
                values[name] = convert(value)
            except ValueError as error:
                raise UsageError(str(error)) from None
        elif word not in _IGNORED_FLAGS:
            raise UsageError(word)
    values.pop("", None)
    return Iperf3Options(**values)


@dataclass(frozen=True, slots=True)
class TestEnds:
    """The two ends of a test as iperf3 names them, and the largest packet between them."""

    node: str
    local: str
    remote: str
    mtu: int


def format_error(node: str, error: str) -> str:
    """What ``iperf3 -J`` prints when it could not do its test."""
    start = {"connected": [], "version": VERSION, "system_info": SYSTEM.format(node=node)}
    return _encode({"start": start, "intervals": [], "end": {}, "error": error})


def format_result(options: Iperf3Options, ends: TestEnds, rate: float, *, retransmits: int, at: float) -> str:
    """What ``iperf3 -J`` prints after a test at ``rate`` byte/s over all streams."""
    parts = _split_rate(options, ends, rate)
    return _encode(
        {
            "start": _make_start(options, ends, at),
            "intervals": _make_intervals(options, parts, retransmits),
            "end": _make_end(options, ends, parts, retransmits),
        }
    )


def _encode(document: object) -> str:
    return json.dumps(document, indent="\t", separators=(",", ":\t")) + "\n"


def _split_rate(options: Iperf3Options, ends: TestEnds, rate: float) -> list[float]:
    """byte/s of each stream: nearly alike, and together exactly ``rate``."""
    weights = [noise(ends.local, ends.remote, "stream", number, spread=0.03) for number in range(options.streams)]
    return [rate * weight / sum(weights) for weight in weights]


def _number_socket(number: int) -> int:
    return 5 if number == 0 else 5 + 2 * number


def _make_start(options: Iperf3Options, ends: TestEnds, at: float) -> dict[str, object]:
    first_port = 40_000 + int((1.0 - noise(ends.local, ends.remote, "port", spread=1.0)) * 20_000)
    return {
        "connected": [
            {
                "socket": _number_socket(number),
                "local_host": ends.local,
                "local_port": first_port + 2 * number,
                "remote_host": ends.remote,
                "remote_port": options.port,
            }
            for number in range(options.streams)
        ],
        "version": VERSION,
        "system_info": SYSTEM.format(node=ends.node),
        "timestamp": {"timesecs": int(at)},
        "connecting_to": {"host": ends.remote, "port": options.port},
        "tcp_mss_default": ends.mtu - _HEADER,
        "target_bitrate": 0,
        "sock_bufsize": 0,
        "sndbuf_actual": 87_040,
        "rcvbuf_actual": 131_072,
        "test_start": {
            "protocol": "TCP",
            "num_streams": options.streams,
            "blksize": 131_072,
            "omit": options.omit,
            "duration": options.seconds,
            "bytes": 0,
            "blocks": 0,
            "reverse": int(options.reverse),
            "tos": 0,
            "target_bitrate": 0,
        },
    }


def _make_sum(rate: float, start: float, end: float) -> dict[str, object]:
    seconds = end - start
    size = int(rate * seconds)
    return {"start": start, "end": end, "seconds": seconds, "bytes": size, "bits_per_second": size * 8 / seconds}


def _make_intervals(options: Iperf3Options, parts: Sequence[float], retransmits: int) -> list[dict[str, object]]:
    step = options.interval or float(options.seconds)
    periods = [
        (index * step, min((index + 1) * step, length), omitted)
        for length, omitted in ((options.omit, True), (options.seconds, False))
        for index in range(_count_intervals(length, step))
    ]
    each = retransmits // max(1, _count_intervals(options.seconds, step))
    intervals: list[dict[str, object]] = []
    for start, end, omitted in periods:
        streams = [
            {
                "socket": _number_socket(number),
                **_make_sum(part, start, end),
                "retransmits": each // options.streams,
                "snd_cwnd": 1_378_144,
                "snd_wnd": 3_002_368,
                "rtt": 412 if each else 187,
                "rttvar": 21,
                "pmtu": 9000,
                "omitted": omitted,
                "sender": not options.reverse,
            }
            for number, part in enumerate(parts)
        ]
        total = {**_make_sum(sum(parts), start, end), "retransmits": each, "omitted": omitted}
        intervals.append({"streams": streams, "sum": {**total, "sender": not options.reverse}})
    return intervals


def _count_intervals(seconds: float, step: float) -> int:
    return -int(-seconds // step)


def _make_end(options: Iperf3Options, ends: TestEnds, parts: Sequence[float], retransmits: int) -> dict[str, object]:
    seconds = float(options.seconds)
    ours = not options.reverse
    streams = [
        {
            "sender": {
                "socket": _number_socket(number),
                **_make_sum(part, 0.0, seconds),
                "retransmits": retransmits // options.streams,
                "max_snd_cwnd": 1_378_144,
                "max_snd_wnd": 3_002_368,
                "max_rtt": 431,
                "min_rtt": 163,
                "mean_rtt": 187,
                "sender": ours,
            },
            "receiver": {"socket": _number_socket(number), **_make_sum(part, 0.0, seconds + 0.0004), "sender": ours},
        }
        for number, part in enumerate(parts)
    ]
    busy = noise(ends.local, ends.remote, "cpu", spread=0.2)
    total = _make_sum(sum(parts), 0.0, seconds)
    return {
        "streams": streams,
        "sum_sent": {**total, "retransmits": retransmits, "sender": ours},
        "sum_received": {**total, "sender": ours},
        "cpu_utilization_percent": {
            "host_total": 31.4 * busy,
            "host_user": 1.1 * busy,
            "host_system": 30.3 * busy,
            "remote_total": 44.9 * busy,
            "remote_user": 2.6 * busy,
            "remote_system": 42.3 * busy,
        },
        "sender_tcp_congestion": "cubic",
        "receiver_tcp_congestion": "cubic",
    }
