"""Slurm on real nodes: a suite inside an allocation of ours, who is on which node, and drains with our name."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import drain, undrain
from benchconsole.console.cli.common import read_topology
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.probes.api import Probe
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.reach.slurm.slurm_reach import SlurmReach, Wish, door_name, through_slurm
from benchconsole.probes.reach.slurm.slurm_state import job_name, occupied
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from tests.lab import Lab, wait_for
from tests.scenarios.commands import benchconsole, report

pytestmark = pytest.mark.lab

SUITE = """\
suites:
  default:
    - {probe: inventory}
    - {probe: iperf3, design: neighbours, streams: 2, seconds: 1, omit: 0}
    - {probe: mpi-pingpong, design: sample, pairs: 1, nodes: "n[1-2]", seconds: 1, bind: none, as_root: 1}
"""
SECONDS = 30
HEAD = "n1"


@pytest.fixture
def probes() -> Mapping[str, Probe]:
    return load_probes().probes


@pytest.fixture
def fabric(slurm_lab: Lab, probes: Mapping[str, Probe]) -> Iterator[Fabric]:
    text = slurm_lab.topology.read_text()
    path = slurm_lab.topology.with_name("slurm.yaml")
    path.write_text(text[: text.index("suites:")].replace("at_least: 80 %", "at_least: 50 %") + SUITE)
    yield read_topology(path, probes)
    path.unlink()


def _through_slurm(fabric: Fabric, session: str, *names: str, patience: float = SECONDS) -> SlurmReach:
    """A reach as the command line makes it: srun runs on the head node, under a name of its own."""
    inner = SshReach(fabric.access, door_name(session))
    nodes = [node for node in fabric.nodes.values() if not names or node.id in names]
    return through_slurm(session, nodes, Wish(seconds=600, patience=patience), (inner, fabric.nodes[HEAD]))  # type: ignore[index]


def _jobs(lab: Lab) -> list[str]:
    """Names of the jobs that hold nodes or wait."""
    return lab.inside(HEAD, "squeue", "--noheader", "--format=%j", "--states=RUNNING,PENDING,COMPLETING").split()


def _await_idle(lab: Lab) -> None:
    """A node whose job has just ended is completing for a while: then it would be draining, not drained."""
    wait_for(lambda: set(lab.slurm_states().values()) == {"idle"}, 2 * SECONDS, "every node to be idle again")


def _left(lab: Lab) -> list[str]:
    running = [(node, each) for node in lab.plan.nodes for each in lab.processes(node)]
    return _jobs(lab) + [f"{node}: {' '.join(each.argv)}" for node, each in running if each.session]


async def _ran(session: Session) -> None:
    session.start(session.propose())
    await session.finished()


def _run(fabric: Fabric, probes: Mapping[str, Probe], db: Path, *names: str) -> None:
    with Store.open(db) as store:
        chosen = tuple(node for node in fabric.nodes if not names or node in names)
        made = Session(
            fabric,
            probes,
            store,
            SessionChoice(nodes=chosen),
            make_reach=lambda f, session: _through_slurm(f, session, *names),
        )
        asyncio.run(_ran(made))


def test_a_suite_runs_inside_an_allocation_on_eight_nodes(
    slurm_lab: Lab, fabric: Fabric, probes: Mapping[str, Probe], tmp_path: Path
) -> None:
    _run(fabric, probes, tmp_path / "s.db")

    found = report(tmp_path / "s.db")
    assert found["failures"] == []
    assert found["coverage"]["tested"] == found["coverage"]["planned"]
    assert {each["probe"] for each in found["verdicts"]} >= {"iperf3"}
    assert {each["metric"] for each in found["measurements"]} >= {"iperf3.throughput", "mpi-pingpong.bandwidth"}
    assert found["findings"] == []
    wait_for(lambda: _left(slurm_lab) == [], SECONDS, "the allocation to be given back")


@pytest.fixture
async def head(fabric: Fabric) -> AsyncIterator[Remote]:
    reach = SshReach(fabric.access, "asking")
    try:
        yield await reach.remote(fabric.nodes[HEAD])  # type: ignore[index]
    finally:
        await reach.close()


@pytest.fixture
async def job(slurm_lab: Lab) -> AsyncIterator[str]:
    """A job of somebody else on n3 and n4."""
    submit = [
        "sbatch",
        "--parsable",
        "-D",
        "/tmp",
        "-N2",
        "-w",
        "n[3-4]",
        "--exclusive",
        "-t",
        "90",
        "--wrap",
        "sleep 300",
    ]
    number = slurm_lab.inside(HEAD, "runuser", "-u", "bench", "--", *submit).strip()
    wait_for(lambda: slurm_lab.slurm_states().get("n4") == "allocated", SECONDS, "the job to run")
    yield number
    slurm_lab.inside(HEAD, "scancel", number)
    wait_for(lambda: _jobs(slurm_lab) == [], SECONDS, "the job to be gone")


@pytest.mark.fault("F45")
async def test_occupied_nodes_are_seen_with_who_and_until_when(fabric: Fabric, head: Remote, job: str) -> None:
    reach = _through_slurm(fabric, "mine", "n1", "n2")
    try:
        await reach.remote(fabric.nodes["n2"])  # type: ignore[index]
        found = await occupied(head, session="mine")
        assert found is not None
        assert set(found) == {"n3", "n4"}
        assert found["n3"].startswith(f"job {job} of bench, runs until ")
        everybody = await occupied(head)
        assert everybody is not None
        assert set(everybody) == {"n1", "n2", "n3", "n4"}
    finally:
        await reach.close()


@pytest.mark.fault("X11")
async def test_nodes_that_another_job_holds_are_in_use_and_nothing_stays_in_the_queue(
    slurm_lab: Lab, fabric: Fabric, job: str
) -> None:
    reach = _through_slurm(fabric, "mine", "n2", "n3", patience=1.5)
    with pytest.raises(RemoteError) as raised:
        await reach.remote(fabric.nodes["n2"])  # type: ignore[index]
    await reach.close()

    assert raised.value.failure.stage is FailedAt.IN_USE
    await asyncio.to_thread(
        wait_for, lambda: job_name("mine") not in _jobs(slurm_lab), SECONDS, "our request to be gone"
    )


@pytest.mark.fault("X12")
async def test_a_node_that_is_down_costs_its_own_tests_only(slurm_lab: Lab, fabric: Fabric) -> None:
    slurm_lab.inside(HEAD, "scontrol", "update", "nodename=n5", "state=drain", "reason=bad DIMM")
    reach = _through_slurm(fabric, "mine", "n5", "n6")
    try:
        with pytest.raises(RemoteError, match="Slurm has it drain: bad DIMM"):
            await reach.remote(fabric.nodes["n5"])  # type: ignore[index]
        remote = await reach.remote(fabric.nodes["n6"])  # type: ignore[index]
        assert (await remote.run(["hostname"], timeout=10)).text == "n6\n"
    finally:
        await reach.close()
        slurm_lab.inside(HEAD, "scontrol", "update", "nodename=n5", "state=resume")


@pytest.mark.fault("X10")
async def test_an_allocation_that_is_cancelled_under_us_is_said_to_have_ended(slurm_lab: Lab, fabric: Fabric) -> None:
    reach = _through_slurm(fabric, "mine", "n6")
    try:
        remote = await reach.remote(fabric.nodes["n6"])  # type: ignore[index]
        running = asyncio.create_task(remote.run(["sleep", "60"], timeout=90))
        sleeps = lambda: any(each.argv[:1] == ("sleep",) for each in slurm_lab.processes("n6"))  # noqa: E731
        await asyncio.to_thread(wait_for, sleeps, SECONDS, "the command to run")
        slurm_lab.inside(HEAD, "scancel", f"--name={job_name('mine')}")
        with pytest.raises(RemoteError) as raised:
            await running
        assert raised.value.failure.stage is FailedAt.LOST
        with pytest.raises(RemoteError, match=r"allocation [0-9]+ has ended"):
            await remote.run(["hostname"], timeout=10)
    finally:
        await reach.close()


_CONSOLE = """\
import asyncio, sys
from tests.scenarios import test_slurm as t
async def main():
    fabric = t.read_topology(t.Path(sys.argv[1]), t.load_probes().probes)
    reach = t._through_slurm(fabric, "killed", "n7", "n8")
    remote = await reach.remote(fabric.nodes["n7"])
    await remote.run(["sleep", "300"], timeout=290)
asyncio.run(main())
"""


@pytest.mark.fault("X09")
def test_a_console_that_is_killed_holds_no_nodes(slurm_lab: Lab, fabric: Fabric) -> None:
    with subprocess.Popen([sys.executable, "-c", _CONSOLE, fabric.file], cwd=Path(__file__).parents[2]) as console:
        wait_for(
            lambda: any(each.argv[:2] == ("sleep", "300") for each in slurm_lab.processes("n7")), SECONDS, "a step"
        )
        assert job_name("killed") in _jobs(slurm_lab)
        console.send_signal(signal.SIGKILL)
    wait_for(lambda: _left(slurm_lab) == [], SECONDS, "the watchdog to give everything back")


def _reason(lab: Lab, node: str) -> str:
    return lab.inside(HEAD, "sinfo", "--noheader", f"--nodes={node}", "--format=%T|%E").strip()


def test_a_node_at_fault_is_drained_on_consent_and_only_our_drains_are_lifted(
    slurm_lab: Lab, fabric: Fabric, probes: Mapping[str, Probe], tmp_path: Path
) -> None:
    db, only_iperf = str(tmp_path / "s.db"), _without(fabric, "inventory", "mpi-pingpong")
    slurm_lab.slow_nic("n3", 20, "out")
    _run(only_iperf, probes, tmp_path / "s.db", "n1", "n2", "n3", "n4")
    session = report(tmp_path / "s.db")["session"]["id"]
    _await_idle(slurm_lab)
    slurm_lab.inside(HEAD, "scontrol", "update", "nodename=n4", "state=drain", "reason=bad DIMM")
    invoke = CliRunner().invoke

    asked = invoke(drain.command, ["last", "--db", db, "--head", HEAD], input="n\n")
    assert asked.exit_code == 3
    assert f"n3: benchconsole {session} iperf3: throughput " in asked.output
    assert _reason(slurm_lab, "n3") == "idle|none"

    done = invoke(drain.command, ["last", "--db", db, "--head", HEAD, "--yes"])
    assert done.exit_code == 0, done.output
    assert _reason(slurm_lab, "n3").startswith(f"drained|benchconsole {session} iperf3: throughput ")
    with Store.open(tmp_path / "s.db") as store:
        assert [
            note.text.partition(":")[0] for note in store.session(session).read_notes() if note.kind == "drained"
        ] == ["n3"]
    innocent = invoke(drain.command, ["last", "-w", "n1", "--db", db, "--head", HEAD, "--yes"], standalone_mode=False)
    assert "found no fault with n1" in str(innocent.exception)

    back = ["-w", "n[3-4]", "--topology", fabric.file, "--head", HEAD, "--yes"]
    lifted = invoke(undrain.command, back)
    assert lifted.exit_code == 3
    assert "n3: in service again" in lifted.output
    assert _reason(slurm_lab, "n3").startswith("idle")
    assert _reason(slurm_lab, "n4") == "drained|bad DIMM"
    slurm_lab.inside(HEAD, "scontrol", "update", "nodename=n4", "state=resume")


def _without(fabric: Fabric, *probes: str) -> Fabric:
    suites = {
        name: replace(suite, stages=tuple(stage for stage in suite.stages if stage.probe not in probes))
        for name, suite in fabric.suites.items()
    }
    return replace(fabric, suites=suites)


def test_a_run_from_the_command_line_goes_through_slurm_and_says_so(
    slurm_lab: Lab, fabric: Fabric, tmp_path: Path
) -> None:
    _await_idle(slurm_lab)
    db, quick = tmp_path / "s.db", slurm_lab.topology.with_name("quick.yaml")
    quick.write_text(fabric.text[: fabric.text.index("suites:")] + "suites: {default: [{probe: inventory}]}\n")
    try:
        ran = benchconsole("run", quick, "--db", db, "-w", "n[1-8]", "--through", "slurm", "--head", HEAD)
    finally:
        quick.unlink()
    assert ran.code in (0, 3), ran.out + ran.err  # without declared hardware nothing is judged
    found = report(db)
    assert found["coverage"]["tested"] == 8, ran.out
    assert {proof["node"] for proof in found["proofs"] if proof["clean"]} >= {f"n{i}" for i in range(1, 9)}


@pytest.mark.parametrize("wrong", [["--through", "pbs"], ["--through", "slurm:a b"], ["--head", "n1"]])
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(
    fabric: Fabric, tmp_path: Path, wrong: list[str]
) -> None:
    ran = benchconsole("run", fabric.file, "--db", tmp_path / "s.db", *wrong)
    assert ran.code == 2
    assert "expected" in ran.err or "is for" in ran.err
