"""Probes of netperf, and readers of its output."""
