"""Questions about stored sessions."""
