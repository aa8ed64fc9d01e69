"""A real terminal of a chosen size: the console in a private tmux, keys pressed, the screen read."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.lab.host import wait_for


class Terminal:
    """One tmux server of its own with one window; ended with its context."""

    def __init__(
        self, folder: Path, size: tuple[int, int], *arguments: str | Path, cwd: Path | None = None, **environment: str
    ) -> None:
        self._tmux = ["tmux", "-S", str(folder / "tmux.socket"), "-f", "/dev/null"]
        command = shlex.join([sys.executable, "-m", "benchconsole.console.cli", *map(str, arguments)])
        inner = f"{command}; echo EXIT=$?; exec sleep 600"
        width, height = (str(side) for side in size)
        env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
        place = [] if cwd is None else ["-c", str(cwd)]
        new = [*self._tmux, "new-session", "-d", "-x", width, "-y", height, *place, inner]
        subprocess.run(new, check=True, env=env)
        subprocess.run([*self._tmux, "set", "-g", "status", "off"], check=True)
        subprocess.run([*self._tmux, "resize-window", "-x", width, "-y", height], check=True)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False)

    def screen(self) -> str:
        """The text on the screen now."""
        done = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True)
        return done.stdout

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def wait(self, text: str, seconds: float = 60) -> str:
        """The screen once it holds ``text``."""
        try:
            wait_for(lambda: text in self.screen(), seconds, f"{text!r} on the screen")
        except Exception as error:
            raise AssertionError(f"{error}\n{self.screen()}") from error
        return self.screen()

    def console(self) -> int:
        """The process of the console."""
        pane = subprocess.run(
            [*self._tmux, "list-panes", "-F", "#{pane_pid}"], capture_output=True, text=True, check=True
        )
        children = Path(f"/proc/{pane.stdout.strip()}/task/{pane.stdout.strip()}/children").read_text().split()
        return int(children[0]) if children else int(pane.stdout)
