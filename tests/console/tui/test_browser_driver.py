"""The driver of a console in a browser: nobody at the other end is the end of the console, from the first moment on."""

import os
import signal
import subprocess
import sys

import pytest

APP = """
import asyncio, sys
from textual.app import App

class Waiting(App):
    async def on_mount(self):
        {on_mount}

Waiting().run()
print("left", file=sys.stderr)
"""
DRIVER = {"TEXTUAL_DRIVER": "benchconsole.console.tui.browser_driver:BrowserDriver", "ROWS": "24", "COLUMNS": "80"}


def run(on_mount: str, *, is_open: bool, ignored: bool = False) -> tuple[int, str]:
    """The exit code and standard error of an application whose input is open, or at its end."""
    reading, writing = os.pipe()
    if not is_open:
        os.close(writing)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        done = subprocess.run(
            [sys.executable, "-c", APP.format(on_mount=on_mount)],
            stdin=reading, capture_output=True, timeout=60, check=False, env={**os.environ, **DRIVER},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGHUP, before)
        os.close(reading)
        if is_open:
            os.close(writing)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("ignored", [False, True])
def test_input_at_its_end_ends_an_application_that_does_not_listen_yet_also_under_nohup(ignored: bool) -> None:
    assert run("await asyncio.Event().wait()", is_open=False, ignored=ignored)[0] == -signal.SIGHUP


def test_an_application_that_leaves_by_itself_is_sent_no_signal() -> None:
    assert run("self.exit()", is_open=True) == (0, "left\n")
