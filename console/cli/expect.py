"""Says what flows that run at once should reach on a described fabric."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.errors import RoutingError, SelectionError
from benchconsole.topology.model.fabric import Fabric, Flow
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.selection import select

MOST_FLOWS = 200_000
MODELS = ("fluid", "hash", "polarised", "steered")


@click.command("expect")
@common.topology_argument
@click.argument("flows", nargs=-1, required=True, metavar="FROM>TO...")
@click.option("--model", type=click.Choice(MODELS), default="fluid", help="How flows choose LAG members and next hops.")
@click.option("--streams", type=click.IntRange(1, 128), default=1, help="Parallel streams of each pair.")
@click.option("--one-to-one", is_flag=True, help="Pair the nodes in order instead of each node with each other.")
@click.option(
    "--without",
    "down",
    multiple=True,
    metavar="ELEMENT",
    help="An element that is down: a switch, a node, LINK, or LINK:MEMBERS.",
)
@click.option("--network", default="", metavar="NAME", help="The network that the flows take, where there are several.")
@click.option(
    "--draws", type=click.IntRange(1, 100_000), default=200, help="How many hashes the models hash and polarised try."
)
@click.option("--bracket", is_flag=True, help="Bounds of every routing: hashes, optimum, cut, and which one judges.")
@common.parameters_option
@click.option("--json", "as_json", is_flag=True, help="As JSON, in bit/s of payload.")
def command(
    topology: Path, flows: tuple[str, ...], model: str, streams: int, one_to_one: bool, down: tuple[str, ...],
    network: str, draws: int, bracket: bool, given: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Say what FLOWS should reach on TOPOLOGY when all run at once, and what limits each. Connects to nothing.

    A flow is written FROM>TO with node sets or groups, in quotes: "n[1-16]>@storage". Rates are
    max-min fair and payload; links are named as check names them: "leaf1 to spine1", or leaf1--spine1. A flow takes
    the data network that both of its nodes are in, unless --network names another.
    """
    from benchconsole.console.static_report.expected_flows import ExpectedFlows, format_page, make_record
    from benchconsole.topology.capacity.bracket import compute_bracket, find_rule
    from benchconsole.topology.capacity.expect import expect, sample_hashes
    from benchconsole.topology.capacity.flow_streams import Model
    from benchconsole.topology.capacity.sprayed import is_any_sprayed
    from benchconsole.topology.model.routing_rule import RoutingRule
    from benchconsole.topology.routing.layers import is_layered
    from benchconsole.topology.routing.routes import Routes

    fabric = common.read_topology(topology, given=given)
    chosen = Model.POLARISED if model == "polarised" else Model(model)
    try:
        fabric = _remove_elements(fabric, down)
        found = _parse_flows(fabric, flows, streams=streams, one_to_one=one_to_one)
        asked = [replace(flow, network=network) for flow in found] if network else found
        hashed = chosen in (Model.HASH, Model.POLARISED)
        if chosen is not Model.FLUID and is_any_sprayed(fabric):
            raise SelectionError(f"model {model}: a network of this file sprays its packets, so nothing places flows")
        drawn = sample_hashes(fabric, asked, draws=draws, model=chosen) if hashed else None
        page = ExpectedFlows(fabric, tuple(asked), expect(fabric, asked, model=chosen), drawn)
        routes = Routes(fabric)
        rule = find_rule(routes, asked)
        if bracket or (rule is None and not is_layered(fabric)):
            fluid = page.rates if chosen is Model.FLUID else expect(fabric, asked, routes=routes)
            if drawn is None and rule is not RoutingRule.SPRAY:
                drawn = sample_hashes(fabric, asked, draws=draws)
            page = replace(page, bracket=compute_bracket(routes, asked, fluid, drawn))
    except (SelectionError, RoutingError) as error:
        raise BadInput(f"benchconsole: {error}") from None
    if as_json:
        common.print_json(make_record(page))
        return
    columns = shutil.get_terminal_size((80, 24)).columns
    for line in format_page(page, columns, ascii_only=not common.can_show_unicode()):
        click.echo(line)


def _parse_flows(fabric: Fabric, texts: Sequence[str], *, streams: int, one_to_one: bool) -> list[Flow]:
    found = []
    for text in texts:
        source, arrow, sink = text.partition(">")
        if not arrow:
            raise BadInput(f"benchconsole: {text!r} is no flow, expected FROM>TO in quotes")
        sources, sinks = select(fabric, source.strip()), select(fabric, sink.strip())
        if one_to_one and len(sources) != len(sinks):
            raise SelectionError(f"{text!r} pairs {len(sources)} nodes with {len(sinks)}, expected as many")
        if len(sources) * (1 if one_to_one else len(sinks)) * streams > MOST_FLOWS:
            raise SelectionError(f"{text!r} stands for more than {MOST_FLOWS:,} flows")
        pairs = zip(sources, sinks, strict=True) if one_to_one else ((a, b) for a in sources for b in sinks)
        found += [Flow(a, b) for a, b in pairs if a != b for _ in range(streams)]
    if not found:
        raise SelectionError("no flow between two different nodes")
    return found


def _remove_elements(fabric: Fabric, elements: Sequence[str]) -> Fabric:
    switches, nodes, links, members = [], [], [], {}
    for text in elements:
        name, _, number = text.partition(":")
        link = name.replace(" to ", "--")
        link = link if link in fabric.links else "--".join(reversed(link.split("--")))
        if link in fabric.links and number:
            if not number.isdecimal():
                raise SelectionError(f"{text!r}, expected a number of members such as {name}:1")
            members[link] = int(number)
        elif link in fabric.links:
            links.append(link)
        elif name in fabric.nodes:
            nodes.append(name)
        else:
            switches.append(name)
    return remove_elements(fabric, switches=switches, nodes=nodes, links=links, members=members)
