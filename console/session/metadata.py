"""The record of a session beside its results: its suite, label and options, and the criteria that judged it. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

from benchconsole import __version__
from benchconsole.console.session.safety import CAREFUL, SafetyPolicy
from benchconsole.console.session.stored_fabric import SETTING
from benchconsole.probes.model.round_bounds import CONFIRMATION_SECONDS, MOST_TESTS
from benchconsole.probes.planning.suites import SINGLE, find_suite
from benchconsole.store.model import NewSession, SessionNote
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import fold, select

CONFIRM = "confirm.seconds"
"""The name of the option that records how long confirmation rounds may last, where somebody chose it."""

SAMPLE_LOAD = "sample.load"
"""The name of the option that records that the load of nodes is sampled while their tests run."""

CHANGE_NODES = "change.nodes"
"""The name of the option that records that the steps of sweeps may change nodes."""

TESTS_AT_ONCE = "tests.at_once"
"""The name of the option that records the most tests of one round, where somebody chose it."""

COHORT = "cohort "
"""Before the dimension, the name of the option that records the cohort of a whole session."""

COHORT_NOTE = "cohort"
"""The kind of the notes on cohorts of outputs that were brought in: ``tuning=after: ior ingested``."""


@dataclass(slots=True)
class SessionChoice:
    """The choices for a session: suite, nodes (None: all), label, how carefully; ``options`` are recorded.

    ``typed`` are the serial numbers that somebody typed for disks that may be overwritten. ``only`` and ``without``
    name the stages that are taken or left, with commas between; ``test`` asks for one test in place of a suite
    (``iperf3 n1 n2 seconds=3``). ``within`` and ``until`` are the time limit of the
    next run, as it was typed (empty: none).
    """

    suite: str | None = None
    nodes: tuple[NodeId, ...] | None = None
    label: str = ""
    options: Mapping[str, str | int | float] = field(default_factory=dict)
    policy: SafetyPolicy = field(default_factory=SafetyPolicy)
    typed: tuple[str, ...] = ()
    only: str = ""
    without: str = ""
    test: str = ""
    within: str = ""
    until: str = ""

    @property
    def suite_name(self) -> str | None:
        """The name of the suite that is run; None for the suite that counts where none was chosen."""
        return SINGLE if self.test else self.suite

    @property
    def parts(self) -> dict[str, str]:
        """The record of the parts of a suite that were chosen; empty for the whole suite."""
        return {name: text for name in ("only", "without", "test") if (text := getattr(self, name))}

    @property
    def confirm_seconds(self) -> float:
        """How long the rounds may last that confirm findings."""
        return float(self.options.get(CONFIRM, CONFIRMATION_SECONDS))

    @property
    def tests_at_once(self) -> int:
        """How many tests a round may have."""
        return int(self.options.get(TESTS_AT_ONCE, MOST_TESTS))

    @property
    def cohorts(self) -> dict[str, str]:
        """The labels that every result of the session gets, by dimension."""
        found = ((name.removeprefix(COHORT), value) for name, value in self.options.items() if name.startswith(COHORT))
        return {name: str(value) for name, value in found}


def make_settings(fabric: Fabric, given: Sequence[str]) -> dict[str, int]:
    """The options that record the parameters that were ``given`` as NAME=NUMBER, with the values that count."""
    names = dict.fromkeys(text.partition("=")[0] for text in given)
    return {f"{SETTING}{name}": fabric.parameters[name] for name in names}


def list_cohorts(options: Mapping[str, str | int | float], notes: Iterable[SessionNote]) -> list[str]:
    """The dimensions in which all of a session is one cohort: it ran as that, or all that was brought in is that."""
    brought = [note.text.partition(":")[0].partition("=") for note in notes if note.kind == COHORT_NOTE]
    values = group_by_key((name, value) for name, _, value in brought)
    of_all = [name for name, own in values.items() if len(set(own)) == 1]
    return [*SessionChoice(options=options).cohorts, *of_all]


def name_judgement(fabric: Fabric) -> str:
    """The name of a judgement: the program, and twelve hex digits for the criteria and declared hardware."""
    criteria = [(replace(each, nodes=frozenset()), sorted(each.nodes)) for each in fabric.criteria]
    declared = [
        (node.id, sorted(node.hardware.facts.items()), *sorted(node.hardware.rules.items(), key=itemgetter(0)))
        for node in fabric.nodes.values()
    ]
    digits = hashlib.sha256(repr((criteria, declared)).encode()).hexdigest()[:12]
    return f"benchconsole {__version__}, criteria {digits}"


def read_stored_choice(fabric: Fabric, new: NewSession, policy: SafetyPolicy) -> SessionChoice:
    """The choices that a stored session was begun with; ``policy`` is of the run that goes on with it."""
    nodes = tuple(select(fabric, new.selection, None)) if new.selection else None
    policy = replace(policy, careful=policy.careful or bool(new.options.get(CAREFUL)))
    return SessionChoice(new.suite, nodes, new.label, new.options, policy)


NO_SUITE = ""
"""The suite of a session that nobody planned: outputs, a typed table or a checklist were brought in."""


def make_new_session(fabric: Fabric, choice: SessionChoice, now: float, *, is_planned: bool = True) -> NewSession:
    """The facts of a session for the store, before anything of it has run. ``is_planned``: a suite is to run."""
    return NewSession(
        topology=fabric.text,
        topology_path=str(Path(fabric.file).absolute()),
        fabric=fabric.name,
        suite=(choice.suite_name or find_suite(fabric, None).name) if is_planned else NO_SUITE,
        started=now,
        label=choice.label,
        selection=fold(choice.nodes) if choice.nodes is not None else "",
        options={**choice.options, **choice.policy.options(), **choice.parts},
        simulated=fabric.simulated,
        program=__version__,
    )
