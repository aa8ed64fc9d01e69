"""A simulated iperf3 3.12: its command line, and the JSON that it prints.

Only what the console's probes use: TCP, ``-c`` and ``-s``, ``-J``. Other options are refused as
iperf3 refuses what it does not know, so that a gap here shows as an error and not as a number.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchconsole.console.simulator.network import noise
from benchconsole.console.simulator.templates import render_template
from benchconsole.topology.model.fabric import Node

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


def format_error(node: str, error: str) -> str:
    """What ``iperf3 -J`` prints when it could not do its test."""
    return render_template("iperf3-error.json", {"node": node, "error": error})


def format_result(
    options: Iperf3Options, client: Node, server: Node, rate: float, *, mtu: int, retransmits: int, at: float
) -> str:
    """What ``iperf3 -J`` prints after a test at ``rate`` byte/s over all streams."""
    pair = (client.data_address, server.data_address)
    # the streams are nearly alike, and together exactly at the rate
    weights = [noise(*pair, "stream", number, spread=0.03) for number in range(options.streams)]
    rates = [rate * weight / sum(weights) for weight in weights]
    step = options.interval or float(options.seconds)
    periods = [
        (index * step, min((index + 1) * step, length), omitted)
        for length, omitted in ((options.omit, True), (options.seconds, False))
        for index in range(math.ceil(length / step))
    ]
    values = {
        "options": options,
        "client": client,
        "server": server,
        "at": at,
        "first_port": 40_000 + int((1.0 - noise(*pair, "port", spread=1.0)) * 20_000),
        "segment": mtu - _HEADER,
        "streams": [{"socket": 5 + 2 * number, "rate": part} for number, part in enumerate(rates)],
        "rate": sum(rates),
        "seconds": float(options.seconds),
        "periods": periods,
        "resent": retransmits,
        "resent_each": retransmits // max(1, sum(not omitted for *_, omitted in periods)),
        "busy": noise(*pair, "cpu", spread=0.2),
    }
    return render_template("iperf3.json", values)
