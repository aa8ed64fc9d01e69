"""The state of nodes before and after a run: what tests need of them, and the proof that nothing of ours is left."""
