"""``benchconsole doctor``: the machine of the console, the questions to the nodes, the diagnosis and its page."""
