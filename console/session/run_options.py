"""The options of a run by the words of ``benchconsole run``: read, checked, said, written as its command line. Pure.

The command and the plan sheet of the screen read them here, so that both say the same of what is wrong.
"""

import math
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from benchconsole.console.exits import BadInput
from benchconsole.console.session.metadata import (
    CHANGE_NODES,
    COHORT,
    CONFIRM,
    SAMPLE_LOAD,
    TESTS_AT_ONCE,
    SessionChoice,
)
from benchconsole.console.session.run_limits import (
    is_cap,
    join_units,
    list_caps,
    read_caps,
    read_tests_at_once,
    read_time_limit,
)
from benchconsole.console.session.stored_fabric import SETTING
from benchconsole.probes.running.guards.in_use import InUseOverride
from benchconsole.topology.copying import replace
from benchconsole.topology.model.cohorts import DIMENSION_WORDS, VALUE_WORDS, is_dimension, is_value
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import fold, select

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "nodes": "only these: n[01-16], @storage ...; nothing: all",
        "exclude": "leave these nodes out",
        "only": "only these stages or probes of the suite, with commas between; nothing: all",
        "without": "leave these stages or probes of the suite out",
        "label": "a name for the session",
        "cohort": "label every result of the session, as phase=after; recorded",
        "cap": "lower caps than the file's, for links and storage systems: 50% scratch=2GB/s; recorded",
        "tests-at-once": "most tests of one round; nothing: as many as share nothing; recorded",
        "within": "time limit of this run, as 2 h: no round begins that would end later",
        "until": "the same by the clock of this machine, as 06:00",
        "careful": "yes: begin with 1, 2, 4 ... tests at once, and stop when a canary pair suffers",
        "sample-load": "yes: sample the load of both ends and of storage servers during tests",
        "change-nodes": "yes: allow steps of sweeps, commands that change nodes and are undone; recorded",
        "confirm": "minutes that rounds may last which confirm suspects and repeat what ran apart; nothing: 3, 0: none",
        "i-mean-production": "load these although the file tags them production; recorded",
        "i-mean-busy": "load these although somebody's job runs there; recorded",
    }
)
"""The options that a plan can be given on the screen, by their words on the command line, with what each takes."""

OF_SUITE = ("nodes", "exclude", "only", "without")
OF_SESSION = ("label", "cohort", "cap", "tests-at-once", "sample-load", "change-nodes", "confirm")
"""Options that are recorded when a session begins: one that has begun goes on as it was begun."""

SWITCHES = ("careful", "sample-load", "change-nodes")
REPEATED = ("cohort", "cap")
"""Options that are given once for each of their words."""

_YES: Mapping[str, bool] = MappingProxyType({"yes": True, "no": False})
_OPTIONS = {"sample-load": SAMPLE_LOAD, "change-nodes": CHANGE_NODES}
MOST_MINUTES = 24 * 60


def list_fields(*, is_suite: bool, has_begun: bool) -> tuple[str, ...]:
    """The options that a plan can be given: of a suite or of tests by themselves, in a session that has begun or not.

    Options that are recorded of a session are chosen before it begins.
    """
    without = (() if is_suite else OF_SUITE) + (OF_SESSION if has_begun else ())
    return tuple(name for name in MEANINGS if name not in without)


def list_given(choice: SessionChoice, nodes: Collection[NodeId] | None = None) -> dict[str, str]:
    """The options that ``choice`` stands for, by name; ``nodes`` are marked and count before its own."""
    chosen = nodes if nodes is not None else choice.nodes
    policy, options = choice.policy, choice.options
    cohorts = shlex.join(f"{name}={value}" for name, value in choice.cohorts.items())
    found = {
        "nodes": "" if chosen is None else fold(chosen),
        "only": choice.only,
        "without": choice.without,
        "label": choice.label,
        "cohort": cohorts,
        "cap": shlex.join(list_caps(options)),
        "tests-at-once": str(options.get(TESTS_AT_ONCE, "")),
        "within": choice.within,
        "until": choice.until,
        "careful": "yes" if policy.careful else "",
        **{name: "yes" if options.get(key) else "" for name, key in _OPTIONS.items()},
        "confirm": f"{float(options[CONFIRM]) / 60:g}" if CONFIRM in options else "",
        "i-mean-production": fold(sorted(policy.override.production)) if policy.override.production else "",
        "i-mean-busy": fold(sorted(policy.override.busy)) if policy.override.busy else "",
    }
    return {name: text for name, text in found.items() if text}


def read_choice(fabric: Fabric, choice: SessionChoice, given: Mapping[str, str], who: str) -> SessionChoice:
    """``choice`` with the options that were ``given``, and none of those that it had before; ``who`` answers for them.

    BadInput or SelectionError with the sentence of the command.
    """
    switches = {name: _read_switch(name, given.get(name, "")) for name in SWITCHES}
    kept = {name: value for name, value in choice.options.items() if not _is_given_here(name)}
    options = {
        **kept,
        **{key: 1 for name, key in _OPTIONS.items() if switches[name]},
        **({CONFIRM: read_minutes(given["confirm"]) * 60} if "confirm" in given else {}),
        **({TESTS_AT_ONCE: read_tests_at_once(given["tests-at-once"])} if "tests-at-once" in given else {}),
        **read_caps(fabric, _split_words("cap", given.get("cap", ""))),
        **make_cohort_options(fabric, _split_words("cohort", given.get("cohort", ""))),
    }
    within, until = read_time_limit(given.get("within"), given.get("until"))
    nodes = select(fabric, given.get("nodes"), given.get("exclude")) if {"nodes", "exclude"} & given.keys() else None
    production, busy = (_select_meant(fabric, given.get(name)) for name in ("i-mean-production", "i-mean-busy"))
    policy = replace(choice.policy, override=InUseOverride(production, busy, who), careful=bool(switches["careful"]))
    return replace(
        choice, nodes=nodes, label=given.get("label", ""), options=options, policy=policy,
        only=given.get("only", ""), without=given.get("without", ""), within=within, until=until,
    )  # fmt: skip


def _is_given_here(option: str) -> bool:
    named = option in (CONFIRM, TESTS_AT_ONCE, *_OPTIONS.values())
    return named or is_cap(option) or option.startswith(COHORT)


def _select_meant(fabric: Fabric, text: str | None) -> frozenset[NodeId]:
    return frozenset() if text is None else frozenset(select(fabric, text))


def _read_switch(name: str, text: str) -> bool:
    if text and text not in _YES:
        raise BadInput(f"benchconsole: --{name}: {text!r}, expected yes or no")
    return _YES.get(text, False)


def read_minutes(text: str) -> float:
    """The minutes of ``--confirm``; BadInput for what is no number of them, or more than a day."""
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not 0 <= minutes <= MOST_MINUTES:
        raise BadInput(f"benchconsole: --confirm {text}, expected minutes from 0 to {MOST_MINUTES:,}")
    return minutes


def _split_words(option: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"benchconsole: --{option} {text}: {error}, expected words as a shell takes them") from None
    return join_units(words) if option == "cap" else words


def make_cohort_options(fabric: Fabric, given: Sequence[str]) -> dict[str, str | int | float]:
    """The options that record the cohorts of a session; BadInput for one that could be taken for another label."""
    sweeps = (stage.sweep for suite in fabric.suites.values() for stage in suite.stages if stage.sweep is not None)
    axes = {axis.name for sweep in sweeps for axis in sweep.axes}
    taken = {dimension for node in fabric.nodes.values() for dimension, _ in node.cohorts}
    found: dict[str, str | int | float] = {}
    for text in given:
        dimension, sign, name = text.partition("=")
        if not sign or not is_dimension(dimension, axes):
            raise BadInput(f"benchconsole: --cohort {text}: expected DIMENSION=NAME, the dimension {DIMENSION_WORDS}")
        if not is_value(name):
            raise BadInput(f"benchconsole: --cohort {text}: expected as its name {VALUE_WORDS}")
        if dimension in taken or COHORT + dimension in found:
            where = "the topology file" if dimension in taken else "another --cohort"
            raise BadInput(f"benchconsole: --cohort {text}: {where} has cohorts of {dimension}; use another dimension")
        found[COHORT + dimension] = name
    return found


def say_given(given: Mapping[str, str]) -> tuple[str, ...]:
    """The chosen options in words: ``nodes n[1-4]``, ``careful``."""
    return tuple(name if name in SWITCHES else f"{name} {text}" for name, text in given.items() if text != "no")


def format_command(
    fabric: Fabric, choice: SessionChoice, given: Mapping[str, str], suite: Iterable[str], database: str
) -> str:
    """The command line that plans the same as a session of its own, as a shell takes it.

    ``suite`` are the words that say what is run (``--suite quick``), ``database`` is empty for the user's own.
    """
    settings = {name: value for name, value in choice.options.items() if name.startswith(SETTING)}
    words = [word for name, value in settings.items() for word in ("--set", f"{name.removeprefix(SETTING)}={value}")]
    return _join_command(fabric, [*suite, *words], given, database)


RESUMING = ("within", "until", "careful", "i-mean-production", "i-mean-busy", "through", "head")
"""Options that ``benchconsole run --resume`` takes; for the others a session goes on as it was begun."""


def format_resume_command(fabric: Fabric, session: str, given: Mapping[str, str], database: str) -> str:
    """The command line that goes on with a stored session, with those of the ``given`` options that it takes."""
    taken = {name: given[name] for name in RESUMING if name in given}
    return _join_command(fabric, ["--resume", session], taken, database)


def _join_command(fabric: Fabric, words: Iterable[str], given: Mapping[str, str], database: str) -> str:
    found = ["benchconsole", "run", fabric.file, *words]
    for name, text in given.items():
        if name in SWITCHES:
            found += [f"--{name}"] if text != "no" else []
        elif name in REPEATED:
            found += [word for each in _split_words(name, text) for word in (f"--{name}", each)]
        else:
            found += [f"--{name}", text]
    found += ["--db", database] if database else []
    return shlex.join(found)
