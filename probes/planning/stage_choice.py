"""The stages of a suite that are taken or left, by the names that plans give them. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.design_options import make_unknown_error
from benchconsole.probes.planning.plan_rounds import name_stage
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Suite


def list_stage_names(suite: Suite, probes: Mapping[str, Probe]) -> tuple[str, ...]:
    """The name of each stage of ``suite`` in a plan: ``ping``, ``iperf3 trunks``, ``fio (2)``.

    A stage whose probe is not installed, which ``plan`` refuses, is called by its probe.
    """
    named: Counter[str] = Counter()
    found = []
    for stage in suite.stages:
        name = name_stage(probes[stage.probe], stage) if stage.probe in probes else stage.probe
        named[name] += 1
        found.append(f"{name} ({named[name]})" if named[name] > 1 else name)
    return tuple(found)


def choose_stages(suite: Suite, probes: Mapping[str, Probe], only: str = "", without: str = "") -> Suite:
    """``suite`` with the stages in ``only`` (empty: all) and not in ``without``, each names with commas between.

    The name of a probe means all of its stages. PlanError for an unknown name, where no stage is left, and where one of
    several that run at once is taken and another is not.
    """
    if not only and not without:
        return suite
    names = list_stage_names(suite, probes)
    taken = _find_named(suite, names, only) if only else set(range(len(names)))
    taken -= _find_named(suite, names, without) if without else set()
    if not taken:
        raise PlanError(f"suite {suite.name!r} has no stage left, expected one of {', '.join(names)}")
    for place, stage in enumerate(suite.stages):
        alike = [other for other, each in enumerate(suite.stages) if stage.at_once and each.at_once == stage.at_once]
        left = [names[other] for other in alike if other not in taken]
        if place in taken and left:
            raise PlanError(f"{names[place]} runs at once with {', '.join(left)}, expected both or none of them")
    return replace(suite, stages=tuple(stage for place, stage in enumerate(suite.stages) if place in taken))


def _find_named(suite: Suite, names: Collection[str], text: str) -> set[int]:
    """The places of the stages that ``text`` names."""
    known: dict[str, set[int]] = {}
    for place, (name, stage) in enumerate(zip(names, suite.stages, strict=True)):
        known.setdefault(stage.probe.lower(), set()).add(place)
        known[name.lower()] = {place} if name.lower() != stage.probe.lower() else known[stage.probe.lower()]
    found: set[int] = set()
    for wanted in split_names(text, known):
        if wanted.lower() not in known:
            raise make_unknown_error(f"stage of suite {suite.name!r}", wanted, known)
        found |= known[wanted.lower()]
    return found


def split_names(text: str, known: Collection[str]) -> list[str]:
    """The names in ``text`` between commas; one that is ``known`` may hold commas itself (``iperf3 over a, b``)."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    found: list[str] = []
    while parts:
        joined = (", ".join(parts[:end]) for end in range(len(parts), 1, -1))
        name = next((each for each in joined if each.lower() in known), parts[0])
        found.append(name)
        parts = parts[name.count(",") + 1 :]
    return found
