"""Columns of facts: what each node told beside what its class declares, and where it differs from its peers. Pure.

A declared fact is judged, and the column shows that verdict; to differ from peers is no verdict, and has no colour.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.node_columns import key_of
from benchconsole.console.tui.queries.node_row import Choice, NodeColumn, NodeRow
from benchconsole.console.tui.queries.told_readings import FactKind, Value, Values
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine, Row, value_tone
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.view.run_view import NodeView, State, state_of, worst
from benchconsole.console.view.wording import NOT_MEASURED, SIGNS, format_fact
from benchconsole.probes.judging.peer_class import find_peer_class
from benchconsole.probes.model.judgement import Yardstick
from benchconsole.probes.model.measuring import Fact
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Hardware, Node, NodeId
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.units import Shown, Unit, counted

FACT = "fact"
"""The kind of a column of facts."""

SHORT_NAMES = {
    "bios": "bios.version", "cores": "cpu.cores", "cpu": "cpu.model", "disks": "disk.count", "driver": "nic.driver",
    "firmware": "nic.firmware", "governor": "cpu.governor", "kernel": "kernel.release", "machine": "system.product",
    "memory": "memory.total", "os": "os.name", "threads": "cpu.threads",
}  # fmt: skip
"""The short words for facts, to their names; a column has the short word where no other column has it."""

UNLIKE = "◇"
"""Stands behind what a node told where most of its peers told another thing."""

NOT_AS_DECLARED = "≠"

FEWEST = 3
"""Nodes of a class from which on one value of theirs may be the usual one."""

_WIDEST = 40
"""Cells of a column of facts: a command line of a kernel is longer than any screen."""

_WIDEST_DECLARED = 16
"""Cells of what is declared; the line below the table says all of it."""

_MOST_PARTS = 4
"""Values of one node that a cell tells; more are counted."""


def name_fact(fact: str, taken: Collection[str] = ()) -> str:
    """The heading of a fact: its short name, else its whole one, where no other column's key is among ``taken``."""
    name = sanitize(fact)
    short = next((short for short, each in SHORT_NAMES.items() if each == fact), name)
    return next((each for each in (short, name) if key_of(each) not in taken), f"{FACT} {name}")


class FoundText:
    """The texts of the ``values`` of one node: ``shown`` counts its parts, ``words`` has each value once.

    ``alike`` is equal for nodes that tell the same as people read it: what the kernel keeps of the memory of a node is
    no difference, nor is the order of its disks. ``lowest`` is the lowest number of its parts.
    """

    __slots__ = ("alike", "lowest", "shown", "values", "words")

    def __init__(self, kind: FactKind, values: Values) -> None:
        texts = Counter(format_value(kind, each) for each in values)
        said = [f"{count:,} × {text}" if len(values) > 1 else text for text, count in texts.items()]
        over = f", {len(said) - _MOST_PARTS:,} more" if len(said) > _MOST_PARTS else ""
        self.values = values
        self.shown = ", ".join(said[:_MOST_PARTS]) + over
        self.words = ", ".join(texts)
        self.alike = tuple(sorted(texts.items()))
        self.lowest = min((each for each in values if isinstance(each, float) and math.isfinite(each)), default=None)


class Usual(NamedTuple):
    """The fact that most of the nodes of a class told: ``number`` of the ``of`` nodes that told anything."""

    text: FoundText
    number: int
    of: int


class _DrawnCell(NamedTuple):
    """The cell of a node as it was judged in ``view``, drawn into ``room`` cells, of which it takes ``width``."""

    view: NodeView
    room: int
    quiet: bool
    pieces: Row
    width: int


class FactColumn(NodeColumn):
    """One fact. ``number`` is the lowest of the parts of a node: of its disks, of its ports.

    Made beside the screen: it looks at every node once.
    """

    def __init__(self, kind: FactKind, nodes: Iterable[Node], taken: Collection[str] = ()) -> None:
        self.choice = Choice(FACT, kind.name)
        self.heading = name_fact(kind.name, taken)
        self.key = key_of(self.heading)
        self.kind = kind
        self.scale = _find_scale(kind)
        every = [*nodes]
        told = {values: FoundText(kind, values) for values in dict.fromkeys(kind.told.values())}
        self._told = {node: told[values] for node, values in kind.told.items()}
        classes = group_by_key((find_peer_class(node), self._told[node.id]) for node in every if node.id in self._told)
        self._usual = {peers: _find_usual(texts) for peers, texts in classes.items()}
        hardware = {node.hardware.name: node.hardware for node in every}
        self._declared = {name: _describe_declared(each, kind) for name, each in hardware.items()}
        self.bound = _find_only(filter(None, self._declared.values()))
        self._keys = {text.words: make_natural_key(text.words) for text in told.values()}
        pairs = {(self._told[node.id].shown, self.describe_declared(node)) for node in every if node.id in self._told}
        declared = max((measure_width(_leave_out_alike(*pair)) for pair in pairs if pair[1]), default=-2)
        behind = len(" ≠") + min(declared, _WIDEST_DECLARED) + len(f" {UNLIKE}")
        found = max((measure_width(text.shown) for text in told.values()), default=1)
        self._found_width = min(found, _WIDEST - behind)
        self._width = max(self._found_width + behind, measure_width(self.heading) + 1)
        self.parts = (DeclaredColumn(self), UnlikeColumn(self))
        self._drawn: dict[NodeId, _DrawnCell] = {}

    @property
    def symbol(self) -> str:
        return ""  # each value has its unit

    @property
    def is_right(self) -> bool:
        return False

    @property
    def width(self) -> int:
        return self._width

    def words(self, row: NodeRow) -> str:
        """The found values, each once."""
        found = self._told.get(row.view.node.id)
        return found.words if found is not None else ""

    def number(self, row: NodeRow) -> float | None:
        found = self._told.get(row.view.node.id)
        return found.lowest if found is not None and self.scale is not None else None

    def sort_key(self, row: NodeRow) -> tuple[object, ...]:
        if self.scale is not None:
            return super().sort_key(row)
        words = self.words(row)
        return (0, self._keys[words]) if words else (1, ())

    def describe_declared(self, node: Node) -> str:
        """The declaration of the class of the node, in words; empty where it declares nothing."""
        return self._declared.get(node.hardware.name, "")

    def find_state(self, row: NodeRow) -> State:
        """The state of a declared fact; MEASURED where it was not judged yet, SKIPPED where it was not told."""
        name = self.kind.name
        of = [v for v in row.view.verdicts if v.metric == name and v.kind is Yardstick.HARDWARE]
        if of:
            return worst(map(state_of, of))
        return State.MEASURED if row.view.node.id in self._told else State.SKIPPED

    def find_unlike(self, row: NodeRow) -> Usual | None:
        """The fact of most peers where this node told another; None where it does not differ."""
        found = self._told.get(row.view.node.id)
        usual = self._usual.get(find_peer_class(row.view.node))
        if found is None or usual is None or found.alike == usual.text.alike:
            return None
        return usual

    def draw(self, line: CellLine, row: NodeRow, wide: int, *, quiet: bool) -> None:
        """The found value, its sign and the declared value, and the mark of a difference from peers.

        A cell stays as it is until its node is judged anew: every key draws all rows in sight.
        """
        known = self._drawn.get(row.view.node.id)
        if known is None or known.view is not row.view or known.room != wide or known.quiet is not quiet:
            known = self._drawn[row.view.node.id] = self._draw_cell(row, wide, quiet=quiet)
        line.add(known.pieces, known.width)

    def _draw_cell(self, row: NodeRow, wide: int, *, quiet: bool) -> _DrawnCell:
        line = CellLine(wide)
        found = self._told.get(row.view.node.id)
        declared = self.describe_declared(row.view.node)
        state = self.find_state(row) if declared else State.PASS
        tone = value_tone(state) if state in _SIGN_OF else MUTED if quiet else TEXT
        shown = found.shown if found is not None else NOT_MEASURED
        room = self._found_width if found is not None else None
        line.put(shown, tone, room, ">" if self.scale is not None else "<")
        if declared:
            line.put(f" {_SIGN_OF.get(state, SIGNS[state].glyph)}", tone)
            line.put(clip_text(_leave_out_alike(shown, declared), min(_WIDEST_DECLARED, line.room)), MUTED)
        if self.find_unlike(row) is not None:
            line.put(f" {UNLIKE}", MUTED)
        return _DrawnCell(row.view, wide, quiet, line.row(), line.at)

    def record(self, row: NodeRow) -> object:
        """Values in base units, one for each part; ``usual`` are those of most peers where these are others."""
        found, usual = self._told.get(row.view.node.id), self.find_unlike(row)
        declared = row.view.node.hardware.facts.get(self.kind.name)
        return {
            "fact": self.kind.name, "unit": None if self.kind.unit is None else self.kind.unit.value,
            "found": None if found is None else list(map(_take_value, found.values)),
            "declared": declared if declared is not None else self.describe_declared(row.view.node) or None,
            "state": self.find_state(row).value if self.describe_declared(row.view.node) else None,
            "differs_from_peers": usual is not None,
            "usual": None if usual is None else list(map(_take_value, usual.text.values)),
            "usual_of": None if usual is None else [usual.number, usual.of],
        }  # fmt: skip

    def tell(self, row: NodeRow) -> str:
        found, declared = self._told.get(row.view.node.id), self.describe_declared(row.view.node)
        said = [f"{sanitize(self.kind.name)} {found.shown if found is not None else 'not told'}"]
        if declared:
            state = self.find_state(row)
            judged = _WORDS_OF.get(state, SIGNS[state].word)
            said.append(judged if found is not None and found.shown == declared else f"{declared} declared: {judged}")
        usual = self.find_unlike(row)
        if usual is not None:
            said.append(self.describe_usual(usual))
        return ", ".join(said)

    def describe_usual(self, usual: Usual) -> str:
        """The fact of most nodes of the class, itself among those that are counted, in words."""
        return f"differs: {usual.number:,} of {counted(usual.of, 'node')} of its class told {usual.text.shown}"

    def deviates(self, row: NodeRow) -> bool:
        return bool(self.describe_declared(row.view.node)) and self.find_state(row).rank <= State.AFFECTED.rank


class DeclaredColumn(NodeColumn):
    """The declared value beside a fact: ``128 GiB``, ``≠ 128 GiB`` where it is not so."""

    def __init__(self, of: FactColumn) -> None:
        self.choice = of.choice
        self.key, self.heading, self.of = f"{of.key}.declared", f"{of.heading} declared", of

    def words(self, row: NodeRow) -> str:
        declared = self.of.describe_declared(row.view.node)
        if not declared:
            return ""
        state = self.of.find_state(row)
        return declared if state is State.PASS else f"{_SIGN_OF.get(state, SIGNS[state].glyph)} {declared}"


class UnlikeColumn(NodeColumn):
    """Where a fact differs from that of most peers, and what they told; empty where it does not."""

    def __init__(self, of: FactColumn) -> None:
        self.choice = of.choice
        self.key, self.heading, self.of = f"{of.key}.peers", f"{of.heading} peers", of

    def words(self, row: NodeRow) -> str:
        usual = self.of.find_unlike(row)
        return self.of.describe_usual(usual) if usual is not None else ""


_SIGN_OF = {State.FAIL: NOT_AS_DECLARED, State.WATCH: NOT_AS_DECLARED}
_WORDS_OF = {
    State.PASS: "as declared", State.FAIL: "not as declared", State.WATCH: "not as declared",
    State.MEASURED: "not judged", State.SKIPPED: "not judged",
}  # fmt: skip


def format_value(kind: FactKind, value: Value) -> str:
    """One value as people read it."""
    return format_fact(Fact(kind.name, value, None if isinstance(value, str) else kind.unit))


def _find_scale(kind: FactKind) -> Scale | None:
    """The scale of a fact of numbers; None for one that any node told in words."""
    if kind.unit is None or any(isinstance(each, str) for values in {*kind.told.values()} for each in values):
        return None
    shown = Shown.MEMORY if kind.name.startswith(("memory.", "numa.")) else Shown.PLAIN
    shown = Shown.NETWORK if kind.unit is Unit.BYTE_RATE else shown
    numbers = [each for values in kind.told.values() for each in values if isinstance(each, float)]
    return scale_for(kind.unit, shown, numbers)


def _find_usual(found: Iterable[FoundText]) -> Usual | None:
    """The fact of most nodes of a class; None where they are few, or where as many told another."""
    of = group_by_key((text.alike, text) for text in found)
    (first, *second) = sorted(map(len, of.values()), reverse=True)[:2]
    total = sum(map(len, of.values()))
    if total < FEWEST or second == [first]:
        return None
    return next(Usual(texts[0], first, total) for texts in of.values() if len(texts) == first)


def _describe_declared(hardware: Hardware, kind: FactKind) -> str:
    """The declaration of a class for a fact, in words; empty where it asks nothing."""
    said = []
    declared = hardware.facts.get(kind.name)
    if declared is not None:
        said.append(format_value(kind, declared))
    for key, rule in hardware.rules.items():
        name, *parts = key.split()
        if name == kind.name:
            said.append(" ".join((sanitize(rule.text), *map(sanitize, parts))))
    return " and ".join(said)


def _find_only(texts: Iterable[str]) -> str:
    """The text that all of them are; empty where they differ."""
    found = {*texts}
    return found.pop() if len(found) == 1 else ""


def _leave_out_alike(found: str, declared: str) -> str:
    """The declared value behind the found one: nothing where both read alike, no unit where both have the same."""
    if found == declared:
        return ""
    number, _, unit = declared.rpartition(" ")
    is_same_unit = number and found.endswith(f" {unit}") and number.replace(".", "").replace(",", "").isdecimal()
    return f" {number}" if is_same_unit else f" {declared}"


def _take_value(value: Value) -> Value | None:
    """A value that JSON has."""
    return value if isinstance(value, str) or math.isfinite(value) else None
