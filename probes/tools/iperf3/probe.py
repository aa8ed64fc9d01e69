"""The pair probe ``iperf3``: a one-off server at the peer, a client at the node.

The node sends and the peer receives; with ``reverse`` the peer sends, with ``bidir`` both. The receiver's rate counts.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Against,
    Comparator,
    Contact,
    Given,
    Interval,
    Metric,
    Output,
    Reading,
    RemoteError,
    SendingOptions,
    Shown,
    Target,
    Unit,
)
from benchconsole.probes.model.time_limits import COMMAND_ENDING
from benchconsole.probes.readers.lines import strip_colours
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.serving import PORTS
from benchconsole.probes.tools.iperf3 import archive_reader, interval_lines, json_reader
from benchconsole.probes.tools.network.pair_probe import PairProbe, bind_option

_LINES_FLAG = "--json-stream"
"""One line of JSON for each interval, from 3.17 on."""
_LOWEST_PORT, _HIGHEST_PORT = 1024, 65_535
_MOST_STREAMS = 128
_MOST_DATAGRAM = 65_507
_MOST_WRITE, _MOST_WINDOW = 2**20, 512 * 2**20
"""Bytes that iperf3 takes for ``-l`` and for ``-w`` at most (its MAX_BLOCKSIZE and MAX_TCP_BUFFER)."""
_ALGORITHM = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")
_ATTEMPTS = 4
_START = 1.0
"""Seconds that a test takes beyond those in which it sends: both ends start, and exchange their results."""
_READY = 5.0
"""Seconds in which a server listens, or hangs. The other tests of the round wait for it, so they are few."""
_LATE = 8.0
"""Seconds beyond the estimate after which a client hangs."""
_IDLE = 60
"""Seconds after which a server without a client ends by itself; covers the wait for the round."""


class Iperf3(PairProbe):
    """TCP or UDP between two nodes. Options: ``streams``, ``seconds`` and ``omit`` (s, the slow start left out).

    ``tail`` s more are sent and left out at the end, for tests of a round that begin apart: what counts is the time in
    which all of them send. It is counted by the client, TCP only.
    ``bitrate`` holds the test to a rate of payload in all ("480 Mb/s"; empty: as fast as it goes), in each direction.
    ``source_port`` is that of its first stream, the others take the next ones (0: any). ``protocol`` "udp" needs a
    ``bitrate``. ``reverse`` 1 lets the peer send, ``bidir`` 1 both. ``length`` of a write, ``window`` of the socket
    ("4 MiB") and ``congestion`` (its name) stay as the node has them while they are empty. ``json_stream`` 1 asks
    for a line of JSON for each interval where the node's iperf3 has that, and for one document where it has not.
    """

    name = "iperf3"
    closing = re.compile(r"iperf Done\.|Server listening on .*|\}|\{\"event\":\"end\".*")
    label_names = frozenset(
        (
            "congestion", "direction", "end", "mss", "omit", "protocol", "run", "seconds", "size", "stream", "streams",
            "tail", "target_bitrate", "tos", "window",
        )
    )  # fmt: skip
    summary = "TCP or UDP throughput between two nodes, as the receiver counts it"
    source = "Jetstream acceptance report, TCP and UDP bandwidth; SC11 100G WAN report; DESY storage report"
    metrics = (
        Metric("iperf3.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK, Against.FABRIC),
        Metric("iperf3.stream", Unit.BYTE_RATE, "payload of one stream that arrived", Shown.NETWORK),
        Metric("iperf3.retransmits", Unit.ONE, "segments that the sender sent again", sense=Comparator.AT_MOST),
        Metric(
            "iperf3.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT, sense=Comparator.AT_MOST
        ),
        Metric("iperf3.jitter", Unit.SECOND, "jitter of datagrams at the receiver"),
        Metric("iperf3.reordered", Unit.ONE, "share of datagrams that came after a later one", Shown.PERCENT),
        Metric("iperf3.resent", Unit.ONE, "share of segments that were sent again", Shown.PERCENT),
        Metric("iperf3.rtt", Unit.SECOND, "round trip of the sender's segments, mean of its streams"),
        Metric("iperf3.cwnd", Unit.BYTE, "largest congestion windows of all streams", Shown.MEMORY),
        Metric("iperf3.window", Unit.BYTE, "largest windows that the receiver offered all streams", Shown.MEMORY),
        Metric("iperf3.mss", Unit.BYTE, "payload of one segment at most"),
        Metric("iperf3.cpu", Unit.ONE, "share of one processor that each thread of an end used", Shown.PERCENT),
    )
    tools = MappingProxyType({"iperf3": "iperf3"})
    options = MappingProxyType(
        {
            "streams": 4, "seconds": 5, "omit": 1, "tail": 0, "bitrate": "", "source_port": 0,
            "protocol": "tcp", "reverse": 0, "bidir": 0,
            "length": "", "window": "", "congestion": "", "json_stream": 0,
        }
    )  # fmt: skip
    sending_options = SendingOptions("streams", "bitrate", "source_port", "reverse", "bidir")

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return float(given.whole("seconds", 1) + given.whole("omit") + given.whole("tail") + _START)

    def time_limit(self, options: Mapping[str, str | int | float]) -> float:
        """Both ends: a server that hangs is ended before the clients of its round begin, and then one of these hangs.

        Other attempts follow a port that is in use, of which a server tells at once.
        """
        return _READY + COMMAND_ENDING + self.estimate(options) + _LATE

    def check(self, target: Target) -> None:
        self.client(target, 0)
        self.given(target.options).flag("json_stream")
        super().check(target)

    def client(self, target: Target, port: int, *, lines: bool = False) -> list[str]:
        """The command that sends, printing ``lines`` of JSON or one document; PlanError for what is out of range."""
        peer, given = self.peer(target), self.given(target.options)
        sending, streams = _list_sending(given), given.whole("streams", 1, _MOST_STREAMS)
        argv = ["iperf3", "-c", peer.data_address, *bind_option("-B", target.node.data_address), "-p", str(port)]
        tail = given.whole("tail")
        argv += ["-P", str(streams), "-t", str(given.whole("seconds", 1) + tail), "-O", str(given.whole("omit"))]
        argv += ["-T", f"tail={tail}"] if tail else []
        return [*argv, *sending, _LINES_FLAG if lines else "-J"]

    def server(self, target: Target, port: int, *, idle: bool = True) -> list[str]:
        """The command that receives once; ``idle`` False leaves out what versions before 3.10 lack."""
        argv = ["iperf3", "-s", "-1", *bind_option("-B", self.peer(target).data_address), "-p", str(port)]
        return [*argv, "--forceflush", *(["--idle-timeout", str(_IDLE)] if idle else [])]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        self.client(target, 0)
        seconds, lines = self.estimate(target.options), False
        if self.given(target.options).flag("json_stream"):
            said = await contact.here.run(["iperf3", "--help"], timeout=15)
            lines = _LINES_FLAG in said.text + said.error_text
        idle, attempt = True, 1
        while True:
            port = self._ports.randrange(*PORTS)
            server = contact.there.start(self.server(target, port, idle=idle), timeout=_IDLE + seconds + 30)
            async with server as listening:
                try:
                    await listening.says("Server listening on", timeout=_READY)
                except RemoteError as error:
                    old = idle and _says(error, "unrecognized option", "unknown option", "Usage:")
                    if attempt == _ATTEMPTS or not (old or _says(error, "in use")):
                        raise
                    idle, attempt = idle and not old, attempt + 1
                    continue
                await contact.together()
                return (await contact.here.run(self.client(target, port, lines=lines), timeout=seconds + _LATE),)

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        """The intervals that the server prints each second: the client says nothing before its end."""
        is_single = str(target.options.get("streams", self.options["streams"])) == "1"
        sends = str(target.options.get("reverse", "")) == "1"
        return interval_lines.read_line(line, is_single=is_single, sends=sends)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read JSON of versions 3.1 to 3.17 and later, its line-by-line form, or the text form.

        ProbeOutputError when the run failed, when nothing arrived, or when the receiver's word is missing.
        """
        text = strip_colours(output.text)
        if output.exit_status != 0:
            json_reader.refuse_complaint(text)
        archive_reader.refuse_complaint(output.error_text)
        refuse_failed(output, "iperf3")
        return json_reader.parse_json(text) if json_reader.is_json(text) else archive_reader.parse_text(text)


def _list_sending(given: Given) -> list[str]:
    """The arguments for what is sent, none for what is left as it is; PlanError for what does not go together.

    iperf3 would take that for something else: UDP without a rate for 1 Mb/s, and ports that do not hold all streams.
    Checked with iperf3 3.12: ``-b`` holds each stream, and they take consecutive ports from ``--cport`` on.
    """
    streams = given.whole("streams", 1, _MOST_STREAMS)
    udp, bidir = given.choice("protocol", ("tcp", "udp")) == "udp", given.flag("bidir")
    if bidir and given.flag("reverse"):
        raise given.refused("reverse", "0 beside bidir 1, which has both directions")
    if given.whole("tail") and (udp or bidir or given.flag("json_stream")):
        raise given.refused("tail", "0 beside udp, bidir or json_stream, which leave out the intervals of it")
    if udp and not given.text("bitrate"):
        raise given.refused("bitrate", "a rate for udp, which would send 1 Mb/s without")
    flags = (("-u", udp), ("-R", given.flag("reverse")), ("--bidir", bidir))
    rate = given.rate("bitrate")
    bits = None if rate is None else int(rate * 8 / streams)
    if bits == 0:
        raise given.refused("bitrate", f"more for {streams} streams")
    port = given.whole("source_port", 0, _HIGHEST_PORT + 1 - (2 * streams if bidir else streams))
    if 0 < port < _LOWEST_PORT:
        raise given.refused("source_port", f"{_LOWEST_PORT} or more, or 0 for any")
    argv = ["-b", str(bits)] if bits else []
    argv += ["--cport", str(port)] if port else []
    argv += [flag for flag, asked in flags if asked]
    for flag, name, most in (("-l", "length", _MOST_DATAGRAM if udp else _MOST_WRITE), ("-w", "window", _MOST_WINDOW)):
        argv += [flag, str(given.size(name, 16, most))] if given.text(name) else []
    congestion = given.text("congestion")
    if congestion and (udp or not _ALGORITHM.fullmatch(congestion)):
        raise given.refused("congestion", "nothing for udp" if udp else "the name of an algorithm, such as cubic")
    return [*argv, "-C", congestion] if congestion else argv


def _says(error: RemoteError, *words: str) -> bool:
    """Whether the failure, or what the command had said by then, holds one of ``words``."""
    said = error.failure.detail
    if error.output is not None:
        said += error.output.text + error.output.error_text
    return any(word in said for word in words)
