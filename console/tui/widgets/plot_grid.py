"""The cells of a picture: characters, and braille dots below them, from which rows are made; items of its legend."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width
from benchconsole.console.tui.rows.themes import TEXT, Ground, Tone

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass(slots=True)
class PlotGrid:
    """Cells of the plot: characters by row and column, and dots, four rows and two columns to a cell."""

    width: int
    height: int
    cells: dict[tuple[int, int], CellText] = field(default_factory=dict)
    dots: dict[tuple[int, int], tuple[int, Tone]] = field(default_factory=dict)

    def put(self, row: int, column: int, piece: CellText) -> None:
        """One character, over what is there."""
        if 0 <= row < self.height and 0 <= column < self.width:
            self.cells[row, column] = piece

    def dot(self, x: int, y: int, tone: Tone) -> None:
        """One dot, counted in dots from the upper left corner."""
        place = (y // 4, x // 2)
        if 0 <= place[0] < self.height and 0 <= place[1] < self.width:
            bits = self.dots.get(place, (0, tone))[0]
            self.dots[place] = (bits | _DOTS[y % 4][x % 2], tone)

    def row(self, row: int) -> Iterator[CellText]:
        """One row of cells; characters are above dots. Neighbours of one tone, and blanks after them, are one piece."""
        texts: list[str] = []
        tone = TEXT
        for column in range(self.width):
            found = self.cells.get((row, column))
            if found is None:
                blank = tone if tone.ground is Ground.BG else TEXT
                bits, its = self.dots.get((row, column), (0, blank))
                text = chr(0x2800 + bits) if bits else " "
            else:
                text, its = found
            if its != tone and texts:
                yield CellText("".join(texts), tone)
                texts = []
            tone = its
            texts.append(text)
        yield CellText("".join(texts), tone)


def list_between(one: tuple[int, int], other: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Every dot on the line from one to the other."""
    steps = max(abs(other[0] - one[0]), abs(other[1] - one[1]), 1)
    for step in range(steps + 1):
        yield (one[0] + round((other[0] - one[0]) * step / steps), one[1] + round((other[1] - one[1]) * step / steps))


def wrap_items(items: Iterable[Row], width: int) -> list[Row]:
    """The items of a legend beside each other, in as many rows as they take."""
    lines = [CellLine(width).to(1)]
    for item in items:
        if lines[-1].at > 1 and row_width(item) + 3 > lines[-1].room:
            lines.append(CellLine(width).to(1))
        lines[-1].put("   " if lines[-1].at > 1 else "").extend(item)
    return [line.row() for line in lines]
