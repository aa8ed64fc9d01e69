"""Owns the node probe ``inventory``: one command that reads, and a parser for each source it reads.

It changes nothing and needs no privileges; what a node does not tell is simply not among the
facts, except that LLDP says why it was skipped. Refuses to guess: a source that failed, or that
was cut, gives no fact.
"""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from probes.api import Fact, Output, Probe, ProbeOutputError, Safety, Target, labels
from probes.builtin.captured import refuse_failed
from probes.builtin.inventory import interrupts, lldpctl, script, softirqs
from probes.builtin.inventory.sources import SOURCES, answered


def _word() -> str:
    return secrets.token_hex(8)


class Inventory(Probe):
    """Facts about processors, memory, disks, RAID, interfaces, their neighbours, firmware, kernel and its settings.

    Asked as the login; with the option ``sudo`` 1 what only root is told is asked through ``sudo -n``,
    which fails where it would want a password.
    """

    name = "inventory"
    summary = "What a node is made of, how it is set and whom it is cabled to, read without changing anything"
    source = "Jetstream acceptance report, 3.1; DESY storage report; SC11 report, listing 1; Fermilab storage report"
    tools = MappingProxyType({"lscpu": "util-linux", "lsblk": "util-linux", "ip": "iproute2"})
    options = MappingProxyType({"sudo": 0})
    safety = Safety.READS
    timeout = 60.0

    def __init__(self, word: Callable[[], str] = _word) -> None:
        self._word = word

    def command(self, target: Target) -> Sequence[str]:
        """One fixed script whose argument is a word that nobody on the node could foresee."""
        return script.command(self._word(), sudo=self.given(target.options).flag("sudo"))

    def parse(self, output: Output) -> Sequence[Fact]:
        """The facts of every source that answered; the first source to name a fact is believed.

        ProbeOutputError when no source answered.
        """
        refuse_failed(output, "the inventory script")
        word = script.word_of(output.argv, output.text)
        if word is None:
            raise ProbeOutputError("no mark of the inventory script", "the answers of its sources")
        facts: dict[tuple[str, object], Fact] = {}
        answers = list(script.answers(output.text, word))
        for answer in answers:
            for fact in _read(answer):
                facts.setdefault((fact.fact, fact.labels), fact)
        if not facts:
            raise ProbeOutputError("no source that answered", "at least one of " + ", ".join(SOURCES))
        return (*facts.values(), *_skipped(answers), *_bounded(answers))

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds: a few dozen short commands."""
        return 3.0


def _read(answer: script.Answer) -> Iterator[Fact]:
    """The facts of one answer; a failed or unreadable source costs its own facts only."""
    if not answered(answer.source, answer.status) or answer.source not in SOURCES:
        return
    try:
        found = SOURCES[answer.source](answer.text)
    except ProbeOutputError:
        return
    yield from (fact for fact in found if fact.fact not in _FOLDED)
    for name, fold in _FOLDED.items():
        if those := [fact for fact in found if fact.fact == name]:
            yield from fold(those)


def _bounded(answers: Iterable[script.Answer]) -> Iterator[Fact]:
    """Where the script ended a list early: what is not among the facts may be there all the same."""
    for answer in answers:
        if bound := _BOUND.search(answer.text):
            yield Fact("inventory.bounded", bound["what"], None, labels(source=answer.source))


def _skipped(answers: Iterable[script.Answer]) -> Iterator[Fact]:
    """Why neighbours are not among the facts: cabling that was not looked at must not pass for confirmed."""
    for answer in answers:
        if answer.source == "lldpctl" and answer.status != 0:
            yield lldpctl.skipped(answer.status, answer.text)


def _together(values: Sequence[str]) -> str:
    """One word when all agree, else each with how many say it, most common first."""
    counts = Counter(values).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{value} ({count})" for value, count in counts)


def _governors(found: Sequence[Fact]) -> Iterator[Fact]:
    yield Fact("cpu.governor", _together([str(fact.value) for fact in found]))


_BOUND = re.compile(r"^# (?P<what>only the first [0-9]+ [a-z]+)$", re.MULTILINE)
_FOLDED: Mapping[str, Callable[[Sequence[Fact]], Iterator[Fact]]] = {
    "cpu.governor": _governors,
    "irq.total": interrupts.folded_totals,
    "irq.affinity": interrupts.folded_bindings,
    "softirq.ksoftirqd_time": softirqs.folded,
}
"""What a whole node would tell hundreds of times: told once per part or per kind, exactly."""

__all__ = ["SOURCES", "Inventory", "answered"]
