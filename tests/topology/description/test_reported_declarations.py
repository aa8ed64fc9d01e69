"""The section ``reported``: what is read of a cell of a document, and each slip refused where it stands."""

from pathlib import Path

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.description.vocabulary import MetricTraits, Vocabulary
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.claims import ReportedResult, ShareOf, Statistic
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import Unit, read_written

HEAD = "schema: 1\nfabric: x\nnodes: {'n[1-2]': {}}\nreported:\n"
WORDS = Vocabulary(
    {"dd.throughput": Unit.BYTE_RATE, "hpl.rate": Unit.FLOP_RATE},
    {"dd": {"size": "1 GiB"}, "hpl": {}},
    traits={"dd.throughput": MetricTraits(labels=frozenset(("operation",)))},
)


def read(text: str, words: Vocabulary | None = WORDS) -> Fabric:
    return load_text(f"{HEAD}  - {text}\n", Path("x.yaml"), None if words is None else lambda: words)


@pytest.mark.parametrize("words", [WORDS, None], ids=["with probes", "as stored"])
def test_a_cell_in_full_and_the_least_of_one(words: Vocabulary | None) -> None:
    text = (
        "{metric: hpl.rate, statistic: lowest, nodes: n1, where: {b: 2, a: x}, value: 697 GFLOP/s, of_peak: 86 %,"
        " of_required: 108.0 %, source: '5.1'}\n  - {metric: dd.throughput, value: 0.1 GB/s}"
    )
    full, least = read(text, words).reported
    assert full == ReportedResult(
        "hpl.rate",
        read_written("697 GFLOP/s", Unit.FLOP_RATE),
        Unit.FLOP_RATE,
        {ShareOf.REQUIRED: read_written("108.0 %", Unit.ONE), ShareOf.PEAK: read_written("86 %", Unit.ONE)},
        Statistic.LOWEST,
        (("a", "x"), ("b", "2")),
        ("n1",),
        "5.1",
    )
    assert least == ReportedResult("dd.throughput", read_written("0.1 GB/s", Unit.BYTE_RATE), Unit.BYTE_RATE)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("{metric: dd.troughput, value: 1 GB/s}", 14, "did you mean dd.throughput?"),
        ("{metric: dd.throughput, value: 697}", 36, "expected a rate such as"),
        ("{metric: dd.throughput, value: 5 s}", 36, "expected a rate such as"),
        ("{metric: dd.throughput, value: 1 GB/s, of_peak: 0.86}", 53, "a percentage as it is printed, such as 137.1 %"),
        ("{metric: dd.throughput, value: 1 GB/s, nodes: q1}", 51, "q1"),
        ("{metric: dd.throughput, value: 1 GB/s, where: {operaton: read}}", 52, "did you mean operation?"),
        ("{metric: dd.throughput, value: 1 GB/s, where: {size: 1 mb}}", 58, "1 mb"),
        ("{metric: dd.throughput, value: 1 GB/s, statistic: best}", 55, "mean"),
        ("{metric: dd.throughput}", 5, "value"),
        ("", 4, "an empty list item"),
    ],
)
def test_a_slip_is_refused_where_it_stands(text: str, column: int, said: str) -> None:
    with pytest.raises(TopologyError) as caught:
        read(text)
    found = str(caught.value.problems[0])
    assert f":5:{column}: " in found, found
    assert said in found
