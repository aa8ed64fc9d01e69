"""Checks a topology file and prints what its cables can carry."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import installed, read_topology, topology_argument

if TYPE_CHECKING:
    from topology.analysis.oversubscription import Oversubscription
    from topology.model import Fabric


@click.command("check")
@topology_argument
@click.option("--json", "as_json", is_flag=True, help="As JSON: network in bit/s.")
def command(topology: Path, as_json: bool) -> None:
    """Check TOPOLOGY and print its switches with their oversubscription. Connects to nothing.

    Every problem of the file is listed at once, with line and column; then the exit code is 2.
    """
    from topology.analysis.oversubscription import oversubscription

    fabric = read_topology(topology, installed())
    report = oversubscription(fabric)
    if as_json:
        switches = [
            {"name": each.switch, "down_bps": each.down * 8, "up_bps": each.up * 8, "ratio": each.ratio}
            for each in report
        ]
        counts = {
            "name": fabric.name,
            "nodes": len(fabric.nodes),
            "switches": len(fabric.switches),
            "links": len(fabric.links),
            "cables": sum(link.count for link in fabric.links.values()),
        }
        click.echo(json.dumps({"fabric": counts, "switches": switches}, indent=1, allow_nan=False))
        return
    click.echo(_header(fabric))
    for each in report:
        click.echo(_line(fabric, each))


def _header(fabric: "Fabric") -> str:
    from console.wording import count

    roles: dict[str, int] = {}
    for node in fabric.nodes.values():
        roles[node.role.value] = roles.get(node.role.value, 0) + 1
    parts = ", ".join(f"{number:,} {role}" for role, number in roles.items())
    cables = sum(link.count for link in fabric.links.values())
    lags = sum(link.is_lag for link in fabric.links.values())
    head = f"{fabric.name}: {count(len(fabric.nodes), 'node')} ({parts}), {len(fabric.switches)} switches, "
    return (
        head
        + f"{count(cables, 'cable')}, {count(lags, 'LAG')}\n\nswitch           role        down        up   down:up"
    )


def _line(fabric: "Fabric", each: "Oversubscription") -> str:
    from topology.units import network_rate, ratio

    role = fabric.switches[each.switch].role.value
    up = network_rate(each.up) if each.up else "–"
    return f"{each.switch:16} {role:7} {network_rate(each.down):>10} {up:>10}  {ratio(each.ratio):>8}"
