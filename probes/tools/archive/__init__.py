"""Probes of the transfer benchmark ``archive``, and readers of its output."""
