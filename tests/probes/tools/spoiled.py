"""The duty of every parser to outputs that were cut, mixed with notices, or lost a line: no other number.

Each check takes a probe and the names of its transcripts, each a path below the transcripts. Refuses to know any tool.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Probe
from tests.probes.tools.captures import Said, noise, output, read, said

SpoiledCheck = Callable[[Probe, Sequence[str]], None]

_NUMBER = re.compile(r"(?<![\w.-])[0-9]+(?:[.,][0-9]+)?(?!\w)")
_COUNTED = ("run", "number")
"""Labels that count what stood before, which may be lost."""


def noise_around_it_changes_nothing(probe: Probe, names: Sequence[str]) -> None:
    @given(st.sampled_from(names), noise, noise)
    @settings(max_examples=60, deadline=None)
    def check(name: str, before: str, after: str) -> None:
        assert read(probe, before + output(name).text + after) == said(probe.parse(output(name)))

    check()


def noise_inside_and_a_cut_give_no_other_number(probe: Probe, names: Sequence[str]) -> None:
    @given(st.sampled_from(names), st.data())
    @settings(max_examples=60, deadline=None)
    def check(name: str, data: st.DataObject) -> None:
        lines = output(name).text.splitlines(keepends=True)
        place = data.draw(st.integers(0, len(lines)))
        mixed = "".join([*lines[:place], data.draw(noise), *lines[place:]])
        whole = set(said(probe.parse(output(name))))
        assert set(read(probe, mixed)) <= whole
        assert set(read(probe, mixed[: data.draw(st.integers(0, len(mixed)))])) <= whole

    check()


def a_number_that_is_spoiled_is_never_read_as_another(probe: Probe, names: Sequence[str]) -> None:
    @given(st.sampled_from(names), st.data())
    @settings(max_examples=60, deadline=None)
    def check(name: str, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(list(_NUMBER.finditer(output(name).text))))
        other = data.draw(st.sampled_from(["nan", "-nan", "inf", "", "+++++", "-1", "1e999"]))
        found = read(probe, output(name).text[: one.start()] + other + output(name).text[one.end() :])
        assert {value for _, value, _ in found} <= {value for _, value, _ in said(probe.parse(output(name)))}

    check()


def a_line_that_is_lost_gives_no_other_number(probe: Probe, names: Sequence[str]) -> None:
    """A label may be lost with its line. None may be another, and no number may be."""
    for name in names:
        whole = said(probe.parse(output(name)))
        for spoiled in _without_a_line(output(name).text.splitlines(keepends=True)):
            assert [one for one in read(probe, spoiled) if not _among(one, whole)] == [], spoiled


def _without_a_line(lines: Sequence[str]) -> Iterator[str]:
    """The text without each of its lines, and without each of its line ends."""
    for place, line in enumerate(lines):
        before, after = "".join(lines[:place]), "".join(lines[place + 1 :])
        yield before + after
        yield before + line.rstrip("\r\n") + after


def _among(one: Said, whole: Sequence[Said]) -> bool:
    metric, value, marks = one
    told = {mark for mark in marks if mark[0] not in _COUNTED}
    return any((metric, value) == each[:2] and told <= set(each[2]) for each in whole)


SPOILED_CHECKS: Sequence[SpoiledCheck] = (
    noise_around_it_changes_nothing,
    noise_inside_and_a_cut_give_no_other_number,
    a_number_that_is_spoiled_is_never_read_as_another,
    a_line_that_is_lost_gives_no_other_number,
)
