"""Questions to static findings: which are alike, which elements they are about, where those stand in the file.

Pure functions of a fabric and its findings; nothing here is a verdict, and nothing counts one.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache

from msgspec import Struct

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.errors import Position, SelectionError
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId, SwitchId
from benchconsole.topology.units import counted as count


class AlikeFindings(Struct, frozen=True):
    """Static findings of one severity and code that are shown in one row; most often it is one."""

    findings: tuple[StaticFinding, ...]

    @property
    def first(self) -> StaticFinding:
        """The one that speaks for all."""
        return self.findings[0]


def fold_findings(found: Sequence[StaticFinding], *, folded: bool) -> tuple[AlikeFindings, ...]:
    """A row for each finding; for all of one severity and code where they are ``folded``."""
    if not folded:
        return tuple(AlikeFindings((each,)) for each in found)
    by_kind: dict[tuple[str, str], list[StaticFinding]] = {}
    for each in found:
        by_kind.setdefault((each.severity, each.code), []).append(each)
    return tuple(AlikeFindings(tuple(some)) for some in by_kind.values())


def find_names(fabric: Fabric, where: str) -> tuple[str, ...]:
    """Names in the fabric that ``where`` stands for: one, a folded set of them, or the first of ``a and 3 more``."""
    if where in fabric.places or _known(fabric, where):
        return (where,)
    first = where.partition(" and ")[0]
    if first != where:
        return find_names(fabric, first)
    return tuple(name for name in _expanded(where) if name in fabric.places or _known(fabric, name))


@lru_cache(maxsize=64)
def _expanded(where: str) -> tuple[str, ...]:
    """The names of a folded set; none where it is not one, or too large."""
    from benchconsole.topology.selection import expand  # here: it imports ClusterShell

    try:
        return tuple(expand(where))
    except SelectionError:
        return ()


def _known(fabric: Fabric, name: str) -> bool:
    return name in fabric.nodes or name in fabric.switches or name in fabric.links


def list_elements(fabric: Fabric, where: str) -> tuple[str, ...]:
    """Nodes, switches and links that ``where`` is about; of groups, pairs and storage systems what they consist of."""
    return tuple(name for each in find_names(fabric, where) for name in _parts(fabric, each))


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


def find_place(fabric: Fabric, where: str) -> Position | None:
    """Where in the file that stands which ``where`` is about; the first of several."""
    return next((fabric.places[name] for name in find_names(fabric, where) if name in fabric.places), None)


def find_static_finding(view: RunView, names: Collection[str]) -> StaticFinding | None:
    """The worst static finding about one of ``names``: by its own name first, then as one of a set."""
    found = view.static or ()
    own = next((each for each in found if each.where in names), None)
    return own or next(
        (each for each in found if not {*list_elements(view.fabric, each.where)}.isdisjoint(names)), None
    )


def describe_element(fabric: Fabric, where: str) -> str:
    """The kind of ``where``, in words: ``leaf switch S6000``, ``link of 2 cables``, ``5 leaf switches``."""
    names = find_names(fabric, where)
    if not names:
        return "the whole fabric" if where == fabric.name else "no element of the file"
    words = _kind_of_one(fabric, names[0])
    return words if len(names) == 1 else f"{len(names):,} of the kind {words}"


def _kind_of_one(fabric: Fabric, name: str) -> str:
    node, switch = fabric.nodes.get(NodeId(name)), fabric.switches.get(SwitchId(name))
    link = fabric.links.get(LinkId(name))
    if node is not None:
        host = f", virtual on {sanitize(node.host)}" if node.host is not None else ""
        return f"{node.role} node{host}"
    if switch is not None:
        return f"{switch.role} switch{f' {sanitize(switch.model)}' if switch.model else ''}"
    if link is not None:
        return f"link of {count(link.count, 'cable')}, {sanitize(link.a)} to {sanitize(link.b)}"
    if any(pair.name == name for pair in fabric.mlags):
        return "MLAG pair"
    group = next((group for group in fabric.groups if group.name == name), None)
    return group.kind if group is not None else "storage system" if name in fabric.storage else "part of the file"
