"""The impact of changes, worked out by hand."""
