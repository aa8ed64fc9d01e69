import ast
import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.mpi_pingpong.probe import _PINGPONG, _START, MpiPingpong
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import noise, output, read, said, text

WHOLE = "mpi-pingpong/two-nodes.txt"
# The hostile addresses of that check tell no network, so that the probe asks nothing; see below.
PAIR = Target(
    replace(a_node("n1", "10.0.0.1"), data_address="10.1.0.1"),
    replace(a_node("n2", "10.0.0.2"), data_address="10.1.0.2"),
)


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(MpiPingpong(), [output(WHOLE)])


def test_latency_and_both_directions_are_read() -> None:
    assert said(MpiPingpong().parse(output(WHOLE))) == [
        ("mpi-pingpong.latency", 6.1e-06, (("size", "8"),)),
        ("mpi-pingpong.bandwidth", 11843287.258262718, (("direction", "out"), ("size", "262144"), ("window", "16"))),
        ("mpi-pingpong.bandwidth", 11758107.27727309, (("direction", "in"), ("size", "262144"), ("window", "16"))),
    ]


def test_two_results_are_nobodys() -> None:
    with pytest.raises(ProbeOutputError, match="2 whole results"):
        MpiPingpong().parse(Output((), 2 * text(WHOLE).encode()))


def test_a_launch_that_failed_gives_nothing_whatever_it_printed() -> None:
    with pytest.raises(ProbeOutputError, match="exit status 205"):
        MpiPingpong().parse(replace(output(WHOLE), exit_status=205))


@settings(max_examples=60)
@given(noise, st.data())
def test_noise_and_cuts_never_give_another_number(around: str, data: st.DataObject) -> None:
    whole = said(MpiPingpong().parse(output(WHOLE)))
    full = around + text(WHOLE) + around
    assert read(MpiPingpong(), full) == whole
    cut = data.draw(st.integers(0, len(full)))
    assert read(MpiPingpong(), full[:cut]) in ([], whole)


def test_the_job_has_two_ranks_that_know_their_addresses() -> None:
    job = MpiPingpong().job(PAIR)

    assert (job.ranks, [node.id for node in job.nodes]) == (2, ["n1", "n2"])
    assert job.program == ("python3", "-c", _START, "2", "262144", "16", "10.1.0.1", "10.1.0.2")
    assert job.files == {"pingpong.py": _PINGPONG}
    assert MpiPingpong().demands(PAIR).alone == frozenset(Part)


def test_what_the_ranks_run_is_python_and_starts_on_one_line() -> None:
    ast.parse(_PINGPONG)
    ast.parse(_START)
    assert "\n" not in _START


def test_hostile_addresses_reach_no_command() -> None:
    hostile = "$(touch x)';|&`x` \n-rf"
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    for target in (
        Target(replace(PAIR.node, address=hostile), PAIR.peer),
        Target(replace(PAIR.node, data_address=hostile), PAIR.peer),
        Target(replace(PAIR.node, address=hostile), PAIR.peer, {"network": "eth0"}),
    ):
        with pytest.raises(PlanError, match="n1: found"):
            asyncio.run(MpiPingpong().run(FakeContact(here, there), target))
    assert here.calls == there.calls == []


@pytest.mark.parametrize(
    "options",
    [{"seconds": 0}, {"seconds": "x"}, {"message": "1 KiB"}, {"message": "-1"}, {"window": 0}, {"bind": "all"}],
)
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        MpiPingpong().demands(replace(PAIR, options=options))


def test_it_waits_for_its_round() -> None:
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    contact = FakeContact(here, there)
    asyncio.run(MpiPingpong().run(contact, PAIR))

    assert contact.gathered == 1
    assert len(here.calls) == 1
    assert there.calls == []
