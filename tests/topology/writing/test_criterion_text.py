"""Criteria in the text of a file: what is added or changed is there, and every other character stays as it was."""

import pytest

from benchconsole.topology.description.document import read_text
from benchconsole.topology.writing.criterion_text import (
    CriterionTextError,
    add_criterion,
    change_criterion,
    list_diff,
    list_written,
)

HEAD = "# Räck 7 ☃ 🧊\nschema: 1\nfabric: toy\nnodes: {a: {}}\nlinks: []\n"
NEW = {"metric": "stream.triad", "at_least": "65 GB/s", "source": "4.1"}
LINE = '{metric: stream.triad, at_least: 65 GB/s, source: "4.1"}'
FLOW = "criteria:\n  - {metric: a.b, at_most: 3 s}   # why\n\n# the end\nstated: {}\n"
BLOCK = "criteria:\n- at_most: 3 s   # the bound\n  # between\n  metric: a.b\n  where:\n    x: 1\n  source: s  # clause\n\n# z\n"

ADDED = {
    "": f"criteria:\n  - {LINE}\n",
    "criteria:\n": f"criteria:\n  - {LINE}\n",
    "criteria: # none yet\nstated: {}\n": f"criteria: # none yet\n  - {LINE}\nstated: {{}}\n",
    "criteria: null # none\n": f"criteria: # none\n  - {LINE}\n",
    "criteria: []\n": f"criteria: [{LINE}]\n",
    "criteria: [{metric: a.b, at_most: 3 s}]\n": f"criteria: [{{metric: a.b, at_most: 3 s}}, {LINE}]\n",
    "criteria: [\n  {metric: a.b, at_most: 3 s} # c\n]\n": (
        f"criteria: [\n  {{metric: a.b, at_most: 3 s}}, # c\n  {LINE}\n]\n"
    ),
    "criteria: [\n  {metric: a.b, at_most: 3 s}, # c\n  # d\n]\n": (
        f"criteria: [\n  {{metric: a.b, at_most: 3 s}}, # c\n  {LINE},\n  # d\n]\n"
    ),
    FLOW: FLOW.replace("   # why\n", f"   # why\n  - {LINE}\n"),
    BLOCK: BLOCK.replace(
        "  # clause\n", '  # clause\n- metric: stream.triad\n  at_least: 65 GB/s\n  source: "4.1"\n'
    ),
}  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ADDED)
def test_a_criterion_is_added_in_the_form_of_the_list(before: str, newline: str) -> None:
    text, expected = ((HEAD + each).replace("\n", newline) for each in (before, ADDED[before]))
    assert add_criterion(text, NEW) == expected
    assert list_written(expected, "f")[-1] == NEW


def test_a_file_that_ends_without_a_newline_gets_one_before_what_is_added() -> None:
    assert add_criterion(HEAD[:-1], NEW) == f"{HEAD}criteria:\n  - {LINE}\n"


CHANGED: list[tuple[str, dict[str, object], str, str]] = [
    (FLOW, {"at_most": "4 s"}, "at_most: 3 s", "at_most: 4 s"),
    (FLOW, {"at_most": None, "at_least": "9 s"}, "at_most: 3 s", "at_least: 9 s"),
    (FLOW, {"where": {"threads": 8}, "source": "x: y"}, "3 s}", '3 s, where: {threads: 8}, source: "x: y"}'),
    (BLOCK, {"at_most": 4.5}, "3 s   # the bound", "4.5   # the bound"),
    (BLOCK, {"target": "1 s"}, "  # clause\n", "  # clause\n  target: 1 s\n"),
    (BLOCK, {"source": None}, "  source: s  # clause\n", ""),
    (BLOCK, {"where": None}, "  where:\n    x: 1\n", ""),
    (BLOCK, {"where": {"disk": "2"}}, "    x: 1", '    {disk: "2"}'),
]


@pytest.mark.parametrize(("before", "changes", "old", "new"), CHANGED)
def test_only_what_is_changed_changes(before: str, changes: dict[str, object], old: str, new: str) -> None:
    text = HEAD + before
    assert change_criterion(text, 0, changes) == text.replace(old, new)


def test_the_second_of_two_criteria_is_changed_and_the_first_stays() -> None:
    text = f"{HEAD}criteria:\n  - {{metric: a.b, at_most: 3 s}}\n  - {{metric: a.b, at_most: 3 s,}}\n"
    made = change_criterion(text, 1, {"at_most": "4 s", "source": "q"})
    assert made == text.replace("3 s,}", "4 s, source: q,}")


def test_a_text_of_several_lines_gives_way_with_all_its_lines() -> None:
    text = f"{HEAD}criteria:\n  - metric: a.b\n    source: >\n      long\n      text\n    at_most: 3 s\n\n# end"
    made = change_criterion(text, 0, {"source": "4.1"})
    assert made == text.replace(">\n      long\n      text", '"4.1"')


@pytest.mark.parametrize(
    "text",
    [
        "{schema: 1, fabric: toy, criteria: []}\n",
        "schema: 1\nother: &all [{metric: a.b, at_most: 3 s}]\ncriteria: *all\n",
        "schema: 1\ncriteria: nothing of the kind\n",
        "schema: 1\ncriteria: {metric: a.b, at_most: 3 s}\n",
    ],
)
def test_a_list_that_stands_elsewhere_is_not_added_to(text: str) -> None:
    with pytest.raises(CriterionTextError):
        add_criterion(text, NEW)


@pytest.mark.parametrize(
    "text",
    [
        "schema: 1\none: &one {metric: a.b, at_most: 3 s}\ncriteria: [*one]\n",
        "schema: 1\ncriteria: [{metric: a.b, at_most: &bound 3 s}]\nother: *bound\n",
    ],
)
def test_what_other_places_of_the_file_rest_on_is_not_changed(text: str) -> None:
    with pytest.raises(CriterionTextError):
        change_criterion(text, 0, {"at_most": "4 s"})


def test_hostile_words_are_values_and_nothing_else() -> None:
    words = 'x}, {metric: a.c, at_least: 1 s} # "\n- \x1b]52;c;\x07\u202e'
    made = add_criterion(HEAD + FLOW, {**NEW, "source": words})
    assert list_written(made, "f")[-1]["source"] == words
    assert len(list_written(made, "f")) == 2
    assert "\x1b" not in made
    assert "\u202e" not in made


def test_the_diff_is_that_of_one_place_of_the_file() -> None:
    text = HEAD + FLOW
    made = add_criterion(text, NEW)
    assert list(list_diff(text, made, "f.yaml")) == [
        "--- f.yaml", "+++ f.yaml", "@@ -5,6 +5,7 @@", " links: []", " criteria:", "   - {metric: a.b, at_most: 3 s}   # why",
        f"+  - {LINE}", " ", " # the end", " stated: {}",
    ]  # fmt: skip
    assert list(list_diff(text, text, "f.yaml")) == []


def test_the_diff_says_where_no_newline_is_and_where_a_file_is_new() -> None:
    assert list(list_diff("a\nb", "a\nc\n", "f")) == [
        "--- f", "+++ f", "@@ -1,2 +1,2 @@", " a", "-b", "\\ No newline at end of file", "+c",
    ]  # fmt: skip
    assert list(list_diff("", "a\n", "f")) == ["--- /dev/null", "+++ f", "@@ -0,0 +1,1 @@", "+a"]


def test_a_diff_leads_from_the_old_text_to_the_new() -> None:
    text = HEAD + BLOCK
    made = change_criterion(text, 0, {"at_most": "4 s", "target": "1 s"})
    lines = list(list_diff(text, made, "f"))[3:]
    assert "\n".join(line[1:] for line in lines if line[0] in " -") in text
    assert "\n".join(line[1:] for line in lines if line[0] in " +") in made
    assert read_text(made, "f").data != read_text(text, "f").data
