"""Probes of ping, and readers of its output."""
