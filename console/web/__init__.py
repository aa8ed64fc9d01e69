"""The console in a browser: a server on loopback, and one console, a process of its own, for each open page."""
