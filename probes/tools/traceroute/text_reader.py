"""Reader of traceroute: the hops of a path, and the round trip to its end.

A path that did not arrive is an error, although the tools end with 0: the last hop must answer from the address in
the first line, without an annotation such as ``!H``. One hop may have several addresses, on its line (traceroute for
Linux, busybox) or on lines of their own below it (the BSDs, inetutils). The round trips are read only where as many
probes are told as for every other hop, because a line of a hop may be missing at the end. Formats read off the tools.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.tools.network.addresses import find_ip_version

from benchconsole.probes.api import Fact, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.readers.readings import add_labels, known_labels
from benchconsole.probes.tools.traceroute import archive_reader
from benchconsole.probes.tools.traceroute.round_trips import make_round_trips

_USUAL_PROBES = 3
_MOST_HOPS = 255

_HEADER = re.compile(r"traceroute6? to \S.* \((?P<address>[0-9A-Fa-f:.%\w]+)\)(?: from [^,]+)?, [0-9]+ hops max.*")
_HOP = re.compile(r"\s{0,4}(?P<number>[0-9]{1,3}) {1,3}(?=\S)(?P<rest>.*)")
_MORE = re.compile(r"\s{3,}(?P<rest>\S.*)")
_TOKENS = re.compile(
    r"(?P<lost>\*)"
    r"|(?P<time>[0-9]+(?:\.[0-9]+)?) ?ms(?: \(ttl=\d+!\))?"
    r"|(?P<mark>![A-Z]?[0-9-]*|!<[0-9]+(?:-[0-9]+)?>|!\?[0-9]*)"
    r"|\[(?:\*|AS[0-9/AS]+|[0-9/]+)\]|<[A-Za-z0-9_,:=/.-]+>|F=[0-9]+|'-?[0-9]+'|\[open\]|\[closed\]"
    r"|(?P<named>[^\s()<>!*]+) \((?P<address>[0-9A-Fa-f:.]+(?:%\S+)?)\)"
    r"|(?P<bare>[0-9A-Fa-f:.]+(?:%\S+)?)"
)


def parse_text(text: str, queries: int | None = None) -> Sequence[Reading | Fact]:
    """Hops and round trips of every path that arrived; ``queries`` is how many probes a hop was asked for, if known.

    ProbeOutputError when one did not arrive, when hops are missing, and when there is none.
    """
    lines = read_lines(text)
    found = [item for run, path in enumerate(_read_paths(lines), start=1) for item in path.make_readings(run, queries)]
    found += archive_reader.read_tracepath(lines)
    if not found:
        raise ProbeOutputError(shorten(text) or "nothing", "the lines of traceroute, with the address that it goes to")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _HopAnswer:
    """One probe of a hop: who answered, in how many ms, and with which annotation. Empty where nobody did."""

    address: str = ""
    milliseconds: str = ""
    mark: str = ""


@dataclass(slots=True)
class _PathHop:
    number: int
    line: str
    answers: list[_HopAnswer] = field(default_factory=list)


@dataclass(slots=True)
class _TracedPath:
    """What stood below one first line, which names ``goal``."""

    goal: str
    hops: list[_PathHop] = field(default_factory=list)
    broken: str = ""

    def make_readings(self, run: int, queries: int | None) -> Iterator[Reading | Fact]:
        """The number of hops, the round trips to the last and the addresses on the way."""
        if self.broken or not self.arrived:
            last_line = self.broken or (self.hops[-1].line.strip() if self.hops else "no hop")
            raise ProbeOutputError(shorten(last_line), f"an answer of {self.goal} itself")
        last, marks = self.hops[-1], known_labels(run=run if run > 1 else None)
        raw = last.line.strip()
        yield Reading("traceroute.hops", float(last.number), Unit.ONE, marks, raw)
        if len(last.answers) == self._count_probes(last, queries):
            times = [answer.milliseconds for answer in last.answers if self._is_goal(answer)]
            yield from make_round_trips(times, marks, raw)
        for hop in self.hops:
            for address in dict.fromkeys(answer.address for answer in hop.answers if answer.address):
                yield Fact("traceroute.hop", address, None, add_labels(marks, number=hop.number))

    @property
    def arrived(self) -> bool:
        """Whether the last hop so far is the one that the path goes to."""
        return bool(self.hops) and any(self._is_goal(answer) for answer in self.hops[-1].answers)

    def _is_goal(self, answer: _HopAnswer) -> bool:
        return bool(answer.milliseconds) and not answer.mark and _is_same(answer.address, self.goal)

    def _count_probes(self, last: _PathHop, queries: int | None) -> int:
        """How many probes a whole hop has: as was asked, as the others have, or as is usual."""
        others = {len(hop.answers) for hop in self.hops if hop is not last}
        return queries or max(others, default=_USUAL_PROBES)


def _read_paths(lines: Sequence[str]) -> list[_TracedPath]:
    paths: list[_TracedPath] = []
    for line in lines:
        if header := _HEADER.fullmatch(line.strip()):
            paths.append(_TracedPath(header["address"]))
        elif paths and not paths[-1].broken:
            _add_line(paths[-1], line.rstrip())  # also below the last hop, whose other answers may stand there
    return paths


def _add_line(path: _TracedPath, line: str) -> None:
    """Take a line into ``path`` when it is one of a hop; whatever is none is left alone."""
    if match := _HOP.fullmatch(line):
        answers = _read_answers(match["rest"])
        if answers is None or path.arrived:
            return
        expected = path.hops[-1].number + 1 if path.hops else None
        number = int(match["number"])
        if not 1 <= number <= _MOST_HOPS or (expected is not None and number != expected):
            path.broken = line.strip()
            return
        path.hops.append(_PathHop(number, line, answers))
    elif path.hops and (more := _MORE.fullmatch(line)) and (answers := _read_answers(more["rest"])):
        path.hops[-1].answers += answers


def _read_answers(text: str) -> list[_HopAnswer] | None:
    """The probes told in the rest of a line; None when it holds anything that no traceroute prints."""
    found: list[_HopAnswer] = []
    address, position = "", 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            return None
        position = match.end()
        spaces = len(text) - position - len(text[position:].lstrip(" "))
        if position < len(text) and spaces == 0:
            return None
        position += spaces
        if match["lost"]:
            found.append(_HopAnswer())
        elif match["time"]:
            if not address:
                return None
            found.append(_HopAnswer(address, match["time"]))
        elif match["mark"]:
            if not found:
                return None
            found[-1] = _HopAnswer(found[-1].address, found[-1].milliseconds, match["mark"])
        elif named := match["address"] or match["bare"]:
            if not find_ip_version(named):
                return None
            address = named
    return found or None


def _is_same(one: str, other: str) -> bool:
    """Whether two texts are one address; a zone tells interfaces apart, not ends."""
    first, second = one.partition("%")[0], other.partition("%")[0]
    both = find_ip_version(first) and find_ip_version(second)
    return bool(both) and ipaddress.ip_address(first) == ipaddress.ip_address(second)
