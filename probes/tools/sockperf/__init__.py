"""Probes of sockperf, and readers of its output."""
