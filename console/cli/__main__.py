"""Lets ``python -m console.cli`` do what ``benchconsole`` does."""

from console.cli import main

main()
