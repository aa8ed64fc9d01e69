"""Parts and components asked for by name: ``b1>leaf1`` is a directed link, ``wide>tor/2`` its second member."""

from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.parts import Parts
from benchconsole.topology.model.fabric import LinkId


class NamedParts:
    """The parts of one fabric and its components by name."""

    def __init__(self, parts: Parts, components: Components) -> None:
        self.parts = parts
        self.components = components

    def number(self, name: str) -> int:
        ends, _, member = name.partition("/")
        source, sink = ends.split(">")
        links = self.parts.graph.fabric.links
        link = links.get(LinkId(f"{source}--{sink}")) or links[LinkId(f"{sink}--{source}")]
        way = self.parts.graph.way(link, source)
        return self.parts.member(way, int(member) - 1) if member else way

    def name(self, part: int) -> str:
        way = self.parts.graph.direction(self.parts.way(part))
        member = self.parts.member_of(part)
        end = self.parts.graph.fabric.links[way.link].other(way.source)
        return f"{way.source}>{end}" + ("" if member is None else f"/{member + 1}")

    def tell(self, component: Component) -> tuple[str, str, set[str]]:
        """Its kind, its device and the names of its parts."""
        return component.kind.value, component.device, set(map(self.name, component.parts))

    def holding(self, name: str) -> list[tuple[str, str, set[str]]]:
        return [self.tell(each) for each in self.components.holding(self.number(name))]

    def find(self, name: str, kind: ComponentKind, *, one_way: bool = True) -> Component:
        """The component of ``kind`` that holds a part; of a link between switches the first of two switches."""
        return next(
            each
            for each in self.components.holding(self.number(name))
            if each.kind is kind and each.is_one_way is one_way
        )
