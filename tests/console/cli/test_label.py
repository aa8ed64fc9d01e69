"""``label``: another name for a stored session, with what it was called kept in its notes."""

from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.store.store import Store
from tests.console.cli.test_compare import measure
from tests.scenarios.test_judging_trials import Site


@pytest.mark.parametrize(
    ("label", "said", "noted"),
    [
        ("tuned", "is called tuned", "before became tuned, by ann"),
        ("  two words ", "is called two words", "before became two words, by ann"),
        ("", "has no label", "before became none, by ann"),
    ],
)
def test_a_label_is_changed_and_the_old_one_is_noted(tmp_path: Path, label: str, said: str, noted: str) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, found = site.call("label", "before", label, "--by", "ann")
    assert (code, said in found) == (Exit.PASSED, True)
    with Store.open(tmp_path / "s.db", create=False) as store:
        (session,) = store.list_sessions()
        assert session.label == label.strip()
        assert [note.text for note in store.session(session.id).read_notes() if note.kind == "label"] == [noted]


def test_a_report_that_was_kept_has_the_new_label(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    assert "before" in site.call("report", "-o", "-", "--format", "md")[1]
    site.call("label", "before", "tuned")
    assert "# tuned" in site.call("report", "-o", "-", "--format", "md")[1] or "tuned" in site.call("show")[1]


def test_a_name_with_a_line_end_is_nobody(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, found = site.call("label", "before", "x", "--by", "a\nb")
    assert (code, "expected a name" in found) == (Exit.BAD_INPUT, True)
