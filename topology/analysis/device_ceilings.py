"""Ceilings inside devices that pass less than the cables below them carry: ratios count cables alone."""

from collections.abc import Iterator

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.capacity.ceiling_loads import sum_inside
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import counted, network_rate, ratio

_SAME = 1e-9


def list_findings(fabric: Fabric) -> Iterator[StaticFinding]:
    """One sentence for all devices of a kind: a warning for switches, a note for nodes."""
    for (is_switch, name, rate, kind, cables, carried), devices in group_by_key(list_narrow(fabric)).items():
        where = fold_names(devices)
        of = f"{name} ({kind})" if kind else name
        text = (
            f"{where}: {of} passes {network_rate(rate)} in each direction, less than its {counted(cables, 'cable')} of "
            f"{network_rate(carried)} in all ({ratio(carried / rate)}); expectations, bisection and what a loss "
            "leaves count it, ratios of tiers and ways up count cables"
        )
        yield StaticFinding(Severity.WARNING if is_switch else Severity.NOTE, "ceiling-below-cables", where, text)


def list_narrow(fabric: Fabric) -> Iterator[tuple[tuple[bool, str, float, str, int, float], str]]:
    """Each ceiling that passes less than its cables, with its device.

    Of each: whether the device is a switch, name, byte/s, kind, how many cables it has, and what they carry together.
    """
    for device, ceilings in fabric.ceilings.items():
        for each in ceilings:
            cables, carried = sum_inside(fabric, device, each)
            if each.rate < carried * (1 - _SAME):
                yield (device in fabric.switches, each.name, each.rate, each.kind, cables, carried), device
