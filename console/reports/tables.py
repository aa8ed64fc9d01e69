"""The tables that reports for people share: results by metric, criteria, inventory, oversubscription.

Long tables fold what passes into node sets; what was folded or cut is always counted in words.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.console.reports.content import format_levels
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.console.view.result_rows import (
    COLUMNS_BY_NAME,
    ResultRow,
    RowOutcome,
    SortKey,
    format_labels,
    list_current_rows,
    list_current_verdicts,
    sort_text,
)
from benchconsole.console.view.run_view import RunView, State, share_result, state_of_level, superseding, worst
from benchconsole.console.view.session_judgements import list_session_judgements
from benchconsole.console.view.wording import NOT_MEASURED, format_expected, format_fact, format_quantity
from benchconsole.probes.judging.criterion_scope import is_held_against, is_like_held
from benchconsole.probes.model.alike_passes import sort_values
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.load import is_load
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion
from benchconsole.topology.units import Shown, Unit, percent, ratio, show
from benchconsole.topology.units import counted as count

if TYPE_CHECKING:
    from benchconsole.probes.judging.session_criteria import SessionJudgement
    from benchconsole.probes.model.alike_passes import AlikePasses

LONG = 400
"""With more rows than this in all, those that pass fold; of the others each table lists so many, worst first."""
LABEL_SETS = 40


class MetricSpread(NamedTuple):
    """The numbers of one metric with one set of labels as words; ``values`` are the labels as a sentence tells them.

    ``passed`` are the nodes of the rows that passed.
    """

    labels: str
    values: str
    number: int
    lowest: str
    middle: str
    highest: str
    expected: str
    passed: tuple[str, ...]
    states: str
    state: State


class MetricTable(NamedTuple):
    """One metric of one stage. ``rows`` are those worth listing, ``note`` says what is not there; ``unlisted`` is that
    part of it which speaks of spreads.
    """

    stage: str
    probe: str
    metric: str
    rows: tuple[ResultRow, ...]
    spreads: tuple[MetricSpread, ...]
    note: str
    unlisted: str
    state: State
    judged: bool


@share_result
def make_metric_tables(view: RunView) -> tuple[MetricTable, ...]:
    """Results by stage and metric, in the order of the plan; inventory has a table of its own."""
    grouped = group_by_key(
        ((row.stage, row.probe, about.metric), row)
        for row in list_current_rows(view)
        if row.probe != INVENTORY and (about := row.verdict or row.measurement) is not None and about.metric
    )
    stages = {each.number: each.stage for each in view.plan}
    passed = group_by_key(((stages[each.like.round], each.like.probe, each.like.metric), each) for each in view.passed)
    folding = sum(map(len, grouped.values())) > LONG or bool(passed)
    return tuple(
        _make_metric_table(key, found, passed.get(key, []), LONG if folding else None) for key, found in grouped.items()
    )


def _find_place(row: ResultRow) -> tuple[int, float, SortKey]:
    share = row.verdict.share if row.verdict is not None else None
    return row.state.rank, 1.0 if share is None else share, COLUMNS_BY_NAME["subject"].sort(row)


def _find_lowest(passed: "AlikePasses") -> tuple[int, float, SortKey]:
    """The place of the first of the rows that ``passed`` stands for."""
    names = (result.test.target.node.id for result in passed.lowest)
    return State.PASS.rank, passed.lowest_share, min(map(sort_text, names))


def _make_metric_table(
    key: tuple[str, str, str], found: list[ResultRow], passed: "Sequence[AlikePasses]", limit: int | None
) -> MetricTable:
    """The table of the rows ``found``, and of what ``passed`` and has no rows."""
    found.sort(key=_find_place)
    listed, note = found, ""
    if limit is not None:
        notable = [row for row in found if row.state.rank < State.MEASURED.rank]
        number = len(found) + sum(len(each.value) for each in passed)
        listed = notable[:limit]
        note = f"{number - len(notable):,} of {count(number, 'row')} folded"
        if len(notable) > limit:
            note += f"; {len(notable) - limit:,} more that did not pass are in the CSV and JSON reports"
    by_labels = group_by_key((str(COLUMNS_BY_NAME["labels"].value(row) or ""), row) for row in found)
    alike = group_by_key((format_labels(each.like.labels), each) for each in passed)
    first = {labels: _find_place(rows[0]) for labels, rows in by_labels.items()}
    for labels in first.keys() & alike.keys():
        first[labels] = min(first[labels], *map(_find_lowest, alike[labels]))
    in_order = sorted(by_labels, key=first.__getitem__)
    spreads = [_make_spread(labels, by_labels[labels], alike.get(labels, [])) for labels in in_order]
    unlisted = ""
    if len(spreads) > LABEL_SETS:
        spreads.sort(key=lambda spread: spread.state.rank)
        unlisted = f"{count(len(spreads) - LABEL_SETS, 'more set')} of labels not listed"
        note = f"{note}; {unlisted}".lstrip("; ")
        spreads = spreads[:LABEL_SETS]
    stage, probe, metric = key
    return MetricTable(
        stage=sanitize(stage),
        probe=sanitize(probe),
        metric=sanitize(metric),
        rows=tuple(listed),
        spreads=tuple(spreads),
        note=note,
        unlisted=unlisted,
        state=worst(row.state for row in found),
        judged=any(row.verdict for row in found),
    )


def _make_spread(labels: str, found: list[ResultRow], passed: "Sequence[AlikePasses]") -> MetricSpread:
    # The expected value is of the sum: a flow beside it would look too low.
    members = [row for row in found if not row.summed_in] or found
    about = (row.verdict or row.measurement for row in members)
    values = [each.value for each in about if each is not None and each.value is not None]
    if passed:
        values = sort_values(values, passed).tolist()
    verdict = next((row.verdict for row in members if row.verdict), None)
    reading = next((row.measurement for row in members if row.measurement), None)
    told = verdict.labels if verdict else reading.labels if reading else ()
    unit = verdict.unit if verdict else reading.unit if reading else None
    shown = verdict.shown if verdict else members[0].shown
    # Most rows expect the same: worded once.
    judged = chain((row.verdict for row in members if row.verdict is not None), (each.like for each in passed))
    alike = {(each.expected, each.expected_text, each.unit, each.shown): each for each in judged}
    expected = {format_expected(each) for each in alike.values()}
    states = Counter(row.state for row in members)
    states += Counter({State.PASS: sum(len(each.value) for each in passed)})
    nodes = chain((row.nodes for row in members if row.state is State.PASS), (each.nodes for each in passed))
    return MetricSpread(
        labels=sanitize(labels),
        values=sanitize(" ".join(tell_labels(told))),
        number=len(values),
        lowest=format_quantity(min(values), unit, shown) if values else NOT_MEASURED,
        middle=format_quantity(median(values), unit, shown) if values else NOT_MEASURED,
        highest=format_quantity(max(values), unit, shown) if values else NOT_MEASURED,
        expected=expected.pop() if len(expected) == 1 else "differs" if expected else NOT_MEASURED,
        passed=tuple(dict.fromkeys(chain.from_iterable(nodes))),
        states=format_tally(states),
        state=worst(states),
    )


def format_tally(states: Iterable[State] | Mapping[State, int]) -> str:
    """``2 fail, 14 pass``: states, or what counts them, worst first."""
    counts = Counter(states)
    return ", ".join(f"{counts[state]:,} {state}" for state in State if state in counts)


class CriterionLine(NamedTuple):
    """One criterion with what came of it, as text; ``state`` is for the sign.

    ``number`` counts what was held against it. ``worst`` is the one nearest to its bound, or furthest below it;
    ``of_required`` and ``of_target`` are its shares, to a tenth of a percent, before any rounding.
    """

    source: str
    metric: str
    applies: str
    bound: str
    target: str
    rounding: str
    number: int
    worst: str
    mean: str
    of_required: str
    of_target: str
    outcome: str
    state: State


@share_result
def list_criteria(view: RunView) -> tuple[CriterionLine, ...]:
    """The criteria of the fabric in file order; one that nothing was held against says so."""
    by_metric = group_by_key((verdict.metric, verdict) for verdict in list_current_verdicts(view))
    together = list_session_judgements(view)
    return tuple(
        _describe_session_criterion(
            criterion,
            [each for each in together if each.criterion is criterion],
            next((each.shown for each in by_metric.get(criterion.metric, ())), Shown.PLAIN),
        )
        if criterion.is_of_session
        else _describe_criterion(criterion, by_metric.get(criterion.metric, []), view.passed)
        for criterion in view.fabric.criteria
    )


def _describe_session_criterion(
    criterion: Criterion, judged: "Sequence[SessionJudgement]", shown: Shown
) -> CriterionLine:
    """The line of a criterion on all numbers together; the worst is a statistic, or the share of a subject."""
    levels = Counter(each.level for each in judged)
    known = [each for each in judged if each.value is not None]
    choose = min if criterion.comparator is Comparator.AT_LEAST else max
    worst_one = choose(known, key=lambda each: each.value or 0.0) if known else None
    share = NOT_MEASURED if worst_one is None or not worst_one.required else format_share(
        (worst_one.value or 0.0) / worst_one.required
    )  # fmt: skip
    of_target = NOT_MEASURED if worst_one is None or not criterion.target else format_share(
        (worst_one.value or 0.0) / criterion.target
    )  # fmt: skip
    base = _make_base_line(criterion, shown)
    return base._replace(
        number=sum(each.number for each in judged),
        worst=NOT_MEASURED if worst_one is None else sanitize(f"{worst_one.subject}: {worst_one.because}"),
        of_required=share,
        of_target=of_target,
        outcome=format_levels(levels) or "not tested",
        state=worst(map(state_of_level, levels)),
    )


def _describe_criterion(
    criterion: Criterion, verdicts: Sequence[Verdict], passed: "Iterable[AlikePasses]"
) -> CriterionLine:
    """The line of a criterion; ``verdicts`` are those on its metric, ``passed`` those of the session in columns."""
    held = [verdict for verdict in verdicts if is_held_against(criterion, verdict)]
    alike = [(each.like, _select_values(criterion, each)) for each in passed if is_like_held(criterion, each.like)]
    levels = Counter(verdict.level for verdict in held)
    levels += Counter({Level.PASS: sum(len(values) for _, values in alike)})
    shown = verdicts[0].shown if verdicts else Shown.PLAIN
    worst_one, mean, of_required, of_target = _sum_up(criterion, held, alike)
    base = _make_base_line(criterion, shown)
    amounts = {each.required for each in (*held, *(like for like, _ in alike))}
    amount = amounts.pop() if len(amounts) == 1 and criterion.basis not in (Basis.ABSOLUTE, Basis.CAPACITY) else None
    if amount is not None and criterion.required:
        whole, target = amount / criterion.required, criterion.target
        unit = next(each.unit for each in (*held, *(like for like, _ in alike)))
        base = base._replace(
            bound=f"{base.bound} ({format_quantity(amount, unit, shown)})",
            target=base.target if target is None else f"{base.target} ({format_quantity(target * whole, unit, shown)})",
        )
    return base._replace(
        number=levels.total(),
        worst=worst_one,
        mean=mean,
        of_required=of_required,
        of_target=of_target,
        outcome=format_levels(levels) or "not tested",
        state=worst(map(state_of_level, levels)),
    )


def _make_base_line(criterion: Criterion, shown: Shown) -> CriterionLine:
    """The line of a criterion before anything was held against it."""
    where = format_labels(criterion.where)
    nodes = fold_names(sorted(criterion.nodes)) if criterion.nodes else "all nodes"
    word = "at least" if criterion.comparator is Comparator.AT_LEAST else "at most"
    statistic = f"{criterion.statistic} of " if criterion.statistic else ""
    by = ", ".join(filter(None, (criterion.author, criterion.date)))
    return CriterionLine(
        sanitize(f"{criterion.source} ({by})".strip() if by else criterion.source) or NOT_MEASURED,
        sanitize(f"{statistic}{criterion.metric}"),
        sanitize(f"{nodes}; {where}" if where else nodes),
        f"{word} {_format_bound(criterion, criterion.required, shown)}",
        NOT_MEASURED if criterion.target is None else _format_bound(criterion, criterion.target, shown),
        _format_rounding(criterion, shown),
        number=0,
        worst=NOT_MEASURED,
        mean=NOT_MEASURED,
        of_required=NOT_MEASURED,
        of_target=NOT_MEASURED,
        outcome="not tested",
        state=worst(()),
    )


def _select_values(criterion: Criterion, passed: "AlikePasses") -> list[float]:
    """The values in columns that are of nodes that a criterion speaks of."""
    values: list[float] = passed.value.tolist()
    if not criterion.nodes:
        return values
    return [value for value, node in zip(values, passed.nodes, strict=True) if node in criterion.nodes]


def _sum_up(
    criterion: Criterion, held: Sequence[Verdict], alike: Sequence[tuple[Verdict, Sequence[float]]]
) -> tuple[str, str, str, str]:
    """The worst number that was held against a criterion, the mean of all, and the shares of the worst."""
    choose = min if criterion.comparator is Comparator.AT_LEAST else max
    shares = ((value / (each.required or 1), value, each) for value, each in _read_numbers(held, alike))
    worst_one = choose(shares, key=itemgetter(0), default=None)
    if worst_one is None:
        return (NOT_MEASURED,) * 4
    share, value, found = worst_one
    mean = fmean(value for value, _ in _read_numbers(held, alike))
    of = "" if criterion.basis in (Basis.ABSOLUTE, Basis.CAPACITY) else criterion.basis.value
    peak = f" ({format_share(share * criterion.required)} of {of})" if of else ""
    target = criterion.target
    return (
        format_quantity(value, found.unit, found.shown) + peak,
        format_quantity(mean, found.unit, found.shown),
        format_share(share),
        NOT_MEASURED if not target else format_share(share * criterion.required / target),
    )


def _read_numbers(
    held: Iterable[Verdict], alike: Iterable[tuple[Verdict, Sequence[float]]]
) -> Iterator[tuple[float, Verdict]]:
    """Each finite number that was held against an amount, with its verdict; of ``alike`` ones there are many."""
    for each in held:
        if each.value is not None and math.isfinite(each.value) and each.required:
            yield each.value, each
    for like, values in alike:
        if like.required:
            yield from ((value, like) for value in values if math.isfinite(value))


def format_share(share: float) -> str:
    """A share to a tenth of a percent: 1.4365 is ``143.7 %``."""
    return f"{share * 100:,.1f} %"


def _format_rounding(criterion: Criterion, shown: Shown) -> str:
    if not criterion.rounding:
        return "none"
    if criterion.rounds_share:
        return f"to {percent(criterion.rounding)} of {_name_base(criterion, shown)}"
    return f"to {show(criterion.rounding, criterion.unit, shown)}"


def _format_bound(criterion: Criterion, value: float, shown: Shown) -> str:
    if criterion.basis is Basis.ABSOLUTE:
        return show(value, criterion.unit, shown)
    return f"{percent(value)} of {_name_base(criterion, shown)}"


def _name_base(criterion: Criterion, shown: Shown) -> str:
    if criterion.basis is Basis.REFERENCE:
        return show(criterion.reference, criterion.unit, shown)
    if criterion.other is not None:
        return " ".join((criterion.other.metric, format_labels(criterion.other.where))).rstrip()
    return criterion.basis.value


class FactDifference(NamedTuple):
    """One declared fact that nodes do not meet, or do not share with their class."""

    fact: str
    found: str
    declared: str
    nodes: str
    number: int
    state: State


@share_result
def compare_inventory(view: RunView) -> tuple[int, tuple[FactDifference, ...]]:
    """How many declared facts held, and those that did not, folded by what was found instead."""
    held = 0
    unlike: dict[tuple[str, str, str, State], list[str]] = {}
    for row in list_current_rows(view):
        if row.probe != INVENTORY or row.verdict is None or row.outcome is not RowOutcome.TESTED:
            continue
        if row.state is State.PASS:
            held += 1
            continue
        labels = COLUMNS_BY_NAME["labels"].shown(row)
        fact = f"{row.verdict.metric} ({labels})" if labels else row.verdict.metric
        key = (fact, COLUMNS_BY_NAME["value"].shown(row), COLUMNS_BY_NAME["expected"].shown(row), row.state)
        unlike.setdefault(key, []).extend(row.nodes)
    ordered = sorted(unlike.items(), key=lambda item: (item[0][3].rank, item[0][0]))
    return held, tuple(
        _make_difference(fact, found, declared, nodes, state) for (fact, found, declared, state), nodes in ordered
    )


def _make_difference(fact: str, found: str, declared: str, nodes: Sequence[str], state: State) -> FactDifference:
    texts = shorten_text(fact, 80), shorten_text(found), shorten_text(declared), fold_names(nodes)
    return FactDifference(*texts, len(nodes), state)


def find_unlike_class(view: RunView) -> tuple[FactDifference, ...]:
    """Facts in which a few nodes differ from four fifths of their own class; nothing is judged by it.

    A fact without such a majority (a serial number) is different by nature; one that was judged is shown already.
    """
    judged = {verdict.metric for found in view.verdicts.values() for verdict in found if verdict.probe == INVENTORY}
    answers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for result in superseding(view).values():
        node = result.test.target.node
        for fact in result.facts:
            if fact.fact not in judged and not is_load(fact):
                name = f"{fact.fact} ({format_labels(fact.labels)})" if fact.labels else fact.fact
                answers.setdefault((node.hardware.name, name), []).append((format_fact(fact), node.id))
    return tuple(line for (_, name), told in sorted(answers.items()) for line in _list_minority(name, told))


def _list_minority(fact: str, told: Sequence[tuple[str, str]]) -> Iterator[FactDifference]:
    values = group_by_key(told)
    usual, holders = max(values.items(), key=lambda item: len(item[1]))
    if len(holders) * 5 >= len(told) * 4:
        for value, nodes in values.items():
            if value != usual:
                yield _make_difference(fact, value, usual, nodes, State.MEASURED)


class SwitchLine(NamedTuple):
    """One group of switches that are built alike; ``ratio`` has two decimals, as the field writes it."""

    switches: str
    number: int
    role: str
    down: str
    up: str
    side: str
    ratio: str


def list_oversubscription(view: RunView) -> tuple[SwitchLine, ...]:
    """Static oversubscription per switch, switches of one role that are alike folded into one line."""
    # Here: it brings numpy, which start-up must not wait for.
    from benchconsole.topology.analysis.oversubscription import analyse_oversubscription
    from benchconsole.topology.tables.fabric_tables import make_tables

    alike = group_by_key(
        ((view.fabric.switches[found.switch].role, found.down, found.up, found.side), found)
        for found in analyse_oversubscription(make_tables(view.fabric))
    )
    return tuple(
        SwitchLine(
            switches=fold_names(member.switch for member in members),
            number=len(members),
            role=role,
            down=show(down, Unit.BYTE_RATE, Shown.NETWORK),
            up=show(up, Unit.BYTE_RATE, Shown.NETWORK) if up else "nothing above",
            side=show(side, Unit.BYTE_RATE, Shown.NETWORK) if side else "none",
            ratio=ratio(members[0].ratio),
        )
        for (role, down, up, side), members in alike.items()
    )
