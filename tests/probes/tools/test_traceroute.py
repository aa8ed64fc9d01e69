from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Fact, Output, PlanError, ProbeOutputError, Shape, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.traceroute.probe import Traceroute
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, Said, noise, output, read, said, text
from tests.probes.tools.spoiled import noise_inside_and_a_cut_give_no_other_number
from tests.probes.tools.torn import line_ends_and_colours_change_nothing

BROKEN = (
    "no-host-2.1.2.txt",
    "no-route-2.0.22.txt",
    "prohibited-2.1.2.txt",
    "too-far-2.1.2.txt",
    "tracepath-lost-20221126.txt",
)
NAMES = sorted(path.name for path in (ROOT / "traceroute").iterdir() if path.name not in BROKEN)
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Traceroute(), [output(f"traceroute/{name}") for name in NAMES])


def parsed(name: str) -> list[Said]:
    return said(Traceroute().parse(output(f"traceroute/{name}")))


@pytest.mark.parametrize(
    ("name", "hops", "milliseconds"),
    [
        ("two-hops-2.1.2.txt", 2, (0.022, 0.008, 0.009)),
        ("balanced-2.0.22.txt", 5, (50.612, 50.540, 50.588)),
        ("as-2.1.0.txt", 2, (1.540,)),
        ("bsd-1.4a12.txt", 3, (3.612, 3.588)),
        ("busybox-1.35.txt", 2, (0.150, 0.141, 0.139)),
        ("inetutils-2.4.txt", 2, (0.150, 0.141, 0.139)),
        ("ipv6-2.1.2.txt", 2, (0.150, 0.141, 0.139)),
        ("tracepath-20221126.txt", 3, (0.390,)),
    ],
)
def test_hops_and_the_round_trip_to_the_last(name: str, hops: int, milliseconds: tuple[float, ...]) -> None:
    numbers = {(metric, dict(marks).get("statistic")): value for metric, value, marks in parsed(name)}
    expected = {"min": min(milliseconds), "max": max(milliseconds), "mean": sum(milliseconds) / len(milliseconds)}
    assert numbers["traceroute.hops", None] == hops
    for statistic, value in expected.items():
        assert numbers["traceroute.rtt", statistic] == pytest.approx(value * 1e-3, rel=1e-9)


def addresses(name: str) -> list[tuple[str, str]]:
    found = Traceroute().parse(output(f"traceroute/{name}"))
    return [(dict(one.labels)["number"], str(one.value)) for one in found if isinstance(one, Fact)]


@pytest.mark.parametrize("name", ["balanced-2.0.22.txt", "bsd-1.4a12.txt"])
def test_a_hop_with_several_addresses_has_all_of_them_once(name: str) -> None:
    """On one line or below it; a hop without an answer has none."""
    assert [address for number, address in addresses(name) if number == "2"] == ["192.0.2.9", "192.0.2.13"]
    assert not any(number == "3" for number, _ in addresses("balanced-2.0.22.txt"))


def test_what_stands_beside_an_address_is_none() -> None:
    assert addresses("as-2.1.0.txt") == [("1", "192.0.2.1"), ("2", "198.51.100.7")]
    assert ("4", "198.51.100.1") in addresses("balanced-2.0.22.txt")
    assert addresses("tracepath-20221126.txt") == [("1", "192.0.2.1"), ("2", "192.0.2.1"), ("3", "198.51.100.7")]


@pytest.mark.parametrize("name", BROKEN)
def test_a_path_that_did_not_arrive_is_an_error_whatever_it_ended_with(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Traceroute().parse(output(f"traceroute/{name}"))


@pytest.mark.parametrize(
    ("was", "spoiled"),
    [
        (" 2  192.0.2.65", " 3  192.0.2.65"),
        (" 2  192.0.2.65", " 2  192.0.2.66"),
        ("0.022 ms", "0.000 ms"),
        ("0.022 ms", "nan ms"),
        ("0.022 ms", "-0.022 ms"),
        ("0.022 ms", "99999999 ms"),
        ("to 192.0.2.65 (192.0.2.65)", "to 192.0.2.65"),
    ],
)
def test_a_line_that_no_traceroute_prints_is_no_hop(was: str, spoiled: str) -> None:
    whole = text("traceroute/two-hops-2.1.2.txt")
    assert was in whole
    with pytest.raises(ProbeOutputError):
        Traceroute().parse(Output((), whole.replace(was, spoiled).encode()))


@pytest.mark.parametrize(
    ("argv", "metrics"),
    [((), {"traceroute.hops"}), (("traceroute", "-q", "1", "n2"), {"traceroute.hops", "traceroute.rtt"})],
)
def test_a_hop_with_fewer_probes_than_usual_may_be_cut(argv: tuple[str, ...], metrics: set[str]) -> None:
    """Unless it is known how many were asked for."""
    one = b"traceroute to n2 (10.0.0.2), 30 hops max, 60 byte packets\n 1  10.0.0.2  0.342 ms\n"
    found = Traceroute().parse(Output(argv, one))
    assert {each.metric for each in found if not isinstance(each, Fact)} == metrics


def test_a_hop_that_goes_on_below_is_read_to_its_end() -> None:
    whole = (
        "traceroute to n2 (10.0.0.2), 30 hops max, 60 byte packets\n"
        " 1  10.0.1.1  0.3 ms  0.2 ms  0.1 ms\n 2  10.0.0.2  1.5 ms\n    10.0.0.9  1.7 ms\n    10.0.0.2  1.9 ms\n"
    )
    times = [value for metric, value, _ in read(Traceroute(), whole) if metric == "traceroute.rtt"]
    assert times == [pytest.approx(each) for each in (0.0015, 0.0017, 0.0019)]
    cut = whole[: whole.index("    10.0.0.9")]
    assert [metric for metric, _, _ in read(Traceroute(), cut) if "hop" not in metric] == []
    assert read(Traceroute(), cut)


def test_several_paths_in_one_capture_are_told_apart() -> None:
    both = text("traceroute/two-hops-2.1.2.txt") + text("traceroute/balanced-2.0.22.txt")
    hops = [(value, dict(marks).get("run")) for metric, value, marks in read(Traceroute(), both) if "hops" in metric]
    assert hops == [(2.0, None), (5.0, "2")]


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    assert read(Traceroute(), before + text(f"traceroute/{name}") + after) == parsed(name)


def test_noise_inside_and_a_cut_give_nothing_else() -> None:
    noise_inside_and_a_cut_give_no_other_number(Traceroute(), [f"traceroute/{name}" for name in NAMES])


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=60, deadline=None)
def test_a_line_that_is_lost_gives_no_other_number_of_hops(name: str, data: st.DataObject) -> None:
    lines = text(f"traceroute/{name}").splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 1))
    hops = [one for one in read(Traceroute(), "".join(lines[:place] + lines[place + 1 :])) if "hops" in one[0]]
    assert set(hops) <= set(parsed(name))


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Traceroute(), f"traceroute/{name}")


# -- what is run


def command(**options: str | float) -> list[str]:
    return list(Traceroute().command(replace(FLOW, options=MappingProxyType(options))))


def test_it_goes_from_data_address_to_data_address_without_names() -> None:
    tool, ends = ["env", "LC_ALL=C", "traceroute", "-n"], ["-s", "10.0.0.1", "--", "10.0.0.2"]
    assert command() == [*tool, "-q", "3", "-m", "30", "-w", "2", *ends]
    assert command(queries=5, max_hops=8, wait=0.5, method="icmp") == [
        *(*tool, "-q", "5", "-m", "8", "-w", "0.5", "-I", *ends)
    ]
    named = Target(a_node("n1", data_address="n1.example"), a_node("n2", data_address="n2.example"))
    assert "-s" not in Traceroute().command(named)


@pytest.mark.parametrize(
    "options", [{"queries": 0}, {"queries": 11}, {"max_hops": 256}, {"wait": 0}, {"method": "sctp"}, {"wait": "long"}]
)
async def test_options_out_of_range_are_refused_before_anything_is_sent(options: dict[str, str | float]) -> None:
    here = FakeRemote("n1")
    with pytest.raises(PlanError, match=r"traceroute option \w+: "):
        await Traceroute().run(FakeContact(here, FakeRemote("n2")), replace(FLOW, options=MappingProxyType(options)))
    assert here.calls == []


async def test_it_waits_for_its_round_and_no_longer_than_every_hop_may_take() -> None:
    here = FakeRemote("n1", lenient=True)
    contact = FakeContact(here, FakeRemote("n2"))
    await Traceroute().run(contact, FLOW)
    assert [contact.gathered, here.calls[0].timeout] == [1, 15 + 30 * 3 * 2]


def test_it_needs_a_pair_and_knows_how_long_it_takes() -> None:
    assert Traceroute.shape is Shape.PAIR
    with pytest.raises(PlanError):
        Traceroute().command(Target(a_node()))
    assert Traceroute().estimate({}) == 3.0


def test_paths_of_tracepath_in_one_capture_are_told_apart() -> None:
    found = read(Traceroute(), text("traceroute/tracepath-two-20190709.txt"))
    assert [(value, dict(marks)) for name, value, marks in found if name == "traceroute.hops"] == [
        (3.0, {}),
        (2.0, {"run": "2"}),
    ]
