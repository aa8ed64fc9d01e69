"""The faults that a session could have shown come back as they were given, as long as no round was judged since."""

from pathlib import Path

from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.store.reading.loss_reading import read_losses
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests.store.played import append_round, closed, new, planned, verdicts


async def test_what_was_detectable_holds_through_the_newest_judgement(tmp_path: Path) -> None:
    plan = [planned(1), planned(2)]
    nic = DetectableLoss(Fault.NIC, 4, 4, 0.25)
    lag = DetectableLoss(Fault.MEMBER_LOST, 8, 0, None, 3)
    with Store.open(tmp_path / "s.db") as store:
        session = store.session(await store.create_session(new(), plan))
        assert read_losses(session) is None
        await append_round(session, closed(plan[0]), verdicts(plan[0]), judged_by="j")
        await session.end(at=1.0, complete=False, losses=(nic, lag))
        assert read_losses(session) == (nic, lag)
        await session.claim()
        await append_round(session, closed(plan[1]), verdicts(plan[1]), judged_by="j")
        assert read_losses(session) is None
        await session.append_verdicts({(1, 1): ()}, judged_by="again", losses=())
        assert read_losses(session) == ()
        await session.append_verdicts({(2, 1): ()}, judged_by="again", losses=(replace(nic, loss=float("nan")),))
        assert read_losses(session) is None
