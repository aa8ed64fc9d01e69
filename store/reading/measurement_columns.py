"""The stored measurements of results, in the columns that they are kept in: objects are made when somebody looks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchconsole.probes.model.kept_readings import Kinds, ReadingColumns, keep_columns, name_measurement
from benchconsole.probes.model.measuring import Labels, Reading
from benchconsole.store.codec.rows import MeasurementRow, parse_measurement, parse_unit
from benchconsole.store.codec.values import read_number


def read_measurements(
    rows: Iterable[Sequence[Any]],
    tests: Mapping[int, str],
    metrics: Mapping[int, tuple[str, str]],
    labels: Mapping[int, Labels],
) -> dict[int, Sequence[Reading]]:
    """The measurements of each result by its number in the file, in the order of ``rows``.

    A row has the numbers of a result, of a metric and of labels, then key, value, text and time. ``tests`` are the keys
    of the tests of these results, ``metrics`` and ``labels`` the meanings of the numbers.
    """
    of_result: defaultdict[int, list[Sequence[Any]]] = defaultdict(list)
    for number, *row in rows:
        of_result[number].append(row)
    kinds: dict[tuple[tuple[int, ...], tuple[int, ...]], Kinds] = {}
    found: dict[int, Sequence[Reading]] = {}
    in_columns: dict[int, ReadingColumns] = {}
    for number, own in of_result.items():
        metric, of, keys, values, raws, times = zip(*own, strict=True)
        test = tests[number]
        if times != times[:1] * len(own) or keys != tuple(map(name_measurement, [test] * len(own), range(len(own)))):
            rest = ((*metrics[each], labels[one], *row) for each, one, *row in own)
            found[number] = tuple(parse_measurement(MeasurementRow(*each)) for each in rest)
            continue
        if (metric, of) not in kinds:
            pairs = [(*metrics[each], labels[one]) for each, one in zip(metric, of, strict=True)]
            kinds[metric, of] = tuple((name, parse_unit(unit), own_labels) for name, unit, own_labels in pairs)
        in_columns[number] = ReadingColumns(test, times[0], kinds[metric, of], map(read_number, values), raws)
    return found | dict(zip(in_columns, keep_columns(tuple(in_columns.values())), strict=True))
