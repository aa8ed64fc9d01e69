"""Omissions under caps: tests that keep no rate, tests that write by themselves; the rest of the plan stands."""

from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Demands, Probe, Target
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle, Round, Test
from benchconsole.probes.model.omission import OmissionReason
from benchconsole.probes.planning.caps import Withheld, can_keep_rate, hold_to_caps, withhold
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.probes.tools.netperf.probe import Netperf
from benchconsole.probes.tools.nuttcp.probe import Nuttcp
from benchconsole.probes.tools.ping.probe import Ping
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Direction, Fabric, NodeId, Stage, Suite
from benchconsole.topology.model.sweep import Axis, Sweep
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import SMALL, fabric
from tests.probes.planning.suites import Both, Played, Together

PROBES: dict[str, Probe] = {
    "iperf3": Iperf3(), "netperf": Netperf(), "nuttcp": Nuttcp(), "ping": Ping(), "fio": Fio(), "both": Both(),
    "together": Together(Demands()), "played": Played(),
}  # fmt: skip
STORAGE = SMALL + "storage: {fs: {servers: 'st[1-2]', size: 100 TB, free: 50 %}}\n"


def capped(folder: Path, link: float | None = None, **storage: float) -> Fabric:
    return replace(fabric(folder, STORAGE), caps=Caps(link, MappingProxyType(storage)))


def stage(described: Fabric, probe: str, sweep: Sweep | None = None, **options: str | int | float) -> Stage:
    return Stage(probe, tuple(described.nodes), MappingProxyType(options), sweep)


def withheld(described: Fabric, *stages: Stage) -> tuple[Withheld, ...]:
    return withhold(described, Suite("s", stages), PROBES)[1]


def test_without_caps_nothing_is_left_out(tmp_path: Path) -> None:
    described = capped(tmp_path)
    suite = Suite("s", (stage(described, "netperf"), stage(described, "fio", shared="fs")))
    assert withhold(described, suite, PROBES) == (suite, ())


def test_what_was_to_run_at_once_with_a_stage_that_is_left_out_is_left_out_too(tmp_path: Path) -> None:
    described = capped(tmp_path, fs=1e9)
    own = Stage("fio", (NodeId("n1"),), MappingProxyType({}), at_once="both")
    other = Stage("fio", (NodeId("n2"),), MappingProxyType({"shared": "fs", "scratch": "/fs"}), at_once="both")
    after = Stage("fio", (NodeId("n3"),), MappingProxyType({}))
    kept, left = withhold(described, Suite("s", (own, other, after)), PROBES)
    assert kept.stages == (after,)
    assert [each.nodes for each in left] == [other.nodes, own.nodes]
    assert str(left[1]) == "fio is not run: at_once 'both' lacks a stage"
    assert [each.omission.reason for each in left] == [OmissionReason.CAPPED, OmissionReason.LACKS_STAGE]


def test_who_keeps_no_rate_is_not_run_where_links_are_capped_and_the_rest_stands(tmp_path: Path) -> None:
    described = capped(tmp_path, 0.5)
    stages = stage(described, "netperf"), stage(described, "iperf3"), stage(described, "ping")
    left = withheld(described, *stages)
    assert [str(each) for each in left] == ["netperf is not run: it keeps no rate, and a cap holds links at 50 %"]
    rounds = plan(described, Suite("s", stages), PROBES)
    assert {each.probe for each in rounds} == {"iperf3", "ping"}
    assert all(test.target.options["bitrate"] for each in rounds for test in each.tests if each.probe == "iperf3")
    assert [each.number for each in rounds] == list(range(1, len(rounds) + 1))


def test_a_plan_of_nothing_else_is_refused_with_the_reason(tmp_path: Path) -> None:
    described = capped(tmp_path, 0.5)
    with pytest.raises(PlanError, match="nothing to run on the selected nodes; both is not run: it keeps no rate"):
        plan(described, Suite("s", (stage(described, "both"),)), PROBES)


@pytest.mark.parametrize(
    ("probe", "options", "keeps"),
    [
        ("iperf3", {}, True),
        ("iperf3", {"protocol": "udp", "bitrate": "1 Gb/s"}, True),
        ("nuttcp", {}, True),
        ("nuttcp", {"mode": "burst"}, False),
        ("netperf", {}, False),
        ("both", {}, False),
    ],
)
def test_whether_a_rate_is_kept_is_asked_of_the_probe(
    probe: str, options: dict[str, str | int | float], keeps: bool
) -> None:
    assert can_keep_rate(PROBES[probe], options) is keeps


def test_options_that_are_refused_anyway_are_left_for_the_plan_to_refuse(tmp_path: Path) -> None:
    described = capped(tmp_path, 0.5)
    assert withheld(described, stage(described, "iperf3", streams=0)) == ()


def test_one_point_that_keeps_no_rate_takes_its_whole_sweep_out(tmp_path: Path) -> None:
    described = capped(tmp_path, 0.5)
    over = Sweep((Axis("mode", ("tcp", "burst")),))
    assert [each.probe for each in withheld(described, stage(described, "nuttcp", over))] == ["nuttcp"]
    assert (
        withheld(described, stage(described, "nuttcp", Sweep((Axis("mode", ("tcp", "udp")),)), bitrate="1 Mb/s")) == ()
    )


def test_sets_send_too_unless_they_are_of_one_node(tmp_path: Path) -> None:
    described = capped(tmp_path, 0.5)
    assert [each.whole for each in withheld(described, stage(described, "together"))] == [True]
    assert withheld(described, stage(described, "together", size=1)) == ()


def test_a_cap_on_storage_spares_only_its_servers(tmp_path: Path) -> None:
    described = capped(tmp_path, fs=2e9)
    suite = Suite("s", (stage(described, "both"), stage(described, "iperf3")))
    after, left = withhold(described, suite, PROBES)
    assert [(each.nodes, each.whole) for each in left] == [(("st1", "st2"), False)]
    assert str(left[0]).startswith("both is not run on st[1-2]: it keeps no rate, and a cap holds what servers of fs")
    assert set(after.stages[0].nodes) == {node for node in described.nodes if not node.startswith("st")}
    assert after.stages[1] == suite.stages[1]
    _, left = withhold(described, suite, PROBES, nodes=[NodeId("n1"), NodeId("st1")])
    assert left[0].whole


@pytest.mark.parametrize(
    ("link", "storage", "cap"), [(None, {"fs": 2e9}, "fs at 2.00 GB/s"), (0.25, {}, "links at 25 %")]
)
def test_who_writes_to_shared_storage_by_himself_is_not_run_under_a_cap(
    tmp_path: Path, link: float | None, storage: dict[str, float], cap: str
) -> None:
    described = capped(tmp_path, link, **storage)
    shared = stage(described, "fio", shared="fs", scratch="/fs")
    left = withheld(described, shared, stage(described, "fio"), stage(described, "played"))
    assert [str(each) for each in left] == [
        f"fio is not run: it reads and writes fs by itself at no set rate, and a cap holds {cap}"
    ]


@pytest.mark.parametrize("most", [1, 2, 10])
def test_who_refuses_all_nodes_at_once_is_asked_for_fewer(tmp_path: Path, most: int) -> None:
    class Choosy(Together):
        def demands(self, target: Target) -> Demands:
            if len(target.nodes) > most:
                raise PlanError(f"found {len(target.nodes)} nodes, expected fewer")
            return Demands(shared={f"filesystem:{target.options['shared']}": 1.0} if "shared" in target.options else {})

    described = capped(tmp_path, fs=2e9)
    suite = Suite("s", (stage(described, "together", shared="fs"), stage(described, "together", nodes=2)))
    left = withhold(described, suite, {"together": Choosy()})[1]
    assert [each.why.split(" by itself")[0] for each in left if each.whole] == ["it reads and writes fs"]


def test_a_storage_system_that_is_not_described_is_left_for_the_plan_to_refuse(tmp_path: Path) -> None:
    described = capped(tmp_path, 0.5)
    with pytest.raises(PlanError, match="unknown storage system 'nosuch'"):
        plan(described, Suite("s", (stage(described, "fio", shared="nosuch"),)), PROBES)


UNEVEN = """\
schema: 1
fabric: uneven
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}}
nodes: {n1: {}, n2: {}, s1: {}, s2: {}}
links:
  - {from: "n1,s[1-2]", to: leaf, speed: 8 Gb/s, network: flat}
  - {from: n2, to: leaf, speed: 16 Gb/s, network: flat}
caps: {link: 50 %}
"""


def test_a_bundle_is_filled_as_far_as_the_least_of_its_elements() -> None:
    """Each pair is held to 4 Gb/s: half of what n1 carries, a quarter of what n2 carries."""
    described = load_text(UNEVEN, "uneven.yaml")
    ends = [
        (described.nodes[NodeId(one)], described.nodes[NodeId(other)]) for one, other in (("n1", "s1"), ("n2", "s2"))
    ]
    tests = tuple(Test(one.id, "iperf3", Target(one, other, MappingProxyType({})), 1, "out") for one, other in ends)
    ways = tuple(Direction(described.links_at[one.id][0].id, one.id) for one, _ in ends)
    for elements, fill in ((ways, 0.25), (ways[:1], 0.5), (ways[1:], 0.25)):
        planned = Round(1, "pairs", "iperf3", tests, 10.0, "", (Bundle("out", elements),))
        (held,) = hold_to_caps(described, [planned], Routes(described), PROBES)
        assert held.bundles == (Bundle("out", elements, fill),)
