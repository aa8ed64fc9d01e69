"""The table of protections that are taken out: each edit fits, each test plays its fault, and the page shows them all."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks import planted_faults
from benchmarks.planted_faults import PLANTED, EditError, Planted
from tests.architecture.test_faults import WRITER

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/planted-faults.md"


@pytest.fixture(scope="module")
def marked() -> Any:
    return WRITER.find_marked()


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: f"{planted.fault} {planted.protection}")
def test_the_edit_fits_and_leaves_python(planted: Planted) -> None:
    text = (ROOT / planted.file).read_text()
    changed = planted.take_out(text)
    assert changed != text
    compile(changed, planted.file, "exec")


def test_an_edit_that_fits_nowhere_or_twice_is_told() -> None:
    planted = Planted("F00", "none", "a.py", "x = 1\n", "x = 2\n", "tests/test_a.py::test_a")
    assert planted.take_out("x = 1\ny = 1\n") == "x = 2\ny = 1\n"
    for text in ("y = 1\n", "x = 1\nx = 1\n"):
        with pytest.raises(EditError, match="expected once"):
            planted.take_out(text)


@pytest.mark.parametrize(("without", "said", "code"), [(1, "yes", 0), (0, "NO", 1), (4, "did not run (4)", 1)])
def test_only_a_test_that_fails_is_a_proof(
    without: int, said: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_tests(copy: Path, tests: list[str], *, is_healthy: bool) -> tuple[int, str]:
        return (0 if is_healthy else without), ""

    monkeypatch.setattr(planted_faults, "run_tests", run_tests)
    assert planted_faults.main(["F50"]) == code
    assert f"| {said} |" in capsys.readouterr().out


def test_each_test_carries_the_number_of_its_fault(marked: Any) -> None:
    for planted in PLANTED:
        path, name = planted.test.split("::")
        places = [(place.path, place.test) for place in marked[planted.fault]]
        assert (path, name) in places or (path, "") in places, planted.test
        assert f"def {name}(" in (ROOT / path).read_text()


def test_twenty_faults_and_more_are_planted() -> None:
    assert len({planted.fault for planted in PLANTED}) >= 20


def test_the_page_is_the_table_as_it_was_printed() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith(("| F", "| I", "| X"))]
    assert rows == [planted.format_row("yes") for planted in PLANTED], "run: python -m benchmarks.planted_faults"
