"""The state of links by verdicts: only verdicts against the fabric tell a share of what a link carries."""

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.link_state import read_links
from benchconsole.probes.model.judgement import Yardstick
from benchconsole.topology.description.resolve import load_text
from tests.fabrics import METRICS
from tests.probes.judging.rounds import STAR, close, flow


def test_a_fixed_number_of_the_file_tells_nothing_of_a_link() -> None:
    described = load_text(f"{STAR}criteria: [{{metric: iperf3.throughput, at_least: 1 GB/s}}]\n", "star.yaml")
    closed = close(described, 1, flow("n1", "n2", 0.9))
    (result,) = closed.results
    links = {
        verdict.kind: list(read_links(described, {}, result, verdict)[0])
        for verdict in judge_round(JudgingContext(described, METRICS), closed)
    }
    own = [link.id for node in ("n1", "n2") for link in described.links_at[node]]
    assert links == {Yardstick.CRITERION: [], Yardstick.CAPACITY: own}
