"""The page and the JSON of ``expect``: flows that get the same by the same limit as one row, and their sum."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from benchconsole.console.static_report.json_values import Record, encode_record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Table, format_table, number, words
from benchconsole.topology.capacity.expect import Expectation
from benchconsole.topology.capacity.hash_samples import OverHashes, RateSpread
from benchconsole.topology.capacity.maxmin import compute_fairness
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.model.fabric import Direction, Fabric, Flow
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, percent

SHOWN = 3
"""Elements that tie as the limit are named up to here, then counted."""


@dataclass(frozen=True, slots=True)
class ExpectedFlows:
    """Flows that run at once, what each should reach, and what unknown hashes would leave of it (None: not asked)."""

    fabric: Fabric
    flows: tuple[Flow, ...]
    rates: tuple[Expectation, ...]
    drawn: OverHashes | None = None

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
    if found.drawn is not None:
        yield from wrap_text(sanitize(_format_samples(found.drawn)), width)


def _make_table(found: ExpectedFlows) -> Table:
    columns = (number("flows"), words("from", 10), words("to", 10), number("each"), words("limited by", 18))
    alike: dict[tuple[float, str], list[Flow]] = {}
    for flow, rate in zip(found.flows, found.rates, strict=True):
        alike.setdefault((float(f"{rate.value:.6g}"), _format_limits(found.fabric, rate)), []).append(flow)
    rows = []
    for (each, limit), flows in alike.items():
        ends = (_fold_names(flow.source for flow in flows), _fold_names(flow.sink for flow in flows))
        rows.append((f"{len(flows):,}", *ends, network_rate(each), limit))
    title = "Expected" if found.drawn is None else "Expected by one hash of those that are possible"
    return Table(title, columns, tuple(rows))


def _fold_names(names: Iterable[str]) -> str:
    return fold(dict.fromkeys(names))


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
    slowest = network_rate(min(rate.value for rate in found.rates))
    models = ", ".join(dict.fromkeys(rate.model for rate in found.rates))
    payload = ", ".join(dict.fromkeys(percent(rate.goodput) for rate in found.rates))
    return (
        f"{count(len(found.rates), 'flow')} at once: {network_rate(found.total)} in all, the slowest {slowest}, Jain's "
        f"fairness {found.fairness:.4f}; model {models}, {payload} of the wire, max-min certificate checked."
    )


def _format_samples(drawn: OverHashes) -> str:
    return (
        f"Over {drawn.draws:,} hashes (model {drawn.model.value}): in all {_format_spread(drawn.aggregate)}; "
        f"the slowest flow {_format_spread(drawn.slowest)}; "
        f"a job that waits for its slowest {_format_spread(drawn.barrier)}."
    )


def _format_spread(spread: RateSpread) -> str:
    nine = f"{network_rate(spread.p5)} to {network_rate(spread.p95)} in nine of ten"
    return f"{network_rate(spread.mean)} on average, {nine}"


def make_record(found: ExpectedFlows) -> Record:
    """The same for scripts, in bit/s of payload."""
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
                    "limited_by": [direction_name(found.fabric, way) for way in rate.limiting],
                }
                for flow, rate in zip(found.flows, found.rates, strict=True)
            ],
            "over_hashes": None if found.drawn is None else _describe_samples(found.drawn),
        }
    )


def _describe_samples(drawn: OverHashes) -> Record:
    spreads = {"total": drawn.aggregate, "slowest": drawn.slowest, "barrier": drawn.barrier}
    rates = {f"{name}_bps": {"mean": each.mean, "p5": each.p5, "p95": each.p95} for name, each in spreads.items()}
    return {"model": drawn.model, "draws": drawn.draws, **rates}
