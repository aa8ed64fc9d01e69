"""Probes of STREAM, and readers of its output."""
