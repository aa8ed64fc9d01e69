"""Pasted text is text: nothing in it acts as a key, wherever the reads of the terminal cut it."""

from collections.abc import Iterator

import pytest
from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

from benchconsole.console.tui import textual_patches
from tests.console.tui.looking import faulty, looking

COLOURED = "\x1b[31mR\x1b[0m :quit\r\n\x1b\x1b[Aq"
"""A coloured line of a log, and what would be keys: a plan, the command line, escape, up."""


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> XTermParser:
    monkeypatch.setattr(XTermParser, "feed", XTermParser.feed)
    assert textual_patches.apply()
    return XTermParser()


def pasted(text: str) -> str:
    return BRACKETED_PASTE_START + text + BRACKETED_PASTE_END


def fed(parser: XTermParser, *reads: str) -> Iterator[Message]:
    for read in reads:
        yield from parser.feed(read)


def told(messages: Iterator[Message]) -> list[str]:
    """Each key by its name, each paste as its text."""
    return [each.key if isinstance(each, events.Key) else repr(each.text) for each in messages
            if isinstance(each, (events.Key, events.Paste))]  # fmt: skip


PLAIN = repr(COLOURED.replace("\x1b", ""))


@pytest.mark.parametrize("first", range(1, len(pasted(COLOURED)) - 1))
def test_a_paste_is_one_text_wherever_it_is_cut(parser: XTermParser, first: int) -> None:
    text = pasted(COLOURED)
    assert told(fed(parser, "2" + text[:first], text[first:] + "3")) == ["2", PLAIN, "3"]


def test_a_paste_that_comes_letter_by_letter_is_one_text(parser: XTermParser) -> None:
    assert told(fed(parser, *"2", *pasted(COLOURED), *"3", *pasted("x"))) == ["2", PLAIN, "3", "'x'"]


def test_a_mark_inside_a_paste_does_not_end_it(parser: XTermParser) -> None:
    text = told(fed(parser, pasted(f"a{BRACKETED_PASTE_END}:quit\r"), "3"))
    assert text == ["'a[201~:quit\\r'", "3"]


def test_keys_outside_a_paste_are_what_they_were(parser: XTermParser) -> None:
    assert told(fed(parser, "\x1b[A", "\x1b[", "B", "\x1b[5~", "q")) == ["up", "down", "pageup", "q"]
    assert told(fed(parser, "\x1b\x1b", "\x1b[A"))[-1] == "up"


def test_the_end_of_the_input_is_the_end(parser: XTermParser) -> None:
    assert told(fed(parser, "2", "")) == ["2"]
    assert parser.is_eof


async def test_a_paste_on_a_page_does_nothing_and_in_a_line_is_one_plain_line() -> None:
    async with looking(faulty()) as look:
        before = look.lines
        look.app.post_message(events.Paste(COLOURED))
        await look.settle()
        assert look.lines == before
        assert len(look.app.screen_stack) == 1
        await look.press("2", "slash")
        look.app.post_message(events.Paste("n00\x1b[31m\nq"))
        await look.settle()
        assert "\x1b" not in look.text
        assert len(look.app.screen_stack) == 1
