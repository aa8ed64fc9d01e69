"""Probes of the application benchmark ``aggregate``, and readers of its output."""
