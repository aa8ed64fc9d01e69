"""Owns starting small: the first loads of each stage one by one, then two, then four, until its rounds are whole.

Where others use the cluster, what goes wrong should go wrong with one test running. A load is a
lone test, or the tests of a bundle, which are never torn apart. Pure; refuses to plan anew.
"""

from collections.abc import Sequence
from dataclasses import replace

from probes.model import Round, Test
from probes.planning.rounds import renumbered


def in_waves(rounds: Sequence[Round]) -> tuple[Round, ...]:
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
    return tuple(renumbered(found, rounds[0].number))


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
