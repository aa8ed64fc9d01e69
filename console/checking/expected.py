"""Owns what ``expect`` prints: flows that get the same by the same limit as one row, and their sum."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from console.checking.table import Table, number, rendered, words, wrapped
from console.wording import count
from topology.elements import direction_name
from topology.expect import Expectation, fairness
from topology.expect.draws import OverHashes, Spread
from topology.model import Direction, Fabric, Flow
from topology.selection import fold
from topology.units import network_rate, percent

Record = dict[str, object]
SHOWN = 3
"""Elements that tie as the limit are named up to here, then counted."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Flows that run at once, what each should reach, and what unknown hashes would leave of it (None: not asked)."""

    fabric: Fabric
    flows: tuple[Flow, ...]
    rates: tuple[Expectation, ...]
    drawn: OverHashes | None = None

    @property
    def fairness(self) -> float:
        """Jain's index of the rates."""
        return fairness(np.array([rate.value for rate in self.rates]))

    @property
    def total(self) -> float:
        """byte/s of payload of all flows."""
        return sum(rate.value for rate in self.rates)


def page(found: Expected, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The table and the sums below it."""
    yield from rendered(_table(found), width, ascii_only=ascii_only)
    yield ""
    yield from wrapped(_sums(found), width)
    if found.drawn is not None:
        yield from wrapped(_drawn(found.drawn), width)


def _table(found: Expected) -> Table:
    columns = (number("flows"), words("from", 10), words("to", 10), number("each"), words("limited by", 18))
    alike: dict[tuple[float, str], list[Flow]] = {}
    for flow, rate in zip(found.flows, found.rates, strict=True):
        alike.setdefault((float(f"{rate.value:.6g}"), _limits(found.fabric, rate)), []).append(flow)
    rows = []
    for (each, limit), flows in alike.items():
        ends = (_names(flow.source for flow in flows), _names(flow.sink for flow in flows))
        rows.append((f"{len(flows):,}", *ends, network_rate(each), limit))
    title = "Expected" if found.drawn is None else "Expected by one hash of those that are possible"
    return Table(title, columns, tuple(rows))


def _names(names: Iterable[str]) -> str:
    return fold(dict.fromkeys(names))


def _limits(fabric: Fabric, rate: Expectation) -> str:
    """The elements that tie as the limit, the first of them named: ``tor1 to spine1``, ``receiver's NIC``."""
    kinds = list(dict.fromkeys(_limit(fabric, way) for way in rate.limiting))
    return ", ".join(kinds[:SHOWN]) + (f" and {len(kinds) - SHOWN} more" if len(kinds) > SHOWN else "")


def _limit(fabric: Fabric, way: Direction) -> str:
    if way.source in fabric.nodes:
        return "sender's NIC"
    if fabric.links[way.link].other(way.source) in fabric.nodes:
        return "receiver's NIC"
    return direction_name(fabric, way)


def _sums(found: Expected) -> str:
    slowest = network_rate(min(rate.value for rate in found.rates))
    models = ", ".join(dict.fromkeys(rate.model for rate in found.rates))
    payload = ", ".join(dict.fromkeys(percent(rate.goodput) for rate in found.rates))
    return (
        f"{count(len(found.rates), 'flow')} at once: {network_rate(found.total)} in all, the slowest {slowest}, Jain's "
        f"fairness {found.fairness:.4f}; model {models}, {payload} of the wire, max-min certificate checked."
    )


def _drawn(drawn: OverHashes) -> str:
    return (
        f"Over {drawn.draws:,} hashes (model {drawn.model.value}): in all {_spread(drawn.aggregate)}; the slowest flow "
        f"{_spread(drawn.slowest)}; a job that waits for its slowest {_spread(drawn.barrier)}."
    )


def _spread(spread: Spread) -> str:
    nine = f"{network_rate(spread.p5)} to {network_rate(spread.p95)} in nine of ten"
    return f"{network_rate(spread.mean)} on average, {nine}"


def record(found: Expected) -> Record:
    """The same for scripts, in bit/s of payload."""
    return {
        "fabric": found.fabric.name,
        "total_bps": found.total * 8,
        "fairness": found.fairness,
        "flows": [
            {
                "from": flow.source,
                "to": flow.sink,
                "expected_bps": rate.value * 8,
                "goodput": rate.goodput,
                "model": rate.model,
                "limited_by": _named(found.fabric, rate.limiting),
            }
            for flow, rate in zip(found.flows, found.rates, strict=True)
        ],
        "over_hashes": None if found.drawn is None else _drawn_record(found.drawn),
    }


def _named(fabric: Fabric, ways: Sequence[Direction]) -> list[str]:
    return [direction_name(fabric, way) for way in ways]


def _drawn_record(drawn: OverHashes) -> Record:
    spreads = {"total": drawn.aggregate, "slowest": drawn.slowest, "barrier": drawn.barrier}
    rates = {
        f"{name}_bps": {"mean": each.mean * 8, "p5": each.p5 * 8, "p95": each.p95 * 8} for name, each in spreads.items()
    }
    return {"model": drawn.model.value, "draws": drawn.draws, **rates}
