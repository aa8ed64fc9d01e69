"""The lines that an iperf3 server prints for each interval, of versions 3.1 to 3.17 and later.

    [ ID] Interval           Transfer     Bitrate
    [  5]   0.00-1.00   sec  1.09 GBytes  9.36 Gbits/sec                  (omitted)
    [SUM]   1.00-2.00   sec  2.07 GBytes  17.8 Gbits/sec
    [SUM][TX-S]   1.00-2.00   sec  11.9 MBytes  99.6 Mbits/sec    0

The sums at the end have the same shape with a last word ``sender`` or ``receiver``. A server that receives tells
what arrived; one that sends (``-R``, TX-S) tells what it could send, which may not all have arrived. Read off
iperf3 3.12.
"""

import re

from benchconsole.probes.api import Interval, Unit, labels

_LINE = re.compile(
    r"\[(?: *[0-9]{1,5}|SUM)\](?:\[(?P<role>[RT]X)-S\])? +"
    r"(?P<begin>[0-9]{1,7}\.[0-9]{2})-(?P<end>[0-9]{1,7}\.[0-9]{2}) +sec +[0-9.]{1,12} [KMGTP]?Bytes +"
    r"(?P<rate>[0-9]{1,9}(?:\.[0-9]{1,3})?) (?P<prefix>[KMGT]?)bits/sec(?P<rest> .*)?",
    re.ASCII,
)
_FACTORS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SHORTEST = 0.5
"""Seconds; what is shorter stands at the end of a run, and its rate is one of a few packets."""
_FASTEST = 1e14
"""byte/s; what is above it is no network."""


def read_line(line: str, *, is_single: bool, sends: bool) -> tuple[Interval, ...]:
    """The throughput of one interval of all streams of a direction together, in byte/s; mostly none.

    ``is_single``: a direction has one stream, and no line of sums. ``sends``: the server does, where its lines do not
    say so. Seconds that are omitted at the start are left out.
    """
    if not line.startswith("[") or line.startswith("[SUM]") is is_single:
        return ()
    found = _LINE.fullmatch(line)
    if found is None or (found["rest"] or "").split()[-1:] in (["sender"], ["receiver"], ["(omitted)"]):
        return ()
    begin, end = float(found["begin"]), float(found["end"])
    value = float(found["rate"]) * _FACTORS[found["prefix"]] / 8
    if end - begin < _SHORTEST or value > _FASTEST:
        return ()
    inward = found["role"] == "TX" if found["role"] else sends
    marks = labels(direction="in" if inward else "out")
    return (Interval("iperf3.throughput", value, Unit.BYTE_RATE, end, end - begin, marks),)
