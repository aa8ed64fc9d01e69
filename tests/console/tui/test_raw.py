"""The raw output with a filter: lines by words, where the value was read, what is copied, text that looks like more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from benchconsole.console.tui.queries.evidence import MarkedText, OutputText
from benchconsole.console.tui.queries.filtering import ReadRows, compile_words
from benchconsole.console.tui.queries.raw_output import read_output
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.raw import OutputLine, OutputLines, RawPane
from benchconsole.probes.model.measuring import Output
from benchconsole.topology.copying import replace
from tests.console.tui.looking import Look, faulty, looking

LINES = ("connected", "rate=9.41 Gbit", "Retries 7", "", "sum rate=9.40 Gbit", "done [x] a>b")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("rate", [1, 4]),
        ("RATE sum", [4]),
        ("rate & !sum", [1]),
        ("!rate", [0, 2, 3, 5]),
        ("retries|done", [2, 5]),
        ("rate=9.40", [4]),
        ("a>b", [5]),
        ("[x]", [5]),
        ("nothing of it", []),
        ("&", [0, 1, 2, 3, 4, 5]),
        ("~^rate", [1]),
        ("~^$", [3]),
        (r"~\d\.\d+ g", [1, 4]),
        ("rate & !~^sum", [1]),
        ("~a>b & done", [5]),
    ],
)
def test_lines_are_kept_by_words_and_signs_are_text(text: str, kept: list[int]) -> None:
    chosen = compile_words(text)
    lines = [OutputLine(at, line) for at, line in enumerate(LINES)]
    assert [line.place for line in chosen.select(ReadRows(lines))] == kept


@asynccontextmanager
async def raw_output(size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Look, RawScreen]]:
    """The output of the first result, with lines of our own and the value read in one of them."""
    async with looking(faulty(), size) as look:
        await look.press("colon", *"results", "enter")
        await look.until(lambda: bool(look.app.screen.table.items))  # type: ignore[attr-defined]
        await look.press("enter")
        screen = look.app.screen
        assert isinstance(screen, RawScreen)
        screen.raw.show(OutputText("iperf3 --json", "exit 0, 5.0 s", LINES, MarkedText(4, 4, 9), 0, 1))
        await look.press("slash")
        yield look, screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_slash_shows_the_lines_with_a_word_and_the_mark_stays_on_its_line(size: tuple[int, int]) -> None:
    async with raw_output(size) as (look, screen):
        await look.press(*"rate")
        assert [line.place for line in screen.raw.items] == [1, 4]
        assert any("2 of 6 lines shown   esc clears" in line for line in look.lines)
        (marked,) = [line for line in look.lines if "the value was read here" in line]
        assert "sum rate=9.40" in marked
        await look.press("backspace", "backspace", "backspace", "backspace", *"!sum", "enter")
        assert any("5 of 6 lines shown, not the one that the value was read from" in line for line in look.lines)
        assert not any("the value was read here" in line for line in look.lines)
        assert all(len(line) <= size[0] for line in look.lines)


async def test_esc_clears_the_filter_before_it_leaves_the_page() -> None:
    async with raw_output() as (look, screen):
        await look.press(*"zzz", "enter")
        assert any("no line matches this filter, esc clears it" in line for line in look.lines)
        await look.press("escape")
        assert look.app.screen is screen
        assert screen.raw.count == len(LINES)
        await look.press("escape")
        assert look.app.screen is not screen


async def test_a_typed_command_filters_and_y_copies_what_is_shown() -> None:
    async with raw_output() as (look, screen):
        screen.commands["filter"].do("rate !sum")
        screen.raw.focus()
        await look.press("Y")
        assert look.app.clipboard == "rate=9.41 Gbit\n"
        assert "1 line of the output" in look.lines[-1]
        screen.commands["filter"].do("")
        await look.press("Y")
        assert look.app.clipboard == "\n".join(LINES) + "\n"


async def test_an_expression_that_is_none_is_said_with_its_place_and_changes_nothing() -> None:
    async with raw_output() as (look, screen):
        await look.press(*"~rate=[0-9.]+")
        assert [line.place for line in screen.raw.items] == [1, 4]
        await look.press(*"(")
        assert any("character 13 of the expression: missing )" in line for line in look.lines)
        assert [line.place for line in screen.raw.items] == [1, 4]


async def test_an_expression_that_takes_too_long_hides_no_line() -> None:
    async with raw_output() as (look, screen):
        screen.raw.show(OutputText("fio", "", ("a" * 3000, "b")))
        screen.commands["filter"].do("~(.*a){30}b")
        await look.pilot.pause()
        assert screen.raw.count == 2
        assert any(
            "takes too long: 0.05 s for a row, or 0.5 s for all of them   all are shown" in line for line in look.lines
        )


def test_another_output_is_shown_through_the_same_filter() -> None:
    pane = RawPane()
    pane.show(OutputText("a", "", LINES), compile_words("rate"))
    pane.show(OutputText("b", "", ("rate 1", "no")), pane.filter)
    assert [line.text for line in pane.items] == ["rate 1"]


MANY = 30_000


@pytest.mark.parametrize("is_error", [False, True])
async def test_every_line_of_a_long_output_is_shown_found_and_copied(is_error: bool) -> None:
    """Where the value was read at its end, the mark is there, too."""
    story = faulty()
    result = story.closed[1].results[0]
    reading = replace(result.measurements[0], raw=f"rate {MANY - 1} Gbit")
    text = "".join(f"rate {each} Gbit\n" for each in range(MANY)).encode()
    output = Output(("tool",), b"" if is_error else text, text if is_error else b"")
    shown = read_output(replace(result, outputs=(output,)), reading)
    async with raw_output() as (look, screen):
        screen.raw.show(shown)
        assert screen.raw.count > MANY
        await look.press(*f"rate {MANY - 1}")
        assert [line.text for line in screen.raw.items] == [f"rate {MANY - 1} Gbit"]
        assert "the value was read here" in look.text
        await look.press("enter", "Y")
        assert look.app.clipboard == f"rate {MANY - 1} Gbit\n"


async def test_an_output_that_was_cut_says_so_with_and_without_a_filter() -> None:
    result = faulty().closed[1].results[0]
    shown = read_output(replace(result, outputs=(Output(("tool",), b"one\ntwo", truncated=True),)))
    async with raw_output() as (look, screen):
        screen.raw.show(shown)
        await look.press("escape")
        screen._annotate()
        await look.settle()
        assert "2 lines kept, the rest was cut off when it was read" in look.text
        await look.press("slash", *"two", "enter")
        assert "1 of 2 lines shown kept" not in look.text
        assert "1 of 2 lines kept shown, the rest was cut off" in look.text
        await look.press("slash", "ctrl+u", *"three", "enter")
        assert "no line of what is kept matches this filter" in look.text


def test_lines_of_a_slice_keep_their_places() -> None:
    every = OutputLines(LINES, range(len(LINES)))
    assert [(each.place, each.text) for each in every[1:3]] == [(1, "rate=9.41 Gbit"), (2, "Retries 7")]
    assert every[4:][0].place == 4
