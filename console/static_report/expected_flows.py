"""The page and the JSON of ``expect``: flows that get the same by the same limit as one row, and their sum."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from benchconsole.console.static_report.expected_bracket import format_bracket, make_bracket_record
from benchconsole.console.static_report.json_values import Record, encode_record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Table, format_table, make_table, number, words
from benchconsole.topology.analysis.uncounted_cables import find_uncounted, format_links
from benchconsole.topology.capacity.bracket import Bracket
from benchconsole.topology.capacity.expect import Expectation, OverHashes, RateSpread
from benchconsole.topology.capacity.maxmin import compute_fairness
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Fabric, Flow
from benchconsole.topology.routing.network_choice import NetworkChoice, say_networks
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, percent

_UNCOUNTED = (
    "Nobody counted the cables of {links}: one is taken for each link, so flows over them may get more, and flows "
    "beside those less."
)
SHOWN = 3
"""Elements that tie as the limit are named up to here, then counted."""


@dataclass(frozen=True)
class ExpectedFlows:
    """Flows that run at once and what each should reach; the rest is None where nobody asked.

    ``drawn`` is what unknown hashes leave, ``bracket`` the bounds on both sides.
    """

    fabric: Fabric
    flows: tuple[Flow, ...]
    rates: tuple[Expectation, ...]
    drawn: OverHashes | None = None
    bracket: Bracket | None = None

    @cached_property
    def networks(self) -> tuple[tuple[str, ...], ...]:
        """Of each flow the networks that it takes."""
        choice = NetworkChoice(self.fabric)
        return tuple(tuple(sorted(choice.choose(flow))) for flow in self.flows)

    @property
    def fairness(self) -> float:
        """Jain's index of the rates."""
        return compute_fairness(np.array([rate.value for rate in self.rates]))

    @property
    def total(self) -> float:
        """byte/s of payload of all flows."""
        return sum(rate.value for rate in self.rates)


def format_page(found: ExpectedFlows, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The table and the sums below it."""
    yield from format_table(_make_table(found), width, ascii_only=ascii_only)
    yield ""
    yield from wrap_text(sanitize(_format_sums(found)), width)
    uncounted = find_uncounted(found.fabric).links
    if uncounted:
        yield from wrap_text(sanitize(_UNCOUNTED.format(links=format_links(uncounted))), width)
    if found.drawn is not None:
        yield from wrap_text(sanitize(_format_samples(found.drawn)), width)
    if found.bracket is not None:
        yield ""
        yield from format_bracket(found.fabric, found.bracket, width, ascii_only=ascii_only)


def _make_table(found: ExpectedFlows) -> Table:
    alike = group_by_key(
        ((float(f"{rate.value:.6g}"), _format_limits(found.fabric, rate)), flow)
        for flow, rate in zip(found.flows, found.rates, strict=True)
    )
    return make_table(
        "Expected" if found.drawn is None else "Expected by one hash of those that are possible",
        alike.items(),
        (number("flows"), lambda row: f"{len(row[1]):,}"),
        (words("from", 10), lambda row: fold(dict.fromkeys(flow.source for flow in row[1]))),
        (words("to", 10), lambda row: fold(dict.fromkeys(flow.sink for flow in row[1]))),
        (number("each"), lambda row: network_rate(row[0][0])),
        (words("limited by", 18), lambda row: row[0][1]),
    )


def _format_limits(fabric: Fabric, rate: Expectation) -> str:
    """The elements that tie as the limit, the first of them named: ``tor1 to spine1``, ``receiver's NIC``."""
    kinds = list(dict.fromkeys(_name_limit(fabric, way) for way in rate.limiting))
    return ", ".join(kinds[:SHOWN]) + (f" and {len(kinds) - SHOWN} more" if len(kinds) > SHOWN else "")


def _name_limit(fabric: Fabric, way: Direction) -> str:
    if way.source in fabric.nodes:
        return "sender's NIC"
    if fabric.links[way.link].other(way.source) in fabric.nodes:
        return "receiver's NIC"
    return direction_name(fabric, way)


def _format_sums(found: ExpectedFlows) -> str:
    several = len({link.network for link in found.fabric.described.links.values()}) > 1
    taken = sorted({name for names in found.networks for name in names}) if several else []
    over = f" over {say_networks(taken)}" if taken else ""
    slowest = network_rate(min(rate.value for rate in found.rates))
    models = ", ".join(dict.fromkeys(rate.model for rate in found.rates))
    payload = ", ".join(dict.fromkeys(percent(rate.goodput) for rate in found.rates))
    return (
        f"{count(len(found.rates), 'flow')} at once{over}: {network_rate(found.total)} in all, the slowest {slowest}, "
        f"Jain's fairness {found.fairness:.4f}; model {models}, {payload} of the wire, max-min certificate checked."
    )


def _format_samples(drawn: OverHashes) -> str:
    return (
        f"Over {drawn.draws:,} hashes (model {drawn.model.value}): in all {_format_spread(drawn.aggregate)}; "
        f"the slowest flow {_format_spread(drawn.slowest)}; "
        f"a job that waits for its slowest {_format_spread(drawn.barrier)}."
    )


def _format_spread(spread: RateSpread) -> str:
    mean, low, high = map(network_rate, (spread.mean, spread.p5, spread.p95))
    return f"{mean} on average, {low} to {high} in nine of ten"


def make_record(found: ExpectedFlows) -> Record:
    """The same for scripts, in bit/s of payload."""
    drawn = found.drawn
    return encode_record(
        {
            "fabric": found.fabric.name,
            "total_bps": found.total,
            "fairness": found.fairness,
            "flows": [
                {
                    "from": flow.source,
                    "to": flow.sink,
                    "expected_bps": rate.value,
                    "goodput": rate.goodput,
                    "model": rate.model,
                    "networks": networks,
                    "limited_by": [direction_name(found.fabric, way) for way in rate.limiting],
                }
                for flow, rate, networks in zip(found.flows, found.rates, found.networks, strict=True)
            ],
            "over_hashes": drawn
            and {
                "model": drawn.model,
                "draws": drawn.draws,
                "total_bps": asdict(drawn.aggregate),
                "slowest_bps": asdict(drawn.slowest),
                "barrier_bps": asdict(drawn.barrier),
            },
            "bracket": found.bracket and make_bracket_record(found.fabric, found.bracket),
        }
    )
