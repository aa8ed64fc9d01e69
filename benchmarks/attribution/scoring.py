"""Findings held against the faults that were planted, from the side of the faults.

``NamedElement`` is what a reader is told by a finding; only ``FindingReader`` knows the form of findings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.detectable_loss import Fault as Detectable
from benchconsole.probes.model.judgement import Finding, Suspect
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchmarks.attribution.faults import Fault, FaultKind, Member


class Grade(IntEnum):
    """How well a fault was found, best first.

    ``EXACT``: element, kind and part are named alone. ``LAG``: the LAG or the bond of a cable is named alone, with the
    right number of members or legs that still carry: which one is lost only port counters tell, for the others carry
    its load. ``PART``: the right node or LAG, but not which leg or how many members. ``TIE``: only
    among others. ``OTHER``: another element that shares a cable with it. ``MISSED``: not at all.
    """

    EXACT = 0
    LAG = 1
    PART = 2
    TIE = 3
    OTHER = 4
    MISSED = 5


@dataclass(frozen=True, slots=True)
class NamedElement:
    """The element that a finding says is at fault, and the ``cables`` of the part that it means.

    ``is_tie``: it names further elements, and does not tell which it is; ``cables`` are those of all of them.
    ``switches`` are those that it names, alone or among others. ``members_up`` of a LAG and ``legs_up`` of a bond are
    how many still carry; None where that is not told.
    """

    suspect: Suspect
    element: str
    cables: frozenset[Member]
    links: frozenset[str]
    switches: frozenset[str]
    members_up: int | None
    legs_up: int | None
    is_tie: bool


@dataclass(frozen=True, slots=True)
class Score:
    """The grades of the faults of one run, and how many of its findings are what.

    ``named`` findings name one element; of these ``exact`` are EXACT and ``lag`` are LAG for a fault. Of ``placed``
    findings, which name anything, ``located`` share a cable with a fault. ``findings`` are all but ``warned``: those
    that rightly say that source ports do not mean what the file says.
    """

    grades: tuple[Grade, ...]
    findings: int
    named: int
    exact: int
    lag: int
    placed: int
    located: int
    warned: int


_NAME = r"[\w.-]+"
_MEMBER = r"(?:, member (?P<member>\d+) of \d+)?"
_NIC = re.compile(rf"(?P<node>{_NAME}) (?:in|out|NIC)\b(?:, leg to (?P<leg>{_NAME}))?{_MEMBER}")
_LINK = re.compile(rf"(?P<a>{_NAME}(?: and {_NAME})*) to (?P<b>{_NAME}(?: and {_NAME})*){_MEMBER}")
_LEGS = re.compile(r"what (\d+) of (\d+) legs carr(?:y|ies)")
_LISTED = re.compile(r"which of (.+): no test loaded")
_NODE_SUSPECTS = frozenset({Suspect.NIC, Suspect.NODE, Suspect.STORAGE})


AS_DETECTABLE: Mapping[FaultKind, tuple[Detectable, float]] = MappingProxyType(
    {
        FaultKind.NIC_ONE_WAY: (Detectable.NIC, 0.7),
        FaultKind.NIC: (Detectable.NIC, 0.7),
        FaultKind.LEG_LOST: (Detectable.LEG_LOST, 1.0),
        FaultKind.MEMBER_LOST: (Detectable.MEMBER_LOST, 1.0),
        FaultKind.CABLE: (Detectable.LINK, 0.9),
        FaultKind.CABLE_ONE_WAY: (Detectable.LINK, 0.9),
        FaultKind.SWITCH: (Detectable.SWITCH_HALF, 1.0),
        FaultKind.STORAGE: (Detectable.NIC, 0.7),
    }
)
"""Each kind's name in a report, and the share of its capacity that is gone; a cable of a LAG is like a lost member."""


class FindingReader:
    """Reads findings on one fabric as their reader would: the fields, and the names in their sentences."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric

    def read(self, finding: Finding) -> NamedElement | None:
        """The element that it names; None for a finding that names none."""
        if finding.suspect is Suspect.FABRIC:
            return None
        own = self._list_own(finding)
        listed = _LISTED.search(finding.cannot_tell)
        text = listed.group(1) if listed else ""
        switches = self._fabric.switches.keys() & {
            finding.element,
            *re.split("[,;] ", re.sub(r" and \d+ more$", "", text)),
        }
        others = frozenset((*self._list_places(text), *(each for name in switches for each in self._cables_at(name))))
        scope = own | frozenset(self._cables_at(finding.element)) if finding.element in self._fabric.nodes else own
        cables = own | others
        links = frozenset(link for link, _ in cables)
        switch = finding.suspect is Suspect.SWITCH
        several = not switch and finding.element not in self._fabric.nodes and len({link for link, _ in own}) > 1
        return NamedElement(
            suspect=finding.suspect,
            element=finding.element,
            cables=cables,
            links=links,
            switches=frozenset(switches),
            members_up=finding.members_up,
            legs_up=int(told.group(1)) if (told := _LEGS.search(finding.what)) else None,
            is_tie=several or not others <= scope,
        )

    def _list_own(self, finding: Finding) -> frozenset[Member]:
        """The cables of what the fields name."""
        if finding.suspect is Suspect.SWITCH or not (finding.links or finding.element in self._fabric.links):
            return frozenset(self._cables_at(finding.element))
        links = finding.links or (finding.element,)
        told = re.search(_MEMBER + "$", finding.where.partition(" (")[0])
        member = told.group("member") if told and len(links) == 1 else None
        return frozenset(each for link in links for each in self._members(link, member))

    def _list_places(self, text: str) -> Iterator[Member]:
        """The cables of all places that a list of them names."""
        for found in _NIC.finditer(text):
            node, leg = found.group("node"), found.group("leg")
            for link in self._fabric.links_at.get(node, ()) if node in self._fabric.nodes else ():
                if leg is None or link.other(node) == leg:
                    yield from self._members(link.id, found.group("member"))
        for found in _LINK.finditer(text):
            ends = [set(found.group(end).split(" and ")) for end in ("a", "b")]
            for link in (each for near in ends[0] for each in self._fabric.links_at.get(near, ())):
                if (link.a in ends[0] and link.b in ends[1]) or (link.b in ends[0] and link.a in ends[1]):
                    yield from self._members(link.id, found.group("member"))

    def _members(self, link: str, number: str | None) -> Iterator[Member]:
        """The member with this number, from 1; without one all of them."""
        members = range(self._fabric.links[LinkId(link)].count)
        yield from ((link, member) for member in members if number is None or member == int(number) - 1)

    def _cables_at(self, device: str) -> Iterator[Member]:
        for link in self._fabric.links_at[device]:
            yield from self._members(link.id, None)


def score(
    fabric: Fabric, faults: Sequence[Fault], findings: Sequence[Finding], *, ports_say_nothing: bool = False
) -> Score:
    """How well ``findings`` tell ``faults``; where ``ports_say_nothing`` that is a true finding, too."""
    reader = FindingReader(fabric)
    left = [each for each in findings if not (ports_say_nothing and each.where == "source ports")]
    read = [reader.read(each) for each in left]
    placed = [each for each in read if each is not None]
    grades = [[_grade(fabric, fault, each, placed) for each in placed] for fault in faults]
    best = [min(column, default=Grade.MISSED) for column in zip(*grades, strict=True)]
    return Score(
        grades=tuple(min(row, default=Grade.MISSED) for row in grades),
        findings=len(read),
        named=sum(not each.is_tie for each in placed),
        exact=best.count(Grade.EXACT),
        lag=best.count(Grade.LAG),
        placed=len(placed),
        located=sum(grade is not Grade.MISSED for grade in best),
        warned=len(findings) - len(left),
    )


def is_told_unseen(fabric: Fabric, fault: Fault, losses: Iterable[DetectableLoss]) -> bool:
    """Whether a report with these ``losses`` says that one of the kind of ``fault`` would not have been seen."""
    kind, gone = AS_DETECTABLE[fault.kind]
    if kind is Detectable.LINK and fabric.links[LinkId(fault.element)].is_lag:
        kind, gone = AS_DETECTABLE[FaultKind.MEMBER_LOST]
    return any(each.fault is kind and (not each.is_seen or (each.loss or 0.0) > gone) for each in losses)


def _grade(fabric: Fabric, fault: Fault, found: NamedElement, every: Sequence[NamedElement]) -> Grade:
    """The grade of one finding for one fault; ``every`` one of the run, for a node may be named leg by leg."""
    if found.cables.isdisjoint(fault.cables):
        return Grade.MISSED
    if fault.kind is FaultKind.SWITCH:
        held = Grade.TIE if found.is_tie or found.suspect is not Suspect.SWITCH else Grade.EXACT
        return held if fault.element in found.switches else Grade.OTHER
    if found.is_tie:
        return Grade.TIE
    if fault.kind in {FaultKind.MEMBER_LOST, FaultKind.CABLE, FaultKind.CABLE_ONE_WAY}:
        return _grade_cable(fabric, fault, found)
    if not _names_node(found, fault):
        return Grade.OTHER
    if fault.kind is FaultKind.LEG_LOST:
        if found.cables == fault.cables:
            return Grade.EXACT
        legs = len(fabric.active_legs(fault.element))
        return Grade.LAG if found.suspect in _NODE_SUSPECTS and found.legs_up == legs - 1 else Grade.PART
    told = {cable for each in every if not each.is_tie and _names_node(each, fault) for cable in each.cables}
    return Grade.EXACT if fault.cables <= told else Grade.PART


def _names_node(found: NamedElement, fault: Fault) -> bool:
    """Whether a finding names the node of a fault, or a leg of it."""
    is_node = found.element == fault.element and found.suspect is not Suspect.SWITCH
    return is_node or (found.links <= fault.links and found.suspect is not Suspect.SWITCH)


def _grade_cable(fabric: Fabric, fault: Fault, found: NamedElement) -> Grade:
    link = fabric.links[LinkId(fault.element)]
    if found.suspect in _NODE_SUSPECTS or found.links != {link.id}:
        return Grade.OTHER
    if found.cables == fault.cables:
        return Grade.EXACT
    left = {link.count - 1} if fault.kind is FaultKind.MEMBER_LOST else {link.count - 1, None}
    return Grade.LAG if len(found.cables) == link.count and found.members_up in left else Grade.PART
