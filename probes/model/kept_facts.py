"""Facts of many results read together: those that stay in a file, each by itself would be ten thousand questions."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from benchconsole.probes.model.fetched_sequence import FetchedSequence
from benchconsole.probes.model.measuring import Fact

AT_ONCE = 512
"""Results that are asked for in one question: so much is held at a time, and so often one can tell how far it is."""


class KeptFacts(FetchedSequence[Fact]):
    """The facts of one result that stay in a file, where those of many are asked for together."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def fetch_together(cls, told: Sequence["KeptFacts"], name: str | None) -> list[tuple[Fact, ...]]:
        """The facts of each of ``told``, all or those that are called ``name``."""


def read_facts_together(told: Sequence[Sequence[Fact]], name: str | None = None) -> Iterator[tuple[Fact, ...]]:
    """The facts of each of ``told``, which results have, in their order: all, or those that are called ``name``.

    Facts that are alike are one object as a rule. StoreError where a file cannot be read.
    """
    for start in range(0, len(told), AT_ONCE):
        some = told[start : start + AT_ONCE]
        kept = [each for each in some if isinstance(each, KeptFacts)]
        found = iter(type(kept[0]).fetch_together(kept, name) if kept else ())
        for facts in some:
            if isinstance(facts, KeptFacts):
                yield next(found)
            else:
                yield tuple(fact for fact in facts if name is None or fact.fact == name)
