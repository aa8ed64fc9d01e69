"""The password of sudo from the keys to a real sshd: asked for once, on the stdin of sudo, and nowhere else."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.node_access import PasswordPrompt
from benchconsole.console.session.session import Session
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.screens.password import PasswordSheet
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.probes.api import Contact, Metric, Output, Probe, Reading, Target, Unit
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Reach
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.console.tui.looking import lines
from tests.probes.reach.ssh.conftest import USER, Bench, bench, keys, own_mounts, tables  # noqa: F401 - fixtures
from tests.probes.reach.ssh.test_sudo import CANARY, Node

pytestmark = own_mounts


class Root(Probe):
    """Says who it is, twice."""

    name = "root"
    summary = "who runs it"
    metrics = (Metric("root.uid", Unit.ONE, "the user it runs as"),)
    privileged = True

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        return [await contact.here.run(["id", "-u"], timeout=20, privileged=True) for _ in range(2)]

    def parse(self, output: Output) -> Sequence[Reading]:
        return (Reading("root.uid", float(output.text), Unit.ONE, raw=output.text),)


def described(played: Node) -> Fabric:
    text = f"schema: 1\nfabric: one\nnodes: {{n1: {{address: {played.server.address}}}}}\n"
    return load_text(text + "suites: {default: [{probe: root}]}\n", "one.yaml")


async def until(pilot: Pilot[int], app: ConsoleApp, reached: Callable[[], bool]) -> None:
    """Wait for it, and look at every frame on the way."""
    async with asyncio.timeout(60):
        while not reached():
            assert CANARY[:6] not in "\n".join(lines(app))
            await pilot.pause(0.01)


def holding(folder: Path, secret: str) -> list[str]:
    """The files below ``folder`` that have the secret in them."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@pytest.mark.fault("I08")
@pytest.mark.parametrize("is_given", [True, False])
async def test_the_password_reaches_sudo_alone(
    bench: Bench,  # noqa: F811 - a fixture
    tables: Path,  # noqa: F811 - a fixture
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    is_given: bool,
) -> None:
    caplog.set_level(logging.DEBUG)
    played = Node(bench, tables)
    played.mood("password")
    access, passwords, store = (
        replace(bench.access(played.server), user=USER),
        PasswordPrompt(),
        Store.open(tmp_path / "db"),
    )

    def reach(_fabric: Fabric, name: str) -> Reach:
        return SshReach(access, name, ask_secret=passwords.ask)

    session = Session(described(played), {"root": Root()}, store, make_reach=reach)
    conductor = SessionController(session, LoopThread(), passwords=passwords, closing=store.close)
    app = ConsoleApp(lambda: conductor, Terminal(), analyse=lambda _: ())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, lambda: app.session.latest.view is not None)
        await pilot.press("R")
        sheet = app.screen
        assert isinstance(sheet, PlanSheet)
        await until(pilot, app, lambda: sheet.proposal is not None)
        await pilot.press("enter")
        await until(pilot, app, lambda: isinstance(app.screen, PasswordSheet))
        await until(pilot, app, lambda: f"password of {USER}" in "\n".join(lines(app)))
        for character in CANARY if is_given else "":
            await pilot.press(character)
        await pilot.press("enter" if is_given else "escape")
        await until(pilot, app, lambda: session.complete)
        await conductor.finished()
        (result,) = session.view().results.values()
        await conductor.close()
    if is_given:
        assert [found.value for found in result.measurements] == [0.0, 0.0]
        assert [line.split()[1] for line in played.asked] == ["-n", "-S", "-S"]
    else:
        assert result.failure is not None
        assert result.failure.stage is FailedAt.NO_PASSWORD
    assert all(CANARY not in line for line in (*played.asked, caplog.text))
    assert holding(tmp_path, CANARY) == []
