"""Reads ``hpccoutf.txt`` of HPC Challenge 1.0 to 1.5: its summary, and what says that the run is sound.

The summary alone is read, whole or not at all; numbers are printed in powers of ten (``GBs`` is 10^9 byte/s, and so
are the numbers of STREAM, which has no unit in its key). Refuses a run that does not say ``Success=1``, one with a
check that failed whatever rates it printed, one of another problem than was asked for, and a rate of HPL that is not
the work of its order over its time.

Source: HPCC 1.5.0, ``src/io.c`` (the summary), ``RandomAccess/``, ``STREAM/stream.c``, ``DGEMM/`` and README.
"""

import re
from collections.abc import Mapping, Sequence

from probes.api import ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import one_line, whole
from probes.builtin.printed import plain_lines, span

_BEGIN, _END = "Begin of Summary section.", "End of Summary section."
_FAILED = re.compile(
    r"\bFAILED\b|\(failed\)|Failed Validation|HPL ERROR|^Node\(s\) with error [1-9]"
    r"|^[1-9][0-9]* tests completed and failed residual checks"
)
_OTHER_UNIT = re.compile(r"Function\s+Rate \(MB/s\).*")
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


def readings(text: str, asked: Mapping[str, str] | None = None) -> Sequence[Reading]:
    """Every rate and time of the summary, in base units; ProbeOutputError when the run is not sound to its end.

    ``asked`` is ``n``, ``nb``, ``p`` and ``q`` of the input, where it is known.
    """
    lines = plain_lines(text)
    summary = _summary(lines)
    if summary.get("Success") != "1":
        raise ProbeOutputError(f"Success={one_line(summary.get('Success', 'nothing'))}", "Success=1 in the summary")
    if failed := next((line for line in lines if _FAILED.search(line)), None):
        raise ProbeOutputError(one_line(failed), "every check to pass")
    if any(_OTHER_UNIT.fullmatch(line) for line in lines):
        raise ProbeOutputError("STREAM in MB/s", "STREAM in GB/s, as HPC Challenge prints it")
    _refuse_other_problem(summary, asked or {})
    _refuse_misfit(summary)
    marks = labels(n=whole(summary["HPL_N"]), ranks=_ranks(summary))
    return [
        Reading(f"hpcc.{name}", number * factor, unit, marks, f"{key}={summary[key]}")
        for name, (key, unit, factor) in _KEYS.items()
        if (number := _number(summary, key)) is not None
    ]


def _ranks(summary: Mapping[str, str]) -> int:
    """All ranks; of the grid of HPL where a version does not count them."""
    rows, columns = (whole(summary.get(key, "")) for key in ("HPL_nprow", "HPL_npcol"))
    grid = rows * columns if rows and columns else None
    found = whole(summary["CommWorldProcs"]) if "CommWorldProcs" in summary else grid
    if not whole(summary.get("HPL_N", "")) or not found:
        raise ProbeOutputError("no HPL_N and CommWorldProcs in the summary", "the summary of HPC Challenge 1.0 to 1.5")
    return found


def _refuse_other_problem(summary: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """ProbeOutputError when HPL solved another problem than the input asks for: then the input was not read."""
    _ranks(summary)
    for name, key in (("n", "HPL_N"), ("nb", "HPL_NB"), ("p", "HPL_nprow"), ("q", "HPL_npcol")):
        if name in asked and summary.get(key) != asked[name]:
            raise ProbeOutputError(f"{key}={one_line(summary.get(key, 'nothing'))}", f"{asked[name]}, as in the input")


def _refuse_misfit(summary: Mapping[str, str]) -> None:
    """ProbeOutputError when the rate of HPL is not its work over its time, as closely as both were printed."""
    rate, took = (span(summary.get(key, "")) for key in ("HPL_Tflops", "HPL_time"))
    if rate is None or took is None or took[0] <= 0:
        return
    order = float(summary["HPL_N"])
    work = (2 / 3 * order + 3 / 2) * order**2 / 1e12
    if not (rate[0] * took[0] * 0.98 <= work <= rate[1] * took[1] * 1.02):
        found = f"HPL_Tflops={one_line(summary['HPL_Tflops'])} and HPL_time={one_line(summary['HPL_time'])}"
        raise ProbeOutputError(found, f"the work of N={summary['HPL_N']} over its time")


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


def _number(summary: Mapping[str, str], key: str) -> float | None:
    """The value of ``key``; None for a part that was not run, which is not there or is -1."""
    text = summary.get(key, "-1")
    number = float(text) if _NUMBER.fullmatch(text) else 0.0
    if number == -1:
        return None
    if not 0 < number < _ABSURD:
        raise ProbeOutputError(f"{key}={one_line(text)}", "a number above 0, or -1 for a part that was not run")
    return number


UNITS = {name: unit for name, (_, unit, _) in _KEYS.items()}
"""The unit of every metric, by its name after ``hpcc.``."""
