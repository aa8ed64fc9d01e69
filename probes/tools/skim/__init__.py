"""Probes of the application benchmark ``skim``, and readers of its output."""
