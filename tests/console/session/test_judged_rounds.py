"""The closed rounds of a session, and the findings over them."""

from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.probes.model.round_bounds import ConfirmationBounds
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.probes.judging.lags import load_lag
from tests.probes.judging.rounds import close, steer


def test_what_is_no_finding_yet_is_confirmed_too() -> None:
    """Every stream over the second member has 75 %, which one more would leave: nobody is accused, and it is tried."""
    described = load_lag()
    rounds = JudgedRounds(described, {"iperf3": Iperf3()})
    for number in range(1, 5):
        sent = [
            steer(f"a{place + 1}", f"b{(place + number) % 4 + 1}", 0.75 if member == 1 else 1.0, member)
            for place in range(4)
            for member in ((place + 2 * number) % 4,)
        ]
        rounds.add(rounds.judging.judge(close(described, number, *sent)))
    assert rounds.findings == ()
    planned = rounds.plan_confirmation(tuple(described.nodes), ConfirmationBounds(), first=5)
    assert {str(test.target.options["share"]) for each in planned for test in each.tests} == {"leaf1--leaf2"}
    assert rounds.findings == ()
