"""What probes between two nodes share."""
