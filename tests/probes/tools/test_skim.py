import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.skim.probe import Skim
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text, values

NAMES = sorted(path.name for path in (ROOT / "skim").iterdir())
Options = dict[str, str | int | float]


def left(place: Path) -> list[str]:
    """The sorted names of the files in ``place``."""
    return sorted(each.name for each in place.iterdir())


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(f"skim/{name}").splitlines()[-1])
    return found


def parse(found: dict[str, Any]) -> dict[str, list[str | float]]:
    return values(Skim().parse(Output((), json.dumps(found).encode())))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Skim(), [output(f"skim/{name}") for name in NAMES])


def test_each_client_has_its_own_numbers() -> None:
    # 2 files of 4 MiB, every second event of 64 KiB read: 4 MiB; a tenth of those 64 events kept: 6
    seconds = [0.05199532700498821, 0.06852880700171227, 0.07190952100427239]
    found = values(Skim().parse(output("skim/half-of-the-events.txt")))
    assert found == {
        "skim.read": [pytest.approx(4194304 / each) for each in seconds],
        "skim.write": [pytest.approx(6 * 65536 / each) for each in seconds],
        "skim.time": seconds,
        "skim.fetched": [0.5] * 3,
        "skim.spread": [pytest.approx(seconds[2] / seconds[0])],
    }


def test_labels_tell_clients_apart_and_what_was_asked_for() -> None:
    found = Skim().parse(output("skim/half-of-the-events.txt"))
    asked = {
        "cache": "dropped",
        "processes": "3",
        "event": "65536",
        "files": "2",
        "size": "4194304",
        "read": "50%",
        "keep": "10%",
    }
    assert dict(found[0].labels) == {**asked, "client": "1"}
    assert dict(found[-2].labels) == {**asked, "client": "3"}
    assert dict(found[-1].labels) == asked


def test_one_client_has_no_spread() -> None:
    seconds = 0.03737901700151269
    assert values(Skim().parse(output("skim/one-client.txt"))) == {
        "skim.read": [pytest.approx(8388608 / seconds)],
        "skim.write": [pytest.approx(12 * 65536 / seconds)],
        "skim.time": [seconds],
        "skim.fetched": [1.0],
    }


def test_what_was_not_kept_has_no_rate_and_what_was_not_counted_no_share() -> None:
    found = Skim().parse(output("skim/slow-client.txt"))
    assert values(found) == {
        "skim.read": [2097152 / 2, 2097152 / 2.5, 2097152 / 2, 2097152 / 8],
        "skim.time": [2.0, 2.5, 2.0, 8.0],
        "skim.fetched": [2.0],
        "skim.spread": [4.0],
    }
    assert {dict(one.labels)["cache"] for one in found} == {"unproven"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("clients", 3),
        ("clients", "4"),
        ("files", 3),  # then each would have read more
        ("size", 0),
        ("event", 0),
        ("event", 65536.0),
        ("share_ppm", 500_000),
        ("kept_ppm", 100_000),
        ("kept_ppm", 0),
        ("results", {}),
        ("version", None),
    ],
)
def test_a_document_that_contradicts_itself_is_refused(key: str, value: object) -> None:
    with pytest.raises(ProbeOutputError):
        parse({**document("slow-client.txt"), key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seconds", 0),
        ("seconds", -2.0),
        ("seconds", None),
        ("seconds", "2"),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("read", 2097151),
        ("written", 65536),
        ("number", 1),
    ],
)
def test_a_client_that_did_other_work_is_refused(key: str, value: object) -> None:
    whole = document("slow-client.txt")
    whole["results"][1][key] = value
    with pytest.raises(ProbeOutputError):
        parse(whole)


def test_clients_that_read_nothing_are_no_measurement() -> None:
    whole = document("slow-client.txt")
    nothing = [{**each, "read": 0} for each in whole["results"]]
    with pytest.raises(ProbeOutputError, match="client 1 with"):
        parse({**whole, "share_ppm": 1000, "results": nothing})


@pytest.mark.parametrize("value", [-1, "7", True, 1e300, 0, None])
def test_what_the_kernel_cannot_have_fetched_is_left_out(value: object) -> None:
    whole = document("half-of-the-events.txt")
    whole["results"][1]["fetched"] = value
    found = parse(whole)
    assert found["skim.fetched"] == [0.5, 0.5]
    assert len(found["skim.read"]) == 3


def test_a_run_that_failed_gives_nothing_whatever_it_printed() -> None:
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        Skim().parse(replace(output("skim/one-client.txt"), exit_status=1))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), noise, noise, st.data())
def test_noise_and_cuts_never_give_another_number(name: str, before: str, after: str, data: st.DataObject) -> None:
    whole = said(Skim().parse(output(f"skim/{name}")))
    full = before + text(f"skim/{name}") + after
    assert read(Skim(), full) == whole
    assert read(Skim(), full[: data.draw(st.integers(0, len(full)))]) in ([], whole)
    place = data.draw(st.integers(0, len(full)))
    assert read(Skim(), f"{full[:place]}\n{data.draw(noise)}\n{full[place:]}") in ([], whole)


# The command and the script.


def target(**options: str | int | float) -> Target:
    return Target(a_node(), options=MappingProxyType({**Skim.options, **options}))


def test_the_files_of_the_report_in_words_of_the_command() -> None:
    asked = target(processes=1, files=10, size="1536 MiB", read="50 %", keep="10 %", scratch="/lustre")
    argv, size = list(Skim().command(asked)), 10 * 1536 * 2**20
    assert argv[4:7] == ["/lustre", str(int(1.05 * size) + 1), "28"]
    assert argv[12:] == ["", "1", "10", str(1536 * 2**20), "65536", "500000", "100000"]
    assert Skim().demands(asked).writes == Skim().space(asked.options) == pytest.approx(1.05 * size)
    assert Skim().estimate(asked.options) == pytest.approx(4 + 2.05 * size / 100e6)


@pytest.mark.parametrize(
    "options",
    [
        {"processes": 0},
        {"processes": 257},
        {"files": 0},
        {"size": "1"},
        {"event": "60 KiB"},  # 256 MiB hold no whole number of them
        {"event": "100 B"},
        {"read": "0 %"},
        {"read": "101 %"},
        {"read": "half"},
        {"read": "0.02 %"},  # of 4096 events
        {"keep": "2"},
    ],
)
async def test_options_out_of_range_are_refused_before_anything_is_sent(options: Options) -> None:
    here = FakeRemote("n1", lenient=True)
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        await Skim().run(FakeContact(here), target(**options))
    assert here.calls == []


@pytest.mark.parametrize(("share", "keep"), [("100 %", "30 %"), ("33.3 %", "100 %"), ("1 %", "1 %")])
async def test_a_real_run_reads_and_keeps_the_events_that_the_parser_expects(
    tmp_path: Path, share: str, keep: str
) -> None:
    contact = FakeContact(LocalRemote("s-1", "n1"))
    asked = target(scratch=str(tmp_path), processes=2, files=2, size="1 MiB", event="4 KiB", read=share, keep=keep)
    (done,) = await Skim().run(contact, asked)
    found = values(Skim().parse(done))
    assert (contact.gathered, left(tmp_path)) == (1, [])
    taken = int(512 * float(share[:-2]) / 100)
    whole = json.loads(done.text.splitlines()[-1])
    for number, each in enumerate(whole["results"]):
        assert each["read"] == taken * 4096
        assert found["skim.read"][number] == pytest.approx(taken * 4096 / each["seconds"])
    assert len(found["skim.spread"]) == 1
