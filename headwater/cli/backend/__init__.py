"""How a command reaches the questions: an API at an address, or the graph of a home."""
