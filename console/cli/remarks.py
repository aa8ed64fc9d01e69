"""Lists what people said of a stored session, or of all: the tuning log of a machine by its time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from benchconsole.probes.model.remark import Remark
    from benchconsole.store.store import Store

_KINDS = ("remark", "tuning", "conclusion", "request")


@click.command("remarks")
@click.argument("session", required=False)
@click.option("--kind", type=click.Choice(_KINDS), default=None, help="Only these.")
@click.option("--all", "every", is_flag=True, help="Withdrawn remarks too, with who withdrew them and why.")
@common.db_option
@common.json_option
@pause_collector()
def command(session: str | None, kind: str | None, every: bool, db: Path | None, as_json: bool) -> None:
    """List the remarks on SESSION, or on all sessions, by the time that they speak of."""
    from benchconsole.store.reading.remark_reading import read_remarks

    with common.open_store(db, create=False) as store:
        keys = [store.find_session(session)] if session else [each.id for each in store.list_sessions()]
        found = [(key, each) for key in keys for each in read_remarks(store.session(key))]
        chosen = _choose(found, kind, every=every)
        if as_json:
            common.print_json([_make_record(key, each, found) for key, each in chosen])
            return
        for line in (
            _format_lines(store, chosen, found)
            if chosen
            else ["no remark; benchconsole remark SESSION TEXT writes one"]
        ):
            click.echo(line)


def _choose(found: "list[tuple[str, Remark]]", kind: str | None, *, every: bool) -> "list[tuple[str, Remark]]":
    withdrawn = {(key, each.withdraws) for key, each in found if each.withdraws}
    chosen = [
        (key, each)
        for key, each in found
        if not each.withdraws and kind in (None, each.kind.value) and (every or (key, each.number) not in withdrawn)
    ]
    return sorted(chosen, key=lambda pair: pair[1].at)


def _format_lines(store: "Store", chosen: "list[tuple[str, Remark]]", found: "list[tuple[str, Remark]]") -> "list[str]":
    from benchconsole.console.text.sanitize import sanitize
    from benchconsole.console.view.wording import format_moment

    labels = {each.id: sanitize(each.label) for each in store.list_sessions()}
    lines = []
    for key, each in chosen:
        named = f"{each.about.value} {each.subject}".strip()
        label = f" {labels[key]}" if labels.get(key) else ""
        lines.append(
            sanitize(f"{format_moment(each.at)}  {key}{label} #{each.number}  {each.kind.value}, {named}, by {each.by}")
        )
        lines += [f"    {sanitize(line)}" for line in each.text.split("\n")]
        lines += [f"    withdrawn: {text}" for text in _list_withdrawals(key, each, found)]
    return lines


def _list_withdrawals(key: str, remark: "Remark", found: "list[tuple[str, Remark]]") -> "list[str]":
    from benchconsole.console.text.sanitize import sanitize
    from benchconsole.console.view.wording import format_moment

    return [
        sanitize(f"{' '.join(each.text.split())} ({each.by}, {format_moment(each.at)})")
        for other, each in found
        if other == key and each.withdraws == remark.number
    ]


def _make_record(key: str, remark: "Remark", found: "list[tuple[str, Remark]]") -> dict[str, object]:
    from benchconsole.console.reports.document_json import make_remark_record

    return {"session": key, **make_remark_record(remark), "withdrawn": _list_withdrawals(key, remark, found)}
