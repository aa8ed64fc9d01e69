"""A run over real SSH to the simulated cluster that comes to its time limit and goes on: every test runs once."""

from pathlib import Path

from benchconsole.console.cli.common import load_installed_probes, read_topology
from benchconsole.console.session.metadata import CONFIRM, SessionChoice
from benchconsole.console.session.run_limits import CLOSING_SECONDS
from benchconsole.console.session.session import Session
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.console.view.events import NodesProven, is_time_stop
from benchconsole.console.view.run_view import superseding
from benchconsole.probes.model.measuring import Result
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests.console.session.test_run_limits import Clock, follow


async def test_a_run_that_came_to_its_time_limit_goes_on_and_runs_every_test_once(tmp_path: Path) -> None:
    async with SimulatedCluster("healthy", tmp_path) as cluster:
        probes = load_installed_probes()
        described = read_topology(cluster.topology_path, probes)
        choice = SessionChoice(
            nodes=tuple(described.nodes)[:4], only="inventory, iperf3 neighbours", options={CONFIRM: 0}
        )
        with Store.open(tmp_path / "s.db") as store:
            clock = Clock()
            first = Session(described, probes, store, choice, clock=clock)
            first.observers.append(clock.take)
            rounds = first.propose()
            assert len(rounds) > 2
            first.meant = replace(first.meant, within=f"{CLOSING_SECONDS + sum(each.seconds for each in rounds[:2])} s")
            stopped, before = await follow(first, rounds)
            assert is_time_stop(stopped.because)
            assert sorted(stopped.closed) == [each.number for each in rounds[:2]]
            (proven,) = (event for event in before if isinstance(event, NodesProven))
            assert all(proof.clean for proof in proven.proofs)

            again = Session.stored(store, first.id, probes)
            left = again.unfinished()
            assert [each.number for each in left] == [each.number for each in rounds[2:]]
            view, after = await follow(again, left)
            assert view.complete
            assert all(result.failure is None for result in superseding(view).values())
            assert Session.stored(store, first.id, probes).view().results.keys() == view.results.keys()
    ran = [event.test.id for event in (*before, *after) if isinstance(event, Result)]
    assert sorted(ran) == sorted(test.id for each in rounds for test in each.tests)
