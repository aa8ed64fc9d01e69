"""Writes a fabric as a D2 diagram: sites, pods, racks and chassis are containers."""

from collections.abc import Iterable, Iterator
from functools import partial

from benchconsole.topology.exporters.diagram import Diagram, make_diagram, replace_unprintable, write_clusters
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.boxes import Box, Join


def export(fabric: Fabric) -> str:
    """``fabric`` in D2 (https://d2lang.com), the same text for the same fabric."""
    return "".join(f"{line}\n" for line in _format_lines(make_diagram(fabric)))


def _format_lines(drawn: Diagram) -> Iterator[str]:
    yield f"# {replace_unprintable(drawn.outline.name)}"
    yield "direction: down"
    yield from write_clusters(
        drawn.root, "", partial(_format_box, drawn), lambda each: [f"{each.id}: {_quote([each.label])} {{"], "}"
    )
    for edge in drawn.edges():
        ends = [".".join((*(cluster.id for cluster in drawn.paths[box]), box)) for box in (edge.upper, edge.lower)]
        words = drawn.words(edge)
        label = f": {_quote(words)}" if words else ""
        dashed = edge.standby or edge.join is not Join.CABLE
        style = (" " if words else ": ") + "{style.stroke-dash: 4}" if dashed else ""
        yield f"{' -- '.join(ends)}{label}{style}"


def _format_box(drawn: Diagram, box: Box) -> str:
    look = ["shape: cylinder"] if box.what == "storage" else []
    look += ["style.stroke-width: 4"] if drawn.heavy(box) else []
    style = f" {{{'; '.join(look)}}}" if look else ""
    return f"{box.id}: {_quote(drawn.label(box))}{style}"


def _quote(lines: Iterable[str]) -> str:
    r"""A quoted string; ``\`` would begin an escape and ``$`` a substitution."""
    signs = str.maketrans({"\\": "\\\\", '"': '\\"', "$": "\\$"})
    return '"' + "\\n".join(line.translate(signs) for line in lines) + '"'
