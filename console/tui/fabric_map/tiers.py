"""The lines above and below the racks: upper switches, lines between sites, other networks, nodes in no rack."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import (
    CellSpacing,
    MapLine,
    MapPicture,
    MapSpot,
    bracketed,
    cells,
    named,
    node_spots,
    slots_of,
)
from benchconsole.console.tui.fabric_map.shape import VIRTUAL, FabricShape, Plane, ServerRow, Tier
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, word_tone
from benchconsole.console.tui.rows.themes import MUTED, TEXT, Tone
from benchconsole.console.view.run_view import State, worst
from benchconsole.console.view.wording import format_share
from benchconsole.topology.model.fabric import Fabric, Link, LinkId, SwitchId
from benchconsole.topology.units import Unit, show
from benchconsole.topology.units import counted as count

GIGABIT = 1e9 / 8
_NAMES_AT = 10
_MOST_NAMES = 4
_MOST_LINKS = 4


class Tag(NamedTuple):
    """Words, the name of a switch, or the slots of a link, at a column that does not change."""

    x: int
    text: str
    tone: Tone = TEXT
    link: Link | None = None
    switch: SwitchId | None = None

    @property
    def end(self) -> int:
        """The first column after it."""
        return self.x + (measure_width(self.text) if self.link is None else link_glyphs.slots_width(self.link.count))

    @property
    def spot(self) -> MapSpot | None:
        """Where the cursor can stand on it."""
        if self.link is not None:
            return MapSpot(self.x, self.end - self.x, links=(self.link.id,))
        return None if self.switch is None else MapSpot(self.x, self.end - self.x, switches=(self.switch,))


def _draw_tags(
    tags: Sequence[Tag], below: tuple[Link, ...], worded: tuple[tuple[Link, str], ...], picture: MapPicture, width: int
) -> Row:
    """``spine    sp1 ───── ▮▮▯ ───── sp2   ▲ cross-link 80 of 120 G   all 20 cables of 10 links below``."""
    line = CellLine(width)
    for tag in tags:
        if tag.link is not None:
            bracketed(line, tag.x, tag.end - tag.x, slots_of(picture.view, tag.link), picture.mark, (tag.link,))
        elif tag.spot is not None:
            named(line, tag.spot, tag.text, tag.tone, picture.mark)
        else:
            line.to(tag.x).put(tag.text, tag.tone)
    for link, words in worded:
        line.put("   ").extend(_state_words(picture, link, words))
    if below:
        line.put("   ").extend(draw_cables(picture, below, line.room))
    return line.row()


def _state_words(picture: MapPicture, link: Link, words: str) -> Row:
    """``cross-link 120 G``, or ``▲ cross-link 80 of 120 G`` where members are missing."""
    seen = view_queries.find_link(picture.view, link.id)
    up = link.count if seen.members_up is None else seen.members_up
    built = gigabits_of(link.capacity)
    if up < link.count:
        left = gigabits_of(link.capacity * up / link.count).removesuffix(" G")
        return (sign(seen.state), CellText(f" {words} {left} of {built}"), *_live_words(picture, link))
    wan = f", {show(link.wan.rtt, Unit.SECOND)}" if link.wan is not None and link.wan.rtt is not None else ""
    lanes = "".join(f", VLAN {lane.vlan} {gigabits_of(lane.capacity)}" for lane in link.channels)
    return (CellText(f"{words} {built}{wan}{lanes}".strip(), MUTED), *_live_words(picture, link))


def _live_words(picture: MapPicture, link: Link) -> Row:
    """The load of a link between equals now, to the right and to the left; nothing where no test that runs uses it."""
    if picture.loads is None:
        return ()
    leftward, rightward = picture.loads.find_both((link,), (link.a,))
    if not leftward.tests and not rightward.tests:
        return ()
    said = (f"{arrow} {format_share(each.share)}" for arrow, each in (("→", rightward), ("←", leftward)) if each.tests)
    return (CellText(f"  now {'  '.join(said)}"),)


def draw_cables(picture: MapPicture, links: Sequence[Link], room: int) -> Row:
    """How many links go down, and how many of their members are missing; shorter where there is no room."""
    lost = view_queries.find_lost_members(picture.view)
    total = sum(link.count for link in links)
    up = sum(lost.get(link.id, link.count) for link in links)
    # "all" is said of what was seen to carry: a cable that nothing loaded may be down.
    seen = all(view_queries.find_link(picture.view, link.id).measured is not None for link in links)
    every = f"{up:,} of " if up < total else "all " if total > 1 and seen else ""
    long = f"{every}{count(total, 'cable')} of {count(len(links), 'link')} below"
    words = next(
        (words for words in (long, f"{every}{count(total, 'cable')} below") if measure_width(words) < room), ""
    )
    return (CellText(words, TEXT if up < total else MUTED),)


def gigabits_of(value: float) -> str:
    """byte/s as a nominal speed in one word: ``120 G``."""
    return f"{value / GIGABIT:,.4g} G" if value < 10_000 * GIGABIT else f"{value / GIGABIT:,.0f} G"


def lines_above(fabric: Fabric, shape: FabricShape, width: int) -> list[MapLine]:
    """The tiers from the top down, then what joins racks that no tier joins."""
    peers = {link for pair in fabric.mlags for link in pair.peer}
    made: list[MapLine] = []
    for tier in shape.tiers:
        made.append(_tier_line(tier, shape, peers, width))
        made += _link_lines("", tier.cross, peers, width) if _crosses(tier) is None else ()
    made += _link_lines(_join_name(fabric, shape.joins), shape.joins, peers, width)
    return made


def _join_name(fabric: Fabric, joins: Sequence[Link]) -> str:
    if any(link.wan is not None for link in joins):
        return "wan"
    return "cables" if joins and joins[0].a in fabric.nodes else "joined"


def _crosses(tier: Tier) -> Link | None:
    """The one link between the two switches of a tier."""
    return tier.cross[0] if len(tier.switches) == 2 and len(tier.cross) == 1 else None


def _tier_line(tier: Tier, shape: FabricShape, peers: set[LinkId], width: int) -> MapLine:
    tags = [Tag(1, tier.role.value, MUTED)]
    cross, tops = _crosses(tier), {*shape.top}
    if cross is not None:
        tags += _joined(_NAMES_AT, cross, "─" * (5 if width >= 100 else 3), switches=True)
    elif len(tier.switches) > _MOST_NAMES:
        words = f"{len(tier.switches):,} switches, {sanitize(tier.switches[0])} to {sanitize(tier.switches[-1])}"
        tags.append(Tag(_NAMES_AT, words, switch=tier.switches[0]))
    else:
        for switch in tier.switches:
            tags.append(Tag(tags[-1].end + 2 if len(tags) > 1 else _NAMES_AT, sanitize(switch), switch=switch))
    known = {*tier.switches}
    few = [link for link in tier.below if (link.a if link.b in known else link.b) in tops]
    written_out = 0 < len(few) <= _MOST_LINKS and len(few) == len(tier.below)
    if written_out:
        for link in few:
            far = sanitize(link.a if link.b in known else link.b)
            tags.append(Tag(tags[-1].end + 3, far, MUTED))
            tags.append(Tag(tags[-1].end + 1, "", link=link))
        tags.append(Tag(tags[-1].end + 2, gigabits_of(sum(link.capacity for link in few)), MUTED))
    worded = ((cross, _words(cross, peers)),) if cross is not None else ()
    below = () if written_out else tier.below
    return MapLine(partial(_draw_tags, tags, below, worded), _spots(tags, tier), is_live=True)


def _spots(tags: Iterable[Tag], tier: Tier | None = None) -> tuple[MapSpot, ...]:
    """Where the cursor can stand; one name stands for all switches of a tier that are not written out."""
    found = [spot for tag in tags if (spot := tag.spot) is not None]
    if tier is not None and len(tier.switches) > _MOST_NAMES:
        found = [spot._replace(switches=tier.switches) if spot.switches else spot for spot in found]
    return tuple(found)


def _words(link: Link, peers: set[LinkId]) -> str:
    return "WAN" if link.wan is not None else "peer link" if link.id in peers else "cross-link"


def _joined(x: int, link: Link, stroke: str, *, switches: bool) -> Iterator[Tag]:
    """``a ───── ▮▮ ───── b`` from column ``x``."""
    ends = [SwitchId(end) if switches else None for end in (link.a, link.b)]
    yield (first := Tag(x, sanitize(link.a), switch=ends[0]))
    yield (left := Tag(first.end + 1, stroke, MUTED))
    yield (port := Tag(left.end + 1, "", link=link))
    yield (right := Tag(port.end + 1, stroke, MUTED))
    yield Tag(right.end + 1, sanitize(link.b), switch=ends[1])


def _link_lines(name: str, links: Sequence[Link], peers: set[LinkId], width: int) -> list[MapLine]:
    """A line for each link between equals; all in one where there are many."""
    if len(links) > _MOST_LINKS:
        cables = count(sum(link.count for link in links), "cable")
        words = f"{count(len(links), 'link')} across, {cables}, {gigabits_of(sum(link.capacity for link in links))}"
        tags = (Tag(1, name, MUTED), Tag(_NAMES_AT, words))
        spot = MapSpot(_NAMES_AT, measure_width(words), links=tuple(link.id for link in links))
        return [MapLine(partial(_draw_tags, tags, (), ()), (spot,))]
    made: list[MapLine] = []
    for place, link in enumerate(links):
        tags_of = [Tag(1, name if not place else "", MUTED)]
        tags_of += _joined(_NAMES_AT, link, "─" * (5 if width >= 100 else 3), switches=False)
        words = "" if name in ("wan", "cables") else _words(link, peers)
        made.append(MapLine(partial(_draw_tags, tags_of, (), ((link, words),)), _spots(tags_of), is_live=True))
    return made


def _draw_plane(plane: Plane, nodes: int, spot: MapSpot, picture: MapPicture, width: int) -> Row:
    """``mgmt     sw1 sw2   128 nodes at 1 G``, and how many of its cables are up where some are not."""
    line = CellLine(width).to(1).put(clip_text(sanitize(plane.network), _NAMES_AT - 2), MUTED)
    named(line, spot, plane_name(plane), MUTED, picture.mark)
    speeds = sorted({link.capacity for link in plane.links})
    each = " to ".join(dict.fromkeys(gigabits_of(speed) for speed in (speeds[0], speeds[-1])))
    line.put(f"   {count(nodes, 'node')} at {each} each   ", MUTED)
    lost = view_queries.find_lost_members(picture.view)
    down = sum(link.count - lost.get(link.id, link.count) for link in plane.links)
    state = worst(view_queries.find_link(picture.view, link.id).state for link in plane.links)
    if down or state in (State.FAIL, State.WATCH):
        line.extend((sign(state), CellText(f" {count(down, 'cable')} down" if down else " too slow", word_tone(state))))
    return line.row()


def plane_name(plane: Plane) -> str:
    """Its switches, folded where they are many."""
    return view_queries.format_names(plane.switches)


def _draw_servers(
    servers: ServerRow,
    cells_at: int,
    end: int,
    first: bool,
    spots: tuple[MapSpot, ...],
    picture: MapPicture,
    width: int,
) -> Row:
    """Some nodes that stand in no rack; the first line of their row has its name."""
    line = CellLine(width).to(1)
    if first:
        line.put(clip_text(sanitize(servers.name), cells_at - 2), MUTED)
        under = " ".join(sanitize(switch) for switch in servers.switches)
        if under not in servers.name and line.at + 2 + measure_width(under) < cells_at:
            line.put("  ").put(under, MUTED)
    origin = cells_at - 1
    used = spots[-1].x + 2 - origin if spots else 1
    line.to(origin).extend(cells(picture, spots, origin, min(used, max(width - origin - 1, 1))))
    words = _server_words(picture, servers) if first else ()
    if line.room > 12 and words:
        line.to(max(line.at + 2, end))
        for text, tone in words:
            line.put(clip_text(text, max(line.room - 1, 0)), tone)
    return line.row()


def _server_words(picture: MapPicture, servers: ServerRow) -> Row:
    """The nodes of a row that stand worst, by name; else why they stand apart."""
    seen = [picture.view.nodes.get(node) for node in servers.nodes]
    state = worst(view_queries.find_shown_state(node, picture.busy) for node in seen if node is not None)
    if state not in (State.FAIL, State.UNREACHABLE, State.WATCH, State.HELD, State.UNKNOWN):
        return (CellText(_apart(picture, servers), MUTED),)
    nodes = [node.node.id for node in seen if node is not None and view_queries.find_shown_state(node) is state]
    first = next((node for node in seen if node is not None and view_queries.find_shown_state(node) is state), None)
    what = sanitize(first.finding.what) if first is not None and first.finding is not None else ""
    return (CellText(f"{view_queries.format_names(nodes)} ", word_tone(state)), CellText(what or state.value, MUTED))


def _apart(picture: MapPicture, servers: ServerRow) -> str:
    fabric = picture.view.fabric
    first = fabric.nodes[servers.nodes[0]]
    if servers.kind == VIRTUAL:
        hosts = {fabric.nodes[node].host for node in servers.nodes}
        return f"on {count(len(hosts), 'host')}"
    if first.forwards:
        return "forwards between " + " and ".join(sanitize(switch) for switch in servers.switches)
    return "" if fabric.legs(first.id) else "not cabled"


def servers_at(shape: FabricShape, width: int) -> int:
    """Column of the cells of nodes in no rack: behind the longest name, in a third of the screen."""
    names = [" ".join(sanitize(word) for word in dict.fromkeys((row.kind, *row.switches))) for row in shape.servers]
    return min(max([_NAMES_AT, *(measure_width(name) + 4 for name in names)]), max(width // 3, _NAMES_AT))


def lines_below(fabric: Fabric, shape: FabricShape, width: int, cells_at: int, spacing: CellSpacing) -> list[MapLine]:
    """Nodes in no rack, then the other networks of those that are in one."""
    made: list[MapLine] = []
    for row in shape.servers:
        some = max(_fitting(width - cells_at - 1, spacing), spacing.fold)
        end = cells_at + spacing.width(min(some, max(len(each.nodes) for each in shape.servers))) + 3
        for start in range(0, len(row.nodes), some):
            here = row.nodes[start : start + some]
            spots = node_spots(here, cells_at, spacing)
            made.append(MapLine(partial(_draw_servers, row, cells_at, end, not start, spots), spots))
    for plane in shape.planes:
        nodes = len({link.a for link in plane.links})
        links = tuple(link.id for link in plane.links)
        spot = MapSpot(_NAMES_AT, measure_width(plane_name(plane)), links=links, switches=plane.switches)
        made.append(MapLine(partial(_draw_plane, plane, nodes, spot), (spot,)))
    return made


def _fitting(room: int, spacing: CellSpacing) -> int:
    """How many nodes fit into ``room`` columns, in fours where there are so many."""
    cells_that_fit = next((n for n in range(room, 0, -1) if spacing.x(n - 1) < room), 1)
    return (cells_that_fit // 4 * 4 or cells_that_fit) * spacing.fold
