import re

import pytest

from benchconsole.probes.api import ProbeOutputError
from benchconsole.probes.readers.lines import (
    dedent_lines,
    find_match,
    find_matches,
    read_lines,
    refuse_lines,
    shorten,
    split_fields,
    strip_lines,
)

WORD = re.compile("[a-z]+")


def test_a_line_without_its_end_is_not_read() -> None:
    assert read_lines("one\ntwo\r\nprogress\rthree\ncut") == ["one", "two", "three"]


def test_fields_need_a_key_and_a_value() -> None:
    assert list(split_fields(["a: 1", "b:", ": 2", "no separator", " c :d:e "])) == [("a", "1"), ("c", "d:e")]


def test_a_shortened_text_keeps_what_can_be_printed() -> None:
    assert shorten("a\x1b[31m\n b\x00c") == "a [31m b c"
    assert shorten("x" * 500, 10) == "x" * 9 + "…"


def test_lines_lose_colours_and_what_was_not_ended() -> None:
    assert strip_lines(" \x1b[1;31m1 2\x1b[0m\r\nwas 1\rnow 2\ncut") == ["1 2", "now 2"]


def test_colours_and_modes_of_a_terminal_are_no_part_of_a_line() -> None:
    assert read_lines("\x1b[?2004l\x1b[0mone\x1b[K\r\n\x1b[1;31m t\x1b[0mwo\x1b[K\n") == ["one", " two"]


def test_a_line_is_cut_after_its_longest_length() -> None:
    assert read_lines("\x1b[1m12345\n123\n", 4) == ["1234", "123"]


def test_the_indentation_of_all_lines_is_taken_off() -> None:
    assert dedent_lines("  one\n\n    two\n  three\n") == ["one", "", "  two", "three"]


def test_a_match_is_of_the_whole_line() -> None:
    lines = ["one two", "three", "4", "five"]
    assert [match[0] for match in find_matches(WORD, lines)] == ["three", "five"]
    first = find_match(WORD, lines)
    assert first is not None
    assert first[0] == "three"
    assert find_match(WORD, ["one two", ""]) is None


def test_a_line_that_holds_a_complaint_is_refused() -> None:
    refuse_lines(WORD, ["1", "2"], "numbers")
    with pytest.raises(ProbeOutputError, match="found 3 bad, expected numbers"):
        refuse_lines(WORD, ["1", "3 bad", "worse"], "numbers")
