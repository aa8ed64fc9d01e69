"""Writes a fabric as a Mermaid flowchart: groups are subgraphs, a line is as long as the tiers that it crosses."""

import re
from collections.abc import Iterable, Iterator
from functools import partial

from benchconsole.topology.exporters.diagram import Diagram, make_diagram, write_clusters
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.boxes import Box, Join

_CODED = re.compile(r"[^\w ,.:+=/()\[\]-]|(?<=\d)\.(?= )|^[-+](?= )")
"""Signs that are written as their numbers: of a meaning within quotes, or at the beginning of a list in Markdown."""


def export(fabric: Fabric) -> str:
    """``fabric`` as a flowchart (https://mermaid.js.org/syntax/flowchart.html), the same text for the same fabric."""
    return "".join(f"{line}\n" for line in _format_lines(make_diagram(fabric)))


def _format_lines(drawn: Diagram) -> Iterator[str]:
    yield "flowchart TB"
    yield from write_clusters(
        drawn.root,
        "  ",
        partial(_format_box, drawn),
        lambda each: [f"subgraph {each.id}[{_quote([each.label])}]"],
        "end",
    )
    tiers = {box.id: box.tier for box in drawn.outline.boxes}
    for edge in drawn.edges():
        ranks = max(tiers[edge.upper] - tiers[edge.lower], 1)
        # A line over so many ranks; dotted for what carries nothing now, or is no cable.
        dotted = edge.standby or edge.join is not Join.CABLE
        line = f"-{'.' * ranks}-" if dotted else "-" * (ranks + 2)
        words = drawn.words(edge)
        label = f"|{_quote(words)}|" if words else ""
        yield f"  {edge.upper} {line}{label} {edge.lower}"
    heavy = [box.id for box in drawn.outline.boxes if drawn.heavy(box)]
    if heavy:
        yield "  classDef worst stroke-width:4px"
        yield f"  class {','.join(heavy)} worst"


def _format_box(drawn: Diagram, box: Box) -> str:
    left, right = ("[(", ")]") if box.what == "storage" else ("[", "]")
    return f"{box.id}{left}{_quote(drawn.label(box))}{right}"


def _quote(lines: Iterable[str]) -> str:
    """A quoted string in which only letters, digits and harmless signs stand as they are."""
    coded = (_CODED.sub(lambda sign: f"#{ord(sign[0])};", line) for line in lines)
    return '"' + "<br/>".join(coded) + '"'
