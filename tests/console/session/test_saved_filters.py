"""Saved filters: kept by area and name, read again when the file changes, and never lost or guessed."""

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchconsole.console.session import saved_filters
from benchconsole.console.session.saved_filters import AREAS, LONGEST, SavedFilters
from benchconsole.topology.errors import TopologyError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "benchconsole" / "filters.yaml"


def write(path: Path, text: str) -> SavedFilters:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return SavedFilters(path)


def test_one_is_kept_found_replaced_and_removed(path: Path) -> None:
    kept = SavedFilters(path)
    assert kept.read() == {}
    assert kept.save("nodes", "slow", "throughput<9.5 & !~^st") == ""
    assert kept.save("pairs", "slow", 'why~"x" & n[1-4]') == ""
    assert kept.save("nodes", "slow", "throughput<5") == "throughput<9.5 & !~^st"
    assert SavedFilters(path).read() == {"nodes": {"slow": "throughput<5"}, "pairs": {"slow": 'why~"x" & n[1-4]'}}
    assert kept.find("nodes", "slow") == "throughput<5"
    assert kept.remove("nodes", "slow") == "throughput<5"
    assert kept.remove("nodes", "slow") == ""
    assert kept.read() == {"pairs": {"slow": 'why~"x" & n[1-4]'}}
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_another_console_saves_is_seen(path: Path) -> None:
    one, other = SavedFilters(path), SavedFilters(path)
    one.save("nodes", "a", "x")
    assert other.read() == {"nodes": {"a": "x"}}
    other.save("nodes", "b", "y")
    assert one.read() == {"nodes": {"a": "x", "b": "y"}}


def test_consoles_that_save_at_once_lose_nothing(path: Path) -> None:
    def save(number: int) -> None:
        SavedFilters(path).save("nodes", f"f{number}", f"text {number}")

    threads = [threading.Thread(target=save, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert SavedFilters(path).read() == {"nodes": {f"f{number}": f"text {number}" for number in range(12)}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "filters.yaml:1:1: a list, expected areas with their filters"),
        ("nodes: [a]\n", "filters.yaml:1:8: a list, expected filters by name"),
        ("node: {a: x}\n", "filters.yaml:1:1: the area 'node', expected one of nodes, "),
        ("node: {a: x}\n", "did you mean nodes?"),
        ("nodes: {a b: x}\n", "filters.yaml:1:9: the name 'a b', expected up to 40 letters"),
        ("nodes:\n  a: [x]\n", "filters.yaml:2:6: a list, expected printable text in quotes"),
        ("nodes:\n  a: 5\n", "filters.yaml:2:6: 5, expected printable text in quotes"),
        ('nodes:\n  a: "\\e[31m"\n', "filters.yaml:2:6: '\\x1b[31m', expected printable text"),
        ('nodes:\n  a: "x\\u202ey"\n', "filters.yaml:2:6: 'x\\u202ey', expected printable text"),
        ("nodes:\n  a: ''\n", "filters.yaml:2:6: '', expected printable text"),
        (f"nodes:\n  a: {'x' * (LONGEST + 1)}\n", "expected printable text in quotes, at most 1,000 characters"),
        ("nodes:\n  a: x\n  a: y\n", "filters.yaml:3:3: key 'a' a second time"),
        ("nodes:\n  a: !!python/object:os.system x\n", "the tag"),
    ],
)
def test_a_broken_file_is_refused_and_never_written_over(path: Path, text: str, said: str) -> None:
    kept = write(path, text)
    with pytest.raises(TopologyError) as caught:
        kept.read()
    assert said in str(caught.value)
    with pytest.raises(TopologyError):
        kept.save("nodes", "b", "x")
    with pytest.raises(TopologyError):
        kept.remove("nodes", "a")
    with pytest.raises(LookupError, match=r"saved filters are not used: .*filters\.yaml:"):
        kept.find("nodes", "a")
    assert path.read_text() == text


def test_every_mistake_is_named(path: Path) -> None:
    with pytest.raises(TopologyError) as caught:
        write(path, "node: {}\nnodes: {a: 5, '': x}\n").read()
    assert len(caught.value.problems) == 3


def test_a_mended_file_is_used_at_once(path: Path) -> None:
    kept = write(path, "nodes: [\n")
    with pytest.raises(TopologyError):
        kept.read()
    path.write_text("nodes: {a: x}\n")
    assert kept.read() == {"nodes": {"a": "x"}}


@pytest.mark.parametrize(
    ("area", "name", "text"),
    [
        ("somewhere", "a", "x"),
        ("nodes", "", "x"),
        ("nodes", "a b", "x"),
        ("nodes", "../x", "x"),
        ("nodes", "-a", "x"),
        ("nodes", "a" * 41, "x"),
        ("nodes", "a", " "),
        ("nodes", "a", "x & !@a y"),
        ("nodes", "a", "@a"),
        ("nodes", "a", "x\x1b"),
        ("nodes", "a", "x" * (LONGEST + 1)),
    ],
)
def test_what_cannot_be_kept_is_refused_before_anything_is_written(path: Path, area: str, name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"no name|kept|text|contain itself"):
        SavedFilters(path).save(area, name, text)
    assert not path.exists()


def test_there_is_an_end_to_how_many_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_filters, "MOST", 1)
    kept = SavedFilters(path)
    kept.save("nodes", "a", "x")
    kept.save("nodes", "a", "y")
    with pytest.raises(ValueError, match="1 saved filters already"):
        kept.save("nodes", "b", "x")
    assert kept.read() == {"nodes": {"a": "y"}}


def test_one_that_is_not_there_is_told_with_those_that_are(path: Path) -> None:
    kept = SavedFilters(path)
    with pytest.raises(LookupError, match="no filter of nodes is saved"):
        kept.find("nodes", "slow")
    kept.save("nodes", "slow", "x")
    with pytest.raises(LookupError, match="did you mean @slow"):
        kept.find("nodes", "slwo")
    with pytest.raises(LookupError, match="saved are @slow"):
        kept.find("nodes", "zzz")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(AREAS),
    st.from_regex(saved_filters.NAME, fullmatch=True),
    st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable() and text.strip() and "@" not in text),
)
def test_every_text_comes_back_as_it_was(path: Path, area: str, name: str, text: str) -> None:
    path.unlink(missing_ok=True)
    SavedFilters(path).save(area, name, text)
    assert SavedFilters(path).read() == {area: {name: text}}


@pytest.mark.parametrize("area", ["fabric", "node", "run"])
def test_an_area_that_nothing_filters_on_the_screen_keeps_none(path: Path, area: str) -> None:
    kept = SavedFilters(path)
    kept.save("nodes", "slow", "throughput<9.5")
    with pytest.raises(LookupError, match=f"no filter is kept for {area}: nothing is filtered there on the screen"):
        kept.find(area, "slow")
