"""A stored session of plain measurements judged again: in columns, with the verdicts and findings of objects."""

import io
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.session import judged_rounds
from benchconsole.console.session.judged_rounds import JudgedRounds, judge_stored
from benchconsole.console.session.report_details import read_details
from benchconsole.console.session.session import Session
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load_text
from benchmarks.rejudge_sessions import Wanted, describe_nodes, make_session
from tests.probes.judging.lags import load_lag
from tests.probes.judging.rounds import close, steer

TOPOLOGY = describe_nodes(6, 2)
SOME = """
  - {metric: stream.copy, at_least: 90 GB/s, nodes: "n[00001-00003]", source: a few}
  - {metric: fio.read, at_least: 1.7 GB/s, where: {pattern: random}, source: one kind}
  - {metric: fio.read, at_least: 1 GB/s, where: {pattern: none}, source: nothing}
"""


def read_rows(path: Path) -> list[Any]:
    """All verdicts of the newest judgement, in the order of storing."""
    with closing(sqlite3.connect(path)) as connection:
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
        monkeypatch.setattr(JudgedRounds, "is_plain", lambda *_: False)
        await judge_stored(session, probes, strict, clock=lambda: 2e9).keep()
        assert (read_rows(path), session.read_findings()) == columns
        assert len(columns[0]) == made.values
        assert columns[1]
        assert columns != live


def test_what_is_no_finding_yet_is_confirmed_too() -> None:
    """Every stream over the second member has 75 %, which one more would leave: nobody is accused, and it is tried."""
    described = load_lag()
    rounds = JudgedRounds(described, {"iperf3": Iperf3()})
    for number in range(1, 5):
        sent = [
            steer(f"a{place + 1}", f"b{(place + number) % 4 + 1}", 0.75 if member == 1 else 1.0, member)
            for place in range(4)
            for member in ((place + 2 * number) % 4,)
        ]
        rounds.take(rounds.judge(close(described, number, *sent)))
    assert rounds.findings == ()
    planned = rounds.plan_confirmation(tuple(described.nodes), 180.0, first=5)
    assert {str(test.target.options["share"]) for each in planned for test in each.tests} == {"leaf1--leaf2"}
    assert rounds.findings == ()


@pytest.mark.parametrize("factor", [1.0, 1.25, 3.0])
async def test_what_passed_in_columns_is_told_as_objects_are(
    factor: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pass, some pass, hardly any passes: the view from columns gives the verdict and the reports of objects."""
    path, probes = tmp_path / "s.db", load_probes().probes
    text = "\n".join(line for line in describe_nodes(40, 2).splitlines() if "stream.scale" not in line) + SOME
    fabric, made = load_text(text, "s.yaml"), await make_session(path, Wanted("values", text))
    harder = replace(fabric, criteria=tuple(replace(each, required=each.required * factor) for each in fabric.criteria))
    with Store.open(path) as store:
        monkeypatch.setattr(judged_rounds, "LARGE", 1)
        new = judge_stored(store.session(made.key), probes, harder)
        await new.keep()
        judged = new.judged
        in_columns = sum(len(each.value) for closed in judged.rounds for each in closed.passed)
        compact, full = (Session.stored(store, made.key, probes, judged=each) for each in (judged, None))
        views = compact.view(), full.view()
        assert (in_columns > 400) is (factor < 3)
        assert decide(views[0]) == decide(views[1])
        totals = [compute_totals(view) for view in views]
        assert (totals[0].covered, totals[0].stages) == (totals[1].covered, totals[1].stages)
        for format_ in ("text", "html", "md"):
            told = [io.StringIO(), io.StringIO()]
            for out, view, session in zip(told, views, (compact, full), strict=True):
                render(format_, view, out, ReportOptions(details=read_details(session, view)))
            assert told[0].getvalue() == told[1].getvalue(), format_
