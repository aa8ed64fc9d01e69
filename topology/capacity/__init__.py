"""What flows that run together should reach: max-min fair shares over routed paths."""
