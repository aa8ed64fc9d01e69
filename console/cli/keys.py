"""Prints every action with its keys, as the text of a keymap file."""

import click

from benchconsole.console.cli.common import json_option, print_json


@click.command("keys")
@click.option("--default", "own", flag_value=False, default=True, help="The keys without those of your keymap file.")
@json_option
def command(own: bool, as_json: bool) -> None:
    """Print every action of the console with its id, its keys and what it does, in the form of a keymap file.

    Lines of it, changed and written to keymap.yaml in your configuration folder, give these actions other keys:
    `findings: F4`, `up: [up, k]`. Mistakes in that file are told here; the console then has the default keys.
    """
    from benchconsole.console.tui.actions import ACTIONS, USES, list_keys, tell_help, use_keymap
    from benchconsole.console.tui.app.keymap import find_keymap, read_keymap

    path = find_keymap()
    use_keymap(read_keymap(path) if own else {})
    if as_json:
        rows = [
            {"id": name, "keys": list(list_keys(ACTIONS[name])), "use": use, "command": ACTIONS[name].word,
             "help": tell_help(ACTIONS[name])}
            for use, names in USES.items() for name in names
        ]  # fmt: skip
        print_json(rows)
        return
    from benchconsole.console.tui.key_names import write_key
    from benchconsole.topology.writing.yaml_text import format_flow

    click.echo(f"# Keys of the console, by action. Write those that you want to change to {path}")
    for use, names in USES.items():
        click.echo(f"\n# {use}")
        for name in names:
            action = ACTIONS[name]
            keys = tuple(map(write_key, list_keys(action)))
            line = f"{name}: {format_flow(keys[0] if len(keys) == 1 else keys)}" if keys else f"# {name}:"
            click.echo(f"{line:<34} # {tell_help(action)}")
