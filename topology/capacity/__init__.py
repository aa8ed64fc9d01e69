"""The rates that flows should reach when they run together: max-min fair shares over routed paths."""
