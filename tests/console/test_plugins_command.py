"""Who brought which probes, and which plugins could not be used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command as commands
from benchconsole.console.cli.plugins import command
from benchconsole.probes.plugins import registry
from benchconsole.probes.plugins.registry import BrokenPlugin
from benchconsole.topology.copying import replace

OWN = registry.load_probes(safe_mode=True)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that raised as it was imported, with an escape sequence in its words."""
    found = replace(OWN, broken=(BrokenPlugin("clock", "acme-clock 1.0", "ImportError: no \x1b[31mchrony"),))
    monkeypatch.setattr(registry, "load_probes", lambda **_: found)


@pytest.mark.parametrize("name", ["plugins", "probes"])
@pytest.mark.parametrize("safe", [True, False])
def test_safe_mode_asks_for_no_plugin(monkeypatch: pytest.MonkeyPatch, name: str, safe: bool) -> None:
    asked: list[bool] = []

    def load(*, safe_mode: bool) -> registry.ProbeCatalogue:
        asked.append(safe_mode)
        return OWN

    monkeypatch.setattr(registry, "load_probes", load)
    result = CliRunner().invoke(commands, [*["--safe-mode"] * safe, name])
    assert (result.exit_code, asked) == (0, [safe])


def test_ours_are_listed_with_all_their_probes() -> None:
    said = CliRunner().invoke(command).stdout.splitlines()
    assert said[0] == "benchconsole: " + ", ".join(OWN.probes)


@pytest.mark.usefixtures("broken")
def test_what_could_not_be_used_says_why_and_is_harmless_to_print() -> None:
    said = CliRunner().invoke(command).stdout
    assert "not usable: clock from acme-clock 1.0: ImportError: no" in said
    assert "\x1b" not in said
    assert "in use" not in said


@pytest.mark.usefixtures("broken")
def test_as_json() -> None:
    found = json.loads(CliRunner().invoke(command, ["--json"]).stdout)
    assert [each["from"] for each in found["plugins"]] == ["benchconsole"]
    assert [each["name"] for each in found["broken"]] == ["clock"]


_STUCK = """
import threading
threading.Thread(target=threading.Event().wait, daemon=False, name="stuck \x1b[31m").start()
print("{}")
"""


@pytest.mark.fault("F39")
def test_a_thread_that_a_plugin_leaves_and_its_prints_spoil_neither_the_output_nor_the_end(tmp_path: Path) -> None:
    (tmp_path / "stuck_plugin.py").write_text(_STUCK)
    info = tmp_path / "stuck-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stuck\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[benchconsole.probes]\nstuck = stuck_plugin\n")
    argv = [sys.executable, "-m", "benchconsole.console.cli", "plugins", "--json"]
    places = os.pathsep.join((str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])))
    environment = os.environ | {"PYTHONPATH": places}
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["printed"] == [{"name": "stuck", "from": "stuck", "text": "{}"}]
    assert "ended without waiting for threads that go on: stuck" in done.stderr
    assert "\x1b" not in done.stderr
