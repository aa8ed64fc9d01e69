"""Node classes whose numbers contradict each other: modules and memory, processors and cores, peak and its basis.

The basis of a peak is read where it is a product, such as ``24 cores x 16 FLOP x 2.1 GHz``: numbers with words, one of
them a frequency. Other bases are words for people, and nothing is said of them.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Hardware
from benchconsole.topology.units import Shown, Unit, UnitError, counted, memory_size, parse, percent, show

ROUNDING = 0.005
"""Documents give three digits; only what differs by more than that contradicts."""

_REMARK = re.compile(r"\([^()]*\)")
_TIMES = re.compile(r"\s+x\s+|\s*[×*]\s*")
_FACTOR = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(?:\s*([A-Za-z][A-Za-z /-]{0,40}))?")


@dataclass(frozen=True, slots=True)
class PeakBasis:
    """A basis that is a product: FLOP/s of one node, its clock in Hz, and its cores (None where none are named)."""

    product: float
    clock: float
    cores: float | None


def read_basis(text: str) -> PeakBasis | None:
    """The product that ``text`` is; None where it is no product with one clock."""
    product, clocks, cores = 1.0, list[float](), None
    for part in _TIMES.split(_REMARK.sub("", text).strip()):
        match = _FACTOR.fullmatch(part.strip())
        if match is None:
            return None
        number, word = float(match[1]), (match[2] or "").strip()
        if word.endswith("Hz"):
            try:
                number = parse(part, Unit.PER_SECOND)
            except UnitError:
                return None
            clocks.append(number)
        elif word.lower() in ("core", "cores"):
            cores = number
        product *= number
    return PeakBasis(product, clocks[0], cores) if len(clocks) == 1 else None


def list_findings(fabric: Fabric) -> Iterator[StaticFinding]:
    """Every contradiction of the classes that nodes are of, once for all classes that say the same."""
    classes = {node.hardware.name: node.hardware for node in fabric.nodes.values()}
    alike = group_by_key(
        (found, name) for name, hardware in classes.items() for found in _list_contradictions(hardware)
    )
    for (severity, code, text), names in alike.items():
        yield StaticFinding(severity, code, ", ".join(names), text)


_Found = tuple[Severity, str, str]
"""Severity, code and text of what one class says against itself."""


def _list_contradictions(hardware: Hardware) -> Iterator[_Found]:
    yield from _check_memory(hardware)
    yield from _check_cores(hardware)
    basis = read_basis(hardware.peak_basis or "")
    if basis is not None and hardware.peak is not None:
        yield from _check_peak(hardware, hardware.peak, basis)


def _read_number(hardware: Hardware, name: str) -> float | None:
    value = hardware.facts.get(name)
    return value if isinstance(value, float) else None


def _differ(one: float, other: float) -> bool:
    return not math.isclose(one, other, rel_tol=ROUNDING)


def _check_memory(hardware: Hardware) -> Iterator[_Found]:
    total, number, size = (_read_number(hardware, f"memory.{name}") for name in ("total", "dimms", "dimm_size"))
    if total is not None and number is not None and size is not None and _differ(total, number * size):
        product = f"{counted(round(number), 'DIMM')} of {memory_size(size)} are {memory_size(number * size)}"
        yield Severity.ERROR, "class-memory", f"{product}, the declared total is {memory_size(total)}"


def _check_cores(hardware: Hardware) -> Iterator[_Found]:
    sockets, cores = (_read_number(hardware, f"cpu.{name}") for name in ("sockets", "cores"))
    if sockets and cores is not None and cores % sockets:
        text = f"{cores:g} cores do not share out over {sockets:g} sockets; cores are those of all sockets together"
        yield Severity.ERROR, "class-cores", text


def _check_peak(hardware: Hardware, peak: float, basis: PeakBasis) -> Iterator[_Found]:
    cores, clock = (_read_number(hardware, f"cpu.{name}") for name in ("cores", "clock"))
    shown = show(peak, Unit.FLOP_RATE)
    if _differ(basis.product, peak):
        text = f"peak_basis {hardware.peak_basis} is {show(basis.product, Unit.FLOP_RATE)}, peak says {shown}"
        yield Severity.ERROR, "class-peak", text
    if basis.cores is not None and cores is not None and basis.cores != cores:
        text = f"peak_basis counts {basis.cores:g} cores, cpu.cores says {cores:g}"
        yield Severity.ERROR, "class-peak-cores", text
    if clock is not None and _differ(basis.clock, clock):
        at_clock = peak * clock / basis.clock
        counted_clock, declared = (show(value, Unit.PER_SECOND, Shown.FREQUENCY) for value in (basis.clock, clock))
        text = (
            f"the peak of {shown} counts {counted_clock}, cpu.clock says {declared}: at that the peak is"
            f" {show(at_clock, Unit.FLOP_RATE)}, and 80 % of the one is {percent(0.8 * peak / at_clock)} of the other"
        )
        yield Severity.WARNING, "class-clock", text
