"""One sample of a node: what is read of it, what is refused, and the script run for real."""

import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.availability.probe import Availability
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, Said, noise, output, read, said, text

NAMES = sorted(path.name for path in (ROOT / "availability").glob("*.txt"))
RECORDS = ["record-failed.json", "record-passed.json"]
BOOT = "3f1a9c52-7d40-4b6e-9a21-5c0d8e7f1b34"


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Availability(), [output(f"availability/{name}") for name in (*NAMES, *RECORDS)])


def service(name: str, value: float) -> Said:
    return ("availability.service", value, (("service", name),))


@pytest.mark.parametrize(
    ("name", "boot", "uptime", "services"),
    [
        ("bare.txt", BOOT, 27518.01, []),
        ("answered.txt", BOOT, 27518.02, [service("port", 1.0), service("path", 1.0)]),
        ("silent.txt", BOOT, 27518.06, [service("port", 0.0), service("path", 0.0)]),
        ("unit.txt", BOOT, 1209612.07, [service("port", 1.0), service("unit", 1.0), service("path", 0.0)]),
        ("unit-failed-banner.txt", "00000000-1111-2222-3333-444444444444", 61.5, [service("unit", 0.0)]),
        ("crlf.txt", BOOT, 86400.0, []),
    ],
)
def test_every_transcript(name: str, boot: str, uptime: float, services: list[Said]) -> None:
    found = said(Availability().parse(output(f"availability/{name}")))
    assert found == [("availability.up", 1.0, ()), ("boot.id", boot, ()), ("boot.uptime", uptime, ()), *services]


def test_how_long_the_answer_took_is_what_the_engine_counted() -> None:
    timed = replace(output("availability/bare.txt"), seconds=0.125)
    assert ("availability.answer", 0.125, ()) in said(Availability().parse(timed))


@pytest.mark.parametrize(
    ("state", "up"),
    [("active", 1.0), ("reloading", 1.0), ("inactive", 0.0), ("activating", 0.0), ("deactivating", 0.0)],
)
def test_what_systemd_says_of_a_unit(state: str, up: float) -> None:
    spoken = text("availability/unit.txt").replace("unit=active", f"unit={state}")
    assert service("unit", up) in read(Availability(), spoken)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (f"boot_id={BOOT}\n", ""),
        (BOOT, BOOT[:-1]),
        (BOOT, BOOT.upper()),
        ("uptime=1209612.07\n", ""),
        ("uptime=1209612.07", "uptime=nan"),
        ("uptime=1209612.07", "uptime=-1.00"),
        ("uptime=1209612.07", "uptime=1209612"),
        ("uptime=1209612.07", "uptime=1209\n612.07"),
        ("unit=active", "unit=unknown"),
        ("unit=active", "unit=activ"),
        ("port=answered", "port=unknown"),
        ("port=answered", "port=answered\nport=silent"),
        ("benchconsole-availability end\n", ""),
        ("benchconsole-availability end\n", "benchconsole-availability end"),
        ("benchconsole-availability 1\n", "benchconsole-availability 2\n"),
        ("unit=active", "benchconsole-availability 1\nunit=active"),
    ],
)
def test_what_is_spoilt_is_refused(was: str, becomes: str) -> None:
    spoken = text("availability/unit.txt")
    assert was in spoken
    with pytest.raises(ProbeOutputError):
        Availability().parse(Output((), spoken.replace(was, becomes).encode()))


def test_a_shell_that_failed_gives_nothing() -> None:
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        Availability().parse(replace(output("availability/bare.txt"), exit_status=1))


@given(st.sampled_from(NAMES), noise, noise, st.data())
@settings(max_examples=60, deadline=None)
def test_noise_and_cuts_give_the_same_or_fewer(name: str, before: str, after: str, data: st.DataObject) -> None:
    lines = text(f"availability/{name}").splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines)))
    spoken = before + "".join(lines[:at]) + after + "".join(lines[at:]) + before
    cut = data.draw(st.integers(0, len(spoken)))
    whole = read(Availability(), text(f"availability/{name}"))
    assert read(Availability(), spoken) == whole
    assert read(Availability(), spoken[:cut]) in (whole, [])


@pytest.mark.parametrize(
    "options",
    [
        {"port": -1},
        {"port": 65_536},
        {"port": 1.5},
        {"unit": "nginx; reboot"},
        {"unit": "-H root@other"},
        {"unit": "a/b"},
        {"path": "relative"},
        {"path": "/a\nb"},
        {"patience": 0},
        {"patience": 61},
    ],
)
async def test_options_that_cannot_be_meant_are_refused_before_anything_is_sent(options: dict[str, str | int]) -> None:
    here = FakeRemote("n1")
    with pytest.raises(PlanError):
        await Availability().run(FakeContact(here), Target(a_node(), None, options))
    assert here.calls == []


def asked(**options: str | int) -> list[str]:
    return list(Availability().command(Target(a_node("n1", "192.0.2.1", "127.0.0.1"), None, options)))


def ran(argv: list[str], **environment: str) -> Output:
    done = subprocess.run(argv, capture_output=True, timeout=60, env={**os.environ, **environment}, check=False)
    return Output(tuple(argv), done.stdout, done.stderr, done.returncode)


@pytest.fixture
def listener() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def test_the_script_sees_a_port_that_listens_and_one_that_does_not(listener: int, tmp_path: Path) -> None:
    found = said(Availability().parse(ran(asked(port=listener, path=str(tmp_path)))))
    assert found[3:] == [service("port", 1.0), service("path", 1.0)]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert found[1] == ("boot.id", boot, ())
    found = said(Availability().parse(ran(asked(port=1, path=str(tmp_path / "absent")))))
    assert found[3:] == [service("port", 0.0), service("path", 0.0)]


def _script(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(stat.S_IRWXU)


def test_what_hangs_beyond_every_signal_is_silent_and_holds_nothing_up(tmp_path: Path) -> None:
    """As a file system does whose server is gone: here ``timeout`` itself does not come back."""
    _script(tmp_path, "timeout", "exec sleep 30")
    output = ran(asked(path="/", patience=1), PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert said(Availability().parse(output))[3:] == [service("path", 0.0)]


def test_a_unit_is_what_systemctl_says_of_it_and_without_systemctl_nothing(tmp_path: Path) -> None:
    path = f"{tmp_path}:{os.environ['PATH']}"
    _script(tmp_path, "systemctl", '[ "$*" = "is-active -- nginx.service" ] && echo active')
    assert said(Availability().parse(ran(asked(unit="nginx.service"), PATH=path)))[3:] == [service("unit", 1.0)]
    _script(tmp_path, "systemctl", "echo failed; exit 3")
    assert said(Availability().parse(ran(asked(unit="nginx.service"), PATH=path)))[3:] == [service("unit", 0.0)]
    _script(tmp_path, "systemctl", "exit 127")
    with pytest.raises(ProbeOutputError, match="unit=unknown"):
        Availability().parse(ran(asked(unit="nginx.service"), PATH=path))


@pytest.mark.parametrize(
    ("name", "share", "marks"),
    [
        ("record-passed.json", 0.9821428571428571, {"case": "worst", "nodes": "2", "seconds": "1209600"}),
        (
            "record-failed.json",
            0.8796296296296297,
            {"case": "best", "excluded": "1", "nodes": "2", "seconds": "1166400"},
        ),
    ],
)
def test_the_record_of_a_watch_is_the_bound_that_decided_it(name: str, share: float, marks: dict[str, str]) -> None:
    assert read(Availability(), text(f"availability/{name}")) == [
        ("availability.share", share, tuple(sorted(marks.items())))
    ]


@pytest.mark.parametrize(
    ("name", "printed", "spoiled", "said"),
    [
        ("record-not-known.json", "", "", "not known"),
        ("record-passed.json", '"worst": 0.98', '"worst": 0.998', "bounds that the seconds allow"),
        ("record-passed.json", '"best": 1.0', '"best": 0.97', "bounds that the seconds allow"),
        ("record-passed.json", '"worst": 0.98', '"worst": 98', "a share from 0 to 1"),
        ("record-passed.json", '"not_sampled": 0.0', '"not_sampled": null', "seconds of each"),
        ("record-passed.json", '"system": {', '"sistem": {', "0 whole records"),
    ],
)
def test_a_record_that_cannot_be_right_or_cannot_tell_gives_no_number(
    name: str, printed: str, spoiled: str, said: str
) -> None:
    with pytest.raises(ProbeOutputError, match=said):
        Availability().parse(Output((), text(f"availability/{name}").replace(printed, spoiled, 1).encode()))
