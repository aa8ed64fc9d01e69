"""Lists what people said of a stored session, or of all: the tuning log of a machine by its time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.probes.model.remark import KINDS, list_standing
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from benchconsole.probes.model.remark import Remark
    from benchconsole.store.store import Store


@click.command("remarks")
@click.argument("session", required=False)
@click.option("--kind", type=click.Choice(KINDS), default=None, help="Only these.")
@click.option("--all", "every", is_flag=True, help="Withdrawn remarks too, with who withdrew them and why.")
@common.db_option
@common.json_option
@pause_collector()
def command(session: str | None, kind: str | None, every: bool, db: Path | None, as_json: bool) -> None:
    """List the remarks on SESSION, or on all sessions, by the time that they speak of."""
    from benchconsole.store.reading.remark_reading import read_remarks

    with common.open_store(db, create=False) as store:
        keys = [store.find_session(session)] if session else [each.id for each in store.list_sessions()]
        found = {key: read_remarks(store.session(key)) for key in keys}
        chosen = [
            (key, each)
            for key, remarks in found.items()
            for each in (remarks if every else list_standing(remarks))
            if not each.withdraws and kind in (None, each.kind.value)
        ]
        chosen.sort(key=lambda pair: pair[1].at)
        if as_json:
            common.print_json([_make_record(key, each, found[key]) for key, each in chosen])
            return
        nothing = "no remark; benchconsole remark SESSION TEXT writes one"
        lines = _format_lines(store, chosen, found) if chosen else [nothing]
    click.echo("\n".join(lines))


def _format_lines(
    store: "Store", chosen: "list[tuple[str, Remark]]", found: "dict[str, tuple[Remark, ...]]"
) -> "list[str]":
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
        lines += [f"    withdrawn: {text}" for text in _list_withdrawals(each, found[key])]
    return lines


def _list_withdrawals(remark: "Remark", remarks: "tuple[Remark, ...]") -> "list[str]":
    from benchconsole.console.text.sanitize import sanitize
    from benchconsole.console.view.wording import format_moment

    return [
        sanitize(f"{' '.join(each.text.split())} ({each.by}, {format_moment(each.at)})")
        for each in remarks
        if each.withdraws == remark.number
    ]


def _make_record(key: str, remark: "Remark", remarks: "tuple[Remark, ...]") -> dict[str, object]:
    from benchconsole.console.reports.document_json import make_remark_record

    return {"session": key, **make_remark_record(remark), "withdrawn": _list_withdrawals(remark, remarks)}
