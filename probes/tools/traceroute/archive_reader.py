"""Reader of tracepath, which the probe never runs: it is captured by hand."""

import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.readings import add_labels, known_labels
from benchconsole.probes.tools.traceroute.round_trips import make_round_trips

_PATH_HOP = re.compile(
    r"\s?(?P<number>[0-9]{1,3}):\s+(?P<name>\S+(?: \(\S+\))?)\s+(?P<time>[0-9]+\.[0-9]+) ?ms\s*"
    r"(?P<reached>reached)?\s*(?:asymm\s+[0-9]+)?\s*(?:pmtu [0-9]+)?\s*"
)
_PATH_BEGIN = re.compile(r"\s?1\?: \[LOCALHOST\].*")
_RESUME = re.compile(r"\s+Resume: pmtu [0-9]+ hops (?P<hops>[0-9]{1,3})(?: back [0-9]+)?\s*")
_TOO_MANY = re.compile(r"\s+Too many hops: pmtu [0-9]+\s*")


def read_tracepath(lines: Sequence[str]) -> Iterator[Reading | Fact]:
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
            yield from make_round_trips([last["time"]], marks, last[0].strip())
            for number, hop in sorted(hops.items()):
                yield Fact("traceroute.hop", hop["name"], None, add_labels(marks, number=number))
            hops, run = {}, run + 1
