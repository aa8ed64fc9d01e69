"""DOT: a strict reader of the part of the language that is written, and Graphviz itself where it is installed."""

import html
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.exporters.diagram import make_diagram
from benchconsole.topology.exporters.dot import export
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from tests.topology.exporters.drawn import Drawn, same
from tests.topology.exporters.hostile import hostile, large
from tests.topology.wild import MAX_SEED, wild

_TOKEN = re.compile(r'\s*(?:(--)|("(?:[^"\\]|\\.)*")|([A-Za-z_][A-Za-z_0-9]*)|([0-9]+)|([{}\[\];,=]))')
_KEYWORDS = ("node", "edge", "graph", "digraph", "subgraph", "strict")


class _Reader:
    """Recursive descent over the grammar of https://graphviz.org/doc/info/lang.html; anything else is an error."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.drawn = Drawn()
        self.ranks: list[list[str]] = []
        self.path: tuple[str, ...] = ()

    def take(self, wanted: str | None = None) -> str:
        token = self.tokens.pop(0)
        assert wanted is None or token == wanted, (token, wanted)
        return token

    def graph(self) -> None:
        self.take("graph")
        assert self.take().startswith('"')
        self.take("{")
        self.statements()
        self.take("}")
        assert not self.tokens

    def statements(self) -> None:
        while self.tokens[0] != "}":
            self.statement()

    def statement(self) -> None:
        word = self.take()
        if word in ("graph", "node", "edge"):
            self.attributes()
            self.take(";")
        elif word == "subgraph":
            name = self.take().removeprefix("cluster_")
            self.take("{")
            self.path = (*self.path, name)
            self.statements()
            self.path = self.path[:-1]
            self.take("}")
        elif word == "{":
            for part in ("rank", "=", "same", ";"):
                self.take(part)
            self.ranks.append([])
            while self.tokens[0] != "}":
                self.ranks[-1].append(self.take())
                self.take(";")
            self.take("}")
        elif self.tokens[0] == "=":
            self.take("=")
            assert word == "label"
            self.drawn.groups[self.path[-1]] = _text(self.take())
            self.take(";")
        else:
            self.element(word)

    def element(self, first: str) -> None:
        assert first.lower() not in _KEYWORDS
        assert re.fullmatch(r"b\d+", first)
        second = None
        if self.tokens[0] == "--":
            self.take("--")
            second = self.take()
        label = _text(self.attributes()["label"])
        self.take(";")
        if second is None:
            self.drawn.box(first, label, self.path)
        else:
            self.drawn.edges.append((first, second, label))

    def attributes(self) -> dict[str, str]:
        self.take("[")
        found = {}
        while True:
            name = self.take()
            self.take("=")
            found[name] = self.take()
            if self.take() == "]":
                return found


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        assert match is not None, text[at : at + 40]
        yield next(part for part in match.groups() if part is not None)
        at = match.end()


def _text(token: str) -> str:
    """The text that Graphviz shows for a quoted label: escapes, then entities of HTML."""
    assert token[0] == token[-1] == '"'
    signs = {"n": "\n", '"': '"', "\\": "\\"}
    return html.unescape(re.sub(r"\\(.)", lambda escape: signs[escape[1]], token[1:-1]))


def _read(text: str) -> _Reader:
    reader = _Reader(text)
    reader.graph()
    return reader


@pytest.mark.parametrize("make", [hostile, large])
def test_it_reads_back_as_what_was_to_be_drawn(make: Callable[[], Fabric]) -> None:
    described = make()
    reader = _read(export(described))
    same(reader.drawn, make_diagram(described))
    assert reader.ranks == [
        [box.id for box in boxes]
        for boxes in group_by_key((box.tier, box) for box in make_diagram(described).outline.boxes).values()
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, MAX_SEED))
def test_any_fabric_reads_back(seed: int) -> None:
    described = wild(seed, most=80)
    same(_read(export(described)).drawn, make_diagram(described))


def test_edges_go_from_the_core_down_and_the_worst_is_heavy() -> None:
    text = export(large())
    assert '  b0 -- b1 [label="4 x 40 Gb/s LAG\\n4 cables, 160 Gb/s"];\n' in text
    assert '7.50:1 down:up\\nthe worst ratio", penwidth=3];' in text
    assert text.count("penwidth") == 1


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed: its own reading is not tested")
@pytest.mark.parametrize("make", [hostile, large])
def test_graphviz_reads_it_and_keeps_markup_out(make: Callable[[], Fabric]) -> None:
    done = subprocess.run(
        ["dot", "-Tsvg"], input=export(make()), capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    assert "<script" not in done.stdout
