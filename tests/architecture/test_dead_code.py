"""Dead code: no name of the product is used by tests alone. Exceptions are listed with their reasons."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from vulture import Vulture

from benchconsole.probes.tools import BUILTIN

ROOT = Path(__file__).parents[2]
PACKAGES = ("topology", "probes", "store", "console")

ALLOWED = {
    "Textual reads or calls it": (
        "DEFAULT_CSS", "CSS", "BINDINGS", "AUTO_FOCUS", "ENABLE_COMMAND_PALETTE", "animation_level",
        "compose", "render_line", "on_*", "action_*", "_fatal_error", "stylesheet", "reparse",
    ),
    "ours replaces it inside Textual": ("render_segments", "MAX_QUEUED_WRITES"),
    "click calls it": ("get_command", "format_commands"),
    "asyncssh calls it": (
        "connection_lost", "eof_received", "exec_requested", "session_requested",
        "session_started", "signal_received", "exit_status_received", "exit_signal_received", "begin_auth",
        "validate_host_public_key", "validate_host_ca_key", "get_child", "packet",
    ),
    "asyncio calls it": ("pipe_data_received", "process_exited"),
    "asyncio reads it": ("max_size",),
    "asyncssh reads it": (
        "server_host_key_algs", "protocol_factory", "_client_kexinit", "_server_kexinit", "_server_sig_algs", "_extensions_to_send",
    ),
    "Python passes it: a parameter of a protocol": ("addr", "core_dumped", "lang", "pktid", "spec"),
    "collections.abc calls it": ("_from_iterable",),
    "pydantic reads it": ("model_config", "schema_"),
    "logging reads or calls it": ("converter", "default_time_format", "default_msec_format", "handleError"),
}  # fmt: skip
"""Reason to names; a name may end with ``*``."""

BY_NAME = {
    "probes/tools": tuple(place.partition(":")[2] for place in BUILTIN),
    "topology/exporters/slurm.py": ("export_conf", "export_yaml"),
    "topology/description/raw.py": (
        "dimms",
        "dimm_size",
        "date",
        "raid",
        "pods",
        "governor",
        "kernel",
        "bios",
        "sysctl",
        "format_schema",
    ),
    "topology/model/": ("AT_MOST", "DOWN", "MEDIAN", "LOWEST", "HIGHEST"),
    "console/reports/": ("read_from", "more_wires"),
    "probes/testing/fake.py": ("gathered",),
    "console/tui/browser_driver.py": ("BrowserDriver", "run_input_thread"),
}
"""Path to names that something reaches in another way: a registry of the room, the loop over all fields of a section, the
generator of the reference, the value of an enumeration in a file, a variable of the environment, a template of a report, a quoted annotation, a test of
a plugin's author."""


def unused() -> list[tuple[str, str]]:
    """Path and name of all that no line of the product uses, by vulture."""
    scan = Vulture(ignore_decorators=["@on"])  # Textual calls a method that is registered so
    scan.scavenge([str(ROOT / package) for package in PACKAGES])
    return [(str(item.filename.relative_to(ROOT)), item.name) for item in scan.get_unused_code(min_confidence=60)]


def is_allowed(path: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for patterns in ALLOWED.values() for pattern in patterns) or any(
        path.startswith(place) and name in names for place, names in BY_NAME.items()
    )


@pytest.fixture(scope="module")
def found() -> list[tuple[str, str]]:
    return unused()


def test_the_product_uses_all_of_itself(found: list[tuple[str, str]]) -> None:
    assert [f"{path}: {name}" for path, name in found if not is_allowed(path, name)] == []


def test_every_exception_is_still_needed(found: list[tuple[str, str]]) -> None:
    names = {name for _, name in found}
    patterns = [pattern for group in ALLOWED.values() for pattern in group]
    assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)] == []


def test_the_check_sees_dead_code(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text("def forgotten() -> None:\n    pass\n")
    scan = Vulture()
    scan.scavenge([str(tmp_path)])
    assert [item.name for item in scan.get_unused_code(min_confidence=60)] == ["forgotten"]
