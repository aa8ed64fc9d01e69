"""Probes of iperf3, and readers of its output."""
