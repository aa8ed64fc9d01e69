"""Driver of a console whose screen is in a browser: Textual's own for pipes, which also notices that nobody looks.

Standard input is a pipe from the server. The server closes it when the page is closed, and it closes by itself when
the server is killed.
"""

import os
import signal

from textual.app import App
from textual.drivers.web_driver import WebDriver


class BrowserDriver(WebDriver):
    """Takes the end of its input as what a terminal that goes away sends: SIGHUP, which the console ends with."""

    def __init__(
        self, app: "App[object]", *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored, and children inherit that

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            os.kill(os.getpid(), signal.SIGHUP)
