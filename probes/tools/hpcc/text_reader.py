"""Reader of ``hpccoutf.txt`` of HPC Challenge 1.0 to 1.5: the summary of a sound run, whole or not at all.

Numbers are printed in powers of ten (``GBs`` is 10^9 byte/s, and so are the numbers of STREAM, which has no unit in
its key). A run is sound when it says ``Success=1``, when every check passed, when it solved the problem that was asked
for, and when the rate of HPL is the work of its order over its time.

Source: HPCC 1.5.0, ``src/io.c`` (the summary), ``RandomAccess/``, ``STREAM/stream.c``, ``DGEMM/`` and README.
"""

import re
from collections.abc import Mapping, Sequence

from benchconsole.probes.api import ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import refuse_lines, shorten, strip_lines
from benchconsole.probes.readers.numbers import format_size, parse_count, parse_span
from benchconsole.probes.readers.readings import known_labels

_BEGIN, _END = "Begin of Summary section.", "End of Summary section."
_FAILED = re.compile(
    r"\bFAILED\b|\(failed\)|Failed Validation|HPL ERROR|^Node\(s\) with error [1-9]"
    r"|^[1-9][0-9]* tests completed and failed residual checks"
)
_OTHER_UNIT = re.compile(r"^Function\s+Rate \(MB/s\)")
_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,3})?")
_ABSURD = 1e30
_INPUT = {"n": "HPL_N", "nb": "HPL_NB", "p": "HPL_nprow", "q": "HPL_npcol"}
_SIZES = {
    "hpl": ("HPL_N", 2, 8), "ptrans": ("PTRANS_n", 2, 8), "random_access": ("MPIRandomAccess_N", 1, 8),
    "fft": ("MPIFFT_N", 1, 16), "dgemm": ("DGEMM_N", 2, 8), "stream": ("STREAM_VectorSize", 1, 8),
}  # fmt: skip
"""Key of a number of elements, its power, and bytes of an element, by the part of HPC Challenge."""
_ENDINGS = {
    "_Tflops": (Unit.FLOP_RATE, 1e12),
    "_Gflops": (Unit.FLOP_RATE, 1e9),
    "_GUPs": (Unit.PER_SECOND, 1e9),
    "_usec": (Unit.SECOND, 1e-6),
}
"""Unit, and factor to the base unit, by the end of a key; all other keys are 10^9 byte/s."""

NUMBERS = {
    "hpl": ("HPL_Tflops", "solving a dense linear system (HPL)"),
    "ptrans": ("PTRANS_GBs", "transposing a matrix across all ranks (PTRANS)"),
    "random_access": ("MPIRandomAccess_GUPs", "random updates of a distributed table (MPIRandomAccess)"),
    "fft": ("MPIFFT_Gflops", "Fourier transform across all ranks (MPIFFT)"),
    "dgemm": ("StarDGEMM_Gflops", "matrix product on each rank, all at once (StarDGEMM)"),
    "dgemm_alone": ("SingleDGEMM_Gflops", "matrix product on one rank, the others idle (SingleDGEMM)"),
    "stream_copy": ("StarSTREAM_Copy", "memory copy of each rank, all at once (StarSTREAM)"),
    "stream_scale": ("StarSTREAM_Scale", "memory scale of each rank, all at once (StarSTREAM)"),
    "stream_add": ("StarSTREAM_Add", "memory add of each rank, all at once (StarSTREAM)"),
    "stream_triad": ("StarSTREAM_Triad", "memory triad of each rank, all at once (StarSTREAM)"),
    "stream_triad_alone": ("SingleSTREAM_Triad", "memory triad of one rank, the others idle (SingleSTREAM)"),
    "pingpong_latency": ("AvgPingPongLatency_usec", "half a round trip of 8 bytes, mean over pairs of ranks"),
    "pingpong_latency_max": ("MaxPingPongLatency_usec", "half a round trip of 8 bytes, slowest pair"),
    "pingpong_bandwidth": ("AvgPingPongBandwidth_GBytes", "ping-pong of 2 MB, mean over pairs of ranks"),
    "pingpong_bandwidth_min": ("MinPingPongBandwidth_GBytes", "ping-pong of 2 MB, slowest pair"),
    "ring_latency": ("RandomlyOrderedRingLatency_usec", "latency in a ring of random neighbours"),
    "ring_bandwidth": ("RandomlyOrderedRingBandwidth_GBytes", "bandwidth of each rank in a ring of random neighbours"),
    "natural_ring_latency": ("NaturallyOrderedRingLatency_usec", "latency in a ring in the order of ranks"),
    "natural_ring_bandwidth": (
        "NaturallyOrderedRingBandwidth_GBytes",
        "bandwidth of each rank in a ring in the order of ranks",
    ),
}
"""Key and meaning of each number of the summary, by its metric after ``hpcc.``."""


def find_unit(key: str) -> tuple[Unit, float]:
    """Unit, and factor to the base unit, of the number at ``key``."""
    return next((known for end, known in _ENDINGS.items() if key.endswith(end)), (Unit.BYTE_RATE, 1e9))


def parse_text(text: str, asked: Mapping[str, str] | None = None) -> Sequence[Reading]:
    """Every rate and time of the summary, in base units; ProbeOutputError when the run is not sound to its end.

    ``asked`` is ``n``, ``nb``, ``p`` and ``q`` of the input, where it is known.
    """
    lines = strip_lines(text)
    summary = _read_summary(lines)
    if summary.get("Success") != "1":
        raise ProbeOutputError(f"Success={shorten(summary.get('Success', 'nothing'))}", "Success=1 in the summary")
    refuse_lines(_FAILED, lines, "every check to pass")
    refuse_lines(_OTHER_UNIT, lines, "STREAM in GB/s, as HPC Challenge prints it")
    ranks = _count_ranks(summary)
    grid = {name: summary[key] for name, key in _INPUT.items() if parse_count(summary.get(key, "")) is not None}
    for name, key in _INPUT.items():
        if asked and name in asked and summary.get(key) != asked[name]:  # then the input was not read
            raise ProbeOutputError(f"{key}={shorten(summary.get(key, 'nothing'))}", f"{asked[name]}, as in the input")
    _refuse_misfit(summary)
    found = []
    for name, (key, _) in NUMBERS.items():
        if (number := _read_number(summary, key)) is not None:
            unit, factor = find_unit(key)
            marks = known_labels(tasks=ranks, **grid, **_find_size(summary, name))
            found.append(Reading(f"hpcc.{name}", number * factor, unit, marks, f"{key}={summary[key]}"))
    return found


def _find_size(summary: Mapping[str, str], name: str) -> dict[str, str]:
    """Bytes of the array, table or matrix that a part of HPC Challenge worked on, and the threads of STREAM."""
    key, power, each = next((size for part, size in _SIZES.items() if name.startswith(part)), ("", 1, 0))
    count = parse_count(summary.get(key, ""), 10**15)
    found = {"array_size": format_size(count**power * each)} if count else {}
    threads = parse_count(summary.get("STREAM_Threads", "")) if name.startswith("stream") else None
    return found | ({"threads": str(threads)} if threads else {})


def _count_ranks(summary: Mapping[str, str]) -> int:
    """All ranks; of the grid of HPL where a version does not count them."""
    rows, columns = (parse_count(summary.get(key, "")) for key in ("HPL_nprow", "HPL_npcol"))
    grid = rows * columns if rows and columns else None
    found = parse_count(summary["CommWorldProcs"]) if "CommWorldProcs" in summary else grid
    if not parse_count(summary.get("HPL_N", "")) or not found:
        raise ProbeOutputError("no HPL_N and CommWorldProcs in the summary", "the summary of HPC Challenge 1.0 to 1.5")
    return found


def _refuse_misfit(summary: Mapping[str, str]) -> None:
    """ProbeOutputError when the rate of HPL is not its work over its time, as closely as both were printed."""
    rate, took = (parse_span(summary.get(key, "")) for key in ("HPL_Tflops", "HPL_time"))
    if rate is None or took is None or took[0] <= 0:
        return
    order = float(summary["HPL_N"])
    work = (2 / 3 * order + 3 / 2) * order**2 / 1e12
    if not (rate[0] * took[0] * 0.98 <= work <= rate[1] * took[1] * 1.02):
        found = f"HPL_Tflops={shorten(summary['HPL_Tflops'])} and HPL_time={shorten(summary['HPL_time'])}"
        raise ProbeOutputError(found, f"the work of N={summary['HPL_N']} over its time")


def _read_summary(lines: Sequence[str]) -> dict[str, str]:
    """The keys of the one summary; a result file that was appended to holds several, of which none is ours for sure."""
    begins, ends = lines.count(_BEGIN), lines.count(_END)
    if begins != 1 or ends != 1 or lines.index(_BEGIN) > lines.index(_END):
        raise ProbeOutputError(f"{begins} beginnings and {ends} ends of a summary", "one whole summary")
    found: dict[str, str] = {}
    for line in lines[lines.index(_BEGIN) + 1 : lines.index(_END)]:
        key, is_pair, value = line.partition("=")
        if not is_pair or not re.fullmatch(r"[A-Za-z0-9_]+", key) or key in found:
            raise ProbeOutputError(shorten(line) or "an empty line", "lines of key=value in the summary, each key once")
        found[key] = value
    return found


def _read_number(summary: Mapping[str, str], key: str) -> float | None:
    """The value of ``key``; None for a part that was not run, which is not there or is -1."""
    text = summary.get(key, "-1")
    number = float(text) if _NUMBER.fullmatch(text) else 0.0
    if number == -1:
        return None
    if not 0 < number < _ABSURD:
        raise ProbeOutputError(f"{key}={shorten(text)}", "a number above 0, or -1 for a part that was not run")
    return number
