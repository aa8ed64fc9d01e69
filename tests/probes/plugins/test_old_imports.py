"""A plugin that imports an old name is told the new one; other errors keep their own words."""

import sys
from pathlib import Path

import pytest

from benchconsole.probes.plugins.old_imports import explain_old_import


def leave_the_repository(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let imports not find the folders of the repository, which have the old names."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if not Path(place, "probes", "api.py").exists()])


def import_error(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """What importing a module with this line raises."""
    leave_the_repository(monkeypatch, folder)
    monkeypatch.syspath_prepend(str(folder))
    (folder / "plugin_of_old_times.py").write_text(f"import sys\n{line}\n")
    sys.modules.pop("plugin_of_old_times", None)
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - whatever it is
        __import__("plugin_of_old_times")
    return raised.value


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "from probes.api import Probe",
            "imports probes.api, which is benchconsole.probes.api since benchconsole is one package",
        ),
        ("import probes.api", "imports probes.api, which is benchconsole.probes.api since"),
        ("from probes import scratch", "imports probes, which is benchconsole.probes since"),
        ("from topology.units import parse", "imports topology.units, which is benchconsole.topology.units since"),
        ("from probes.builtin import iperf3", "imports probes.builtin, which is benchconsole.probes.tools since"),
        (
            "from benchconsole.probes.builtin import fio",
            "imports benchconsole.probes.builtin, which is benchconsole.probes.tools since",
        ),
        (
            "from probes.captured import plain",
            "imports probes.captured, which is no longer there; plugins import benchconsole.probes.api",
        ),
    ],
)
def test_the_new_name_of_an_old_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    assert explain_old_import(import_error(tmp_path, line, monkeypatch)).startswith(words)


def test_a_strangers_package_of_the_old_name_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "__init__.py").write_text("")
    error = import_error(tmp_path, "from probes.api import Probe", monkeypatch)
    sys.modules.pop("probes", None)
    assert "which is benchconsole.probes.api since" in explain_old_import(error)


@pytest.mark.parametrize(
    "line",
    [
        "import nothing_of_this_name",
        "from benchconsole.probes.api import Nothing",
        "import benchconsole.probes.nothing",
        "raise ValueError",
    ],
)
def test_other_errors_have_their_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    assert explain_old_import(import_error(tmp_path, line, monkeypatch)) == ""
