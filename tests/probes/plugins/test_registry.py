import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchconsole.probes.plugins import registry
from benchconsole.probes.plugins.registry import explain_old_import

GOOD = """
from benchconsole.probes.api import Metric, Probe, Unit, hook

class Good(Probe):
    name = "{name}"
    summary = "does nothing"
    metrics = (Metric("{name}.rate", Unit.BYTE_RATE, "nothing"),)
    def command(self, target):
        return ["true"]
    def parse(self, output):
        return ()
"""
HOOK = """
@hook
def bench_probes():
    return [{probes}]
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution with one plugin module on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def put(name: str, source: str, *, entry: str | None = None) -> None:
        module = f"plugin_{name.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: dist-{name}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text(f"[benchconsole.probes]\n{name} = {entry or module}\n")

    yield put
    for name in set(sys.modules) - before:
        if name.startswith("plugin_"):
            del sys.modules[name]


def good(name: str, probes: str = "Good()") -> str:
    return GOOD.format(name=name) + HOOK.format(probes=probes)


def reasons(catalogue: registry.ProbeCatalogue) -> dict[str, str]:
    return {one.name: one.reason for one in catalogue.broken}


def test_the_builtins_come_through_the_hook() -> None:
    found = registry.load_probes(safe_mode=True)
    assert set(found.probes) >= {"inventory", "iperf3", "fio"}
    assert found.broken == ()
    assert set(found.origin.values()) == {"benchconsole"}


def test_a_plugin_is_found_with_its_distribution(install: Install) -> None:
    install("alpha", good("alpha"))
    found = registry.load_probes()
    assert found.probes["alpha"].summary == "does nothing"
    assert found.origin["alpha"] == "dist-alpha"


@pytest.mark.fault("I22")
def test_safe_mode_loads_no_plugin(install: Install) -> None:
    install("alpha", "raise SystemExit('must not be imported')")
    found = registry.load_probes(safe_mode=True)
    assert found.broken == ()
    assert "alpha" not in found.probes


@pytest.mark.fault("F39", "I22")
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('no library')", "import: RuntimeError: no library"),
        ("import sys; sys.exit(3)", "import: SystemExit: 3"),
        ("import nothing_of_this_name", "import: ModuleNotFoundError"),
        (
            "from benchconsole.probes.builtin import fio",
            "import: imports benchconsole.probes.builtin, which is benchconsole.probes.tools since",
        ),
        ("def f(): return f()\nf()", "import: RecursionError"),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            "import: E: an error that cannot be printed",
        ),
        ("x = 1", "registration: no function marked as the hook bench_probes"),
        (
            "from benchconsole.probes.api import hook\n@hook\ndef bench_things(): pass",
            "registration: PluginValidationError: unknown hook",
        ),
        (
            "from benchconsole.probes.api import hook\n@hook\ndef bench_probes(nothing): pass",
            "registration: PluginValidationError",
        ),
        (
            "from benchconsole.probes.api import hook\n@hook\ndef bench_probes(): raise OSError('gone')",
            "registration: OSError: gone",
        ),
        (
            "from benchconsole.probes.api import hook\n@hook\ndef bench_probes(): raise SystemExit",
            "registration: SystemExit",
        ),
        ("from benchconsole.probes.api import hook\n@hook\ndef bench_probes(): return 17", "registration: TypeError"),
        (
            "from benchconsole.probes.api import hook\n@hook\ndef bench_probes(): return [17]",
            "probe int: found int, expected an instance of Probe",
        ),
        (good("bad", "Good"), "probe Good: found a class, expected an instance of Probe"),
        (good("Not A Slug"), "name: found 'Not A Slug', expected a slug"),
        (good("iperf3"), "name iperf3 is taken by benchconsole"),
        (good("bad").replace('name = "bad"', ""), "name: found None, expected a slug"),
        (good("bad").replace("bad.rate", "rate"), "metrics: found 'rate', expected a name such as bad.rate"),
        (good("bad").replace("Unit.BYTE_RATE", '"MB/s"'), "expected a Metric with a Unit"),
        (good("bad").replace('summary = "does nothing"', "timeout = 0"), "timeout: found 0"),
        (good("bad").replace('summary = "does nothing"', 'summary = ""'), "summary"),
        (good("bad").replace('summary = "does nothing"', 'summary = "x"; options = {"a": None}'), "options"),
        (good("bad").replace('summary = "does nothing"', 'summary = "x"; tools = {"a": 1}'), "tools"),
        (good("bad").replace('summary = "does nothing"', 'summary = "x"; safety = "reads"'), "safety: found 'reads'"),
        (good("bad").replace('summary = "does nothing"', 'summary = "x"; shape = 2'), "shape: found 2"),
        (good("bad").replace("def command", "def other"), "neither command() nor run()"),
        (good("bad").replace("def parse", "def other"), "registration: TypeError"),
    ],
)
def test_a_broken_plugin_is_named_and_costs_only_itself(install: Install, source: str, reason: str) -> None:
    install("broken", source)
    install("zebra", good("zebra"))
    found = registry.load_probes()
    assert "zebra" in found.probes
    assert set(found.probes) >= {"inventory", "iperf3", "fio"}
    (broken,) = found.broken
    assert (broken.name, broken.distribution) == ("broken", "dist-broken")
    assert reason in broken.reason
    assert "\n" not in broken.reason


def test_an_entry_that_does_not_exist_is_named(install: Install) -> None:
    install("broken", "x = 1", entry="plugin_broken:missing")
    assert "AttributeError" in reasons(registry.load_probes())["broken"]


@pytest.mark.fault("F39", "I22")
def test_a_bad_probe_costs_not_its_neighbours(install: Install) -> None:
    install("mixed", good("mixed", "17, Good()"))
    found = registry.load_probes()
    assert "mixed" in found.probes
    assert "probe int" in reasons(found)["mixed"]


def test_of_two_plugins_with_one_name_the_first_is_kept(install: Install) -> None:
    install("alpha", good("same"))
    install("beta", good("same"))
    found = registry.load_probes()
    assert found.origin["same"] == "dist-alpha"
    assert "name same is taken by dist-alpha" in reasons(found)["beta"]


def test_one_module_under_two_entries_is_registered_once(install: Install) -> None:
    install("alpha", good("alpha"))
    install("beta", "", entry="plugin_alpha")
    assert "already registered" in reasons(registry.load_probes())["beta"]


def test_text_that_a_plugin_prints_is_kept_apart(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("chatty", "print('\\x1b[2J hello')\n" + good("chatty"))
    install("quiet", good("quiet"))
    found = registry.load_probes()
    assert capsys.readouterr() == ("", "")
    assert [(each.name, each.distribution, each.text) for each in found.printed] == [
        ("chatty", "dist-chatty", "\x1b[2J hello")
    ]
    assert {"chatty", "quiet"} <= set(found.probes)


def test_loading_twice_gives_the_same(install: Install) -> None:
    install("alpha", good("alpha"))
    first, second = registry.load_probes(), registry.load_probes()
    assert list(first.probes) == list(second.probes)
    assert second.broken == ()


@pytest.mark.fault("F39", "I22")
def test_a_plugin_that_sleeps_is_left_behind_and_named(install: Install) -> None:
    for name, where in (("at-import", ""), ("when-asked", "def bench_probes(): let_go.wait(60); return []")):
        wait = f"from benchconsole.probes.api import hook\n@hook\n{where}\n" if where else "let_go.wait(60)\n"
        install(name, f"import threading\nlet_go = threading.Event()\n{wait}")
    install("zebra", good("zebra"))
    try:
        found = registry.load_probes(patience=0.1)
    finally:
        for name in ("at_import", "when_asked"):
            sys.modules[f"plugin_{name}"].let_go.set()
    assert "zebra" in found.probes
    assert reasons(found) == {
        "at-import": "import: no end after 0.1 s",
        "when-asked": "registration: no end after 0.1 s",
    }


@pytest.mark.fault("F40")
@pytest.mark.parametrize("said", ["2", "'next'", "1.5"])
def test_a_plugin_for_a_later_interface_is_refused(install: Install, said: str) -> None:
    install("future", good("future") + f"\nBENCHCONSOLE_API = {said}\n")
    install("present", good("present") + "\nBENCHCONSOLE_API = 1\n")
    found = registry.load_probes()
    assert "present" in found.probes
    assert reasons(found)["future"].startswith("registration: made for version ")
    assert "future" not in found.probes


@pytest.mark.fault("F39", "I22")
@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "BaseException('x')"])
def test_nothing_that_a_plugin_raises_ends_the_start(install: Install, error: str) -> None:
    install("broken", f"raise {error}")
    install("asked", f"from benchconsole.probes.api import hook\n@hook\ndef bench_probes(): raise {error}")
    found = registry.load_probes()
    assert set(found.probes) >= {"inventory", "iperf3", "fio"}
    assert {each.distribution for each in found.broken} == {"dist-broken", "dist-asked"}


def leave_the_repository(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let imports not find the folders of the repository, which have the old names."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if not Path(place, "probes", "api.py").exists()])


def import_error(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """The exception that the import of a module with this line raises."""
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
