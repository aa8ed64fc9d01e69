"""Shows, runs and marks what is checked by hand or by script, and keeps the evidence."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import db_option, encodable, installed, open_store, read_topology
from console.exits import BadInput, Exit

if TYPE_CHECKING:
    from console.checklist import ChecklistFile
    from probes.checklist import CheckedList, Evidence, Mark, Step
    from store.store import Store

_STATES = ("pass", "fail", "not-done", "not-applicable")


@click.command("checklist")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--session", metavar="SESSION", default=None, help="Session that it belongs to (id, label, last).")
@click.option("--label", metavar="TEXT", default=None, help="Begin a session of this name, of the topology it names.")
@click.option("--run", "run_", is_flag=True, help="Run the commands of the steps (--step: of one) on this machine.")
@click.option("--step", "step", metavar="ID", default=None, help="The step that is meant.")
@click.option("--state", type=click.Choice(_STATES), default=None, help="What is to be said of it.")
@click.option("--note", metavar="TEXT", default="", help="What was seen.")
@click.option("--by", metavar="NAME", default=None, help="Who says so [this account].")
@click.option("--attach", "attach", type=click.Path(path_type=Path), multiple=True, help="A file that shows it; kept.")
@click.option("--fetch", metavar="SHA256", default=None, help="Write a kept file to --output.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="Where --fetch writes to; new.")
@db_option
def command(
    file: Path, session: str | None, label: str | None, run_: bool, step: str | None, state: str | None, note: str,
    by: str | None, attach: tuple[Path, ...], fetch: str | None, output: Path | None, db: Path | None,
) -> None:  # fmt: skip
    """Show the steps of FILE; run or mark them within a session, where every entry is kept and the newest counts.

    Exit codes within a session: 0 every step passed or does not apply, 1 one failed, 3 one is not done or none
    passed, 2 bad input. Without a session the file is only checked and shown.
    """
    from console.checklist import read
    from console.cli.in_use import operator

    found = read(file)
    _refuse_unclear(session, label, step, state, run_=run_, shows=(note.strip(), attach), fetches=(fetch, output))
    if session is None and label is None:
        for line in _lines(_unmarked(found)):
            click.echo(line)
        return
    chosen = _step(found, step) if step else None
    evidence = tuple(map(_evidence, attach))
    with open_store(db, create=label is not None) as store:
        key = store.find(session) if session is not None else asyncio.run(_begin(store, found, str(label)))
        if fetch is not None and output is not None:
            _fetch(store, key, fetch, output)
            return
        asyncio.run(store.keep_checklist(key, found.checklist, time.time()))
        if run_:
            _run(store, key, found, (chosen,) if chosen else found.checklist.steps, by or operator())
        elif chosen and state:
            _mark(store, key, found, chosen, _said(state, by or operator(), note), evidence)
        kept = next(each for each in store.checklists(key) if each.name == found.checklist.name)
    for line in _lines(kept):
        click.echo(line)
    raise click.exceptions.Exit(_code(kept))


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


def _step(found: "ChecklistFile", name: str) -> "Step":
    from topology.selection import near

    known = {step.id: step for step in found.checklist.steps}
    if name not in known:
        hint = near(name, known)
        more = f", did you mean {hint}?" if hint else f", expected one of {', '.join(known)}"
        raise BadInput(f"benchconsole: {found.path}: no step {name!r}{more}")
    return known[name]


def _evidence(path: Path) -> "Evidence":
    """The bytes of a file; BadInput for one that cannot be read, is none, or is too large to be kept."""
    from probes.checklist import MOST_BYTES, Evidence

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


async def _begin(store: "Store", found: "ChecklistFile", label: str) -> str:
    """A session without tests, of the topology that the file names; BadInput without one, and for a label in use."""
    from console.record import Choice, new_session

    if found.topology is None:
        raise BadInput(f"benchconsole: {found.path} names no topology; add the key, or use --session")
    if any(each.label == label for each in store.sessions()):
        raise BadInput(f"benchconsole: a session is called {label} already; go on with --session {label}")
    fabric, now = read_topology(found.topology, installed()), time.time()
    key = await store.create_session(new_session(fabric, Choice(label=label), now), ())
    await store.end_session(key, at=now, complete=True)
    return key


def _said(state: str, by: str, note: str) -> "Mark":
    from probes.checklist import Mark, StepState

    if not by.strip():
        raise BadInput("benchconsole: --by: found nothing, expected a name")
    return Mark(StepState(state.replace("-", " ")), by.strip(), time.time(), note.strip())


def _mark(
    store: "Store", key: str, found: "ChecklistFile", step: "Step", said: "Mark", evidence: "tuple[Evidence, ...]"
) -> None:
    asyncio.run(store.mark_step(key, found.checklist.name, step.id, said, evidence))


def _run(store: "Store", key: str, found: "ChecklistFile", steps: "tuple[Step, ...]", by: str) -> None:
    """Run the commands one after the other, each kept before the next begins."""
    from console.checklist import run

    scripted = [step for step in steps if step.argv]
    if not scripted:
        raise BadInput("benchconsole: --run: none of these steps has a command; mark them with --step and --state")
    for step in scripted:
        said, evidence = run(step, found.path.parent, by)
        _mark(store, key, found, step, said, evidence)


def _fetch(store: "Store", key: str, sha256: str, output: Path) -> None:
    """Write a kept file where nothing is yet; its bytes are neither looked at nor run."""
    kept = store.attachment(key, sha256)
    try:
        with output.open("xb") as file:
            file.write(kept.content)
    except OSError as error:
        raise BadInput(f"benchconsole: --output {output}: {error.strerror}") from error
    click.echo(f"wrote {output}")


def _code(kept: "CheckedList") -> Exit:
    from console.reports.checklists import state_of
    from console.view import State

    return {State.PASS: Exit.PASSED, State.FAIL: Exit.BELOW}.get(state_of(kept), Exit.UNTESTED)


def _unmarked(found: "ChecklistFile") -> "CheckedList":
    """The file as if nobody had said anything."""
    from probes.checklist import Checked, CheckedList

    checklist = found.checklist
    return CheckedList(checklist.name, checklist.source, tuple(map(Checked, checklist.steps)))


def _lines(kept: "CheckedList") -> Iterator[str]:
    """The checklist as the text report shows it, with what a script would run."""
    import shlex

    from console.plain import plain
    from console.reports.checklists import sections
    from console.wording import SIGNS

    (section,) = sections((kept,))
    yield f"{section.title}; {section.tally}"
    for line, step in zip(section.lines, kept.steps, strict=True):
        sign = SIGNS[line.state]
        said = f" by {line.who}, {line.when}" if step.mark else ""
        yield f"{sign.glyph if encodable() else sign.ascii} {line.head}: {line.word}{said}"
        run = f"$ {plain(shlex.join(step.step.argv))}" if step.step.argv else ""
        yield from (f"    {text}" for text in (line.text, run, line.note, *line.evidence) if text)
