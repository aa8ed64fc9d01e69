"""Reads what ``traceroute`` and ``tracepath`` print: the hops of a path, and the round trip to its end.

A path that did not arrive is an error, although the tools end with 0: the last hop must answer from the address in
the first line, without an annotation such as ``!H``. One hop may have several addresses, on its line (traceroute for
Linux, busybox) or on lines of their own below it (the BSDs, inetutils). The round trips are read only where as many
probes are told as for every other hop, because a line of a hop may be missing at the end. Formats read off the tools.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from probes.api import Fact, Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import decimal, one_line, whole_lines

_MILLISECOND = 1e-3
_LONGEST_MS = 3.6e6
_USUAL_PROBES = 3
_MOST_HOPS = 255

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
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
_PATH_HOP = re.compile(
    r"\s?(?P<number>[0-9]{1,3}):\s+(?P<name>\S+(?: \(\S+\))?)\s+(?P<time>[0-9]+\.[0-9]+) ?ms\s*"
    r"(?P<reached>reached)?\s*(?:asymm\s+[0-9]+)?\s*(?:pmtu [0-9]+)?\s*"
)
_PATH_BEGIN = re.compile(r"\s?1\?: \[LOCALHOST\].*")
_RESUME = re.compile(r"\s+Resume: pmtu [0-9]+ hops (?P<hops>[0-9]{1,3})(?: back [0-9]+)?\s*")
_TOO_MANY = re.compile(r"\s+Too many hops: pmtu [0-9]+\s*")


def readings(text: str, queries: int | None = None) -> Sequence[Reading | Fact]:
    """Hops and round trips of every path that arrived; ``queries`` is how many probes a hop was asked for, if known.

    ProbeOutputError when one did not arrive, when hops are missing, and when there is none.
    """
    lines = whole_lines(_COLOUR.sub("", text))
    paths = list(_paths(lines))
    found = [item for number, path in enumerate(paths, start=1) for item in path.readings(number, queries)]
    found += _tracepath(lines)
    if not found:
        raise ProbeOutputError(one_line(text) or "nothing", "the lines of traceroute, with the address that it goes to")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Answer:
    """One probe of a hop: who answered, in how many ms, and with which annotation. Empty where nobody did."""

    address: str = ""
    milliseconds: str = ""
    mark: str = ""


@dataclass(slots=True)
class _Hop:
    number: int
    line: str
    answers: list[_Answer] = field(default_factory=list)


@dataclass(slots=True)
class _Path:
    """What stood below one first line, which names ``goal``."""

    goal: str
    hops: list[_Hop] = field(default_factory=list)
    broken: str = ""

    def readings(self, run: int, queries: int | None) -> Iterator[Reading | Fact]:
        """The number of hops, the round trips to the last and the addresses on the way."""
        if self.broken or not self.arrived:
            said = self.broken or (self.hops[-1].line.strip() if self.hops else "no hop")
            raise ProbeOutputError(one_line(said), f"an answer of {self.goal} itself")
        last, own = self.hops[-1], {} if run == 1 else {"run": run}
        marks, raw = labels(**own), last.line.strip()
        yield Reading("traceroute.hops", float(last.number), Unit.ONE, marks, raw)
        if len(last.answers) == self._probes(last, queries):
            times = [answer.milliseconds for answer in last.answers if self._is_goal(answer)]
            yield from _round_trips(times, marks, raw)
        for hop in self.hops:
            for address in dict.fromkeys(answer.address for answer in hop.answers if answer.address):
                yield Fact("traceroute.hop", address, None, labels(number=hop.number, **own))

    @property
    def arrived(self) -> bool:
        """Whether the last hop so far is the one that the path goes to."""
        return bool(self.hops) and any(self._is_goal(answer) for answer in self.hops[-1].answers)

    def _is_goal(self, answer: _Answer) -> bool:
        return bool(answer.milliseconds) and not answer.mark and _same(answer.address, self.goal)

    def _probes(self, last: _Hop, queries: int | None) -> int:
        """How many probes a whole hop has: as was asked, as the others have, or as is usual."""
        others = {len(hop.answers) for hop in self.hops if hop is not last}
        return queries or max(others, default=_USUAL_PROBES)


def _paths(lines: Sequence[str]) -> Iterator[_Path]:
    path: _Path | None = None
    for line in lines:
        if header := _HEADER.fullmatch(line.strip()):
            if path:
                yield path
            path = _Path(header["address"])
        elif path and not path.broken:
            _add(path, line.rstrip())  # also below the last hop, whose other answers may stand there
    if path:
        yield path


def _add(path: _Path, line: str) -> None:
    """Take a line into ``path`` when it is one of a hop; whatever is none is left alone."""
    if match := _HOP.fullmatch(line):
        answers = _answers(match["rest"])
        if answers is None or path.arrived:
            return
        expected = path.hops[-1].number + 1 if path.hops else None
        number = int(match["number"])
        if not 1 <= number <= _MOST_HOPS or (expected is not None and number != expected):
            path.broken = line.strip()
            return
        path.hops.append(_Hop(number, line, answers))
    elif path.hops and (more := _MORE.fullmatch(line)) and (answers := _answers(more["rest"])):
        path.hops[-1].answers += answers


def _answers(text: str) -> list[_Answer] | None:
    """The probes told in the rest of a line; None when it holds anything that no traceroute prints."""
    found: list[_Answer] = []
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
            found.append(_Answer())
        elif match["time"]:
            if not address:
                return None
            found.append(_Answer(address, match["time"]))
        elif match["mark"]:
            if not found:
                return None
            found[-1] = _Answer(found[-1].address, found[-1].milliseconds, match["mark"])
        elif named := match["address"] or match["bare"]:
            if not _is_address(named):
                return None
            address = named
    return found or None


def _round_trips(times: Sequence[str], marks: Labels, raw: str) -> Iterator[Reading]:
    values = [decimal(each) or 0.0 for each in times]
    if not all(0 < value < _LONGEST_MS for value in values):
        raise ProbeOutputError(one_line(raw), "round trips above 0 ms")
    for statistic, value in (("min", min(values)), ("mean", sum(values) / len(values)), ("max", max(values))):
        own = tuple(sorted((*marks, ("statistic", statistic))))
        yield Reading("traceroute.rtt", value * _MILLISECOND, Unit.SECOND, own, raw)


def _tracepath(lines: Sequence[str]) -> Iterator[Reading | Fact]:
    """What tracepath says of a path that it came to the end of; one probe a hop, the last that it tells."""
    hops: dict[int, re.Match[str]] = {}
    run = 1
    for line in lines:
        if _TOO_MANY.fullmatch(line):
            raise ProbeOutputError(one_line(line), "a path that arrives")
        if hops and _PATH_BEGIN.fullmatch(line):  # the end of the one before is lost
            hops, run = {}, run + 1
        if match := _PATH_HOP.fullmatch(line):
            hops[int(match["number"])] = match
        elif resume := _RESUME.fullmatch(line):
            last = hops.get(int(resume["hops"]))
            if last is None or not last["reached"]:
                raise ProbeOutputError(one_line(line), "the line of the last hop before it, with 'reached'")
            own = {} if run == 1 else {"run": run}
            yield Reading("traceroute.hops", float(resume["hops"]), Unit.ONE, labels(**own), line.strip())
            yield from _round_trips([last["time"]], labels(**own), last[0].strip())
            for number, hop in sorted(hops.items()):
                yield Fact("traceroute.hop", hop["name"], None, labels(number=number, **own))
            hops, run = {}, run + 1


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _same(one: str, other: str) -> bool:
    """Whether two texts are one address; a zone tells interfaces apart, not ends."""
    first, second = one.partition("%")[0], other.partition("%")[0]
    return _is_address(first) and _is_address(second) and ipaddress.ip_address(first) == ipaddress.ip_address(second)
