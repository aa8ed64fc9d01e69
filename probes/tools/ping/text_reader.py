"""Reader of the summary that ``ping`` ends with: iputils of every age, busybox, inetutils and the BSDs.

Loss is counted from the packets, since the printed percentage is cut to whole numbers by some and written with a
decimal comma by others; the two must agree. Round trips are taken from the line in ms below.

Formats read off the tools' own sources.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.documents import Document, find_documents
from benchconsole.probes.readers.lines import read_lines, refuse_lines, shorten, strip_colours
from benchconsole.probes.readers.numbers import parse_count, parse_decimal, require_positive
from benchconsole.probes.readers.readings import add_labels, known_labels

MTU_DOCUMENT = "ping-mtu"
"""The name of our own document of a search for the largest packet."""

IP_MOST = 65_535
"""Bytes of the largest IP packet (RFC 791, section 3.1)."""

_MILLISECOND = 1e-3
_LONGEST_MS = 3.6e6
_ROUNDING_MS = 0.0011
_PERCENT = 1.01
"""By how much a percentage that was cut to whole numbers may differ from the counts."""

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
    r"^ping6?: (?:(?:sendmsg|sendto|bind|connect|socket): (?!Message too long)|.*(?:unknown host|not known)).*$"
)
_CLOCK_WAS_SET = "time of day goes back"


def parse_text(text: str, error_text: str = "", known: Mapping[str, str] = MappingProxyType({})) -> Sequence[Reading]:
    """Every reading of every whole summary, each with the labels ``known``, the later ones with their ``number``.

    ProbeOutputError when there is none, when one contradicts itself, and when ping could not send.
    """
    text = strip_colours(text)
    refuse_lines(_COULD_NOT_SEND, [*error_text.split("\n"), *text.split("\n")], "a ping that could send")
    timed = _CLOCK_WAS_SET not in error_text + text
    found: list[Reading] = []
    for number, (payload, counts, times) in enumerate(_read_summaries(read_lines(text)), start=1):
        marks = known_labels(**{"size": payload, **known}, number=number if number > 1 else None)
        found += _make_readings(counts, times if timed else None, marks)
    found += [_read_mtu(document) for document in find_documents(text, first="benchmark")]
    if not found:
        last = (error_text.strip() or text.strip() or "nothing").splitlines()[-1]
        raise ProbeOutputError(shorten(last), "ping's summary with packets transmitted and received")
    return tuple(found)


def _read_summaries(lines: Sequence[str]) -> Iterator[tuple[str | None, str, str | None]]:
    """Payload, and the lines of counts and of times, of each ``ping statistics`` from its first line of counts on."""
    payload: str | None = None
    begun = False
    found: tuple[str | None, str] | None = None
    times: str | None = None
    for line in map(str.strip, lines):
        if header := _HEADER.fullmatch(line):
            payload = header["payload"]
        elif _BEGIN.fullmatch(line):
            begun = True
        elif begun and "packets transmitted" in line:
            if found:
                yield *found, times
            found, times, payload, begun = (payload, line), None, None, False
        elif found and not begun and times is None and line.startswith(("rtt min/", "round-trip ")):
            times = line
    if found:
        yield *found, times


def _make_readings(counts: str, times: str | None, marks: Labels) -> Iterator[Reading]:
    match = _COUNTS.fullmatch(counts)
    if match is None:
        raise ProbeOutputError(shorten(counts), "packets transmitted, received and lost")
    sent, got = int(match["sent"]), int(match["got"])
    marks = add_labels(marks, count=sent)
    yield Reading("ping.loss", _find_loss(match, sent, got), Unit.ONE, marks, counts)
    for more in _MORE.finditer(match["more"]):
        yield Reading(f"ping.{more['what']}", float(more["count"]), Unit.ONE, marks, counts)
    if times is not None:
        for statistic, value in _read_times(times, got).items():
            own = add_labels(marks, statistic=statistic)
            yield Reading("ping.rtt", value * _MILLISECOND, Unit.SECOND, own, times)


def _find_loss(match: re.Match[str], sent: int, got: int) -> float:
    """Share of the packets that no answer came to; what ping prints for it must say the same."""
    printed = parse_decimal(match["loss"].replace(",", "."))
    if sent == 0 or got > sent or printed is None:
        raise ProbeOutputError(shorten(match[0]), "no more packets received than transmitted")
    share = (sent - got) / sent
    if abs(printed - 100 * share) > _PERCENT:
        raise ProbeOutputError(shorten(match[0]), f"{100 * share:.4g}% by the packets")
    return share


def _read_times(line: str, got: int) -> dict[str, float]:
    """The round trips of a line in ms, by statistic; the deviation of one packet is none."""
    match = _TIMES.fullmatch(line)
    values = match["values"].split("/") if match and (match["unit"] or match["heading"]) else []
    if match is None or len(values) != (4 if match["spread"] else 3) or None in map(parse_decimal, values[:3]):
        raise ProbeOutputError(shorten(line), "round trips in ms, as min/avg/max")
    if got == 0:
        raise ProbeOutputError(shorten(line), "no times where nothing was received")
    times = {
        statistic: require_positive(text, f"{statistic} in {shorten(line)}", _LONGEST_MS)
        for statistic, text in zip(("min", "mean", "max"), values, strict=False)
    }
    if not (times["min"] <= times["mean"] + _ROUNDING_MS and times["mean"] <= times["max"] + _ROUNDING_MS):
        raise ProbeOutputError(shorten(line), "min, avg and max in this order")
    spread = parse_decimal(values[3]) if len(values) == 4 else None
    if spread is not None and got > 1:
        if not 0 <= spread <= times["max"]:
            raise ProbeOutputError(shorten(line), "a deviation below the maximum")
        times["mdev"] = spread
    return times


def _read_mtu(document: Document) -> Reading:
    """The largest packet that came back unbroken, as our own search says."""
    if document.get("benchmark") != MTU_DOCUMENT or document.get("end") is not True:
        raise ProbeOutputError(shorten(str(document)), "a search for the largest packet, to its end")
    payload, headers = (parse_count(str(document.get(key))) for key in ("payload", "headers"))
    if payload is None or headers is None:
        raise ProbeOutputError("no answer even to the smallest packet", "a peer that answers")
    if payload + headers > IP_MOST:
        raise ProbeOutputError(f"a packet of {payload + headers} B", f"at most {IP_MOST}")
    raw = f"payload {payload}, headers {headers}, refused {document.get('refused')}"
    return Reading("ping.mtu", float(payload + headers), Unit.BYTE, (), raw)
