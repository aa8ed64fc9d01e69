"""A stored session of plain measurements judged again: in columns, with the verdicts and findings of objects."""

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.reports import ReportOptions, render, statistics_section
from benchconsole.console.session import stored_judgement
from benchconsole.console.session.report_details import read_details
from benchconsole.console.session.round_judging import RoundJudging
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_judgement import judge_stored, read_large
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.reading.report_reading import read_report_basis
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchmarks.rejudge_sessions import Wanted, describe_nodes, make_session
from tests import plain_sqlite

TOPOLOGY = describe_nodes(6, 2)
SOME = """
  - {metric: stream.copy, at_least: 90 GB/s, nodes: "n[00001-00003]", source: a few}
  - {metric: fio.read, at_least: 1.7 GB/s, where: {pattern: random}, source: one kind}
  - {metric: fio.read, at_least: 1 GB/s, where: {pattern: none}, source: nothing}
"""


def read_rows(path: Path) -> list[Any]:
    """All verdicts of the newest judgement, in the order of storing."""
    with closing(plain_sqlite.connect(path)) as connection:
        return connection.execute(
            """SELECT round.number, fails, watches, unknowns, passes, metric_id, labels_id, test, subject, nodes, level,
                kind, verdict.because, shown, value, expected, required, least, text, source, evidence FROM verdict
            JOIN judging ON judging.id = judging_id JOIN attempt ON attempt.id = attempt_id
            JOIN round ON round.id = round_id
            WHERE judging.id IN (SELECT max(id) FROM judging GROUP BY attempt_id) ORDER BY verdict.id"""
        ).fetchall()


async def test_columns_are_judged_as_objects_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, probes = tmp_path / "s.db", load_probes().probes
    made = await make_session(path, Wanted("values", TOPOLOGY))
    monkeypatch.setattr(stored_judgement, "LARGE", 1)
    with Store.open(path) as store:
        session = store.session(made.key)
        live = read_rows(path), session.read_findings()
        await judge_stored(session, probes).keep()
        assert (read_rows(path), session.read_findings()) == live

        fabric = load_text(TOPOLOGY, "strict.yaml")
        harder = [replace(each, required=each.required * 1.25) for each in fabric.criteria]
        strict = replace(fabric, criteria=tuple(harder))
        await judge_stored(session, probes, strict, clock=lambda: 1e9).keep()
        columns = read_rows(path), session.read_findings()
        monkeypatch.setattr(RoundJudging, "find_plain", lambda *_: frozenset())
        await judge_stored(session, probes, strict, clock=lambda: 2e9).keep()
        assert (read_rows(path), session.read_findings()) == columns
        assert len(columns[0]) == made.values
        assert columns[1]
        assert columns != live


REPORTED = "  - {metric: stream.triad, value: 100.0 GB/s, statistic: mean, source: Table 2}\n"


def list_differences(store: Store, key: str, compact: Session, full: Session) -> list[str]:
    """Differences of the view in columns from the view of single verdicts: verdict, totals, every report for people."""
    views = compact.view(), full.view()
    found = [] if decide(views[0]) == decide(views[1]) else ["verdict"]
    totals = [compute_totals(view) for view in views]
    if (totals[0].covered, totals[0].stages) != (totals[1].covered, totals[1].stages):
        found.append("totals")
    for format_ in ("text", "html", "md"):
        told = [io.StringIO(), io.StringIO()]
        for out, view, session in zip(told, views, (compact, full), strict=True):
            render(format_, view, out, ReportOptions(details=read_details(session, view)))
        if told[0].getvalue() != told[1].getvalue():
            found.append(format_)
    return found


@pytest.mark.parametrize("reported", ["", REPORTED])
@pytest.mark.parametrize("factor", [1.0, 1.25, 3.0])
async def test_what_passed_in_columns_is_told_as_objects_are(
    factor: float, reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pass, some pass, hardly any passes: what was judged just now, and read in columns, is told as objects are."""
    path, probes = tmp_path / "s.db", load_probes().probes
    text = "\n".join(line for line in describe_nodes(40, 2).splitlines() if "stream.scale" not in line) + SOME
    text += f"reported:\n{reported}" if reported else ""
    fabric, made = load_text(text, "s.yaml"), await make_session(path, Wanted("values", text))
    harder = replace(fabric, criteria=tuple(replace(each, required=each.required * factor) for each in fabric.criteria))
    with Store.open(path) as store:
        monkeypatch.setattr(stored_judgement, "LARGE", 1)
        monkeypatch.setattr(statistics_section, "MOST_NUMBERS", 1)
        session = store.session(made.key)
        new = judge_stored(session, probes, harder)
        assert await new.keep() == read_report_basis(session)
        read = read_large(session, probes)
        assert read is not None
        full = Session.stored(store, made.key, probes)
        for judged in (new.judged, read):
            in_columns = sum(len(each.value) for closed in judged.rounds for each in closed.passed)
            assert reported or (in_columns > 20) is (factor < 3)
            compact = Session.stored(store, made.key, probes, judged=judged)
            assert list_differences(store, made.key, compact, full) == []


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE result SET failed_at = 'timed out', failure_detail = 'late', failure_node = 'n00003' WHERE id % 7 = 0",
        "UPDATE verdict SET level = 'unknown', because = 'no bound' WHERE id % 11 = 0",
        "UPDATE verdict SET value = NULL WHERE id % 13 = 0",
        "UPDATE verdict SET source = 'another' WHERE id % 3 = 0",
        "UPDATE verdict SET level = 'watch' WHERE id % 9 = 0",
        "UPDATE verdict SET expected = 1.0, required = 1.0 WHERE id % 5 = 0",
        "UPDATE verdict SET value = 90e9",
        "DELETE FROM verdict WHERE id % 4 = 0",
        "DELETE FROM verdict WHERE metric_id = 2",
        "DELETE FROM result WHERE id % 17 = 0",
        """INSERT INTO verdict SELECT id + 100000, judging_id, test, probe, subject, nodes, metric_id, labels_id, level,
        kind, because, shown, value, expected, required, text, expected_text, source, limiting, evidence, least
        FROM verdict WHERE id % 6 = 0""",
    ],
)
async def test_rows_of_every_kind_are_told_as_objects_are(
    spoil: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, probes = tmp_path / "s.db", load_probes().probes
    made = await make_session(path, Wanted("values", describe_nodes(40, 2)))
    with closing(plain_sqlite.connect(path)) as connection:
        connection.execute(spoil)
    with Store.open(path) as store:
        monkeypatch.setattr(stored_judgement, "LARGE", 1)
        monkeypatch.setattr(statistics_section, "MOST_NUMBERS", 1)
        read = read_large(store.session(made.key), probes)
        assert read is not None
        compact, full = (Session.stored(store, made.key, probes, judged=each) for each in (read, None))
        assert list_differences(store, made.key, compact, full) == []


async def test_what_changes_while_a_session_is_judged_makes_its_reports_void(tmp_path: Path) -> None:
    path, probes = tmp_path / "s.db", load_probes().probes
    made = await make_session(path, Wanted("values", TOPOLOGY))
    with Store.open(path) as store:
        session = store.session(made.key)
        new = judge_stored(session, probes)
        await session.append_note("seen", "a fan was loud", 2e9, claimed=False)
        assert await new.keep() is None
