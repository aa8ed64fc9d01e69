"""Probes of the MPI ping-pong, and readers of its output."""
