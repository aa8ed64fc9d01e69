"""Conclusions over all numbers of a session, or of two: statistics, peers, fairness, comparison."""
