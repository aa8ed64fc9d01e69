"""How the fabric is asked, and how an answer is judged. Knows the topology, nothing above it."""
