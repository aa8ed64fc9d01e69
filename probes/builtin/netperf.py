"""Owns the pair probe ``netperf``: streams and requests between two nodes, over one pair of addresses or several.

Over several pairs the streams run together and their sum is what the nodes reach over all their interfaces, as LLNL
measured what a file system's network can carry. Refuses to run where links are capped: netperf keeps no rate.
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes.api import (
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    PlanError,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
    labels,
)
from probes.builtin import netperf_text
from probes.builtin.captured import one_line, refuse_failed, whole_lines
from probes.scratch import one_line as script
from probes.serving import PORTS, serving

_STREAMS = ("TCP_STREAM", "TCP_MAERTS", "TCP_SENDFILE", "UDP_STREAM")
_TESTS = (*_STREAMS, "TCP_RR", "UDP_RR")
_KEYS = {
    "TCP_STREAM": "LOCAL_TRANSPORT_RETRANS",
    "TCP_MAERTS": "REMOTE_TRANSPORT_RETRANS",
    "UDP_STREAM": "LOCAL_BYTES_SENT,REMOTE_BYTES_RECVD",
    "TCP_RR": "RT_LATENCY,P99_LATENCY",
    "UDP_RR": "RT_LATENCY,P99_LATENCY",
}
"""What is asked for besides the rate. TCP_SENDFILE was never moved to omni and has its table only."""
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


class Netperf(Probe):
    """Options: ``test``, ``seconds``, ``message`` and ``window`` (sizes for both ends; empty: netperf's), ``request``
    and ``response`` (sizes), ``file`` (what TCP_SENDFILE sends, a file of the node) and ``addresses``: pairs as
    "10.0.1.1>10.0.2.1, 10.0.1.2>10.0.2.2" that run at once (empty: the data addresses of the nodes).
    """

    name = "netperf"
    summary = "TCP and UDP streams, or requests, from one node to another, over one or all pairs of interfaces"
    source = "LLNL Lustre milestone report, appendix A"
    metrics = (
        Metric("netperf.throughput", Unit.BYTE_RATE, "payload that arrived", Shown.NETWORK),
        Metric("netperf.loss", Unit.ONE, "share of datagrams that did not arrive", Shown.PERCENT),
        Metric("netperf.retransmits", Unit.ONE, "segments that the sender sent again"),
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
    safety = Safety.LOADS
    shape = Shape.PAIR
    timeout = 60.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of sending, and the set-up."""
        return self.given(options).whole("seconds", 1) + 2.0

    def demands(self, target: Target) -> Demands:
        """Nothing besides the links; PlanError for options that are out of range."""
        self.client(target, PORTS[0])
        return super().demands(target)

    def client(self, target: Target, port: int) -> list[str]:
        """The command at the node: netperf itself, or the script that runs one for each pair of addresses."""
        if target.peer is None:
            raise PlanError("netperf needs a pair of nodes")
        if target.options.get("bitrate"):
            raise PlanError("netperf cannot be held to a rate: leave it out where links are capped")
        given = self.given(target.options)
        test, seconds = given.choice("test", _TESTS), str(given.whole("seconds", 1))
        argv = ["env", "LC_ALL=C", "netperf", "-H", _family(target.peer.data_address), "-p", str(port)]
        argv += ["-t", test, "-l", seconds, *_file(given, test), "-P", "1", "--", *_sizes(given, test)]
        argv += ["-k", f"THROUGHPUT_UNITS,THROUGHPUT,{_KEYS[test]}"] if test in _KEYS else []
        pairs = _pairs(given, test)
        if pairs:
            return ["sh", "-c", _SCRIPT, "benchconsole-netperf", " ".join(pairs), str(len(pairs)), *argv]
        return [*argv, *_bound(target)]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start the server, wait for the round, send over every pair at once."""
        self.client(target, PORTS[0])
        seconds = 1.5 * self.estimate(target.options) + 15
        address = _family(target.peer.data_address) if target.peer else ""
        async with serving(
            contact.there,
            lambda port: ["netserver", "-D", "-N", "-L", address, "-p", str(port)],
            timeout=60 + seconds + 30,
        ) as (port, _):
            await contact.together()
            return (await contact.here.run(self.client(target, port), timeout=seconds),)

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read netperf's tables, keys or CSV; of several pairs each, and their sum when every one is whole.

        ProbeOutputError when one failed, and for numbers whose unit is not told.
        """
        refuse_failed(output, "netperf")
        netperf_text.complaint(output.error_text)
        lines = [netperf_text.plain(line) for line in whole_lines(output.text)]
        count = next((int(found["count"]) for line in lines if (found := _TOGETHER.match(line))), 0)
        return _together(lines, count) if count else netperf_text.readings(output.text)


def _together(lines: Sequence[str], count: int) -> Sequence[Reading]:
    """What each pair reached, and first their sum where none is missing."""
    said: dict[str, list[str]] = {}
    for line in lines:
        if match := _OF_PAIR.match(line):
            said.setdefault(match["pair"], []).append(match["line"])
    found: list[Reading] = []
    for pair, own in said.items():
        ended = next((line for line in own if line.startswith("EXIT=")), "")
        if ended not in ("", "EXIT=0"):
            raise ProbeOutputError(f"{ended} over {one_line(pair)}", "every netperf to end with exit status 0")
        found += netperf_text.read(own, pair=re.sub(",[46]", "", pair)) if ended else ()
    if not found:
        raise ProbeOutputError("no pair that came to its end", f"the results of {count} pairs")
    rates = [reading for reading in found if reading.metric == "netperf.throughput"]
    return (*([_sum(rates)] if len(rates) == count == len(said) else []), *found)


def _sum(rates: Sequence[Reading]) -> Reading:
    marks = {name: value for name, value in rates[0].labels if name != "pair"}
    total, raw = sum(each.value for each in rates), " + ".join(each.raw for each in rates)
    marks |= {"statistic": "sum", "pairs": str(len(rates))}
    return Reading("netperf.throughput", total, Unit.BYTE_RATE, labels(**marks), one_line(raw, 300))


def _family(address: str) -> str:
    """``address`` as netperf takes it: a literal one with its family, a name as it is."""
    try:
        return f"{address},{ipaddress.ip_address(address).version}"
    except ValueError:
        return address


def _bound(target: Target) -> list[str]:
    """The data connection between the data addresses; a name may mean another interface, so it binds nothing."""
    here, there = _family(target.node.data_address), _family(target.peer.data_address if target.peer else "")
    return [*(["-L", here] if "," in here else []), "-H", there]


def _pairs(given: Given, test: str) -> list[str]:
    """The pairs of addresses as words ``10.0.1.1,4>10.0.2.1,4``; PlanError for what is no pair of addresses."""
    written = given.text("addresses").replace(",", " ").split()
    if written and test not in _STREAMS:
        raise given.refused("addresses", "none for tests of requests, whose rates are no sum")
    if len(written) > _MOST_PAIRS or len(set(written)) != len(written):
        raise given.refused("addresses", f"at most {_MOST_PAIRS} pairs, each once")
    pairs = []
    for pair in written:
        ends = [_family(end) for end in pair.split(">")]
        if len(ends) != 2 or not all("," in end and "%" not in end for end in ends):
            raise given.refused("addresses", "pairs of literal addresses as 10.0.1.1>10.0.2.1, with commas between")
        pairs.append(">".join(ends))
    return pairs


def _file(given: Given, test: str) -> list[str]:
    """``-F``, the file that is sent; without it netperf would write one of its own outside any scratch directory."""
    return ["-F", given.path("file")] if test == "TCP_SENDFILE" else []


def _sizes(given: Given, test: str) -> list[str]:
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
