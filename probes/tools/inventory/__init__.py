"""The inventory: one script that reads a node's own tools and files, and a reader for each of them."""
