"""Owns where the database is when nobody says so. Refuses to create or open anything."""

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

VARIABLE = "BENCHCONSOLE_DB"
"""The environment variable that names another database file."""


def default_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The file named by BENCHCONSOLE_DB, else ``sessions.db`` in the user's data directory.

    A leading ``~`` is expanded; a relative path counts from the current directory.
    """
    named = environment.get(VARIABLE, "")
    if named:
        return Path(named).expanduser()
    return platformdirs.user_data_path("benchconsole") / "sessions.db"


def trusted_hosts_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Our own known_hosts, beside the database: the keys that ``benchconsole trust`` was told to accept."""
    return default_path(environment).with_name("known_hosts")
