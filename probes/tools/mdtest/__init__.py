"""Probes of mdtest, and readers of its output."""
