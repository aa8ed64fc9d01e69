"""Resolves the section ``stated``: what documents say about ratios, cuts and totals of the machine."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.grouping import KINDS
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.claims import END_TO_END, Claim
from benchconsole.topology.model.fabric import NodeId, SwitchRole
from benchconsole.topology.units import Unit, UnitError, parse_link_speed

_RATIO = re.compile(r"\s*(\d+(?:\.\d+)?)\s*:\s*(\d+(?:\.\d+)?)\s*")
_NUMBER = re.compile(r"\s*(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})\s*")


def _parse_ratio(text: str) -> float:
    match = _RATIO.fullmatch(text)
    if match is None or float(match[2]) == 0:
        raise UnitError(text, "a ratio such as 2:1")
    return float(match[1]) / float(match[2])


def _parse_number(text: str) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None or not float(found := match[1].replace(",", "")):
        raise UnitError(text, "a whole number above 0 such as 640")
    return float(found)


_RATIOS: Mapping[str, Callable[[str], float]] = {"oversubscription": _parse_ratio, "bisection": parse_link_speed}
_TOTALS: Mapping[str, Callable[[str], float] | Unit] = {
    "nodes": _parse_number,
    "sockets": _parse_number,
    "cores": _parse_number,
    "memory": Unit.BYTE,
    "disk": Unit.BYTE,
    "peak": Unit.FLOP_RATE,
}
_READERS = {**_RATIOS, **_TOTALS}


def read_claims(
    written: Sequence[raw.RawStated | None],
    report: ProblemReport,
    scopes: Sequence[str],
    chosen: Callable[[str, Location], tuple[NodeId, ...] | None],
) -> Iterator[Claim]:
    """The claims of ``stated``. ``scopes`` are those of ratios and cuts, ``chosen`` reads a selection of nodes."""
    for index, each in enumerate(written):
        here: Location = ("stated", index)
        if each is None:
            continue
        named = [name for name in _READERS if getattr(each, name) is not None]
        if len(named) != 1:
            report.add(here, " and ".join(named) or "no claim", f"one of {', '.join(_READERS)}")
            continue
        what = named[0]
        value = report.quantity(getattr(each, what), (*here, what), _READERS[what])
        if what in _TOTALS:
            nodes = chosen(each.of or "@all", (*here, "of"))
            if value is not None and nodes is not None:
                yield Claim(what, each.of or "", value, each.source, nodes)
        elif _check_scope(report, each.of, scopes, (*here, "of")) and value is not None:
            yield Claim(what, each.of or END_TO_END, value, each.source)


def list_scopes(written: raw.RawTopology, switches: Sequence[str]) -> list[str]:
    """The names that a ratio or a cut may be stated of."""
    known = [END_TO_END, *(role.value for role in SwitchRole), *KINDS.values(), *switches]
    return [*known, *(name for section in KINDS for name in getattr(written, section))]


def _check_scope(report: ProblemReport, scope: str | None, known: Sequence[str], here: Location) -> bool:
    if scope is None or scope in known:
        return True
    report.add(here, f"unknown scope {scope!r}", "end-to-end, a role, a kind or a name", find_near(scope, known))
    return False
