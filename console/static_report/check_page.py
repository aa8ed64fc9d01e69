"""The page of ``check``: verdict of the description, then picture, tables and further findings, for any width."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from benchconsole.console.static_report.check_tables import make_tables
from benchconsole.console.text.cells import to_ascii, wrap_text
from benchconsole.console.text.picture import fabric_picture
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import format_table, format_title
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.topology.analysis.end_to_end import EndToEnd
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.element_names import name_ends
from benchconsole.topology.model.fabric import Fabric, LinkId, Node, NodeId, Switch, SwitchId
from benchconsole.topology.outline.fold import make_outline
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, ratio

_LINK = re.compile(r"[^\s,;:()]+--[^\s,;:()]+")

FIRST_SCREEN = 24
"""Lines of a small terminal: the verdict ends within them."""


def format_page(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The lines of the page, none of them read as markup."""
    verdict, left = _make_verdict(fabric, report, width, ascii_only=ascii_only)
    yield from verdict
    yield ""
    yield from fabric_picture.draw(make_outline(report.cabled), width, ascii_only=ascii_only)
    for table in make_tables(fabric, report):
        if table.rows:
            yield ""
            lines = format_table(table, width, ascii_only=ascii_only)
            yield from map(to_ascii, lines) if ascii_only else lines
    if left:
        yield ""
        yield format_title(f"Further findings: {_count_severities(left)}", width, ascii_only=ascii_only)
        for each in left:
            yield from _format_finding(fabric, each, width, ascii_only=ascii_only)


def format_brief(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The verdict alone, on one screen."""
    verdict, left = _make_verdict(fabric, report, width, ascii_only=ascii_only)
    yield from verdict
    if left:
        yield f"{_count_severities(left)} more: --findings lists them"


def format_findings(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """Every finding as a sentence, errors first."""
    yield from _format_start(fabric, report, width, ascii_only=ascii_only)
    for each in report.findings:
        yield from _format_finding(fabric, each, width, ascii_only=ascii_only)


def _make_verdict(
    fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool
) -> tuple[list[str], list[StaticFinding]]:
    """The first screen, and the findings that it has no room for: notes, and what comes late in a long list."""
    lines = list(_format_start(fabric, report, width, ascii_only=ascii_only))
    left: list[StaticFinding] = []
    for each in report.findings:
        if each.code == "end-to-end" and each is _find_worst_end_to_end(report):
            continue  # the line of the worst ratio has said it
        said = list(_format_finding(fabric, each, width, ascii_only=ascii_only))
        # The last line of the screen is for what --brief adds.
        if left or each.severity is Severity.NOTE or len(lines) + len(said) >= FIRST_SCREEN:
            left.append(each)
        else:
            lines += said
    return lines, left


def _find_worst_end_to_end(report: StaticReport) -> StaticFinding | None:
    """The finding on the network that the line of the worst ratio speaks of."""
    worst = _find_worst_network(report)
    found = (each for each in report.findings if each.code == "end-to-end")
    return next((each for each in found if worst is not None and each.where == worst.worst.node), None)


def _find_worst_network(report: StaticReport) -> EndToEnd | None:
    """The network with the worst share, of equals the first."""
    told = [(share.ratio, each) for each in report.end_to_end if (share := each.told_share) is not None]
    return max(told, key=lambda each: each[0])[1] if told else None


def _format_start(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool) -> Iterator[str]:
    yield format_title(f"Findings: {_count_severities(report.findings)}", width, ascii_only=ascii_only)
    for line in (*format_head(fabric), *_format_worst_ratio(report)):
        text = to_ascii(line) if ascii_only else sanitize(line)
        yield from wrap_text(text, width, indent="  ")


def _count_severities(findings: Sequence[StaticFinding]) -> str:
    numbers = Counter(each.severity for each in findings)
    said = ", ".join(count(numbers[severity], severity.value) for severity in Severity if numbers[severity])
    return said or "none"


def _format_worst_ratio(report: StaticReport) -> Iterator[str]:
    """The worst share of all networks, and the switches that make it."""
    network = _find_worst_network(report)
    share = None if network is None else network.told_share
    if network is None or share is None:
        return
    gets = f"{share.node} gets {network_rate(share.fair)} of {network_rate(share.legs)}"
    if network.flat:
        yield f"Worst ratio: {ratio(share.ratio)}, {gets} when each node sends to each"
        return
    on_way = [
        f"{each.switch} ({ratio(each.ratio)})"
        for name in network.worst.switches
        for each in report.oversubscription
        if each.switch == name and name not in network.top and each.ratio is not None and each.ratio > 1
    ]
    by = f", by {', '.join(on_way)}" if on_way else ""
    narrow = any((each.code, each.severity) == ("ceiling-below-cables", Severity.WARNING) for each in report.findings)
    of = " of cables alone" if narrow else ""
    yield f"Worst ratio{of}: {ratio(share.ratio)}, {gets} toward {network.worst.switches[-1]}{by}"


def format_head(fabric: Fabric) -> Iterator[str]:
    """The elements of the fabric, counted."""
    members = Counter(map(attrgetter("count"), fabric.links.values()))
    cables = sum(each * links for each, links in members.items())
    lags = members.total() - members[1]
    nodes = f"{count(len(fabric.nodes), 'node')} ({_count_roles(fabric.nodes)})" if fabric.nodes else "no node"
    yield f"{fabric.name}: {nodes}"
    of = "switch" if len(fabric.switches) == 1 else "switches"
    words = [f"{len(fabric.switches):,} {of} ({_count_roles(fabric.switches)})" if fabric.switches else "no switch"]
    words += [count(cables, "cable"), count(lags, "LAG")]
    words += [count(len(fabric.mlags), "MLAG pair")] if fabric.mlags else []
    words += [count(len(fabric.vlans), "VLAN")] if fabric.vlans else []
    yield ", ".join(words)
    if fabric.parameters:
        yield "with " + ", ".join(f"{name} = {value:,}" for name, value in fabric.parameters.items())


def _count_roles(devices: Mapping[NodeId, Node] | Mapping[SwitchId, Switch]) -> str:
    roles = Counter(map(attrgetter("role"), devices.values()))
    return ", ".join(f"{number:,} {role.value}" for role, number in roles.items())


def _format_finding(fabric: Fabric, each: StaticFinding, width: int, *, ascii_only: bool) -> Iterator[str]:
    said = each.text if each.where in each.text else f"{each.where}: {each.text}"
    sign = SEVERITIES[each.severity]
    head = f"{sign.ascii if ascii_only else sign.glyph} {sign.word:8}"
    text = f"{_name_links(fabric, said)} [{each.code}]"
    yield from wrap_text(to_ascii(text) if ascii_only else sanitize(text), width, head)


def _name_links(fabric: Fabric, text: str) -> str:
    """``text`` with ``a to b`` for the ids of links; whatever else has two dashes in it stays."""

    def name(match: re.Match[str]) -> str:
        link = fabric.links.get(LinkId(match[0]))
        return match[0] if link is None else name_ends(link)

    return _LINK.sub(name, text)
