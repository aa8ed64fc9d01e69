"""The page of ``check``: head, picture, tables and findings, for a terminal of any width."""

import re
from collections import Counter
from collections.abc import Iterator

from benchconsole.console.static_report.check_tables import make_tables
from benchconsole.console.text.cells import to_ascii, wrap_text
from benchconsole.console.text.picture import fabric_picture
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import format_table, format_title
from benchconsole.console.view.wording import SEVERITIES
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.element_names import name_ends
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchconsole.topology.outline.fold import make_outline
from benchconsole.topology.units import counted as count

_LINK = re.compile(r"[^\s,;:()]+--[^\s,;:()]+")


def format_page(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The lines of the page, none of them read as markup."""
    for line in format_head(fabric):
        yield from wrap_text(sanitize(line), width, indent="  ")
    yield ""
    yield from fabric_picture.draw(make_outline(fabric), width, ascii_only=ascii_only)
    for table in make_tables(fabric, report):
        if table.rows:
            yield ""
            lines = format_table(table, width, ascii_only=ascii_only)
            yield from map(to_ascii, lines) if ascii_only else lines
    yield ""
    yield from format_findings(fabric, report, width, ascii_only=ascii_only)


def format_head(fabric: Fabric) -> Iterator[str]:
    """What there is, counted."""
    roles = Counter(node.role.value for node in fabric.nodes.values())
    switches = Counter(switch.role.value for switch in fabric.switches.values())
    cables = sum(link.count for link in fabric.links.values())
    lags = sum(link.is_lag for link in fabric.links.values())
    nodes = f"{count(len(fabric.nodes), 'node')} ({_count_roles(roles)})" if fabric.nodes else "no node"
    yield f"{fabric.name}: {nodes}"
    of = "switch" if len(fabric.switches) == 1 else "switches"
    words = [f"{len(fabric.switches):,} {of} ({_count_roles(switches)})" if fabric.switches else "no switch"]
    words += [count(cables, "cable"), count(lags, "LAG")]
    words += [count(len(fabric.mlags), "MLAG pair")] if fabric.mlags else []
    words += [count(len(fabric.vlans), "VLAN")] if fabric.vlans else []
    yield ", ".join(words)
    if fabric.parameters:
        yield "with " + ", ".join(f"{name} = {value:,}" for name, value in fabric.parameters.items())


def _count_roles(roles: Counter[str]) -> str:
    return ", ".join(f"{number:,} {role}" for role, number in roles.items())


def format_findings(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """Every finding as a sentence, and how many of each severity."""
    numbers = Counter(each.severity for each in report.findings)
    said = ", ".join(count(numbers[severity], severity.value) for severity in Severity if numbers[severity])
    yield format_title(f"Findings: {said or 'none'}", width, ascii_only=ascii_only)
    for each in report.findings:
        said = each.text if each.text.startswith(each.where) else f"{each.where}: {each.text}"
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
