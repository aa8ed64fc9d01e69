"""Names that a file may use: the metrics, options and labels of the installed probes."""

from benchconsole.console.cli.common import load_installed_probes
from benchconsole.probes.planning.designs import DESIGNS
from benchconsole.probes.planning.vocabulary import make_vocabulary
from benchconsole.topology.model.fabric import Comparator
from benchconsole.topology.units import Unit


def test_metrics_have_their_unit_their_sense_and_their_labels() -> None:
    found = make_vocabulary(load_installed_probes())
    assert found.metrics["stream.triad"] is Unit.BYTE_RATE
    assert found.traits["stream.triad"].sense is Comparator.AT_LEAST
    assert (found.traits["stream.triad"].in_bytes, found.traits["iperf3.throughput"].of_capacity) == (True, True)
    assert "design" in found.probes["iperf3"]
    assert set(found.designs) == set(DESIGNS)
