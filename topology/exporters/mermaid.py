"""Writes a fabric as a Mermaid flowchart: groups are subgraphs, a line is as long as the tiers that it crosses."""

import re
from collections.abc import Iterable, Iterator

from benchconsole.topology.exporters.diagram import Cluster, Diagram, make_diagram
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.boxes import Edge, Join

_CODED = re.compile(r"[^\w ,.:+=/()\[\]-]|(?<=\d)\.(?= )|^[-+](?= )")
"""What is written as its number: signs that mean something within quotes, and what begins a list in Markdown."""


def export(fabric: Fabric) -> str:
    """``fabric`` as a flowchart (https://mermaid.js.org/syntax/flowchart.html), the same text for the same fabric."""
    drawn = make_diagram(fabric)
    return "".join(f"{line}\n" for line in _format_lines(drawn))


def _format_lines(drawn: Diagram) -> Iterator[str]:
    yield "flowchart TB"
    yield from _format_cluster(drawn, drawn.root, "  ")
    tiers = {box.id: box.tier for box in drawn.outline.boxes}
    for edge in drawn.edges():
        line = _format_edge(edge, max(tiers[edge.upper] - tiers[edge.lower], 1))
        words = drawn.words(edge)
        label = f"|{_quote(words)}|" if words else ""
        yield f"  {edge.upper} {line}{label} {edge.lower}"
    heavy = [box.id for box in drawn.outline.boxes if drawn.heavy(box)]
    if heavy:
        yield "  classDef worst stroke-width:4px"
        yield f"  class {','.join(heavy)} worst"


def _format_edge(edge: Edge, ranks: int) -> str:
    """A line over so many ranks; dotted for what carries nothing now, or is no cable."""
    if edge.standby or edge.join is not Join.CABLE:
        return f"-{'.' * ranks}-"
    return "-" * (ranks + 2)


def _format_cluster(drawn: Diagram, cluster: Cluster, indent: str) -> Iterator[str]:
    for box in cluster.boxes:
        left, right = ("[(", ")]") if box.what == "storage" else ("[", "]")
        yield f"{indent}{box.id}{left}{_quote(drawn.label(box))}{right}"
    for inner in cluster.inner.values():
        yield f"{indent}subgraph {inner.id}[{_quote([inner.label])}]"
        yield from _format_cluster(drawn, inner, f"{indent}  ")
        yield f"{indent}end"


def _quote(lines: Iterable[str]) -> str:
    """A quoted string in which only letters, digits and harmless signs stand as they are."""
    coded = (_CODED.sub(lambda sign: f"#{ord(sign[0])};", line) for line in lines)
    return '"' + "<br/>".join(coded) + '"'
