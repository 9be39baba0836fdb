"""What a change would break, worked out by hand."""
