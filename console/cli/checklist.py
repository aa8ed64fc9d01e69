"""Shows, runs and marks what is checked by hand or by script, and keeps the evidence."""

import asyncio
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import (
    can_show_unicode,
    db_option,
    load_installed_probes,
    open_store,
    read_stored_view,
    read_topology,
)
from benchconsole.console.cli.session_options import find_operator
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
from benchconsole.probes.model.checklist import MOST_BYTES, PLACE, Checked, CheckedList, Evidence, Mark, Step, StepState
from benchconsole.store.store import Store
from benchconsole.topology.errors import find_near

if TYPE_CHECKING:
    from benchconsole.console.session.checklist_file import ChecklistFile
_STATES = ("pass", "fail", "not-done", "not-applicable")


@click.command("checklist")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--session", metavar="SESSION", default=None, help="The session that the checklist belongs to (id, label, last)."
)
@click.option(
    "--label", metavar="TEXT", default=None, help="Begin a session of this name, on the topology that FILE names."
)
@click.option("--run", "run_", is_flag=True, help="Run the commands of the steps (--step: of one) on this machine.")
@click.option("--step", "step", metavar="ID", default=None, help="The step to run or to mark.")
@click.option("--at", "at", metavar="PLACE", default=None, help="Only the steps of this place, or --step there.")
@click.option("--state", type=click.Choice(_STATES), default=None, help="The state of the step.")
@click.option("--note", metavar="TEXT", default="", help="An observation, in words.")
@click.option("--by", metavar="NAME", default=None, help="Who marks the step [this account].")
@click.option(
    "--attach", "attach", type=click.Path(path_type=Path), multiple=True, help="A file as evidence; a copy is kept."
)
@click.option("--fetch", metavar="SHA256", default=None, help="Write a kept file to --output.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="The new file that --fetch writes.")
@db_option
def command(
    file: Path, session: str | None, label: str | None, run_: bool, step: str | None, at: str | None, state: str | None,
    note: str, by: str | None, attach: tuple[Path, ...], fetch: str | None, output: Path | None, db: Path | None,
) -> None:  # fmt: skip
    """Show the steps of FILE; run or mark them within a session, where every entry is kept and the newest counts.

    Exit codes within a session: 0 every step passed or does not apply, 1 one failed, 3 one is not done or none
    passed, 2 bad input. Without a session the file is only checked and shown.
    """
    from benchconsole.console.reports.checklist_section import find_state
    from benchconsole.console.session.checklist_file import read_checklist_file
    from benchconsole.console.session.stored_verdict import keep_verdict
    from benchconsole.console.view.session_verdict import decide

    found = read_checklist_file(file)
    _refuse_unclear(session, label, step, state, run_=run_, shows=(note.strip(), attach), fetches=(fetch, output))
    if session is None and label is None:
        unmarked = tuple(map(Checked, _find_steps(found, None, at)))
        for line in _format_checklist(CheckedList(found.checklist.name, found.checklist.source, unmarked)):
            click.echo(line)
        return
    steps = _find_steps(found, step, at)
    chosen = steps[0] if step else None
    evidence = tuple(map(_read_evidence, attach))
    with open_store(db, create=label is not None) as store:
        key = (
            store.find_session(session)
            if session is not None
            else asyncio.run(_begin_session(store, found, str(label)))
        )
        if fetch is not None and output is not None:
            _fetch_attachment(store, key, fetch, output)
            return
        asyncio.run(store.session(key).append_checklist(found.checklist, time.time()))
        if run_:
            _run_steps(store, key, found, steps, by or find_operator())
        elif chosen and state:
            operator = (by or find_operator()).strip()
            if not operator:
                raise BadInput("benchconsole: --by: found nothing, expected a name")
            said = Mark(StepState(state.replace("-", " ")), operator, time.time(), note.strip())
            asyncio.run(store.session(key).mark_step(found.checklist.name, chosen.id, said, evidence))
        asyncio.run(keep_verdict(store, key, decide(read_stored_view(store, key, load_installed_probes()))))
        kept = next(each for each in store.session(key).read_checklists() if each.name == found.checklist.name)
    for line in _format_checklist(kept):
        click.echo(line)
    code = {State.PASS: Exit.PASSED, State.FAIL: Exit.BELOW}.get(find_state(kept), Exit.UNTESTED)
    raise click.exceptions.Exit(code)


def _refuse_unclear(
    session: str | None, label: str | None, step: str | None, state: str | None, *, run_: bool,
    shows: tuple[str, tuple[Path, ...]], fetches: tuple[str | None, Path | None],
) -> None:  # fmt: skip
    """BadInput for options that do not go together; nothing is run or written then."""
    within = session is not None or label is not None
    wrong = {
        "--session with --label: name the one or begin the other": session is not None and label is not None,
        "--label needs a text": label == "",
        "--run, --step and --fetch need --session or --label": (run_ or step or fetches[0]) and not within,
        "--state needs --step": state and not step,
        "--step needs --state, or --run": step and not (state or run_),
        "--run finds the state itself; leave --state, --note and --attach out": run_ and (state or any(shows)),
        "--note and --attach need --step and --state": any(shows) and not (step and state),
        "not-applicable needs a --note that says why": state == "not-applicable" and not shows[0],
        "--fetch and --output need each other": (fetches[0] is None) != (fetches[1] is None),
        "--fetch stands alone with --session": fetches[0] and (run_ or step or label is not None),
    }
    for words, is_so in wrong.items():
        if is_so:
            raise BadInput(f"benchconsole: {words}")


def _find_steps(found: "ChecklistFile", name: str | None, at: str | None) -> tuple[Step, ...]:
    """The step of this name, or all; of a place only those that are checked there. BadInput where there is none."""
    known = {step.id: step for step in found.checklist.steps}
    if name is None:
        there = tuple(step for step in known.values() if at is None or step.id.endswith(f"{PLACE}{at}"))
        if not there:
            places = dict.fromkeys(step.partition(PLACE)[2] for step in known if PLACE in step)
            expected = f"one of {', '.join(places)}" if places else "no --at: the file names no place"
            raise BadInput(f"benchconsole: {found.path}: --at: no step is checked at {at!r}, expected {expected}")
        return there
    name = name if at is None else f"{name}{PLACE}{at}"
    if name not in known:
        hint = find_near(name, known)
        more = f", did you mean {hint}?" if hint else f", expected one of {', '.join(known)}"
        raise BadInput(f"benchconsole: {found.path}: no step {name!r}{more}")
    return (known[name],)


def _read_evidence(path: Path) -> Evidence:
    """The bytes of a file; BadInput for one that cannot be read, is none, or is too large to be kept."""
    try:
        if not path.is_file():
            raise BadInput(f"benchconsole: --attach {path}: expected a plain file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"benchconsole: --attach {path}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise BadInput(f"benchconsole: --attach {path}: more than {MOST_BYTES:,} bytes; say in --note where it lies")
    return Evidence(path.name, content)


async def _begin_session(store: Store, found: "ChecklistFile", label: str) -> str:
    """A session without tests, of the topology that the file names; BadInput without one, and for a label in use."""
    from benchconsole.console.session.metadata import SessionChoice, make_new_session

    if found.topology is None:
        raise BadInput(f"benchconsole: {found.path} names no topology; add the key, or use --session")
    if any(each.label == label for each in store.list_sessions()):
        raise BadInput(f"benchconsole: a session is called {label} already; go on with --session {label}")
    fabric, now = read_topology(found.topology), time.time()
    new = make_new_session(fabric, SessionChoice(label=label), now, is_planned=False)
    key = await store.create_session(new, ())
    await store.session(key).end(at=now, complete=True)
    return key


def _run_steps(store: Store, key: str, found: "ChecklistFile", steps: tuple[Step, ...], by: str) -> None:
    from benchconsole.console.session.checklist_file import run_step

    scripted = [step for step in steps if step.argv]
    if not scripted:
        raise BadInput("benchconsole: --run: none of these steps has a command; mark them with --step and --state")
    for step in scripted:
        said, evidence = run_step(step, found.path.parent, by)
        asyncio.run(store.session(key).mark_step(found.checklist.name, step.id, said, evidence))


def _fetch_attachment(store: Store, key: str, sha256: str, output: Path) -> None:
    """Write a kept file where nothing is yet; its bytes are neither looked at nor run."""
    kept = store.session(key).read_attachment(sha256)
    try:
        with output.open("xb") as file:
            file.write(kept.content)
    except OSError as error:
        raise BadInput(f"benchconsole: --output {output}: {error.strerror}") from error
    click.echo(f"wrote {output}")


def _format_checklist(kept: CheckedList) -> Iterator[str]:
    from benchconsole.console.reports.checklist_section import make_sections

    (section,) = make_sections((kept,))
    yield f"{section.title}; {section.tally}"
    for line, step in zip(section.lines, kept.steps, strict=True):
        sign = SIGNS[line.state]
        said = f" by {line.who}, {line.when}" if step.mark else ""
        yield f"{sign.glyph if can_show_unicode() else sign.ascii} {line.head}: {line.word}{said}"
        run = f"$ {sanitize(shlex.join(step.step.argv))}" if step.step.argv else ""
        yield from (f"    {text}" for text in (line.text, run, line.note, *line.evidence) if text)
