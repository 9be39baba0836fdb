"""Evidence packs."""
