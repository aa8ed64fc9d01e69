"""Which flows tell what their way loses, and which rounds are looked at."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.loss_samples import SampleReader
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE, close, flow, star
from tests.probes.judging.test_packet_loss import send, tell

METRIC = "iperf3.throughput"


@pytest.mark.parametrize(("share", "found"), [(0.000999, False), (0.001, True)])
def test_a_round_is_looked_at_from_a_notable_share(share: float, found: bool) -> None:
    described = star()
    reader = SampleReader(JudgingContext(described, METRICS))
    assert reader.has_losses(send(described, 1, {"n2": share}), METRIC) is found


@pytest.mark.parametrize(("count", "found"), [(0.0, False), (1.0, True)])
def test_a_round_is_looked_at_for_a_count_without_its_share(count: float, found: bool) -> None:
    described = star()
    reader = SampleReader(JudgingContext(described, METRICS))
    closed = tell(close(described, 1, flow("n1", "n2", 1.0)), {"n1>n2": count}, "retransmits")
    assert reader.has_losses(closed, METRIC) is found


def test_what_was_sent_is_what_arrived_and_what_was_lost() -> None:
    described = star()
    closed = send(described, 1, {"n2": 0.02})
    samples = SampleReader(JudgingContext(described, METRICS)).read(closed, METRIC)
    assert len(samples) == 8
    sample = next(each for each in samples.values() if each.flow.flow.source == "n2")
    assert sample.sent == pytest.approx(10 * RATE / 0.98)
    assert sample.lost == pytest.approx(0.02 * sample.sent)
    assert sample.packets == pytest.approx((sample.lost / 1448, sample.sent / 1448))
    assert sorted(sample.crossed.values()) == [1.0, 1.0]


def test_flows_that_share_a_full_link_are_left_out() -> None:
    described = star()
    closed = close(described, 1, flow("n2", "n1", 0.5), flow("n3", "n1", 0.5), flow("n4", "n5", 1.0))
    told = tell(closed, {"n2>n1": 0.1, "n3>n1": 0.1, "n4>n5": 0.0})
    reader = SampleReader(JudgingContext(described, METRICS))
    assert [each.flow.flow.source for each in reader.read(told, METRIC).values()] == ["n4"]
    assert not reader.has_losses(told, METRIC)


def test_a_round_without_flows_tells_nothing() -> None:
    described = star()
    reader = SampleReader(JudgingContext(described, METRICS))
    assert reader.read(close(described, 1), METRIC) == {}
    assert not reader.has_losses(close(described, 1), METRIC)
