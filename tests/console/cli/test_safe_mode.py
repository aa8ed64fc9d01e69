"""``--safe-mode`` loads no probe of another distribution, whichever thread opens the session."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
import pytest

from benchconsole.console.cli import command, common
from benchconsole.console.cli.open import make_archive
from benchconsole.probes.plugins import registry
from benchconsole.probes.plugins.registry import ProbeCatalogue
from benchconsole.store.errors import StoreError


def _call_in_thread(call: Callable[[], object]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("how", ["here", "thread", "archive"])
def test_the_option_holds_in_every_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, given: bool
) -> None:
    asked: list[bool] = []

    def load(*, safe_mode: bool) -> ProbeCatalogue:
        asked.append(safe_mode)
        return ProbeCatalogue({}, (), {})

    monkeypatch.setattr(registry, "load_probes", load)
    with click.Context(command) as root:
        root.params["safe_mode"] = given
        with click.Context(command, parent=root):
            if how == "here":
                common.read_catalogue()
            elif how == "thread":
                _call_in_thread(common.carry_options(common.read_catalogue))
            else:
                _call_in_thread(make_archive(tmp_path / "s.db").load_probes)
    assert asked == [given]


def test_the_console_opens_a_file_with_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def load(*, safe_mode: bool) -> ProbeCatalogue:
        asked.append(safe_mode)
        raise StoreError("what follows is of no concern here", "")

    def run(make: Callable[[], object], **_: object) -> int:
        def open_file() -> None:
            with suppress(StoreError):
                make()

        _call_in_thread(open_file)
        return 0

    monkeypatch.setattr(registry, "load_probes", load)
    monkeypatch.setattr("benchconsole.console.tui.app.console_app.run", run)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    path = tmp_path / "some.yaml"
    path.write_text("schema: 1\nfabric: some\nnodes: {n1: {}}\ncriteria: [{metric: stream.copy, at_least: 1 GB/s}]\n")
    command.main(["--safe-mode", "open", str(path), "--db", str(tmp_path / "none.db")], standalone_mode=False)
    assert asked == [True]
