"""The bracket of ``expect``: every bound with its name, from the highest to the lowest, and the one that judges."""

from collections.abc import Iterator

from benchconsole.console.static_report.json_values import Record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import format_table, make_table, number, words
from benchconsole.topology.capacity.bracket import Bound, Bracket
from benchconsole.topology.capacity.cuts import name_cut
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, percent

UNLUCKY = "hash, unlucky"
LUCKY = "hash, lucky"
ROUTING = "this routing"
LEAST = "any routing"
RULES = {
    RoutingRule.SHORTEST: "least hops, even split",
    RoutingRule.WEIGHTED: "least hops, split by capacity",
    RoutingRule.SPRAY: "least hops, best split",
    RoutingRule.MINIMAL: "minimal on a dragonfly or HyperX",
    RoutingRule.VALIANT: "Valiant on a dragonfly or HyperX",
    RoutingRule.DIMENSION_ORDER: "dimension order on a torus or HyperX",
    RoutingRule.UGAL: "minimal paths, as UGAL on idle links",
    RoutingRule.TABLES: "forwarding tables of the switches",
}


def format_bracket(fabric: Fabric, found: Bracket, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The table of the bounds, the cuts by name, and the bound that a measurement is held against."""
    table = make_table(
        "Bracket",
        _list_rows(found),
        (words("bound", 10), lambda row: row[0]),
        (number("slowest flow"), lambda row: network_rate(row[1].slowest)),
        (number("in all"), lambda row: network_rate(row[1].total)),
        (words("by", 18), lambda row: row[2]),
    )
    yield from format_table(table, width, ascii_only=ascii_only)
    yield ""
    for line in _list_sentences(fabric, found):
        yield from wrap_text(sanitize(line), width)


def name_judged(found: Bracket) -> str:
    """The name of the bound that judges: the lowest."""
    named = [(ROUTING, found.routing), *((rule.value, bound) for rule, bound in found.others)]
    named += [(name, bound) for name, bound in ((UNLUCKY, found.unlucky), (LEAST, found.least)) if bound is not None]
    return min(named, key=lambda each: float(f"{each[1].slowest:.9g}"))[0]


def _list_rows(found: Bracket) -> list[tuple[str, Bound, str]]:
    rows: list[tuple[str, Bound | None, str]] = [
        ("cut", found.cut, "the least cut that was found"),
        ("optimum", found.optimum, "the best routing there can be"),
        (LUCKY, found.lucky, "5 of 100 draws are better"),
        (ROUTING, found.routing, RULES[found.rule]),
        *((rule.value, bound, RULES[rule]) for rule, bound in found.others),
        (UNLUCKY, found.unlucky, "5 of 100 draws are worse"),
        (LEAST, found.least, "all flows on every link that they may cross"),
    ]
    return [(name, bound, by) for name, bound, by in rows if bound is not None]


def _list_sentences(fabric: Fabric, found: Bracket) -> Iterator[str]:
    if found.rule is RoutingRule.UGAL:
        yield "UGAL goes minimally or by a third place as queues tell: it may give anything in the bracket."
    elif found.is_open:
        yield (
            "The file does not say how this fabric is routed (routing of its network), and its switches are cabled "
            "in rings: the rates above are those of least hops, and another routing may give anything in the bracket."
        )
    if found.optimum is None:
        yield "The optimum is not computed: it has too many variables. The cut bounds it."
    share, total = found.narrowest, found.all_cut
    yield (
        f"Cut of the slowest flow: {name_cut(fabric, share)}, {network_rate(share.capacity)} "
        f"for {count(share.flows, 'flow')}. Cut of all: {name_cut(fabric, total)}, {network_rate(total.capacity)}."
    )
    if found.served is not None:
        yield f"The best routing carries {percent(found.served)} of every demand at once."
    yield (
        f"The bound that judges: {name_judged(found)}, {network_rate(found.judged.slowest)}. "
        "A sound fabric can be as slow as that; only less speaks against it."
    )


def make_bracket_record(fabric: Fabric, found: Bracket) -> Record:
    """The same for scripts, in byte/s where ``encode_record`` makes bit/s of it."""
    bounds = {
        "cut": found.cut, "optimum": found.optimum, "lucky": found.lucky, "routing": found.routing,
        "unlucky": found.unlucky, "least": found.least,
    }  # fmt: skip
    return {
        **{
            name: None if bound is None else {"slowest_bps": bound.slowest, "total_bps": bound.total}
            for name, bound in bounds.items()
        },
        "served": found.served,
        "slowest_cut": [direction_name(fabric, way) for way in found.narrowest.links],
        "total_cut": [direction_name(fabric, way) for way in found.all_cut.links],
        "rule": None if found.is_open and found.rule is not RoutingRule.UGAL else found.rule,
        "others": {rule: {"slowest_bps": bound.slowest, "total_bps": bound.total} for rule, bound in found.others},
        "judged": name_judged(found),
    }
