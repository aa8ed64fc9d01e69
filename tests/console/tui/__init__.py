"""Screens under test: a fabric and views made by hand, a conductor that plays, and what is painted."""
