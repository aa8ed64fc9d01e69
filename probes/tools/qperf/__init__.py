"""Probes of qperf, and readers of its output."""
