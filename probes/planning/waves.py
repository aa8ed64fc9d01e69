"""A careful start: the first loads of each stage one by one, then two, then four, until its rounds are full.

Where others use the cluster, a fault should show with one test running. A load is a lone test, or the tests of a
bundle, which stay together.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.planning.plan_rounds import renumber


def split_into_waves(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The same tests in the same order, each stage growing from one load to its full width; renumbered.

    Loads of different rounds are never put together: they may share a link.
    """
    if not rounds:
        return ()
    width: dict[str, int] = {}
    found: list[Round] = []
    for each in rounds:
        loads = _loads(each)
        while loads:
            wide = width.get(each.stage, 1)
            chosen, loads = loads[:wide], loads[wide:]
            found.append(_with(each, chosen))
            if len(chosen) == wide:
                width[each.stage] = 2 * wide
    return tuple(renumber(found, rounds[0].number))


def _loads(each: Round) -> list[list[Test]]:
    """The tests of a round by what must run together, in order."""
    found: dict[str, list[Test]] = {}
    for index, test in enumerate(each.tests):
        found.setdefault(f"b{test.bundle}" if test.bundle else f"t{index}", []).append(test)
    return list(found.values())


def _with(each: Round, loads: Sequence[Sequence[Test]]) -> Round:
    tests = tuple(test for load in loads for test in load)
    names = {test.bundle for test in tests}
    return replace(each, tests=tests, bundles=tuple(bundle for bundle in each.bundles if bundle.name in names))
