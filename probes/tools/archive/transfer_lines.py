"""Reader of what programs for transfers say of one: ftp, pftp, lftp, rsync and scp.

A line counts where it has bytes and seconds, which its printed rate must agree with, or a rate whose unit is certain:
``KiB/s``, ``bytes/sec``, and the ``MB/s`` of scp, which are 2^20 byte/s. Letters that may be powers of 1000 or of 1024
beside whole seconds are no rate: ``M/s`` of lftp, ``KBS`` of hsi. An rsync that moved less than its files spent its
time on comparing or compressing them: its rate is none of the archive.

Formats: netkit-ftp ``ftp.c`` (ptransfer), tnftp ``util.c``, Windows ftp, lftp ``CopyJob``, HPSS pftp manual, rsync
``main.c`` (output_summary), OpenSSH ``progressmeter.c``.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from benchconsole.probes.api import ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import find_matches, read_lines, refuse_lines, shorten
from benchconsole.probes.readers.numbers import parse_decimal, require_positive
from benchconsole.probes.readers.readings import known_labels

_COMPLAINT = re.compile(
    r"^(?:[45][0-9]{2}[ -]\S|rsync error: |rsync: |scp: |lost connection|ftp: (?:connect|bind|\S+: )|netout: |netin: "
    r"|(?:get|put|mirror|pget): \S)|timed out|Connection (?:reset|closed by|refused)"
)
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,6})?(?:e[+-]?[0-9]{1,2})?"
_COUNTED = re.compile(
    r"(?:ftp: )?(?P<bytes>[0-9]{1,15}) bytes (?P<way>received|sent|transferred) in "
    rf"(?:(?P<clock>[0-9]{{1,3}}:[0-9]{{2}})|(?P<seconds>{_NUMBER}) ?(?:secs?|seconds?))\.? ?"
    rf"\(?(?P<rate>{_NUMBER}) ?(?P<prefix>[kKMGT]?)(?P<binary>i?)(?:[Bb]ytes?|B)?/s(?:ec(?:ond)?)?\)?\.?",
    re.IGNORECASE,
)
_GROUPED = r"[0-9]{1,3}(?:,[0-9]{3}){0,5}|[0-9]{1,15}"
_RSYNC = re.compile(
    rf"sent (?P<sent>{_GROUPED}) bytes  received (?P<received>{_GROUPED}) bytes  "
    rf"(?P<rate>(?:{_GROUPED})\.[0-9]{{2}}) bytes/sec"
)
_RSYNC_WHOLE = re.compile(
    rf"total size is (?:{_GROUPED})  speedup is (?P<speedup>(?:{_GROUPED})\.[0-9]{{2}})(?P<nothing> \([A-Z ]+\))?"
)
_MOST_SPEEDUP = 1.05
"""Bytes of the files for each byte over the wire: above it, rsync left out or compressed some of them."""
_SCP = re.compile(
    r"\S.{0,200}? 100% +(?P<size>[0-9]{1,4})(?P<of>[KMGT]?)B +(?P<rate>[0-9]{1,4}\.[0-9])(?P<prefix>[KMGT]?)B/s +"
    r"(?P<clock>(?:[0-9]{1,3}:)?[0-9]{2}:[0-9]{2}) *"
)
_SCP_NUMBERS = (("size", "of"), ("rate", "prefix"))
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_DIRECTIONS = {"received": "in", "sent": "out", "transferred": ""}
_ROUNDED = 0.02
"""Share by which a printed rate may miss its bytes by its seconds: programs round both."""


def read_transfer(text: str) -> Sequence[Reading]:
    """The rate of the one transfer in ``text``, which is the throughput, too; nothing where there is no such line.

    ProbeOutputError where something failed, and for several transfers: nobody says whether they ran at once.
    """
    lines = [line.strip() for line in read_lines(text, 400)]
    found = [reading for line in lines for reading in _read_line(line)]
    if not found:
        return ()
    refuse_lines(_COMPLAINT, lines, "a transfer that came to its end")
    _refuse_partial(lines)
    if len(found) > 1:
        raise ProbeOutputError(f"{len(found)} transfers", "one in each file, and --at-once where they ran together")
    return Reading("archive.throughput", found[0].value, Unit.BYTE_RATE, found[0].labels, found[0].raw), found[0]


def _refuse_partial(lines: Sequence[str]) -> None:
    """Raise ProbeOutputError where rsync says that it moved less than its files, or nothing (DRY RUN, BATCH ONLY)."""
    for match in find_matches(_RSYNC_WHOLE, lines):
        if match["nothing"] or float(match["speedup"].replace(",", "")) > _MOST_SPEEDUP:
            raise ProbeOutputError(shorten(match[0]), f"files that were moved whole: a speedup up to {_MOST_SPEEDUP}")


def _read_line(line: str) -> Iterator[Reading]:
    for pattern, read in _LINES:
        if match := pattern.fullmatch(line):
            yield read(match)


def _make(tool: str, value: float, raw: str, **marks: object) -> Reading:
    rate = require_positive(value, f"the rate of {tool}")
    return Reading("archive.transfer", rate, Unit.BYTE_RATE, known_labels(tool=tool, **marks), shorten(raw))


def _read_counted(match: re.Match[str]) -> Reading:
    """Bytes by seconds, where these have decimals; of whole ones, a rate in powers of 1024 that says so."""
    size, rate = float(match["bytes"]), require_positive(match["rate"], "the rate of ftp")
    power = _POWERS[match["prefix"].upper()]
    marks = {"size": int(size), "direction": _DIRECTIONS[match["way"].lower()]}
    seconds = _read_clock(match["clock"]) if match["clock"] else parse_decimal(match["seconds"]) or 0.0
    if match["clock"] or "." not in match["seconds"]:
        if not match["binary"] and power:
            raise ProbeOutputError(shorten(match[0]), "seconds with decimals, or a rate in KiB/s, MiB/s or GiB/s")
        value, longest = rate * 1024.0**power, seconds + 1
        if not size * (1 - _ROUNDED) <= value * longest or value * max(seconds - 1, 0) > size * (1 + _ROUNDED):
            raise ProbeOutputError(shorten(match[0]), "a rate that is the bytes by the seconds")
        return _make("ftp", value, match[0], **marks)
    value = size / require_positive(seconds, "the seconds of ftp")
    last = 0.5 * 10.0 ** -len(match["seconds"].partition(".")[2].partition("e")[0])
    slack = _ROUNDED + last / seconds
    bases = (1024.0,) if match["binary"] else (1000.0, 1024.0)
    if not any(abs(rate * base**power - value) <= slack * value for base in bases):
        raise ProbeOutputError(shorten(match[0]), "a rate that is the bytes by the seconds")
    return _make("ftp", value, match[0], **marks)


def _read_rsync(match: re.Match[str]) -> Reading:
    """The rate of rsync, which divides the bytes over the wire both ways by its time."""
    sent, received = (int(match[name].replace(",", "")) for name in ("sent", "received"))
    marks = {"direction": "out" if sent >= received else "in", "size": sent + received}
    return _make("rsync", float(match["rate"].replace(",", "")), match[0], **marks)


def _read_scp(match: re.Match[str]) -> Reading:
    size, rate = (
        float(match[name]) * 1024.0 ** _POWERS[match[of]] for name, of in (("size", "of"), ("rate", "prefix"))
    )
    seconds = _read_clock(match["clock"])
    if not rate * max(seconds - 1, 0) <= size * 1.06 or not rate * (seconds + 1) >= size * 0.94:
        raise ProbeOutputError(shorten(match[0]), "a rate that is the bytes by the seconds")
    return _make("scp", rate, match[0])


def _read_clock(text: str) -> float:
    """Seconds of ``01:02:03`` or ``02:03``."""
    seconds = 0
    for part in text.split(":"):
        seconds = 60 * seconds + int(part)
    return float(seconds)


_LINES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Reading]], ...] = (
    (_COUNTED, _read_counted),
    (_RSYNC, _read_rsync),
    (_SCP, _read_scp),
)
