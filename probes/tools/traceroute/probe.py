"""The pair probe ``traceroute``: how many hops are between two nodes, which, and the round trip over all.

From the node's data address to the peer's. A path that does not arrive is an error, whatever the exit status.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.api import Contact, Fact, Metric, Output, Reading, Safety, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.network.pair_probe import PairProbe, bind_option
from benchconsole.probes.tools.traceroute import text_reader

_METHODS = {"udp": (), "icmp": ("-I",), "tcp": ("-T",)}
_ROOT = frozenset(("icmp", "tcp"))
"""Methods for which traceroute needs a raw socket."""


class Traceroute(PairProbe):
    """Options: ``queries`` (probes of each hop), ``max_hops``, ``wait`` (s for an answer), and ``method``: "udp",
    or as the administrator "icmp" and "tcp", which pass more firewalls.
    """

    name = "traceroute"
    label_names = frozenset(("method", "run", "size", "statistic"))
    summary = "Hops between two nodes, their addresses, and the round trip over all of them"
    source = "DESY storage report, basic tests; SC11 100G WAN report (routes over 3,500 km)"
    metrics = (
        Metric("traceroute.hops", Unit.ONE, "hops to the peer, itself included"),
        Metric("traceroute.rtt", Unit.SECOND, "round trip to the last hop"),
    )
    tools = MappingProxyType({"traceroute": "traceroute"})
    options = MappingProxyType({"queries": 3, "max_hops": 30, "wait": 2, "method": "udp"})
    safety = Safety.READS

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return 1.0 + self.given(options).number("wait", 0.1, 60)

    def command(self, target: Target) -> Sequence[str]:
        given, there = self.given(target.options), self.peer(target).data_address
        argv = ["env", "LC_ALL=C", "traceroute", "-n", "-q", str(given.whole("queries", 1, 10))]
        argv += ["-m", str(given.whole("max_hops", 1, 255)), "-w", f"{given.number('wait', 0.1, 60):g}"]
        argv += _METHODS[given.choice("method", _METHODS)]
        return [*argv, *bind_option("-s", target.node.data_address), "--", there]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Wait for the round, then ask; as long as it may take when no hop answers."""
        command, given = self.command(target), self.given(target.options)
        probes = given.whole("max_hops", 1, 255) * given.whole("queries", 1, 10)
        allowed = 15.0 + probes * given.number("wait", 0.1, 60)
        privileged = given.choice("method", _METHODS) in _ROOT
        await contact.together()
        return (await contact.here.run(command, timeout=allowed, privileged=privileged),)

    def parse(self, output: Output) -> Sequence[Reading | Fact]:
        """Read traceroute of any origin, or tracepath. ProbeOutputError when the path did not arrive."""
        refuse_failed(output, "traceroute")
        queries = next((count for flag, count in pairwise(output.argv) if flag == "-q"), "")
        method = next((name for name, flags in _METHODS.items() if flags and set(flags) <= set(output.argv)), "udp")
        known = int(queries) if queries.isdecimal() else None
        return text_reader.parse_text(output.text, known, method if queries else None)
