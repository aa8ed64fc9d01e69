"""The distribution: one package at the top, beside strangers of the names that its subpackages have."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUBPACKAGES = ("topology", "probes", "store", "console")
DATA = (
    "benchconsole/py.typed",
    "benchconsole/console/reports/templates/report.html",
    "benchconsole/console/simulator/fabric.yaml",
    "benchconsole/console/web/page/index.html",
    "benchconsole/console/simulator/templates/lscpu.txt",
    "benchconsole/topology/examples/jetstream.yaml",
    "benchconsole/topology/topology.schema.json",
)

USE_BOTH = """
import importlib
from importlib.metadata import version
for name in ("topology", "probes", "store", "console"):
    stranger = importlib.import_module(name)
    ours = importlib.import_module("benchconsole." + name)
    assert stranger.OWNER == "a stranger", stranger
    assert ours is not stranger and ours.__name__ == "benchconsole." + name
from benchconsole.console.cli import COMMANDS
for name in COMMANDS:
    importlib.import_module("benchconsole.console.cli." + name.replace("-", "_"))
"""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the sdist of a copy of this checkout, and the wheel that is built from that sdist."""
    source = tmp_path_factory.mktemp("checkout") / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("src", *SUBPACKAGES):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    target = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(source)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    return next(archives.glob("*.whl"))


def test_one_package_is_at_the_top_and_every_module_is_in_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"benchconsole"}
    modules = {str(path.relative_to(ROOT)) for each in SUBPACKAGES for path in (ROOT / each).rglob("*.py")}
    assert {name.removeprefix("benchconsole/") for name in names if name.endswith(".py")} == modules | {"__init__.py"}


def test_what_is_no_module_is_in_it_too(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert set(DATA) <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_lives_beside_distributions_called_as_its_subpackages(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in SUBPACKAGES:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text('OWNER = "a stranger"\n')
    done = subprocess.run(
        [sys.executable, "-P", "-c", USE_BOTH],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
