"""What keeps a cluster in use from harm, and the console from its plugins. Nothing here asks for more load."""
