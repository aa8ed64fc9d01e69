"""Owns what a simulated iperf3 3.12 takes on its command line and prints as JSON.

Only what the console's probes use: TCP, ``-c`` and ``-s``, ``-J``. Other options are refused as
iperf3 refuses what it does not know, so that a gap here shows as an error and not as a number.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from console.demo.network import noise

VERSION = "iperf 3.12"
SYSTEM = "Linux {node} 6.1.0-28-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22) x86_64"
_HEADER = 52  # IPv4 and TCP with timestamps, bytes of every segment

_VALUED = {
    "-c": "client", "--client": "client", "-p": "port", "--port": "port", "-t": "seconds", "--time": "seconds",
    "-P": "streams", "--parallel": "streams", "-O": "omit", "--omit": "omit", "-i": "interval",
    "--interval": "interval", "-B": "bind", "--bind": "bind", "-l": "length", "--length": "length",
    "-w": "window", "--window": "window", "-C": "congestion", "--congestion": "congestion", "-f": "format",
    "--format": "format", "-T": "title", "--title": "title", "--connect-timeout": "wait", "--idle-timeout": "idle",
    "--rcv-timeout": "receive", "--snd-timeout": "unacknowledged", "-M": "mss", "--set-mss": "mss",
    "--cport": "cport", "-A": "affinity", "--affinity": "affinity", "--pidfile": "pidfile", "-I": "pidfile",
}  # fmt: skip
_FLAGS = {
    "-s": "server", "--server": "server", "-1": "once", "--one-off": "once", "-J": "json", "--json": "json",
    "-R": "reverse", "--reverse": "reverse", "-4": "four", "--version4": "four", "--forceflush": "flush",
    "-N": "nodelay", "--no-delay": "nodelay", "-Z": "zerocopy", "--zerocopy": "zerocopy", "-V": "verbose",
    "--verbose": "verbose", "--get-server-output": "remote", "--repeating-payload": "payload",
}  # fmt: skip


class UsageError(Exception):
    """A command line that this iperf3 does not take."""


@dataclass(frozen=True, slots=True)
class Call:
    """One command line, read."""

    server: bool = False
    once: bool = False
    json: bool = False
    reverse: bool = False
    client: str = ""
    port: int = 5201
    seconds: int = 10
    omit: int = 0
    streams: int = 1
    interval: float = 1.0


def read(argv: Sequence[str]) -> Call:
    """The options of an ``iperf3`` command line; UsageError for what this one does not take."""
    values: dict[str, str] = {}
    flags: set[str] = set()
    words = list(argv[1:])
    while words:
        word, _, glued = words.pop(0).partition("=")
        if word in _FLAGS:
            flags.add(_FLAGS[word])
        elif word in _VALUED and (glued or words):
            values[_VALUED[word]] = glued or words.pop(0)
        else:
            raise UsageError(word)
    try:
        return Call(
            server="server" in flags,
            once="once" in flags,
            json="json" in flags,
            reverse="reverse" in flags,
            client=values.get("client", ""),
            port=int(values.get("port", 5201)),
            seconds=int(values.get("seconds", 10)),
            omit=int(values.get("omit", 0)),
            streams=int(values.get("streams", 1)),
            interval=float(values.get("interval", 1.0)),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a test as iperf3 names them, and the largest packet between them."""

    node: str
    local: str
    remote: str
    mtu: int


def failed(node: str, error: str) -> str:
    """What ``iperf3 -J`` prints when it could not do its test."""
    start = {"connected": [], "version": VERSION, "system_info": SYSTEM.format(node=node)}
    return _text({"start": start, "intervals": [], "end": {}, "error": error})


def measured(call: Call, ends: Ends, rate: float, *, retransmits: int, at: float) -> str:
    """What ``iperf3 -J`` prints after a test at ``rate`` byte/s over all streams."""
    parts = _parts(call, ends, rate)
    return _text(
        {
            "start": _start(call, ends, at),
            "intervals": _intervals(call, parts, retransmits),
            "end": _end(call, ends, parts, retransmits),
        }
    )


def _text(document: object) -> str:
    return json.dumps(document, indent="\t", separators=(",", ":\t")) + "\n"


def _parts(call: Call, ends: Ends, rate: float) -> list[float]:
    """byte/s of each stream: nearly alike, and together exactly ``rate``."""
    weights = [noise(ends.local, ends.remote, "stream", number, spread=0.03) for number in range(call.streams)]
    return [rate * weight / sum(weights) for weight in weights]


def _socket(number: int) -> int:
    return 5 if number == 0 else 5 + 2 * number


def _start(call: Call, ends: Ends, at: float) -> dict[str, object]:
    first_port = 40_000 + int((1.0 - noise(ends.local, ends.remote, "port", spread=1.0)) * 20_000)
    return {
        "connected": [
            {
                "socket": _socket(number),
                "local_host": ends.local,
                "local_port": first_port + 2 * number,
                "remote_host": ends.remote,
                "remote_port": call.port,
            }
            for number in range(call.streams)
        ],
        "version": VERSION,
        "system_info": SYSTEM.format(node=ends.node),
        "timestamp": {"timesecs": int(at)},
        "connecting_to": {"host": ends.remote, "port": call.port},
        "tcp_mss_default": ends.mtu - _HEADER,
        "target_bitrate": 0,
        "sock_bufsize": 0,
        "sndbuf_actual": 87_040,
        "rcvbuf_actual": 131_072,
        "test_start": {
            "protocol": "TCP",
            "num_streams": call.streams,
            "blksize": 131_072,
            "omit": call.omit,
            "duration": call.seconds,
            "bytes": 0,
            "blocks": 0,
            "reverse": int(call.reverse),
            "tos": 0,
            "target_bitrate": 0,
        },
    }


def _carried(rate: float, start: float, end: float) -> dict[str, object]:
    seconds = end - start
    size = int(rate * seconds)
    return {"start": start, "end": end, "seconds": seconds, "bytes": size, "bits_per_second": size * 8 / seconds}


def _intervals(call: Call, parts: Sequence[float], retransmits: int) -> list[dict[str, object]]:
    step = call.interval or float(call.seconds)
    periods = [
        (index * step, min((index + 1) * step, length), omitted)
        for length, omitted in ((call.omit, True), (call.seconds, False))
        for index in range(_count(length, step))
    ]
    each = retransmits // max(1, _count(call.seconds, step))
    found: list[dict[str, object]] = []
    for start, end, omitted in periods:
        streams = [
            {
                "socket": _socket(number),
                **_carried(part, start, end),
                "retransmits": each // call.streams,
                "snd_cwnd": 1_378_144,
                "snd_wnd": 3_002_368,
                "rtt": 412 if each else 187,
                "rttvar": 21,
                "pmtu": 9000,
                "omitted": omitted,
                "sender": not call.reverse,
            }
            for number, part in enumerate(parts)
        ]
        total = {**_carried(sum(parts), start, end), "retransmits": each, "omitted": omitted}
        found.append({"streams": streams, "sum": {**total, "sender": not call.reverse}})
    return found


def _count(seconds: float, step: float) -> int:
    return -int(-seconds // step)


def _end(call: Call, ends: Ends, parts: Sequence[float], retransmits: int) -> dict[str, object]:
    seconds = float(call.seconds)
    ours = not call.reverse
    streams = [
        {
            "sender": {
                "socket": _socket(number),
                **_carried(part, 0.0, seconds),
                "retransmits": retransmits // call.streams,
                "max_snd_cwnd": 1_378_144,
                "max_snd_wnd": 3_002_368,
                "max_rtt": 431,
                "min_rtt": 163,
                "mean_rtt": 187,
                "sender": ours,
            },
            "receiver": {"socket": _socket(number), **_carried(part, 0.0, seconds + 0.0004), "sender": ours},
        }
        for number, part in enumerate(parts)
    ]
    busy = noise(ends.local, ends.remote, "cpu", spread=0.2)
    received = _carried(sum(parts), 0.0, seconds)
    return {
        "streams": streams,
        "sum_sent": {**_carried(sum(parts), 0.0, seconds), "retransmits": retransmits, "sender": ours},
        "sum_received": {**received, "sender": ours},
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
