"""Elements by name: ``:link`` and ``:switch`` show them in the fabric, ``:chassis`` and ``:zoom`` draw a part of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.app.orders import Orders
from benchconsole.topology.element_names import link_name
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import SwitchRole

if TYPE_CHECKING:
    from benchconsole.console.tui.fabric_map.map_section import MapSection
    from benchconsole.topology.model.fabric import Fabric


class ElementOrders(Orders):
    """The cursor of Fabric goes to a link or a switch; a chassis, or another part of the map, is drawn alone."""

    @property
    def _fabric(self) -> "Fabric | None":
        view = self._session.view
        return None if view is None else view.fabric

    def list_links(self) -> Sequence[str]:
        """The ids of all links: they have no blanks, as the names in sentences have."""
        return () if self._fabric is None else tuple(map(sanitize, self._fabric.links))

    def list_switches(self) -> Sequence[str]:
        """The names of all switches."""
        return () if self._fabric is None else tuple(map(sanitize, self._fabric.switches))

    def list_chassis(self) -> Sequence[str]:
        """The names of all chassis: those that the file groups, and those of chassis switches."""
        return tuple(map(sanitize, self._find_chassis()))

    def list_parts(self) -> Sequence[str]:
        """The names of all parts of the map: sites, pods, leaves, chassis."""
        return tuple(map(sanitize, self._find_parts()))

    def show_link(self, name: str) -> None:
        """Show a link by its id (``leaf1--spine1``), or as sentences name it (``leaf1 to spine1``)."""
        fabric = self._fabric
        if fabric is not None:
            named = {link_name(fabric, link): str(link.id) for link in fabric.links.values()}
            self._show("link", name, named | {str(each): str(each) for each in fabric.links})

    def show_switch(self, name: str) -> None:
        self._show("switch", name, {} if self._fabric is None else {str(each): each for each in self._fabric.switches})

    def show_chassis(self, name: str) -> None:
        self._draw("chassis", name, self._find_chassis())

    def show_part(self, name: str) -> None:
        """Draw a part of the map alone."""
        self._draw("part of the map", name, self._find_parts())

    def _draw(self, kind: str, name: str, parts: "Mapping[str, MapSection]") -> None:
        if name in parts:
            from benchconsole.console.tui.screens.zoom import ZoomScreen

            section = parts[name]
            self._navigation.go_to("fabric", base=True)
            self._navigation.open(ZoomScreen(section, section.shape, self._session.find_metrics))
        elif self._fabric is not None:
            self._say_none(kind, name, parts)

    def _find_chassis(self) -> "Mapping[str, MapSection]":
        fabric, parts = self._fabric, self._find_parts()
        if fabric is None:
            return {}
        grouped = {group.name for group in fabric.group_of("chassis").values()}
        return {
            name: part
            for name, part in parts.items()
            if part.rack is not None
            and "/" not in name
            and (
                name in grouped or any(fabric.switches[each].role is SwitchRole.CHASSIS for each in part.rack.switches)
            )
        }

    def _find_parts(self) -> "Mapping[str, MapSection]":
        fabric = self._fabric
        shape = None if fabric is None else self._navigation.fabric.find_shape(fabric)
        if fabric is None or shape is None:
            return {}
        from benchconsole.console.tui.fabric_map.map_section import list_named_sections

        return list_named_sections(fabric, shape)

    def _show(self, kind: str, name: str, known: Mapping[str, str]) -> None:
        if name in known:
            self._navigation.show_in_fabric(known[name])
        elif self._fabric is not None:
            self._say_none(kind, name, known)

    def _say_none(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Say that there is none of that name, with the one that was most likely meant."""
        near = find_near(name, known)
        hint = "" if near is None else f"; did you mean {sanitize(near)}?"
        self._navigation.say(f"no {kind} {sanitize(name)}{hint}", wrong=True)
