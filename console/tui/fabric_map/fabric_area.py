"""The area of the fabric: what its map draws, a row for each tier, group, rack, nodes apart, link aside and network.

Of a part that is drawn alone it has the rows of that part; of a leaf or chassis also each uplink and each node.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.fabric_map.map_cells import CellContent, MapPicture, cell
from benchconsole.console.tui.fabric_map.map_section import MapSection
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack, RackGroup, read_shape
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.node_numbers import WorstNumbers
from benchconsole.console.tui.rows.link_glyphs import ratio
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView, State, worst
from benchconsole.console.view.wording import name_state
from benchconsole.probes.model.judgement import Verdict
from benchconsole.topology.element_names import link_name
from benchconsole.topology.model.fabric import Link, NodeId, SwitchId
from benchconsole.topology.units import Shown, Unit

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.heat_values import HeatValues


def list_fabric(view: RunView, section: MapSection | None = None, heat: "HeatValues | None" = None) -> Area:
    """The rows of the map from the top down; of racks and groups also what goes up, and down:up as it is and as built.

    ``down`` counts cables that a finding says are down: one that nothing loaded may be down, too. ``section`` is the
    part that is listed alone; ``heat`` adds the sign of each node, in the order of the map, and the worst of them.
    """
    shape = read_shape(view.fabric) if section is None else section.shape
    loads = (view_queries.find_rack_load(view, rack.uplinks).total for rack in shape.racks)
    scale = scale_for(Unit.BYTE_RATE, Shown.NETWORK, [load for load in loads if load is not None])
    columns = {
        "kind": Column("kind"), "state": Column("state"), "name": words("name"), "under": words("under"),
        "nodes": number("nodes"), "stand": words("nodes stand", 12), "links": number("links"),
        "cables": number("cables"), "down": number("cables down"), "leaves": number(f"leaves at {scale.symbol}"),
        "could": number(f"could {scale.symbol}"), "ratio": number("down:up"), "built": number("built"),
        "metric": Column("metric"), "value": number("worst"), "share": number("of exp"),
        "heat": words("heat", 16), "worst": words("heat worst", 12), "why": words("why", 20),
    }  # fmt: skip
    title = "Fabric" if section is None else f"Fabric > {sanitize(' > '.join(section.path))}"
    note = "" if heat is None else describe_heat(heat)
    rows = _Rows(view, shape, scale, heat)
    return Area(title, columns, tuple(rows.list_all(section)), {"leaves": scale, "could": scale}, note)


def describe_heat(heat: "HeatValues") -> str:
    """The meaning of the signs of a heat map, whole and in one line."""
    return f"heat: {heat.choice.name}: {heat.describe_scale()[0]}"


class _Rows:
    """Makes the rows of one view."""

    def __init__(self, view: RunView, shape: FabricShape, scale: Scale, heat: "HeatValues | None" = None) -> None:
        self.view = view
        self.shape = shape
        self.scale = scale
        self.lost = view_queries.find_lost_members(view)
        self.busy = view_queries.find_busy_nodes(view)
        self.heat = heat
        self.picture = MapPicture(view, content=CellContent.HEAT, heat=heat)

    def list_all(self, section: MapSection | None) -> Iterator[Row]:
        """The rows of the map; of the innermost part its links and nodes, too."""
        yield from self._list_map()
        if section is not None and section.rack is not None:
            for link in section.uplinks:
                yield self._make("uplink", (), link_name(self.view.fabric, link), under=section.name, links=(link,))
            numbers = WorstNumbers(Blame(self.view.findings))
            yield from (self._make_node(node, section.name, numbers) for node in section.nodes)

    def _make_node(self, name: NodeId, under: str, numbers: WorstNumbers) -> Row:
        """A node with its worst number."""
        made = self._make("node", (), name, under=under, nodes=(name,))
        seen = self.view.nodes.get(name)
        if seen is None:
            return made
        found, said = numbers.find(seen), numbers.describe(seen)
        text = {**made.text, "metric": said.metric, "value": said.value, "share": said.share}
        record: Record = {}
        if found is not None:
            record = {
                "metric": found.metric, "unit": None if found.unit is None else found.unit.value,
                "value": take_finite(found.value),
                "expected": take_finite(found.expected) if isinstance(found, Verdict) else None,
            }  # fmt: skip
        why = made.words("why") or said.why
        return Row({**text, "why": why}, {}, {**made.record, **record, "why": why})

    def _list_map(self) -> Iterator[Row]:
        for tier in self.shape.tiers:
            yield self._make(tier.role.value, tier.switches, links=(*tier.cross, *tier.below))
        for link in self.shape.joins:
            yield self._make("join", (), link_name(self.view.fabric, link), links=(link,))
        for group in self.shape.groups:
            if group.name:
                yield self._make_going_up("group", group, "", group.down_now(self.lost), ())
            for rack in group.racks:
                yield self._make_going_up("rack", rack, group.name, rack.down, rack.nodes)
        for row in self.shape.servers:
            under = " ".join(row.switches)
            yield self._make(
                "apart", row.switches, row.name, under=under, nodes=row.nodes, links=self._find_ports(row.nodes)
            )
        for plane in self.shape.planes:
            yield self._make("network", plane.switches, plane.network, links=plane.links)

    def _find_ports(self, nodes: Iterable[NodeId]) -> tuple[Link, ...]:
        return tuple({link.id: link for node in nodes for link in self.view.fabric.links_at[node]}.values())

    def _make_going_up(self, kind: str, of: Rack | RackGroup, under: str, down: float, nodes: Sequence[NodeId]) -> Row:
        """A rack or a group: its uplinks, what leaves over them and what could."""
        made = self._make(kind, of.switches, of.name, under=under, nodes=nodes, links=of.uplinks)
        if not of.uplinks:
            return made
        load, full = (
            view_queries.find_rack_load(self.view, of.uplinks).total,
            view_queries.sum_payload(self.view, of.uplinks),
        )
        now, built = of.up(self.lost), of.up()
        text = {
            "leaves": self.scale.shown(load), "could": self.scale.shown(full), "ratio": ratio(down, now),
            "built": ratio(of.down, built) if now < built else "",
        }  # fmt: skip
        record: Record = {
            "unit": Unit.BYTE_RATE.value, "leaves": take_finite(load), "could": take_finite(full),
            "offered": down, "offered_built": of.down, "up": now, "up_built": built,
        }  # fmt: skip
        return Row({**made.text, **text}, {"leaves": load, "could": full}, {**made.record, **record})

    def _make(
        self, kind: str, switches: Sequence[SwitchId], name: str = "", *, under: str = "",
        nodes: Sequence[NodeId] = (), links: Sequence[Link] = (),
    ) -> Row:  # fmt: skip
        known = [self.view.nodes.get(node) for node in nodes]
        seen = [State.SKIPPED if each is None else view_queries.find_shown_state(each, self.busy) for each in known]
        asked = [each is not None and each.was_asked for each in known]
        stands = sorted(zip(seen, asked, strict=True), key=lambda pair: (pair[0].rank, not pair[1]))
        words = Counter(name_state(each, was_asked=was_asked) for each, was_asked in stands)
        ways = [view_queries.find_link(self.view, link.id) for link in links]
        state = worst(chain(seen, (each.state for each in ways)))
        stand = sorted(Counter(seen).items(), key=lambda pair: pair[0].rank)
        cables = sum(link.count for link in links)
        down = cables - sum(self.lost.get(link.id, link.count) for link in links)
        why = self._find_why(nodes, links)
        named = name or view_queries.format_names(switches)
        text = {
            "kind": kind, "state": name_state(state, was_asked=any(asked)), "name": sanitize(named),
            "under": sanitize(under), "nodes": f"{len(nodes):,}" if nodes else "",
            "stand": ", ".join(f"{count:,} {word}" for word, count in words.items()),
            "links": f"{len(links):,}" if links else "", "cables": f"{cables:,}" if links else "",
            "down": f"{down:,}" if down else "", "why": why,
        }  # fmt: skip
        record: Record = {
            "kind": kind, "state": state.value, "name": named, "under": under, "switches": list(switches),
            "nodes": list(nodes), "stand": {each.value: count for each, count in stand},
            "links": [link.id for link in links], "cables": cables, "cables_down": down, "why": why,
        }  # fmt: skip
        if self.heat is not None and nodes:
            text |= self._describe_heat(nodes, self.heat)
            record["heat"] = [self._record_heat(node, self.heat) for node in nodes]
        return Row(text, {}, record)

    def _describe_heat(self, nodes: Sequence[NodeId], heat: "HeatValues") -> dict[str, str]:
        """The cells of some nodes as the map draws them, and the worst of their values."""
        worst_node = heat.find_worst(nodes)
        cells = "".join(cell(self.picture, (node,)).text for node in nodes)
        said = "" if worst_node is None else heat.format_value(worst_node)
        return {"heat": cells, "worst": said if len(nodes) == 1 or not said else f"{said} {sanitize(worst_node or '')}"}

    def _record_heat(self, node: NodeId, heat: "HeatValues") -> Record:
        """A node that has no value has its sign alone."""
        found = heat.make_record(node)
        rank: Record = {"rank": heat.find_rank(node)} if found else {}
        return {"node": node, "sign": cell(self.picture, (node,)).text, **found, **rank}

    def _find_why(self, nodes: Sequence[NodeId], links: Sequence[Link]) -> str:
        """The finding on a link, else the own trouble of the worst node."""
        findings = (view_queries.find_link(self.view, link.id).finding for link in links)
        finding = next((each for each in findings if each is not None), None)
        if finding is not None:
            return sanitize(f"{finding.where} {finding.what}")
        found = view_queries.describe_own_fault(self.view, {*nodes})
        return "" if found is None else sanitize(found[1])
