"""The pair probe ``ping``: round trips, loss, and the largest packet that a path carries unbroken.

Every packet goes from the node's data address to the peer's. The largest packet is found in one script, by sizes
that may not be fragmented (RFC 1191): first the largest that is asked for, and where that does not come back, what
the refusal names, then halves. A size is tried three times, unless a router or the kernel says that it is too long.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Comparator, Contact, Given, Metric, Output, Reading, Safety, Shown, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.network.pair_probe import PairProbe, bind_option, find_ip_version
from benchconsole.probes.tools.ping import text_reader
from benchconsole.probes.tools.ping.text_reader import IP_MOST

_HEADERS = {4: 28, 6: 48}
"""Bytes of the IP and the ICMP header (RFC 791, RFC 792; RFC 8200, RFC 4443), by version of IP."""
_SMALLEST = 56
_WAIT = 1
_STEPS = 20
"""Sizes that a search may have to try: 16 halves of 65,535 and what a refusal named."""

# A ping without any answer ends with 1, which is a result (all were lost) and no failure of the tool.
_PING = scratch.one_line(
    r"""
    command -v ping >/dev/null 2>&1 || { echo "ping: command not found" >&2; exit 127; };
    LC_ALL=C ping "$@"; s=$?;
    [ "$s" -ne 1 ] || exit 0;
    exit "$s"
    """
)

# $1 largest and $2 smallest payload, $3 bytes of headers, then the arguments of ping but the size.
_SEARCH = scratch.one_line(
    r"""
    high=$1 low=$2 headers=$3; shift 3;
    command -v ping >/dev/null 2>&1 || { echo "ping: command not found" >&2; exit 127; };
    passes() {
        size=$1; shift; told=;
        for try in 1 2 3; do
            said=$(LC_ALL=C ping -s "$size" "$@" 2>&1); s=$?;
            echo "payload $size, try $try: exit status $s" >&2;
            [ "$s" -ne 0 ] || return 0;
            [ "$s" -eq 1 ] || { printf "%s\n" "$said" >&2; exit "$s"; };
            case $said in
                *"essage too long"*|*"rag needed"*|*"too big"*)
                    told=$(printf "%s\n" "$said" | sed -n "s/.*mtu *[=:] *\([0-9][0-9]*\).*/\1/p" | head -n 1);
                    return 1;;
            esac;
        done;
        return 1;
    };
    tell() {
        printf "{\"benchmark\": \"ping-mtu\", \"payload\": %s, \"headers\": %s, \"refused\": %s, \"end\": true}\n"
            "$1" "$headers" "$2";
        exit 0;
    };
    passes "$high" "$@" && tell "$high" null;
    named=$told;
    passes "$low" "$@" || tell null "$low";
    told=$named guess= named=;
    while [ $((high - low)) -gt 1 ]; do
        [ -z "$told" ] || [ $((told - headers)) -le "$low" ] || [ $((told - headers)) -ge "$high" ] || {
            guess=$((told - headers)); named=$guess; };
        middle=${guess:-$(((low + high) / 2))}; guess=;
        if passes "$middle" "$@"; then
            low=$middle;
            [ "$low" != "$named" ] || guess=$((low + 1));
        else
            high=$middle;
        fi;
    done;
    tell "$low" "$high"
    """
)


class Ping(PairProbe):
    """Options: ``count`` of packets, ``interval`` (s) between them, ``size`` of their payload, ``dont_fragment``
    (1: no router may cut them), ``quiet`` (0 keeps a line for each answer), ``wait`` (s) for the last answer.

    ``mtu`` "check" also says whether packets of ``payload`` pass unbroken, and which do where those do not;
    "search" finds the largest that any path could carry. Empty: neither.
    """

    name = "ping"
    closing = re.compile(r"(?:rtt|round-trip) .* ms(?:, .*)?|[0-9]+ packets transmitted, 0 .* packet loss.*|\{.*\}")
    label_names = frozenset(("count", "dont_fragment", "interval", "number", "size", "statistic"))
    summary = "Round trips and loss between two nodes, and the largest packet that passes unbroken"
    source = "DESY storage report, basic tests; SC11 100G WAN report (round trip of 50.5 ms)"
    metrics = (
        Metric("ping.rtt", Unit.SECOND, "round trip"),
        Metric(
            "ping.loss", Unit.ONE, "share of packets that no answer came to", Shown.PERCENT, sense=Comparator.AT_MOST
        ),
        Metric(
            "ping.mtu",
            Unit.BYTE,
            "largest IP packet that came back unbroken, of those tried",
            sense=Comparator.AT_LEAST,
        ),
        Metric("ping.duplicates", Unit.ONE, "answers that came more than once", sense=Comparator.AT_MOST),
        Metric("ping.errors", Unit.ONE, "packets that a router or the node itself refused", sense=Comparator.AT_MOST),
        Metric("ping.corrupted", Unit.ONE, "answers with a wrong checksum", sense=Comparator.AT_MOST),
    )
    tools = MappingProxyType({"ping": "iputils-ping"})
    options = MappingProxyType(
        {
            "count": 10, "interval": 0.2, "size": "56 B", "dont_fragment": 0, "quiet": 1, "wait": 2,
            "mtu": "", "payload": "8972 B",
        }
    )  # fmt: skip
    exits = frozenset((0, 1))
    safety = Safety.READS

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds until the last answer, and of a search where it is asked for."""
        given = self.given(options)
        seconds = given.whole("count", 1, 100_000) * given.number("interval", 0.002, 60) + 1.0
        return seconds + (5.0 if given.choice("mtu", ("", "check", "search")) else 0.0)

    def command(self, target: Target) -> Sequence[str]:
        """One ping with the options, ended with 0 also where nothing came back. PlanError for what is out of range."""
        given = self.given(target.options)
        argv = ["-n", *(["-q"] if given.flag("quiet") else []), *(["-M", "do"] if given.flag("dont_fragment") else [])]
        argv += ["-c", str(given.whole("count", 1, 100_000)), "-i", f"{given.number('interval', 0.002, 60):g}"]
        argv += ["-W", str(given.whole("wait", 1, 60)), "-s", str(self._payload(given, target, "size"))]
        return ["sh", "-c", _PING, "benchconsole-ping", *argv, *self._ends(target)]

    def search(self, target: Target) -> list[str] | None:
        """The script that finds the largest packet; None where none is asked for."""
        given = self.given(target.options)
        mode = given.choice("mtu", ("", "check", "search"))
        if not mode:
            return None
        headers = self._headers(target)
        largest = self._payload(given, target, "payload", _SMALLEST + 1) if mode == "check" else IP_MOST - headers
        sizes = [str(largest), str(_SMALLEST), str(headers)]
        argv = ["-n", "-M", "do", "-c", "1", "-W", str(_WAIT), *self._ends(target)]
        return ["sh", "-c", _SEARCH, "benchconsole-ping-mtu", *sizes, *argv]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        command, search = self.command(target), self.search(target)
        await contact.together()
        allowed = self.estimate(target.options) + self.given(target.options).whole("wait", 1, 60) + 30.0
        outputs = [await contact.here.run(command, timeout=2 * allowed)]
        if search is not None:
            outputs.append(await contact.here.run(search, timeout=3 * _WAIT * _STEPS + 30.0))
        return outputs

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read ping's summary, or what our search printed. Without any answer the exit status is 1, of the BSDs' 2.

        ProbeOutputError when ping failed or its summary is not whole.
        """
        if output.exit_status not in (1, 2):
            refuse_failed(output, "ping")
        found = text_reader.parse_text(output.text, output.error_text, _read_command(output.argv))
        if output.exit_status == 2 and any(one.metric != "ping.loss" or one.value < 1 for one in found):
            refuse_failed(output, "ping")
        return found

    def _ends(self, target: Target) -> list[str]:
        """From the node's data address, where it is an IP address, to the peer's."""
        return [*bind_option("-I", target.node.data_address), "--", self.peer(target).data_address]

    def _headers(self, target: Target) -> int:
        """Bytes of headers on the way to the peer; a name is taken to lead to IPv4."""
        return _HEADERS[find_ip_version(self.peer(target).data_address) or 4]

    def _payload(self, given: Given, target: Target, name: str, least: int = 0) -> int:
        """Bytes of payload that fit into an IP packet to the peer."""
        return given.size(name, least, IP_MOST - self._headers(target))


def _read_command(argv: Sequence[str]) -> dict[str, str]:
    """Labels of what ping was told and does not print: seconds between packets, and whether routers may cut them."""
    if "benchconsole-ping" not in argv:
        return {}
    told = dict(pairwise(argv))
    return {"interval": told.get("-i", "1"), "dont_fragment": str(int(told.get("-M") == "do"))}
