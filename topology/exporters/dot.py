"""Writes a fabric as a DOT graph for Graphviz: tiers are ranks; sites, pods, racks and chassis are clusters."""

from collections.abc import Iterable, Iterator

from benchconsole.topology.exporters.diagram import Cluster, Diagram, make_diagram, replace_unprintable
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.boxes import Box, Join


def export(fabric: Fabric) -> str:
    """``fabric`` in the DOT language (https://graphviz.org/doc/info/lang.html), the same text for the same fabric."""
    drawn = make_diagram(fabric)
    return "".join(f"{line}\n" for line in _format_lines(drawn))


def _format_lines(drawn: Diagram) -> Iterator[str]:
    yield f"graph {_quote([replace_unprintable(drawn.outline.name)])} {{"
    # Without newrank a rank that reaches over several clusters is not kept.
    yield '  graph [newrank=true, rankdir=TB, fontname="Helvetica"];'
    yield '  node [shape=box, fontname="Helvetica"];'
    yield '  edge [fontname="Helvetica", fontsize=10];'
    yield from _format_cluster(drawn, drawn.root, "  ")
    for boxes in drawn.tiers():
        yield f"  {{ rank=same; {' '.join(f'{box.id};' for box in boxes)} }}"
    for edge in drawn.edges():
        label = f"label={_quote(drawn.words(edge))}"
        look = [label, "style=dashed"] if edge.standby or edge.join is not Join.CABLE else [label]
        yield f"  {edge.upper} -- {edge.lower} [{', '.join(look)}];"
    yield "}"


def _format_cluster(drawn: Diagram, cluster: Cluster, indent: str) -> Iterator[str]:
    for box in cluster.boxes:
        yield f"{indent}{box.id} [label={_quote(drawn.label(box))}{_choose_look(drawn, box)}];"
    for inner in cluster.inner.values():
        yield f"{indent}subgraph cluster_{inner.id} {{"
        yield f"{indent}  label={_quote([inner.label])};"
        yield from _format_cluster(drawn, inner, f"{indent}  ")
        yield f"{indent}}}"


def _choose_look(drawn: Diagram, box: Box) -> str:
    shape = ", shape=cylinder" if box.what == "storage" else ""
    return shape + (", penwidth=3" if drawn.heavy(box) else "")


def _quote(lines: Iterable[str]) -> str:
    r"""A quoted string; ``\`` would begin an escape, ``&`` an entity of HTML."""
    signs = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
    return '"' + "\\n".join(line.translate(signs) for line in lines) + '"'
