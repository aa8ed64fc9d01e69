"""Nothing of ours is left on real machines, whatever dies first; and what is there of others stays."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab import Lab, wait_for
from tests.lab.observe import Process
from tests.scenarios.commands import Ran, argv, await_while, benchconsole, report
from tests.scenarios.test_laboratory import marked

pytestmark = pytest.mark.lab


@pytest.fixture(autouse=True)
def _no_file_left(lab: Lab) -> Iterator[None]:
    """Remove the file beside the laboratory's own one, as it would keep the directory alive."""
    yield
    lab.topology.with_name("hygiene.yaml").unlink(missing_ok=True)


GRACE = 15
"""Seconds after which no server of ours may listen, whatever has died."""
OURS = range(20_000, 32_000)
OLD = """#!/bin/sh
case "$*" in
    *--idle-timeout*) echo "iperf3: unrecognized option '--idle-timeout'"; echo "Usage: iperf3 [-s|-c host]"; exit 1;;
esac
exec /usr/bin/iperf3-real "$@"
"""


def suite(lab: Lab, *stages: str) -> Path:
    """The laboratory's file with these stages as its suite, beside the SSH files that it names."""
    text = lab.topology.read_text()
    path = lab.topology.with_name("hygiene.yaml")
    lines = "".join(f"    - {stage}\n" for stage in stages)
    path.write_text(f"{text[: text.index('suites:')]}suites:\n  default:\n{lines}")
    return path


def serving(lab: Lab, *nodes: str) -> list[str]:
    """Servers of ours that listen on these nodes."""
    return [
        f"{node}:{each.port}"
        for node in nodes
        if lab.running(node)
        for each in lab.listeners(node)
        if each.port in OURS
    ]


def iperf3(lab: Lab, side: str, *nodes: str) -> list[tuple[str, Process]]:
    """Servers (-s) or clients (-c) of ours that run on these nodes."""
    return [
        (node, process)
        for node in nodes
        for process in lab.processes(node)
        if process.session and process.argv[:2] == ("iperf3", side)
    ]


@contextmanager
def foreign_server(lab: Lab, node: str) -> Iterator[None]:
    """Somebody else's iperf3, where iperf3 listens by itself; it must outlive everything of ours."""
    with subprocess.Popen(
        lab.enter_argv(node, "iperf3", "-s", "-p", "5201"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        wait_for(lambda: any(each.port == 5201 for each in lab.listeners(node)), 10, "the foreign server")
        yield
        assert server.poll() is None, "the foreign iperf3 was ended"
        assert any(each.port == 5201 for each in lab.listeners(node))
        for process in lab.processes(node):
            if process.argv[:4] == ("iperf3", "-s", "-p", "5201"):
                process.identity.signal(signal.SIGKILL)


@contextmanager
def going(*arguments: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The console under way; ended hard if the test has not."""
    with subprocess.Popen(argv(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as console:
        try:
            yield console
        finally:
            console.kill()


@pytest.mark.fault("I19", "X04")
def test_no_server_outlives_its_client_its_console_or_its_node(healthy_lab: Lab, tmp_path: Path) -> None:
    lab, nodes = healthy_lab, ("n1", "n2", "n3", "n4", "n5", "n6")
    path = suite(lab, "{probe: iperf3, design: neighbours, streams: 1, seconds: 60, omit: 0}")
    with (
        foreign_server(lab, "n2"),
        going("run", path, "-w", "n[1-6]", "--db", tmp_path / "s.db", "--quiet") as console,
    ):
        await_while(console, lambda: len(serving(lab, *nodes)) >= 2, 60, "servers of ours")
        await_while(console, lambda: bool(iperf3(lab, "-c", *nodes)), 30, "clients of ours")
        clients = iperf3(lab, "-c", *nodes)
        node, client = clients[0]
        server = next(each for each in nodes if lab.plan.node(each).data == client.argv[2])
        port = f"{server}:{client.argv[client.argv.index('-p') + 1]}"
        assert port in serving(lab, server)
        client.identity.signal(signal.SIGKILL)
        wait_for(lambda: port not in serving(lab, server), GRACE, "the server whose client was killed to end")
        rebooted = next(each for each in nodes if serving(lab, each) and each not in (node, server, "n2"))
        lab.reboot(rebooted)
        assert serving(lab, rebooted) == []
        console.send_signal(signal.SIGKILL)
        console.wait()
        wait_for(lambda: serving(lab, *nodes) == [] and not marked(lab), GRACE, "everything of ours to end")


@pytest.mark.fault("F15", "F17")
def test_an_old_server_a_reset_and_a_refused_directory_are_each_told_as_what_they_are(
    healthy_lab: Lab, tmp_path: Path
) -> None:
    lab = healthy_lab
    for node in ("n1", "n2"):
        shutil.copy("/usr/bin/iperf3", lab.root(node) / "usr/bin/iperf3-real")
        lab.replace_tool(node, "iperf3", OLD)
    (lab.root("st1") / "open").mkdir()
    (lab.root("st1") / "open").chmod(0o777)
    db = tmp_path / "s.db"
    path = suite(
        lab,
        "{probe: iperf3, nodes: 'n[1-4]', design: neighbours, streams: 1, seconds: 2, omit: 0}",
        "{probe: fio, nodes: st1, scratch: /open, size: 1 MiB, seconds: 1}",
        "{probe: fio, nodes: st2, scratch: /scratch, size: 1 GiB, seconds: 1}",
    )
    with going("run", path, "--db", db, "--quiet") as console:
        await_while(console, lambda: bool(iperf3(lab, "-s", "n3", "n4")), 60, "a server of ours on n3 or n4")
        await_while(console, lambda: bool(iperf3(lab, "-c", "n3", "n4")), 30, "its client")
        for _, server in iperf3(lab, "-s", "n3", "n4"):
            server.identity.signal(signal.SIGKILL)
        assert console.wait(120) == 3
    found = report(db)
    failures = {each["target"]: (each["stage"], each["detail"]) for each in found["failures"]}
    assert failures.pop("st1")[0] == "refused as unsafe"
    stage, detail = failures.pop("st2")
    assert stage == "refused as unsafe"
    assert "1.07 GB are to be written" in detail
    assert failures, "a server that is killed gives no number"
    assert all("n3" in pair or "n4" in pair for pair in failures)
    assert {stage for stage, _ in failures.values()} <= {"tool failed", "output not understood"}
    assert "n1>n2" in {each["target"] for each in found["measurements"]}  # old servers do without their idle limit
    assert found["coverage"]["skipped"] == 2
    assert found["proofs"]
    assert all(each["clean"] for each in found["proofs"]), found["proofs"]


@pytest.mark.fault("I18")
def test_what_a_killed_run_left_is_proven_shown_and_removed_and_nothing_else(healthy_lab: Lab, tmp_path: Path) -> None:
    """The power goes while a file is written; the console is killed before it can look again."""
    lab, db = healthy_lab, tmp_path / "s.db"
    path = suite(lab, "{probe: fio, nodes: st1, scratch: /scratch, size: 4 MiB, seconds: 30}")
    scratch = lab.root("st1") / "scratch"
    foreign = scratch / "benchconsole.foreign.abcdef"
    foreign.mkdir()
    (foreign / "results").write_text("of a year's work")
    with going("run", path, "--db", db, "--quiet") as console:
        await_while(
            console, lambda: _is_writing(lab) and len(_ours(lab)) == 1, 60, "a directory of ours that is in use"
        )
        # Told to end, its shell would tidy up, and so would the console: first nobody moves, then all are gone.
        # The youngest goes first: when the oldest of a command is gone, the watchdog wakes and ends the others.
        console.send_signal(signal.SIGSTOP)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in reversed(lab.processes("st1")):
                if process.session:
                    process.identity.signal(number)
        console.send_signal(signal.SIGKILL)
        console.wait()
    wait_for(lambda: not marked(lab), GRACE, "the watchdog to end what is left")
    left = _ours(lab)
    assert len(left) == 1, "the directory is gone although its shell was killed"
    done = clean(path, db)
    assert done.code == 3, done.out + done.err
    assert f"directory /scratch/{left[0].name}" in done.out
    assert "benchconsole.foreign.abcdef" not in done.out
    done = clean(path, db, "--yes")
    assert (done.code, _ours(lab)) == (0, []), done.out + done.err
    assert (foreign / "results").read_text() == "of a year's work"
    assert "nothing of ours is left" in clean(path, db).out


def _is_writing(lab: Lab) -> bool:
    """A shell that has only made its directory may be about to remove it again."""
    return any(process.session and process.argv[0].endswith("fio") for process in lab.processes("st1") if process.argv)


def _ours(lab: Lab) -> list[Path]:
    return [
        path for path in (lab.root("st1") / "scratch").glob("benchconsole.*") if path.name.split(".")[1] != "foreign"
    ]


def clean(path: Path, db: Path, *more: str) -> Ran:
    return benchconsole("clean", path, "-w", "st1", "--db", db, "--session", "last", *more)


def test_the_doctor_names_what_stands_in_the_way(healthy_lab: Lab, tmp_path: Path) -> None:
    lab = healthy_lab
    path = suite(lab, "{probe: iperf3, nodes: 'n[1-8]'}", "{probe: fio, nodes: '@storage', scratch: /scratch}")
    whole = json.loads(doctor(path, tmp_path, "--json").out)
    assert whole["usable"] == whole["asked"]
    lab.remove_tool("n2", "iperf3")
    lab.remove_tool("n7", "iperf3")
    lab.change_host_key("n5")
    found = doctor(path, tmp_path)
    assert found.code == 3, found.out + found.err
    said = " ".join(found.out.split())
    assert "iperf3 is not installed (Debian package iperf3) n[2,7] (2)" in said
    assert "HOST KEY CHANGED n5" in said
    assert "7 of 10 nodes can be used" in said
    assert max(map(len, found.out.splitlines())) <= 80


def doctor(path: Path, tmp_path: Path, *more: str) -> Ran:
    return benchconsole("doctor", path, "--db", tmp_path / "s.db", *more, COLUMNS="80")
