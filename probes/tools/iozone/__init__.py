"""Probes of iozone, and readers of its output."""
