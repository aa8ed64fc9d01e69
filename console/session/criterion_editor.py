"""The criteria of a session, edited from the screen: what was typed is checked, shown as a diff, written, judged with.

Nothing is written before ``write``, which is given the proposal that somebody has seen and agreed to.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchconsole.console.session.criteria_changes import list_changes
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_fabric import read_settings
from benchconsole.console.session.stored_verdict import keep_verdict
from benchconsole.console.text.atomic_write import replace_content, write_whole
from benchconsole.console.text.typed_path import read_typed_path
from benchconsole.console.view.events import Event, SessionOpened, make_noticed
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.model.errors import PlanError
from benchconsole.store.errors import StoreError
from benchconsole.store.reading.criteria_reading import read_criteria
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import MAX_BYTES, read_text, source_text
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Criterion, Fabric
from benchconsole.topology.units import Unit
from benchconsole.topology.writing.criterion_text import (
    KEY,
    CriterionTextError,
    add_criterion,
    change_criterion,
    list_diff,
    list_written,
)
from benchconsole.topology.writing.yaml_text import format_flow

FIELDS = ("metric", "at_least", "at_most", "source", "target", "nodes", "where", "of", "statistic")
"""The keys of a criterion that are asked for. Others that a file has (round, author, date) stay as they are."""

_EXPECTED = {"where": "labels such as threads: 8", "of": "a mapping such as {metric: stream.copy}"}
"""The fields that take more than one value."""

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_BOM = b"\xef\xbb\xbf"


class CriterionEditError(PlanError):
    """A criterion that is not written: each reason in words."""

    def __init__(self, *reasons: str) -> None:
        self.reasons = reasons
        super().__init__("; ".join(reasons))


@dataclass(frozen=True, slots=True)
class CriterionForm:
    """A criterion to fill in: ``values`` as typed by field, for the file ``path``; ``note`` says why it is that file.

    ``criterion`` is the one that is changed, None for a new one.
    """

    criterion: Criterion | None
    values: Mapping[str, str]
    path: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class CriterionProposal:
    """A file as it would be: ``before`` is its content now, None where it is new; ``diff`` are lines, without ends.

    ``notes`` say what else changes with it. ``fabric`` is what the new text describes.
    """

    path: Path
    before: bytes | None
    after: bytes
    diff: Sequence[str]
    notes: Sequence[str]
    fabric: Fabric


class CriterionEditor:
    """``find_session`` gives the session that this console drives, ``take`` is given what it is after a judgement.

    All is done in ``thread``, that of the session. ``operator`` answers for what is asked.
    """

    def __init__(
        self, find_session: Callable[[], Session], take: Callable[[Session], None], thread: LoopThread, operator: str
    ) -> None:
        self._find_session = find_session
        self._take = take
        self._thread = thread
        self._operator = operator

    async def begin(self, criterion: Criterion | None = None) -> CriterionForm:
        """The form of a new criterion, or of one that judges the session. CriterionEditError where none is taken."""
        return await self._thread.call(lambda: make_form(self._require_still(), criterion))

    async def propose(self, form: CriterionForm, typed: Mapping[str, str], path: str) -> CriterionProposal:
        """The proposed text of the file ``path``. CriterionEditError lists everything that is wrong with it."""
        return await self._thread.call(lambda: make_proposal(self._require_still(), form, typed, path))

    async def write(self, proposal: CriterionProposal) -> str:
        """Write the file, judge the session with it, and say what was done.

        FileError or CriterionEditError where nothing was written; StoreError where the file is written, and the
        session is judged as before.
        """
        return await self._thread.ask(lambda: self._write(proposal))

    async def _write(self, proposal: CriterionProposal) -> str:
        session = self._require_still()
        if not session.id:
            _write_file(proposal)
            fresh = Session(
                proposal.fabric, session.probes, session.store, session.choice, make_reach=session.make_reach
            )
            self._show(session, fresh, (await anext(fresh.events()),))
            return f"written: {proposal.path}; a run is judged with it"
        from benchconsole.console.session.stored_judgement import judge_stored  # judging: not to fill in a form

        new = judge_stored(session.store.session(session.id), session.probes, proposal.fabric, who=self._operator)
        _write_file(proposal)
        await new.keep()
        fresh = Session.stored(session.store, session.id, session.probes, make_reach=session.make_reach)
        verdict = decide(fresh.view())
        await keep_verdict(session.store, session.id, verdict)
        fresh.choice, fresh.origin, fresh.has_begun = session.choice, session.origin, session.has_begun
        fresh.meant = fresh.choice
        noticed = (make_noticed(note.kind, note.text, note.at) for note in new.notes)
        self._show(session, fresh, (*fresh.replay, *noticed))
        return f"written: {proposal.path}; judged again: {verdict.sentence}"

    def _require_still(self) -> Session:
        """The session, unless a run of it goes on, here or elsewhere, or nothing can be stored."""
        session = self._find_session()
        if session.running:
            raise CriterionEditError("A run of this session goes on; it has to end first.")
        if session.store.read_only is not None:
            raise CriterionEditError(f"The database cannot be written: {session.store.read_only}")
        try:
            state = session.store.session(session.id).describe().state if session.id else None
        except StoreError as error:
            raise CriterionEditError(f"The session cannot be read: {error}") from None
        if state is SessionState.RUNNING:
            raise CriterionEditError("Another console runs this session.")
        return session

    def _show(self, old: Session, fresh: Session, events: Sequence[Event]) -> None:
        """Let the screen go on with ``fresh``: it tells those who listened to ``old`` everything anew."""
        fresh.observers, fresh.is_watched = old.observers, old.is_watched
        self._take(fresh)
        for event in events:
            for tell in fresh.observers:
                tell(replace(event, anew=True) if isinstance(event, SessionOpened) else event)


# -- the form


def make_form(session: Session, criterion: Criterion | None) -> CriterionForm:
    """The form of a criterion that judges ``session``, or of a new one, with the file that it belongs into.

    Where that cannot be written, or has been changed so that it does not hold the criterion, another one is offered.
    """
    reasons: list[str] = []
    files = _list_files(session)
    for file in files:
        obstacle = _find_obstacle(file)
        if obstacle:
            reasons.append(f"{file} {obstacle}.")
            continue
        try:
            return _fill_form(session, criterion, file, reasons)
        except CriterionEditError as error:
            reasons += error.reasons
    offer = "Another file is offered, with the description that the session was begun with."
    try:
        return _fill_form(session, criterion, _name_new_file(files[0]), [*reasons, offer])
    except CriterionEditError:
        gone = "The description that the session was begun with does not hold it either: add it anew."
        raise CriterionEditError(*reasons, gone) from None


def _list_files(session: Session) -> list[Path]:
    """The file whose criteria judge the session, then the one that it was begun with."""
    if not session.id:
        return [_shorten(Path(session.fabric.file))]
    stored = session.store.session(session.id)
    chosen, own = read_criteria(stored), Path(stored.describe().new.topology_path)
    source = None if chosen is None or chosen.criteria is None or not chosen.source else Path(chosen.source)
    return [_shorten(each) for each in ([own] if source in (None, own) else [source, own]) if each is not None]


def _shorten(path: Path) -> Path:
    """The path as it is typed in the working folder, where the file lies in it."""
    folder = Path.cwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def _fill_form(session: Session, criterion: Criterion | None, path: Path, reasons: Sequence[str]) -> CriterionForm:
    written: Mapping[str, object] = {}
    if criterion is not None:
        written = _find_written(session, _read_base(session, path)[1], path, criterion)[1]
    values = {name: _tell(name, written.get(name)) for name in FIELDS}
    return CriterionForm(criterion, values, str(path), " ".join(reasons))


def _find_obstacle(file: Path) -> str:
    """Why a file cannot be edited, in words that follow its name; empty where it can."""
    try:
        if not file.is_file():
            return "is not there"
        with file.open("r+b"):
            real = file.resolve()
    except OSError as error:
        return f"cannot be written ({error.strerror})"
    return "" if os.access(real.parent, os.W_OK) else "stands in a folder that cannot be written"


def _name_new_file(file: Path) -> Path:
    """A name in this folder that nothing has."""
    stem = file.stem or "session"
    names = (f"{stem}{number}.yaml" for number in ("", *(f"-{each}" for each in range(2, 1000))))
    return next(path for path in map(Path, names) if not path.exists())


def _tell(name: str, value: object) -> str:
    """A value as it is typed."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        words = format_flow(value)
        return words[1:-1] if name == "where" else words
    return str(value)


# -- the proposal


def make_proposal(
    session: Session, form: CriterionForm, typed: Mapping[str, str], typed_path: str
) -> CriterionProposal:
    """The file as it would be with what was typed. CriterionEditError lists everything that is wrong."""
    path = read_typed_path(typed_path)
    before, text = _read_base(session, path)
    changes = _read_typed(form, typed)
    place = None if form.criterion is None else _find_written(session, text, path, form.criterion)[0]
    try:
        if place is None:
            made = add_criterion(text, {name: value for name, value in changes.items() if value is not None})
        else:
            made = change_criterion(text, place, changes)
    except CriterionTextError as error:
        raise CriterionEditError(f"{path}: {error}, expected a list of criteria in lines of its own") from None
    fabric = _read_fabric(session, made, path)
    bom = _BOM if before is not None and before.startswith(_BOM) else b""
    diff = tuple(list_diff("" if before is None else text, made, str(path)))
    notes = (*_describe_base(session, before, text, path), *_list_more(session, form, place, path, fabric))
    return CriterionProposal(path, before, bom + made.encode(), diff, notes, fabric)


def _describe_base(session: Session, before: bytes | None, text: str, path: Path) -> Sequence[str]:
    """The notes on the file that is written into. CriterionEditError where it may not be."""
    if before is None:
        return (f"{path} is new: it holds the description that the session was begun with.",)
    obstacle = _find_obstacle(path)
    if obstacle:
        raise CriterionEditError(f"{path} {obstacle}, expected another file")
    if text == session.fabric.text:
        return ()
    if not session.id:
        raise CriterionEditError(f"{path} was changed since it was opened; open it again, nothing has run yet")
    now, begun = (read_text(each, str(path)).data for each in (text, session.fabric.text))
    if isinstance(now, dict) and isinstance(begun, dict) and {**now, KEY: None} == {**begun, KEY: None}:
        return ()
    return (f"{path} describes something else than the session was begun with; only its criteria count for it.",)


def _read_base(session: Session, path: Path) -> tuple[bytes | None, str]:
    """Content and text of a file; of one that is not there None, and the text that the session was begun with."""
    try:
        if not path.exists():
            if not path.parent.is_dir():
                raise CriterionEditError(f"{path}: no such directory, expected a file in one that is there")
            return None, session.fabric.text
        if not path.is_file():
            raise CriterionEditError(f"{path}: no plain file, expected a topology file")
        source_text(path)
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        return content, content.decode("utf-8-sig")
    except TopologyError as error:
        raise CriterionEditError(*map(str, error.problems)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CriterionEditError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _find_written(session: Session, text: str, path: Path, criterion: Criterion) -> tuple[int, Mapping[str, object]]:
    """The place of a criterion in the text of a file, and how it is written there."""
    fabric, written = _read_fabric(session, text, path), list_written(text, str(path))
    places = [place for place, each in enumerate(fabric.criteria) if _drop_unit(each) == _drop_unit(criterion)]
    if not places or len(written) != len(fabric.criteria):
        raise CriterionEditError(f"{path} does not hold this criterion as it judges the session now.")
    return places[0], written[places[0]]


def _read_fabric(session: Session, text: str, path: Path) -> Fabric:
    """The fabric that a text describes, with every check that a file gets."""
    # Not to fill in a form: these import planning, and what checks a file.
    from benchconsole.probes.planning.vocabulary import make_vocabulary
    from benchconsole.topology.description.resolve import load_text

    settings = read_settings(session.choice.options)
    try:
        return load_text(text, path.absolute(), lambda: make_vocabulary(session.probes), settings)
    except TopologyError as error:
        folder = f"{path.absolute().parent}/"  # the form names the file; a long path would push the reason off it
        raise CriterionEditError(*(str(each).removeprefix(folder) for each in error.problems)) from None


def _read_typed(form: CriterionForm, typed: Mapping[str, str]) -> dict[str, object]:
    """The plain values of the fields that were typed otherwise than they were; None where one was emptied."""
    found: dict[str, object] = {}
    wrong: list[str] = []
    for name in FIELDS:
        text = typed.get(name, "").strip()
        if text == form.values.get(name, ""):
            continue
        try:
            found[name] = _read_value(name, text)
        except TopologyError:
            wrong.append(f"{name}: {text!r}, expected {_EXPECTED[name]}")
    if not typed.get("metric", "").strip():
        wrong.append("metric: nothing, expected the name of a metric")
    if wrong:
        raise CriterionEditError(*wrong)
    if not found:
        raise CriterionEditError("Nothing is changed.")
    return found


def _read_value(name: str, text: str) -> object:
    if not text:
        return None
    if name == "where" or (name == "of" and text.startswith("{")):
        inner = text if text.startswith("{") else f"{{{text}}}"
        return read_text(inner, name).data
    if name in ("at_least", "at_most", "target") and _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def _list_more(session: Session, form: CriterionForm, place: int | None, path: Path, fabric: Fabric) -> Sequence[str]:
    """The changes in judging besides the typed criterion, in words: the file may have been changed since."""
    meant = list(session.fabric.criteria)
    if form.criterion is None or place is None:
        meant.append(fabric.criteria[-1])
    elif form.criterion in meant:
        meant[meant.index(form.criterion)] = fabric.criteria[place]
    else:
        raise CriterionEditError("The session was judged with other criteria meanwhile.")
    if Counter(map(_drop_unit, meant)) == Counter(map(_drop_unit, fabric.criteria)):
        return ()
    changes = tuple(list_changes(tuple(meant), fabric.criteria))
    return (f"{path} differs in more from what judges the session now, and all of it counts:", *changes)


def _drop_unit(criterion: Criterion) -> Criterion:
    """A criterion to compare: a file that is read without its metrics knows no unit of a share."""
    return replace(criterion, unit=Unit.ONE)


def _write_file(proposal: CriterionProposal) -> None:
    if proposal.before is None:
        write_whole(proposal.path, lambda out: out.write(proposal.after.decode()), private=False)
    else:
        replace_content(proposal.path, proposal.before, proposal.after)
