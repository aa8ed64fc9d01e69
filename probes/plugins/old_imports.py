"""The new names of modules that a plugin imports by the names they had before benchconsole was one package."""

import linecache
import re
from importlib.util import find_spec

_OLD_ROOTS = ("console", "probes", "store", "topology")
_IMPORT = re.compile(r"\s*(?:from|import)\s+([\w.]+)")


def explain_old_import(error: BaseException) -> str:
    """The old and the new name of the module whose import raised ``error``; empty where it has another cause."""
    if not isinstance(error, ImportError):
        return ""
    name = _read_import_line(error) or error.name or ""
    parts = name.removeprefix("benchconsole.").split(".")
    is_renamed = parts[:2] == ["probes", "builtin"]
    if parts[0] not in _OLD_ROOTS or (name.startswith("benchconsole.") and not is_renamed):
        return ""
    if is_renamed:
        parts[1] = "tools"
    new = ".".join(("benchconsole", *parts))
    if _exists(new):
        return f"imports {name}, which is {new} since benchconsole is one package"
    return f"imports {name}, which is no longer there; plugins import benchconsole.probes.api"


def _read_import_line(error: ImportError) -> str:
    """The module that the last line of the plugin's own code imports: an error names its first missing part only."""
    name = ""
    trace = error.__traceback__
    while trace is not None:
        line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        match = _IMPORT.match(line)
        name = match[1] if match else name
        trace = trace.tb_next
    return name


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
