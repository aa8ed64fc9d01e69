"""Reads the summary that ``ping`` ends with: iputils of every age, busybox, inetutils and the BSDs.

Loss is counted from the packets, since the printed percentage is cut to whole numbers by some and written with a
decimal comma by others; the two must agree. Round trips are taken from the line in ms below. Refuses a summary
that was not ended, counts that contradict each other, and times of 0. Formats read off the tools' own sources.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import decimal, documents, mapping, one_line, positive, whole, whole_lines

MTU_DOCUMENT = "ping-mtu"
"""What our own document of a search for the largest packet calls itself."""

IP_MOST = 65_535
"""Bytes of the largest IP packet (RFC 791, section 3.1)."""

_MILLISECOND = 1e-3
_LONGEST_MS = 3.6e6
_ROUNDING_MS = 0.0011
_PERCENT = 1.01
"""By how much a percentage that was cut to whole numbers may differ from the counts."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HEADER = re.compile(r"PING \S.*[ (](?P<payload>[0-9]{1,5})(?:\([0-9]{1,5}\))? (?:data bytes|bytes of data)\b.*")
_BEGIN = re.compile(r"--- \S+ (?:ping6?|PING) statistics ---")
_COUNTS = re.compile(
    r"(?P<sent>[0-9]{1,12}) packets transmitted, (?P<got>[0-9]{1,12})(?: packets)? received,"
    r"(?P<more>(?: \+?[0-9]{1,12} (?:duplicates|corrupted|errors),)*)"
    r" (?P<loss>[0-9.,e+-]{1,20})% packet loss"
    r"(?:, time [0-9]+ ?ms)?(?:, [0-9]+ packets out of wait time)?"
)
_MORE = re.compile(r"\+?(?P<count>[0-9]{1,12}) (?P<what>duplicates|corrupted|errors),")
_TIMES = re.compile(
    r"(?:rtt|round-trip)(?P<heading> \(ms\))?\s+min/avg/max(?P<spread>/(?:mdev|stddev|std-dev))? = (?P<values>\S+)"
    r"(?P<unit> ms)?(?:,? (?:pipe|ipg/ewma) .*)?"
)
_COULD_NOT_SEND = re.compile(
    r"^ping6?: (?:(?:sendmsg|sendto|bind|connect|socket): (?!Message too long)|.*(?:unknown host|not known)).*$",
    re.MULTILINE,
)
_CLOCK_WAS_SET = "time of day goes back"


def readings(text: str, error_text: str = "") -> Sequence[Reading]:
    """Every reading of every whole summary, the later ones with their ``number``.

    ProbeOutputError when there is none, when one contradicts itself, and when ping could not send.
    """
    text = _COLOUR.sub("", text)
    if complaint := _COULD_NOT_SEND.search(error_text) or _COULD_NOT_SEND.search(text):
        raise ProbeOutputError(one_line(complaint[0]), "a ping that could send")
    timed = _CLOCK_WAS_SET not in error_text + text
    found = [reading for summary in _summaries(whole_lines(text)) for reading in summary.readings(timed=timed)]
    found += [_mtu(mapping(each)) for each in documents(text, first="benchmark")]
    if not found:
        said = one_line((error_text.strip() or text.strip() or "nothing").splitlines()[-1])
        raise ProbeOutputError(said, "ping's summary with packets transmitted and received")
    return tuple(found)


@dataclass(slots=True)
class _Summary:
    """What stood below one ``ping statistics`` line, from the first whole line of counts on."""

    number: int
    payload: str | None
    counts: str
    times: str | None = None

    def readings(self, *, timed: bool) -> Iterator[Reading]:
        """Loss, what else was counted, and the round trips of what came back."""
        match = _COUNTS.fullmatch(self.counts)
        if match is None:
            raise ProbeOutputError(one_line(self.counts), "packets transmitted, received and lost")
        sent, got = int(match["sent"]), int(match["got"])
        yield Reading("ping.loss", _loss(match, sent, got), Unit.ONE, self.labels(), self.counts)
        for more in _MORE.finditer(match["more"]):
            yield Reading(f"ping.{more['what']}", float(more["count"]), Unit.ONE, self.labels(), self.counts)
        if timed and self.times is not None:
            yield from self._round_trips(self.times, got)

    def labels(self, **more: object) -> Labels:
        """Size of the payload where ping said it, and which ping it was where it is not the first."""
        size = {} if self.payload is None else {"size": self.payload}
        return labels(**size, **({} if self.number == 1 else {"number": self.number}), **more)

    def _round_trips(self, line: str, got: int) -> Iterator[Reading]:
        values = _times(line)
        if got == 0:
            raise ProbeOutputError(one_line(line), "no times where nothing was received")
        for statistic, text in zip(("min", "mean", "max"), values, strict=False):
            yield self._time(statistic, positive(text, f"{statistic} in {one_line(line)}", _LONGEST_MS), line)
        spread = decimal(values[3]) if len(values) == 4 else None
        if spread is not None and got > 1:
            if not 0 <= spread <= float(values[2]):
                raise ProbeOutputError(one_line(line), "a deviation below the maximum")
            yield self._time("mdev", spread, line)

    def _time(self, statistic: str, milliseconds: float, line: str) -> Reading:
        value = milliseconds * _MILLISECOND
        return Reading("ping.rtt", value, Unit.SECOND, self.labels(statistic=statistic), line)


def _summaries(lines: Sequence[str]) -> Iterator[_Summary]:
    payload: str | None = None
    current: _Summary | None = None
    number, begun = 0, False
    for line in map(str.strip, lines):
        if header := _HEADER.fullmatch(line):
            payload = header["payload"]
        elif _BEGIN.fullmatch(line):
            begun = True
        elif begun and "packets transmitted" in line:
            if current:
                yield current
            number, begun = number + 1, False
            current, payload = _Summary(number, payload, line), None
        elif current and not begun and current.times is None and line.startswith(("rtt min/", "round-trip ")):
            current.times = line
    if current:
        yield current


def _loss(match: re.Match[str], sent: int, got: int) -> float:
    """Share of the packets that no answer came to; what ping prints for it must say the same."""
    printed = decimal(match["loss"].replace(",", "."))
    if sent == 0 or got > sent or printed is None:
        raise ProbeOutputError(one_line(match[0]), "no more packets received than transmitted")
    share = (sent - got) / sent
    if abs(printed - 100 * share) > _PERCENT:
        raise ProbeOutputError(one_line(match[0]), f"{100 * share:.4g}% by the packets")
    return share


def _times(line: str) -> list[str]:
    """The three or four numbers of a line of round trips, in ms and in order."""
    match = _TIMES.fullmatch(line)
    values = match["values"].split("/") if match and (match["unit"] or match["heading"]) else []
    numbers = [decimal(value) for value in values[:3]]
    if match is None or None in numbers or len(values) != (4 if match["spread"] else 3):
        raise ProbeOutputError(one_line(line), "round trips in ms, as min/avg/max")
    least, mean, most = (number or 0.0 for number in numbers)
    if not (least <= mean + _ROUNDING_MS and mean <= most + _ROUNDING_MS):
        raise ProbeOutputError(one_line(line), "min, avg and max in this order")
    return values


def _mtu(document: object) -> Reading:
    """The largest packet that came back unbroken, as our own search says."""
    found = mapping(document)
    if found.get("benchmark") != MTU_DOCUMENT or found.get("end") is not True:
        raise ProbeOutputError(one_line(str(document)), "a search for the largest packet, to its end")
    payload, headers = (whole(str(found.get(key))) for key in ("payload", "headers"))
    if payload is None or headers is None:
        raise ProbeOutputError("no answer even to the smallest packet", "a peer that answers")
    if payload + headers > IP_MOST:
        raise ProbeOutputError(f"a packet of {payload + headers} B", f"at most {IP_MOST}")
    raw = f"payload {payload}, headers {headers}, refused {found.get('refused')}"
    return Reading("ping.mtu", float(payload + headers), Unit.BYTE, (), raw)
