"""Probes of the application benchmark ``detector-stream``, and readers of its output."""
