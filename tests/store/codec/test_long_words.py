"""Command lines with numbers for their long words, and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.store.codec.long_words import LONG, number_words, restore_words
from benchconsole.store.codec.values import dump_json

_WORDS = st.lists(st.one_of(st.text(max_size=5), st.sampled_from(["[1", ",2", "3", "x" * LONG, '"7,' * LONG])))


@given(_WORDS)
def test_words_come_back_as_they_were(words: list[str]) -> None:
    known: list[str] = []

    def find_number(word: str) -> int:
        if word not in known:
            known.append(word)
        return known.index(word)

    argv = dump_json(words, "words")
    stored = number_words(argv, find_number)
    assert restore_words(stored, known.__getitem__) == argv
    if len(argv) >= LONG:
        assert known == list(dict.fromkeys(word for word in words if len(word) >= LONG))


@pytest.mark.parametrize(("length", "is_numbered"), [(LONG - 1, False), (LONG, True)])
def test_a_word_is_long_from_its_length_on(length: int, is_numbered: bool) -> None:
    stored = json.loads(number_words(dump_json(["sh", "x" * length, "y" * LONG], "words"), lambda _: 5))
    assert stored == ["sh", 5 if is_numbered else "x" * length, 5]


@pytest.mark.parametrize("argv", ['{"a":1,2', '{"a":[1]}'])
def test_what_is_no_array_is_refused(argv: str) -> None:
    with pytest.raises(ValueError, match=r"no array|delimiter|property"):
        restore_words(argv, lambda _: "")
