"""Lets ``python -m console.cli`` do what ``benchconsole`` does."""

from benchconsole.console.cli import main

main()
