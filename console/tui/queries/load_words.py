"""Words of the load that running tests put on links now: the numbers of one place, who tells them, what limits them.

Nothing of it is judged. Between rounds, and where no test tells a number, the words say so.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import NOT_MEASURED, format_share
from benchconsole.topology.element_names import name_ends
from benchconsole.topology.model.fabric import Fabric, Link, LinkId, NodeId, SwitchId
from benchconsole.topology.units import counted, network_rate

if TYPE_CHECKING:
    from benchconsole.console.view.link_loads import LinkLoads, WayLoad
    from benchconsole.topology.capacity.limit_names import Limit

NO_ROUND = "no round runs; wires show what was measured"
NOBODY_TELLS = "no test of this round has told a rate; wires show what was measured"


class LoadPlace(Struct, frozen=True):
    """Links together: their name, the devices on their inner side, and the words for away from these and to them."""

    name: str
    links: tuple[Link, ...]
    inside: tuple[str, ...]
    outward: str
    inward: str


class LoadWords(Struct, frozen=True):
    """``numbers`` in both directions, what should ``limit`` the flows, and how many of them have ``told``.

    Numbers and what was told are in several words, the longest first.
    """

    numbers: tuple[str, ...]
    limit: str = ""
    told: tuple[str, ...] = ("",)


def find_load_place(
    fabric: Fabric, nodes: Sequence[NodeId], links: Sequence[LinkId], switches: Sequence[SwitchId]
) -> LoadPlace:
    """The links of what the cursor stands on: all of nodes, those that lead up from switches, or ``links``."""
    if switches:
        return _find_switch_links(fabric, switches)
    if nodes:
        devices = tuple(dict.fromkeys(fabric.nodes[node].host or node for node in nodes))
        legs = dict.fromkeys(link for device in devices for link in fabric.legs(device))
        return LoadPlace(format_names(nodes), tuple(legs), devices, "out", "in")
    return describe_links(fabric, [fabric.links[link] for link in links])


def describe_links(fabric: Fabric, links: Sequence[Link]) -> LoadPlace:
    """Links from their lower ends up; between equals from one end to the other."""
    first = links[0]
    name = name_ends(first, min(first.a, first.b, key=fabric.tier))
    name = name if len(links) == 1 else f"{counted(len(links), 'link')}, {name} first"
    if fabric.tier(first.a) == fabric.tier(first.b):
        ends = f"to {sanitize(first.b)}", f"to {sanitize(first.a)}"
        return LoadPlace(sanitize(name), tuple(links), (first.a,), *ends)
    inside = tuple(min(link.a, link.b, key=fabric.tier) for link in links)
    return LoadPlace(sanitize(name), tuple(links), inside, "up", "down")


def _find_switch_links(fabric: Fabric, switches: Sequence[SwitchId]) -> LoadPlace:
    """The links of switches to the tiers above, or to those below where there is none."""
    every = dict.fromkeys((switch, link) for switch in switches for link in fabric.links_at[switch])
    above = [link for switch, link in every if fabric.tier(link.other(switch)) > fabric.tier(switch)]
    below = [link for switch, link in every if fabric.tier(link.other(switch)) < fabric.tier(switch)]
    words = ("up", "down") if above else ("down", "up")
    links = tuple(dict.fromkeys(above or below))
    name = f"{format_names(switches)}, {counted(len(links), 'link')} {'up' if above else 'down'}"
    return LoadPlace(name, links, tuple(switches), *words)


def describe_load(view: RunView, loads: "LinkLoads | None", place: LoadPlace | None) -> LoadWords:
    """The load of ``place`` now, or of the fullest link; why there is none."""
    if loads is None:
        return LoadWords((NOBODY_TELLS if view.current is not None else NO_ROUND,))
    fullest = "" if place is not None else "fullest: "
    if place is None:
        way = loads.find_fullest()
        if way is None:
            return LoadWords((f"none of {counted(loads.tests, 'flow')} tells a number now",))
        place = describe_links(view.fabric, [way[0]])
    if not place.links:
        return LoadWords((f"{place.name} has no link",))
    inward, outward = loads.find_both(place.links, place.inside, names_limits=True)
    unplaced = f"; routing of {counted(loads.unplaced, 'flow')} is not said" if loads.unplaced else ""
    split = ", by ideal split" if inward.is_split or outward.is_split else ""
    if not inward.tests + outward.tests:
        return LoadWords((f"{place.name}   no test that runs now crosses {'it' if len(place.links) == 1 else 'them'}",))
    tests, telling = inward.tests + outward.tests, inward.telling + outward.telling
    told = f"{telling:,} of {counted(tests, 'flow')} {'tell' if tests != 1 else 'tells'}"
    head = f"{fullest}{place.name}"
    return LoadWords(
        tuple(
            f"{head}   {_format_way(place.outward, outward, detail)}   {_format_way(place.inward, inward, detail)}"
            for detail in (2, 1, 0)
        ),
        _format_limits(view.fabric, (outward, inward)),
        tuple(dict.fromkeys((f"{told}{split}{unplaced}", told))),
    )


def _format_way(word: str, load: "WayLoad", detail: int) -> str:
    """``up 37.4 of 99.0 Gb/s (38 %), expected 49.5``; ``up –`` where no test tells, ``down 0`` where none crosses."""
    if not load.tests:
        return f"{word} 0"
    full = network_rate(load.capacity)
    carried = NOT_MEASURED if load.carried is None else _drop_unit(network_rate(load.carried), full)
    least = "at least " if load.is_partial else ""
    share = f" ({format_share(load.share)})" if detail and load.share is not None else ""
    expected = f", expected {_drop_unit(network_rate(load.expected), full)}" if detail > 1 else ""
    return f"{word} {least}{carried} of {full}{share}{expected}"


def _drop_unit(rate: str, full: str) -> str:
    """``37.4`` beside ``99.0 Gb/s``; another unit is said."""
    number, _, unit = rate.partition(" ")
    return number if full.endswith(f" {unit}") else rate


def _format_limits(fabric: Fabric, loads: Iterable["WayLoad"]) -> str:
    """The limits that should hold the flows back, the commonest first."""
    from benchconsole.topology.capacity.limit_names import name_limit  # loads numpy, which the first frame lacks

    held: Counter[Limit] = Counter()
    for load in loads:
        held.update(dict(load.limits))
    if not held:
        return "limit: the rate that they are held to"
    (first, flows), *others = held.most_common()
    more = f" and {len(others)} more" if others else ""
    return f"limit: {sanitize(name_limit(fabric, first))} ({counted(flows, 'flow')}){more}"
