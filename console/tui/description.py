"""Owns what the screens read out of static findings: which are alike, what they are about, where that stands.

Pure functions of a fabric and its findings; nothing here is a verdict, and nothing counts one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from console.view import RunView
from console.wording import count, plain
from topology.analysis.finding import Finding
from topology.errors import Position, SelectionError
from topology.model import Fabric, LinkId, NodeId, SwitchId


@dataclass(frozen=True, slots=True)
class Alike:
    """Static findings of one severity and code that are shown in one row; most often it is one."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The one that speaks for all."""
        return self.findings[0]


def rows_of(found: Sequence[Finding], *, folded: bool) -> tuple[Alike, ...]:
    """A row for each finding; for all of one severity and code where they are ``folded``."""
    if not folded:
        return tuple(Alike((each,)) for each in found)
    by_kind: dict[tuple[str, str], list[Finding]] = {}
    for each in found:
        by_kind.setdefault((each.severity, each.code), []).append(each)
    return tuple(Alike(tuple(some)) for some in by_kind.values())


def about(fabric: Fabric, where: str) -> tuple[str, ...]:
    """Names in the fabric that ``where`` stands for: one, a folded set of them, or the first of ``a and 3 more``."""
    if where in fabric.places or _known(fabric, where):
        return (where,)
    first = where.partition(" and ")[0]
    if first != where:
        return about(fabric, first)
    return tuple(name for name in _expanded(where) if name in fabric.places or _known(fabric, name))


@lru_cache(maxsize=64)
def _expanded(where: str) -> tuple[str, ...]:
    """The names of a folded set; none where it is not one, or too large."""
    from topology.selection import expand  # here: it imports ClusterShell

    try:
        return tuple(expand(where))
    except SelectionError:
        return ()


def _known(fabric: Fabric, name: str) -> bool:
    return name in fabric.nodes or name in fabric.switches or name in fabric.links


def elements(fabric: Fabric, where: str) -> tuple[str, ...]:
    """Nodes, switches and links that ``where`` is about; of groups, pairs and storage systems what they consist of."""
    return tuple(name for each in about(fabric, where) for name in _parts(fabric, each))


def _parts(fabric: Fabric, name: str) -> Collection[str]:
    if _known(fabric, name):
        return (name,)
    pair = next((pair for pair in fabric.mlags if pair.name == name), None)
    if pair is not None:
        return (*pair.peer, *pair.switches)
    group = next((group for group in fabric.groups if group.name == name), None)
    if group is not None:
        return sorted(group.members, key=lambda member: member not in fabric.switches)
    storage = fabric.storage.get(name)
    return () if storage is None else tuple(storage.servers)


def place(fabric: Fabric, where: str) -> Position | None:
    """Where in the file that stands which ``where`` is about; the first of several."""
    return next((fabric.places[name] for name in about(fabric, where) if name in fabric.places), None)


def speaks_of(view: RunView, names: Collection[str]) -> Finding | None:
    """The worst static finding about one of ``names``: by its own name first, then as one of a set."""
    found = view.static or ()
    own = next((each for each in found if each.where in names), None)
    return own or next((each for each in found if not {*elements(view.fabric, each.where)}.isdisjoint(names)), None)


def kind(fabric: Fabric, where: str) -> str:
    """What ``where`` is, in words: ``leaf switch S6000``, ``link of 2 cables``, ``5 leaf switches``."""
    names = about(fabric, where)
    if not names:
        return "the whole fabric" if where == fabric.name else "no element of the file"
    words = _kind_of_one(fabric, names[0])
    return words if len(names) == 1 else f"{len(names):,} of the kind {words}"


def _kind_of_one(fabric: Fabric, name: str) -> str:
    node, switch = fabric.nodes.get(NodeId(name)), fabric.switches.get(SwitchId(name))
    link = fabric.links.get(LinkId(name))
    if node is not None:
        host = f", virtual on {plain(node.host)}" if node.host is not None else ""
        return f"{node.role} node{host}"
    if switch is not None:
        return f"{switch.role} switch{f' {plain(switch.model)}' if switch.model else ''}"
    if link is not None:
        return f"link of {count(link.count, 'cable')}, {plain(link.a)} to {plain(link.b)}"
    if any(pair.name == name for pair in fabric.mlags):
        return "MLAG pair"
    group = next((group for group in fabric.groups if group.name == name), None)
    return group.kind if group is not None else "storage system" if name in fabric.storage else "part of the file"
