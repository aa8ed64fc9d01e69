"""The picture of a fabric as text: boxes in tiers from the core down, the lines between them and their numbers.

One line runs from a box down to everything below it; what joins a box to the one above is written beside the line
that enters it. The highest oversubscription has a heavy frame.
"""

from collections.abc import Mapping, Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.picture.box_layout import PORT, Layout, Place
from benchconsole.console.text.picture.canvas import Canvas
from benchconsole.console.text.picture.captions import Captions, entry, wrap_caption
from benchconsole.console.text.sanitize import sanitize
from benchconsole.topology.outline.boxes import Box, Outline

NARROWEST = 60
NAME_LINES = 3
"""Lines of a name that does not fit into its frame."""


def draw(outline: Outline, width: int, *, ascii_only: bool = False) -> list[str]:
    """``outline`` as lines of at most ``width`` columns, 60 at least; nothing in them acts on a terminal."""
    width = max(width, NARROWEST)
    captions = Captions(outline)
    layout = Layout(captions, width)
    notes = list(captions.notes())
    if not layout.fits:
        layout = Layout(captions, width, lines=False)
        notes.append("More lines than fit into this width: each box names what it is joined to.")
    canvas = Canvas()
    _Painter(canvas, captions, layout).paint()
    notes = [line for note in notes for line in wrap_caption(note, width)]
    return [*canvas.lines(ascii_only=ascii_only), *([""] if notes else []), *notes]


class _Painter:
    """Goes down the rows of a layout; ``lines`` are those that still go on: their column, and where they start."""

    def __init__(self, canvas: Canvas, captions: Captions, layout: Layout) -> None:
        self.canvas = canvas
        self.captions = captions
        self.layout = layout
        self.lines: dict[str, tuple[int, int]] = {}

    def paint(self) -> None:
        top = 0
        for places in self.layout.rows:
            tracks = _tracks(places, self.lines)
            words = top + max(tracks.values(), default=-1) + 1
            ends = [*(place.x - 1 for place in places[1:]), self.layout.width]
            written = [self._words(place, words, end) for place, end in zip(places, ends, strict=True)]
            frame = max(top + bool(top), words + max(written))
            heights = {place.net: self._box(place, place.box, frame) for place in places if place.box is not None}
            asides = [len(place.aside) + 2 for place in places]
            end = frame + max([*heights.values(), *asides])
            self._enter(places, {net: top + track for net, track in tracks.items()}, (frame, end))
            self.lines = {
                place.net: (place.x, end) if place.box is None else (place.x + PORT, frame + heights[place.net] - 1)
                for place in places
                if place.goes_on
            }
            top = end

    def _words(self, place: Place, row: int, end: int) -> int:
        """Write what joins a box to those above it, from ``row`` on and left of ``end``; how many lines it took."""
        lines: list[str] = []
        for up in place.ups:
            above = self.captions.box(up) if len(place.ups) > 1 else None
            lines += entry(self.layout.edges[frozenset((place.net, up))], above)
        column = place.hooks[-1] + 2 if place.hooks else 0
        lines = [part for line in lines for part in wrap_caption(line, end - column)]
        for number, line in enumerate(lines):
            self.canvas.write(row + number, column, line)
        return len(lines)

    def _enter(self, places: Sequence[Place], tracks: Mapping[str, int], rows: tuple[int, int]) -> None:
        """The lines from above: into the frames of boxes, or past the row to its end."""
        frame, end = rows
        for net, (column, start) in self.lines.items():
            ends = [(place.x, end) for place in places if place.box is None and place.net == net]
            for place in places:
                ends += [(at, frame) for up, at in zip(place.ups, place.hooks, strict=True) if up == net]
            turn = tracks.get(net)
            if turn is None:
                self.canvas.upright(net, column, (start, max(row for _, row in ends)))
                continue
            self.canvas.upright(net, column, (start, turn))
            across = [column, *(at for at, _ in ends)]
            self.canvas.level(net, turn, (min(across), max(across)))
            for at, row in ends:
                self.canvas.upright(net, at, (turn, row))

    def _box(self, place: Place, box: Box, row: int) -> int:
        """A box with its frame from ``row`` on; how many rows it took."""
        heavy = self.captions.is_worst(box)
        left, level, right, side, low_left, low_right = "┏━┓┃┗┛" if heavy else "┌─┐│└┘"
        inner = place.width - 4
        facts = (*self.captions.facts(box), *self.layout.named(box, place.apart))
        lines = [part for fact in facts for part in wrap_caption(fact, inner)]
        write = self.canvas.write
        write(row, place.x, left + level * (place.width - 2) + right)
        count = f" ×{box.count:,} " if box.count > 1 else ""
        write(row, place.x + place.width - 1 - len(count), count)
        name, at = sanitize(box.name), place.hooks[-1] + 1 if place.hooks else place.x + 1
        if measure_width(name) + 2 < place.x + place.width - 1 - len(count) - at:
            write(row, at, f" {name} ")
        else:
            lines = [*_name(name, inner), *lines]
        for number, line in enumerate(lines, row + 1):
            write(number, place.x, f"{side} {line}{' ' * (inner - measure_width(line))} {side}")
        last = row + len(lines) + 1
        write(last, place.x, low_left + level * (place.width - 2) + low_right)
        self._joints(place, heavy, (row, last))
        return len(lines) + 2

    def _joints(self, place: Place, heavy: bool, rows: tuple[int, int]) -> None:
        """Where lines meet the frame of a box, and the line to the box on its left."""
        first, last = rows
        for column in place.hooks:
            self.canvas.write(first, column, "┷" if heavy else "┴")
        if place.goes_on:
            self.canvas.write(last, place.x + PORT, "┯" if heavy else "┬")
        if place.aside:
            start = place.x - place.gap
            self.canvas.write(first + 1, start - 1, "╞" + "═" * place.gap + "╡")
            for number, line in enumerate(place.aside, first + 2):
                self.canvas.write(number, start + 1, line)


def _name(name: str, width: int) -> list[str]:
    """A long name in a few lines; a cut one ends in an ellipsis."""
    lines = wrap_caption(name, width)
    return (
        [*lines[: NAME_LINES - 1], clip_text("".join(lines[NAME_LINES - 1 :]), width)] if lines[NAME_LINES:] else lines
    )


def _tracks(places: Sequence[Place], lines: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """For each line that does not run straight down, how many rows below the last it turns.

    The rightmost turns first: so the fewest lines cross when boxes stand below the first of theirs.
    """
    found: dict[str, int] = {}
    taken: list[list[tuple[int, int]]] = []
    for net, (column, _) in sorted(lines.items(), key=lambda line: -line[1][0]):
        columns = {column}
        for place in places:
            columns |= {at for up, at in zip(place.ups, place.hooks, strict=True) if up == net}
            columns |= {place.x} if place.box is None and place.net == net else set()
        if len(columns) == 1:
            continue
        low, high = min(columns), max(columns)
        track = 0
        while track < len(taken) and any(low <= last + 1 and first <= high + 1 for first, last in taken[track]):
            track += 1
        if track == len(taken):
            taken.append([])
        taken[track].append((low, high))
        found[net] = track
    return found
