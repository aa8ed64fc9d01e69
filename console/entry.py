"""The entry point of the program: the version is printed before anything is imported, all else by the command line."""

import sys

from benchconsole import __version__


def main() -> None:
    """Run the program; every ending has its exit code (see ``console.exits``)."""
    if sys.argv[1:] == ["--version"] and _print_version():
        sys.exit(0)
    from benchconsole.console.cli import main as run

    run()


def _print_version() -> bool:
    """Whether it could be written; where not, the command line tells why, as for any other output."""
    if sys.stdout is None:
        return False
    try:
        sys.stdout.write(f"benchconsole {__version__}\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True
