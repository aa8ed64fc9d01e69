"""Common behaviour of all tools of one node in a scratch directory: their start, a refusal, and what they take."""

import pytest

from benchconsole.probes import scratch
from benchconsole.probes.api import Output, Part, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.time_limits import COMMAND_ENDING, compute_give_up
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.bonnie.probe import Bonnie
from benchconsole.probes.tools.dd.probe import Dd
from benchconsole.probes.tools.files.node_directory import ScratchProbe
from benchconsole.probes.tools.h5perf.probe import H5perf
from benchconsole.probes.tools.iozone.probe import Iozone
from benchconsole.probes.tools.sysbench.probe import Sysbench

PROBES = (Bonnie(), Dd(), H5perf(), Iozone(), Sysbench())
every = pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)


@every
async def test_it_waits_for_its_round_and_runs_its_script(probe: ScratchProbe) -> None:
    said = Output((), b"rows\n", b"", 0, node="n1")
    contact = FakeContact(FakeRemote("n1").when("sh", answers=said))
    (found,) = await probe.run(contact, Target(a_node()))
    assert found.stdout == b"rows\n"
    assert contact.gathered == 1


@every
async def test_a_refusal_of_the_node_is_no_failed_tool(probe: ScratchProbe) -> None:
    refusal = Output((), b"", b"benchconsole: refused: /scratch has no room\n", scratch.REFUSED, node="n1")
    with pytest.raises(RemoteError) as raised:
        await probe.run(FakeContact(FakeRemote("n1").when("sh", answers=refusal)), Target(a_node()))
    assert (raised.value.failure.stage, raised.value.failure.detail) == (FailedAt.REFUSED, "/scratch has no room")


@every
@pytest.mark.parametrize("size", [None, "300 GiB"])
def test_its_own_limit_ends_it_before_the_test_is_given_up(probe: ScratchProbe, size: str | None) -> None:
    """The words of a command that was ended say more than a test that was given up."""
    options = {**probe.options, **({"size": size} if size and "size" in probe.options else {})}
    assert probe.time_limit(options) + COMMAND_ENDING < compute_give_up(probe.estimate(options))


@every
def test_its_files_are_taken_of_the_node_and_of_storage_that_is_shared(probe: ScratchProbe) -> None:
    size = probe.space(probe.options)
    assert size > 0
    alone = probe.demands(Target(a_node()))
    assert alone.alone == frozenset((Part.CPU, Part.MEMORY, Part.DISK))
    assert (alone.writes, dict(alone.shared)) == (size, {})
    assert dict(probe.demands(Target(a_node(), None, {"shared": "home"})).shared) == {"filesystem:home": size}
