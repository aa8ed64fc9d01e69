"""The columns that the table of nodes can have: read from a session, offered by name, and made. Pure.

``SOURCES`` has one entry for each kind of column.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.fact_columns import FACT, FactColumn, name_fact
from benchconsole.console.tui.queries.measured_columns import MeasuredColumn
from benchconsole.console.tui.queries.node_columns import METRIC, ColumnCache, MetricColumn, add_headings, key_of
from benchconsole.console.tui.queries.node_row import DEFAULT, Choice, ColumnId, NodeColumn, NodeRow, expand_default
from benchconsole.console.tui.queries.peer_columns import OF_PEERS, PeerShareColumn
from benchconsole.console.tui.queries.told_readings import FactKind, ReadingsCache, ToldReadings
from benchconsole.console.tui.queries.view_queries import is_shared
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.errors import find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown, Unit, counted

FACTS = "facts"
"""Where facts stand among what is offered; metrics stand under their stages."""


class Offer(NamedTuple):
    """A column that can be chosen: what is typed for it, where it stands, and how many nodes have it."""

    choice: Choice
    name: str
    group: str
    words: str


class ChoiceError(ValueError):
    """``word`` names no column; ``expected`` says what could stand there."""

    def __init__(self, word: str, expected: str) -> None:
        self.word = word
        self.expected = expected
        super().__init__(f"{word}: {expected}")


class ReadSession(NamedTuple):
    """The sources of columns: a view, the judged metrics in columns, and what nodes told.

    ``default`` are the metrics that a table has unasked; ``headings`` are those of every metric, judged or not.
    """

    view: RunView
    default: tuple[MetricColumn, ...]
    metrics: tuple[MetricColumn, ...]
    told: ToldReadings
    headings: Mapping[ColumnId, str]


class ColumnSource(Protocol):
    """One kind of column of one session."""

    def list_offers(self) -> Iterable[Offer]:
        """The columns of this kind, in the order in which they are offered."""

    def make(self, choice: Choice) -> NodeColumn | None:
        """The column of a choice; None where it is of another kind, or not there."""


class JudgedSource:
    """Metrics that verdicts speak of."""

    def __init__(self, read: ReadSession) -> None:
        self._read = read
        self._columns = {column.choice: column for column in read.metrics}

    def list_offers(self) -> Iterator[Offer]:
        nodes = _count_judged(self._read.view)
        for column in self._columns.values():
            words = f"{counted(nodes.get(column.id, 0), 'node')}, judged: {sanitize(column.choice.name)}"
            yield Offer(column.choice, column.key, sanitize(column.choice.stage), words)

    def make(self, choice: Choice) -> NodeColumn | None:
        return self._columns.get(choice)


class MeasuredSource:
    """Metrics that were measured and not judged."""

    def __init__(self, read: ReadSession) -> None:
        view, measured = read.view, read.told.measured
        judged = (verdict for verdicts in view.verdicts.values() for verdict in verdicts)
        self._headings = read.headings
        self._shown: Mapping[tuple[str, Unit | None], Shown] = {(v.probe, v.unit): v.shown for v in judged}
        self._kinds = {Choice(METRIC, *key): kind for key, kind in measured.items()}

    def list_offers(self) -> Iterator[Offer]:
        for choice, kind in self._kinds.items():
            words = f"{counted(len(kind.values), 'node')}, not judged: {sanitize(choice.name)}"
            yield Offer(choice, key_of(self._headings[kind.id]), sanitize(choice.stage), words)

    def make(self, choice: Choice) -> NodeColumn | None:
        kind = self._kinds.get(choice)
        if kind is None:
            return None
        shown = self._shown.get((kind.probe, kind.unit), Shown.PLAIN)
        return MeasuredColumn(kind, self._headings[kind.id], shown)


class PeerSource:
    """The deviation of a column from peers; it is worked out with the columns beside it."""

    def __init__(self, read: ReadSession) -> None:
        self._is_there = bool(read.metrics or read.told.measured)

    def list_offers(self) -> Iterator[Offer]:
        if self._is_there:
            yield Offer(
                OF_PEERS, OF_PEERS.name, "peers", "percent of the median of peers, of the column under the cursor"
            )

    def make(self, choice: Choice) -> NodeColumn | None:
        return PeerShareColumn() if choice == OF_PEERS else None


class FactSource:
    """Facts that nodes told of themselves."""

    def __init__(self, read: ReadSession) -> None:
        self._read = read
        self._taken = frozenset((*map(key_of, read.headings.values()), OF_PEERS.name, DEFAULT.name))
        self._made: dict[str, FactColumn] = {}

    def list_offers(self) -> Iterator[Offer]:
        for name, kind in self._read.told.facts.items():
            words = f"{counted(len(kind.told), 'node')}, {counted(kind.distinct, 'value')}: {sanitize(name)}"
            yield Offer(Choice(FACT, name), key_of(name_fact(name, self._taken)), FACTS, words)

    def make(self, choice: Choice) -> NodeColumn | None:
        kind: FactKind | None = self._read.told.facts.get(choice.name) if choice.kind == FACT else None
        if kind is None:
            return None
        if kind.name not in self._made:
            self._made[kind.name] = FactColumn(kind, self._read.view.fabric.nodes.values(), self._taken)
        return self._made[kind.name]


SOURCES: Sequence[Callable[[ReadSession], ColumnSource]] = (JudgedSource, MeasuredSource, PeerSource, FactSource)
"""One for each kind of column, in the order in which they are offered."""


class ColumnOffers:
    """The columns of one view of a session. ``offers`` are all of them, metrics by the order of their stages."""

    def __init__(self, read: ReadSession) -> None:
        self.view = read.view
        self.default = tuple(column.choice for column in read.default)
        self._sources = [make(read) for make in SOURCES]
        places = {stage: place for place, stage in enumerate(dict.fromkeys(each.stage for each in read.view.plan))}
        every = [offer for source in self._sources for offer in source.list_offers()]
        every.sort(key=lambda offer: places.get(offer.choice.stage, len(places)))
        self.offers = tuple(every)

    def make(self, choices: Iterable[Choice], rows: Collection[NodeRow]) -> tuple[NodeColumn, ...]:
        """The columns of ``choices`` that are there, in their order; looks at every row where a column needs it."""
        found = (self._make(choice) for choice in self.expand(choices))
        made = [column for column in found if column is not None]
        for column in made:
            column.prepare(rows, made)
        return tuple(made)

    def expand(self, choices: Iterable[Choice]) -> tuple[Choice, ...]:
        """``choices`` with the metrics that ``DEFAULT`` stands for, each once."""
        return expand_default(choices, self.default)

    def contract(self, choices: Iterable[Choice]) -> tuple[Choice, ...]:
        """``choices`` with ``DEFAULT`` in place of the metrics that it stands for, where all of them are there."""
        every = tuple(dict.fromkeys(choices))
        if not self.default or not {*self.default} <= {*every}:
            return every
        return (DEFAULT, *(each for each in every if each not in self.default))

    def resolve(self, names: Iterable[str]) -> tuple[Choice, ...]:
        """The choices that were typed. ChoiceError for a name that is none, or that several columns may mean."""
        return tuple(dict.fromkeys(map(self._resolve, names)))

    def _make(self, choice: Choice) -> NodeColumn | None:
        return next((made for source in self._sources if (made := source.make(choice)) is not None), None)

    def _resolve(self, name: str) -> Choice:
        wanted = name.lower()
        if wanted == DEFAULT.name:
            return DEFAULT
        known = {offer.name: offer for offer in reversed(self.offers)}
        if wanted in known:
            return known[wanted].choice
        whole = [each for each in self.offers if wanted in (each.choice.name.lower(), key_of(each.choice.name))]
        near = whole or [
            each for each in self.offers if each.name.startswith(wanted) or each.name.endswith(f".{wanted}")
        ]
        if len(near) == 1:
            return near[0].choice
        if near:
            raise ChoiceError(name, f"one of {', '.join(each.name for each in near)}")
        guess = find_near(wanted, known)
        raise ChoiceError(name, f"no such column{f', did you mean {guess}?' if guess else ''}")


class ColumnReader:
    """Reads what columns a session has, over one view after the other. Not for several threads at once.

    ``count`` is how many answers of nodes were read so far.
    """

    def __init__(self) -> None:
        self._metrics = ColumnCache()
        self._readings = ReadingsCache()

    @property
    def count(self) -> int:
        return self._readings.count

    def read_metrics(self, view: RunView) -> ColumnOffers:
        """The judged metrics of ``view``, for which nothing has to be read."""
        default, metrics, headings = self._list_metrics(view)
        return ColumnOffers(ReadSession(view, default, metrics, ToldReadings({}, {}), headings))

    def read(self, view: RunView) -> ColumnOffers:
        """The columns of ``view``: every fact of every node is read once. StoreError where that is impossible."""
        default, metrics, headings = self._list_metrics(view)
        told = self._readings.update(view, headings)
        add_headings(headings, told.measured)
        return ColumnOffers(ReadSession(view, default, metrics, told, headings))

    def _list_metrics(
        self, view: RunView
    ) -> tuple[tuple[MetricColumn, ...], tuple[MetricColumn, ...], dict[ColumnId, str]]:
        default = self._metrics.list_columns(view)
        metrics = self._metrics.list_columns(view, every=True)
        return default, metrics, {column.id: column.heading for column in metrics}


def _count_judged(view: RunView) -> dict[ColumnId, int]:
    """How many nodes have a number of each judged metric of a stage: of a sum those that sent a part of it."""
    stages = {each.number: each.stage for each in view.plan}
    sent = (result.test for result in view.results.values() if result.test.bundle and len(result.measurements))
    senders = group_by_key(((test.round, test.bundle), test.target.node.id) for test in sent)
    found: dict[ColumnId, set[str]] = {}
    for verdicts in view.verdicts.values():
        for verdict in verdicts:
            if verdict.value is not None:
                nodes = senders.get((verdict.round, verdict.subject), ()) if is_shared(verdict) else verdict.nodes
                found.setdefault((verdict.metric, stages.get(verdict.round, "")), set()).update(nodes)
    return {key: len(nodes) for key, nodes in found.items()}
