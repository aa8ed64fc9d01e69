"""The default paths of the database, of our known_hosts and of the spools. Nothing is created or opened."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

VARIABLE = "BENCHCONSOLE_DB"
"""The environment variable that names another database file."""


def default_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The file named by BENCHCONSOLE_DB (``~`` is expanded), else ``sessions.db`` in the user's data directory."""
    named = environment.get(VARIABLE, "")
    if named:
        return Path(named).expanduser()
    return platformdirs.user_data_path("benchconsole") / "sessions.db"


def name_database(path: Path) -> str:
    """``path`` as a command needs it after ``--db``; empty for the file that counts without."""
    return "" if path == default_path() else str(path)


def trusted_hosts_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Our own known_hosts, beside the database: the keys that ``benchconsole trust`` accepted.

    Where BENCHCONSOLE_DB depends on the current folder it is in the user's data directory: whoever gave us that folder
    would else say which hosts are trusted.
    """
    path = default_path(environment)
    return (path if path.is_absolute() else default_path({})).with_name("known_hosts")


def spool_places(database: Path) -> tuple[tuple[Path, str], ...]:
    """Directories in which a spool of ``database`` may lie, best first, and how its name begins there.

    In the user's state directory, where the first cannot be written, the name tells databases of one name apart.
    """
    whole = database.absolute()
    mark = hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]
    state = platformdirs.user_state_path("benchconsole") / "spool"
    return (whole.parent, f"{whole.name}."), (state, f"{whole.name}-{mark}.")
