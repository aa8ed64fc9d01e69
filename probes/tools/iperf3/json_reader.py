"""Reader of iperf3's JSON (``-J`` or ``--json-stream``), client or server side, versions 3.1 and later.

``end.sum_received`` counts the data that the receiver got. UDP of old versions has only ``end.sum``, which counts the
data that were sent, so the lost datagrams are taken off. Formats read off iperf3 itself.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, ToolError, Unit
from benchconsole.probes.readers.documents import Document, find_documents, has_document, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import read_number
from benchconsole.probes.readers.readings import add_labels, known_labels, number_runs
from benchconsole.probes.tools.iperf3 import json_conditions

_FIRST = "start|end|error|event|intervals|title|data"
_BITS = 8.0
_LONGEST_MS = 3.6e6
_COUNTS_OMITTED = re.compile(r"iperf 3\.[01](?![0-9])")
"""Versions whose reversed runs count what was omitted as received (esnet/iperf issue 443)."""
_OVERFLOWN = 2**31 - 1
"""Where the counters of datagrams of versions before 3.14 end (esnet/iperf issue 1534)."""
_REVERSE = "_bidir_reverse"
"""Ends the names of the second direction."""
_IN_END = re.compile(r"sum|streams$|cpu_utilization")
_IN_SUM = frozenset(("bits_per_second", "bytes", "seconds", "start", "socket"))
"""Names that stand in ``end`` only, and in its sums only."""
_TAIL = re.compile(r"tail=([1-9][0-9]{0,4})")
"""The title of a run of which so many seconds at the end are left out."""
_INTERVAL = 1.0
"""Seconds of an interval that the client counts."""
_FASTEST = 1e14
"""byte/s; what is above it is a division by a vanishing time, not a network."""


def is_json(text: str) -> bool:
    """Whether ``text`` holds iperf3's JSON, be it whole or cut."""
    return has_document(text, first=_FIRST)


def refuse_complaint(text: str) -> None:
    """Raise ToolError with iperf3's own words where a document in ``text`` says that the run failed."""
    _refuse_failed(list(find_documents(text, first=_FIRST)))


def _refuse_failed(found: Sequence[Document]) -> None:
    for document in found:
        error = document.get("data") if document.get("event") == "error" else document.get("error")
        if error is not None:
            raise ToolError(f"error in the JSON: {shorten(str(error))}", "a run without error")


def parse_json(text: str) -> Sequence[Reading]:
    """Every reading of every finished run in ``text``; ProbeOutputError when one failed or none is whole."""
    parts = list(find_documents(text, first=_FIRST))
    _refuse_failed(parts)
    runs = list(_find_runs(parts))
    found = [reading for run in runs for reading in _read_run(run)]
    if not found:
        raise ProbeOutputError("no whole JSON document with an end", "iperf3 JSON up to its last brace")
    # --json-stream-full-output tells the same run twice
    return tuple(number_runs(dict.fromkeys(found) if len(runs) > 1 else found))


def _find_runs(parts: Sequence[Document]) -> Iterator[Document]:
    start: object = None
    for document in parts:
        event, data = document.get("event"), document.get("data")
        if event == "start":
            start = data
        elif event == "end":
            yield {"start": start, "end": data}
        elif event is None and ("intervals" in document or isinstance(document.get("end"), dict)):
            yield document


def _read_run(document: Document) -> Iterator[Reading]:
    start, end = read_mapping(document.get("start")), read_mapping(document.get("end"))
    if not end:
        raise ProbeOutputError("JSON without an end", "end with sum_received")
    test, server = read_mapping(start.get("test_start")), "accepted_connection" in start
    # where braces were lost, what belongs into the end or its sums stands beside it
    strayed = [name for name in document if _IN_END.match(name)] + [name for name in end if name in _IN_SUM]
    if strayed:
        raise ProbeOutputError(f"{shorten(strayed[0])} outside its place", "iperf3 JSON as iperf3 wrote it")
    _refuse_inflated(start)
    _refuse_overwritten(test, end)
    streams = [read_mapping(stream) for stream in read_array(end.get("streams"))]
    protocol = shorten(str(test.get("protocol", "UDP" if "sum" in end else "TCP")), 20).lower()
    directions = _name_directions(test, end, streams, server=server)
    set_to, heard = json_conditions.find_settings(start, end), False
    tail = _TAIL.fullmatch(str(document.get("title", "")))
    if tail:
        yield _read_inner(document, int(tail[1]), directions, set_to)
        return
    for suffix, direction in directions.items():
        if server and not read_number(read_mapping(end.get(f"sum_received{suffix}")).get("bytes")):
            continue  # this end sent, and a server is not told what arrived
        heard = True
        own = streams
        if len(directions) == 2:
            own = [stream for stream in streams if _is_sender(stream) is (direction == "out")]
            own = own if 2 * len(own) == len(streams) else []
        marks = known_labels(direction=direction, protocol=protocol, streams=len(own) or None, **set_to)
        yield from _read_sums(end, suffix, marks, udp=protocol == "udp")
        yield from _read_streams(end, suffix, own, marks, udp=protocol == "udp")
        if protocol == "udp":
            yield from json_conditions.read_reordered(own, marks)
        elif protocol == "tcp":
            yield from json_conditions.read_connections(start, read_mapping(end.get(f"sum_sent{suffix}")), own, marks)
        yield from json_conditions.read_processors(start, end, marks, streams=len(streams))
    if not heard:
        raise ProbeOutputError("zero bytes received at this end", "the JSON of the end that received")


def _read_inner(document: Document, tail: int, directions: Mapping[str, str], set_to: Mapping[str, str]) -> Reading:
    """Throughput without the last ``tail`` seconds, from the intervals that the client counted.

    Nothing else of such a run is told: all other numbers are of its whole time.
    """
    test = read_mapping(read_mapping(document.get("start")).get("test_start"))
    seconds, streams = _read_least(test, "duration") - tail, read_number(test.get("num_streams"))
    counted = (read_mapping(read_mapping(each).get("sum")) for each in read_array(document.get("intervals")))
    inner = [each for each in counted if _is_whole(each) and _read_least(each, "end") <= seconds + _INTERVAL / 2]
    length, sent = (sum(_read_least(each, name) for each in inner) for name in ("seconds", "bytes"))
    if list(directions) != [""] or seconds <= 0 or not seconds / 2 <= length <= seconds + _INTERVAL / 2:
        raise ProbeOutputError(f"{length:.1f} s of intervals in one direction", f"{seconds:g} s before the tail")
    if not sent:
        raise ProbeOutputError("zero bytes in the intervals", "a receiver that got data")
    marks = {**set_to, "seconds": f"{seconds:g}", "tail": str(tail), "direction": directions[""], "protocol": "tcp"}
    labels = known_labels(**marks, streams=None if streams is None else f"{streams:.0f}")
    return Reading("iperf3.throughput", sent / length, Unit.BYTE_RATE, labels, f"{sent:.0f} bytes in {length:.2f} s")


def _is_whole(told: Document) -> bool:
    """Whether an interval counts: at the end of what is omitted one may be of more seconds than it is long."""
    length = _read_least(told, "end") - _read_least(told, "start")
    return told.get("omitted") is False and abs(length - _read_least(told, "seconds")) < _INTERVAL / 4


def _read_least(told: Document, name: str) -> float:
    """A number that is not negative; 0 where there is none."""
    return max(read_number(told.get(name)) or 0.0, 0.0)


def _refuse_inflated(start: Document) -> None:
    test, version = read_mapping(start.get("test_start")), shorten(str(start.get("version", "")))
    if not test or (version and not _COUNTS_OMITTED.match(version)):
        return
    missing = 1 if version else 0  # an old version writes both down: where one is missing it was lost
    if test.get("reverse", missing) == 1 and (read_number(test.get("omit", missing)) or 0.0) > 0:
        found = f"a reversed run of {version or 'an unknown version'} that omits a start"
        raise ProbeOutputError(found, "omit 0, or version 3.2 or later")


def _refuse_overwritten(test: Document, end: Document) -> None:
    """ProbeOutputError for both directions under one name, as 3.7 writes them: only the second is left of them."""
    if any(name.endswith(_REVERSE) for name in end):
        return
    wanted, found = read_number(test.get("num_streams")), len(read_array(end.get("streams")))
    if read_number(test.get("bidir")) or (wanted and found == 2 * wanted):
        raise ProbeOutputError("the sums of one direction of two", "sums with _bidir_reverse in their names")


def _name_directions(test: Document, end: Document, streams: Sequence[Document], *, server: bool) -> dict[str, str]:
    """``out`` where this end sent, ``in`` or empty for unknown, by the suffix of the names of its sums in ``end``."""
    # from the server's side the client's sending is receiving
    first = "out" if (test.get("reverse") == 1) == server else "in"
    if not test:  # its event was cut off: the streams tell which end they are of, in versions that do
        sends = _is_sender(streams[0]) if streams else None
        first = "out" if sends is True else "in" if sends is False else ""
    if not any(name.endswith(_REVERSE) for name in end):
        told = {_is_sender(stream) for stream in streams} & {True, False}
        return {"": first if told <= {first == "out"} else ""}  # else what says that the run was reversed was lost
    if not first:
        raise ProbeOutputError("both directions, and no word of whose they are", "iperf3 JSON with its start")
    return {"": first, _REVERSE: "in" if first == "out" else "out"}


def _is_sender(stream: Document) -> object:
    return read_mapping(stream.get("udp", stream.get("receiver"))).get("sender")


def _read_sums(end: Document, suffix: str, marks: Labels, *, udp: bool) -> Iterator[Reading]:
    """Throughput of one direction, and its lost datagrams or its segments that were sent again."""
    received, sent, plain = (read_mapping(end.get(name + suffix)) for name in ("sum_received", "sum_sent", "sum"))
    # versions that tell what was sent apart tell what arrived
    name, got = ("sum", plain) if udp and not received and not sent else ("sum_received", received)
    value = _read_rate(got, f"end.{name}{suffix}")
    if name == "sum":
        value *= 1.0 - _require_loss(got, f"end.sum{suffix}")
    if value <= 0 or read_number(got.get("bytes")) == 0:
        raise ProbeOutputError(f"zero bytes in end.{name}{suffix}", "a receiver that got data")
    raw = f"end.{name}{suffix}.bits_per_second {got.get('bits_per_second')}"
    yield Reading("iperf3.throughput", value, Unit.BYTE_RATE, marks, raw)
    resent = read_number(sent.get("retransmits"))
    if udp:
        yield from _read_datagrams(next((each for each in (received, plain) if "packets" in each), {}), marks)
    elif resent is not None and resent >= 0:
        raw = f"end.sum_sent{suffix}.retransmits {resent:.0f}"
        yield Reading("iperf3.retransmits", resent, Unit.ONE, marks, raw)


def _read_datagrams(got: Document, marks: Labels) -> Iterator[Reading]:
    loss, jitter = _find_loss(got), read_number(got.get("jitter_ms"))
    if loss is not None:
        raw = f"lost_packets {got.get('lost_packets')} of packets {got.get('packets')}"
        yield Reading("iperf3.loss", loss, Unit.ONE, marks, raw)
    # a jitter as long as the run is what the clocks of two hosts differ by
    longest = min(1e3 * (read_number(got.get("seconds")) or _LONGEST_MS), _LONGEST_MS)
    if jitter is not None and 0 <= jitter < longest:
        yield Reading("iperf3.jitter", jitter * 1e-3, Unit.SECOND, marks, f"jitter_ms {jitter}")


def _read_streams(
    end: Document, suffix: str, streams: Sequence[Document], marks: Labels, *, udp: bool
) -> Iterator[Reading]:
    """The rate of each of ``streams`` as it arrived."""
    if udp and any(f"{name}{suffix}" in end for name in ("sum_received", "sum_sent")):
        if seconds := read_number(read_mapping(end.get(f"sum_received{suffix}")).get("seconds")):
            yield from _read_arrived(streams, marks, seconds)
        return
    for number, stream in enumerate(streams, start=1):
        got = read_mapping(stream.get("udp", stream.get("receiver")))
        if "bits_per_second" not in got or (udp and not read_number(got.get("bytes"))):
            continue  # a receiver of UDP is not told what was sent
        value = _read_rate(got, f"stream {number}")
        if udp:
            value *= 1.0 - _require_loss(got, f"stream {number}")  # old versions tell what was sent only
        if not value:
            continue  # nothing of this one arrived, or it was not told
        raw = f"stream {number} bits_per_second {got['bits_per_second']}"
        yield Reading("iperf3.stream", value, Unit.BYTE_RATE, add_labels(marks, stream=number), raw)


def _read_arrived(streams: Sequence[Document], marks: Labels, seconds: float) -> Iterator[Reading]:
    """The rate at which each stream of UDP arrived, over ``seconds`` of the receiver: a stream tells what was sent,
    and how long that took.
    """
    for number, stream in enumerate(streams, start=1):
        got = read_mapping(stream.get("udp"))
        sent = read_number(got.get("bytes"))
        if not sent:
            continue  # a receiver is not told what was sent
        if value := sent / seconds * (1.0 - _require_loss(got, f"stream {number}")):
            raw = f"stream {number} bytes {sent:.0f}, lost {got.get('lost_packets')} of {got.get('packets')}"
            yield Reading("iperf3.stream", value, Unit.BYTE_RATE, add_labels(marks, stream=number), raw)


def _read_rate(got: Document, where: str) -> float:
    bits = read_number(got.get("bits_per_second"))
    if bits is None or not 0 <= bits / _BITS < _FASTEST:
        raise ProbeOutputError(f"bits_per_second {shorten(str(got.get('bits_per_second')))} in {where}", "a rate")
    return bits / _BITS


def _require_loss(got: Document, where: str) -> float:
    """The share that must be taken off a rate that was sent."""
    loss = _find_loss(got)
    if loss is None:
        raise ProbeOutputError(f"no count of lost datagrams in {where}", "lost_packets of packets")
    return loss


def _find_loss(got: Document) -> float | None:
    """Share of the datagrams that did not arrive; None when they were not counted."""
    lost, packets = read_number(got.get("lost_packets")), read_number(got.get("packets"))
    if lost is None or not packets or packets == _OVERFLOWN:
        return None
    if not 0 <= lost <= packets:
        raise ProbeOutputError(f"{lost:.0f} of {packets:.0f} datagrams lost", "a part of them")
    return lost / packets
