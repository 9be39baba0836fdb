"""One module for each question that users ask about lineage."""
