"""The plans that a screen may ask for: proposed with what was chosen, in words and as a command line, and never sent.

``SessionController`` hands these questions over; what takes long is done in the thread of the session.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from benchconsole.console.exits import BadInput
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.proposed_rounds import ProposedRounds
from benchconsole.console.session.run_limits import list_time_limit
from benchconsole.console.session.run_options import (
    MEANINGS,
    RESUMING,
    SWITCHES,
    format_command,
    format_resume_command,
    list_fields,
    list_given,
    read_choice,
    say_given,
)
from benchconsole.console.session.safety import InUseError
from benchconsole.console.session.session import Session
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.detectable_text import list_detectable_sentences
from benchconsole.console.view.plan_text import format_left_out
from benchconsole.console.view.session_control import PlanNotes, Proposal, RunForm
from benchconsole.probes.api import Safety, Shape
from benchconsole.probes.model.errors import PlanError, ProbeError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.omission import Omission
from benchconsole.probes.planning.stage_choice import choose_stages, list_stage_names
from benchconsole.probes.planning.suites import find_suite
from benchconsole.store.files.paths import name_database
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted, disk_size

ENDS = "All of its rounds are closed. The nodes are searched for anything of ours, and the session is complete."
"""The work that is left of a session that was interrupted after its last round."""

SPARED_APART = "the command leaves {nodes} out of everything; here they are still asked what only reads"
MOST_COMPLETIONS = 50


class RunPlanning:
    """``require`` gives the session, or says who drives it; ``operator`` answers for nodes in use that are meant."""

    def __init__(self, require: Callable[[], Session], thread: LoopThread, operator: str) -> None:
        self._require = require
        self._thread = thread
        self._operator = operator

    async def propose(
        self, suite: str | None, *, failed_only: bool = False, only: Collection[str] = (), typed: Collection[str] = (),
        nodes: Collection[NodeId] | None = None, options: Mapping[str, str] | None = None, test: str = "",
    ) -> Proposal:  # fmt: skip
        """The rounds that would run: a suite (on ``nodes`` alone), one ``test`` in words, the tests that failed, or
        those of the ids ``only``.

        Rounds left of an interrupted session come before a new suite. ``typed`` are serial numbers of disks that the
        operator has typed, who agrees to lose what is on them. ``options`` are what was typed into the form, which
        stands for all that was chosen before. PlanError says what is wrong with any of it.
        """
        session = self._require()
        is_repeat = failed_only or bool(only)

        def propose() -> Proposal:
            choice = self._choose(session, options, test)
            given = list_given(choice, nodes)
            if suite is None and not is_repeat and not test and nodes is None and _owes(session):
                rounds = session.unfinished()
                session.meant, session.proposed = choice, ProposedRounds(rounds)
                given = {name: given[name] for name in RESUMING if name in given}
                found = Proposal(rounds, _make_plan_notes(session, rounds)) if rounds else Proposal((), ends=ENDS)
            else:
                rounds = session.propose(
                    suite, failed_only=failed_only, only=only, typed=typed, nodes=nodes, choice=choice
                )
                notes = _make_plan_notes(session, rounds) if rounds else PlanNotes()
                held_back = (*_list_words(session.proposed.left_out), *notes.held_back)
                found = Proposal(rounds, replace(notes, held_back=held_back), session.proposed.unconfirmed)
            command = "" if is_repeat else _format_command(session, suite, given, test)
            return replace(found, chosen=_say_chosen(session, given, has_command=bool(command)), command=command)

        await self._thread.ask(lambda: _ask_occupation(session))
        return await self._thread.call(propose)

    def _choose(self, session: Session, options: Mapping[str, str] | None, test: str) -> SessionChoice:
        """The choice that the typed options mean; PlanError with the words of the command for what is wrong."""
        choice = session.choice
        if options is not None:
            try:
                choice = self._read(session, options)
            except (BadInput, SelectionError, ProbeError) as error:
                raise PlanError("; ".join(_put_in_words(error))) from None
        return replace(choice, test=test)

    def _read(self, session: Session, options: Mapping[str, str]) -> SessionChoice:
        """The choice of the typed options; options without a field in the form stay as they were."""
        given = {name: text.strip() for name, text in options.items() if text.strip()}
        kept = {name: text for name, text in list_given(session.choice).items() if name not in options}
        choice = read_choice(session.fabric, session.choice, {**kept, **given}, self._operator)
        choice.policy.refuse(session.fabric, (), session.probes)
        return choice

    def make_form(
        self, suite: str | None, nodes: Collection[NodeId] | None, options: Mapping[str, str] | None, *, is_suite: bool
    ) -> RunForm:
        """The options that the plan of a ``suite`` can be given, or of tests by themselves, as they stand.

        ``nodes`` are marked; ``options`` is what was typed before.
        """
        session = self._require()
        fields = list_fields(is_suite=is_suite, has_begun=bool(session.id))
        begun = list_given(session.choice, nodes)
        values = {name: text for name, text in (begun if options is None else options).items() if name in fields}
        note = ""
        if session.id:
            note = "This session has begun: its label, cohorts and what is recorded of it stay as they are."
        groups = tuple(sanitize(f"@{name}") for name in session.fabric.node_groups)
        stages = list_stage_names(find_suite(session.fabric, suite), session.probes) if is_suite else ()
        choices = {
            **dict.fromkeys(("nodes", "exclude", "i-mean-production", "i-mean-busy"), groups),
            **dict.fromkeys(("only", "without"), stages),
            **dict.fromkeys(SWITCHES, ("yes",)),
        }
        meanings = {name: MEANINGS[name] for name in fields}
        return RunForm(meanings, values, note, choices, lambda typed: self._list_mistakes(session, suite, typed))

    def _list_mistakes(self, session: Session, suite: str | None, typed: Mapping[str, str]) -> tuple[str, ...]:
        """The mistakes in the typed options, in the words of the command; none where they can be planned."""
        try:
            choice = self._read(session, typed)
            if choice.only or choice.without:
                choose_stages(find_suite(session.fabric, suite), session.probes, choice.only, choice.without)
        except (BadInput, SelectionError, ProbeError) as error:
            return _put_in_words(error)
        return ()

    def complete_test(self, text: str, here: NodeId | None = None) -> tuple[str, ...]:
        """The completions of the words of one test: its probe, node, peer and options. ``here`` is offered first."""
        session = self._require()
        words = text.split(" ")
        before, last = words[:-1], words[-1].lower()
        probe = session.probes.get(words[0]) if before else None
        if not before:
            found: Sequence[str] = sorted(session.probes)
        elif probe is None:
            return ()
        elif len([word for word in before if "=" not in word]) <= (2 if probe.shape is Shape.PAIR else 1):
            nodes = [node for node in session.fabric.nodes if node not in before]
            found = [here, *nodes] if here is not None and here not in before else nodes
        else:
            given = {word.partition("=")[0] for word in before}
            found = [f"{name}={value}" for name, value in probe.options.items() if name not in given]
        chosen = dict.fromkeys(each for each in found if each.lower().startswith(last))
        return tuple(sanitize(" ".join((*before, each))) for each in list(chosen)[:MOST_COMPLETIONS])


async def _ask_occupation(session: Session) -> None:
    """Take in who uses the nodes now. PlanError where nobody can say: an unknown state is not an idle one."""
    policy = session.choice.policy
    if policy.ask is None:
        return
    try:
        session.choice.policy = replace(policy, occupied=await policy.ask())
    except ProbeError as error:
        raise PlanError(f"nobody can say which nodes are in use: {error}") from error


def _owes(session: Session) -> bool:
    """Whether the session was interrupted, and can be gone on with."""
    return bool(session.id) and not session.complete


def _put_in_words(error: Exception) -> tuple[str, ...]:
    return tuple(sanitize(line.removeprefix("benchconsole: ")) for line in str(error).splitlines())


def _say_chosen(session: Session, given: Mapping[str, str], *, has_command: bool) -> tuple[str, ...]:
    """The chosen options, and in what their command line would differ."""
    spared = _list_spared(session)
    apart = (SPARED_APART.format(nodes=fold(spared)),) if spared and has_command else ()
    return (*say_given(given), *apart)


def _list_spared(session: Session) -> list[NodeId]:
    return list(session.meant.policy.spared(session.fabric)) if session.proposed.spared else []


def _format_command(session: Session, suite: str | None, given: Mapping[str, str], test: str) -> str:
    """The command line of a plan; of a session that has begun, for a session of its own."""
    database = name_database(session.store.path)
    if suite is None and not test and _owes(session):
        return format_resume_command(session.fabric, session.id, given, database)
    words = ["--test", test] if test else ["--suite", suite] if suite else []
    spared = _list_spared(session)
    if spared:
        given = {**given, "exclude": ",".join(filter(None, (given.get("exclude", ""), fold(spared))))}
    return format_command(session.fabric, session.choice, given, words, database)


def _make_plan_notes(session: Session, rounds: Sequence[Round]) -> PlanNotes:
    """The effects of these rounds on the nodes, and what they leave out."""
    from benchconsole.console.session.round_judging import make_judging_context
    from benchconsole.probes.judging.detectable_loss import list_planned_losses
    from benchconsole.probes.planning.plan_summary import summarise

    fabric = session.fabric
    summary = summarise(fabric, rounds, session.probes, most=session.meant.tests_at_once)
    touched = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    used = {name for each in rounds for name in each.probes}
    loading = {name for name in used if session.probes[name].safety is not Safety.READS}
    effects = [f"{counted(len(touched), 'node')} asked over SSH"]
    if loading:
        effects.append(f"loads nodes and network: {', '.join(sorted(loading))}")
    if summary.total.writes:
        effects.append(f"at least {disk_size(summary.total.writes)} written, and files removed again")
    covers = [f"{len(touched):,} of {counted(len(fabric.nodes), 'node')}", *format_left_out(fabric, summary)]
    losses = list_planned_losses(make_judging_context(fabric, session.probes), rounds)
    suite = session.meant.suite_name or session.suite or find_suite(session.fabric, None).name
    shows = list_detectable_sentences(fabric, losses, suite, is_planned=True)
    in_use, overrun = tuple(_list_in_use(session, rounds)), summary.total.overrun
    limits = map(sanitize, list_time_limit(session.meant, rounds, time.time()))
    return PlanNotes(tuple(effects), tuple(covers), in_use, tuple(shows), overrun, tuple(limits))


def _list_in_use(session: Session, rounds: Sequence[Round]) -> list[str]:
    """Nodes that the plan leaves alone because somebody else needs them, or why it would be refused."""
    try:
        session.meant.policy.refuse(session.fabric, rounds, session.probes)
    except InUseError as error:
        return [sanitize(line) for line in str(error).splitlines()]
    return list(_list_words(session.proposed.spared))


def _list_words(omissions: Iterable[Omission]) -> Iterator[str]:
    return (sanitize(each.words) for each in omissions)
