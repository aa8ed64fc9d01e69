"""Reads ``hpccoutf.txt`` of HPC Challenge 1.4 and 1.5: its summary, and what says that the run is sound.

The summary alone is read, whole or not at all; numbers are printed in powers of ten (``GBs`` is 10^9 byte/s).
Refuses a run that does not say ``Success=1``, and one with a residual that failed, whatever rates it printed.

Source: HPCC 1.5.0, ``src/io.c`` (the summary) and README.
"""

import re
from collections.abc import Sequence

from probes.api import ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import one_line, whole, whole_lines

_BEGIN, _END = "Begin of Summary section.", "End of Summary section."
_FAILED = re.compile(r"\bFAILED\b|^\s*[1-9][0-9]* tests completed and failed residual checks")
_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,3})?")
_ABSURD = 1e30

# metric: key, unit, factor to the base unit
_KEYS: dict[str, tuple[str, Unit, float]] = {
    "hpl": ("HPL_Tflops", Unit.FLOP_RATE, 1e12),
    "ptrans": ("PTRANS_GBs", Unit.BYTE_RATE, 1e9),
    "random_access": ("MPIRandomAccess_GUPs", Unit.PER_SECOND, 1e9),
    "fft": ("MPIFFT_Gflops", Unit.FLOP_RATE, 1e9),
    "dgemm": ("StarDGEMM_Gflops", Unit.FLOP_RATE, 1e9),
    "dgemm_alone": ("SingleDGEMM_Gflops", Unit.FLOP_RATE, 1e9),
    "stream_copy": ("StarSTREAM_Copy", Unit.BYTE_RATE, 1e9),
    "stream_scale": ("StarSTREAM_Scale", Unit.BYTE_RATE, 1e9),
    "stream_add": ("StarSTREAM_Add", Unit.BYTE_RATE, 1e9),
    "stream_triad": ("StarSTREAM_Triad", Unit.BYTE_RATE, 1e9),
    "stream_triad_alone": ("SingleSTREAM_Triad", Unit.BYTE_RATE, 1e9),
    "pingpong_latency": ("AvgPingPongLatency_usec", Unit.SECOND, 1e-6),
    "pingpong_latency_max": ("MaxPingPongLatency_usec", Unit.SECOND, 1e-6),
    "pingpong_bandwidth": ("AvgPingPongBandwidth_GBytes", Unit.BYTE_RATE, 1e9),
    "pingpong_bandwidth_min": ("MinPingPongBandwidth_GBytes", Unit.BYTE_RATE, 1e9),
    "ring_latency": ("RandomlyOrderedRingLatency_usec", Unit.SECOND, 1e-6),
    "ring_bandwidth": ("RandomlyOrderedRingBandwidth_GBytes", Unit.BYTE_RATE, 1e9),
    "natural_ring_latency": ("NaturallyOrderedRingLatency_usec", Unit.SECOND, 1e-6),
    "natural_ring_bandwidth": ("NaturallyOrderedRingBandwidth_GBytes", Unit.BYTE_RATE, 1e9),
}


def readings(text: str) -> Sequence[Reading]:
    """Every rate and time of the summary, in base units; ProbeOutputError when the run is not sound to its end."""
    lines = whole_lines(text)
    summary = _summary(lines)
    if summary.get("Success") != "1":
        raise ProbeOutputError(f"Success={one_line(summary.get('Success', 'nothing'))}", "Success=1 in the summary")
    if failed := next((line for line in lines if _FAILED.search(line)), None):
        raise ProbeOutputError(one_line(failed), "every residual to pass")
    size, ranks = whole(summary.get("HPL_N", "")), whole(summary.get("CommWorldProcs", ""))
    if not size or not ranks:
        raise ProbeOutputError("no HPL_N and CommWorldProcs in the summary", "the summary of HPC Challenge 1.4 or 1.5")
    marks = labels(n=size, ranks=ranks)
    return [
        Reading(f"hpcc.{name}", number * factor, unit, marks, f"{key}={summary[key]}")
        for name, (key, unit, factor) in _KEYS.items()
        if (number := _number(summary, key)) is not None
    ]


def _summary(lines: Sequence[str]) -> dict[str, str]:
    """The keys of the one summary; a result file that was appended to holds several, of which none is ours for sure."""
    if lines.count(_BEGIN) != 1 or lines.count(_END) != 1 or lines.index(_BEGIN) > lines.index(_END):
        raise ProbeOutputError(
            f"{lines.count(_BEGIN)} beginnings and {lines.count(_END)} ends of a summary", "one whole summary"
        )
    found: dict[str, str] = {}
    for line in lines[lines.index(_BEGIN) + 1 : lines.index(_END)]:
        key, is_pair, value = line.partition("=")
        if not is_pair or not re.fullmatch(r"[A-Za-z0-9_]+", key) or key in found:
            raise ProbeOutputError(
                one_line(line) or "an empty line", "lines of key=value in the summary, each key once"
            )
        found[key] = value
    return found


def _number(summary: dict[str, str], key: str) -> float | None:
    """The value of ``key``; None for a part that was not run, which is not there or is -1."""
    text = summary.get(key, "-1")
    if not _NUMBER.fullmatch(text) or not -1.0 <= float(text) < _ABSURD or float(text) == 0:
        raise ProbeOutputError(f"{key}={one_line(text)}", "a number above 0, or -1 for a part that was not run")
    return float(text) if float(text) > 0 else None


UNITS = {name: unit for name, (_, unit, _) in _KEYS.items()}
"""The unit of every metric, by its name after ``hpcc.``."""
