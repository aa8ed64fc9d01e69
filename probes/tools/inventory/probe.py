"""The node probe ``inventory``: one command that reads, and a parser for each source it reads.

It changes nothing and needs no privileges; facts that a node does not tell are simply not there, except that LLDP
says why it was skipped. A source that failed, or that was cut, gives no fact.
"""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from benchconsole.probes.api import Fact, Output, Probe, ProbeOutputError, Safety, Target, labels
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.inventory import script
from benchconsole.probes.tools.inventory.facts import keep_first, share_fact
from benchconsole.probes.tools.inventory.readers import interrupts, lldpctl
from benchconsole.probes.tools.inventory.sources import SOURCES


class Inventory(Probe):
    """Facts about processors, memory, disks, RAID, interfaces, their neighbours, firmware, kernel and its settings.

    Asked as the login; with the option ``sudo`` 1 what only root is told is asked through ``sudo -n``,
    which fails where it would want a password.
    """

    name = "inventory"
    summary = "Hardware, settings and cabling of a node, read without changing anything"
    source = "Jetstream acceptance report, 3.1; DESY storage report; SC11 report, listing 1; Fermilab storage report"
    tools = MappingProxyType({"lscpu": "util-linux", "lsblk": "util-linux", "ip": "iproute2"})
    options = MappingProxyType({"sudo": 0})
    safety = Safety.READS
    timeout = 60.0

    def __init__(self, draw_word: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        self._draw_word = draw_word

    def command(self, target: Target) -> Sequence[str]:
        """One fixed script whose argument is a word that nobody on the node could foresee."""
        return script.make_command(self._draw_word(), sudo=self.given(target.options).flag("sudo"))

    def parse(self, output: Output) -> Sequence[Fact]:
        """The first source to name a fact is believed. ProbeOutputError when no source answered."""
        refuse_failed(output, "the inventory script")
        word = script.find_word(output.argv, output.text)
        if word is None:
            raise ProbeOutputError("no mark of the inventory script", "the answers of its sources")
        answers = list(script.find_answers(output.text, word))
        found = keep_first(fact for answer in answers for fact in read_answer(answer))
        if not found:
            raise ProbeOutputError("no source that answered", "at least one of " + ", ".join(SOURCES))
        return (*found, *(fact for answer in answers for fact in _find_gaps(answer)))

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return 3.0


def read_answer(answer: script.Answer) -> Sequence[Fact]:
    """The facts of one answer; a failed or unreadable source costs its own facts only."""
    source = SOURCES.get(answer.source)
    if source is None or answer.status not in source.answered:
        return ()
    is_short = len(answer.text) <= _SHORT
    return _read_again(answer.source, answer.text) if is_short else _read_shared(answer.source, answer.text)


@lru_cache(maxsize=1024)
def _read_again(source: str, text: str) -> Sequence[Fact]:
    """The facts of ``_read_shared``: machines of one kind say much alike, word for word, and it is read once."""
    return _read_shared(source, text)


def _read_shared(source: str, text: str) -> Sequence[Fact]:
    """The facts of ``read_source``, each as the object that another node has: of 200 facts some 9 are its own."""
    return tuple(map(share_fact, read_source(source, text)))


def read_source(source: str, text: str) -> Sequence[Fact]:
    """The facts in the text of a source; none where it cannot be read."""
    try:
        found = SOURCES[source](text)
    except ProbeOutputError:
        return ()
    return tuple(_fold(found))


def _fold(found: Sequence[Fact]) -> Iterator[Fact]:
    folded = [fact for fact in found if fact.fact in _FOLDED]
    yield from (fact for fact in found if fact.fact not in _FOLDED) if folded else found
    for name, fold in _FOLDED.items() if folded else ():
        if same := [fact for fact in folded if fact.fact == name]:
            yield from fold(same)


def _find_gaps(answer: script.Answer) -> Iterator[Fact]:
    """Where the script ended a list early, and why neighbours are not among the facts.

    More may be there than the facts say, and cabling that nobody looked at must not pass for confirmed.
    """
    if answer.source == "lldpctl" and answer.status != 0:
        yield lldpctl.explain_silence(answer.status, answer.text)
    if bound := _BOUND.search(answer.text):
        yield Fact("inventory.bounded", bound["list"], None, labels(source=answer.source))


def _join_governors(facts: Sequence[Fact]) -> Iterator[Fact]:
    """One word when all processors agree, else each with how many say it, most common first."""
    counts = Counter(str(fact.value) for fact in facts).most_common()
    words = [f"{value} ({count})" for value, count in counts] if len(counts) > 1 else [counts[0][0]]
    yield Fact("cpu.governor", ", ".join(words))


_SHORT = 8192
"""Characters of an answer that is kept for the next node: all that are kept hold 8 MB at most. Longer ones tell of
single interrupts or disks, and are no node's but its own."""

_BOUND = re.compile(r"^# (?P<list>only the first [0-9]+ [a-z]+)$", re.MULTILINE)
_FOLDED: Mapping[str, Callable[[Sequence[Fact]], Iterator[Fact]]] = {
    "cpu.governor": _join_governors,
    "irq.total": interrupts.sum_totals,
    "irq.affinity": interrupts.join_bindings,
    "softirq.ksoftirqd_time": interrupts.sum_threads,
}
"""Facts that a whole node would tell hundreds of times: told once per part or per kind, exactly."""
