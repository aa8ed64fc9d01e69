"""The command line. A command's module is imported when it is called: help, completion and ``sessions`` start fast."""

import errno
import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from benchconsole import __version__
from benchconsole.console.exits import BadInput, Exit, complain, open_standard_streams

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "open": "Open the console on a topology file, or on a stored session.",
    "web": "Serve the console of a stored session to a browser on this machine.",
    "demo": "Open the console on a simulated cluster that answers real SSH on loopback.",
    "init": "Write a commented topology file to start from.",
    "check": "Check a topology file and print what it can carry. Connects to nothing.",
    "expect": "Say what flows that run at once should reach, and what limits them.",
    "diff": "Compare the described cabling with what the nodes see of it: LLDP, speeds, bonds.",
    "export": "Write a topology as dot, mermaid, d2, containerlab, slurm or slurm-yaml.",
    "run": "Run a suite without the screen: one line per event, a summary at the end.",
    "sessions": "List the stored sessions.",
    "label": "Give a stored session another label.",
    "prune": "Remove old sessions for good, with consent.",
    "backup": "Copy the database while it is in use.",
    "vacuum": "Give the room of removed sessions back to the disk.",
    "check-db": "Read the whole database and say whether it is what was stored.",
    "show": "Print the summary of a stored session.",
    "report": "Export a stored session as html, md, csv, json or text.",
    "import-spool": "Bring back what a run kept in a file while its database refused.",
    "judge": "Judge stored measurements again, touching no node.",
    "baseline": "Name the session that later ones of a machine are held against.",
    "compare": "Compare two sessions, or two parts of one: better, worse, no effect.",
    "remark": "Write down what somebody says of a session, or of a part of it.",
    "remarks": "List what people said of sessions: conclusions, requests, the tuning log.",
    "overview": "Put several sessions into one table: numbers, clauses, checklists.",
    "statistics": "Print n, mean, deviation, interval and percentiles of every metric.",
    "parse": "Run one probe's parser on captured output.",
    "ingest": "Store captured output as a session, judged like any other.",
    "watch": "Sample nodes over days: are they up, do services on them answer.",
    "availability": "Evaluate a watch: share of time up, outages, what is not known.",
    "checklist": "Show, run and mark what is checked by hand or by script, with evidence.",
    "probes": "List the probes: what they measure, need and load.",
    "keys": "Print every action of the console with its keys, as a keymap file.",
    "plugins": "List who brought which probes, and plugins that could not be used.",
    "trust": "Show the host keys of nodes and, with consent, trust them.",
    "doctor": "Say whether every node can be reached, trusted and used.",
    "drain": "Drain the failing nodes of a session in Slurm, with consent.",
    "undrain": "Take back what drain did, and nothing else.",
    "clean": "Show what earlier sessions left running on nodes and, with consent, end it.",
}
"""Name to summary; the module of a command has its name."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class OutputError(Exception):
    """Standard output took no more: the reader has gone away, or the device is full."""


@contextmanager
def _tell_lost_output() -> Iterator[None]:
    """OutputError where a reader has gone: click itself ends with 1 then, which means below its threshold here."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) or (error.errno in _FULL and error.filename is None):
            raise OutputError from error
        raise


class Commands(click.Group):
    """Finds commands by name without importing the others; a bare file name means ``open``."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:  # noqa: ANN401 - passed on
        """Read the words of the command line; help and version are written meanwhile."""
        with _tell_lost_output():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        with _tell_lost_output():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of work, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The commands that begin so, from the table, importing none of them; then the options."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=said) for name, said in COMMANDS.items() if name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list from the table, importing nothing."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take a topology file in the place of a command as ``open FILE``."""
        name = args[0]
        if name not in COMMANDS and (name.endswith((".yaml", ".yml")) or _is_file(name)):
            args = ["open", *args]
        elif name not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "See benchconsole --help."
            ctx.fail(f"No such command or file {name!r}. {hint}")
        return super().resolve_command(ctx, args)


def _is_file(name: str) -> bool:
    from pathlib import Path

    return Path(name).is_file()


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"benchconsole {__version__}")
        ctx.exit()


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.option("--safe-mode", is_flag=True, help="Load no probe of another distribution.")
@click.option("--verbose", is_flag=True, help="Write what is done on standard error, one line each; not on the screen.")
@click.option(
    "--log",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Append what is done to FILE: each connection, command, retry and hold, with node and test.",
)
@click.pass_context
def command(ctx: click.Context, safe_mode: bool, verbose: bool, log: str | None) -> None:
    """Accept, tune and repair clusters: what was measured beside what the fabric should give.

    Without a command the console opens on its start page; with a topology file it opens on that
    fabric. The console sends nothing to any node before you have seen a plan.
    """
    if verbose or log is not None:
        from pathlib import Path

        from benchconsole.console.cli.log_options import write_records

        write_records(verbose=verbose, file=None if log is None else Path(log))
    if ctx.invoked_subcommand is not None and sys.stdout is sys.__stdout__:
        from benchconsole.console.cli.lasting_output import keep_output

        keep_output(ctx.invoked_subcommand)
    if ctx.invoked_subcommand is None:
        from benchconsole.console.cli.start import show_start_page

        ctx.exit(show_start_page())


THREADS_SECONDS = 3.0
"""Threads that are no daemons have so long to end once a command has ended."""


def main() -> None:
    """Run the command line; every ending has its exit code (see ``console.exits``)."""
    os.umask(0o077)
    open_standard_streams()
    try:
        code = command.main(prog_name="benchconsole", standalone_mode=False)
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.ClickException as error:
        complain(f"benchconsole: {error.format_message()}")
        code = Exit.BAD_INPUT
    except BadInput as error:
        complain(str(error))
        code = Exit.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        code = Exit.INTERRUPTED
    except OutputError as error:
        code = _end_unwritten(error.__cause__)
    except Exception as error:
        code = _end_failed(error)
    _leave_threads(int(code or 0))
    sys.exit(int(code or 0))


def _leave_threads(code: int) -> None:
    """End the process although a thread goes on, for instance one of a plugin: the interpreter would wait for it."""
    if threading.active_count() == 1:
        return

    def end() -> None:
        threading.main_thread().join()  # it counts as ended when the interpreter begins to wait for others
        time.sleep(THREADS_SECONDS)  # workers of a pool end by themselves, as the interpreter asks them to
        names = ", ".join(thread.name for thread in threading.enumerate() if not thread.daemon and thread.is_alive())
        complain(f"benchconsole: ended without waiting for threads that go on: {names}")
        sys.stdout.flush()
        os._exit(code)

    threading.Thread(target=end, name="end", daemon=True).start()


def _end_unwritten(error: BaseException | None) -> int:
    """A reader that went away (| head) is not ours to complain about; a full device is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return Exit.PASSED
    complain(f"benchconsole: the output could not be written whole: {getattr(error, 'strerror', error)}")
    return Exit.INTERNAL


def _end_failed(error: Exception) -> int:
    """Known errors of the house are bad input; anything else is ours, with its trace."""
    import traceback

    from benchconsole.console.reports import ReportError
    from benchconsole.console.simulator.cluster import SimulatorError
    from benchconsole.probes.model.errors import ProbeError
    from benchconsole.store.errors import StoreError
    from benchconsole.topology.errors import RoutingError, SelectionError, TopologyError

    if isinstance(error, TopologyError):
        count = len(error.problems)
        complain(f"{error}\n{count} problem{'s' if count > 1 else ''}; nothing was started")
        return Exit.BAD_INPUT
    if isinstance(error, ProbeError | StoreError | SelectionError | RoutingError | ReportError | SimulatorError):
        complain(f"benchconsole: {error}")
        return Exit.BAD_INPUT

    complain("".join(traceback.format_exception(error)))
    complain("benchconsole: internal error (please report the lines above)")
    return Exit.INTERNAL
