"""The names of compared metrics: each with the labels that tell it from the others of its name, first of all. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchconsole.console.conclusions.session_comparison import ComparedMetric
from benchconsole.console.text.sanitize import sanitize
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.measuring import Labels
from benchconsole.topology.grouping import group_by_key


class MetricName(NamedTuple):
    """A metric in words: ``telling`` tells it from all others of its name, ``rest`` differs among them, too."""

    metric: str
    telling: str = ""
    rest: str = ""

    @property
    def text(self) -> str:
        """All of it, in this order."""
        return " ".join(filter(None, self))


def name_metrics(metrics: Iterable[ComparedMetric]) -> Mapping[ComparedMetric, MetricName]:
    """The name of each metric; labels that all of one name have alike tell nothing, and are left out.

    The stage is told where the labels of two are the same.
    """
    alike = group_by_key(((each.like.key.probe, each.like.key.metric), each) for each in metrics)
    return {each: name for own in alike.values() for each, name in _name_alike(own)}


def name_among(metric: ComparedMetric, metrics: Iterable[ComparedMetric]) -> str:
    """The name of one of ``metrics`` in words; of another one that of the metric alone."""
    found = name_metrics(metrics).get(metric)
    return sanitize(metric.like.key.metric) if found is None else found.text


def _name_alike(metrics: Sequence[ComparedMetric]) -> list[tuple[ComparedMetric, MetricName]]:
    """Metrics of one name with what differs among them."""
    labels = [dict(each.labels) for each in metrics]
    telling = choose_telling(labels)
    every = sorted({name for own in labels for name in own})
    rest = [name for name in every if name not in telling and len({own.get(name) for own in labels}) > 1]
    counts = Counter(tuple(own.get(name) for name in telling) for own in labels)
    made = []
    for each, own in zip(metrics, labels, strict=True):
        words = _tell(own, telling)
        if counts[tuple(own.get(name) for name in telling)] > 1:
            words = f"{words} {sanitize(each.like.key.stage)}".strip()
        made.append((each, MetricName(sanitize(each.like.key.metric), words, _tell(own, rest))))
    return made


def _tell(labels: Mapping[str, str], names: Iterable[str]) -> str:
    """The labels of these names, in their order."""
    pairs: Labels = tuple((name, labels[name]) for name in names if name in labels)
    return sanitize(" ".join(tell_labels(pairs)))


def choose_telling(labels: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The names of labels that tell all of ``labels`` apart that can be: the one that tells most apart first.

    None is among them that follows from those before it. Of two that tell as much the first by name is taken.
    """
    names = sorted({name for own in labels for name in own})
    chosen: tuple[str, ...] = ()
    apart = 1

    def count_apart(name: str) -> int:
        return len({tuple(own.get(each) for each in (*chosen, name)) for own in labels})

    while names:
        best = max(names, key=count_apart)
        found = count_apart(best)
        if found <= apart:
            break
        chosen, apart = (*chosen, best), found
        names.remove(best)
    return chosen
