"""Reader of traceroute, and of tracepath that somebody ran by hand: hops of a path, and the round trip to its end.

A path that did not arrive is an error, although the tools end with 0: the last hop must answer from the address in
the first line, without an annotation such as ``!H``. One hop may have several addresses, on its line (traceroute for
Linux, busybox) or on lines of their own below it (the BSDs, inetutils). The round trips are read only where as many
probes are told as for every other hop, because a line of a hop may be missing at the end. Formats read off the tools.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Fact, Labels, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.readers.numbers import parse_address, parse_decimal
from benchconsole.probes.readers.readings import add_labels, known_labels

_USUAL_PROBES = 3
_MOST_HOPS = 255
_LONGEST_MS = 3.6e6

_HEADER = re.compile(
    r"traceroute6? to \S.* \((?P<address>[0-9A-Fa-f:.%\w]+)\)(?: from [^,]+)?, [0-9]+ hops max"
    r"(?:, (?P<size>[0-9]{1,5}) byte packets)?.*"
)
_HOP = re.compile(r"\s{0,4}(?P<number>[0-9]{1,3}) {1,3}(?=\S)(?P<rest>.*)")
_MORE = re.compile(r"\s{3,}(?P<rest>\S.*)")
_TOKEN = re.compile(
    r"(?>(?P<lost>\*)"
    r"|(?P<time>[0-9]+(?:\.[0-9]+)?) ?ms(?: \(ttl=\d+!\))?"
    r"|(?P<mark>![A-Z]?[0-9-]*|!<[0-9]+(?:-[0-9]+)?>|!\?[0-9]*)"
    r"|\[(?:\*|AS[0-9/AS]+|[0-9/]+)\]|<[A-Za-z0-9_,:=/.-]+>|F=[0-9]+|'-?[0-9]+'|\[open\]|\[closed\]"
    r"|(?P<named>[^\s()<>!*]+) \((?P<address>[0-9A-Fa-f:.]+(?:%\S+)?)\)"
    r"|(?P<bare>[0-9A-Fa-f:.]+(?:%\S+)?))(?: +|$)"
)
_PATH_HOP = re.compile(
    r"\s?(?P<number>[0-9]{1,3}):\s+(?P<name>\S+(?: \(\S+\))?)\s+(?P<time>[0-9]+\.[0-9]+) ?ms\s*"
    r"(?P<reached>reached)?\s*(?:asymm\s+[0-9]+)?\s*(?:pmtu [0-9]+)?\s*"
)
_PATH_BEGIN = re.compile(r"\s?1\?: \[LOCALHOST\].*")
_RESUME = re.compile(r"\s+Resume: pmtu [0-9]+ hops (?P<hops>[0-9]{1,3})(?: back [0-9]+)?\s*")
_TOO_MANY = re.compile(r"\s+Too many hops: pmtu [0-9]+\s*")


def parse_text(text: str, queries: int | None = None, method: str | None = None) -> Sequence[Reading | Fact]:
    """Hops and round trips of every path that arrived.

    ``queries`` is how many probes a hop was asked for and ``method`` the kind of them, where the command is known.

    ProbeOutputError when one did not arrive, when hops are missing, and when there is none.
    """
    lines = read_lines(text)
    paths: list[_TracedPath] = []
    for line in lines:
        if header := _HEADER.fullmatch(line.strip()):
            paths.append(_TracedPath(header["address"], header["size"], method))
        elif paths and not paths[-1].broken:
            paths[-1].add_line(line.rstrip())  # also below the last hop, whose other answers may stand there
    found = [item for run, path in enumerate(paths, start=1) for item in path.make_readings(run, queries)]
    found += _read_tracepath(lines)
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
    """The lines below one first line, which names ``goal``."""

    goal: str
    size: str | None = None
    method: str | None = None
    hops: list[_PathHop] = field(default_factory=list)
    broken: str = ""

    def add_line(self, line: str) -> None:
        if match := _HOP.fullmatch(line):
            answers = _read_answers(match["rest"])
            if answers is None or self.arrived:
                return
            number = int(match["number"])
            if not 1 <= number <= _MOST_HOPS or (self.hops and number != self.hops[-1].number + 1):
                self.broken = line.strip()
                return
            self.hops.append(_PathHop(number, line, answers))
        elif self.hops and (more := _MORE.fullmatch(line)):
            self.hops[-1].answers += _read_answers(more["rest"]) or []

    def make_readings(self, run: int, queries: int | None) -> Iterator[Reading | Fact]:
        if self.broken or not self.arrived:
            last_line = self.broken or (self.hops[-1].line.strip() if self.hops else "no hop")
            raise ProbeOutputError(shorten(last_line), f"an answer of {self.goal} itself")
        last, told = self.hops[-1], known_labels(run=run if run > 1 else None)
        marks = known_labels(run=run if run > 1 else None, size=self.size, method=self.method)
        raw = last.line.strip()
        yield Reading("traceroute.hops", float(last.number), Unit.ONE, marks, raw)
        # a whole hop has as many probes as were asked, as the others have, or as is usual
        if len(last.answers) == (queries or max((len(hop.answers) for hop in self.hops[:-1]), default=_USUAL_PROBES)):
            times = [answer.milliseconds for answer in last.answers if self._is_goal(answer)]
            yield from _make_round_trips(times, marks, raw)
        for hop in self.hops:
            for address in dict.fromkeys(answer.address for answer in hop.answers if answer.address):
                yield Fact("traceroute.hop", address, None, add_labels(told, number=hop.number))

    @property
    def arrived(self) -> bool:
        return bool(self.hops) and any(self._is_goal(answer) for answer in self.hops[-1].answers)

    def _is_goal(self, answer: _HopAnswer) -> bool:
        # a zone tells interfaces apart, not ends
        found, goal = (parse_address(text.partition("%")[0]) for text in (answer.address, self.goal))
        return bool(answer.milliseconds) and not answer.mark and found is not None and found == goal


def _read_answers(text: str) -> list[_HopAnswer] | None:
    """The probes told in the rest of a line; None when it holds anything that no traceroute prints."""
    found: list[_HopAnswer] = []
    address, position = "", 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
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
            if not parse_address(named):
                return None
            address = named
    return found or None


def _read_tracepath(lines: Sequence[str]) -> Iterator[Reading | Fact]:
    """Each path that tracepath came to the end of; of each hop the last probe that it prints."""
    hops: dict[int, re.Match[str]] = {}
    run = 1
    for line in lines:
        if _TOO_MANY.fullmatch(line):
            raise ProbeOutputError(shorten(line), "a path that arrives")
        if hops and _PATH_BEGIN.fullmatch(line):  # the end of the one before is lost
            hops, run = {}, run + 1
        if match := _PATH_HOP.fullmatch(line):
            hops[int(match["number"])] = match
        elif resume := _RESUME.fullmatch(line):
            last = hops.get(int(resume["hops"]))
            if last is None or not last["reached"]:
                raise ProbeOutputError(shorten(line), "the line of the last hop before it, with 'reached'")
            marks = known_labels(run=run if run > 1 else None)
            yield Reading("traceroute.hops", float(resume["hops"]), Unit.ONE, marks, line.strip())
            yield from _make_round_trips([last["time"]], marks, last[0].strip())
            for number, hop in sorted(hops.items()):
                yield Fact("traceroute.hop", hop["name"], None, add_labels(marks, number=number))
            hops, run = {}, run + 1


def _make_round_trips(times: Sequence[str], marks: Labels, raw: str) -> Iterator[Reading]:
    """Least, mean and greatest of ``times`` in ms; ProbeOutputError for one that is 0 or longer than an hour."""
    values = [parse_decimal(text) or 0.0 for text in times]
    if not all(0 < value < _LONGEST_MS for value in values):
        raise ProbeOutputError(shorten(raw), "round trips above 0 ms")
    for statistic, value in (("min", min(values)), ("mean", sum(values) / len(values)), ("max", max(values))):
        yield Reading("traceroute.rtt", value * 1e-3, Unit.SECOND, add_labels(marks, statistic=statistic), raw)
