"""Owns the page that ``check`` prints: head, picture, findings, tables, for a terminal of any width."""

import re
from collections import Counter
from collections.abc import Iterator

from console import picture
from console.checking import capacity, redundancy, sharing, storage
from console.checking.table import headed, rendered, wrapped
from console.wording import SEVERITIES, count, in_ascii
from topology.analysis.finding import Severity
from topology.analysis.report import StaticReport
from topology.model import Fabric, LinkId
from topology.outline import outline

_LINK = re.compile(r"[^\s,;:()]+--[^\s,;:()]+")


def page(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The lines of the page, none of them read as markup."""
    for line in head(fabric):
        yield from wrapped(line, width, indent="  ")
    yield ""
    yield from picture.draw(outline(fabric), width, ascii_only=ascii_only)
    for part in (capacity, redundancy, sharing, storage):
        for table in part.tables(fabric, report):
            if table.rows:
                yield ""
                yield from (
                    in_ascii(line) if ascii_only else line for line in rendered(table, width, ascii_only=ascii_only)
                )
    yield ""
    yield from findings(fabric, report, width, ascii_only=ascii_only)


def head(fabric: Fabric) -> Iterator[str]:
    """What there is, counted."""
    roles = Counter(node.role.value for node in fabric.nodes.values())
    switches = Counter(switch.role.value for switch in fabric.switches.values())
    cables = sum(link.count for link in fabric.links.values())
    lags = sum(link.is_lag for link in fabric.links.values())
    yield f"{fabric.name}: {count(len(fabric.nodes), 'node')} ({_counted(roles)})"
    of = "switch" if len(fabric.switches) == 1 else "switches"
    words = [f"{len(fabric.switches):,} {of} ({_counted(switches)})" if fabric.switches else "no switch"]
    words += [count(cables, "cable"), count(lags, "LAG")]
    words += [count(len(fabric.mlags), "MLAG pair")] if fabric.mlags else []
    words += [count(len(fabric.vlans), "VLAN")] if fabric.vlans else []
    yield ", ".join(words)
    if fabric.parameters:
        yield "with " + ", ".join(f"{name} = {value:,}" for name, value in fabric.parameters.items())


def _counted(roles: Counter[str]) -> str:
    return ", ".join(f"{number:,} {role}" for role, number in roles.items())


def findings(fabric: Fabric, report: StaticReport, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """Every finding as a sentence, and how many of each severity."""
    numbers = Counter(each.severity for each in report.findings)
    said = ", ".join(count(numbers[severity], severity.value) for severity in Severity if numbers[severity])
    yield from headed(f"Findings: {said or 'none'}", width, ascii_only=ascii_only)
    for each in report.findings:
        said = each.text if each.text.startswith(each.where) else f"{each.where}: {each.text}"
        sign = SEVERITIES[each.severity]
        line = f"{sign.ascii if ascii_only else sign.glyph} {sign.word:8}{_spoken(fabric, said)} [{each.code}]"
        yield from wrapped(in_ascii(line) if ascii_only else line, width, indent=" " * 10)


def _spoken(fabric: Fabric, text: str) -> str:
    """``text`` with ``a to b`` for the ids of links; whatever else has two dashes in it stays."""

    def name(match: re.Match[str]) -> str:
        link = fabric.links.get(LinkId(match[0]))
        return match[0] if link is None else f"{link.a} to {link.b}"

    return _LINK.sub(name, text)
