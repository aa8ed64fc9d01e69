"""The system that was tested, in reports for people: as it is described, and as its nodes report it.

All text is safe for a terminal. Nothing is judged here; facts that differ from declared ones stand under Inventory.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchconsole.console.static_report.check_tables import list_ceilings, list_sheets, make_totals
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, Table, number, words
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.console.view.wording import format_fact
from benchconsole.probes.model.measuring import Fact, Result
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.topology.analysis.storage_ceilings import compute_ceilings
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Hardware
from benchconsole.topology.units import Unit, network_rate, show
from benchconsole.topology.units import counted as count

DESCRIBED = (
    "system.vendor", "system.product", "virt.machine", "bios.version", "cpu.model", "cpu.sockets", "cpu.cores",
    "cpu.threads", "cpu.mhz_max", "cpu.governor", "cpu.cache_size", "numa.nodes", "memory.total", "memory.dimm_size",
    "memory.dimm_speed", "disk.count", "disk.model", "disk.size", "raid.layout", "nic.driver", "nic.firmware",
    "nic.speed", "nic.mtu", "nic.txqueuelen", "bond.mode", "ib.type", "ib.firmware", "ib.rate", "fc.ports", "os.name",
    "kernel.release", "irqbalance.running", "tuned.profile", "mpi.version", "gcc.version", "icx.version", "nvc.version",
    "lustre.version", "beegfs.version", "gpfs.version", "ceph.version", "qemu.version", "openstack.version",
    "slurm.version",
)  # fmt: skip
"""Facts that describe a machine, in their order; JSON has all."""
_UNITS = {
    "cpu.clock": Unit.PER_SECOND, "memory.total": Unit.BYTE, "memory.dimm_size": Unit.BYTE, "disk.size": Unit.BYTE,
    "raid.cache": Unit.BYTE, "nic.speed": Unit.BYTE_RATE,
}  # fmt: skip
"""Base units of the facts that classes declare with one."""
MOST_ANSWERS = 3
"""Answers of the nodes of a class that are told; more are counted."""
_PARTS = 4
"""Values of one node that are told, as of its disks; more are counted."""


def make_tables(view: RunView) -> tuple[Table, ...]:
    """The tables of a session, those without rows left out."""
    fabric = view.fabric
    found = (
        _make_classes(fabric),
        make_totals(fabric),
        _make_switches(fabric),
        _make_networks(fabric),
        *list_ceilings(compute_ceilings(fabric)),
        *list_sheets(fabric),
        _make_reported(superseding(view)),
    )
    return tuple(table for table in found if table.rows)


def _make_classes(fabric: Fabric) -> Table:
    own = [node for node in fabric.nodes.values() if node.host is None]
    alike = group_by_key(((node.hardware.name, node.role.value), node) for node in own)
    rows = (
        (sanitize(name), role, f"{len(nodes):,}", fold_names([node.id for node in nodes]), _declare(nodes[0].hardware))
        for (name, role), nodes in alike.items()
    )
    columns = (Column("class"), Column("role"), number("nodes"), words("names", 14), words("declared", 24))
    return Table("Nodes by class", columns, tuple(rows))


def _declare(hardware: Hardware) -> str:
    facts = (f"{name} {format_fact(Fact(name, value, _UNITS.get(name)))}" for name, value in hardware.facts.items())
    rules = (f"{name} {rule.text}" for name, rule in hardware.rules.items())
    peak = () if hardware.peak is None else (f"peak {show(hardware.peak, Unit.FLOP_RATE)}",)
    return sanitize(", ".join((*facts, *peak, *rules)))


def _make_switches(fabric: Fabric) -> Table:
    alike = group_by_key(((switch.role.value, switch.model or ""), switch.id) for switch in fabric.switches.values())
    rows = ((role, sanitize(model), f"{len(names):,}", fold_names(names)) for (role, model), names in alike.items())
    return Table("Switches", (Column("role"), Column("model"), number("number"), words("names", 14)), tuple(rows))


def _make_networks(fabric: Fabric) -> Table:
    links = group_by_key((link.network, link) for link in fabric.links.values())
    rows = []
    for name, own in links.items():
        network = fabric.networks.get(name)
        speeds = Counter[float]()
        for link in own:
            speeds.update(link.members)
        cables = ", ".join(f"{many:,} x {network_rate(speed)}" for speed, many in sorted(speeds.items()))
        traits = () if network is None else (network.kind.value, network.role.value, f"{network.mtu:,}")
        rows.append((sanitize(name), *(traits or ("", "", "")), f"{len(own):,}", cables))
    columns = (Column("network"), Column("kind"), Column("for"), number("MTU"), number("links"), words("cables", 16))
    return Table("Networks", columns, tuple(rows))


def _make_reported(results: Mapping[str, Result]) -> Table:
    """The facts that the nodes of each class report of themselves, equal answers together."""
    wanted = frozenset(DESCRIBED)
    answers: dict[tuple[str, str], dict[str, list[str]]] = {}
    for result in results.values():
        if result.test.probe != INVENTORY:
            continue
        node = result.test.target.node
        for fact in result.facts:
            if fact.fact in wanted:
                of_class = answers.setdefault((node.hardware.name, fact.fact), {})
                of_class.setdefault(node.id, []).append(format_fact(fact))
    order = {name: place for place, name in enumerate(DESCRIBED)}
    rows = tuple(_list_answers(answers, order))
    columns = (Column("class"), Column("fact"), words("as the nodes report it", 24), number("nodes"))
    return Table("As the nodes report themselves", columns, rows)


def _list_answers(
    answers: Mapping[tuple[str, str], Mapping[str, Sequence[str]]], order: Mapping[str, int]
) -> Iterator[tuple[str, ...]]:
    classes = list(dict.fromkeys(name for name, _ in answers))
    for name, fact in sorted(answers, key=lambda key: (classes.index(key[0]), order[key[1]])):
        told = Counter(_join_values(values) for values in answers[name, fact].values()).most_common()
        for at, (text, nodes) in enumerate(told[:MOST_ANSWERS]):
            yield (sanitize(name), fact if not at else "", sanitize(text), f"{nodes:,}")
        if len(told) > MOST_ANSWERS:
            left = sum(nodes for _, nodes in told[MOST_ANSWERS:])
            yield (sanitize(name), "", count(len(told) - MOST_ANSWERS, "other answer"), f"{left:,}")


def _join_values(values: Sequence[str]) -> str:
    """The values of one node, each once with how many of its parts have it."""
    counts = Counter(values)
    parts = [f"{many} x {text}" if many > 1 else text for text, many in counts.items()]
    more = [f"{len(parts) - _PARTS} more"] if len(parts) > _PARTS else []
    return ", ".join([*parts[:_PARTS], *more])
