import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Shape, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.ping.probe import Ping
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, Said, noise, output, read, said, text
from tests.probes.tools.spoiled import a_line_that_is_lost_gives_no_other_number
from tests.probes.tools.torn import line_ends_and_colours_change_nothing

BROKEN = ("mtu-none.json",)
NAMES = sorted(path.name for path in (ROOT / "ping").iterdir() if path.name not in BROKEN)
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Ping(), [output(f"ping/{name}") for name in NAMES])


def found(name: str) -> dict[tuple[str, str], float | str]:
    """Metric and statistic to value."""
    return {(metric, dict(marks).get("statistic", "")): value for metric, value, marks in parsed(name)}


def parsed(name: str) -> list[Said]:
    return said(Ping().parse(output(f"ping/{name}")))


@pytest.mark.parametrize(
    ("name", "loss", "milliseconds"),
    [
        ("loopback-20221126.txt", 0.0, (0.039, 0.041, 0.043, 0.001)),
        ("quiet-df-20221126.txt", 0.0, (0.046, 0.063, 0.211, 0.049)),
        ("ipv6-20221126.txt", 0.0, (0.026, 0.039, 0.048, 0.009)),
        ("flood-20221126.txt", 0.0, (0.004, 0.004, 0.023, 0.002)),
        ("no-answer-20221126.txt", 1.0, ()),
        ("unreachable-20221126.txt", 1.0, ()),
        ("frag-needed-20221126.txt", 1.0, ()),
        ("loss-s20071127.txt", 1 / 3, (50.512, 50.562, 50.613, 0.231)),
        ("duplicates-s20121221.txt", 0.5, (0.189, 0.244, 0.344, 0.072)),
        ("thousandth-20180629.txt", 1 / 3000, (0.041, 0.067, 2.310, 0.055)),
        ("comma-20190709.txt", 0.125, (0.241, 0.267, 0.310, 0.021)),
        ("busybox-1.35.txt", 1 / 3, (0.152, 0.169, 0.187)),
        ("busybox-duplicates-1.22.txt", 0.0, (1.187, 1.289, 1.392)),
        ("inetutils-2.4.txt", 0.0, (0.188, 0.197, 0.206, 0.009)),
        ("bsd-13.txt", 0.0, (0.345, 0.345, 0.345)),
    ],
)
def test_loss_and_round_trips_of_every_kind(name: str, loss: float, milliseconds: tuple[float, ...]) -> None:
    numbers = found(name)
    assert numbers["ping.loss", ""] == pytest.approx(loss, rel=1e-12)
    names = ("min", "mean", "max", "mdev")[: len(milliseconds)]
    times = {statistic: value for (metric, statistic), value in numbers.items() if metric == "ping.rtt"}
    assert times == {name: pytest.approx(each * 1e-3, rel=1e-9) for name, each in zip(names, milliseconds, strict=True)}


def test_what_else_was_counted_is_told_where_ping_tells_it() -> None:
    numbers = found("duplicates-s20121221.txt")
    counted = {metric: value for (metric, _), value in numbers.items() if metric not in ("ping.rtt", "ping.loss")}
    assert counted == {"ping.duplicates": 1, "ping.corrupted": 1, "ping.errors": 1}
    assert found("unreachable-20221126.txt")["ping.errors", ""] == 4
    assert found("busybox-duplicates-1.22.txt")["ping.duplicates", ""] == 1


@pytest.mark.parametrize(
    ("name", "size"),
    [("quiet-df-20221126.txt", "8972"), ("ipv6-20221126.txt", "56"), ("busybox-duplicates-1.22.txt", "1472")],
)
def test_the_size_of_the_payload_is_a_label(name: str, size: str) -> None:
    assert {dict(marks)["size"] for _, _, marks in parsed(name)} == {size}


def test_the_largest_packet_counts_its_headers() -> None:
    assert parsed("mtu.json") == [("ping.mtu", 9000.0, ())]
    with pytest.raises(ProbeOutputError, match="no answer even to the smallest"):
        Ping().parse(output("ping/mtu-none.json"))


@pytest.mark.parametrize("status", [2, 1, 0])
def test_no_answer_at_all_is_a_result_whatever_ping_ends_with(status: int) -> None:
    lost = replace(output("ping/no-answer-20221126.txt"), exit_status=status)
    assert said(Ping().parse(lost)) == [("ping.loss", 1.0, (("count", "3"), ("size", "56")))]


def test_a_status_of_2_with_answers_is_a_failure() -> None:
    with pytest.raises(ProbeOutputError, match="exit status 2"):
        Ping().parse(replace(output("ping/quiet-df-20221126.txt"), exit_status=2))


@pytest.mark.parametrize(
    "failed",
    [
        Output((), b"", b"ping: nosuch: Name or service not known\n", 2),
        Output((), b"", b"ping: connect: Network is unreachable\n", 2),
        Output((), b"", b"ping: bad address 'n2'\n", 1),
        Output((), b"PING n2 (192.0.2.2) 56(84) bytes of data.\n", b"", None, "TERM"),
    ],
)
def test_a_ping_that_failed_gives_no_number(failed: Output) -> None:
    with pytest.raises(ProbeOutputError):
        Ping().parse(failed)


def test_what_the_node_itself_would_not_send_is_no_loss() -> None:
    refused = replace(
        output("ping/no-answer-20221126.txt"), stderr=b"ping: sendmsg: Operation not permitted\n", exit_status=1
    )
    with pytest.raises(ProbeOutputError, match="Operation not permitted"):
        Ping().parse(refused)


def test_times_are_not_read_where_the_clock_was_set_meanwhile() -> None:
    warned = replace(
        output("ping/loopback-20221126.txt"),
        stderr=b"ping: Warning: time of day goes back (-12us), taking countermeasures\n",
    )
    assert [one[0] for one in said(Ping().parse(warned))] == ["ping.loss"]


@pytest.mark.parametrize(
    ("was", "spoiled"),
    [
        ("4 received", "5 received"),
        ("4 received", "3 received"),
        ("4 packets transmitted", "0 packets transmitted"),
        ("0% packet loss", "50% packet loss"),
        ("0% packet loss", "-nan% packet loss"),
        ("0.039/0.041", "0.000/0.041"),
        ("0.039/0.041", "0.041/0.039"),
        ("0.039/0.041", "-0.039/0.041"),
        ("0.039/0.041", "nan/0.041"),
        ("0.039/0.041", "0,039/0,041"),
        ("0.043/0.001", "0.043/0.101"),
        ("0.043/0.001 ms", "0.043/0.001 s"),
        ("/0.001 ms", " ms"),
    ],
)
def test_what_contradicts_itself_is_refused(was: str, spoiled: str) -> None:
    whole = text("ping/loopback-20221126.txt")
    assert was in whole
    with pytest.raises(ProbeOutputError):
        Ping().parse(Output((), whole.replace(was, spoiled).encode()))


def test_several_pings_in_one_capture_are_told_apart() -> None:
    both = text("ping/loopback-20221126.txt") + text("ping/busybox-1.35.txt")
    losses = [(value, dict(marks).get("number")) for metric, value, marks in read(Ping(), both) if "loss" in metric]
    assert losses == [(0.0, None), (pytest.approx(1 / 3), "2")]


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    assert read(Ping(), before + text(f"ping/{name}") + after) == parsed(name)


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=60, deadline=None)
def test_noise_inside_it_gives_no_other_value(name: str, data: st.DataObject) -> None:
    lines = text(f"ping/{name}").splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines)))
    seen = read(Ping(), "".join([*lines[:place], data.draw(noise), *lines[place:]]))
    assert {one[:2] for one in seen} <= {one[:2] for one in parsed(name)}


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Ping(), f"ping/{name}")


# -- what is run


def command(**options: str | float) -> list[str]:
    return list(Ping().command(replace(FLOW, options=MappingProxyType(options))))[4:]


def test_it_pings_from_data_address_to_data_address() -> None:
    ends = ["-I", "10.0.0.1", "--", "10.0.0.2"]
    assert command() == ["-n", "-q", "-c", "10", "-i", "0.2", "-W", "2", "-s", "56", *ends]
    own = command(count=3, interval=0.01, size="8972 B", dont_fragment=1, quiet=0, wait=5)
    assert own == ["-n", "-M", "do", "-c", "3", "-i", "0.01", "-W", "5", "-s", "8972", *ends]


def test_a_name_is_not_bound_to() -> None:
    named = Target(a_node("n1", data_address="n1.example"), a_node("n2", data_address="n2.example"))
    assert "-I" not in Ping().command(named)


@pytest.mark.parametrize(
    "options",
    [
        {"count": 0},
        {"interval": 0},
        {"interval": "often"},
        {"size": "56"},
        {"size": "65508 B"},
        {"dont_fragment": 2},
        {"wait": 0},
        {"mtu": "yes"},
        {"mtu": "check", "payload": "56 B"},
        {"mtu": "check", "payload": "9 MB"},
    ],
)
async def test_options_out_of_range_are_refused_before_anything_is_sent(options: dict[str, str | float]) -> None:
    here = FakeRemote("n1")
    with pytest.raises(PlanError, match=r"ping option \w+: "):
        await Ping().run(FakeContact(here, FakeRemote("n2")), replace(FLOW, options=MappingProxyType(options)))
    assert here.calls == []


async def test_a_search_is_run_only_where_it_is_asked_for() -> None:
    here = FakeRemote("n1", lenient=True)
    contact = FakeContact(here, FakeRemote("n2"))
    assert len(await Ping().run(contact, FLOW)) == 1
    asked = replace(FLOW, options=MappingProxyType({"mtu": "check"}))
    assert len(await Ping().run(contact, asked)) == 2
    assert contact.gathered == 2
    assert here.calls[-1].argv[3:7] == ("benchconsole-ping-mtu", "8972", "56", "28")


def test_headers_of_the_other_family_are_larger() -> None:
    six = Target(a_node("n1", data_address="fd00::1"), a_node("n2", data_address="fd00::2"))
    search = Ping().search(replace(six, options=MappingProxyType({"mtu": "search"})))
    assert search is not None
    assert search[4:7] == ["65487", "56", "48"]


def test_it_needs_a_pair_and_knows_how_long_it_takes() -> None:
    assert Ping.shape is Shape.PAIR
    with pytest.raises(PlanError):
        Ping().command(Target(a_node()))
    assert Ping().estimate({}) == 3.0
    assert Ping().estimate({"count": 100, "interval": 0.1, "mtu": "search"}) == 16.0


# -- the scripts themselves, run here with a ping that is played

PLAYED = r"""#!/bin/sh
echo "$*" >> "$CALLS"
size=0
while [ $# -gt 0 ]; do case $1 in -s) size=$2; shift;; esac; shift; done
[ "$FAILS" = 0 ] || { echo "ping: connect: Network is unreachable" >&2; exit "$FAILS"; }
[ "$size" -gt "$CARRIES" ] || exit 0
[ -z "$SAYS" ] || echo "From 192.0.2.9 icmp_seq=1 Frag needed and DF set (mtu = $SAYS)"
exit 1
"""


@pytest.fixture
def played(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "ping").write_text(PLAYED)
    (tmp_path / "ping").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    return {"PATH": path, "CALLS": str(tmp_path / "calls"), "CARRIES": "8972", "SAYS": "", "FAILS": "0"}


def run(argv: list[str] | None, environment: Mapping[str, str]) -> Output:
    assert argv is not None
    done = subprocess.run(argv, env=dict(environment), capture_output=True, check=False, timeout=30)
    return Output(tuple(argv), done.stdout, done.stderr, done.returncode)


def search(mtu: str = "check") -> list[str] | None:
    return Ping().search(replace(FLOW, options=MappingProxyType({"mtu": mtu})))


@pytest.mark.parametrize(
    ("mtu", "carries", "says", "expected", "most"),
    [
        ("check", 8972, "", 9000.0, 1),
        ("check", 8971, "", 8999.0, 40),
        ("check", 1472, "1500", 1500.0, 4),
        ("check", 1472, "", 1500.0, 40),
        ("check", 1400, "1500", 1428.0, 45),
        ("check", 1472, "70000", 1500.0, 40),
        ("check", 56, "", 84.0, 45),
        ("search", 65507, "", 65535.0, 1),
        ("search", 8972, "9000", 9000.0, 4),
        ("search", 1000, "", 1028.0, 50),
    ],
)
def test_the_largest_packet_is_found_in_bounded_steps(
    played: dict[str, str], mtu: str, carries: int, says: str, expected: float, most: int
) -> None:
    """Whatever a refusal names, right or wrong, only sizes that were tried count."""
    output = run(search(mtu), {**played, "CARRIES": str(carries), "SAYS": says})
    assert said(Ping().parse(output)) == [("ping.mtu", expected, ())]
    calls = Path(played["CALLS"]).read_text().splitlines()
    assert len(calls) <= most
    assert all("-M do -c 1" in call and call.endswith("-I 10.0.0.1 -- 10.0.0.2") for call in calls)


def test_a_peer_that_does_not_answer_has_no_size(played: dict[str, str]) -> None:
    with pytest.raises(ProbeOutputError, match="smallest packet"):
        Ping().parse(run(search(), {**played, "CARRIES": "0"}))


def test_a_ping_that_fails_ends_the_search_with_its_words(played: dict[str, str]) -> None:
    failed = run(search(), {**played, "FAILS": "2"})
    assert failed.exit_status == 2
    with pytest.raises(ProbeOutputError, match="Network is unreachable"):
        Ping().parse(failed)


@pytest.mark.parametrize(("fails", "status"), [("1", 0), ("2", 2)])
def test_only_the_status_of_no_answer_is_taken_for_a_result(played: dict[str, str], fails: str, status: int) -> None:
    assert run(list(Ping().command(FLOW)), {**played, "FAILS": fails}).exit_status == status


@pytest.mark.parametrize("argv", [list(Ping().command(FLOW)), search()])
def test_a_missing_ping_is_said_as_such(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    done = run(argv, {"PATH": str(tmp_path)})
    assert (done.exit_status, done.error_text) == (127, "ping: command not found\n")


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(Ping(), [f"ping/{name}" for name in NAMES])
