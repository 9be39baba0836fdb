"""Evidence packs: a report on one node at one instant with a digest, as JSON and HTML."""
