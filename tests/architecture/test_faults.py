"""The fault list: every number has a row, every row a test or the reason why not, and the page is what is generated."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchconsole.topology.copying import replace

ROOT = Path(__file__).parents[2]


def load_writer() -> ModuleType:
    found = importlib.util.spec_from_file_location("fault_page", ROOT / "docs/reference/fault_page.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["fault_page"] = module
    found.loader.exec_module(module)
    return module


WRITER: Any = load_writer()
ROWS = WRITER.read_rows()


@pytest.fixture(scope="module")
def marked() -> Any:
    return WRITER.find_marked()


def test_every_number_has_a_row_and_every_row_a_test_or_a_reason(marked: Any) -> None:
    assert WRITER.list_gaps(ROWS, marked) == []


def test_the_page_is_what_is_generated(marked: Any) -> None:
    assert WRITER.PAGE.read_text() == WRITER.make_page(ROWS, marked), "run: python docs/reference/generate.py"


def test_the_list_is_that_of_its_numbers_each_once() -> None:
    numbers = [row.number for chapter in ROWS.values() for row in chapter]
    assert len(WRITER.NUMBERS) == 56 + 23
    assert len(numbers) == len(set(numbers))
    assert [number for number in numbers if number in WRITER.NUMBERS] == list(WRITER.NUMBERS)


def test_a_gap_of_each_kind_is_seen(marked: Any) -> None:
    short = {**ROWS, "faults": ROWS["faults"][1:]}
    assert WRITER.list_gaps(short, marked)[0] == "F01 has no row"
    assert any(gap.endswith("F01 is in no row") for gap in WRITER.list_gaps(short, marked))
    untested = {number: places for number, places in marked.items() if number != "I23"}
    assert WRITER.list_gaps(ROWS, untested) == ["I23 has no test"]
    excused = {**ROWS, "faults": [replace(ROWS["faults"][0], no_test="no such machine here"), *ROWS["faults"][1:]]}
    assert WRITER.list_gaps(excused, marked) == ["F01 says that it has no test"]
    assert WRITER.list_gaps(excused, {number: places for number, places in marked.items() if number != "F01"}) == []
    wrong = {**marked, "F57": [WRITER.Marked("tests/test_x.py", "test_x")]}
    assert WRITER.list_gaps(ROWS, wrong) == ["tests/test_x.py test_x: F57 is in no row"]
    helper = {**marked, "F01": [*marked["F01"], WRITER.Marked("tests/test_x.py", "helper")]}
    assert WRITER.list_gaps(ROWS, helper) == ["tests/test_x.py helper: F01 marks no test"]


def test_markers_are_found_on_tests_and_on_files(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_a.py").write_text(
        'import pytest\npytestmark = [pytest.mark.lab, pytest.mark.fault("F01")]\n'
        '@pytest.mark.fault("F02", "I03")\n@pytest.mark.skipif(True, reason="")\nasync def test_x(): ...\n'
        'def test_y():\n    pytest.mark.fault("F09")\n'
    )
    (folder / "test_b.py").write_text('import pytest\npytestmark = pytest.mark.fault("F01")\n')
    found = WRITER.find_marked(folder)
    assert found == {
        "F01": [WRITER.Marked("tests/test_a.py", ""), WRITER.Marked("tests/test_b.py", "")],
        "F02": [WRITER.Marked("tests/test_a.py", "test_x")],
        "I03": [WRITER.Marked("tests/test_a.py", "test_x")],
    }
