"""The pair probe ``netperf``: streams and requests between two nodes, over one pair of addresses or several.

Over several pairs the streams run together and their sum is what the nodes reach over all their interfaces, as LLNL
measured what a file system's network can carry.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Against,
    Comparator,
    Contact,
    Demands,
    Directions,
    Given,
    Metric,
    Output,
    ProbeOutputError,
    Reading,
    Sending,
    Shown,
    Target,
    Unit,
    labels,
)
from benchconsole.probes.readers.lines import read_lines, shorten, split_lines
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.scratch import one_line as script
from benchconsole.probes.serving import PORTS
from benchconsole.probes.tools.netperf import text_reader
from benchconsole.probes.tools.network.pair_probe import PairProbe, find_ip_version

_STREAMS = ("TCP_STREAM", "TCP_MAERTS", "TCP_SENDFILE", "UDP_STREAM")
_MEMORY_STREAMS = ("TCP_STREAM", "TCP_MAERTS")
_TESTS = (*_STREAMS, "TCP_RR", "UDP_RR")
_RATE = "THROUGHPUT_UNITS,THROUGHPUT"
_KEYS = {
    "TCP_STREAM": f"LOCAL_SEND_SIZE,{_RATE},LOCAL_TRANSPORT_RETRANS",
    "TCP_MAERTS": f"REMOTE_SEND_SIZE,{_RATE},REMOTE_TRANSPORT_RETRANS",
    "UDP_STREAM": f"LOCAL_SEND_SIZE,{_RATE},LOCAL_BYTES_SENT,REMOTE_BYTES_RECVD",
    "TCP_RR": f"REQUEST_SIZE,RESPONSE_SIZE,{_RATE},RT_LATENCY,P99_LATENCY",
    "UDP_RR": f"REQUEST_SIZE,RESPONSE_SIZE,{_RATE},RT_LATENCY,P99_LATENCY",
}
"""The requested keys, the sizes first, so that they are known of each number. TCP_SENDFILE has its table only."""
_MOST_PAIRS = 64
_FRAME = 1472
"""Bytes of the longest UDP datagram in a frame of 1500; netperf's own default is cut into 45 fragments."""

# $1 the pairs, $2 how many, then the command that each is given to. Every line is marked with its pair, since the
# outputs come together; awk takes the mark from its environment, so that no address is ever part of a program.
_SCRIPT = script(
    r"""
    pairs=$1 count=$2; shift 2; set -f;
    command -v netperf >/dev/null 2>&1 || { echo "netperf: command not found" >&2; exit 127; };
    echo "benchconsole: netperf over $count pairs";
    for pair in $pairs; do
        { "$@" -L "${pair%>*}" -H "${pair#*>}"; echo "EXIT=$?"; } 2>&1 |
            PAIR="$pair" awk "{ print \"[\" ENVIRON[\"PAIR\"] \"] \" \$0 }" &
    done;
    wait
    """
)
_TOGETHER = re.compile(r"benchconsole: netperf over (?P<count>[0-9]{1,3}) pairs$")
_OF_PAIR = re.compile(r"\[(?P<pair>[0-9a-fA-F.:]{2,45}(?:,[46])?>[0-9a-fA-F.:]{2,45}(?:,[46])?)\] (?P<line>.*)$")


class Netperf(PairProbe):
    """Options: ``test``, ``seconds``, ``message`` and ``window`` (sizes for both ends; empty: netperf's), ``request``
    and ``response`` (sizes), ``file`` (what TCP_SENDFILE sends, a file of the node) and ``addresses``: pairs as
    "10.0.1.1>10.0.2.1, 10.0.1.2>10.0.2.2" that run at once (empty: the data addresses of the nodes).
    """

    name = "netperf"
    label_names = frozenset(
        (
            "burst", "direction", "nodelay", "pair", "pairs", "protocol", "receive_buffer", "request", "response",
            "send_buffer", "size", "statistic", "test",
        )
    )  # fmt: skip
    summary = "TCP and UDP streams, or requests, from one node to another, over one or all pairs of interfaces"
    source = "LLNL Lustre milestone report, appendix A"
    metrics = (
        Metric("netperf.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK, Against.FABRIC),
        Metric(
            "netperf.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT, sense=Comparator.AT_MOST
        ),
        Metric("netperf.retransmits", Unit.ONE, "segments that the sender sent again", sense=Comparator.AT_MOST),
        Metric("netperf.transactions", Unit.PER_SECOND, "requests that were answered"),
        Metric("netperf.latency", Unit.SECOND, "round trip of a request and its answer"),
    )
    tools = MappingProxyType({"netperf": "netperf", "netserver": "netperf"})
    versions = MappingProxyType({"netperf": "2.7"})
    options = MappingProxyType(
        {
            "test": "TCP_STREAM", "seconds": 5, "message": "", "window": "", "request": "1 B", "response": "1 B",
            "file": "", "addresses": "",
        }
    )  # fmt: skip

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return self.given(options).whole("seconds", 1) + 2.0

    def demands(self, target: Target) -> Demands:
        self.client(target, PORTS[0])
        return super().demands(target)

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        """Bulk are streams of TCP from memory between the data addresses; UDP goes as fast as its sender can."""
        given = self.given(options)
        test = given.choice("test", _TESTS)
        directions = Directions.REVERSED if test == "TCP_MAERTS" else Directions.FORWARD
        pairs = _list_pairs(given, test)
        return Sending(max(len(pairs), 1), directions=directions, bulk=test in _MEMORY_STREAMS and not pairs)

    def client(self, target: Target, port: int) -> list[str]:
        """The command at the node: netperf itself, or the script that runs one for each pair of addresses."""
        given, there = self.given(target.options), _add_family(self.peer(target).data_address)
        test, seconds = given.choice("test", _TESTS), str(given.whole("seconds", 1))
        argv = ["env", "LC_ALL=C", "netperf", "-H", there, "-p", str(port)]
        # without -F netperf would write a file of its own outside any scratch directory
        file = ["-F", given.path("file")] if test == "TCP_SENDFILE" else []
        argv += ["-t", test, "-l", seconds, *file, "-P", "1", "--", *_list_sizes(given, test)]
        argv += ["-k", _KEYS[test]] if test in _KEYS else []
        pairs = _list_pairs(given, test)
        if pairs:
            return ["sh", "-c", _SCRIPT, "benchconsole-netperf", " ".join(pairs), str(len(pairs)), *argv]
        here = _add_family(target.node.data_address)
        return [*argv, *(["-L", here] if "," in here else []), "-H", there]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        self.client(target, PORTS[0])
        address = _add_family(self.peer(target).data_address)
        said = await self.ask_server(
            contact,
            lambda port: ["netserver", "-D", "-N", "-L", address, "-p", str(port)],
            lambda port: self.client(target, port),
            limit=1.5 * self.estimate(target.options) + 15,
        )
        return (said,)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read tables, keys, CSV and rows of a known command; of several pairs each, and their sum if all are whole."""
        refuse_failed(output, "netperf")
        text_reader.refuse_complaint(split_lines(output.error_text, text_reader.LONGEST))
        lines = read_lines(output.text, text_reader.LONGEST)
        together = next((match for line in lines if (match := _TOGETHER.match(line))), None)
        return (
            _read_pairs(lines, int(together["count"])) if together else text_reader.parse_text(output.text, output.argv)
        )


def _read_pairs(lines: Sequence[str], count: int) -> Sequence[Reading]:
    """The readings of each pair, and first their sum where none is missing."""
    outputs: dict[str, list[str]] = {}
    for line in lines:
        if match := _OF_PAIR.match(line):
            outputs.setdefault(match["pair"], []).append(match["line"])
    found: list[Reading] = []
    for pair, own in outputs.items():
        ended = next((line for line in own if line.startswith("EXIT=")), "")
        if ended not in ("", "EXIT=0"):
            raise ProbeOutputError(f"{ended} over {shorten(pair)}", "every netperf to end with exit status 0")
        found += text_reader.read_run(own, pair=re.sub(",[46]", "", pair)) if ended else ()
    if not found:
        raise ProbeOutputError("no pair that came to its end", f"the results of {count} pairs")
    rates = [reading for reading in found if reading.metric == "netperf.throughput"]
    if not len(rates) == count == len(outputs):
        return found
    marks = {**dict(rates[0].labels), "statistic": "sum", "pairs": str(len(rates))}
    del marks["pair"]
    total, raw = sum(rate.value for rate in rates), " + ".join(rate.raw for rate in rates)
    return (Reading("netperf.throughput", total, Unit.BYTE_RATE, labels(**marks), shorten(raw, 300)), *found)


def _add_family(address: str) -> str:
    """``address`` as netperf takes it: a literal one with its family, a name as it is."""
    version = find_ip_version(address)
    return f"{address},{version}" if version else address


def _list_pairs(given: Given, test: str) -> list[str]:
    """The pairs of addresses as words ``10.0.1.1,4>10.0.2.1,4``; PlanError for what is no pair of addresses."""
    written = given.text("addresses").replace(",", " ").split()
    if written and test not in _STREAMS:
        raise given.refused("addresses", "none for tests of requests, whose rates are no sum")
    if len(written) > _MOST_PAIRS or len(set(written)) != len(written):
        raise given.refused("addresses", f"at most {_MOST_PAIRS} pairs, each once")
    pairs = []
    for pair in written:
        ends = [_add_family(end) for end in pair.split(">")]
        if len(ends) != 2 or not all("," in end and "%" not in end for end in ends):
            raise given.refused("addresses", "pairs of literal addresses as 10.0.1.1>10.0.2.1, with commas between")
        pairs.append(">".join(ends))
    return pairs


def _list_sizes(given: Given, test: str) -> list[str]:
    """Sizes of messages and buffers for both ends, or of requests; UDP is let through gateways (``-R 1``)."""
    if test not in _STREAMS:
        sizes = [str(given.size(name, 1, 2**20)) for name in ("request", "response")]
        return ["-r", ",".join(sizes)]
    argv: list[str] = ["-R", "1"] if test == "UDP_STREAM" else []
    message = given.size("message", 1, 2**30) if given.text("message") else 0
    if test == "UDP_STREAM":
        message = message or _FRAME
        if message > 65_507:
            raise given.refused("message", "at most 65507 B of UDP")
    if message:
        argv += ["-m", str(message), "-M", str(message)]
    if given.text("window"):
        window = str(given.size("window", 1024, 2**31 - 1))
        argv += ["-s", window, "-S", window]
    return argv
