"""Work on the graph as a whole: export and erase."""
