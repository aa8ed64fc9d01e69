"""The pair probe ``nuttcp``: TCP, UDP at a rate, and bursts of datagrams, as the receiver counts them.

A one-off server at the peer for each transfer, kept in the foreground: nuttcp's own way is to leave its session,
where nothing would end it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from benchconsole.probes.api import (
    Against,
    Comparator,
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    Reading,
    Sending,
    SendingOptions,
    Shown,
    Target,
    Unit,
)
from benchconsole.probes.readers.numbers import format_size
from benchconsole.probes.readers.readings import add_labels, refuse_failed
from benchconsole.probes.serving import PORTS
from benchconsole.probes.tools.network.pair_probe import PairProbe, find_ip_version
from benchconsole.probes.tools.nuttcp import text_reader
from benchconsole.topology.copying import replace

_MODES = ("tcp", "udp", "burst")
_MOST_RATE = 2**32 - 2
"""kbit/s; nuttcp's counter, and its word for no limit is the next one."""
_LONGEST = 65_507
"""Bytes of the longest UDP datagram over IPv4."""
_ENDING = 3.0
"""Seconds in which a sender of UDP says four times that it has ended, with the start of both ends."""


class Nuttcp(PairProbe):
    """Options: ``mode`` (tcp, udp, burst), ``seconds``, ``streams``, ``reverse`` (1: the peer sends), ``window``.

    ``bitrate`` holds the transfer to a rate of payload in all ("480 Mb/s"; empty: as fast as it goes). ``length``
    is that of a datagram. A burst is ``burst`` datagrams sent without a pause, ``bursts`` times.
    """

    name = "nuttcp"
    label_names = frozenset(
        ("direction", "end", "packets", "protocol", "run", "seconds", "size", "streams", "target_bitrate", "window")
    )
    summary = "TCP and UDP throughput from one node to another, and the loss of bursts of datagrams"
    source = "Jetstream acceptance report, 5.1.1.4"
    metrics = (
        Metric("nuttcp.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK, Against.FABRIC),
        Metric(
            "nuttcp.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT, sense=Comparator.AT_MOST
        ),
        Metric(
            "nuttcp.burst_loss",
            Unit.ONE,
            "share of the datagrams of one burst that did not arrive",
            Shown.PERCENT,
            sense=Comparator.AT_MOST,
        ),
        Metric("nuttcp.retransmits", Unit.ONE, "segments that the sender sent again", sense=Comparator.AT_MOST),
        Metric("nuttcp.rtt", Unit.SECOND, "round trip as the connection was made"),
        Metric("nuttcp.cpu", Unit.ONE, "share of one processor that an end used", Shown.PERCENT),
    )
    tools = MappingProxyType({"nuttcp": "nuttcp"})
    versions = MappingProxyType({"nuttcp": "6.1"})
    options = MappingProxyType(
        {
            "mode": "tcp", "seconds": 5, "streams": 1, "bitrate": "", "length": "1472 B",
            "burst": 65, "bursts": 3, "window": "", "reverse": 0,
        }
    )  # fmt: skip
    sending_options = SendingOptions(streams="streams", rate="bitrate", reverse="reverse")

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        if given.choice("mode", _MODES) == "burst":
            return given.whole("bursts", 1, 100) * (_ENDING + 0.5)
        return given.whole("seconds", 1) + _ENDING

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        """Bulk are TCP, and UDP at a rate: without one the sender's processor decides, and a burst is over at once."""
        sending, mode = super().sending(options), self.given(options).choice("mode", _MODES)
        return replace(sending, bulk=mode == "tcp" or (mode == "udp" and sending.rate is not None))

    def client(self, target: Target, control: int, data: int) -> list[str]:
        """The command at the node; PlanError for options that are out of range."""
        given, peer = self.given(target.options), self.peer(target).data_address
        way = "-r" if given.flag("reverse") else "-t"
        argv = ["env", "LC_ALL=C", "nuttcp", *_list_version(peer), way, "-v", "-fparse", f"-P{control}", f"-p{data}"]
        if given.text("window"):
            window = given.size("window", 1024, 2**31 - 1024)
            if window % 1024:
                raise given.refused("window", "whole KiB")
            argv.append(f"-w{window // 1024}")
        return [*argv, *_list_sending(given), peer]

    def server(self, target: Target, control: int) -> list[str]:
        return ["nuttcp", "-1", "--nofork", *_list_version(self.peer(target).data_address), f"-P{control}"]

    def demands(self, target: Target) -> Demands:
        self.client(target, *PORTS)
        return super().demands(target)

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Send once, or burst after burst; each against a server of its own. The first waits for the round."""
        self.client(target, *PORTS)
        given = self.given(target.options)
        burst, streams = given.choice("mode", _MODES) == "burst", given.whole("streams", 1, 128)
        limit = _ENDING + (0 if burst else given.whole("seconds", 1)) + 30

        def client(control: int) -> list[str]:
            return self.client(target, control, self.draw_port(control, streams))

        said: list[Output] = []
        for _ in range(given.whole("bursts", 1, 100) if burst else 1):
            server = partial(self.server, target)
            said.append(await self.ask_server(contact, server, client, limit=limit, together=not said))
        return said

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read what the client says, versions 3 to 8, brief or verbose, for people or with ``-fparse``.

        ProbeOutputError when it failed, and when the receiver did not speak to its end: the status is 0 then too.
        """
        text_reader.refuse_complaint(output.error_text)
        refuse_failed(output, "nuttcp")
        window = _read_window(output.argv)
        found = text_reader.parse_text(output.text)
        return [replace(one, labels=add_labels(one.labels, window=window)) for one in found] if window else found


def _read_window(argv: Sequence[str]) -> str:
    """The label of the sockets' buffers that a known command line asks for; nothing for a capture without one.

    The sizes that nuttcp prints are those of the moment, which the kernel makes larger or smaller by itself.
    """
    asked = [word[2:] for word in argv if word.startswith("-w")]
    if not any(word.startswith("-") for word in argv) or len(asked) > 1:
        return ""
    if not asked:
        return "default"
    return format_size(int(asked[0]) * 1024.0) if asked[0].isdecimal() else ""


def _list_version(peer: str) -> list[str]:
    """``-6`` for a literal address of IPv6, which a server does not listen on by itself."""
    return ["-6"] if find_ip_version(peer) == 6 else []


def _list_sending(given: Given) -> list[str]:
    mode = given.choice("mode", _MODES)
    if mode == "burst":
        if given.text("bitrate"):
            raise given.refused("bitrate", "nothing for bursts, which are sent as fast as it goes")
        return ["-u", "-Ru", f"-n{given.whole('burst', 2, 1_000_000)}", f"-l{given.size('length', 64, _LONGEST)}"]
    argv = [f"-T{given.whole('seconds', 1)}", f"-N{given.whole('streams', 1, 128)}"]
    rate = given.rate("bitrate")
    if rate is not None:
        kilobits = int(rate * 8 / 1000)
        if not 1 <= kilobits <= _MOST_RATE:
            raise given.refused("bitrate", "1 kb/s to 4 Tb/s")
        argv.append(f"-R{kilobits}")
    if mode == "tcp":
        return argv
    return [*argv, "-u", *([] if rate is not None else ["-Ru"]), f"-l{given.size('length', 64, _LONGEST)}"]
