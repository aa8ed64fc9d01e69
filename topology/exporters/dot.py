"""Writes a fabric as a DOT graph for Graphviz: tiers are ranks; sites, pods, racks and chassis are clusters."""

from collections.abc import Iterable, Iterator
from functools import partial

from benchconsole.topology.exporters.diagram import Cluster, Diagram, make_diagram, replace_unprintable, write_clusters
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.boxes import Box, Join


def export(fabric: Fabric) -> str:
    """``fabric`` in the DOT language (https://graphviz.org/doc/info/lang.html), the same text for the same fabric."""
    return "".join(f"{line}\n" for line in _format_lines(make_diagram(fabric)))


def _format_lines(drawn: Diagram) -> Iterator[str]:
    yield f"graph {_quote([replace_unprintable(drawn.outline.name)])} {{"
    # Without newrank a rank that reaches over several clusters is not kept.
    yield '  graph [newrank=true, rankdir=TB, fontname="Helvetica"];'
    yield '  node [shape=box, fontname="Helvetica"];'
    yield '  edge [fontname="Helvetica", fontsize=10];'
    yield from write_clusters(drawn.root, "  ", partial(_format_box, drawn), _begin_cluster, "}")
    for boxes in group_by_key((box.tier, box) for box in drawn.outline.boxes).values():
        yield f"  {{ rank=same; {' '.join(f'{box.id};' for box in boxes)} }}"
    for edge in drawn.edges():
        label = f"label={_quote(drawn.words(edge))}"
        look = [label, "style=dashed"] if edge.standby or edge.join is not Join.CABLE else [label]
        yield f"  {edge.upper} -- {edge.lower} [{', '.join(look)}];"
    yield "}"


def _format_box(drawn: Diagram, box: Box) -> str:
    shape = ", shape=cylinder" if box.what == "storage" else ""
    pen = ", penwidth=3" if drawn.heavy(box) else ""
    return f"{box.id} [label={_quote(drawn.label(box))}{shape}{pen}];"


def _begin_cluster(cluster: Cluster) -> tuple[str, str]:
    return f"subgraph cluster_{cluster.id} {{", f"  label={_quote([cluster.label])};"


def _quote(lines: Iterable[str]) -> str:
    r"""A quoted string; ``\`` would begin an escape, ``&`` an entity of HTML."""
    signs = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
    return '"' + "\\n".join(line.translate(signs) for line in lines) + '"'
