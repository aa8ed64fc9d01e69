"""Reader of HPL 1.0 to 2.3 and its variants of vendors: rate, time and residuals of every proven test.

A test is a row below ``T/V``, its residual checks, each ``PASSED``, and the rule of ``=`` that closes it. Its
``Gflops`` must be the work of its order over its time: a number that lost a digit is not read. One check that
failed, one error of HPL, or a test that was not run because its grid did not fit, makes the whole output worth
nothing.

rocHPL-MxP factorises in lower precision and prints HPL's own title, table and check: its name in one line tells.

Source: ``HPL_pdtest.c`` and ``HPL_pdinfo.c`` of 1.0a, 2.0 and 2.3; ``(per GPU)`` as NVIDIA's prints it;
``hplmxp_ptest.cpp`` of rocHPL-MxP.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import refuse_lines, shorten, strip_lines
from benchconsole.probes.readers.numbers import multiply_spans, parse_decimal, parse_span
from benchconsole.probes.readers.readings import add_labels

_HEADING = re.compile(r"T/V\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops(?:\s+\(\s*per GPU\s*\))?")
_ROW = re.compile(
    r"(?P<variant>W[RC]\w{1,20})\s+(?P<n>\d{1,9})\s+(?P<nb>\d{1,6})\s+(?P<p>\d{1,6})\s+(?P<q>\d{1,6})"
    r"\s+(?P<time>\d{1,9}\.\d{1,6})\s+(?P<gflops>\d[\d.]*(?:[eE][+-]?\d{1,3})?)(?:\s+\(\s*[\d.eE+-]+\s*\))?"
)
_VARIANT = re.compile(r"W(?P<mapping>[RC])(?P<depth>[0-9])(?P<broadcast>[0-5])[LCR][0-9][LCR][0-9]{1,3}")
_MAPPINGS = {"R": "row", "C": "column"}
_BROADCASTS = ("1ring", "1ringM", "2ring", "2ringM", "Blong", "BlongM")
"""As HPL numbers and names them."""
_CHECK = re.compile(r"(?P<what>\|\|Ax-b\|\|_oo ?/ ?\([^=]*\)) *= *(?P<value>\S+) \.{6} (?P<verdict>[A-Z]+)")
_RULE = re.compile(r"={40,}")
_BAD = re.compile(
    r"\.{6} (?!PASSED\b)\w+|HPL ERROR|(?<!\d)[1-9]\d{0,8} tests completed and failed residual"
    r"|(?<!\d)[1-9]\d{0,8} tests skipped because|Error code returned by solve|Memory allocation failed"
)
_MIXED = re.compile(r"^(?:HPLMXP_|HPL-?MxP\b|HPL-AI\b)")
_LOOSE = 0.02
"""Vendors count the work of an order a little differently; a lost digit is more than that."""
_LARGEST_RESIDUAL = 16.0


@dataclass(slots=True)
class _HplTest:
    """One row with the checks that followed it."""

    row: dict[str, str]
    raw: str
    checks: dict[str, str] = field(default_factory=dict)


def parse_text(text: str, wanted: Mapping[str, str] = MappingProxyType({})) -> Sequence[Reading]:
    """Rate, time and residuals of each closed test; ProbeOutputError when there is none or one is unsound.

    ``wanted`` is ``n``, ``nb``, ``p`` and ``q`` of the input, where it is known: the one test must be of these.
    A wrapper that reads an input of its own solves another problem.
    """
    lines = strip_lines(text)
    refuse_lines(_MIXED, lines, "HPL, which solves in double precision: this is a benchmark of mixed precision")
    refuse_lines(_BAD, lines, "every test of HPL to be run, and every residual check to pass")
    tests = list(_find_closed(lines))
    if not tests:
        raise ProbeOutputError("no test with its residual checks", "the results of HPL, to the rule below them")
    if wanted and [{name: test.row[name] for name in wanted} for test in tests] != [dict(wanted)]:
        raise ProbeOutputError("results of another input", " ".join(f"{k}={v}" for k, v in wanted.items()))
    found: list[Reading] = []
    runs: Counter[Labels] = Counter()
    for test in tests:
        told = {name: test.row[name] for name in ("variant", "n", "nb", "p", "q")}
        marks = labels(**told, **_read_variant(told["variant"]))
        runs[marks] += 1
        found += _make_readings(test, add_labels(marks, run=runs[marks]) if runs[marks] > 1 else marks)
    return found


def _read_variant(variant: str) -> dict[str, str]:
    """Mapping of the ranks, depth of the look-ahead and broadcast of the panels; none where a vendor shortened it."""
    match = _VARIANT.fullmatch(variant)
    if match is None:
        return {}
    broadcast = _BROADCASTS[int(match["broadcast"])]
    return {"mapping": _MAPPINGS[match["mapping"]], "depth": match["depth"], "broadcast": broadcast}


def _find_closed(lines: Sequence[str]) -> Iterator[_HplTest]:
    """The tests that were run to the rule below their checks."""
    headed, test = False, None
    for line in lines:
        if _HEADING.fullmatch(line):
            headed, test = True, None
        elif headed and (match := _ROW.fullmatch(line)):
            headed, test = False, _HplTest(match.groupdict(), line)
        elif test is not None and (match := _CHECK.fullmatch(line)):
            if match["what"] in test.checks:
                test = None  # the rule between it and the next test was lost
            else:
                test.checks[match["what"]] = match["value"]
        elif test is not None and _RULE.fullmatch(line):
            if test.checks:
                yield test
            test = None


def _make_readings(test: _HplTest, marks: Labels) -> Iterator[Reading]:
    row = test.row
    rate = parse_decimal(row["gflops"])
    if not rate or not _is_work_over_time(row):
        raise ProbeOutputError(shorten(test.raw), "Gflops that are the work of N over the time")
    yield Reading("hpl.rate", rate * 1e9, Unit.FLOP_RATE, marks, test.raw)
    if took := parse_decimal(row["time"]):
        yield Reading("hpl.time", took, Unit.SECOND, marks, test.raw)
    for what, text in test.checks.items():
        value = parse_decimal(text)
        if value is None or not 0 <= value < _LARGEST_RESIDUAL:
            raise ProbeOutputError(f"{shorten(what)} = {shorten(text)}", f"a residual below {_LARGEST_RESIDUAL:g}")
        own = add_labels(marks, check="".join(what.split())) if len(test.checks) > 1 else marks
        yield Reading("hpl.residual", value, Unit.ONE, own, f"{what} = {text} PASSED")


def _is_work_over_time(row: Mapping[str, str]) -> bool:
    """Whether (2/3 N^3 + 3/2 N^2) / time is the rate, as closely as both were printed."""
    order = float(row["n"])
    work = 2 / 3 * order**3 + 3 / 2 * order**2
    took, rate = parse_span(row["time"]), parse_span(row["gflops"])
    if took is None or rate is None:
        return False
    least, most = multiply_spans(rate, took, (1e9, 1e9))
    return least <= work * (1 + _LOOSE) and work * (1 - _LOOSE) <= most
