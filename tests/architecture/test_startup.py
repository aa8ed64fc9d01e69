"""Start-up: what the cheap commands and the first frame import, seen from a fresh interpreter."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchconsole.store.model import NewSession
from benchconsole.store.store import Store
from tests.scenarios.test_judging_trials import WEAK, Site, stream

SMALL = """\
schema: 1
fabric: small
switches: {leaf1: {}}
nodes: {"n[1-4]": {}}
links: [{from: "n[1-4]", to: leaf1, speed: 10G}]
criteria: [{metric: iperf3.throughput, at_least: 9 Gb/s}]
suites: {default: [{probe: iperf3, design: neighbours}]}
"""

HEAVY = {"textual", "asyncssh", "pydantic", "numpy", "scipy", "aiohttp", "textual_serve"}

PROBE = """
import json, sys
sys.argv = ["benchconsole", *json.loads(sys.argv[1])]
from benchconsole.console.entry import main
try:
    main()
except SystemExit:
    pass
print("LOADED " + json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
print("COUNT " + str(len(sys.modules)), file=sys.stderr)
"""


def loaded(arguments: list[str], home: Path, **environment: str) -> tuple[set[str], int]:
    """Top-level packages and the number of modules in memory after a command."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), **environment},
        check=True,
    )
    lines = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in done.stderr.splitlines() if " " in line}
    return set(json.loads(lines["LOADED"])), int(lines["COUNT"])


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["sessions"]])
def test_cheap_commands_import_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    packages, count = loaded(arguments, tmp_path)
    assert packages.isdisjoint(HEAVY), packages & HEAVY
    assert count < 260, f"{count} modules"


def test_the_list_of_sessions_knows_nothing_of_probes_nor_of_topologies() -> None:
    code = """
import sys
import benchconsole.console.session.listed_verdict, benchconsole.store.reading.session_list
bad = [name for name in sys.modules if name.startswith(("benchconsole.probes", "benchconsole.topology"))]
sys.exit(f"loaded {sorted(bad)}" if bad else 0)
"""
    assert run_fresh(code) == (0, "")


def test_completion_imports_nothing_heavy(tmp_path: Path) -> None:
    packages, count = loaded(
        [], tmp_path, _BENCHCONSOLE_COMPLETE="bash_complete", COMP_WORDS="benchconsole se", COMP_CWORD="1"
    )
    assert packages.isdisjoint(HEAVY), packages & HEAVY
    assert count < 200, f"{count} modules"


LATER = """
import sys
slow = {"asyncssh", "numpy", "scipy", "benchconsole.console.session.session",
        "benchconsole.console.session.controller", "benchconsole.console.session.judged_rounds",
        "benchconsole.probes.planning.plan_rounds", "benchconsole.probes.plugins.registry"}
def check():
    bad = slow & set(sys.modules)
    sys.exit(f"loaded {sorted(bad)}" if bad else 0)
"""
"""A check of slow modules: neither the first frame waits for them, nor the fabric on it."""

OPENS = """
from pathlib import Path
from benchconsole.console.cli.open import _open
class Told:
    def preview(self, event, read, of):
        assert set(event.fabric.nodes) == {"n1", "n2", "n3", "n4"}, event.fabric.nodes
        check()
"""
OPEN = (
    "_open(NAME, PATH, Path(DATABASE), '', (), Told(), start=False, clock=None)\nsys.exit('the fabric was not told')\n"
)


def run_fresh(code: str, **values: object) -> tuple[int, str]:
    """The exit code of a fresh interpreter that runs ``code`` with these names, and what it complained of."""
    named = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    done = subprocess.run([sys.executable, "-c", named + code], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def test_the_first_frame_is_painted_before_anything_slow_is_imported() -> None:
    """The application knows nothing of SSH, sessions, the store or arrays of numbers until it asks for its conductor;
    pages that nobody has opened, rare sheets and reports are not there either.
    """
    more = """
slow |= {"apsw", "sqlite3", "yaml", "pydantic", "pluggy", "ClusterShell", "benchconsole.console.reports"}
pages = ("area", "criterion", "disk", "findings", "node", "nodes", "password", "plan", "plot", "run")
slow |= {f"benchconsole.console.tui.screens.{name}" for name in pages}
slow.add("importlib.metadata")
import benchconsole.console.tui.app.console_app
assert benchconsole.console.tui.textual_patches.apply()
check()
"""
    assert run_fresh(LATER + more) == (0, "")


def test_the_fabric_of_a_file_is_shown_before_anything_slow_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    more = f"slow.add('apsw')\nPATH = Path({str(path)!r})\n"
    assert run_fresh(LATER + OPENS + more + OPEN, NAME=path.name, DATABASE=str(tmp_path / "none.db")) == (0, "")


def test_the_fabric_of_a_stored_session_is_shown_before_anything_slow_is_imported(tmp_path: Path) -> None:
    database = tmp_path / "small.db"
    with Store.open(database) as store:
        asyncio.run(store.create_session(NewSession(SMALL, "small.yaml", "small", "default", 1.7e9), ()))
    assert run_fresh(LATER + OPENS + OPEN, NAME="last", PATH=None, DATABASE=str(database)) == (0, "")


LOOKED_AT = """
from pathlib import Path
import sys
from benchconsole.console.cli.open import _open
from benchconsole.console.view.reducer import LatestView, advance_all
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import decide
control = _open("last", None, Path(DATABASE), "", (), LatestView(), start=False, clock=None)
session = control._session
view = advance_all(RunView(session.fabric), session.replay)
assert decide(view).outcome.value == "fail", decide(view)
assert view.nodes["n1"].verdicts
slow = {"numpy", "benchconsole.probes.judging.judge", "benchconsole.probes.judging.findings",
        "benchconsole.probes.planning.plan_rounds", "benchconsole.probes.running.runner",
        "benchconsole.topology.capacity.expect", "benchconsole.topology.routing.routes"}
if FORM:
    from benchconsole.console.session.criterion_editor import make_form
    assert make_form(session, None).criterion is None
slow |= MORE
bad = slow & set(sys.modules)
sys.exit(f"loaded {sorted(bad)}" if bad else 0)
"""
READS_A_TEXT = {"pydantic", "yaml", "benchconsole.topology.description.resolve"}
PROBES = {"benchconsole.probes.tools", "benchconsole.probes.tools.iperf3.probe"}


def test_a_judged_session_is_looked_at_without_judging_planning_and_running(tmp_path: Path) -> None:
    """Nor are its probes loaded; its text is read when it is opened first. So is the form of a criterion."""
    site = Site(tmp_path, [WEAK.replace("40 GB/s", "60 GB/s")])
    site.ingest("stream", stream(50.0), "--node", "n1")
    site.call("judge", "last")
    (tmp_path / "cache/benchconsole/fabrics").rename(tmp_path / "kept")
    database = str(tmp_path / "s.db")
    named = {"DATABASE": database, "MORE": PROBES | READS_A_TEXT, "FORM": False}
    code, complaint = run_fresh(LOOKED_AT, **named)
    assert code == 1
    assert "'pydantic'" in complaint
    assert "probes.tools" not in complaint
    assert run_fresh(LOOKED_AT, **named) == (0, "")
    assert run_fresh(LOOKED_AT, **{**named, "MORE": {"pydantic"}, "FORM": True}) == (0, "")
