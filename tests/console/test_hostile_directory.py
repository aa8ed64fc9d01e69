"""Commands that are given where somebody else has put modules, a plugin and settings: nothing of it is taken."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchconsole.console.simulator.cluster import SimulatedCluster
from tests.fabrics import SMALL

pytestmark = pytest.mark.fault("I05")

ROOT = Path(__file__).parents[2]
SHADOWS = ("benchconsole", "yaml", "msgspec", "asyncssh", "sitecustomize", "usercustomize", "plugin_planted")
SETTINGS = ("benchconsole.yaml", "benchconsole.toml", ".benchconsole", ".env", "config", "ssh_config", "known_hosts")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A directory in which every module leaves a trace when it is imported, and a plugin is installed."""
    place = tmp_path / "planted"
    place.mkdir()
    trace = f"open({str(tmp_path / 'trace')!r}, 'a').write(__name__)\n"
    for name in SHADOWS:
        (place / f"{name}.py").write_text(trace)
    for name in SETTINGS:
        (place / name).write_text("ProxyCommand touch trace\nprobes: [plugin_planted]\n")
    information = place / "plugin_planted-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: dist-planted\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[benchconsole.probes]\nplanted = plugin_planted\n")
    return place


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """The command as an installation writes it, in a directory of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["benchconsole"].split(":")
    path = tmp_path / "bin" / "benchconsole"
    path.parent.mkdir()
    path.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    return path


def ran(command: Path, place: Path, *arguments: str | Path, path: str = "") -> str:
    """The output of a command that is given in ``place``, with ``path`` after our own sources."""
    done = subprocess.run(
        [sys.executable, command, *arguments], cwd=place, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT / "src"), path)))},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_module_plugin_or_setting_of_the_directory_is_taken(planted: Path, command: Path, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    before = {path.name for path in planted.iterdir()}
    assert "planted" not in ran(command, planted, "plugins")
    assert "leaf1" in ran(command, planted, "check", tmp_path / "small.yaml")
    assert not (tmp_path / "trace").exists()
    assert {path.name for path in planted.iterdir()} == before
    for name in set(SHADOWS) - {"plugin_planted"}:
        (planted / f"{name}.py").unlink()
    assert "dist-planted" in ran(command, planted, "plugins", path=str(planted)), "the plugin would have been found"
    assert (tmp_path / "trace").read_text() == "plugin_planted"


async def test_the_process_of_the_simulated_nodes_takes_nothing_either(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planted)
    async with SimulatedCluster("healthy", tmp_path / "demo") as cluster:
        assert cluster.port
    assert not (tmp_path / "trace").exists()
