"""The remarks of people on the places of the map: nodes, links and switches. Pure."""

from collections.abc import Mapping, Sequence

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import Remarked
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.view.remark_words import ELEMENTS, group_remarks
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.remark import About, RemarkSubject
from benchconsole.topology.element_names import link_name
from benchconsole.topology.model.fabric import LinkId, NodeId, SwitchId

_NAMED = 6
"""Places that are named while the cursor stands on none."""


def list_places(view: RunView) -> Mapping[str, Sequence[str]]:
    """The remarks on elements of the fabric, by their ids."""
    return group_remarks(view.remarks, ELEMENTS)


def name_place(view: RunView, node: NodeId | None, link: LinkId | None, switch: SwitchId | None) -> Remarked | None:
    """The subject of a remark on such a place, and its name; None where it is none."""
    if node is not None:
        return Remarked(RemarkSubject(About.NODE, node), f"node {sanitize(node)}")
    if link is not None:
        name = sanitize(link_name(view.fabric, view.fabric.links[link]))
        return Remarked(RemarkSubject(About.LINK, link), f"the link {name}")
    return None if switch is None else Remarked(RemarkSubject(About.SWITCH, switch), f"switch {sanitize(switch)}")


def tell_place(
    view: RunView, node: NodeId | None = None, link: LinkId | None = None, switch: SwitchId | None = None
) -> Sequence[str]:
    """The remarks on such a place; where there are none the places that have any."""
    places = list_places(view)
    own = next((places[name] for name in (node, link, switch) if name is not None and name in places), None)
    if own is not None or not places:
        return own or ()
    links = view.fabric.links
    names = [link_name(view.fabric, links[LinkId(each)]) if each in links else each for each in places]
    return (f"people spoke of {format_names(names, _NAMED)}",)
