"""Writes down what somebody says of a stored session, or of a part of it."""

import asyncio
import sys
import time
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.probes.model.remark import KINDS
from benchconsole.topology.errors import SelectionError


@click.command("remark")
@click.argument("session")
@click.argument("text", required=False)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="remark",
    help="A change belongs to the tuning log; accepted: of a finding.",
)
@click.option("--element", default="", metavar="NAME", help="It is about this node, switch or link.")
@click.option(
    "--finding", type=click.IntRange(1), default=None, help="It is about the finding of this number in reports."
)
@click.option("--clause", default="", metavar="TEXT", help="It is about this criterion: its source, or its metric.")
@click.option("--point", default="", metavar="STAGE:VALUE", help="It is about this point of a sweep.")
@click.option("--by", default=None, metavar="NAME", help="Who says it [this account].")
@click.option("--at", default=None, metavar="TIME", help="When it was, with its zone [now].")
@click.option(
    "--withdraw", type=click.IntRange(1), default=None, help="Withdraw the remark of this number; TEXT says why."
)
@common.db_option
def command(
    session: str, text: str | None, kind: str, element: str, finding: int | None, clause: str, point: str,
    by: str | None, at: str | None, withdraw: int | None, db: Path | None,
) -> None:  # fmt: skip
    """Write TEXT (- reads standard input) down as a remark on SESSION (id, label, last), or on a part of it.

    Remarks are kept with who wrote them and when, and are in every report. They judge nothing: a finding that is
    accepted (--kind accepted --finding N, with the reason) stays one, and no exit code changes. None is ever deleted:
    --withdraw takes one back, and both stay in the database. benchconsole remarks lists them.
    """
    from benchconsole.console.cli.session_options import find_operator
    from benchconsole.console.session.remarks import RemarkPlace, check_text, find_subject
    from benchconsole.probes.model.remark import About, Remark, RemarkKind
    from benchconsole.store.errors import ConflictError

    if text is None and sys.stdin.isatty():
        raise BadInput("benchconsole: no text, expected TEXT, or - to read it from standard input")
    place = RemarkPlace(element, finding, clause, point)
    if withdraw is not None and (place != RemarkPlace() or kind != "remark"):
        raise BadInput("benchconsole: --withdraw says what it is about itself; leave the other options out")
    who = (by if by is not None else find_operator()).strip()
    if not who or "\n" in who:
        raise BadInput(f"benchconsole: --by {by!r}, expected a name")
    now, spoken = time.time(), common.parse_at(at)
    made = RemarkKind.WITHDRAWAL if withdraw is not None else RemarkKind(kind)
    about, subject = About.SESSION, ""
    with common.open_store(db, create=False) as store:
        stored = store.session(store.find_session(session))
        try:
            said = check_text(sys.stdin.read() if text in (None, "-") else str(text))
            if place != RemarkPlace() or made is RemarkKind.ACCEPTED:
                view = common.read_stored_view(store, stored.id, common.load_installed_probes())
                about, subject = find_subject(view, place, made)
            remark = Remark(made, about, subject, said, who, spoken, now, withdraw or 0)
            number = asyncio.run(store.append_remark(stored.id, remark))
        except (SelectionError, ConflictError) as error:
            raise BadInput(f"benchconsole: {error}") from None
    click.echo(f"remark {number} on session {stored.id}" + (f" withdraws {withdraw}" if withdraw else ""))
