"""Judges a stored session again."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from benchconsole.console.cli import common
from benchconsole.console.cli.session_options import find_operator
from benchconsole.console.exits import BadInput
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchconsole.console.session.report_details import Record
    from benchconsole.console.session.session import Session
    from benchconsole.console.view.session_verdict import SessionVerdict


@click.command("judge")
@click.argument("session", default="last")
@click.option(
    "--criteria",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    metavar="TOPOLOGY",
    help="Take the criteria of this topology file.",
)
@common.db_option
@pause_collector()
def command(session: str, criteria: Path | None, db: Path | None) -> None:  # fmt: skip
    """Judge the stored measurements of SESSION again. No node is touched.

    The earlier verdicts stay in the database; the new ones, and the criteria that made them, count from
    now on, and every report says what they ask otherwise than the file of the session. Without --criteria
    those of that file count again. The exit codes are those of run.
    """
    from benchconsole.console.reports import ReportOptions
    from benchconsole.console.session.kept_report import KeptReport, keep_reports
    from benchconsole.console.session.report_details import read_record
    from benchconsole.console.session.session import Session
    from benchconsole.console.session.stored_judgement import judge_stored
    from benchconsole.console.session.stored_verdict import keep_verdict

    probes = common.load_installed_probes()
    chosen = common.read_topology(criteria, probes) if criteria else None
    with common.open_store(db, create=False) as store:
        key = store.find_session(session)
        try:
            new = judge_stored(store.session(key), probes, chosen, who=find_operator())
        except PlanError as error:
            raise BadInput(str(error)) from None
        shown = Session.stored(store, key, probes, judged=new.judged)
        options, earlier, remarks = read_record(shown)
        with ThreadPoolExecutor(1) as pool:  # the reports are made while the judgement is stored, and wait for nothing
            made = pool.submit(_make_reports, shown, (options, (*earlier, *new.notes), remarks))
            basis = asyncio.run(new.keep())
        verdict, reports, is_large = made.result()
        asyncio.run(keep_verdict(store, key, verdict))
        KeptReport(store, key, "text", ReportOptions(), basis).give(reports["text"])(sys.stdout)
        sys.stdout.flush()
        if is_large:
            keep_reports(store, key, reports, basis)
    raise click.exceptions.Exit(verdict.exit_code())


class _Made(NamedTuple):
    """The verdict on a session, and its text report; where it is large, all reports for people, which are kept."""

    verdict: "SessionVerdict"
    reports: "Mapping[str, str]"
    is_large: bool


def _make_reports(session: "Session", record: "Record") -> _Made:
    """The reports on a judgement that may not be stored yet; ``record`` is that of the session with it."""
    from benchconsole.console.session.kept_report import FOR_PEOPLE, has_many_results, render_reports
    from benchconsole.console.session.report_details import make_details

    view = session.view()
    verdict = decide(view)
    details = make_details(session, view, record, verdict)
    is_large = has_many_results(view)
    return _Made(verdict, render_reports(view, details, FOR_PEOPLE if is_large else ("text",)), is_large)
