"""The page on the source reports: every row is there, says how or what is missing, and names what exists."""

import re
from collections import Counter
from pathlib import Path

import pytest

PAGE = Path("docs/reference/source-reports.md")
THINGS = {"J": 66, "S": 42, "D": 38, "L": 30, "F": 30}
ROW = re.compile(r"\| ([JSDLF])(\d+) \| ([^|]+) \| (yes|part|no) \| ([^|]+) \|")


def read_rows() -> list[tuple[str, int, str, str]]:
    found = ROW.findall(PAGE.read_text())
    return [(report, int(number), done, how.strip()) for report, number, _, done, how in found]


@pytest.mark.parametrize("report", THINGS)
def test_every_thing_of_a_report_has_one_row_in_order(report: str) -> None:
    assert [number for own, number, *_ in read_rows() if own == report] == list(range(1, THINGS[report] + 1))


def test_the_counts_are_those_of_the_rows() -> None:
    counts = Counter(done for *_, done, _ in read_rows())
    assert f"| all | 206 | {counts['yes']} | {counts['part']} | {counts['no']} |" in PAGE.read_text()


def test_every_row_says_how_or_what_is_missing() -> None:
    assert [number for _, number, _, how in read_rows() if len(how) < 5] == []


def test_every_link_leads_to_a_file() -> None:
    links = set(re.findall(r"\]\(([^)#]+)", PAGE.read_text()))
    assert links
    assert {link for link in links if not (PAGE.parent / link).exists()} == set()


@pytest.mark.parametrize("report", ["jetstream", "sc11", "desy", "llnl", "fermilab"])
def test_every_report_is_typed_in(report: str) -> None:
    assert Path(f"tests/reports/test_{report}.py").exists()
