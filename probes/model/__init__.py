"""The frozen values and protocols that probes and the engine exchange."""
