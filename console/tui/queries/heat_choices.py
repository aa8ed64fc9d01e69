"""The choices for a heat map: every metric that was measured, by stage, and every fact that nodes told. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.own_facts import find_fact_probes
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Yardstick
from benchconsole.probes.model.kept_readings import list_kinds
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.natural_order import make_natural_key

_MOST_NAMED = 4


class HeatChoiceError(ValueError):
    """A name that no choice has, or several; its text says which there are."""


@dataclass(frozen=True, slots=True)
class HeatChoice:
    """A metric of one stage, or a fact; the other is empty. ``name`` is what is typed, safe for a terminal."""

    name: str
    metric: str = ""
    stage: str = ""
    fact: str = ""


def list_heat_choices(view: RunView) -> tuple[HeatChoice, ...]:
    """Metrics in the order of the plan, then facts by name; a metric whose probe has several stages once for each.

    Facts are those that nodes told of themselves, as the columns of Nodes have them (``own_facts``). Walks every
    result; StoreError where facts cannot be read.
    """
    stages: dict[str, dict[str, None]] = {}
    for each in view.plan:
        if each.number in view.closed:
            for metric in _find_metrics(view, each):
                stages.setdefault(metric, {})[each.stage] = None
    made = [
        HeatChoice(
            sanitize(f"{metric} {_shorten(stage, metric)}" if _is_repeated(view, metric) else metric), metric, stage
        )
        for metric, found in stages.items()
        for stage in found
    ]
    taken = {each.name for each in made}
    for fact in sorted(find_fact_probes(view.nodes.values()), key=make_natural_key):
        name = sanitize(fact)
        made.append(HeatChoice(f"fact {name}" if name in taken else name, fact=fact))
    return tuple(made)


def _is_repeated(view: RunView, metric: str) -> bool:
    """Whether the plan has several stages of the probe: a name stays the same while a session goes on."""
    probe = metric.partition(".")[0]
    return len({each.stage for each in view.plan if probe in each.probes}) > 1


def _shorten(stage: str, metric: str) -> str:
    """A stage without the name of its probe, with which the metric begins, too."""
    return stage.removeprefix(metric.partition(".")[0]).strip() or stage


def _find_metrics(view: RunView, each: Round) -> list[str]:
    """Metrics with numbers of one closed round; values that were held against a description alone are facts."""
    judged: dict[str, None] = {}
    described: set[str] = set()
    measured: dict[str, None] = {}
    for test in each.tests:
        for verdict in view.verdicts.get(test.id, ()):
            if verdict.value is not None and verdict.kind is Yardstick.HARDWARE:
                described.add(verdict.metric)
            elif verdict.value is not None:
                judged[verdict.metric] = None
        result = view.results.get(test.id)
        if result is not None and result.failure is None:
            measured.update(dict.fromkeys(metric for metric, *_ in list_kinds(result)))
    return [*judged, *(metric for metric in measured if metric not in judged and metric not in described)]


def find_heat_choice(choices: Sequence[HeatChoice], text: str) -> HeatChoice:
    """The choice that is called ``text``, else the only one whose name holds all its words. HeatChoiceError else."""
    wanted = text.strip().lower()
    exact = next((each for each in choices if each.name.lower() == wanted), None)
    if exact is not None:
        return exact
    found = [each for each in choices if all(word in each.name.lower() for word in wanted.split())]
    if len(found) == 1 and wanted:
        return found[0]
    said = sanitize(text.strip())
    if not choices:
        raise HeatChoiceError("nothing was measured, and no node told a fact")
    if not found:
        raise HeatChoiceError(f"no metric and no fact is called {said}, expected one of {_name_some(choices)}")
    raise HeatChoiceError(f"{said} may be {_name_some(found)}")


def _name_some(choices: Sequence[HeatChoice]) -> str:
    """``a, b, c, d and 203 more``."""
    names = ", ".join(each.name for each in choices[:_MOST_NAMED])
    more = len(choices) - _MOST_NAMED
    return f"{names} and {more:,} more" if more > 0 else names
