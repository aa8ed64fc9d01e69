"""Rows of netperf without a banner and a heading (``-P 0``), with those that their command would have printed.

The command stands in the line before (``$ netperf -H n2 -f M -P 0``), and one result belongs to it; or somebody said
it, and every row is its. A row that is not one of its test is left as it is, which is without a unit.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchconsole.probes.api import ProbeOutputError
from benchconsole.probes.readers.command_lines import find_command, list_given, read_options

_TOOL = "netperf"
_OPTIONS = "46A:a:b:B:CcdD:f:F:H:hi:I:jk:K:l:L:n:NO:o:P:p:rSs:t:T:v:VW:w:y:Y:Z:"
"""As netperf 2.7 takes them; ``-B`` and ``-D`` took no value before, and then it is the next option."""
_DECIDING = "ctfCP"
_UNITS = {
    "k": "10^3bits/s", "m": "10^6bits/s", "g": "10^9bits/s", "K": "KBytes/s", "M": "MBytes/s", "G": "GBytes/s",
}  # fmt: skip
_KEYED = ("-k", "-o", "-O")
"""Options of a test that make it print keys or columns with their names."""
_WHOLE, _REAL = r"-?[0-9]{1,15}", r"-?[0-9]{1,12}\.[0-9]{1,6}"


class _Table(NamedTuple):
    """The lines that a test prints above its rows, its units put in, and its first row."""

    banner: str
    heading: str
    row: re.Pattern[str]


_STREAM_HEADING = "bytes  bytes   bytes    secs.    {unit}"
_STREAM_ROW = re.compile(rf"\s*(?:{_WHOLE} +){{3}}{_REAL} +{_REAL}(?: +{_REAL})*\s*$")
_REQUEST_HEADING = "bytes  Bytes  bytes    bytes   secs.    per sec"
_REQUEST_ROW = re.compile(rf"\s*(?:{_WHOLE} +){{4}}{_REAL} +{_REAL}(?: +{_REAL})*\s*$")
_DATAGRAM_HEADING = "bytes   bytes    secs            #      #   {unit}"
_DATAGRAM_ROW = re.compile(rf"\s*(?:{_WHOLE} +){{2}}{_REAL} +{_WHOLE} +{_WHOLE} +\S+(?: +{_REAL})*\s*$")
_TABLES = {
    "TCP_STREAM": _Table("TCP STREAM TEST", _STREAM_HEADING, _STREAM_ROW),
    "TCP_MAERTS": _Table("TCP MAERTS TEST", _STREAM_HEADING, _STREAM_ROW),
    "TCP_SENDFILE": _Table("TCP SENDFILE TEST", _STREAM_HEADING, _STREAM_ROW),
    "UDP_STREAM": _Table(
        "UDP UNIDIRECTIONAL SEND TEST", "bytes   bytes    secs            #      #   {unit}", _DATAGRAM_ROW
    ),
    "TCP_RR": _Table("TCP REQUEST/RESPONSE TEST", _REQUEST_HEADING, _REQUEST_ROW),
    "UDP_RR": _Table("UDP REQUEST/RESPONSE TEST", _REQUEST_HEADING, _REQUEST_ROW),
    "TCP_CRR": _Table("TCP Connect/Request/Response TEST", _REQUEST_HEADING, _REQUEST_ROW),
}


def add_headings(lines: Sequence[str], argv: Sequence[str] = ()) -> list[str]:
    """``lines`` with the banner and the heading of each bare row whose command is known.

    ``argv`` is the command that printed them all, where somebody said it. ProbeOutputError for a command whose rows
    are not known.
    """
    given = list_given(argv)
    return list(_add_headings(lines, None if given is None else _read_table(given)))


def _add_headings(lines: Sequence[str], given: _Table | None) -> Iterator[str]:
    table = given
    for line in lines:
        if (words := find_command(line, _TOOL)) is not None:
            table = _read_table(words)
        elif table is not None and table.row.match(line):
            yield from (table.banner, table.heading)
            table = given
        yield line


def _read_table(words: Sequence[str]) -> _Table | None:
    """The table that the test of a command prints; None for a command that prints its headings itself."""
    end = words.index("--") if "--" in words else len(words)
    own, of_test = words[:end], words[end:]
    options = read_options(own, _OPTIONS)
    if options is None or any(value[:1] == "-" and value[1:2] in _DECIDING for value in options.values()):
        raise ProbeOutputError(f"{_TOOL} {' '.join(own)}"[:160], "a command whose options are known")
    if options.get("P") != "0" or any(word[:2] in _KEYED for word in of_test):
        return None
    test, unit = options.get("t", "TCP_STREAM").upper(), options.get("f")
    table = _TABLES.get(test)
    if table is None:
        raise ProbeOutputError(f"-P 0 with -t {test}"[:160], f"one of {', '.join(_TABLES)}, whose rows are known")
    if table.heading == _REQUEST_HEADING and unit is not None:
        raise ProbeOutputError(
            f"-P 0 with -t {test} -f {unit}"[:160], "requests without -f, which are counted per second"
        )
    if unit is not None and unit not in _UNITS:
        raise ProbeOutputError(f"-P 0 with -f {unit}"[:160], f"one of {', '.join(_UNITS)}")
    cpu = "" if options.keys().isdisjoint("cC") else "  % S      % S      us/KB   us/KB"
    return table._replace(heading=table.heading.format(unit=_UNITS[unit or "m"]) + cpu)
