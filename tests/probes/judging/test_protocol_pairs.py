"""TCP beside UDP of the same pair: what is not the links' capacity is said to be loss, reordering or TCP itself."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Finding, Suspect
from benchconsole.probes.model.measuring import Result
from benchconsole.topology.copying import replace
from tests.fabrics import METRICS
from tests.probes.judging.test_host_limits import find, number
from tests.probes.judging.test_reasons import FAR, RATE, TRIP, close, make_result

LOSSY = {"resent": 0.028, "retransmits": 84_000.0, "rtt": TRIP, "mss": 8948.0}
TCP = make_result(FAR, 0.21, LOSSY)


def datagrams(share: float, loss: float = 0.0001) -> Result:
    return make_result(FAR, share, {"loss": loss}, protocol="udp", rate=0.95 * RATE)


def find_slow(*results: Result) -> Finding:
    return next(each for each in find(FAR, *results) if any("TCP" in line or "n1>f1" in line for line in each.because))


def test_loss_is_told_from_capacity_by_udp_of_the_same_pair() -> None:
    found = find_slow(TCP, datagrams(0.94))
    assert found.suspect is Suspect.FABRIC
    assert found.means == (
        "loss or reordering on the way, not capacity: UDP of the same pair brought what was asked over the same links"
    )
    assert found.what.endswith("; UDP of the same pair was full")
    assert "a described speed" not in found.cannot_tell
    assert found.because[-1].startswith(
        "n1>f1: TCP 2.10 Gb/s; UDP 9.40 Gb/s (0.0100 % lost) in round 2; 84,000 segments sent again, 2.80 % at 50.5 ms"
    )
    assert "(Mathis)" in found.because[-1]


@pytest.mark.parametrize(("share", "is_told"), [(None, False), (0.799, False), (0.8, True)])
def test_udp_has_to_bring_what_was_asked_of_tcp(share: float | None, is_told: bool) -> None:
    found = find_slow(TCP, *([] if share is None else [datagrams(share)]))
    assert ("not capacity" in found.means) is is_told
    assert any("84,000 segments" in line for line in found.because)


def test_without_segments_sent_again_it_is_tcp_or_its_hosts() -> None:
    found = find_slow(make_result(FAR, 0.21, {}), datagrams(0.94))
    assert found.means.startswith("TCP or its hosts, not capacity: ")


def test_of_udp_the_newest_round_counts_whatever_was_told_first() -> None:
    context = JudgingContext(FAR, METRICS)
    rounds = [number(close(each), place) for place, each in ((1, TCP), (2, datagrams(0.5)), (3, datagrams(0.94)))]
    judged = [replace(each, verdicts=judge_round(context, each)) for each in rounds]
    for order in ((0, 1, 2), (0, 2, 1), (2, 0, 1, 1)):
        kept = Findings(context)
        for place in order:
            kept.add_round(judged[place])
            kept.rank()
        assert any("not capacity" in each.means for each in kept.rank())


def test_another_pair_tells_nothing() -> None:
    other = make_result(FAR, 0.94, {"loss": 0.0}, protocol="udp", rate=0.95 * RATE, place=2)
    assert "not capacity" not in find_slow(TCP, other).means


def test_datagrams_that_were_lost_in_one_round_are_no_matter_of_tcp() -> None:
    slow = make_result(FAR, 0.5, {"loss": 0.5}, protocol="udp", rate=0.95 * RATE)
    assert not any(
        "TCP" in line or "not capacity" in each.means
        for each in find(FAR, slow, datagrams(0.94))
        for line in each.because
    )


def test_udp_of_a_round_that_is_told_again_is_forgotten() -> None:
    context = JudgingContext(FAR, METRICS)
    first, second = (number(close(each), place) for place, each in ((1, TCP), (2, datagrams(0.94))))
    kept = Findings(context)
    for each in (first, second, replace(second, results=())):
        kept.add_round(replace(each, verdicts=judge_round(context, each)))
    assert all("not capacity" not in each.means for each in kept.rank())
