"""A simulated iperf3 3.12: its command line, and the JSON that it prints.

Only what the console's probes use: TCP, ``-c`` and ``-s``, ``-J``. Other options are refused as
iperf3 refuses what it does not know, so that a gap here shows as an error and not as a number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from getopt import GetoptError, getopt
from typing import Any

from benchconsole.console.simulator.network import StreamLoad, noise
from benchconsole.console.simulator.templates import render_template
from benchconsole.topology.model.fabric import Node

_HEADER = 52  # IPv4 and TCP with timestamps, bytes of every segment

_OPTIONS: tuple[tuple[str, str, str, type], ...] = (
    ("c:", "client=", "client", str), ("p:", "port=", "port", int), ("t:", "time=", "seconds", int),
    ("P:", "parallel=", "streams", int), ("O:", "omit=", "omit", int), ("i:", "interval=", "interval", float),
    ("s", "server", "server", bool), ("1", "one-off", "once", bool), ("R", "reverse", "reverse", bool),
    ("B:", "bind=", "bind", str), ("b:", "bitrate=", "bitrate", int),
)  # fmt: skip
"""Letter and word as getopt takes them, the field of Iperf3Options, and its type."""
_OTHER_LETTERS = "l:w:C:f:T:M:A:I:J4NZV"
_OTHER_WORDS = (
    "length=", "window=", "congestion=", "format=", "title=", "connect-timeout=", "idle-timeout=",
    "rcv-timeout=", "snd-timeout=", "set-mss=", "cport=", "affinity=", "pidfile=", "json", "version4", "forceflush",
    "no-delay", "zerocopy", "verbose", "get-server-output", "repeating-payload",
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
    bind: str = ""
    port: int = 5201
    seconds: int = 10
    omit: int = 0
    streams: int = 1
    interval: float = 1.0
    bitrate: int = 0
    """bit/s of each stream at most; 0: as fast as it can."""


def parse_options(argv: Sequence[str]) -> Iperf3Options:
    """The options of an ``iperf3`` command line; UsageError for what this one does not take."""
    letters = "".join(letter for letter, *_ in _OPTIONS) + _OTHER_LETTERS
    values: dict[str, Any] = {}
    try:
        given, rest = getopt(argv[1:], letters, [word for _, word, *_ in _OPTIONS] + [*_OTHER_WORDS])
        for letter, word, name, kind in _OPTIONS:
            for text in (text for option, text in given if option in (f"-{letter[0]}", f"--{word.rstrip('=')}")):
                values[name] = kind is bool or kind(text)
    except GetoptError as error:
        raise UsageError(f"{'-' if len(error.opt) == 1 else '--'}{error.opt}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    if rest:
        raise UsageError(rest[0])
    return Iperf3Options(**values)


def format_interval(load: StreamLoad, second: int, omitted: int, rate: float) -> str:
    """The line of ``iperf3 -s`` after its ``second`` (from 1), in which about ``rate`` byte/s arrived.

    The first so many seconds are ``omitted``; after them it counts from 0 again.
    """
    rate *= noise(load.source, load.sink, "interval", second, spread=0.04)
    end = second if second <= omitted else second - omitted
    span = f"{end - 1:6.2f}-{f'{end:.2f}':<6}"
    name, rest = "SUM" if load.streams > 1 else "  5", "(omitted)" if second <= omitted else ""
    return f"[{name}] {span} sec  {_scale(rate)}Bytes  {_scale(rate * 8)}bits/sec                  {rest}\n"


def _scale(number: float) -> str:
    """Three digits and a prefix, as iperf3 writes them."""
    factor, prefix = next(((f, p) for f, p in ((1e9, "G"), (1e6, "M"), (1e3, "K")) if number >= f), (1.0, ""))
    value = number / factor
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {prefix}"


def format_error(node: str, error: str) -> str:
    """The output of ``iperf3 -J`` when it could not do its test."""
    return render_template("iperf3-error.json", {"node": node, "error": error})


def format_result(
    options: Iperf3Options, client: Node, server: Node, rate: float, *, mtu: int, retransmits: int, at: float
) -> str:
    """The output of ``iperf3 -J`` after a test at ``rate`` byte/s over all streams."""
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
