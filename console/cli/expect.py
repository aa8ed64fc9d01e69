"""Says what flows that run at once should reach on a described fabric."""

import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError, SelectionError
from benchconsole.topology.model.fabric import Fabric, Flow, Link
from benchconsole.topology.model.failed_elements import remove_elements

if TYPE_CHECKING:
    from benchconsole.console.static_report.expected_flows import ExpectedFlows
    from benchconsole.topology.capacity.expect import Expectation, OverHashes
    from benchconsole.topology.capacity.flow_groups import FlowSet
    from benchconsole.topology.capacity.flow_model import Model

MOST_FLOWS = 200_000
"""Flows that are taken one by one: by models that choose for each of them, and in JSON."""

MODELS = ("fluid", "hash", "polarised", "steered")


@click.command("expect")
@common.topology_argument
@click.argument("flows", nargs=-1, metavar="FROM>TO...")
@click.option("--model", type=click.Choice(MODELS), default="fluid", help="How flows choose LAG members and next hops.")
@click.option("--streams", type=click.IntRange(1, 128), default=1, help="Parallel streams of each pair.")
@click.option("--one-to-one", is_flag=True, help="Pair the nodes in order instead of each node with each other.")
@click.option(
    "--without",
    "down",
    multiple=True,
    metavar="ELEMENT",
    help="An element that is down: a switch, a node, NODE:PORT, LINK, or LINK:MEMBERS.",
)
@click.option("--network", default="", metavar="NAME", help="The network that the flows take, where there are several.")
@click.option(
    "--draws", type=click.IntRange(1, 100_000), default=200, help="How many hashes the models hash and polarised try."
)
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), default=120.0, help="How long hashes are tried at most."
)
@click.option(
    "--demands",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Flows as CSV: from, to, and as one likes rate, streams, pairs.",
)
@click.option(
    "--placement",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Which flow is on which member of a link, as CSV: from, to, link, member.",
)
@click.option(
    "--storage",
    is_flag=True,
    help="Layers of storage systems limit too: what comes to servers is written, what leaves read.",
)
@click.option("--links", is_flag=True, help="How full every link is.")
@click.option("--ends", is_flag=True, help="Rates that every node sends and receives.")
@click.option("--bracket", is_flag=True, help="Bounds of every routing: hashes, optimum, cut, and which one judges.")
@common.parameters_option
@click.option("--json", "as_json", is_flag=True, help="As JSON, in bit/s of payload.")
@pause_collector()
def command(
    topology: Path, flows: tuple[str, ...], model: str, streams: int, one_to_one: bool, down: tuple[str, ...],
    network: str, draws: int, seconds: float, demands: Path | None, placement: Path | None, storage: bool,
    links: bool, ends: bool, bracket: bool, given: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Say what FLOWS should reach on TOPOLOGY when all run at once, and what limits each. Connects to nothing.

    A flow is written FROM>TO with node sets or groups, in quotes: "n[1-16]>@storage", and names ports where nodes have
    several: "g01:p1>g02:p1". After it may stand streams=8, and rate=5Gb/s for the most that each of its flows asks
    for. Rates are max-min fair and payload; links are named as check names them: "leaf1 to spine1", or leaf1--spine1.
    A flow takes the data network that both of its nodes are in, unless --network names another.
    """
    from benchconsole.console.static_report.expected_flows import format_page, make_record
    from benchconsole.topology.capacity.flow_groups import FlowSet
    from benchconsole.topology.capacity.storage_limits import add_storage_limits, list_read_and_written, list_unlimited

    fabric = common.read_topology(topology, given=given)
    try:
        fabric = _remove_elements(fabric, down)
        fabric = add_storage_limits(fabric) if storage else fabric
        asked = _list_asked(fabric, flows, demands, FlowSet((), (), one_to_one, streams, network))
        if not any(map(len, asked)):
            raise SelectionError("no flow between two different nodes")
        hashes = _Hashes(draws, seconds)
        if placement is None:
            page, each = _expect(fabric, asked, model, hashes)
        else:
            page, each = _expect_placed(fabric, asked, model, placement)
        page = _add_bracket(page, asked, hashes, wanted=bracket)
        page = _add_loads(page, asked, each, links=links, ends=ends)
        if storage:
            both = list_read_and_written(fabric, asked)
            page = replace(page, unlimited=list_unlimited(fabric, asked), read_and_written=both)
    except (SelectionError, RoutingError) as error:
        raise BadInput(f"benchconsole: {error}") from None
    if as_json:
        common.print_json(make_record(page, each if page.count <= MOST_FLOWS else None))
        return
    columns = shutil.get_terminal_size((80, 24)).columns
    for line in format_page(page, columns, ascii_only=not common.can_show_unicode()):
        click.echo(line)


def _expect(
    fabric: Fabric, asked: "Sequence[FlowSet]", model: str, hashes: "_Hashes"
) -> "tuple[ExpectedFlows, Iterable[tuple[Flow, Expectation]]]":
    """The rates that the flows should reach, in groups and one by one."""
    from benchconsole.console.static_report.expected_flows import collect_flows, collect_merged
    from benchconsole.topology.capacity.expect import expect, expect_merged
    from benchconsole.topology.capacity.flow_model import Model
    from benchconsole.topology.routing.spraying import is_any_sprayed

    chosen = Model.POLARISED if model == "polarised" else Model(model)
    sprayed = is_any_sprayed(fabric)
    if chosen is Model.FLUID and not sprayed:
        merged = expect_merged(fabric, asked)
        return collect_merged(fabric, merged), merged
    if chosen is not Model.FLUID and sprayed:
        raise SelectionError(f"model {model}: a network of this file sprays its packets, so nothing places flows")
    flows = _list_flows(asked, "the spraying of packets" if sprayed else f"the model {model}")
    drawn = None if chosen in (Model.FLUID, Model.STEERED) else hashes.sample(fabric, flows, chosen)
    rates = expect(fabric, flows, model=chosen)
    return collect_flows(fabric, flows, rates, drawn), list(zip(flows, rates, strict=True))


def _expect_placed(
    fabric: Fabric, asked: "Sequence[FlowSet]", model: str, placement: Path
) -> "tuple[ExpectedFlows, Iterable[tuple[Flow, Expectation]]]":
    """The same where it is known on which members of links some flows are."""
    from benchconsole.console.static_report.expected_flows import collect_flows
    from benchconsole.topology.capacity.expect import expect
    from benchconsole.topology.capacity.placement_file import read_placement
    from benchconsole.topology.routing.routes import Routes
    from benchconsole.topology.routing.spraying import is_any_sprayed

    if model != "fluid" or is_any_sprayed(fabric):
        how = "a network of this file sprays its packets" if model == "fluid" else f"the model {model}"
        raise SelectionError(f"--placement and {how}: a placement says itself where flows are")
    flows, routes = _list_flows(asked, "--placement"), Routes(fabric)
    rates = expect(fabric, flows, routes=routes, members=read_placement(placement, routes, flows))
    return collect_flows(fabric, flows, rates, None), list(zip(flows, rates, strict=True))


class _Hashes:
    """Tries hashes until all are tried or the time is over, and says on a terminal how far it is."""

    def __init__(self, draws: int, seconds: float) -> None:
        self._draws = draws
        self._seconds = seconds

    def sample(self, fabric: Fabric, flows: Sequence[Flow], model: "Model") -> "OverHashes":
        from benchconsole.topology.capacity.expect import sample_hashes

        end = time.monotonic() + self._seconds
        is_shown = sys.stderr.isatty()

        def go_on(made: int) -> bool:
            if is_shown:
                click.echo(f"\r{made:,} of {self._draws:,} hashes", err=True, nl=made == self._draws)
            return time.monotonic() < end

        return sample_hashes(fabric, flows, draws=self._draws, model=model, go_on=go_on)


def _add_bracket(
    page: "ExpectedFlows", asked: "Sequence[FlowSet]", hashes: "_Hashes", *, wanted: bool
) -> "ExpectedFlows":
    """``page`` with the bounds on both sides, where they are ``wanted`` or nothing says how the fabric is routed."""
    from benchconsole.topology.capacity.bracket import compute_bracket, find_rule
    from benchconsole.topology.capacity.expect import expect
    from benchconsole.topology.capacity.flow_model import Model
    from benchconsole.topology.capacity.open_routing import OpenRouting
    from benchconsole.topology.model.routing_rule import RoutingRule
    from benchconsole.topology.routing.routes import Routes

    fabric, drawn, routes = page.fabric, page.drawn, Routes(page.fabric)
    each = [group.flow for group in page.groups]
    found = OpenRouting(routes)
    if not wanted and (not found.is_possible or found.bound(each, [routes.route(flow) for flow in each]) is None):
        return page
    flows = _list_flows(asked, "--bracket" if wanted else "the bracket of a fabric whose routing is not said")
    if drawn is None and find_rule(routes, each) is not RoutingRule.SPRAY:
        drawn = hashes.sample(fabric, flows, Model.HASH)
    return replace(page, bracket=compute_bracket(routes, flows, expect(fabric, flows, routes=routes), drawn))


def _list_flows(asked: "Sequence[FlowSet]", by: str) -> list[Flow]:
    """Every flow; SelectionError where they are too many for what looks at each of them."""
    _check_count(asked, by)
    return [flow for each in asked for flow in each]


def _check_count(asked: "Sequence[FlowSet]", by: str) -> None:
    if sum(map(len, asked)) > MOST_FLOWS:
        raise SelectionError(f"more than {MOST_FLOWS:,} flows, of which {by} takes each by itself")


def _add_loads(
    page: "ExpectedFlows",
    asked: "Sequence[FlowSet]",
    rated: "Iterable[tuple[Flow, Expectation]]",
    *,
    links: bool,
    ends: bool,
) -> "ExpectedFlows":
    """``page`` with the loads of links and the sums of nodes, where they are asked for."""
    from benchconsole.topology.capacity.link_loads import compute_loads, sum_nodes
    from benchconsole.topology.routing.routes import Routes

    if not links and not ends:
        return page
    _check_count(asked, "--links" if links else "--ends")
    each = list(rated)
    return replace(
        page,
        loads=compute_loads(Routes(page.fabric), each) if links else None,
        sums=sum_nodes(each) if ends else None,
    )


def _list_asked(fabric: Fabric, texts: Sequence[str], demands: Path | None, shared: "FlowSet") -> "list[FlowSet]":
    """The flows of the arguments, then those of the file; ``shared`` is what holds where a flow says nothing."""
    from benchconsole.topology.capacity.demand_matrix import list_said, make_flow_set, make_flow_sets, read_matrix

    if not texts and demands is None:
        raise SelectionError("no flow, expected FROM>TO in quotes or --demands FILE")
    found: list[FlowSet] = []
    for text, said in list_said(texts):
        source, arrow, sink = text.partition(">")
        if not arrow:
            raise BadInput(f"benchconsole: {text!r} is no flow, expected FROM>TO in quotes")
        found += make_flow_sets(fabric, source.strip(), sink.strip(), make_flow_set(shared, said))
    return found + (read_matrix(demands, fabric, shared.network) if demands is not None else [])


def _find_link_at(fabric: Fabric, device: str, port: str) -> Link | None:
    """The link that is plugged in this port of a node or switch."""
    return next((link for link in fabric.links_at.get(device, ()) if link.port_at(device) == port), None)


def _remove_elements(fabric: Fabric, elements: Sequence[str]) -> Fabric:
    switches, nodes, members = [], [], {}
    links: list[str] = []
    for text in elements:
        name, _, number = text.partition(":")
        link = name.replace(" to ", "--")
        link = link if link in fabric.links else "--".join(reversed(link.split("--")))
        if link in fabric.links and number:
            if not number.isdecimal():
                raise SelectionError(f"{text!r}, expected a number of members such as {name}:1")
            members[link] = int(number)
        elif number and (leg := _find_link_at(fabric, name, number)) is not None:
            links.append(leg.id)
        elif link in fabric.links or "--" in link:
            links.append(link if link in fabric.links else name.replace(" to ", "--"))
        elif name in fabric.nodes:
            nodes.append(name)
        else:
            switches.append(name)
    return remove_elements(fabric, switches=switches, nodes=nodes, links=links, members=members)
