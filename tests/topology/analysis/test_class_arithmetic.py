"""Classes that contradict themselves: memory and modules, cores and sockets, peak and its basis."""

from pathlib import Path

import pytest

from benchconsole.topology.analysis.class_arithmetic import PeakBasis, list_findings, read_basis
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from tests.fabrics import fabric


def said(folder: Path, *classes: str) -> list[StaticFinding]:
    """The findings of a machine whose classes are ``c1``, ``c2`` and so on, a node of each."""
    numbered = list(enumerate(classes, 1))
    text = "schema: 1\nfabric: x\nclasses:\n" + "".join(f"  c{number}: {{{each}}}\n" for number, each in numbered)
    text += "nodes:\n" + "".join(f"  n{number}: {{class: c{number}}}\n" for number, _ in numbered)
    return list(list_findings(fabric(folder, text)))


@pytest.mark.parametrize(
    ("text", "basis"),
    [
        ("24 cores x 16 FLOP x 2.1 GHz (AVX base clock)", PeakBasis(806.4e9, 2.1e9, 24)),
        ("24 cores x 16 x 2.1 GHz", PeakBasis(806.4e9, 2.1e9, 24)),
        ("2 \u00d7 12 \u00d7 16 \u00d7 2.5 GHz", PeakBasis(960e9, 2.5e9, None)),
        ("1 core * 2100 MHz", PeakBasis(2.1e9, 2.1e9, 1)),
        ("AVX base", None),
        ("24 cores x 16", None),
        ("24 cores x 16 x 2.1 GHz x 2.5 GHz", None),
        ("24 cores x 16 x 2.1 gHz", None),
        ("24 cores x some x 2.1 GHz", None),
        ("", None),
    ],
)
def test_a_basis_is_read_where_it_is_a_product(text: str, basis: PeakBasis | None) -> None:
    found = read_basis(text)
    assert (found is None) == (basis is None)
    if found is not None and basis is not None:
        assert (found.product, found.clock) == pytest.approx((basis.product, basis.clock))
        assert found.cores == basis.cores


@pytest.mark.parametrize(
    ("written", "code", "severity", "text"),
    [
        (
            "memory: {total: 64 GiB, dimms: 8, dimm_size: 16 GiB}",
            "class-memory",
            Severity.ERROR,
            "8 DIMMs of 16.0 GiB are 128 GiB, the declared total is 64.0 GiB",
        ),
        (
            "cpu: {sockets: 2, cores: 25}",
            "class-cores",
            Severity.ERROR,
            "25 cores do not share out over 2 sockets; cores are those of all sockets together",
        ),
        (
            "peak: 960 GFLOP/s, peak_basis: 24 cores x 16 FLOP x 2.1 GHz",
            "class-peak",
            Severity.ERROR,
            "peak_basis 24 cores x 16 FLOP x 2.1 GHz is 806 GFLOP/s, peak says 960 GFLOP/s",
        ),
        (
            "cpu: {cores: 12}, peak: 806.4 GFLOP/s, peak_basis: 24 cores x 16 FLOP x 2.1 GHz",
            "class-peak-cores",
            Severity.ERROR,
            "peak_basis counts 24 cores, cpu.cores says 12",
        ),
        (
            "cpu: {clock: 2.5 GHz}, peak: 806.4 GFLOP/s, peak_basis: 24 cores x 16 FLOP x 2.1 GHz",
            "class-clock",
            Severity.WARNING,
            (
                "the peak of 806 GFLOP/s counts 2.10 GHz, cpu.clock says 2.50 GHz: at that the peak is 960 GFLOP/s, and 80 %"
                " of the one is 67 % of the other"
            ),
        ),
    ],
)
def test_a_contradiction_is_told_with_both_numbers(
    tmp_path: Path, written: str, code: str, severity: Severity, text: str
) -> None:
    assert said(tmp_path, written) == [StaticFinding(severity, code, "c1", text)]


@pytest.mark.parametrize(
    "written",
    [
        "memory: {total: 128 GiB, dimms: 8, dimm_size: 16 GiB}",
        "memory: {total: 128 GiB, dimms: 8}",
        "cpu: {sockets: 2, cores: 24, clock: 2.1 GHz}, peak: 806 GFLOP/s, peak_basis: 24 cores x 16 FLOP x 2.1 GHz",
        "cpu: {cores: 24, clock: 2.5 GHz}, peak: 806.4 GFLOP/s, peak_basis: AVX base",
        "cpu: {cores: 24, clock: 2.5 GHz}, peak_basis: 24 cores x 16 FLOP x 2.1 GHz",
        "peak: 806.4 GFLOP/s",
    ],
)
def test_what_agrees_or_says_too_little_is_no_finding(tmp_path: Path, written: str) -> None:
    assert said(tmp_path, written) == []


def test_classes_that_say_the_same_are_one_finding(tmp_path: Path) -> None:
    wrong, right = "cpu: {sockets: 2, cores: 25}", "cpu: {sockets: 2, cores: 24}"
    assert [each.where for each in said(tmp_path, wrong, right, wrong)] == ["c1, c3"]
