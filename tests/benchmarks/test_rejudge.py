"""The benchmark of judging again: its sessions are as large as asked and drawn alike, and its comparison can fail."""

import argparse
from pathlib import Path

import pytest

from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load_text
from benchmarks.rejudge import list_wanted, read_judged
from benchmarks.rejudge_sessions import LEFT, PER_PASS, Measured, Wanted, describe_fabric, describe_nodes, make_session


def test_as_many_sessions_as_asked() -> None:
    options = argparse.Namespace(values=3000, flows=4000, nodes=10, low=[0.0, 0.2])
    found = [(kind, wanted.low, wanted.slow_switch) for kind, wanted in list_wanted(options)]
    assert found == [("values", 0.0, ""), ("flows", 0.0, ""), ("flows", 0.2, ""), ("flows", 0.0, "leaf02")]
    options = argparse.Namespace(values=3000, flows=0, nodes=10, low=[0.0])
    assert [kind for kind, _ in list_wanted(options)] == ["values"]


def test_a_suite_has_about_as_many_flows_as_asked() -> None:
    fabric = load_text(describe_fabric(80, 1000), "flows.yaml")
    flows = sum(len(each.flows) for each in plan(fabric, find_suite(fabric, None), load_probes().probes))
    assert flows == pytest.approx(1000, rel=0.1)


@pytest.mark.parametrize(("low", "slow"), [(0.0, ""), (1.0, ""), (0.0, "leaf02")])
def test_low_flows_give_what_is_left_of_them(low: float, slow: str) -> None:
    fabric = load_text(describe_fabric(80, 100), "flows.yaml")
    planned = next(
        each for each in plan(fabric, find_suite(fabric, None), load_probes().probes) if each.stage.endswith("trunks")
    )
    closed = [Measured(fabric, low=low, slow_switch=slow).close(planned) for _ in range(2)]
    rates, again = ([result.measurements[0].value for result in each.results] for each in closed)
    assert rates == again
    healthy = [each.measurements[0].value for each in Measured(fabric).close(planned).results]
    assert (sum(rates) / sum(healthy)) == pytest.approx(LEFT if low or slow else 1.0, rel=0.02)


async def test_other_verdicts_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "values.db"
    made = await make_session(path, Wanted("values", describe_nodes(5, 2)))
    assert made.values == 2 * 5 * PER_PASS
    live = read_judged(path, made.key)
    assert live.verdicts == made.values
    with Store.open(path) as store:
        session = store.session(made.key)
        first = next(session.read_rounds(load_text(describe_nodes(5, 2), "values.yaml")))
        await session.append_verdicts(
            {(first.round.number, 1): first.verdicts}, judged_by="as before", findings=session.read_findings()
        )
        assert read_judged(path, made.key) == live
        await session.append_verdicts({(first.round.number, 1): first.verdicts[1:]}, judged_by="other", findings=())
    assert read_judged(path, made.key) != live
